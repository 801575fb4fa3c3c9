//! Standard input and output, columns that are kept or ignored, and files of points.
#![cfg(unix)]

use std::io::{Read, Write};
use std::process::Stdio;

use umbracast_testing::folder::{Done, Folder, f32_bytes, npy, program};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,8,0,2\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,-1,0\n0,0,0,0,2,0\n";
const HITS: &str = "t,id\n3.0,0\n,\n3.0,1\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS);
    folder
}

/// Runs the program with standard input. Also returns the bytes of standard output.
fn run_with(folder: &Folder, input: &[u8], arguments: &str) -> (i32, Vec<u8>, String) {
    let mut program = program();
    program.args(arguments.split_whitespace()).env("UMBRACAST_DEVICE", "cpu").current_dir(folder.root());
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The program may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    let done = child.wait_with_output().unwrap();
    (done.status.code().unwrap_or(-1), done.stdout, String::from_utf8(done.stderr).unwrap())
}

#[test]
fn a_dash_is_standard_input_or_output() {
    let folder = folder();
    let written = |input: &[u8], arguments: &str| {
        let (code, output, errors) = run_with(&folder, input, arguments);
        assert_eq!(code, 0, "{arguments}: {errors}");
        output
    };
    assert_eq!(written(b"", "cast s.csv r.csv -o - -q"), HITS.as_bytes());
    assert_eq!(written(RAYS.as_bytes(), "cast s.csv - -o - -q"), HITS.as_bytes());
    assert_eq!(written(SPHERES.as_bytes(), "cast - r.csv -o - -q"), HITS.as_bytes());
    // An array is recognised; raw records are not.
    let numbers = f32_bytes(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(written(&npy("'<f4'", false, "(1, 6)", &numbers), "cast s.csv - -o - -q"), b"t,id\n3.0,0\n");
    let record = f32_bytes(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 9.0]);
    assert_eq!(written(&record, "cast s.csv - -o - -q --input-format f32"), b"t,id\n3.0,0\n");
    let raw: Vec<u8> = [(3.0_f32, 0_u32), (f32::INFINITY, u32::MAX), (3.0, 1)]
        .into_iter()
        .flat_map(|(t, id)| [t.to_le_bytes(), id.to_le_bytes()].concat())
        .collect();
    assert_eq!(written(b"", "cast s.csv r.csv -o - -q --format f32"), raw);
    let structured = written(b"", "cast s.csv r.csv -o - -q --format npy");
    assert_eq!(structured, npy("[('t', '<f4'), ('id', '<u4')]", false, "(3,)", &raw));
    assert_eq!(written(b"", "cast s.csv r.csv -o - -q --format npy --query occluded").last(), Some(&1));
    assert_eq!(written(b"x,y,z\n4,0,0\n", "contains s.csv - -o - -q"), b"count,id\n1,0\n");
    assert_eq!(
        written(b"", "cast s.csv r.csv -o - -q --query all"),
        b"ray,t_enter,t_exit,id\n0,3.0,5.0,0\n2,3.0,5.0,1\n"
    );
    // A format that agrees with the extension is no contradiction.
    assert_eq!(written(b"", "cast s.csv r.csv -o out.csv -q --format csv --input-format csv"), b"");
    assert!(!folder.path("-").exists());
}

#[test]
fn a_dash_that_cannot_work_is_refused() {
    let folder = folder();
    for (input, arguments, words) in [
        ("", "cast - - -o out.csv", "can be only one of the files"),
        ("", "cast s.csv r.csv -o - --json", "would both write to standard output"),
        ("x,y\n1,2\n", "cast - r.csv -o out.csv", "error: standard input: header line: column 'z' is missing"),
        (SPHERES, "cast - r.csv -o out.csv --origin auto", "error: standard input: finding the centre"),
        (
            "",
            "cast s.csv r.csv -o - --query all --format npy",
            "error: standard output: the lists of all and nearest are",
        ),
        (
            "id,ox,oy,oz,dx,dy,dz\na,0,0,0,1,0,0\n",
            "cast s.csv - -o - --keep",
            "error: standard output: the results have a column 'id': rename the kept column",
        ),
        (
            "name,ox,oy,oz,dx,dy,dz\na,0,0,0,1,0,0\n",
            "cast s.csv - -o - --keep --format npy",
            "error: standard output: kept columns are text",
        ),
        // The extension of a file selects its format, so another one was ignored.
        (
            "",
            "cast s.csv r.csv -o out.npz --format csv",
            "--format csv is for standard output and files without an extension: that of out.npz selects another",
        ),
        ("", "contains s.csv r.csv -o out.csv --format npy", "--format npy is for standard output"),
        (
            "",
            "cast s.csv r.csv -o out.csv --input-format npy",
            "the extensions of s.csv and r.csv select other formats",
        ),
        ("", "cast s.csv - -o out.csv --input-format csv --format f32", "--format f32 is for standard output"),
        ("", "cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0 --format csv", "cannot be used with"),
    ] {
        let (code, _, errors) = run_with(&folder, input.as_bytes(), arguments);
        assert!(code == 2 && errors.contains(words), "{arguments}: {code} {errors}");
    }
}

