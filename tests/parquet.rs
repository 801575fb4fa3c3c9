//! Parquet in and out: the same answers as from text, whatever wrote the file; what is wrong with one refused in words that help.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot write its files may panic")]

mod folder;

#[cfg(feature = "parquet")]
#[path = "parquet/tables.rs"]
mod tables;

#[cfg(feature = "parquet")]
#[path = "parquet/with.rs"]
mod with;

/// `tests/run.sh` runs this program once without the feature.
#[cfg(not(feature = "parquet"))]
#[test]
fn without_the_feature_it_is_said_how_to_get_it() {
    let folder = folder::Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n").write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n");
    folder.write("s.parquet", "PAR1").write("r.parquet", "PAR1").write("out.parquet", "before");
    let before = folder.contents();
    for arguments in ["s.parquet r.csv -o out.csv", "s.csv r.parquet -o out.csv", "s.csv r.csv -o out.parquet"] {
        let done = folder.run(&format!("cast {arguments}"));
        assert_eq!(done.code, 2, "{}", done.errors);
        assert!(
            done.errors.contains("built without Parquet: `cargo build --release --features parquet`"),
            "{}",
            done.errors
        );
        assert_eq!(folder.contents(), before, "{arguments}");
    }
}
