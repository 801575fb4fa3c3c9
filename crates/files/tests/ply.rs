//! `.ply`: the vertices are the rows, and their properties are found by name.

use umbracast::{CancelToken, Hit, HitLists, OnBad, Ray, Sphere};
use umbracast_files::{
    FileWriter, RayBatch, RayFile, Table, check_output, check_points_output, is_points_output, read_spheres,
};

use umbracast_testing::folder::Folder;

/// Reads the spheres of a file with these bytes, or returns the error message.
fn spheres(bytes: &[u8]) -> Result<Table<Sphere>, String> {
    let folder = Folder::new();
    folder.write("s.ply", bytes);
    read_spheres(&folder.path("s.ply"), [0.0; 3].into()).map_err(|e| e.to_string())
}

fn header(format: &str, vertices: usize, properties: &str) -> String {
    let lines: String = properties.split(", ").map(|property| format!("property {property}\n")).collect();
    format!("ply\nformat {format} 1.0\ncomment of a test\nelement vertex {vertices}\n{lines}end_header\n")
}

fn expected() -> [Sphere; 2] {
    [Sphere::new([1.0, 2.0, -3.0], 0.5), Sphere::new([4.0, 5.0, 6.0], 7.0)]
}

/// The two spheres as text with properties that are ignored.
fn text() -> String {
    let head = header("ascii", 2, "float nx, double y, int x, float z, uchar red, float radius");
    head + "9 2.0 1 -3 255 0.5\n\n 9e9  5 4 6e0 0 7 \n"
}

/// The two spheres as binary numbers of several types.
fn binary(big: bool) -> Vec<u8> {
    let format = if big { "binary_big_endian" } else { "binary_little_endian" };
    let properties = "uint8 red, float64 y, int16 x, float z, ushort intensity, float r, uint mask";
    let mut bytes = header(format, 2, properties).into_bytes();
    for (i, Sphere { center, radius }) in expected().into_iter().enumerate() {
        let [x, y, z] = center.to_array();
        let mut number = |mut little: Vec<u8>| {
            if big {
                little.reverse();
            }
            bytes.extend(little);
        };
        number(vec![200]);
        number(f64::from(y).to_le_bytes().into());
        number((x as i16).to_le_bytes().into());
        number(z.to_le_bytes().into());
        number(60_000_u16.to_le_bytes().into());
        number(radius.to_le_bytes().into());
        number((5 + i as u32).to_le_bytes().into());
    }
    bytes
}

#[test]
fn properties_are_found_by_name_in_every_encoding() {
    assert_eq!(spheres(text().as_bytes()).unwrap().records, expected());
    // Windows line ends, and no end of the last line.
    assert_eq!(spheres(text().replace('\n', "\r\n").trim_end().as_bytes()).unwrap().records, expected());
    for big in [false, true] {
        let table = spheres(&binary(big)).unwrap();
        assert_eq!(table.records, expected(), "{big}");
        assert_eq!(table.optional.masks, Some(vec![5, 6]), "{big}");
    }
}