#[test]
fn a_closed_pipe_ends_the_program_without_an_error() {
    let folder = folder();
    let rays: String = std::iter::once(RAYS.to_owned()).chain((0..600_000).map(|_| "0,0,0,1,0,0\n".into())).collect();
    folder.write("many.csv", rays);
    let mut child = folder.start("cast s.csv many.csv -o - -q");
    let mut first = [0; 5];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    // `head` does the same.
    drop(child.stdout.take());
    let done = Done::of(child);
    assert_eq!((done.code, &*done.errors, &first), (0, "", b"t,id\n"));
}

#[test]
fn extra_columns_are_kept_or_ignored_on_request() {
    let folder = folder();
    folder
        .write("named.csv", "name,ox,oy,oz,dx,dy,dz,when\n\"a, b\",0,0,0,1,0,0,noon\nc,0,0,0,0,-1,0,\n")
        .write("tagged.csv", "x,y,z,r,tag\n4,0,0,1,red\n");
    folder.refused("cast s.csv named.csv -o out.csv", "unknown column 'name'");
    folder.run_ok("cast tagged.csv named.csv -o out.csv -q --keep");
    assert_eq!(folder.text("out.csv"), "name,when,t,id\n\"a, b\",noon,3.0,0\nc,,,\n");
    folder.run_ok("cast tagged.csv named.csv -o out.csv -q --ignore-extra");
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n,\n");
    folder.write("p.csv", "x,y,z,site\n4,0,0,one\n9,9,9,two\n");
    folder.run_ok("contains s.csv p.csv -o out.csv -q --keep");
    assert_eq!(folder.text("out.csv"), "site,count,id\none,1,0\ntwo,0,\n");
    let system = "unit = 'km'\n[light]\ncenter = [0, 0, 100]\nradius = 1\n[[body]]\nname = 'b'\ncenter = [0, 0, 50]\nradius = 4\n";
    folder.write("sys.toml", system);
    folder.run_ok("shadow p.csv sys.toml -o out.csv -q --keep");
    assert_eq!(folder.text("out.csv").lines().next(), Some("site,fraction,kind"));
    for (arguments, words) in [
        ("cast s.csv named.csv -o out.npz --keep", "the results must be .csv or .parquet"),
        ("cast s.csv named.csv -o out.csv --keep --query all", "one row per ray"),
        ("cast s.csv r.npy -o out.csv --keep", "can be kept only from .csv and .parquet"),
        ("contains s.csv p.ply -o out.csv --keep", "can be kept only from .csv and .parquet"),
    ] {
        folder.write("p.ply", "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n");
        folder.write("r.npy", npy("'<f4'", false, "(1, 6)", &f32_bytes(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0])));
        folder.refused(arguments, words);
    }
}

#[test]
fn hits_of_a_sensor_are_written_as_points_with_their_channels() {
    let folder = folder();
    folder.write("l.toml", "elevations_deg = [-10, 0]\nazimuths_deg = [0, 90, 180]\n");
    folder.run_ok("cast s.csv --sensor l.toml -o hits.ply -q --with ring,azimuth");
    let bytes = folder.bytes("hits.ply");
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    let header = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let names: Vec<&str> = header.lines().filter_map(|line| line.strip_prefix("property ")).collect();
    let columns = ["float x", "float y", "float z", "float t", "int id", "int ring", "float azimuth_deg"];
    assert_eq!(names, columns, "{header}");
    // Three of six rays hit: both elevations hit one sphere each, and the lower ray at 90 degrees is within the larger one.
    let vertices: Vec<&[u8]> = bytes[end..].chunks_exact(28).collect();
    assert!(header.contains(&format!("element vertex {:020}\n", vertices.len())), "{header}");
    let f = |at: usize, i: usize| f32::from_le_bytes(vertices[i][4 * at..4 * at + 4].try_into().unwrap());
    let u = |at: usize, i: usize| u32::from_le_bytes(vertices[i][4 * at..4 * at + 4].try_into().unwrap());
    let level: Vec<_> =
        (0..vertices.len()).filter(|i| u(5, *i) == 1).map(|i| (f(0, i), f(1, i), f(6, i), u(4, i))).collect();
    assert_eq!(level.len(), 2);
    assert_eq!((level[0].0, level[0].2, level[0].3), (3.0, 0.0, 0));
    assert_eq!((level[1].1, level[1].2, level[1].3), (6.0, 90.0, 1));
    // The file is itself a file of points.
    folder.run_ok("cast s.csv hits.ply -o out.csv -q --toward 0,0,0 --query occluded");
    for (arguments, words) in [
        ("cast s.csv r.csv -o hits.ply --query occluded", "only by cast --query closest"),
        ("cast s.csv r.csv -o out.csv --with ring", "--with ring needs --sensor"),
        ("contains s.csv hits.ply -o hits2.ply", "only by cast --query closest"),
    ] {
        folder.refused(arguments, words);
    }
}
