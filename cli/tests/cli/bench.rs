//! `umbracast bench`: small runs of every benchmark, whose hit counts equal those of `cast`, and invalid arguments.

use serde_json::Value;
use umbracast_testing::folder::{Folder, f32_bytes};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n0,0,-3,0.5\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n0,0,0,0,0,1\n0,0,0,0,0,-1\n";

fn json(folder: &Folder, arguments: &str) -> Value {
    let done = folder.run_ok(&format!("{arguments} --json"));
    assert_eq!(done.errors, "", "{arguments}");
    serde_json::from_str(&done.output).unwrap()
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn is_positive(row: &Value, fields: &[&str]) {
    for field in fields {
        assert!(row[field].as_f64().is_some_and(|number| number > 0.0), "{field} of {row}");
    }
}

#[test]
fn bench_counts_the_same_hits_as_cast() {
    let folder = Folder::new();
    // A hundred more rays, as raw records: `tools/peers` uses this format.
    let fan = |i: u16| [0.0, 0.0, 0.0, 1.0, f32::from(i) * 0.02 - 1.0, 0.0, 0.0, f32::INFINITY];
    folder
        .write("s.csv", SPHERES)
        .write("r.csv", RAYS)
        .write("fan.rays", f32_bytes(&(0..100).flat_map(fan).collect::<Vec<_>>()));
    for precision in ["fast", "standard", "exact"] {
        let table = json(&folder, &format!("bench scenes s.csv r.csv fan.rays --repeat 2 --precision {precision}"));
        assert_eq!((&table["precision"], &table["repeat"]), (&precision.into(), &2.into()));
        assert_eq!((&table["device"], &table["kind"]), (&"cpu".into(), &"CPU engine".into()));
        is_positive(&table, &["threads"]);
        let [scene] = rows(&table["scenes"]) else { panic!("expected one scene: {table}") };
        assert_eq!((&scene["scene"], &scene["spheres"]), (&"s".into(), &3.into()));
        is_positive(scene, &["build_seconds", "bytes"]);
        let batches = rows(&scene["batches"]);
        let kinds: Vec<_> = batches.iter().map(|row| (row["rays"].as_str(), row["query"].as_str())).collect();
        let all = [("r", "closest"), ("r", "occluded"), ("fan", "closest"), ("fan", "occluded")];
        assert_eq!(kinds, all.map(|(rays, query)| (Some(rays), Some(query))));
        for (row, file) in batches.iter().zip(["r.csv", "r.csv", "fan.rays", "fan.rays"]) {
            is_positive(row, &["seconds", "mrays_per_second", "mrays_per_second_free"]);
            let query = row["query"].as_str().unwrap();
            let cast = json(&folder, &format!("cast s.csv {file} -o o.csv --query {query} --precision {precision}"));
            assert_eq!((&row["rays_hit"], &row["ray_count"]), (&cast["rays_hit"], &cast["rays"]), "{row}");
        }
        assert_eq!(batches[0]["rays_hit"], 3);
        assert!(batches[2]["rays_hit"].as_u64().is_some_and(|hits| (10..90).contains(&hits)), "{}", batches[2]);
    }
    let table = json(&folder, "bench scenes s.csv r.csv --repeat 1 --queries occluded");
    assert_eq!(rows(&table["scenes"][0]["batches"]).len(), 1);
    folder.write("none.rays", "");
    let table = json(&folder, "bench scenes s.csv none.rays --repeat 1");
    assert_eq!(table["scenes"][0]["batches"][0]["rays_hit"], 0);
}

#[test]
fn built_in_scenes_have_the_same_hits_on_every_device() {
    let folder = Folder::new();
    let scenes = |device: &str| {
        let arguments = format!("bench scenes --spheres 300 --rays 500 --repeat 1 --precision exact --device {device}");
        let table = json(&folder, &arguments);
        let mut found = Vec::new();
        for scene in rows(&table["scenes"]) {
            assert_eq!(scene["spheres"], 300);
            for pair in rows(&scene["batches"]).chunks(2) {
                assert_eq!(
                    pair[0]["rays_hit"], pair[1]["rays_hit"],
                    "closest and occluded count the same hits: {pair:?}"
                );
                assert_eq!(pair[0]["mrays_per_second_free"].is_null(), device != "cpu");
                let [rays, count] = ["ray_count", "rays_hit"].map(|field| pair[0][field].as_u64().unwrap());
                found.push((pair[0]["rays"].as_str().unwrap().to_owned(), rays, count));
            }
        }
        found
    };
    let found = scenes("cpu");
    let expected = [
        ("uniform-primary", 484, 193),
        ("uniform-random", 500, 447),
        ("uniform-shadow", 500, 368),
        ("clustered-primary", 484, 32),
        ("clustered-random", 500, 106),
        ("clustered-shadow", 500, 199),
        ("planet-primary", 484, 4),
        ("planet-random", 500, 21),
        ("planet-shadow", 500, 86),
    ];
    assert_eq!(found, expected.map(|(name, rays, hits)| (name.to_owned(), rays, hits)));
    assert_eq!(scenes("gpu"), found, "no GPU adapter? tests/run.sh installs one");
}

#[test]
fn tables_and_help_are_readable() {
    let folder = Folder::new();
    let text = folder.run_ok("bench scenes --spheres 1 --rays 1 --repeat 1 --queries closest").output;
    for word in ["cpu (CPU engine), ", "standard, medians of 1", "uniform: 1 spheres, built in", "planet-shadow"] {
        assert!(text.contains(word), "'{word}' is not in:\n{text}");
    }
    let text = folder.run_ok("bench small --repeat 1 --device cpu").output;
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.lines().all(|line| line.contains("p50") && line.contains("p99")), "{text}");
    let help = folder.run_ok("bench --help").output;
    for word in ["scenes", "small", "Examples:", "compare.sh"] {
        assert!(help.contains(word), "'{word}' is not in:\n{help}");
    }
}

