//! Invalid rows that `--on-bad skip` leaves out, and properties of `.ply` that other programs add. The files of `tests/data/cases` that
//! begin with `plyfile` were written by this library.

use super::encodings::case;
use umbracast_testing::folder::{Folder, npz_array};

/// Spheres with every kind of invalid row, the valid ones, and the row of each valid one.
const SPHERES: &str = "x,y,z,r,vx,vy,vz\nnan,0,0,1,0,0,0\n0,0,0,1,0,0,0\n0,0,0,-1,0,0,0\n,,,,,,\n0,0,10,2,0,1,0\n1e39,0,10,2,0,0,0\n\
                       0,0,10,inf,0,0,0\n0,0,20,3,0,inf,0\n0,3,0,1,0,0,0\n";
const VALID: &str = "x,y,z,r,vx,vy,vz\n0,0,0,1,0,0,0\n0,0,10,2,0,1,0\n0,3,0,1,0,0,0\n";
const ROWS: [&str; 3] = ["1", "4", "8"];

/// A light, and a ball in front of it.
const SYSTEM: &str =
    "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n[[body]]\ncenter = [0, 0, 50]\nradius = 0.25\n";

fn folder() -> Folder {
    let folder = Folder::new();
    let rays = "ox,oy,oz,dx,dy,dz,t_min,t_max\n-10,0,0,1,0,0,0,100\n-10,0,10,1,0,0,0,100\n0,0,30,0,0,-1,0,100\n0,0,0,0,1,0,0,100\n9,9,9,1,0,0,0,100\n";
    folder
        .write("s.csv", SPHERES)
        .write("valid.csv", VALID)
        .write("r.csv", rays)
        .write("p.csv", "x,y,z\n0,0,0\n0,3.5,0\n0,0,11\n9,9,9\n")
        .write("b.csv", "x1,y1,z1,x2,y2,z2,speed\n-10,0,0,0,0,0,1\n0,-5,0,0,9,0,1\n9,9,9,10,9,9,1\n");
    folder
}

