//! SIMD lanes need instructions that a processor may lack. Safe code can therefore create lanes only from existing ones: rustc must
//! reject everything else.

use std::io::Write;
use std::process::Command;

use umbracast_testing::folder::Folder;
use umbracast_testing::root;

/// Safe code that would create lanes from nothing, and the compiler error that rejects it.
const REFUSED: [(&str, &str); 7] = [
    ("Avx512::splat(1.0)", "E0061"),
    ("<Avx512 as Lanes>::load(&[0.0; 16])", "E0061"),
    ("Avx512::new()", "E0133"),
    ("<<Avx512 as Lanes>::Narrow as Lanes>::new()", "E0133"),
    ("std::iter::once(()).map(|()| Sse2::new()).next()", "E0133"),
    ("Sse2(std::mem::zeroed())", "E0423"),
    ("Avx2::default()", "E0599"),
];

/// Compiles a library whose function `make` evaluates an expression. Returns whether rustc accepts it, and its messages; `None` without
/// rustc.
fn compile(expression: &str) -> Option<(bool, String)> {
    let folder = Folder::new();
    let lanes = root().join("src/math/simd/lanes/mod.rs");
    let text = format!(
        "#![allow(unused)]\n#[path = {lanes:?}]\nmod lanes;\nuse lanes::{{Avx2, Avx512, Lanes, Sse2}};\n\
         fn make() {{ let _ = {expression}; }}\n"
    );
    folder.write("make.rs", text);
    let done = Command::new("rustc")
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--out-dir"])
        .args([folder.root(), folder.path("make.rs").as_path()])
        .output()
        .ok()?;
    Some((done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned()))
}

#[test]
fn safe_code_cannot_create_simd_lanes() {
    for (expression, code) in REFUSED {
        let Some((accepted, messages)) = compile(expression) else {
            // Written directly to stderr, which the test harness does not capture: a test that checks nothing must report this.
            let _ = writeln!(std::io::stderr(), "NOT TESTED: lanes in safe code, because rustc is missing");
            return;
        };
        assert!(!accepted, "safe code creates lanes: {expression}");
        assert!(messages.contains(&format!("error[{code}]")), "{expression}: {messages}");
        assert_eq!(
            messages.matches("\nerror[").count() + usize::from(messages.starts_with("error[")),
            1,
            "{expression}: {messages}"
        );
    }
    let (accepted, messages) = compile("unsafe { Avx512::new() }.splat(1.0).narrow().load(&[0.0; 8])").unwrap();
    assert!(accepted, "{messages}");
}
