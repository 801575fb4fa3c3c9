//! Tests the error messages of a build without Parquet, within a build that has it: a second build would take a minute.

use std::cell::Cell;
use std::path::Path;

use glam::DVec3;

use super::read::ray_stream::RayFile;
use super::read::spheres::read_spheres;
use super::write::file_writer::FileWriter;
use crate::error::Error;
use umbracast::{Hit, HitLists, Ray};

thread_local! {
    /// Whether this thread behaves like a build without Parquet.
    pub(crate) static WITHOUT_PARQUET: Cell<bool> = const { Cell::new(false) };
}

/// The errors of reading spheres and rays, and of writing results and hit lists.
fn errors(folder: &Path) -> [Option<Error>; 4] {
    [
        read_spheres(&folder.join("s.parquet"), DVec3::ZERO).err(),
        RayFile::<Ray>::open(&folder.join("r.parquet")).err(),
        FileWriter::<[Hit]>::create(&folder.join("out.parquet")).err(),
        FileWriter::<HitLists>::create(&folder.join("out.parquet")).err(),
    ]
}

#[test]
fn errors_without_parquet_name_the_feature() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["s.parquet", "r.parquet", "out.parquet"];
    for name in names {
        std::fs::write(folder.path().join(name), "before").unwrap();
    }
    WITHOUT_PARQUET.set(true);
    let refused = errors(folder.path());
    WITHOUT_PARQUET.set(false);
    for error in refused {
        let error = error.expect("there is no Parquet");
        let words = "built without Parquet: build it with `cargo build --release --features parquet`";
        assert!(error.to_string().contains(words), "{error}");
        assert!(matches!(error, Error::BadFile { .. }), "{error}");
    }
    for name in names {
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), "before", "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), names.len(), "a file was created");
    // Without this override the feature of the build decides.
    let [spheres, ..] = errors(folder.path());
    let spheres = spheres.expect("expected an error about invalid Parquet files").to_string();
    assert_eq!(spheres.contains("built without"), cfg!(not(feature = "parquet")), "{spheres}");
}
