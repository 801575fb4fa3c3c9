//! The built program on real adapters: the list of devices, its messages, and a clean exit.

use umbracast_testing::folder::{Folder, program};

const SPHERES: &str = "x,y,z,r\n5,0,0,1\n0,8,0,2\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,-1,0\n0,1,0,1,0,0\n";

#[test]
fn every_adapter_is_listed_with_its_precisions() {
    let folder = Folder::new();
    let text = folder.run_ok("devices").output;
    for word in [
        "limits",
        "MiB per buffer",
        "probe     passed",
        "supports  fast, standard, exact",
        "CPU engine, built in",
        "auto chooses",
    ] {
        assert!(text.contains(word), "'{word}' is not in:\n{text}");
    }
    let report = folder.run_ok("devices --report").output;
    assert!(report.starts_with(concat!("umbracast ", env!("CARGO_PKG_VERSION"), " (")), "{report}");
    assert!(report.contains(&text), "the report contains the list");
    for line in ["\n  commit    ", "\n  features  ", "\n  wgpu      30."] {
        assert!(report.contains(line), "'{line}' is not in:\n{report}");
    }
    if cfg!(target_os = "linux") {
        assert!(report.contains("\n  kernel    ") && report.contains("\n  cpu       "), "{report}");
    }
    let set = program().args(["devices", "--report"]).env("VK_LOADER_DEBUG", "none").env("GALLIUM_HUD", "").output();
    let set = String::from_utf8(set.unwrap().stdout).unwrap();
    assert!(set.contains("\n  VK_LOADER_DEBUG=none\n") && set.contains("\n  GALLIUM_HUD=\n"), "{set}");
    let json = folder.json("devices --json");
    let devices = json["devices"].as_array().unwrap();
    assert!(devices.len() > 1, "no GPU adapter: run tests/run.sh, or apt-get install mesa-vulkan-drivers");
    assert_eq!(devices.last().unwrap()["name"], "cpu");
    for device in devices {
        assert_eq!(device["precisions"], serde_json::json!(["fast", "standard", "exact"]), "{device}");
        assert!(device["probe"].is_null() || device["probe"]["passed"] == true, "{device}");
    }
    folder.fails("devices --json --report", 2, &["cannot be used with"]);
}

/// A software adapter helps only a machine without a GPU; on others a driver is missing.
#[cfg(target_os = "linux")]
#[test]
fn a_software_adapter_is_suggested_only_without_a_gpu() {
    let hidden = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
    let run = |arguments: &[&str]| {
        let mut program = program();
        for name in hidden {
            program.env(name, "/nowhere.json");
        }
        let done = program.args(arguments).env_remove("VK_ADD_DRIVER_FILES").output().unwrap();
        String::from_utf8([done.stdout, done.stderr].concat()).unwrap()
    };
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS);
    let [spheres, rays, out] = ["s.csv", "r.csv", "o.csv"].map(|name| folder.path(name).display().to_string());
    let has_gpu = std::fs::read_dir("/dev/dri").is_ok_and(|mut nodes| nodes.next().is_some())
        || std::path::Path::new("/dev/nvidia0").exists();
    for text in [run(&["devices"]), run(&["cast", &spheres, &rays, "-o", &out, "--device", "gpu"])] {
        assert!(text.contains("use --device cpu"), "{text}");
        assert_eq!(text.contains("mesa-vulkan-drivers"), !has_gpu, "{text}");
    }
}

#[test]
fn a_gpu_cast_prints_one_line_and_exits_cleanly() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS);
    folder.run_ok("cast s.csv r.csv -o cpu.csv --device cpu");
    // Threads that still run at exit crash drivers occasionally: forty runs make such a crash likely.
    for i in 0..40 {
        let done = folder.run_ok("cast s.csv r.csv -o gpu.csv --device gpu --compare --precision exact");
        assert_eq!(folder.text("gpu.csv"), folder.text("cpu.csv"), "run {i}");
        assert_eq!(done.errors.lines().count(), 1, "drivers print nothing: {}", done.errors);
        assert!(done.errors.contains("2 spheres, 3 rays, 2 hits"), "{}", done.errors);
    }
}
