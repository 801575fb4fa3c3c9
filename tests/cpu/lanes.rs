//! Lanes need instructions that a processor may lack. So safe code makes them only from lanes that it was given: rustc refuses all else.

use std::io::Write;
use std::process::Command;

use crate::support::folder::Folder;
use crate::support::root;

/// Safe code that would make lanes from nothing, and the error that it is refused with.
const REFUSED: [(&str, &str); 7] = [
    ("Avx512::splat(1.0)", "E0061"),
    ("<Avx512 as Lanes>::load(&[0.0; 16])", "E0061"),
    ("Avx512::new()", "E0133"),
    ("<<Avx512 as Lanes>::Narrow as Lanes>::new()", "E0133"),
    ("std::iter::once(()).map(|()| Scalar4::new()).next()", "E0133"),
    ("Scalar4([0.0; 4])", "E0423"),
    ("Avx2::default()", "E0599"),
];

/// What rustc says about a library whose function `make` consists of an expression; `None` where there is no rustc.
fn compile(expression: &str) -> Option<(bool, String)> {
    let folder = Folder::new();
    let lanes = root().join("src/math/simd/lanes.rs");
    let text = format!(
        "#![allow(unused)]\n#[path = {lanes:?}]\nmod lanes;\nuse lanes::{{Avx2, Avx512, Lanes, Scalar4}};\n\
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
fn no_safe_code_makes_lanes_from_nothing() {
    for (expression, code) in REFUSED {
        let Some((accepted, told)) = compile(expression) else {
            // Written past the test's own output: a test that checks nothing must say so.
            let _ = writeln!(std::io::stderr(), "NOT TESTED: lanes in safe code, for want of rustc");
            return;
        };
        assert!(!accepted, "safe code makes lanes: {expression}");
        assert!(told.contains(&format!("error[{code}]")), "{expression}: {told}");
        assert_eq!(
            told.matches("\nerror[").count() + usize::from(told.starts_with("error[")),
            1,
            "{expression}: {told}"
        );
    }
    let (accepted, told) = compile("unsafe { Avx512::new() }.splat(1.0).narrow().load(&[0.0; 8])").unwrap();
    assert!(accepted, "{told}");
}
