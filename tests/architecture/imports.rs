//! Reads the imports of `src/`: which file uses which. Re-exports are resolved to the file that defines the item.
//!
//! The text is parsed line by line, not compiled. Imports are `use` statements, and paths in code that begin with `crate`, `super` or a
//! child module. Test-only code is skipped.

use std::collections::BTreeMap;
use std::path::Path;

/// A file that uses an item of another file.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) from: String,
    pub(super) line: usize,
    pub(super) to: String,
}

/// A `use` statement or a path in code.
struct Mention {
    line: usize,
    /// The module that contains it.
    module: Vec<String>,
    path: Vec<String>,
    /// A re-export in `lib.rs`, `main.rs` or `mod.rs`. It does not count as an import.
    handed_on: bool,
}

#[derive(Default)]
struct Module {
    file: String,
    /// Names that `use` imports, and their paths. Other modules can reach them through this one.
    names: BTreeMap<String, Vec<String>>,
    mentions: Vec<Mention>,
}

type Modules = BTreeMap<Vec<String>, Module>;

/// Returns all imports of the library in the folder `root`, which contains `src/lib.rs`.
pub(super) fn imports(root: &Path) -> Vec<Import> {
    let mut modules = Modules::new();
    read(root, "src/lib.rs", Vec::new(), &mut modules);
    let mut found = Vec::new();
    for module in modules.values() {
        for mention in module.mentions.iter().filter(|mention| !mention.handed_on) {
            let Some(to) = resolve(&modules, &mention.module, &mention.path, 0) else { continue };
            if to != module.file {
                found.push(Import { from: module.file.clone(), line: mention.line, to });
            }
        }
    }
    found
}

/// Reads a file and the modules that it declares.
fn read(root: &Path, file: &str, path: Vec<String>, modules: &mut Modules) {
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let lines = lines_of_code(&text);
    let holds_modules = holds_modules(file);
    let mut module = Module { file: file.into(), ..Module::default() };
    let children: Vec<String> = lines.iter().filter_map(|line| declared(line)).map(String::from).collect();
    for child in &children {
        let below = path.iter().chain([child]).cloned().collect();
        read(root, &file_of(root, file, child), below, modules);
    }
    let mut inside = None;
    let mut statement = String::new();
    for (number, line) in (1..).zip(&lines) {
        let word = line.trim_start();
        match inline_module(line) {
            Some(name) => inside = Some(name.to_string()),
            None if line == "}" => inside = None,
            None => {}
        }
        let own = path.iter().chain(&inside).cloned().collect::<Vec<_>>();
        let is_use = without_visibility(word).starts_with("use ");
        if is_use || !statement.is_empty() {
            statement += word;
            statement.push(' ');
            if !word.ends_with(';') {
                continue;
            }
            let whole = std::mem::take(&mut statement);
            let tree = without_visibility(&whole).trim_start_matches("use ").trim_end_matches([';', ' ']).to_string();
            let handed_on = holds_modules && whole.starts_with("pub");
            for (path, name) in expand(&tree) {
                if inside.is_none() {
                    module.names.insert(name, path.clone());
                }
                module.mentions.push(Mention { line: number, module: own.clone(), path, handed_on });
            }
        } else {
            for path in paths(line, &children) {
                module.mentions.push(Mention { line: number, module: own.clone(), path, handed_on: false });
            }
        }
    }
    modules.insert(path, module);
}

/// Whether the modules that a file declares are in the folder of the file, and not in a subfolder with its name.
fn holds_modules(file: &str) -> bool {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    stem.is_some_and(|stem| ["lib", "main", "mod"].contains(&stem))
}

/// Returns the file of a module that `file` declares. Both are paths relative to `root`.
pub(super) fn file_of(root: &Path, file: &str, module: &str) -> String {
    let own = Path::new(file);
    let folder = if holds_modules(file) { own.parent().unwrap().to_path_buf() } else { own.with_extension("") };
    let candidates = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
    let found = candidates.iter().find(|candidate| root.join(candidate).is_file());
    let found = found.unwrap_or_else(|| panic!("{file}: no file for mod {module}"));
    found.to_string_lossy().replace('\\', "/")
}

