//! Structured `.npy` arrays: fields are found by name, in any order and of any number type.

use umbracast::{CancelToken, OnBad, Ray, Sphere};

use super::encodings::case;
use crate::cli::query_schemas::archive;
use umbracast_files::{ExtraColumns, RayBatch, RayFile, ReadOptions, read_spheres, read_spheres_with};
use umbracast_testing::folder::{Folder, f32_bytes, npy};

/// Reads the rays and the optional columns of an array with these fields, or returns the error message.
fn rays(descr: &str, shape: &str, data: &[u8]) -> Result<RayBatch, String> {
    let folder = Folder::new();
    folder.write("r.npy", npy(descr, false, shape, data));
    let file = RayFile::<Ray>::open(&folder.path("r.npy")).map_err(|e| e.to_string())?;
    let mut batches = file.read([0.0; 3].into(), OnBad::Refuse).map_err(|e| e.to_string())?;
    let mut batch = RayBatch::default();
    batches.next(&mut batch, &CancelToken::new()).map_err(|e| e.to_string())?;
    Ok(batch)
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[test]
fn fields_are_found_by_name() {
    let expected = Ray::new([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).between(-7.0, 8.0);
    // Fields of several types and byte orders, with padding.
    let descr = "[('t_max', '<f4'), ('dx', '>f8'), ('dy', '<i2'), ('dz', '|u1'), ('', '|V3'), ('oz', '<f8'), ('oy', '>i4'), \
                 ('ox', '<f4'), ('mask', '<u4'), ('t_min', '|i1')]";
    let row = joined(&[
        &8_f32.to_le_bytes(),
        &4_f64.to_be_bytes(),
        &5_i16.to_le_bytes(),
        &[6, 0xff, 0xff, 0xff],
        &3_f64.to_le_bytes(),
        &2_i32.to_be_bytes(),
        &1_f32.to_le_bytes(),
        &0xffff_fff0_u32.to_le_bytes(),
        &(-7_i8).to_le_bytes(),
    ]);
    // More rows than one read takes.
    let count = 5000;
    let found = rays(descr, &format!("({count},)"), &row.repeat(count)).unwrap();
    assert_eq!(found.records, vec![expected; count]);
    assert_eq!(found.optional.masks, Some(vec![0xffff_fff0; count]));

    let folder = Folder::new();
    let descr = "[('r', '<f4'), ('z', '<f4'), ('y', '<f4'), ('x', '<f4')]";
    let data: Vec<u8> = [0.5_f32, 3.0, 2.0, 1.0].into_iter().flat_map(f32::to_le_bytes).collect();
    folder.write("s.npy", npy(descr, false, "(1,)", &data));
    let table = read_spheres(&folder.path("s.npy"), [0.0; 3].into()).unwrap();
    assert_eq!(table.records, [Sphere::new([1.0, 2.0, 3.0], 0.5)]);
}

#[test]
fn invalid_fields_are_named() {
    let fields = |last: &str| {
        let names = ["ox", "oy", "oz", "dx", "dy"].map(|name| format!("('{name}', '<f4'), "));
        format!("[{}{last}]", names.concat())
    };
    let row = [0_u8; 24];
    for (descr, shape, said) in [
        (fields("('dz', '<f4')"), "(1, 1)", "2 dimensions: expected 1"),
        (fields("('bz', '<f4')"), "(1,)", "unknown column 'bz'"),
        (fields("('dy', '<f4')"), "(1,)", "column 'dy' appears twice"),
        (fields("('t_min', '<f4')"), "(1,)", "column 'dz' is missing"),
        (fields("('dz', '<c8')"), "(1,)", "field 'dz' is "),
        (fields("('dz', '<f4', (9,))"), "(1,)", "field 'dz' is "),
        (fields("('dz', '<f4', (900,))"), "(1,)", "r.npy: field 'dz' is "),
        (fields("('dz', '|O')"), "(1,)", "r.npy: field 'dz' is '|O': expected f4"),
        (fields("('dz', '<M8[ns]')"), "(1,)", "r.npy: field 'dz' is '<M8[ns]': expected f4"),
        (fields("('dz', '<U3')"), "(1,)", "r.npy: field 'dz' is '<U3': expected f4"),
        (fields("('dz', '|b1')"), "(1,)", "r.npy: field 'dz' is '|b1': expected f4"),
        (fields("('dz', '<f2')"), "(1,)", "r.npy: field 'dz' is '<f2': expected f4"),
        (fields("('dz', '<f4'), ('', '|V4000')"), "(1,)", "a record has more than 1024 bytes"),
        (fields("('dz', '<f4')"), "(2,)", "needs 48 bytes of data, but the file has 24: the file is truncated"),
        (fields("('dz', '<f4')"), "(1,)", "direction is 0,0,0"),
    ] {
        let error = rays(&descr, shape, &row).map(|batch| batch.records).unwrap_err();
        assert!(error.contains(said), "{descr} {shape}: {error}");
    }
    // A very long type, and a very long name.
    let inner = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| format!("('{name}', '<f4'), ")).concat();
    for field in [format!("('dz', [{inner}])"), format!("('{}', '<c8')", "dz".repeat(300))] {
        let error = rays(&fields(&field), "(1,)", &row).map(|batch| batch.records).unwrap_err();
        let (_, message) = error.split_once("r.npy: ").unwrap();
        assert!(message.starts_with("field 'dz") && message.contains('…') && message.len() < 250, "{message}");
    }
}

#[test]
fn fields_with_other_names_are_ignored_on_request() {
    let folder = Folder::new();
    let fields = "[('name', '<U1'), ('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('r', '<f4')]";
    let record = [b"a\0\0\0".to_vec(), f32_bytes(&[4.0, 0.0, 0.0, 1.0])].concat();
    folder.write("s.npy", npy(fields, false, "(1,)", &record)).write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n");
    folder.refused("cast s.npy r.csv -o out.csv", "field 'name'");
    folder.run_ok("cast s.npy r.csv -o out.csv -q --ignore-extra");
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n");
}

/// In every format, a column r beside g and b is a colour, not the radius.
#[test]
fn a_colour_is_no_radius() {
    let folder = Folder::new();
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n");
    let write = |columns: &[(&str, f32)]| {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let cells: Vec<String> = columns.iter().map(|(_, number)| number.to_string()).collect();
        let numbers: Vec<f32> = columns.iter().map(|(_, number)| *number).collect();
        let of = |each: &dyn Fn(&str) -> String| names.iter().map(|name| each(name)).collect::<String>();
        let ply = of(&|name| format!("property float {name}\n"));
        let head = format!("ply\nformat ascii 1.0\nelement vertex 1\n{ply}end_header\n");
        let fields = of(&|name| format!("('{name}', '<f4'), "));
        let arrays: Vec<_> = columns.iter().map(|(name, number)| (*name, "'<f4'", f32_bytes(&[*number]))).collect();
        folder
            .write("s.csv", format!("{}\n{}\n", names.join(","), cells.join(",")))
            .write("s.ply", head + &cells.join(" "))
            .write("s.npy", npy(&format!("[{fields}]"), false, "(1,)", &f32_bytes(&numbers)))
            .write("s.npz", archive(&arrays));
    };
    let files = ["s.csv", "s.ply", "s.npy", "s.npz"];
    let place = [("r", 3.0), ("x", 4.0), ("y", 0.0), ("g", 7.0), ("z", 0.0), ("b", 9.0)];
    for radii in [&[("Radius", 0.5)][..], &[("rx", 0.5), ("ry", 0.25), ("rz", 0.25)]] {
        write(&[&place, radii].concat());
        for file in files {
            folder.run_ok(&format!("cast {file} r.csv -o out.csv -q --ignore-extra"));
            assert_eq!(folder.text("out.csv"), "t,id\n3.5,0\n", "{file}");
            if file != "s.ply" {
                folder.refused(
                    &format!("cast {file} r.csv -o out.csv"),
                    "columns r, g and b are a colour: name them red, green and blue for a picture, or use --ignore-extra",
                );
            }
        }
    }
    write(&place);
    for file in files {
        folder.refused(
            &format!("cast {file} r.csv -o out.csv --ignore-extra"),
            "columns r, g and b are a colour, so r is not a radius: name the radius 'radius'",
        );
        folder.run_ok(&format!("cast {file} r.csv -o out.csv -q --ignore-extra --sphere-radius 0.5"));
        assert_eq!(folder.text("out.csv"), "t,id\n3.5,0\n", "{file}");
    }
}

/// A column `id` that is no list of ids has no meaning, and does not shift those after it.
#[test]
fn columns_without_a_meaning_shift_no_others() {
    let folder = Folder::new();
    let fields = "[('id', '<u4'), ('x', '<f4'), ('y', '<f4'), ('z', '<f4')]";
    let (id, place) = (7_u32.to_le_bytes().to_vec(), f32_bytes(&[0.0, 0.0, 5.0]));
    let arrays = ["x", "y", "z"].iter().zip(place.chunks(4)).map(|(name, bytes)| (*name, "'<f4'", bytes.to_vec()));
    let arrays: Vec<_> = std::iter::once(("id", "'<u4'", id.clone())).chain(arrays).collect();
    folder
        .write("s.csv", "x,y,z,r\n0,0,0,1\n")
        .write("p.csv", "id,x,y,z\n7,0,0,5\n")
        .write("p.npy", npy(fields, false, "(1,)", &[id, place].concat()))
        .write("p.npz", archive(&arrays));
    for file in ["p.csv", "p.npy", "p.npz"] {
        folder.run_ok(&format!("cast s.csv {file} --parallel 0,0,-1 -o out.csv -q"));
        assert_eq!(folder.text("out.csv"), "t,id\n4.0,0\n", "{file}");
    }
}

/// Wide records are read, and Python objects are called so.
#[test]
fn fields_that_are_left_out_may_be_wide_but_no_objects() {
    let folder = Folder::new();
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n");
    let fields = |more: &str| format!("[{more}, ('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('radius', '<f4')]");
    let record = [vec![0; 1008], f32_bytes(&[4.0, 0.0, 0.0, 1.0])].concat();
    folder.write("s.npy", npy(&fields("('name', '<U252')"), false, "(1,)", &record));
    folder.run_ok("cast s.npy r.csv -o out.csv -q --ignore-extra");
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n");
    let remedy =
        "save the columns alone, with numpy.lib.recfunctions.repack_fields(array[[\"x\", \"y\", \"z\", \"radius\"]])";
    for (field, words) in [
        ("('name', '<U253')", "s.npy: a record has more than 1024 bytes: "),
        ("('name', '|O')", "s.npy: field 'name' is '|O': Python objects are a pickle, which is not read: "),
        ("('name', '|O8')", "s.npy: field 'name' is '|O8': Python objects are a pickle"),
        ("('name', [('a', '<f4'), ('b', '|O', (2,))])", "Python objects are a pickle"),
    ] {
        folder.write("s.npy", npy(&fields(field), false, "(1,)", &record));
        let done = folder.refused("cast s.npy r.csv -o out.csv --ignore-extra", words);
        assert!(done.errors.contains(remedy), "{}", done.errors);
    }
}

/// NumPy has written these arrays: fields of several types and shapes, with gaps, names in Latin-1 (version 1) and in UTF-8 (version 3).
#[test]
fn headers_of_numpy_are_read() {
    for name in ["numpy_v1.npy", "numpy_v3.npy"] {
        let folder = Folder::new();
        case(&folder, name);
        let options = ReadOptions::default().extra(ExtraColumns::Ignore);
        let table = read_spheres_with(&folder.path(name), [0.0; 3].into(), &options).unwrap();
        let expected = [Sphere::new([4.0, 0.0, 0.0], 1.0), Sphere::new([0.5, 5.0, -2.0], 2.0)];
        assert_eq!(table.records, expected, "{name}");
    }
}
