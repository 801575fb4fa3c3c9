//! The layout of the source: every file under `tests/` is a module, so that no test is left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// All `.rs` files below a folder, as paths from it.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(root).unwrap().to_path_buf());
            }
        }
    }
    found
}

/// The files that `mod name;` lines declare, starting at `main.rs`.
fn modules(root: &Path, file: &Path, found: &mut BTreeSet<PathBuf>) {
    found.insert(file.to_path_buf());
    let text = std::fs::read_to_string(root.join(file)).unwrap();
    let stem = file.file_stem().unwrap();
    let folder = file.parent().unwrap();
    let folder = if stem == "main" || stem == "mod" { folder.to_path_buf() } else { folder.join(stem) };
    for line in text.lines() {
        let Some(name) = line.strip_suffix(';').and_then(|line| line.split_once("mod ")) else { continue };
        if !["", "pub(crate) "].contains(&name.0) {
            continue;
        }
        let candidates = [folder.join(name.1).with_extension("rs"), folder.join(name.1).join("mod.rs")];
        let module = candidates.iter().find(|path| root.join(path).is_file());
        modules(root, module.unwrap_or_else(|| panic!("{}: {line}", file.display())), found);
    }
}

#[test]
fn every_file_of_the_tests_is_a_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut declared = BTreeSet::new();
    modules(&root, Path::new("main.rs"), &mut declared);
    assert!(declared.len() > 50, "{} modules were found", declared.len());
    let forgotten: Vec<_> = sources(&root).into_iter().filter(|file| !declared.contains(file)).collect();
    assert!(forgotten.is_empty(), "files of tests/ that no module declares: {forgotten:?}");
}
