//! Runs a target with its corpus and with random changes of it. `UMBRACAST_INTENSITY` scales the number of random inputs.

use std::path::Path;

use umbracast_testing::{Numbers, scaled};

/// Maximum length of a corpus file in bytes. `MOST` is the maximum number of files per corpus.
const LONGEST: usize = 4096;
const MOST: usize = 40;

/// Prints the input if a target panics, as an escaped byte string that can become a file of the corpus.
struct Shown<'a>(&'a str, &'a [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{} failed with b\"{}\"", self.0, self.1.escape_ascii());
        }
    }
}

pub(crate) fn check(name: &str, cases: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!((1..=MOST).contains(&paths.len()), "{} files in {}", paths.len(), folder.display());
    let corpus: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for (path, input) in paths.iter().zip(&corpus) {
        assert!(input.len() <= LONGEST, "{} has {} bytes", path.display(), input.len());
        let _shown = Shown(&path.to_string_lossy(), input);
        crate::run(name, input);
    }
    let mut n = Numbers(name.bytes().fold(1, |seed, byte| seed * 31 + u64::from(byte)));
    for _ in 0..scaled(cases) {
        let input = changed(&mut n, &corpus);
        let _shown = Shown(name, &input);
        crate::run(name, &input);
    }
}

fn below(n: &mut Numbers, end: usize) -> usize {
    n.bits() as usize % end
}

/// A corpus file with up to 4 changes, or random bytes.
fn changed(n: &mut Numbers, corpus: &[Vec<u8>]) -> Vec<u8> {
    if below(n, 4) == 0 {
        let length = below(n, 200);
        return (0..length).map(|_| n.bits() as u8).collect();
    }
    let mut input = corpus[below(n, corpus.len())].clone();
    for _ in 0..1 + below(n, 4) {
        if input.is_empty() {
            input.push(n.bits() as u8);
        }
        let at = below(n, input.len());
        let end = at + below(n, input.len() - at + 1).min(16);
        match below(n, 7) {
            0 => input[at] ^= 1 << below(n, 8),
            1 => input[at] = [0, 1, 0x7f, 0x80, 0xff, b'9', b'"', b','][below(n, 8)],
            2 => input[at] = n.bits() as u8,
            3 => input.truncate(at),
            4 => drop(input.drain(at..end)),
            5 => drop(input.splice(at..at, input[at..end].to_vec())),
            _ => {
                let other = &corpus[below(n, corpus.len())];
                let from = below(n, other.len().max(1)).min(other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
        }
    }
    input.truncate(LONGEST);
    input
}
