//! What the program prints, compared with the JSON Schemas in `docs/schema`: every `--json` output of queries, shadows, pictures and
//! benchmarks, and the headers of tables.

use std::fs::File;

use serde_json::Value;
use umbracast_testing::folder::{Folder, npy_array};

use super::observers::{OBSERVERS, SYSTEM};
use super::schema::{disagreement, schema};

const SPHERES: &str = "x,y,z,r\n4,4,0,4\n0,0,50,2\n";
const BULLETS: &str = "x1,y1,z1,x2,y2,z2,speed\n0,0,0,4,4,4,3\n4,4,0,1,1,1,2\n5,5,9,5,5,90,1\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,1,1\n0,0,0,0,1,0\n0,0,0,0,0,1\n";
const SENSOR: &str = "elevations_deg = [0]\nazimuths_deg = { from = 0, to = 90, count = 3 }\nposes = [[0, 0, 0]]\n";
/// On the day side, and in the shadow of the Earth.
const TRAJECTORY: &str = "unix_s,x,y,z\n1774051200,7000,0,0\n1774053900,-7000,0,0\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS).write("b.csv", BULLETS).write("p.csv", "x,y,z\n4,4,0\n0,0,0\n");
    folder.write("l.csv", TRAJECTORY);
    folder.write("o.csv", OBSERVERS).write("s.toml", SYSTEM).write("w.toml", SENSOR);
    let darkened = SYSTEM.replace("radius = 1\n", "radius = 1\nlimb_darkening = [0.4, 0.2]\n");
    folder.write("dark.toml", darkened);
    folder
}

#[test]
fn json_outputs_follow_their_schemas() {
    let folder = folder();
    for (name, arguments) in [
        ("cast", "cast s.csv r.csv -o o.npz --json"),
        ("cast", "cast s.csv r.csv -o o.npz --json --compare --query all --origin 1,0,0 --plot o.png"),
        ("cast", "cast s.csv p.csv -o o.npz --json --query occluded --toward 9,9,9"),
        ("cast-one", "cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0 --json"),
        ("cast-one", "cast --sphere 4,0,0,1 --ray 0,9,0,1,0,0,0,5 --json --origin 0.1,0,0"),
        ("bullets", "bullets s.csv b.csv -o o.npz --json"),
        ("bullets", "bullets s.csv b.csv -o o.npz --json --bounces 3 --compare"),
        ("bullets-one", "bullets --from 0,0,0 --to 4,4,4 --speed 3 --sphere 4,4,0,4 --json"),
        ("bullets-one", "bullets --from 0,0,0 --to -4,4,4 --speed 3 --sphere 4,4,0,4 --json"),
        ("contains", "contains s.csv p.csv -o o.npz --json"),
        ("contains", "contains s.csv p.csv -o o.npz --json --compare"),
        ("shadow", "shadow o.csv s.toml -o o.npz --json"),
        ("sunlight", "sunlight l.csv --frame gcrs -o o.npz --events e.npz --json"),
        ("render", "render --size 32x18 -o o.png --json --t t.npy"),
        ("bench-scenes", "bench scenes s.csv r.csv --repeat 1 --json"),
        ("bench-small", "bench small --device cpu --repeat 1 --json"),
    ] {
        let value = serde_json::from_str(&folder.run_ok(arguments).output).unwrap();
        assert_eq!(disagreement(&schema(&format!("output-{name}")), &value), None, "{arguments}");
    }
}

/// Commands without their outputs, and the table of `columns.json` that they write.
const TABLES: [(&str, &str); 13] = [
    ("cast s.csv r.csv", "closest"),
    ("cast s.csv --sensor w.toml --with point,normal,incidence,distance,pose,ring,azimuth", "closest with all"),
    ("cast s.csv r.csv --query occluded", "occluded"),
    ("cast s.csv r.csv --query interval", "interval"),
    ("cast s.csv r.csv --query count", "count"),
    ("cast s.csv r.csv --query transmittance", "transmittance"),
    ("cast s.csv r.csv --query approach", "approach"),
    ("contains s.csv p.csv", "contains"),
    ("bullets s.csv b.csv", "bullets"),
    ("bullets s.csv b.csv --bounces 2", "bullets with bounces"),
    ("shadow o.csv s.toml", "shadow"),
    ("shadow o.csv dark.toml", "shadow with flux"),
    ("sunlight l.csv --frame gcrs", "sunlight"),
];