#[test]
fn elements_after_the_vertices_are_ignored() {
    let faces = "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
    let with_faces = text().replace("end_header\n", faces) + "3 0 1 0\n";
    assert_eq!(spheres(with_faces.as_bytes()).unwrap().records, expected());
    let mut bytes = binary(false);
    let at = bytes.windows(10).position(|window| window == b"end_header").unwrap();
    bytes.splice(at..at + 11, faces.bytes());
    bytes.extend([3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(spheres(&bytes).unwrap().records, expected());
}

#[test]
fn rays_are_read_in_batches() {
    let count = 300_000;
    let folder = Folder::new();
    let mut file = header("ascii", count, "float ox, float oy, float oz, float dx, float dy, float dz");
    for i in 0..count {
        file += &format!("{i} 0 0 0 0 1\n");
    }
    folder.write("r.ply", file);
    let mut batches =
        RayFile::<Ray>::open(&folder.path("r.ply")).unwrap().read([0.0; 3].into(), OnBad::Refuse).unwrap();
    let (mut batch, mut read) = (RayBatch::default(), 0);
    while batches.next(&mut batch, &CancelToken::new()).unwrap() {
        for ray in &batch.records {
            assert_eq!(*ray, Ray::new([read as f32, 0.0, 0.0], [0.0, 0.0, 1.0]));
            read += 1;
        }
    }
    assert_eq!(read, count);
}

#[test]
fn errors_name_the_line() {
    let with = |from: &str, to: &str| {
        assert!(text().contains(from), "{from}");
        spheres(text().replacen(from, to, 1).as_bytes()).unwrap_err()
    };
    for (from, to, words) in [
        ("ply\n", "plu\n", "line 1: the first line must be 'ply'"),
        ("ascii 1.0", "ascii 2.0", "line 2: expected 'format ascii 1.0'"),
        ("vertex 2", "vertex two", "line 4: 'two' is not a number of vertices"),
        (
            "element vertex",
            "element face 2\nproperty list uchar int vertex_indices\nelement vertex",
            "line 4: the element 'face' precedes",
        ),
        ("element vertex 2", "element point 0", "the header has no element 'vertex'"),
        ("int x", "list uchar int x", "line 7: 'x' is a list: expected one number"),
        ("uchar red", "list float int red", "line 9: the length of a list is 'float': expected a whole number"),
        ("float radius", "half radius", "line 10: 'half' is not a number type"),
        ("end_header", "end header", "line 11: 'end header' is not a line of a header"),
        ("float radius", "float weight", "header: column 'r' is missing"),
        ("float nx", "float x", "header: column 'x' appears twice"),
        ("vertex 2", "vertex 3", "the header announces 3 vertices, but only 2 follow"),
        ("vertex 2", "vertex 2000000", "2000000 vertices need at least 24000000 bytes"),
        ("vertex 2", "vertex 18446744073709551615", "the file is truncated"),
        ("vertex 2", "vertex 1", "line 14: a line follows the 1 vertices"),
        ("-3 255", "-3 red", "line 12: there are 6 numbers"),
        ("-3 255", "three 255", "line 12: z is 'three': expected a number"),
        ("-3 255", "-3 255 1", "line 12: there are 7 numbers: expected 6"),
        ("-3 255", "nan 255", "line 12: z is nan"),
        ("0 7", "0 -7", "line 14: r is -7"),
    ] {
        if to == "-3 red" {
            // A property that is ignored may be anything.
            assert_eq!(spheres(text().replacen(from, to, 1).as_bytes()).unwrap().records, expected());
            continue;
        }
        let error = with(from, to);
        assert!(error.contains(words), "{to}: {error}");
        assert!(error.contains("s.ply: "), "{error}");
    }
    let bytes = binary(true);
    assert!(spheres(&bytes[..bytes.len() - 1]).unwrap_err().contains("2 vertices need at least 50 bytes, 49 follow"));
    assert!(spheres(&[&bytes[..], &[0]].concat()).unwrap_err().contains("trailing bytes"));
    assert!(spheres(b"ply\nformat ascii 1.0").unwrap_err().contains("line 2: the file ends within the header"));
    let error = spheres(text().replace('\n', "\r").as_bytes()).unwrap_err();
    assert!(error.contains(r"line 1: expected lines that end with \n or \r\n, found \r alone"), "{error}");
    let comment = text().replacen("\nelement", "\ncomment made by A\rB\nelement", 1);
    assert_eq!(spheres(comment.as_bytes()).unwrap(), spheres(text().as_bytes()).unwrap());
    let long = format!("ply\nformat ascii 1.0\ncomment {}\n", "x".repeat(1 << 16));
    assert!(spheres(long.as_bytes()).unwrap_err().contains("line 3: the header has more than 65536 bytes"));
}

#[test]
fn only_results_with_a_position_are_written_as_points() {
    let folder = Folder::new();
    let (ply, jpg) = (folder.path("out.ply"), folder.path("out.jpg"));
    assert!(
        is_points_output(&ply) && is_points_output(&folder.path("OUT.PLY")) && !is_points_output(&folder.path("ply"))
    );
    let refused = [
        check_output(&ply, &[], None).err(),
        FileWriter::<[Hit]>::create(&ply).err(),
        FileWriter::<HitLists>::create(&ply).err(),
    ];
    for error in refused {
        let error = error.unwrap().to_string();
        assert!(error.contains("a .ply file consists of points (columns x, y and z)"), "{error}");
    }
    check_points_output(&ply, &[], None).unwrap();
    // A message lists only the formats that the results can have.
    let message = |error: Option<umbracast_files::Error>| error.unwrap().to_string();
    assert!(
        message(check_output(&jpg, &[], None).err())
            .ends_with("'.jpg': supported are .npz, .csv, .parquet, .npy and .f32")
    );
    assert!(
        message(check_points_output(&jpg, &[], None).err())
            .ends_with("supported are .npz, .csv, .parquet, .ply, .npy and .f32")
    );
    assert!(
        message(FileWriter::<HitLists>::create(&jpg).err())
            .ends_with("supported are .npz, .csv, .parquet, .npy and .f32")
    );
}
