//! Readers of tables: a table has as many rows as it claims, valid records, the same by file and by pipe, and numbers that are rounded once.

use std::fmt::{Debug, Write as _};
use std::path::{Path, PathBuf};

use arbitrary::{Result, Unstructured};
use tempfile::TempDir;
use umbracast::glam::{DVec3, Vec3};
use umbracast::shadow::ShadowRow;
use umbracast::{Bullet, CancelToken, OnBad, Ray, Sphere};
use umbracast_files::{
    Batched, Error, RayBatch, RayFile, ReadOptions, center_of_spheres, read_observers, read_poses, read_spheres_with,
    read_trajectories,
};
use umbracast_sky::{Frame, Sky, SkyOptions, Sunlight, Trajectory};

use crate::cpu;
use crate::texts::check_message;

thread_local! {
    /// Folder of the input files.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// Writes an input to a file of this name. The next input of the same name replaces it.
fn written(name: &str, input: &[u8]) -> PathBuf {
    let path = FOLDER.with(|folder| folder.path().join(name));
    std::fs::write(&path, input).expect("it is short");
    path
}

const KINDS: [&str; 7] = ["spheres", "rays", "segments", "points", "observers", "poses", "bullets"];

/// The first byte selects kind and format; the rest is the file.
pub(crate) fn sources(u: &mut Unstructured<'_>) -> Result<()> {
    let choice = usize::from(u.arbitrary::<u8>()?);
    let kind = KINDS[choice % KINDS.len()];
    let extension = ["npy", "csv", "parquet", "f32", kind, "ply", "xyz", "pdb"][choice / KINDS.len() % 8];
    check(u.bytes(u.len())?, kind, extension);
    Ok(())
}

/// The input is an `.npy` file that is read as every kind of table.
pub(crate) fn npy(u: &mut Unstructured<'_>) -> Result<()> {
    let file = u.bytes(u.len())?;
    KINDS.iter().for_each(|kind| check(file, kind, "npy"));
    Ok(())
}

/// The input is a `.parquet` file of spheres.
pub(crate) fn parquet(u: &mut Unstructured<'_>) -> Result<()> {
    check(u.bytes(u.len())?, "spheres", "parquet");
    Ok(())
}

/// The first byte selects the format; the rest is a table of states, or an Orbit Ephemeris Message.
pub(crate) fn trajectories(u: &mut Unstructured<'_>) -> Result<()> {
    let choice = usize::from(u.arbitrary::<u8>()?) % 4;
    let path = written(["states.oem", "states.csv", "states.npy", "states.parquet"][choice], u.bytes(u.len())?);
    let frame = (choice > 0).then_some(Frame::Gcrs);
    let sky = Sky::new(SkyOptions::default());
    match read_trajectories(&path, frame, &ReadOptions::default(), &sky) {
        Err(error) => check_message(&error),
        Ok(file) => {
            let count: usize = file.trajectories.iter().map(|one| one.states().len()).sum();
            assert_eq!(count, file.rows.len());
            for own in file.trajectories.iter().map(Trajectory::states) {
                assert!(own.iter().all(|state| state.position.is_finite()), "{own:?}");
                assert!(own.windows(2).all(|pair| pair[1].time.seconds_since(pair[0].time) > 0.0), "{own:?}");
            }
            match Sunlight::new(&sky, &file.trajectories) {
                Err(error) => check_message(&Error::BadFile { path, message: error.to_string() }),
                Ok(sunlight) => check_light(&sunlight, &file.trajectories),
            }
        }
    }
    Ok(())
}

/// Computes the fraction of the Sun at each state, and the intervals of shadow.
fn check_light(sunlight: &Sunlight, trajectories: &[Trajectory]) {
    for (trajectory, one) in trajectories.iter().enumerate() {
        let fill = |index: usize, row: &mut ShadowRow| sunlight.row(trajectory, index, row);
        if let Ok(found) = cpu().shadows_by_row(one.states().len(), &fill) {
            assert!(found.iter().all(|one| (0.0..=1.0).contains(&one.shadow.fraction)), "{found:?}");
        }
    }
    assert_eq!(sunlight.intervals().len(), trajectories.len());
}

/// Reads a file in several ways, which must agree.
fn check(file: &[u8], kind: &str, extension: &str) {
    let path = written(&format!("table.{extension}"), file);
    let whole = read(&path, kind, OnBad::Refuse);
    if let Err(error) = &whole {
        check_message(error);
    }
    if kind == "spheres" {
        let center = center_of_spheres(&path);
        assert!(whole.is_err() || center.as_ref().is_ok_and(|center| center.is_finite()), "{center:?}");
    }
    // With `OnBad::Skip` every row is kept; only cells that are not numbers are refused.
    match (read(&path, kind, OnBad::Skip), &whole) {
        (Ok(found), Ok(whole)) => assert_eq!(found, *whole, "with invalid rows skipped"),
        (Err(error), Ok(_)) => panic!("refused with invalid rows skipped: {error}"),
        _ => {}
    }
    #[cfg(target_os = "linux")]
    if ["npy", "csv", "ply"].contains(&extension) && kind != "poses" {
        pipe(file, kind, extension, &whole);
    }
}

/// Reads a table and returns its records and columns as text, which has every bit.
fn read(path: &Path, kind: &str, on_bad: OnBad) -> umbracast_files::Result<String> {
    let point = |point: &[f32; 3]| Vec3::from(*point).is_finite();
    Ok(match kind {
        "spheres" => {
            let options = ReadOptions::default().on_bad(on_bad);
            let table = read_spheres_with(path, DVec3::ZERO, &options)?;
            assert!(on_bad == OnBad::Skip || table.records.iter().all(|sphere: &Sphere| sphere.check().is_ok()));
            format!("{table:?}")
        }
        "observers" => format!("{:?}", read_observers(path)?),
        "poses" => format!("{:?}", read_poses(path, DVec3::ZERO, on_bad)?),
        "rays" => batches(path, on_bad, |ray: &Ray| ray.check().is_ok())?,
        "segments" => batches(path, on_bad, |ends: &[[f32; 3]; 2]| ends.iter().all(point))?,
        "points" => batches(path, on_bad, point)?,
        _ => batches(path, on_bad, |bullet: &Bullet| bullet.check().is_ok())?,
    })
}

fn batches<T: Batched + Debug>(
    path: &Path,
    on_bad: OnBad,
    is_valid: impl Fn(&T) -> bool,
) -> umbracast_files::Result<String> {
    let file = RayFile::<T>::open(path)?;
    let told = file.rays();
    let mut batches = file.read(DVec3::ZERO, on_bad)?;
    let (mut batch, mut count, mut text) = (RayBatch::default(), 0, String::new());
    while batches.next(&mut batch, &CancelToken::new())? {
        assert!(on_bad == OnBad::Skip || batch.records.iter().all(&is_valid), "{batch:?}");
        count += batch.records.len() as u64;
        write!(text, "{:?}{:?}", batch.records, batch.optional).expect("there is room");
    }
    assert!(told.is_none_or(|told| told == count), "{count} rows of {told:?}");
    Ok(text + &format!("{:?}", batches.rounding()))
}

/// Reads the same file through a pipe, which has no length and no extension that selects the format.
#[cfg(target_os = "linux")]
fn pipe(file: &[u8], kind: &str, extension: &str, whole: &umbracast_files::Result<String>) {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    // Every pipe has a buffer of at least 4096 bytes.
    if file.len() > 4096 || (file.first() == Some(&0x93)) != (extension == "npy") {
        return;
    }
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(file).expect("there is room");
    drop(writer);
    let found = read(&PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd())), kind, OnBad::Refuse);
    match (whole, &found) {
        (Ok(whole), Ok(found)) => assert_eq!(found, whole, "through a pipe"),
        (Ok(_), Err(why)) => assert!(why.to_string().contains("Fortran order"), "through a pipe: {why}"),
        (Err(why), Ok(_)) => panic!("a pipe is taken for which a file is refused: {why}"),
        (Err(_), Err(_)) => {}
    }
}