/// Returns the lines of a file without comments and quoted text. Lines of test-only code are empty.
fn lines_of_code(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut skip_next, mut skip_until_brace) = (false, false);
    for line in text.lines() {
        let line = without_quotes(line);
        let word = line.trim_start();
        let for_tests = word.starts_with("#[cfg(") && word.contains("test");
        let skipped = for_tests || skip_next || skip_until_brace;
        if skip_until_brace {
            skip_until_brace = line != "}";
        } else if skip_next {
            // More attributes may follow. An unindented item with a body ends at an unindented brace.
            skip_next = word.is_empty() || word.starts_with('#');
            skip_until_brace = !skip_next && line.ends_with('{') && !line.starts_with(' ');
        }
        skip_next |= for_tests;
        lines.push(if skipped { String::new() } else { line });
    }
    lines
}

/// Removes the comment and the quoted text of a line.
fn without_quotes(line: &str) -> String {
    let mut kept = String::new();
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if quoted => _ = characters.next(),
            '"' => quoted = !quoted,
            '/' if !quoted && characters.peek() == Some(&'/') => break,
            _ if !quoted => kept.push(c),
            _ => {}
        }
    }
    kept.trim_end().to_string()
}

fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    let rest = if rest.starts_with('(') { rest.split_once(')').map_or(rest, |(_, rest)| rest) } else { rest };
    rest.trim_start()
}

/// Returns the name of the module that a line declares as a separate file (`mod name;`).
pub(super) fn declared(line: &str) -> Option<&str> {
    without_visibility(line).strip_prefix("mod ")?.strip_suffix(';')
}

/// Returns the name of the inline module that begins on a line (`mod name {`).
fn inline_module(line: &str) -> Option<&str> {
    without_visibility(line).strip_prefix("mod ")?.strip_suffix(" {")
}

/// Expands a `use` tree into its paths, each with the name that it imports.
fn expand(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((before, group)) = tree.split_once('{') {
        let group = group.trim_end().strip_suffix('}').unwrap_or(group);
        let before: Vec<String> = segments(before);
        let parts = split(group).into_iter().filter(|part| !part.trim().is_empty());
        let all = parts.flat_map(|part| expand(&part));
        return all.map(|(path, name)| (before.iter().cloned().chain(path).collect(), name)).collect();
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let mut path = segments(path);
    if path.last().is_some_and(|last| last == "self" && path.len() > 1) {
        path.pop();
    }
    let name = alias.map(|alias| alias.trim().into()).or_else(|| path.last().cloned()).unwrap_or_default();
    vec![(path, name)]
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|segment| !segment.is_empty()).map(String::from).collect()
}

/// Splits at the commas that are outside braces.
fn split(group: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in group.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

/// Returns the paths in a line of code that begin with `crate`, `super` or a child module.
fn paths(line: &str, children: &[String]) -> Vec<Vec<String>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = line.split(|c| !is_part(c)).filter(|word| word.contains("::"));
    let all = words.map(segments).filter(|path| path.len() > 1);
    all.filter(|path| ["crate", "super"].contains(&path[0].as_str()) || children.contains(&path[0])).collect()
}

/// Resolves a path in a module to the file that defines the item. Returns `None` for items of other crates.
fn resolve(modules: &Modules, module: &[String], path: &[String], depth: usize) -> Option<String> {
    let mut at = module.to_vec();
    let mut rest = path;
    let child = |at: &[String], name: &String| {
        let below: Vec<String> = at.iter().chain([name]).cloned().collect();
        modules.contains_key(&below).then_some(below)
    };
    match rest.first()?.as_str() {
        "crate" => {
            at.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|first| first == "super") {
                at.pop()?;
                rest = &rest[1..];
            }
        }
        _ => {
            at = child(&at, &rest[0])?;
            rest = &rest[1..];
        }
    }
    while let Some(name) = rest.first() {
        if let Some(below) = child(&at, name) {
            at = below;
        } else if let Some(path) = modules.get(&at)?.names.get(name).filter(|_| depth < 8) {
            let path: Vec<String> = path.iter().chain(&rest[1..]).cloned().collect();
            // If one of our files re-exports an item of another crate, a use of the item is an import of our file.
            return resolve(modules, &at, &path, depth + 1).or_else(|| Some(modules[&at].file.clone()));
        } else {
            break;
        }
        rest = &rest[1..];
    }
    modules.get(&at).map(|module| module.file.clone())
}
