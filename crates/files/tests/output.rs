//! Output files: results in every format read back to the same bits, and a file appears complete or not at all.

use std::path::Path;

use super::formats::{file, write_answers};
use umbracast::{Approach, Hit, Interval};
use umbracast_files::{AnswerRow, check_output, write_atomic};
use umbracast_testing::folder::npz_array;

fn left_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Writes results in both formats, and returns the text.
fn both<T: AnswerRow>(folder: &Path, answers: &[T]) -> String {
    write_answers(&folder.join("a.npz"), answers).unwrap();
    write_answers(&folder.join("a.csv"), answers).unwrap();
    std::fs::read_to_string(folder.join("a.csv")).unwrap()
}

#[test]
fn written_results_read_back_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let npz = folder.path().join("a.npz");
    let hits = [Hit { t: 0.1, id: 7 }, Hit::MISS, Hit { t: 1e30, id: 0 }, Hit { t: 3.0, id: 4_294_967_294 }];
    assert_eq!(both(folder.path(), &hits), "t,id\n0.1,7\n,\n1e30,0\n3.0,4294967294\n");
    assert_eq!(npz_array::<f32>(&npz, "t"), [0.1, f32::INFINITY, 1e30, 3.0]);
    assert_eq!(npz_array::<u32>(&npz, "id"), [7, u32::MAX, 0, 4_294_967_294]);

    let intervals = [Interval::MISS, Interval { t_enter: f32::NEG_INFINITY, t_exit: -0.0, id: 1 }];
    assert_eq!(both(folder.path(), &intervals), "t_enter,t_exit,id\n,,\n-inf,-0.0,1\n");
    assert_eq!(npz_array::<f32>(&npz, "t_exit")[1].to_bits(), (-0.0_f32).to_bits());

    let passes = [Approach { t: 1.5, clearance: -2.0, id: 3 }, Approach::NONE];
    assert_eq!(both(folder.path(), &passes), "t,clearance,id\n1.5,-2.0,3\n,,\n");
    assert_eq!(npz_array::<f32>(&npz, "clearance"), [-2.0, f32::INFINITY]);

    let occluded: Vec<bool> = (0..34).map(|i| [0, 31, 33].contains(&i)).collect();
    let text = both(folder.path(), &occluded);
    let bits = npz_array::<bool>(&npz, "occluded");
    assert_eq!(bits.len(), 34);
    let set: Vec<usize> = (0..34).filter(|i| bits[*i]).collect();
    assert_eq!(set, [0, 31, 33]);
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines.len(), 34);
    assert!(lines.iter().zip(&bits).all(|(line, bit)| *line == bit.to_string()));

    assert_eq!(both::<Hit>(folder.path(), &[]), "t,id\n");
    assert_eq!(npz_array::<f32>(&npz, "t"), Vec::<f32>::new());
    let first = std::fs::read(&npz).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2100));
    both::<Hit>(folder.path(), &[]);
    assert_eq!(std::fs::read(&npz).unwrap(), first, "the bytes depend on the time of day");
    assert_eq!(left_in(folder.path()), ["a.csv", "a.npz"]);
}

#[test]
fn a_failed_write_changes_no_file() {
    use std::io::Write;
    let (folder, path) = file("a.csv", "before");
    let result = write_atomic(&path, |out| {
        out.write_all(&[b'x'; 3 << 20])?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(result.unwrap_err().to_string().contains("the disk is full"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(left_in(folder.path()), ["a.csv"]);
}

#[test]
fn output_paths_are_checked_before_any_work() {
    let (folder, path) = file("in.csv", "x,y,z,r\n");
    let message = |path: &Path, inputs: &[&Path]| check_output(path, inputs, None).unwrap_err().to_string();
    assert!(message(Path::new("out.txt"), &[]).contains(".npz, .csv, .parquet, .npy and .f32"));
    assert!(message(Path::new("out"), &[]).contains("without an extension"));
    assert!(message(&path, &[&path]).contains("is also an input"));
    assert!(message(&folder.path().join("no/out.csv"), &[]).contains("there is no folder"));
    assert!(message(&path.join("out.csv"), &[]).contains("not a folder"));
    let inner = folder.path().join("folder.csv");
    std::fs::create_dir(&inner).unwrap();
    assert!(message(&inner, &[]).contains("it is a folder"));
    check_output(&folder.path().join("new.npz"), &[&path], None).unwrap();
    check_output(Path::new("new.npz"), &[], None).unwrap();
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, path) = file("real.csv", "before");
    let link = folder.path().join("link.csv");
    symlink(&path, &link).unwrap();
    // Writing through a link changes the file and keeps the link. An input is recognised through a link.
    assert!(check_output(&link, &[&path], None).unwrap_err().to_string().contains("is also an input"));
    write_answers::<Hit>(&link, &[]).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "t,id\n");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    let fresh = folder.path().join("fresh.csv");
    std::fs::write(folder.path().join("plain"), "").unwrap();
    write_answers::<Hit>(&fresh, &[]).unwrap();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("fresh.csv"), mode("plain"), "a new file has the usual permissions");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(write_answers::<Hit>(&path, &[]).unwrap_err().to_string().contains("read-only"));
}
