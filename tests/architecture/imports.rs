//! The imports of `src/`: which file uses which, with re-exports followed to the file that defines the item.
//!
//! Text is read, not compiled: `use` statements, and paths in code that begin with `crate`, `super` or a child module. Code for tests alone
//! is left out.

use std::collections::BTreeMap;
use std::path::Path;

/// A file that uses an item of another.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) from: String,
    pub(super) line: usize,
    pub(super) to: String,
}

/// A `use` statement or a path in code.
struct Mention {
    line: usize,
    /// The module that it stands in.
    module: Vec<String>,
    path: Vec<String>,
    /// Only hands the item on, in a file that holds modules.
    handed_on: bool,
}

#[derive(Default)]
struct Module {
    file: String,
    /// Names that `use` brings in, which others can reach through this module.
    names: BTreeMap<String, Vec<String>>,
    mentions: Vec<Mention>,
}

type Modules = BTreeMap<Vec<String>, Module>;

/// All imports of the library in the folder `root`, which has `src/lib.rs`.
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

/// Whether the modules that a file declares lie in its own folder, not in one of its name.
fn holds_modules(file: &str) -> bool {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    stem.is_some_and(|stem| ["lib", "main", "mod"].contains(&stem))
}

/// The file of a module that `file` declares, both as paths from `root`.
pub(super) fn file_of(root: &Path, file: &str, module: &str) -> String {
    let own = Path::new(file);
    let folder = if holds_modules(file) { own.parent().unwrap().to_path_buf() } else { own.with_extension("") };
    let candidates = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
    let found = candidates.iter().find(|candidate| root.join(candidate).is_file());
    let found = found.unwrap_or_else(|| panic!("{file}: no file for mod {module}"));
    found.to_string_lossy().replace('\\', "/")
}

/// The lines of a file, empty where they are comments, text in quotes, or code for tests alone.
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
            // Attributes may follow; an item with a body at the margin ends with a brace at the margin.
            skip_next = word.is_empty() || word.starts_with('#');
            skip_until_brace = !skip_next && line.ends_with('{') && !line.starts_with(' ');
        }
        skip_next |= for_tests;
        lines.push(if skipped { String::new() } else { line });
    }
    lines
}

/// A line without its comment and without what stands in quotes.
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

/// The name of a module in a file of its own.
pub(super) fn declared(line: &str) -> Option<&str> {
    without_visibility(line).strip_prefix("mod ")?.strip_suffix(';')
}

/// The name of a module that begins on this line.
fn inline_module(line: &str) -> Option<&str> {
    without_visibility(line).strip_prefix("mod ")?.strip_suffix(" {")
}

/// The paths of a `use` tree, each with the name that it brings in.
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

/// Parts between commas that are in no braces.
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

/// Paths in a line of code that begin with `crate`, `super` or a child module.
fn paths(line: &str, children: &[String]) -> Vec<Vec<String>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = line.split(|c| !is_part(c)).filter(|word| word.contains("::"));
    let all = words.map(segments).filter(|path| path.len() > 1);
    all.filter(|path| ["crate", "super"].contains(&path[0].as_str()) || children.contains(&path[0])).collect()
}

/// The file that defines what a path names in a module; none where it is of another crate.
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
            // A name of another crate that a file of ours hands on is an import of that file.
            return resolve(modules, &at, &path, depth + 1).or_else(|| Some(modules[&at].file.clone()));
        } else {
            break;
        }
        rest = &rest[1..];
    }
    modules.get(&at).map(|module| module.file.clone())
}