#[test]
fn small_batches_are_timed_on_every_device() {
    let folder = Folder::new();
    let table = json(&folder, "bench small --device cpu --repeat 64");
    assert_eq!((&table["spheres"], &table["precision"]), (&10_000.into(), &"standard".into()));
    let sizes: Vec<_> = rows(&table["rows"]).iter().map(|row| row["rays"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [1, 64, 4096, 1]);
    let calls: Vec<_> = rows(&table["rows"]).iter().map(|row| row["call"].as_str().unwrap()).collect();
    assert_eq!(calls, ["closest_into", "closest_into", "closest_into", "hit"]);
    let hits = |row: usize| table["rows"][row]["rays_hit"].as_u64().unwrap();
    assert_eq!(
        64 * hits(1),
        hits(2),
        "64 batches of 64 rays are all rays once, 64 batches of 4096 are all rays 64 times"
    );
    assert!((1..=64).contains(&hits(0)), "{table}");
    assert_eq!(hits(3), hits(0));
    for row in rows(&table["rows"]) {
        is_positive(row, &["p50_seconds", "p99_seconds"]);
        assert!(row["p50_seconds"].as_f64() <= row["p99_seconds"].as_f64(), "{row}");
    }
    // Without `UMBRACAST_DEVICE`, which would choose a single device.
    let done = umbracast_testing::folder::program().args("bench small --repeat 2 --json".split(' ')).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let table: Value = serde_json::from_slice(&done.stdout).unwrap();
    let devices = rows(&json(&folder, "devices")["devices"]).len();
    let batches: Vec<Value> =
        rows(&table["rows"]).iter().filter(|row| row["call"] == "closest_into").cloned().collect();
    assert_eq!(batches.len(), 3 * devices);
    assert!(devices > 1, "no GPU adapter: run tests/run.sh, or apt-get install mesa-vulkan-drivers");
    let hits = |rows: &[Value]| rows.iter().map(|row| row["rays_hit"].as_u64().unwrap()).collect::<Vec<_>>();
    for device in batches.chunks(3) {
        assert_eq!(hits(device), hits(&batches[..3]), "{device:?}");
    }
}

#[test]
fn invalid_arguments_are_named() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS).write("s.spheres", "").write("r.rays", "");
    folder.write("more.csv", "ox,oy,oz,dx,dy,dz,tag\n0,0,0,1,0,0,1\n").write("p.csv", "x,y,z\n0,0,0\n");
    folder.write("bad.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,0,0\n");
    for (arguments, code, words) in [
        ("scenes absent.csv r.csv", 5, ["cannot read absent.csv", ""]),
        ("scenes s.csv absent.rays", 5, ["cannot read absent.rays", ""]),
        ("scenes r.rays s.spheres", 2, ["cannot read", "the order of the files is SPHERES, then RAYS"]),
        ("scenes s.csv s.spheres", 2, ["s.spheres", "the order of the files is SPHERES, then RAYS"]),
        ("scenes s.csv r.csv bad.csv", 2, ["bad.csv", "direction"]),
        ("scenes s.csv more.csv", 2, ["unknown column 'tag'", "(bench has none of these options: change the file)"]),
        ("scenes p.csv r.csv", 2, ["--sphere-radius", "(bench has none of these options: change the file)"]),
        ("scenes s.csv", 2, ["RAYS", "required"]),
        ("scenes s.csv r.csv --spheres 5", 2, ["--spheres", "cannot be used with"]),
        ("scenes s.csv r.csv --rays 5", 2, ["--rays", "cannot be used with"]),
        ("scenes --spheres 0", 2, ["--spheres", "not in 1.."]),
        ("scenes --rays 0", 2, ["--rays", "not in 1.."]),
        ("scenes --repeat 0", 2, ["--repeat", "not in 1.."]),
        ("scenes --precision double", 2, ["double", "standard"]),
        ("scenes --queries closest,farthest", 2, ["farthest", "occluded"]),
        ("scenes --device nosuchgpu", 3, ["nosuchgpu", " cpu"]),
        ("small --repeat 0", 2, ["--repeat", "not in 1.."]),
        ("small --device nosuchgpu", 3, ["nosuchgpu", " cpu"]),
        ("", 2, ["Usage: umbracast bench", "scenes"]),
        ("fast", 2, ["unrecognized subcommand", "fast"]),
    ] {
        let done = folder.run(&format!("bench {arguments}"));
        done.says(code, &words);
        assert_eq!(done.output, "", "{arguments}");
    }
}