#[test]
fn tables_have_the_columns_of_their_schema() {
    let (folder, columns) = (folder(), schema("columns"));
    for (command, table) in TABLES {
        let table = &columns["$defs"][table];
        let names: Vec<&str> =
            table["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(table["properties"].as_object().unwrap().len(), names.len());

        folder.run_ok(&format!("{command} -o t.csv -q"));
        let text = folder.text("t.csv");
        let mut lines = text.lines();
        assert_eq!(lines.next().unwrap().split(',').collect::<Vec<_>>(), names, "{command}");
        for (name, cell) in lines.flat_map(|line| names.iter().zip(line.split(','))) {
            let about = &table["properties"][name];
            let value = match about["type"].as_str().unwrap() {
                "string" => cell.into(),
                _ => serde_json::from_str(cell).unwrap_or(Value::Null),
            };
            let found = disagreement(about, &value).filter(|_| !cell.is_empty());
            assert_eq!(found, None, "{command}: {name}");
        }

        // Arrays have the names and the types, in `.npz` one per column, in `.npy` as fields.
        folder.run_ok(&format!("{command} -o t.npz -q"));
        let mut archive = zip::ZipArchive::new(File::open(folder.path("t.npz")).unwrap()).unwrap();
        let arrays: Vec<String> = archive.file_names().map(|name| name.map(|name| name.to_string()).unwrap()).collect();
        assert_eq!(arrays, names.iter().map(|name| format!("{name}.npy")).collect::<Vec<_>>(), "{command}");
        folder.run_ok(&format!("{command} -o t.npy -q"));
        let head = String::from_utf8_lossy(&folder.bytes("t.npy")).into_owned();
        for name in &names {
            let dtype = table["properties"][name]["dtype"].as_str().unwrap();
            let mut entry = archive.by_name(&format!("{name}.npy")).unwrap();
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
            assert!(String::from_utf8_lossy(&bytes[..64]).contains(dtype), "{command}: {name} is no {dtype}");
            let field = if names.len() > 1 { format!("('{name}', '") } else { "'descr': '".into() };
            let at = head.find(&field).unwrap_or_else(|| panic!("{command}: no {field}")) + field.len();
            assert_eq!(&head[at + 1..at + 3], dtype, "{command}: {name}");
        }
    }
}

#[test]
fn archives_and_arrays_are_read_as_they_are_written() {
    let folder = folder();
    folder.run_ok("contains s.csv p.csv -o held.npz -q");
    // An archive of columns in another order than the fields, with other number types.
    let columns: [(&str, &str, Vec<u8>); 5] = [
        ("r", "'<f4'", [4_f32, 2.0].map(f32::to_le_bytes).concat()),
        ("z", "'|i1'", vec![0, 50]),
        ("x", "'>f8'", [4_f64, 0.0].map(f64::to_be_bytes).concat()),
        ("y", "'<u2'", [4_u16, 0].map(u16::to_le_bytes).concat()),
        ("other", "'<f4'", vec![0; 4]),
    ];
    folder.write("s.npz", archive(&columns[..4])).write("more.npz", archive(&columns));
    folder.run_ok("cast s.csv r.csv -o expected.csv -q");
    folder.run_ok("cast s.npz r.csv -o found.csv -q");
    assert_eq!(folder.text("found.csv"), folder.text("expected.csv"));
    folder.run_ok("cast more.npz r.csv -o found.csv -q --ignore-extra");
    assert_eq!(folder.text("found.csv"), folder.text("expected.csv"));
    // A plain array, and files without an extension.
    folder.run_ok("cast s.csv r.csv -o t.npy -q --query count");
    let (shape, counts) = npy_array::<u32>(File::open(folder.path("t.npy")).unwrap());
    assert_eq!((shape, counts), (vec![3], vec![1, 1, 1]));
    folder.run_ok("cast s.csv r.csv -o plain -q --format csv");
    assert_eq!(folder.text("plain"), folder.text("expected.csv"));
    folder.run_ok("cast s.csv r.csv -o raw.f32 -q");
    folder.run_ok("cast s.csv r.csv -o raw -q --format f32");
    assert_eq!(folder.bytes("raw"), folder.bytes("raw.f32"));

    let short = [
        ("x", "'<f4'", vec![0; 8]),
        ("y", "'<f4'", vec![0; 8]),
        ("z", "'<f4'", vec![0; 4]),
        ("r", "'<f4'", vec![0; 8]),
    ];
    let text = [("x", "'<U3'", vec![0; 24]), columns[3].clone(), columns[1].clone(), columns[0].clone()];
    folder
        .write("short.npz", archive(&short))
        .write("text.npz", archive(&text))
        .write("twice.csv", "ox,oy,oz,dx,dy,dz,foo,foo\n0,0,0,1,0,0,a,b\n")
        .write("bad.npz", "PK\x03\x04 and no more");
    for (arguments, words) in [
        ("cast short.npz r.csv -o o.csv", "array 'x' has 2 numbers and array 'z' 1"),
        ("cast text.npz r.csv -o o.csv", "array 'x': dtype is '<U3'"),
        ("cast more.npz r.csv -o o.csv", "unknown column 'other'"),
        ("cast bad.npz r.csv -o o.csv", "bad.npz: not a readable .npz file"),
        ("cast held.npz r.csv -o o.csv", "column"),
        ("cast s.csv r.csv -o o", "cannot write results to a file without an extension"),
        ("cast s.csv r.csv -o o.npy --query all", "are no single array: supported are .npz, .csv and .parquet"),
        ("cast s.csv r.csv -o - --query all --format npy", "are no single array: leave out --format, or use -o with a"),
        ("cast s.csv twice.csv -o o.csv --keep", "two kept columns have the name 'foo': rename one of them"),
        ("cast s.csv twice.csv -o o.parquet --keep", "two kept columns have the name 'foo': rename one of them"),
        ("cast s.csv r.csv -o o.npz --format csv", "selects another format"),
    ] {
        folder.refused(arguments, words);
    }
}

/// An archive of arrays with one number per row.
pub(crate) fn archive(columns: &[(&str, &str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, descr, data) in columns {
        let width: usize = descr[3..4].parse::<usize>().unwrap() * if descr.contains('U') { 4 } else { 1 };
        archive.start_file(format!("{name}.npy"), stored).unwrap();
        let shape = format!("({},)", data.len() / width);
        archive.write_all(&umbracast_testing::folder::npy(descr, false, &shape, data)).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
