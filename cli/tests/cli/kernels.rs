//! Machine code of every SIMD kernel: the width of its registers, and the functions that it calls. A kernel that is no longer vectorised
//! still gives the right results, so no other test notices it.
//!
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast-cli kernels` updates
//! `tests/data/kernels.tsv`. Check the difference: narrower registers or a new call make a kernel several times as slow.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use umbracast_testing::folder::program;
use umbracast_testing::{compiler, output, root};

const LEVELS: [&str; 3] = ["avx512", "avx2", "sse2"];

/// Collects the names given to `multiversion!` in the source files of a folder.
fn kernels(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            kernels(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for block in text.split("\nmultiversion! {\n").skip(1) {
                let line = block.lines().map(str::trim).find(|line| !line.starts_with("///")).unwrap();
                let name = line.split(',').next().unwrap();
                assert!(names.insert(name.to_owned()), "two kernels are called {name}");
            }
        }
    }
}

/// Returns the vector width in bits of a floating-point instruction: 0 if it is scalar, `None` for all other instructions.
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

/// Properties of the machine code of a function.
#[derive(Debug, PartialEq)]
struct Shape {
    /// Vector width in bits of most of its floating-point instructions: 0 if scalar, `None` without any.
    width: Option<u32>,
    /// Functions other than itself that it calls or jumps to.
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

/// Returns the symbols that the entries of the global offset table point to, by the address of the entry. Calls of other libraries and
/// crates go through this table.
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

/// Disassembles a function of `size` bytes at the address `start`.
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
        // A target within the function has an address in its range. Only other targets are recorded.
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
fn every_kernel_keeps_its_register_width() {
    let program = program();
    let program = program.get_program().to_str().unwrap();
    let mut names = BTreeSet::new();
    kernels(&root().join("src"), &mut names);
    assert!(names.len() > 20, "{names:?}");

    let mut rows = vec![format!("# {}", compiler(program)), "kernel\tinstructions\twidth\tcalls".to_owned()];
    let symbols = output("nm", &["-C", "-S", program]);
    let slots = slots(program, &symbols);
    for name in &names {
        let find = |level: &str| symbols.lines().find(|line| line.ends_with(&format!("::{name}::{level}")));
        for level in LEVELS {
            let symbol =
                find(level).unwrap_or_else(|| panic!("no function {name}::{level} in the program: was it inlined?"));
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
        // Written directly to stderr, which the test harness does not capture: a test that checks nothing must report this.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: kernels, because the compiler differs:\n{different}");
        return;
    }
    assert_eq!(kept.lines().count(), rows.len(), "kernels were added or removed: update {}", path.display());
    assert!(different.is_empty(), "the machine code of kernels changed:\n{different}");
}