/// Tests the input as a cell of text, and the exact midpoints between adjacent f32, where double rounding would show.
pub(crate) fn number(u: &mut Unstructured<'_>) -> Result<()> {
    let data = u.bytes(u.len())?;
    let text = String::from_utf8_lossy(data);
    // What divides cells and rows, quotes them, or begins a comment.
    if !text.trim().is_empty() && !text.contains(|c: char| ",;|\"'#%".contains(c) || c.is_control()) {
        cells(&[text.trim().to_owned()]);
    }
    for bits in data.as_chunks::<4>().0.iter().take(8) {
        let low = f32::from_bits(u32::from_le_bytes(*bits));
        let middle = 0.5 * f64::from(low) + 0.5 * f64::from(low.next_up());
        if middle.is_finite() {
            // All digits of the midpoint.
            let text = format!("{middle:.170e}");
            let (digits, exponent) = text.split_once('e').expect("it was asked for");
            let more = format!("{digits}00001e{exponent}");
            cells(&[text, more, format!("{:e}", middle.next_down()), format!("{low:?}")]);
        }
    }
    Ok(())
}

/// Reads cells as coordinates: as f64 of observers, and as f32 of points.
fn cells(cells: &[String]) {
    let rows: String = cells.iter().map(|cell| format!("{cell},0,0\n")).collect();
    let path = written("cells.csv", format!("x,y,z\n{rows}").as_bytes());
    let wide = read_observers(&path);
    let mut narrow = RayBatch::<[f32; 3]>::default();
    let read = RayFile::open(&path)
        .and_then(|file| file.read(DVec3::ZERO, OnBad::Refuse)?.next(&mut narrow, &CancelToken::new()));
    for (i, text) in cells.iter().enumerate() {
        // The exponent may begin as in Fortran or in Mathematica.
        let exponent = ["*^", "d", "D"].into_iter().find(|start| text.contains(start)).unwrap_or("e");
        let plain = if text.parse::<f64>().is_ok() { text.into() } else { text.replacen(exponent, "e", 1) };
        let (double, single) = (plain.parse::<f64>().ok(), plain.parse::<f32>().ok());
        // Coordinates are at most 1e150.
        if double.is_none_or(|x| x.abs() <= 1e150) {
            let found = wide.as_ref().ok().map(|rows| rows[i].x.to_bits());
            assert_eq!(found, double.map(f64::to_bits), "'{text}' as f64: {wide:?}");
        }
        if single.is_none_or(f32::is_finite) {
            let found = read.is_ok().then(|| narrow.records[i][0].to_bits());
            assert_eq!(found, single.map(f32::to_bits), "'{text}' as f32: {read:?}");
        }
    }
}
