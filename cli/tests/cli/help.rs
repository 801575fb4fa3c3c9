//! Help, version, completions, manual pages and messages of the command line.

use std::process::Command;

use umbracast_testing::folder::{Folder, program};

/// Commands whose long help has line breaks of its own.
const WITH_LINES: [&str; 10] =
    ["cast", "contains", "bullets", "render", "shadow", "sunlight", "devices", "bench", "completions", "man"];

/// Commands whose long help is wrapped to the terminal.
const WITH_PARAGRAPHS: [&str; 4] = ["eclipse", "circumstances", "map", "system"];

fn commands() -> impl Iterator<Item = &'static str> {
    WITH_LINES.into_iter().chain(WITH_PARAGRAPHS)
}

fn output(arguments: &[&str], columns: &str) -> String {
    let done = program().args(arguments).env("COLUMNS", columns).output().unwrap();
    assert!(done.status.success(), "{arguments:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn short_help_has_at_most_40_lines() {
    for command in commands() {
        let text = output(&[command, "-h"], "100");
        assert!(text.lines().count() <= 40, "{command}: {} lines\n{text}", text.lines().count());
    }
}

/// Text that has line breaks of its own must fit an ordinary terminal: otherwise its lines would be wrapped a second time.
#[test]
fn long_help_is_wrapped_once() {
    for command in WITH_LINES {
        let [narrow, wide] = ["80", "100"].map(|columns| output(&[command, "--help"], columns));
        assert!(narrow.contains("\nExample"), "{command} has no examples");
        let tail = |text: &str| {
            let at = ["\nFiles:", "\nOBSERVERS", "\nTRAJECTORY", "\nExample"]
                .iter()
                .filter_map(|start| text.find(start))
                .min();
            text[at.unwrap()..].to_owned()
        };
        assert_eq!(tail(&narrow), tail(&wide), "{command}");
        let longest = tail(&narrow).lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= 80, "{command}: a line of {longest} characters");
    }
    for command in WITH_PARAGRAPHS {
        let text = output(&[command, "--help"], "80");
        let lines: Vec<&str> = text.lines().collect();
        let is_text = |line: &str| line.starts_with(|first: char| first.is_alphanumeric() || first == '(');
        // A list begins on a line of its own.
        for pair in lines.windows(3).filter(|near| is_text(near[0]) && is_text(near[1]) && !near[2].starts_with(' ')) {
            let word = pair[1].split(' ').next().unwrap();
            let wide = pair[0].chars().count() + 1 + word.chars().count();
            assert!(wide > 80, "{command}: the line break after '{}' is not needed", pair[0]);
        }
    }
}

#[test]
fn help_is_a_command_too() {
    assert_eq!(output(&["help", "cast"], "100"), output(&["cast", "--help"], "100"));
}

#[test]
fn the_version_names_commit_features_and_wgpu() {
    let text = output(&["--version"], "100");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], concat!("umbracast ", env!("CARGO_PKG_VERSION")), "{text}");
    assert!(lines[1].starts_with("commit    ") && lines[2].starts_with("features  "), "{text}");
    assert!(lines[3].strip_prefix("wgpu      ").is_some_and(|version| version.starts_with("30.")), "{text}");
    assert_eq!(output(&["-V"], "100"), format!("{}\n", lines[0]));
}

/// The sources may lie in a repository of another project.
#[test]
fn the_commit_is_that_of_a_repository_with_the_sources() {
    let folder = Folder::new();
    let run = |program: &str, arguments: &str| {
        let identity = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        let mut command = Command::new(program);
        command.args(arguments.split(' ')).envs(identity.map(|name| (name, "a"))).current_dir(folder.path("cli"));
        let done = command.output().unwrap_or_else(|e| panic!("{program}: {e}"));
        assert!(done.status.success(), "{program} {arguments}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    folder.write("Cargo.lock", "");
    std::fs::create_dir(folder.path("cli")).unwrap();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs"), folder.path("cli/build.rs")).unwrap();
    run("rustc", "--edition 2024 build.rs");
    run("git", "init -q ..");
    run("git", "commit -q --allow-empty -m other");
    let build = folder.path("cli/build");
    let commit =
        || run(build.to_str().unwrap(), "").lines().find_map(|line| Some(line.split_once("COMMIT=")?.1.to_owned()));
    assert_eq!(commit().unwrap(), "unknown");
    run("git", "add ../Cargo.lock");
    assert_eq!(commit().unwrap(), run("git", "rev-parse --short=12 HEAD").trim());
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = output(&["completions", shell], "100");
        assert!(commands().all(|command| script.contains(command)), "{shell}");
        assert!(script.contains("time-range"), "{shell}");
    }
    let folder = Folder::new();
    folder.run_ok("man pages/man1");
    for command in commands() {
        let page = folder.text(&format!("pages/man1/umbracast-{command}.1"));
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(folder.text("pages/man1/umbracast.1").contains("umbracast\\-cast(1)"));
}

/// The CPU engine runs on this many threads: the bench reports the number.
#[test]
fn the_number_of_threads_can_be_chosen() {
    let folder = Folder::new();
    for threads in [1, 3] {
        let report = folder.run_ok(&format!("devices --threads {threads} --json")).output;
        assert!(report.contains(&format!("{threads} thread")), "{report}");
    }
    for wrong in ["0", "-1", "many"] {
        assert_eq!(folder.run(&format!("devices --threads={wrong}")).code, 2);
    }
}

/// Mistakes that users made, and a part of the message for each.
#[test]
fn messages_name_the_option_the_key_or_the_remedy() {
    let folder = Folder::new();
    let number = umbracast_testing::folder::f32_bytes(&[0.0; 6]);
    let fields = "[('x', '<f2'), ('y', '<f4'), ('z', '<f4'), ('r', '<f4')]";
    let array =
        |descr: &str, shape: &str, bytes: usize| umbracast_testing::folder::npy(descr, false, shape, &number[..bytes]);
    folder
        .write("s.csv", "x,y,z,r\n4,0,0,1\n")
        .write("unit.toml", "[light]\ncenter = [0, 0, 9]\nradius = 1\n")
        .write("au.toml", "unit = 'AU'\n[light]\ncenter = [0, 0, 9]\nradius = 1\n")
        .write("half.npy", array(fields, "(1,)", 14))
        .write("segments.csv", "x1,y1,z1,x2,y2,z2\n0,0,0,9,0,0\n")
        .write("a.segments", &number)
        .write("rays.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,9,0,0\n")
        .write("rays.npz", "PK\u{3}\u{4}");
    for (arguments, told, not) in [
        ("render unit.toml -o p.png", "unit.toml: unit is missing: add a line such as unit = \"km\"", "line 1"),
        ("render au.toml -o p.png", "unit is \"AU\" (did you mean \"au\"?)", "line"),
        ("render -o p.png --size 0x9", "--size is 0x9", "picture"),
        ("cast half.npy rays.csv -o o.csv", "field 'x' is '<f2': expected f4, f8 or an integer", "astype"),
        ("cast s.csv segments.csv -o o.csv", "to cast segments, use cast --segments", "unknown"),
        ("cast s.csv a.segments -o o.csv", "to cast segments, use cast --segments", "unknown"),
        ("cast s.csv rays.npz -o o.csv", "not a readable .npz file", "columns"),
    ] {
        let done = folder.refused(arguments, told);
        assert!(!done.errors.contains(not), "{arguments}: {}", done.errors);
    }
}
