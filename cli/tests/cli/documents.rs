//! The README and the pages of `docs`: their shell commands run, their links lead somewhere, their Rust is code that is compiled, and they
//! stay short.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Stdio;

#[cfg(unix)]
use umbracast_testing::folder::{Done, Folder, program};
use umbracast_testing::{files_below, root};

/// Programs whose commands are run. `umbracast` is the program under test.
#[cfg(unix)]
const RUN: [&str; 5] = ["umbracast", "cat", "cut", "head", "printf"];

/// Programs whose commands are not run, and why. Any program that is in neither list fails the test.
#[cfg(unix)]
const SKIPPED: [(&str, &str); 5] = [
    ("cargo", "it builds"),
    ("cc", "the test of crates/capi compiles this file"),
    ("pip", "it installs"),
    ("tests/run.sh", "it runs this test"),
    ("tools/peers/compare.sh", "it installs Embree"),
];

/// The README and every page of `docs`: path from the root of the repository, and text.
fn pages() -> Vec<(PathBuf, String)> {
    let docs = files_below(&root().join("docs"), "md").into_iter().map(|page| Path::new("docs").join(page));
    let names = std::iter::once(PathBuf::from("README.md")).chain(docs);
    let read = |name: PathBuf| {
        let text = std::fs::read_to_string(root().join(&name)).unwrap();
        (name, text)
    };
    names.map(read).collect()
}

/// A fenced block.
struct Block<'a> {
    language: &'a str,
    /// Each line with its number in the page.
    lines: Vec<(usize, &'a str)>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open) = (Vec::new(), None::<Block>);
    for (number, line) in (1..).zip(text.lines()) {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some(Block { language, lines: Vec::new() }),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.lines.push((number, line));
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// The lines outside fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    })
}

/// A command of a page.
#[cfg(unix)]
struct Step {
    line: usize,
    command: String,
    /// Its output, if the page shows it.
    output: Option<String>,
}

/// The commands of a block: every line of `sh`, and the lines of `console` that begin with `$`. The lines after these are their output.
#[cfg(unix)]
fn steps(block: &Block<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = block.lines.iter().copied();
    while let Some((line, text)) = lines.next() {
        if block.language == "console" {
            match (text.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    steps.push(Step { line, command: command.to_owned(), output: Some(String::new()) });
                }
                (None, Some(Step { output: Some(output), .. })) => *output += &format!("{text}\n"),
                (None, _) => panic!("line {line}: output without a command"),
            }
        } else if block.language == "sh" && !text.trim().is_empty() {
            let mut command = text.to_owned();
            // A here-document is part of its command.
            if let Some((_, word)) = text.split_once("<<") {
                for (_, text) in lines.by_ref() {
                    command += &format!("\n{text}");
                    if text == word.trim().trim_matches('\'') {
                        break;
                    }
                }
            }
            steps.push(Step { line, command, output: None });
        }
    }
    steps
}

/// The program of a command, which may set variables first.
#[cfg(unix)]
fn program_of(command: &str) -> &str {
    command.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default()
}

/// A folder with a copy of the sample files, and an empty `output`.
#[cfg(unix)]
fn folder_with_samples() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("output")).unwrap();
    for extension in ["toml", "csv", "npy", "ply", "pdb"] {
        for file in files_below(&root().join("systems"), extension) {
            let copy = folder.path("systems").join(&file);
            std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
            std::fs::copy(root().join("systems").join(&file), copy).unwrap();
        }
    }
    folder
}

