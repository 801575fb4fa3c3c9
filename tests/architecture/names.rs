//! Names of the field: no definition brings back a name of `tests/data/names.tsv`.

use std::path::Path;

use crate::support::files_below;

/// Words that precede the name in a definition of Rust or WGSL.
const KEYWORDS: [&str; 9] = ["struct", "enum", "trait", "type", "fn", "mod", "static", "const", "override"];

/// The name that a line defines, if it defines one.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| {
        word.starts_with("pub")
            || ["(crate)", "async", "unsafe"].contains(word)
            || *word == "const" && line.contains(" fn ")
    });
    words.next().filter(|word| KEYWORDS.contains(word))?;
    words.next()?.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
}

#[test]
fn no_definition_uses_a_retired_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = std::fs::read_to_string(root.join("tests/data/names.tsv")).unwrap();
    let rows: Vec<(&str, &str)> =
        table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once('\t').unwrap()).collect();
    assert!(rows.len() > 50, "{} names were read", rows.len());
    let (mut definitions, mut faults) = (0, Vec::new());
    for (folder, extension) in [("src", "rs"), ("shaders", "wgsl"), ("cli/src", "rs")] {
        for file in files_below(&root.join(folder), extension) {
            let text = std::fs::read_to_string(root.join(folder).join(&file)).unwrap();
            for (line, name) in text.lines().enumerate().filter_map(|(line, text)| Some((line + 1, defined(text)?))) {
                definitions += 1;
                if let Some((old, new)) = rows.iter().find(|(old, _)| *old == name) {
                    faults.push(format!("{folder}/{}:{line}: `{old}` is called {new}", file.display()));
                }
            }
        }
    }
    assert!(definitions > 3000, "{definitions} definitions were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
