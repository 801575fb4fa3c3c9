//! The machine code of every kernel: how wide its registers are, and which functions it calls. A kernel that loses its vectors
//! still gives the right answers, so no other test sees it.
//!
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast -p umbracast-cli --features umbracast-cli/parquet kernels` renews
//! `tests/data/kernels.tsv`. Read the difference: a narrower register or a new call makes a kernel several times as slow.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;

use crate::support::root;

const LEVELS: [&str; 4] = ["avx512", "avx2", "sse2", "plain"];

/// The names given to `dispatch!` in the source files of a folder.
fn kernels(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            kernels(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for block in text.split("\ndispatch! {\n").skip(1) {
                let line = block.lines().map(str::trim).find(|line| !line.starts_with("///")).unwrap();
                let name = line.split(',').next().unwrap();
                assert!(names.insert(name.to_owned()), "two kernels are called {name}");
            }
        }
    }
}

fn output(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|e| panic!("{program}: {e}; it comes with the C compiler"));
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The compiler that made a program, as the program says.
pub(super) fn compiler(program: &str) -> String {
    let section = output("readelf", &["-p", ".comment", program]);
    let line = section.lines().find(|line| line.contains("rustc version")).expect("the compiler's name in .comment");
    line.split_once("rustc version ").unwrap().1.trim().to_owned()
}

/// Whether an instruction computes with floating-point numbers, and with how many bits at once; one number counts as 0.
fn arithmetic(instruction: &str) -> Option<u32> {
    let (operation, operands) = instruction.split_once(char::is_whitespace)?;
    let operation = operation.strip_prefix('v').unwrap_or(operation);
    let stem = operation.strip_suffix(['s', 'd'])?;
    let (stem, packed) = match stem.strip_suffix('p') {
        Some(stem) => (stem, true),
        None => (stem.strip_suffix('s')?, false),
    };
    let known = ["add", "sub", "mul", "div", "sqrt", "min", "max"].contains(&stem)
        || ["fmadd", "fmsub", "fnmadd", "fnmsub", "cmp"].iter().any(|start| stem.starts_with(start));
    if !known {
        return None;
    }
    let wide = |register: &str| operands.contains(register);
    Some(if !packed {
        0
    } else if wide("%zmm") {
        512
    } else if wide("%ymm") {
        256
    } else {
        128
    })
}

/// What a function's code shows.
#[derive(Debug, PartialEq)]
struct Shape {
    /// Bits of the registers that most of its floating-point instructions use; 0 for single numbers, none without any.
    width: Option<u32>,
    /// What it calls and jumps to outside of itself.
    calls: BTreeSet<String>,
}

impl Shape {
    fn row(&self, name: &str, level: &str) -> String {
        let width = self.width.map_or("-".to_owned(), |width| width.to_string());
        let calls: Vec<&str> = self.calls.iter().map(String::as_str).collect();
        let calls = if calls.is_empty() { "-".to_owned() } else { calls.join("; ") };
        format!("{name}\t{level}\t{width}\t{calls}")
    }
}

/// What the slots of the global offset table point at, by their addresses: calls of other libraries and crates go through it.
fn slots(program: &str, symbols: &str) -> BTreeMap<u64, String> {
    let hexadecimal = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let functions: BTreeMap<u64, &str> = symbols
        .lines()
        .filter_map(|line| {
            let (address, rest) = line.split_once(' ')?;
            let (_, rest) = rest.split_once(' ').filter(|(size, _)| size.len() == 16).unwrap_or(("", rest));
            Some((hexadecimal(address)?, rest.split_once(' ')?.1))
        })
        .collect();
    let relocations = output("objdump", &["-R", "-C", program]);
    let slot = |line: &str| {
        let mut words = line.splitn(3, char::is_whitespace);
        let (slot, _, value) = (hexadecimal(words.next()?)?, words.next()?, words.next()?.trim());
        let name = match value.strip_prefix("*ABS*+") {
            Some(address) => *functions.get(&hexadecimal(address)?)?,
            None => value,
        };
        Some((slot, name.split('@').next().unwrap_or(name).to_owned()))
    };
    relocations.lines().filter_map(slot).collect()
}

/// The code of one function, from its first address on.
fn shape(program: &str, slots: &BTreeMap<u64, String>, start: u64, size: u64) -> Shape {
    let (from, to) = (format!("--start-address={start:#x}"), format!("--stop-address={:#x}", start + size));
    let text = output("objdump", &["-d", "-C", "--no-show-raw-insn", &from, &to, program]);
    let mut widths = BTreeMap::<u32, usize>::new();
    let mut calls = BTreeSet::new();
    for line in text.lines() {
        let Some((address, instruction)) = line.trim().split_once(":\t") else { continue };
        assert!(u64::from_str_radix(address, 16).is_ok(), "{line}");
        if let Some(width) = arithmetic(instruction) {
            *widths.entry(width).or_default() += 1;
        }
        let operation = instruction.split_whitespace().next().unwrap_or_default();
        if !(operation == "call" || operation.starts_with('j')) {
            continue;
        }
        // A target in the function itself has an address there; others are named.
        let Some((_, target)) = instruction.split_once('<') else { continue };
        let address = instruction.split_whitespace().find_map(|word| u64::from_str_radix(word, 16).ok());
        if address.is_none_or(|address| !(start..start + size).contains(&address)) {
            let name = target.rsplit_once('>').unwrap().0;
            let name = name.split_once("+0x").map_or(name, |(name, _)| name);
            let slot = instruction.split_once('#').and_then(|(_, after)| after.split_whitespace().next());
            let slot = slot.and_then(|slot| slots.get(&u64::from_str_radix(slot, 16).ok()?));
            calls.insert(slot.map_or(name, String::as_str).to_owned());
        }
    }
    let width = widths.iter().max_by_key(|(width, count)| (**count, **width)).map(|(width, _)| *width);
    Shape { width, calls }
}

#[test]
fn every_kernel_is_as_wide_as_it_was() {
    let program = cargo_bin!("umbracast").to_str().unwrap();
    let mut names = BTreeSet::new();
    kernels(&root().join("src"), &mut names);
    assert!(names.len() > 20, "{names:?}");

    let mut rows = vec![format!("# {}", compiler(program)), "kernel\tinstructions\twidth\tcalls".to_owned()];
    let symbols = output("nm", &["-C", "-S", program]);
    let slots = slots(program, &symbols);
    for name in &names {
        let find = |level: &str| symbols.lines().find(|line| line.ends_with(&format!("::{name}::{level}")));
        for level in LEVELS {
            // The compiler keeps one of two functions with the same code: those for SSE2 and for any processor often are.
            let twin = [("sse2", "plain"), ("plain", "sse2")].into_iter().find(|pair| pair.0 == level);
            let symbol = find(level).or_else(|| find(twin?.1));
            let symbol =
                symbol.unwrap_or_else(|| panic!("no function {name}::{level} in the program: was it inlined?"));
            let mut parts = symbol.split(' ').map(|part| u64::from_str_radix(part, 16));
            let (start, size) = (parts.next().unwrap().unwrap(), parts.next().unwrap().unwrap());
            rows.push(shape(program, &slots, start, size).row(name, level));
        }
    }

    let path = root().join("tests/data/kernels.tsv");
    if std::env::var_os("UMBRACAST_BLESS").is_some() {
        std::fs::write(&path, rows.join("\n") + "\n").unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let different: Vec<String> = kept
        .lines()
        .zip(&rows)
        .filter(|(kept, now)| kept != *now)
        .map(|(kept, now)| format!("  was {kept}\n  now {now}"))
        .collect();
    let different = different.join("\n");
    if kept.lines().next() != Some(rows[0].as_str()) {
        // Written past the test's own output: a test that checks nothing must say so.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: kernels, which another compiler made:\n{different}");
        return;
    }
    assert_eq!(kept.lines().count(), rows.len(), "kernels came or went: renew {}", path.display());
    assert!(different.is_empty(), "the machine code of kernels changed:\n{different}");
}