/// Results of the valid spheres alone, with the ids of the other file. Ids are the last cells.
fn with_rows(text: &str, has_ids: bool) -> String {
    let line = |line: &str| match line.rsplit_once(',') {
        Some((rest, id)) if has_ids => format!("{rest},{}\n", id.parse::<usize>().map_or(id, |id| ROWS[id])),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn skipped_spheres_are_in_no_result_and_ids_are_rows_of_the_file() {
    let folder = folder();
    for device in ["cpu", "gpu"] {
        for query in ["closest", "occluded", "interval", "count", "transmittance", "all", "nearest --k 2", "approach"] {
            for precision in if device == "cpu" { &["fast", "exact"][..] } else { &["exact"] } {
                let run = |spheres: &str, more: &str| {
                    let options = format!("--device {device} --precision {precision} --query {query} {more}");
                    folder.run_ok(&format!("cast {spheres} r.csv -o - -q {options}")).output
                };
                let has_ids = !["occluded", "count", "transmittance"].contains(&query);
                let expected = with_rows(&run("valid.csv", ""), has_ids);
                assert_eq!(run("s.csv", "--on-bad skip --compare"), expected, "{device} {query} {precision}");
            }
        }
        let expected = with_rows(&folder.run_ok("contains valid.csv p.csv -o - -q --time 1").output, true);
        let arguments = format!("contains s.csv p.csv -o - -q --time 1 --on-bad skip --compare --device {device}");
        assert_eq!(folder.run_ok(&arguments).output, expected, "{device}");
    }
    let bullets = |spheres: &str| {
        let text =
            folder.run_ok(&format!("bullets {spheres} b.csv -o - -q --frames 90 --bounces 2 --on-bad skip")).output;
        text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let (found, mut expected) = (bullets("s.csv"), bullets("valid.csv"));
    for row in expected.iter_mut().skip(1).filter(|row| !row[3].is_empty()) {
        row[3] = ROWS[row[3].parse::<usize>().unwrap()].into();
    }
    assert_eq!(found, expected);
    // Pairs stay pairs.
    folder.write("nine.csv", "ox,oy,oz,dx,dy,dz,t_max\n".to_owned() + &"-10,0,0,1,0,0,100\n".repeat(9));
    let pairs = folder.run_ok("cast s.csv nine.csv -o - -q --pairwise --on-bad skip").output;
    assert_eq!(pairs, "t,id\n,\n9.0,1\n,\n,\n,\n,\n,\n,\n,\n");
    let auto = folder.run_ok("cast s.csv r.csv -o - -q --on-bad skip --origin auto").output;
    assert_eq!(auto, folder.run_ok("cast s.csv r.csv -o - -q --on-bad skip").output);
}

#[test]
fn skipped_spheres_are_counted_and_not_drawn() {
    let folder = folder();
    let done = folder.run_ok("cast s.csv r.csv -o out.csv --on-bad skip --plot o.png");
    assert!(done.errors.contains("9 spheres, 5 rays"), "{}", done.errors);
    assert!(done.errors.contains(", 6 bad spheres skipped"), "{}", done.errors);
    assert!(done.errors.contains("o.png shows 3 spheres"), "{}", done.errors);
    let drawn = folder.bytes("o.png");
    for arguments in
        ["cast s.csv r.csv -o out.csv", "contains s.csv p.csv -o out.csv", "bullets s.csv b.csv --frames 9 -o out.csv"]
    {
        let json = folder.run_ok(&format!("{arguments} --on-bad skip --json")).output;
        assert!(json.contains("\"skipped_spheres\": 6") || json.contains("\"skipped_spheres\":6"), "{json}");
        folder.refused(arguments, "s.csv: line 2: x is nan");
    }
    assert!(drawn.len() > 1000);
    // Rays and points without a time, although no sphere moves.
    folder
        .write("rest.csv", "x,y,z,r\n0,0,0,1\n")
        .write("t.csv", "ox,oy,oz,dx,dy,dz,time\n-10,0,0,1,0,0,\n-10,0,0,1,0,0,0.5\n")
        .write("pt.csv", "x,y,z,time\n0,0,0,\n0,0,0,0.5\n");
    for (arguments, skipped, found) in [
        ("cast rest.csv t.csv", "1 bad rays skipped", "t,id\n,\n9.0,0\n"),
        ("contains rest.csv pt.csv", "1 bad points skipped", "count,id\n0,\n1,0\n"),
    ] {
        let done = folder.run_ok(&format!("{arguments} -o out.csv --on-bad skip"));
        assert!(done.errors.contains(skipped), "{}", done.errors);
        assert_eq!(folder.text("out.csv"), found);
    }
    // Ellipsoids, and a file without a valid sphere.
    folder
        .write("e.csv", "x,y,z,rx,ry,rz\n0,0,0,1,1,0\n0,0,0,1,2,3\n0,0,10,nan,1,1\n")
        .write("none.csv", "x,y,z,r\n,,,\n0,0,0,-1\n");
    assert_eq!(folder.run_ok("cast e.csv r.csv -o - -q --on-bad skip").output.lines().nth(1), Some("9.0,1"));
    let none = folder.run_ok("cast none.csv r.csv -o - -q --query count --on-bad skip").output;
    assert_eq!(none, "count\n0\n0\n0\n0\n0\n");
    assert_eq!(folder.run_ok("bullets none.csv b.csv -o - -q --on-bad skip").output.matches("miss,").count(), 3);
}

#[test]
fn organised_clouds_keep_their_numbers() {
    let folder = Folder::new();
    for name in ["probe2.csv", "organised.ply", "plyfile_organised.ply"] {
        case(&folder, name);
    }
    for (cloud, found) in [("organised.ply", "t,id\n9.5,0\n9.5,2\n"), ("plyfile_organised.ply", "t,id\n9.5,1\n9.5,3\n")]
    {
        let arguments = format!("cast {cloud} probe2.csv -o - -q --sphere-radius 0.5");
        assert_eq!(folder.run_ok(&format!("{arguments} --on-bad skip")).output, found);
        folder.refused(&arguments, "x is");
    }
}

#[test]
fn skipped_observers_have_rows_without_results() {
    let folder = Folder::new();
    folder
        .write("s.toml", SYSTEM)
        .write("o.csv", "x,y,z,name\nnan,0,0,a\n0,0,0,b\n,,,c\n9,0,0,d\n0,0.1,50,e\n1e200,0,0,f\n");
    let done = folder.run_ok("shadow o.csv s.toml -o out.csv --keep --on-bad skip --compare");
    let found = folder.text("out.csv").replace("0.7500046876757902", "0.75");
    assert_eq!(found, "name,fraction,kind\na,,\nb,0.75,antumbra\nc,,\nd,1.0,lit\ne,0.0,umbra\nf,,\n");
    assert!(done.errors.contains(", 3 bad observers skipped"), "{}", done.errors);
    assert!(done.errors.contains("the first is row 5 (index 4), 0,0.1,50"), "{}", done.errors);
    folder.run_ok("shadow o.csv s.toml -o out.npz --ignore-extra --on-bad skip");
    assert_eq!(npz_array::<u8>(&folder.path("out.npz"), "kind"), [255, 2, 255, 0, 3, 255]);
    let fractions = npz_array::<f64>(&folder.path("out.npz"), "fraction");
    assert_eq!(fractions.iter().map(|x| x.is_nan()).collect::<Vec<_>>(), [true, false, true, false, false, true]);
    #[cfg(feature = "parquet")]
    {
        folder.run_ok("shadow o.csv s.toml -o out.parquet --ignore-extra --on-bad skip");
        let found = super::parquet::with::as_csv(folder.bytes("out.parquet")).replace("0.7500046876757902", "0.75");
        assert_eq!(found, "fraction,kind\n,\n0.75,\"antumbra\"\n,\n1.0,\"lit\"\n0.0,\"umbra\"\n,\n");
    }
    let json = folder.run_ok("shadow o.csv s.toml -o out.csv --ignore-extra --on-bad skip --json").output;
    assert!(json.contains("\"skipped\"") && json.contains("\"observers\""), "{json}");
    folder.write("s.toml", SYSTEM.replace("radius = 1\n", "radius = 1\nlimb_darkening = [0.3, 0.2]\n"));
    folder.run_ok("shadow o.csv s.toml -o flux.csv --ignore-extra --on-bad skip");
    let flux = folder.text("flux.csv");
    assert!(flux.starts_with("fraction,flux,kind\n,,\n0.75"), "{flux}");
    folder.refused("shadow o.csv s.toml -o out.csv --ignore-extra", "o.csv: line 2: x is nan");
}

#[test]
fn lists_of_vertices_are_skipped_and_radii_of_cloudcompare_are_read() {
    let folder = Folder::new();
    case(&folder, "probe2.csv");
    let found = |name: &str| folder.run(&format!("cast {name} probe2.csv -o - -q"));
    for (name, result) in [
        ("vertex_list.ply", "t,id\n9.0,0\n8.0,1\n"),
        ("cc_scalar.ply", "t,id\n9.0,0\n8.0,1\n"),
        ("plyfile_text.ply", "t,id\n9.0,0\n8.0,2\n"),
        ("plyfile_little.ply", "t,id\n9.0,0\n8.0,2\n"),
    ] {
        case(&folder, name);
        assert_eq!(found(name).output, result, "{name}");
    }
    // The other byte order, which plyfile gets wrong: a radius of 1 and a list of two shorts per vertex.
    let mut big =
        b"ply\nformat binary_big_endian 1.0\nelement vertex 2\nproperty list ushort short seen\nproperty float x\n\
                    property float y\nproperty double z\nproperty float radius\nend_header\n"
            .to_vec();
    for z in [0.0_f64, 10.0] {
        big.extend([0, 2, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
        big.extend(z.to_be_bytes().into_iter().chain(1.0_f32.to_be_bytes()));
    }
    folder.write("big.ply", big);
    assert_eq!(found("big.ply").output, "t,id\n9.0,0\n9.0,1\n");
    let text = folder.bytes("plyfile_text.ply");
    let text = String::from_utf8(text).unwrap();
    let binary = folder.bytes("plyfile_little.ply");
    let header = binary.windows(11).position(|bytes| bytes == b"end_header\n").unwrap() + 11;
    let head = |from: &str, to: &str| {
        let head = String::from_utf8(binary[..header].to_vec()).unwrap();
        [head.replace(from, to).as_bytes(), &binary[header..]].concat()
    };
    for (bytes, words) in [
        (text.replace("0 0 5 0 0.5 2 7 8", "0 0 5 0 0.5 2 7").into_bytes(), "there are 7 numbers: expected 8"),
        (text.replace("0 0 5 0 0.5 2 7 8", "0 0 5 0 0.5 -2 7 8").into_bytes(), "the length of a list is '-2'"),
        (
            text.replace("property double radius", "property double scalar_Radius\nproperty float r").into_bytes(),
            "have the same meaning",
        ),
        (head("element vertex 3", "element vertex 9"), "9 vertices need at least"),
        (binary[..header + 75].to_vec(), "the input ends here, but the header announces 3 vertices"),
        (head("list uchar double quality", "list char double quality"), ""),
    ] {
        folder.write("bad.ply", bytes);
        let done = found("bad.ply");
        assert!(words.is_empty() || (done.code == 2 && done.errors.contains(words)), "{words}: {}", done.errors);
    }
}