/// Runs a command in a shell that finds the program under test.
#[cfg(unix)]
fn run(folder: &Folder, command: &str) -> Done {
    let umbracast = program();
    let own = Path::new(umbracast.get_program()).parent().unwrap().to_path_buf();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others))).unwrap();
    let mut shell = std::process::Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", command]).current_dir(folder.root());
    shell.env("PATH", path).env("UMBRACAST_DEVICE", "cpu").env("COLUMNS", "200");
    Done::of(shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// A skipped command names a script or an example that exists.
#[cfg(unix)]
fn assert_exists(place: &str, command: &str) {
    let program = program_of(command);
    assert!(!program.contains('/') || root().join(program).is_file(), "{place}: {program} does not exist");
    let mut words = command.split_whitespace();
    if words.any(|word| word == "--example") {
        let example = format!("examples/{}.rs", words.next().unwrap_or_default());
        assert!(root().join(&example).is_file(), "{place}: {example} does not exist");
    }
}

/// The commands of a page run one after the other in one folder, which has a copy of `systems`.
#[cfg(unix)]
#[test]
fn every_command_of_the_documents_runs() {
    let (mut count, mut skipped) = (0, BTreeSet::new());
    for (name, text) in pages() {
        let folder = folder_with_samples();
        for step in blocks(&text).iter().flat_map(steps) {
            let place = format!("{}:{}", name.display(), step.line);
            let program = program_of(&step.command);
            if SKIPPED.iter().any(|(skip, _)| *skip == program) {
                assert_exists(&place, &step.command);
                skipped.insert(program.to_owned());
                continue;
            }
            assert!(RUN.contains(&program), "{place}: `{program}` is neither run nor skipped by this test");
            let done = run(&folder, &step.command);
            assert_eq!(done.code, 0, "{place}: {}\n{}", step.command, done.errors);
            if let Some(output) = step.output {
                assert_eq!(done.output, output, "{place}: {}\n{}", step.command, done.errors);
            }
            count += 1;
        }
    }
    assert!(count > 50, "{count} commands were run");
    for (program, why) in SKIPPED {
        assert!(skipped.contains(program), "{program} is skipped because {why}, but no document has it");
    }
}

/// Each line of Rust is a line of an example, or of an example in the documentation of the library. These are compiled.
#[test]
fn the_rust_of_the_documents_is_compiled_elsewhere() {
    let mut compiled = BTreeSet::new();
    for folder in ["examples", "src"] {
        for file in files_below(&root().join(folder), "rs") {
            let text = std::fs::read_to_string(root().join(folder).join(file)).unwrap();
            let bare = |line: &str| line.trim().trim_start_matches("//!").trim_start_matches("///").trim().to_owned();
            compiled.extend(text.lines().map(bare));
        }
    }
    let mut count = 0;
    for (name, text) in pages() {
        for block in blocks(&text).into_iter().filter(|block| block.language == "rust") {
            for (line, code) in block.lines.iter().filter(|(_, code)| !code.trim().is_empty()) {
                assert!(compiled.contains(code.trim()), "{}:{line}: not in src/ or examples/: {code}", name.display());
                count += 1;
            }
        }
    }
    assert!(count > 15, "{count} lines were compared");
}

/// The targets of the links and pictures of a page.
fn links(text: &str) -> Vec<&str> {
    prose(text).flat_map(|line| line.split("](").skip(1)).filter_map(|rest| Some(rest.split_once(')')?.0)).collect()
}

/// The name by which a link refers to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
    kept.trim().replace(' ', "-")
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut pages = pages();
    let systems = PathBuf::from("systems/README.md");
    pages.push((systems.clone(), std::fs::read_to_string(root().join(systems)).unwrap()));
    for (name, text) in &pages {
        for link in links(text).into_iter().filter(|link| !link.starts_with("https://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let own = root().join(name);
            let target = if file.is_empty() { own } else { own.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link} does not exist", name.display());
            if !heading.is_empty() {
                let target = std::fs::read_to_string(target).unwrap();
                let headings = || prose(&target).filter_map(|line| line.strip_prefix('#'));
                let found = headings().any(|line| anchor(line.trim_start_matches('#').trim()) == heading);
                assert!(found, "{}: {link} has no such heading", name.display());
            }
        }
    }
    // The README, or the index that it links to, links to every page of `docs`; the index of recipes links to every recipe.
    let pages_of = |index: &str| {
        let index = Path::new(index);
        let (_, text) = pages.iter().find(|(name, _)| name == index).unwrap();
        links(text).into_iter().map(|link| index.parent().unwrap().join(link)).collect::<BTreeSet<PathBuf>>()
    };
    let (recipes, mut linked) = (pages_of("docs/recipes/README.md"), pages_of("README.md"));
    assert!(linked.contains(Path::new("docs/README.md")), "README.md has no link to docs/README.md");
    linked.extend(pages_of("docs/README.md"));
    for (name, _) in pages.iter().filter(|(name, _)| name.starts_with("docs")) {
        let is_recipe = name.starts_with("docs/recipes") && name != Path::new("docs/recipes/README.md");
        let linked = if is_recipe { &recipes } else { &linked };
        assert!(linked.contains(name), "no index has a link to {}", name.display());
    }
}

#[test]
fn the_documents_are_short() {
    for (name, text) in pages() {
        let lines = text.lines().count();
        if name == Path::new("README.md") {
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            let characters = text.chars().count();
            assert!(lines <= 130, "README.md has {lines} lines: the limit is 130");
            assert!(longest <= 120, "a line of README.md has {longest} characters: the limit is 120");
            assert!(characters <= 9000, "README.md has {characters} characters: the limit is 9,000");
        }
        assert!(lines <= 200, "{} has {lines} lines: the limit is 200", name.display());
    }
}
