//! Architecture tests. Every file under `tests/` must be declared as a module, so that no test is left out. Imports within `src/` must
//! point to lower layers and form no cycle.

mod imports;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::files_below;

/// Collects `file` and all files below it that `mod name;` lines declare.
fn modules(root: &Path, file: &str, found: &mut BTreeSet<PathBuf>) {
    found.insert(file.into());
    let text = std::fs::read_to_string(root.join(file)).unwrap();
    for name in text.lines().filter_map(imports::declared) {
        modules(root, &imports::file_of(root, file, name), found);
    }
}

#[test]
fn every_test_file_is_declared_as_a_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut declared = BTreeSet::new();
    modules(&root, "main.rs", &mut declared);
    assert!(declared.len() > 50, "{} modules were found", declared.len());
    let forgotten: Vec<_> = files_below(&root, "rs").into_iter().filter(|file| !declared.contains(file)).collect();
    assert!(forgotten.is_empty(), "files of tests/ that no module declares: {forgotten:?}");
}

/// Reads `tests/data/layers.tsv`: per row a path prefix, and the layer and the group of the files below it.
fn layers(root: &Path) -> Vec<(String, u32, String)> {
    let text = std::fs::read_to_string(root.join("tests/data/layers.tsv")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>());
    rows.map(|row| (row[0].to_string(), row[1].parse().unwrap(), row[2].to_string())).collect()
}

/// Returns the files that are in an import cycle.
fn in_circles(edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let reaches_itself = |start: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(file) = open.pop() {
            for next in edges.get(file).into_iter().flatten() {
                if next == start {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    };
    edges.keys().filter(|file| reaches_itself(file)).cloned().collect()
}

/// A file imports only from its own group and from lower layers, and there is no import cycle.
#[test]
fn imports_point_to_lower_layers_and_form_no_cycle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let layers = layers(&root);
    let layer = |file: &str| {
        let holds = |path: &str| file == path || file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        let found = layers.iter().filter(|(path, ..)| holds(path)).max_by_key(|(path, ..)| path.len());
        found.unwrap_or_else(|| panic!("{file} has no layer in tests/data/layers.tsv"))
    };
    let imports = imports::imports(&root);
    assert!(imports.len() > 500, "{} imports were found", imports.len());

    let mut edges = BTreeMap::<_, BTreeSet<_>>::new();
    // Violations, keyed by the importing and the imported file, each with the first line that contains it.
    let mut faults = BTreeMap::new();
    for import in &imports {
        edges.entry(import.from.clone()).or_default().insert(import.to.clone());
        let ((_, from, room), (_, to, other)) = (layer(&import.from), layer(&import.to));
        if room != other && to >= from {
            let place = format!("{}:{}: {room} (layer {from}) imports {other} (layer {to})", import.from, import.line);
            faults.entry((import.from.clone(), import.to.clone())).or_insert(place);
        }
    }
    for file in in_circles(&edges) {
        let others: Vec<_> = edges[&file].iter().cloned().collect();
        faults.insert((file.clone(), file.clone()), format!("{file}: is in an import cycle; it imports {others:?}"));
    }

    let lines = faults.values().map(|place| format!("{place}\n")).collect::<String>();
    assert!(faults.is_empty(), "imports that do not point to a lower layer, or form a cycle:\n{lines}");
}

/// The calls by which a file asks a device for its engine, or matches on the engine.
const ENGINE_CHOICES: [&str; 3] = [".gpu()", "Backend::Cpu", "Backend::Gpu"];

/// `src/scene/backend.rs` chooses between the engines. Other files call `Device::on_engine`, which is defined there, or a function of the
/// scene. `device.rs` describes the GPU that it holds.
#[test]
fn only_one_file_chooses_the_engine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let (mut choices, mut faults) = (0, Vec::new());
    for path in files_below(&root, "rs") {
        let text = std::fs::read_to_string(root.join(&path)).unwrap();
        // A call may be broken before its dot: spaces do not count.
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or("").replace(' ', ""));
        for (number, line) in (1..).zip(lines) {
            if !ENGINE_CHOICES.iter().any(|choice| line.contains(choice)) {
                continue;
            }
            match path.to_str().unwrap() {
                "scene/backend.rs" => choices += 1,
                "scene/device.rs" => {}
                other => faults.push(format!("src/{other}:{number}: {line}")),
            }
        }
    }
    assert!(choices > 5, "src/scene/backend.rs chooses only {choices} times");
    assert!(faults.is_empty(), "these lines choose an engine outside src/scene/backend.rs:\n{}", faults.join("\n"));
}
