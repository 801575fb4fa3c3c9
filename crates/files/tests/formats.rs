//! Files in every format: valid ones give the same records, invalid ones are rejected with helpful messages, and output is written
//! completely or not at all.

use std::path::{Path, PathBuf};

use umbracast::glam::{DVec3, Vec3};
use umbracast::{Bullet, CancelToken, OnBad, Ray, Sphere};
use umbracast_files::{AnswerRow, Batched, FileWriter, RayBatch, RayFile, Table, center_of_spheres, read_spheres};
use umbracast_files::{Error, ExtraColumns, ReadOptions, Result};
use umbracast_files::{read_observers, read_rays_in_memory, read_spheres_in_memory, read_spheres_with};
use umbracast_testing::folder::{f32_bytes, npy};

/// Creates a folder with one file.
pub(super) fn file(name: &str, bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Reads all rays, points or bullets of a file.
fn read_all<T: Batched>(path: &Path, origin: DVec3, on_bad: OnBad) -> Result<Table<T>> {
    let mut batches = RayFile::<T>::open(path)?.read(origin, on_bad)?;
    let (mut records, mut batch, watch) = (Vec::new(), RayBatch::default(), CancelToken::new());
    let mut optional = umbracast_files::OptionalColumns::default();
    while batches.next(&mut batch, &watch)? {
        records.extend_from_slice(&batch.records);
        optional = batch.optional.clone();
    }
    Ok(Table { records, optional, skipped: Vec::new(), rounding: batches.rounding(), left_out: Default::default() })
}

/// Writes a file of results in two calls.
pub(super) fn write_answers<T: AnswerRow>(path: &Path, answers: &[T]) -> Result<()> {
    let mut writer = FileWriter::<[_]>::create(path)?;
    let (first, rest) = answers.split_at(answers.len() / 3);
    writer.write(first)?;
    writer.write(rest)?;
    writer.finish(&CancelToken::new())
}

fn spheres(name: &str, bytes: impl AsRef<[u8]>) -> Result<Vec<Sphere>, String> {
    let (_folder, path) = file(name, bytes);
    read_spheres(&path, DVec3::ZERO).map(|t| t.records).map_err(|e| e.to_string())
}

fn rays(name: &str, bytes: impl AsRef<[u8]>) -> Result<Vec<Ray>, String> {
    let (_folder, path) = file(name, bytes);
    read_all::<Ray>(&path, DVec3::ZERO, OnBad::Refuse).map(|t| t.records).map_err(|e| e.to_string())
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, String>, words: &[&str]) {
    let message = result.unwrap_err();
    for word in words {
        assert!(message.contains(word), "expected '{word}' in: {message}");
    }
}

const TWO: [f32; 8] = [1.0, 2.0, 3.0, 0.5, -4.0, 5.5, 1e-7, 2.0];

fn two() -> Vec<Sphere> {
    vec![Sphere::new([1.0, 2.0, 3.0], 0.5), Sphere::new([-4.0, 5.5, 1e-7], 2.0)]
}

#[test]
fn every_format_reads_to_the_same_spheres() {
    let by_column: Vec<f32> = (0..8).map(|i| TWO[i % 2 * 4 + i / 2]).collect();
    let be8: Vec<u8> = TWO.iter().flat_map(|v| f64::from(*v).to_be_bytes()).collect();
    let le8: Vec<u8> = TWO.iter().flat_map(|v| f64::from(*v).to_le_bytes()).collect();
    let be4: Vec<u8> = TWO.iter().flat_map(|v| v.to_be_bytes()).collect();
    for (name, bytes) in [
        ("a.npy", npy("'<f4'", false, "(2, 4)", &f32_bytes(&TWO))),
        ("b.NPY", npy("'>f4'", false, "(2, 4)", &be4)),
        ("c.npy", npy("'<f8'", false, "(2, 4)", &le8)),
        ("d.npy", npy("'>f8'", false, "(2, 4)", &be8)),
        ("e.npy", npy("'<f4'", true, "(2, 4)", &f32_bytes(&by_column))),
        ("f.f32", f32_bytes(&TWO)),
        ("g.spheres", f32_bytes(&TWO)),
        ("h.csv", b"x,y,z,r\n1,2,3,0.5\n-4,5.5,1e-7,2\n".to_vec()),
        ("i.csv", b"\xef\xbb\xbfr, z ,y,x\r\n0.5,3,2,1\r\n\r\n2,1e-7,+5.5,-4.0".to_vec()),
    ] {
        assert_eq!(spheres(name, bytes).as_ref(), Ok(&two()), "{name}");
    }
}

#[test]
fn rays_without_end_columns_are_half_lines() {
    let expected = vec![Ray::new([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])];
    assert_eq!(
        rays("r.npy", npy("'<f4'", false, "(1, 6)", &f32_bytes(&[1., 2., 3., 4., 5., 6.]))),
        Ok(expected.clone())
    );
    assert_eq!(rays("r.csv", "dx,dy,dz,ox,oy,oz\n4,5,6,1,2,3\n"), Ok(expected));
    let segment = vec![Ray::new([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).between(-7.0, 8.0)];
    let written = f32_bytes(&[1., 2., 3., 4., 5., 6., -7., 8.]);
    assert_eq!(rays("r.npy", npy("'<f4'", false, "(1, 8)", &written)), Ok(segment.clone()));
    assert_eq!(rays("r.npy", npy("'<f4'", true, "(1, 8)", &written)), Ok(segment.clone()));
    assert_eq!(rays("r.f32", &written), Ok(segment.clone()));
    assert_eq!(rays("r.rays", &written), Ok(segment.clone()));
    assert_eq!(rays("r.csv", "ox,oy,oz,dx,dy,dz,t_max,t_min\n1,2,3,4,5,6,8,-7\n"), Ok(segment));
    let line = rays("r.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n1,2,3,4,5,6,-inf,inf\n");
    assert_eq!(line, Ok(vec![Ray::new([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).line()]));
}

/// Reads the same numbers from every format.
fn read_each<T: std::fmt::Debug + PartialEq>(
    [head, extension]: [&str; 2],
    numbers: &[f32],
    read: impl Fn(&Path) -> Result<Vec<T>>,
) -> Vec<T> {
    let (columns, own) = (head.split(',').count(), format!("a.{extension}"));
    let (rows, shape) = (numbers.chunks(columns), format!("({}, {columns})", numbers.len() / columns));
    let by_column: Vec<f32> = (0..columns).flat_map(|k| rows.clone().map(move |row| row[k])).collect();
    let wide: Vec<u8> = numbers.iter().flat_map(|v| f64::from(*v).to_be_bytes()).collect();
    let cells = |row: &[f32]| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",") + "\n";
    let text =
        |head: &str, row: &dyn Fn(&[f32]) -> String| format!("{head}\n{}", rows.clone().map(row).collect::<String>());
    let turned = head.rsplit(',').collect::<Vec<_>>().join(",");
    let files = [
        ("a.csv", text(head, &cells).into_bytes()),
        ("turned.csv", text(&turned, &|row| cells(&row.iter().rev().copied().collect::<Vec<_>>())).into_bytes()),
        ("f4.npy", npy("'<f4'", false, &shape, &f32_bytes(numbers))),
        ("f8.npy", npy("'>f8'", false, &shape, &wide)),
        ("columns.npy", npy("'<f4'", true, &shape, &f32_bytes(&by_column))),
        ("a.f32", f32_bytes(numbers)),
        (&own, f32_bytes(numbers)),
    ];
    let mut found = files.map(|(name, bytes)| {
        let (_folder, path) = file(name, bytes);
        (name.to_owned(), read(&path).unwrap_or_else(|error| panic!("{name}: {error}")))
    });
    let (_, first) = &found[0];
    found.iter().for_each(|(name, rows)| assert_eq!(rows, first, "{name}"));
    std::mem::take(&mut found[0].1)
}

#[test]
fn every_format_reads_to_the_same_points_observers_and_bullets() {
    let numbers = [1.0, -2.5, 3.0, 0.125, 5.0, 0.0625, 7.0, 8.0, 9.5, -10.0, 11.0, 12.0, 13.0, 14.0];
    let points = read_each(["x,y,z", "points"], &numbers[..12], |path| {
        Ok(read_all::<[f32; 3]>(path, DVec3::ZERO, OnBad::Refuse)?.records)
    });
    assert_eq!(points.as_flattened(), &numbers[..12]);
    let observers = read_each(["x,y,z", "f32"], &numbers[..12], read_observers);
    assert_eq!(observers[1].as_vec3(), Vec3::from(points[1]));
    let head = "x1,y1,z1,x2,y2,z2,speed";
    let bullets =
        read_each(
            [head, "bullets"],
            &numbers,
            |path| Ok(read_all::<Bullet>(path, DVec3::ZERO, OnBad::Refuse)?.records),
        );
    let bullet = |v: &[f32]| Bullet::new([v[0], v[1], v[2]], [v[3], v[4], v[5]], v[6]);
    assert_eq!(bullets, numbers.chunks(7).map(bullet).collect::<Vec<_>>());
}

#[test]
fn files_longer_than_a_chunk_keep_their_order() {
    // Three chunks and a part of one, by rows and by columns.
    let rows = 3 * 4096 + 17;
    let at = |row: usize, column: usize| (row * 4 + column) as f32;
    let by_row: Vec<f32> = (0..4 * rows).map(|i| at(i / 4, i % 4)).collect();
    let by_column: Vec<f32> = (0..4 * rows).map(|i| at(i % rows, i / rows)).collect();
    for (fortran, values) in [(false, by_row), (true, by_column)] {
        let shape = format!("({rows}, 4)");
        let read = spheres("long.npy", npy("'<f4'", fortran, &shape, &f32_bytes(&values))).unwrap();
        assert_eq!(read.len(), rows);
        for (i, sphere) in read.iter().enumerate() {
            assert_eq!(*sphere, Sphere::new([at(i, 0), at(i, 1), at(i, 2)], at(i, 3)));
        }
    }
}

#[test]
fn files_without_rows_are_valid_and_without_a_header_are_not() {
    assert_eq!(spheres("a.npy", npy("'<f4'", false, "(0, 4)", &[])), Ok(vec![]));
    assert_eq!(spheres("a.csv", "x,y,z,r\n"), Ok(vec![]));
    assert_eq!(spheres("a.f32", ""), Ok(vec![]));
    refused(spheres("a.npy", ""), &["empty (0 bytes)"]);
    refused(spheres("a.csv", ""), &["empty (0 bytes)", "x,y,z,r"]);
}

#[test]
fn rounding_happens_once_and_is_counted() {
    // 1 + 2^-24 + 2^-60 is just above the midpoint of two f32 values. Rounded to f64 first, it would become 1.
    let (_folder, path) = file("a.csv", "x,y,z,r\n1.000000059604644775390626,0.1,0.5,16777217\n");
    let table = read_spheres(&path, DVec3::ZERO).unwrap();
    assert_eq!(table.records[0].center.x, 1.0 + f32::EPSILON);
    assert_eq!((table.rounding.changed, table.rounding.largest), (3, 1.0));

    let values: Vec<u8> = [1.0_f64, 2.5, 0.1, 1e-60].iter().flat_map(|v| v.to_le_bytes()).collect();
    let (_folder, path) = file("a.npy", npy("'<f8'", false, "(1, 4)", &values));
    let rounding = read_spheres(&path, DVec3::ZERO).unwrap().rounding;
    assert_eq!((rounding.changed, rounding.largest), (2, f64::from(0.1_f32) - 0.1));

    // An f64 would be halfway between two f32. A record of another program may contain others.
    let descr = "[('x', '<i8'), ('y', '<u8'), ('n', [('a', [('b', '<f4', (1,))])]), ('z', '<f4'), ('r', '<f4')]";
    let x = (1_i64 << 60) + (1 << 36) + 1;
    let data = [&(-x).to_le_bytes()[..], &x.to_le_bytes(), &[0; 12]].concat();
    let (_folder, path) = file("a.npy", npy(descr, false, "(1L,)", &data));
    let options = ReadOptions::default().extra(ExtraColumns::Ignore);
    let center = read_spheres_with(&path, DVec3::ZERO, &options).unwrap().records[0].center;
    assert_eq!(center.to_array(), [-x as f32, x as f32, 0.0]);
    assert_eq!(x as f32, 1152921642045800448.0);
}

#[test]
fn an_origin_is_subtracted_before_rounding() {
    let text = "x,y,z,r\n4500000.125,1,0,1\n4500001.125,3,0,2\n";
    let (_folder, path) = file("map.csv", text);
    let far = read_spheres(&path, DVec3::ZERO).unwrap();
    assert_eq!((far.records[0].center.x, far.rounding.changed, far.rounding.largest), (4_500_000.0, 2, 0.125));
    let center = center_of_spheres(&path).unwrap();
    // The bounding box: x 4499999.125 … 4500003.125, y 0 … 5, z −2 … 2.
    assert_eq!(center, DVec3::new(4_500_001.125, 2.5, 0.0));
    let near = read_spheres(&path, center).unwrap();
    assert_eq!(near.records[0].center, Vec3::new(-1.0, -1.5, 0.0));
    assert_eq!(near.rounding.changed, 0);
    let beyond = read_spheres(&path, DVec3::new(1e300, 0.0, 0.0)).map_err(|e| e.to_string());
    refused(beyond, &["line 2: x is 4500000.125: the difference from 1e300 exceeds the largest f32"]);
    // Directions and ends are not positions: the origin does not change them.
    let (_folder, path) = file("r.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n4500000.125,1,0,1,2,3,4,5\n");
    let ray = read_all::<Ray>(&path, center, OnBad::Refuse).unwrap().records[0];
    assert_eq!(ray, Ray::new([-1.0, -1.5, 0.0], [1.0, 2.0, 3.0]).between(4.0, 5.0));
    let (_folder, path) = file("none.csv", "x,y,z,r\n");
    assert_eq!(center_of_spheres(&path), Ok(DVec3::ZERO));
}

#[test]
fn invalid_numbers_are_named() {
    refused(spheres("a.csv", "x,y,z,r\n1,2,3,4\n\n1,nan,3,4\n"), &["a.csv: line 4: y is nan", "finite"]);
    refused(spheres("a.csv", "x,y,z,r\r\n1,2,3,4\r\n\r\n\r\n1,2,3,4\r\n1,nan,3,4\r\n"), &["line 6: y is nan"]);
    refused(spheres("a.csv", "x,y,z,r\n1,2,3,4\n\n\n1,2,3\n"), &["line 5: found 3 cells"]);
    refused(spheres("a.csv", "x,y,z,r\n1,2,3,-4\n"), &["line 2: r is -4", "not be negative"]);
    refused(spheres("a.csv", "x,y,z,r\n1,2,,4\n"), &["line 2: z is empty", "finite"]);
    refused(spheres("a.csv", "x,y,z,r\n1,2,inf,4\n"), &["line 2: z is inf", "finite"]);
    refused(spheres("a.csv", "x,y,z,r\n1,2,abc,4\n"), &["line 2: z is 'abc'", "expected a number"]);
    refused(spheres("a.csv", "x,y,z,r\n1,2,1_000,4\n"), &["line 2: z is '1_000'", "expected a number"]);
    refused(spheres("a.csv", "x,y,z,r\n1,2,1e39,4\n"), &["line 2: z is 1e39", "exceeds the largest f32"]);
    refused(spheres("a.csv", "x,y,z,r\n1,2,-1e400,4\n"), &["line 2: z is -1e400", "exceeds the largest f32"]);
    let head = "ox,oy,oz,dx,dy,dz,t_min,t_max\n";
    refused(rays("r.csv", format!("{head}1,2,3,0,-0,0,0,1\n")), &["r.csv: line 2: direction is 0,0,0", "not be zero"]);
    refused(rays("r.csv", format!("{head}1,2,3,1e-50,0,0,0,1\n")), &["after rounding to f32", "zero"]);
    refused(rays("r.csv", format!("{head}1,2,3,1,0,0,2,1\n")), &["line 2: t_min is 2 with t_max 1", "not exceed"]);
    refused(rays("r.csv", format!("{head}1,2,3,1,0,0,0,nan\n")), &["line 2: t_max is nan"]);
    refused(rays("r.csv", format!("{head}1,2,3,1,0,0,0,1e39\n")), &["line 2: t_max is 1e39", "exceeds"]);
    let mut values = TWO;
    values[5] = f32::NAN;
    let array = npy("'<f4'", false, "(2, 4)", &f32_bytes(&values));
    refused(spheres("a.npy", array), &["a.npy: row 2 (index 1): y is NaN"]);
    let large: Vec<u8> = [0.0, 0.0, 0.0, 1e300_f64].iter().flat_map(|v| v.to_le_bytes()).collect();
    refused(spheres("a.npy", npy("'<f8'", false, "(1, 4)", &large)), &["row 1 (index 0): r is 1", "exceeds"]);
}

#[test]
fn bad_rays_can_be_kept_for_the_query_to_skip() {
    let text = "ox,oy,oz,dx,dy,dz,t_min,t_max\n1,2,3,0,0,0,0,1\n,2,3,1,0,0,0,1\n1,2,3,1,0,0,0,1e39\n1,2,3,1,0,0,0,1\n";
    let (_folder, path) = file("r.csv", text);
    let rays = read_all::<Ray>(&path, DVec3::ZERO, OnBad::Skip).unwrap().records;
    let good: Vec<bool> = rays.iter().map(|r| r.check().is_ok()).collect();
    assert_eq!(good, [false, false, false, true]);
    let (_folder, path) = file("r.csv", "ox,oy,oz,dx,dy,dz\n1,2,3,x,0,0\n");
    assert!(read_all::<Ray>(&path, DVec3::ZERO, OnBad::Skip).is_err());
}

#[test]
fn malformed_tables_are_refused() {
    for (text, words) in [
        ("x,y,z,rad\n", &["unknown column 'rad'", "did you mean 'r'", "known columns are x,y,z,r"][..]),
        ("x,y,z,r,red\n", &["column 'red' belongs to pictures of system files; other columns need --ignore-extra"]),
        // No similar name, except one that the file has.
        ("x,y,z,r,index\n", &["unknown column 'index'; known columns are", "other columns need --ignore-extra"]),
        ("x,y,z,r,rx\n", &["an ellipsoid needs three semi-axes: rx,ry,rz"]),
        (
            "x,y,z,r,rx,ry,rz\n",
            &["column 'r' is for spheres, and rx,ry,rz are for ellipsoids: use only one of the two"],
        ),
        ("x,y,z,rx,ry,rz,qw\n", &["a rotation needs four columns: qw,qx,qy,qz"]),
        (
            "x,y,z,r,qw,qx,qy,qz\n",
            &["the rotation qw,qx,qy,qz is only for ellipsoids, but the semi-axes rx,ry,rz are missing"],
        ),
        ("x,y,z,rx,ry,rz\n1,2,3,4,5,0\n", &["line 2: rz is 0", "larger than 0"]),
        ("x,y,z,rx,ry,rz\n1,2,3,4,-5,6\n", &["line 2: ry is -5", "larger than 0"]),
        ("x,y,z,rx,ry,rz\n1,2,3,nan,5,6\n", &["line 2: rx is nan", "finite"]),
        ("x,y,z,rx,ry,rz\n1,2,3,1e39,5,6\n", &["line 2: rx is 1e39", "exceeds the largest f32"]),
        ("x,y,z,rx,ry,rz\n1,2,3,4e6,5,1\n", &["line 2: rz is 1", "1048576 times the shortest"]),
        ("x,y,z,rx,ry,rz\n1,2,3,4,,6\n", &["line 2: ry is empty", "finite"]),
        ("x,y,z,rx,ry,rz,qw,qx,qy,qz\n1,2,3,4,5,6,0,0,0,0\n", &["line 2: qw is 0", "a rotation must not be zero"]),
        ("x,y,z,rx,ry,rz,qw,qx,qy,qz\n1,2,3,4,5,6,1,0,inf,0\n", &["line 2: qy is inf", "finite"]),
        ("x,y,z,r,skip_id\n", &["'skip_id' belongs to rays"]),
        ("x,y,z,r,masks\n", &["unknown column 'masks'", "did you mean 'mask'", "x,y,z,r, optional mask"]),
        ("x,y,z,r,mask\n1,2,3,4,1.5\n", &["line 2: mask is 1.5", "whole number from 0 to 4294967295"]),
        ("x,y,z,r,mask\n1,2,3,4,-1\n", &["line 2: mask is -1", "whole number"]),
        ("x,y,z,r,mask\n1,2,3,4,4294967296\n", &["line 2: mask is 4294967296", "whole number"]),
        ("x,y,z,r,mask\n1,2,3,4,\n", &["line 2: mask is empty", "whole number"]),
        ("x,y,z,r,mask\n1,2,3,4,nan\n", &["line 2: mask is nan", "whole number"]),
        ("x,y,z,r,mask\n1,2,3,4,0x3\n", &["line 2: mask is '0x3'", "expected a number"]),
        ("x,y,z,r,mask,mask\n", &["'mask' appears twice"]),
        ("x,y,z\n", &["column 'r' is missing", "x,y,z,r", "points need a column with a radius, or --sphere-radius"]),
        ("x,y,z,r,x\n", &["'x' appears twice"]),
        ("x;y;z;r\n1;2;3;4\n", &["separated by ';'", "expected commas"]),
        ("1,2,3,4\n", &["a.csv: line 1: found only numbers", "x,y,z,r"]),
        ("ox,oy,oz,dx,dy,dz\n", &["belongs to rays", "SPHERES, then RAYS"]),
        ("x,y,z,r\n1,2,3\n", &["line 2", "3 cells, expected 4"]),
        ("x,y,z,r\n1,2,3,4\n1,2,3,4,5\n", &["line 3", "5 cells, expected 4"]),
    ] {
        refused(spheres("a.csv", text), words);
    }
    refused(rays("a.csv", "ox,oy,oz,dx,dy,dz,tmin\n"), &["'tmin'", "did you mean 't_min'", "optional t_min,t_max"]);
    refused(rays("a.csv", "name,ox,oy,oz,dx,dy,dz\n"), &["unknown column 'name'; known", "need --ignore-extra"]);
    refused(rays("a.csv", "ox,oy,oz,dx,dy,dz,skip\n"), &["unknown column 'skip'", "did you mean 'skip_id'"]);
    refused(rays("a.csv", "ox,oy,oz,dx,dy,dz,skip_id\n1,2,3,1,0,0,inf\n"), &["line 2: skip_id is inf", "whole number"]);
    refused(rays("a.csv", "ox,oy,oz,dx,dy,dz,skip_id\n1,2,3,1,0,0,nan\n"), &["line 2: skip_id is nan", "whole number"]);
    refused(rays("a.csv", "ox,oy,oz,dx,dy,dz,mask\n1,2,3,1,0,0,\n"), &["line 2: mask is empty", "whole number"]);
    refused(rays("a.csv", "origin_x,oy,oz,dx,dy,dz\n"), &["did you mean 'ox'"]);
    refused(rays("a.csv", "x,y,z,r\n"), &["belongs to spheres"]);
    refused(spheres("a.csv", b"x,y,z,r\n1,2,3,\xff\n"), &["line 2: r is '\u{ff}'", "expected a number"]);
    refused(spheres("a.txt", ""), &["'.txt'", ".npy, .npz, .csv, .parquet, .ply, .xyz, .pdb, .f32 and .spheres"]);
    refused(spheres("a", ""), &["without an extension"]);
    refused(spheres("a.rays", ""), &["'.rays'", "SPHERES, then RAYS"]);
    refused(spheres("a.f32", [0; 17]), &["17 bytes", "multiple of 16"]);
    refused(rays("a.rays", [0; 48]), &["48 bytes", "multiple of 32"]);
}

#[test]
fn optional_columns_are_read() {
    let (_folder, path) = file("a.csv", "mask,x,y,z,r\n7,1,2,3,4\n4294967295,1,2,3,5\n0,1,2,3,6\n");
    let table = read_spheres(&path, DVec3::ZERO).unwrap();
    assert_eq!((table.optional.masks, table.optional.skip_ids), (Some(vec![7, u32::MAX, 0]), None));
    let (_folder, path) = file("a.csv", "ox,oy,oz,skip_id,dx,dy,dz\n1,2,3,5,1,0,0\n1,2,3,,1,0,0\n");
    let table = read_all::<Ray>(&path, DVec3::ZERO, OnBad::Refuse).unwrap();
    assert_eq!((table.optional.masks, table.optional.skip_ids), (None, Some(vec![5, u32::MAX])));
    let (_folder, path) = file("a.npy", npy("'<f4'", false, "(2, 4)", &f32_bytes(&TWO)));
    assert_eq!(read_spheres(&path, DVec3::ZERO).unwrap().optional, umbracast_files::OptionalColumns::default());
}

#[test]
fn malformed_arrays_are_refused() {
    let data = f32_bytes(&TWO);
    let array = |descr: &str, shape: &str| npy(descr, false, shape, &data);
    refused(spheres("a.npy", array("'<f4'", "(3, 4)")), &["needs 48 bytes", "the file has 32", "truncated"]);
    refused(spheres("a.npy", array("'<f4'", "(1, 4)")), &["needs 16 bytes", "the file has 32", "trailing bytes"]);
    refused(spheres("a.npy", array("'<f4'", "(8,)")), &["shape is (8,)", "expected (N, 4)", "reshape(1, -1)"]);
    refused(spheres("a.npy", array("'<f4'", "()")), &["shape is ()", "expected (N, 4)"]);
    refused(spheres("a.npy", array("'<f4'", "(1, 8)")), &["shape is (1, 8)", "SPHERES, then RAYS"]);
    refused(spheres("a.npy", array("'<f4'", "(2, 4, 1)")), &["shape is (2, 4, 1)"]);
    refused(rays("a.npy", array("'<f4'", "(2, 4)")), &["shape is (2, 4)", "(M, 6)", "(M, 8)", "SPHERES, then RAYS"]);
    refused(spheres("a.npy", array("'<i4'", "(2, 4)")), &["dtype is '<i4'", "expected f4 or f8", "astype"]);
    refused(spheres("a.npy", array("'<f2'", "(4, 4)")), &["dtype is '<f2'"]);
    refused(spheres("a.npy", array("'|O'", "(2, 4)")), &["dtype is '|O'", "expected f4 or f8"]);
    refused(
        spheres("a.npy", array("[('x', '<f4')]", "(8,)")),
        &["column 'y' is missing; spheres need the columns x,y,z,r"],
    );
    refused(spheres("a.npy", array("'<f4'", "(-1, 4)")), &["negative"]);
    refused(spheres("a.npy", &array("'<f4'", "(2, 4)")[..40]), &["header", "truncated"]);
    refused(spheres("a.npy", b"PK\x03\x04 and so on and on"), &[".npz archive"]);
    refused(spheres("a.npy", b"x,y,z,r\n1,2,3,4\n"), &["does not begin with"]);
    refused(spheres("a.npy", b"\x93NUMPY"), &["too few"]);
    refused(spheres("a.npy", b"\x93NUMPY\x09\x00aaaaaaaa"), &["version 9.0"]);
}

#[test]
fn malicious_headers_neither_allocate_nor_hang() {
    let shape = |shape: &str| npy("'<f4'", false, shape, &[]);
    refused(spheres("a.npy", shape("(1000000000000000, 4)")), &["needs 16000000000000000 bytes", "truncated"]);
    refused(spheres("a.npy", shape("(9223372036854775807, 4)")), &["shape is too large"]);
    refused(spheres("a.npy", shape("(4294967296, 4294967296)")), &["shape is too large"]);
    refused(spheres("a.npy", shape(&"[".repeat(60))), &["nests too deeply"]);
    let mut claims = b"\x93NUMPY\x02\x00".to_vec();
    claims.extend(u32::MAX.to_le_bytes());
    claims.extend([b' '; 64]);
    refused(spheres("a.npy", claims), &["claims 4294967295 bytes"]);
}

#[test]
fn folders_and_missing_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone.npy");
    assert!(matches!(read_spheres(&path, DVec3::ZERO), Err(Error::Io { action: "read", .. })));
    let path = folder.path().join("folder.csv");
    std::fs::create_dir(&path).unwrap();
    assert!(read_spheres(&path, DVec3::ZERO).unwrap_err().to_string().contains("it is a folder"));
}

/// The bytes of a file give the records of the file, in each format.
#[test]
fn files_in_memory_are_read_like_files() {
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../systems/samples"));
    for name in ["spheres.csv", "ring.npy", "balls.csv", "peptide.pdb", "circling.csv"] {
        let path = samples.join(name);
        let table = read_spheres(&path, DVec3::ZERO).unwrap();
        let found = read_spheres_in_memory(Path::new(name), std::fs::read(&path).unwrap()).unwrap();
        assert!(!found.records.is_empty(), "{name}");
        assert_eq!((found.records, found.optional), (table.records, table.optional), "{name}");
    }
    let path = samples.join("rays.csv");
    let table = read_all::<Ray>(&path, DVec3::ZERO, OnBad::Refuse).unwrap();
    let found = read_rays_in_memory(Path::new("rays.csv"), std::fs::read(&path).unwrap()).unwrap();
    assert_eq!((found.records, found.optional), (table.records, table.optional));
    for (name, bytes, words) in [
        ("s.csv", "x,y,z,r\n0,0,0,-1\n", "s.csv: byte 8: r is -1: a radius must not be negative"),
        ("s.npy", "no array", "s.npy"),
        ("s.parquet", "PAR1", "s.parquet"),
        ("s.obj", "v 0 0 0", "supported are"),
        ("s", "0,0,0,1", "supported are"),
    ] {
        refused(read_spheres_in_memory(Path::new(name), bytes.into()).map_err(|error| error.to_string()), &[words]);
    }
}
