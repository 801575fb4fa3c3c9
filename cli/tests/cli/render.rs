//! `umbracast render`, run as users run it.

use umbracast_testing::folder::{Folder, f32_bytes, npy, npy_array};

/// A small valid system; tests replace parts of it.
const SYSTEM: &str = r##"unit = "km"
[light]
name = "Sun"
center = [0, 0, 1000]
radius = 10
[[body]]
name = "Ball"
center = [0, 0, 0]
radius = 1
color = "#808080"
[camera]
kind = "orthographic"
position = [0, -10, 5]
target = [0, 0, 0]
up = [0, 0, 1]
width = 4
[picture]
size = [64, 48]
samples = 1
"##;

/// Text of the system that is replaced, its replacement, and words that the error message must contain.
const WRONG_SYSTEMS: &[(&str, &str, &[&str])] = &[
    ("unit = \"km\"", "", &["s.toml", "unit is missing"]),
    ("\"km\"", "\"lightyear\"", &["unit is \"lightyear\"", "angstrom, nm, um, mm, m, km, mi, au, pc"]),
    ("unit = \"km\"", "unit = km", &["s.toml", "line 1"]),
    ("unit = \"km\"", "unit = \"km\"\nscale = 2", &["unknown key `scale`"]),
    ("[light]", "[lights]", &["unknown key `lights`"]),
    ("radius = 10", "radius = -10", &["light: radius is -10", "between 0 and 1e30"]),
    ("radius = 10", "radius = nan", &["light: radius is NaN"]),
    ("radius = 10", "radius = \"ten\"", &["line 5", "expected a number"]),
    ("radius = 10", "radius = 10\ncolor = \"white\"", &["light: color is \"white\"", "#rrggbb"]),
    (
        "radius = 10",
        "radius = 2000",
        &[
            "light: the camera is inside",
            "is 1004.9",
            " below the surface",
            "`position` outside it in the table [camera]",
        ],
    ),
    ("[0, 0, 1000]", "[0, 0, inf]", &["light: center is [0, 0, inf]", "between -1e30 and 1e30"]),
    ("[0, 0, 1000]", "[0, 1000]", &["line 4"]),
    (
        "[0, 0, 1000]",
        "[0, 0, 10.5]",
        &["body[0] 'Ball': the body touches or overlaps the light 'Sun': the centres are 10.5"],
    ),
    ("[0, 0, 1000]", "[0, 0, 8]", &["body[0] 'Ball': the body is inside the light 'Sun'"]),
    (
        "center = [0, 0, 1000]\nradius = 10\n[[body]]\nname = \"Ball\"\ncenter = [0, 0, 0]\nradius = 1\n",
        "center = [0, 0, 4.8]\nradius = 0.5\n[[body]]\nname = \"Ball\"\ncenter = [0, 0, 0]\nradius = 5\n",
        &["body[0] 'Ball': the centre of the light 'Sun' is inside this body"],
    ),
    (
        "center = [0, 0, 1000]\nradius = 10\n[[body]]\nname = \"Ball\"\ncenter = [0, 0, 0]\nradius = 1\n",
        "center = [0, 0, 2]\nradius = 0.5\n[[body]]\nname = \"Ball\"\ncenter = [0, 0, 0]\nradius = 5\n",
        &["body[0] 'Ball': the light 'Sun' is inside this body: the centres are 2 apart, and the radii are 5 and 0.5"],
    ),
    (
        "[camera]\nkind = \"orthographic\"\nposition = [0, -10, 5]",
        "[ground]\n[camera]\nkind = \"orthographic\"\nposition = [0, -10, -5]",
        &["s.toml: ground: the camera is below the ground: its position [0, -10, -5] is 3.99"],
    ),
    (
        "[light]\nname = \"Sun\"\ncenter = [0, 0, 1000]",
        "[ground]\n[light]\nname = \"Sun\"\ncenter = [0, 0, -1000]",
        &["s.toml: ground: the light 'Sun' is below the ground: the centres are "],
    ),
    ("radius = 1\n", "radius = 0\n", &["body[0] 'Ball': radius is 0", "above 0"]),
    ("radius = 1\n", "radius = -1\n", &["body[0] 'Ball': radius is -1"]),
    ("radius = 1\n", "radius = 20\n", &["body[0] 'Ball': the camera is inside", "[0, -10, 5]"]),
    ("radius = 1\n", "", &["body[0] 'Ball': radius is missing"]),
    ("radius = 1\n", "radius = 1e-20\n", &["smallest radius is", "1e15"]),
    ("[camera]", "[light]", &["there is one [light], and this is the second"]),
    ("[light]", "[[light]]", &["line 2", "one bracket, [light]"]),
    ("[[body]]", "[body]", &["line 6, column 1", "two brackets, [[body]]"]),
    ("radius = 1\n", "radius = 1\nmass = 3\n", &["unknown key `mass`"]),
    ("radius = 1\n", "radius = 1\nspheres = \"c.npy\"\n", &["a body with spheres cannot have"]),
    ("radius = 1\n", "radius = 1\nmodels = \"all\"\n", &["body[0] 'Ball': models is only for spheres of a file"]),
    (
        "center = [0, 0, 0]\nradius = 1\n",
        "spheres = [[0, 0, 0, 1]]\nunknown_atoms = 1.2\n",
        &["body[0] 'Ball': unknown_atoms is only for spheres of a file"],
    ),
    ("radius = 1\n", "radius = 1\npole = [0, 0, 0]\n", &["pole is [0, 0, 0]"]),
    (
        "radius = 1\n",
        "radius = 1\npolar_radius = 0\n",
        &["body[0] 'Ball': polar_radius is 0", "between 0.01 and 100 times"],
    ),
    ("radius = 1\n", "radius = 1\npolar_radius = inf\n", &["body[0] 'Ball': polar_radius is inf"]),
    ("radius = 1\n", "radius = 1\npolar_radius = 20\n", &["body[0] 'Ball': the camera is inside", "the radius is 20"]),
    ("radius = 1\n", "radius = 1\npolar_radius = 0.5\npole = [0, 0, 0]\n", &["pole is [0, 0, 0]"]),
    ("radius = 1\n", "radius = 1\nsurface = \"mars\"\n", &["line 10", "unknown value `mars`", "earth"]),
    ("color = \"#808080\"", "color = \"#808080\"\nsurface = \"earth\"", &["body[0] 'Ball'", "cannot have color"]),
    ("color = \"#808080\"", "texture = \"a.png\"\nsurface = \"earth\"", &["cannot have both texture and surface"]),
    (
        "color = \"#808080\"",
        "texture = \"s.toml\"",
        &["s.toml: texture of body[0] 'Ball' in s.toml", "neither a PNG nor a JPEG"],
    ),
    ("color = \"#808080\"", "texture = \"cut.jpg\"", &["cut.jpg: texture of body[0] 'Ball' in s.toml"]),
    ("radius = 1\n", "radius = 1\nmeridian = [0, 0, 2]\n", &["meridian is [0, 0, 2]", "parallel to the pole"]),
    ("radius = 1\n", "radius = 1\nmeridian = [0, 0, 0]\n", &["meridian is [0, 0, 0]", "not be zero"]),
    ("radius = 1\n", "radius = 1\ngraticule = 0\n", &["graticule is 0", "between 0.1 and 90"]),
    ("radius = 1\n", "radius = 1\nvisible = 3\n", &["line 10", "visible"]),
    ("radius = 1\n", "radius = 1\nswirl = 2\n", &["swirl is 2", "between 0 and 1"]),
    ("\"#808080\"", "[]", &["color is an empty list"]),
    ("\"#808080\"", "[\"#808080\", \"#80808\"]", &["body[0] 'Ball': color[1] is \"#80808\""]),
    ("\"#808080\"", "7", &["list of them from south to north"]),
    ("\"orthographic\"", "\"fisheye\"", &["fisheye", "perspective"]),
    ("width = 4\n", "", &["kind \"orthographic\" needs width"]),
    ("width = 4\n", "width = 0\n", &["camera: width is 0"]),
    (
        "width = 4\n",
        "width = 4\nfield_of_view_deg = 4\n",
        &["kind \"orthographic\" needs width and does not allow field_of_view_deg"],
    ),
    ("\"orthographic\"", "\"perspective\"", &["kind \"perspective\" needs field_of_view_deg"]),
    (
        "kind = \"orthographic\"",
        "field_of_view_deg = 4",
        &["camera: only one of field_of_view_deg and width is allowed"],
    ),
    ("width = 4\n", "field_of_view_deg = 4\n", &["kind \"orthographic\" needs width"]),
    ("target = [0, 0, 0]", "target = [0, -10, 5]", &["target is [0, -10, 5], the same as position"]),
    ("up = [0, 0, 1]", "up = [0, 2, -1]", &["up is [0, 2, -1], parallel"]),
    ("up = [0, 0, 1]", "up = [0, 0, 0]", &["up is [0, 0, 0]"]),
    ("size = [64, 48]", "size = [0, 48]", &["size is 0x48", "between 1 and 16384"]),
    ("size = [64, 48]", "size = [16384, 16384]", &["268435456 pixels"]),
    ("size = [64, 48]", "size = [64, -48]", &["line 18", "-48"]),
    ("samples = 1", "samples = 0", &["samples is 0", "between 1 and 16"]),
    ("samples = 1", "exposure = 0", &["exposure is 0"]),
    ("samples = 1", "ambient = 2", &["ambient is 2"]),
    ("samples = 1", "stars = -1", &["stars is -1"]),
    ("samples = 1", "ambient_samples = 1025", &["ambient_samples is 1025", "between 0 and 1024"]),
    (
        "radius = 10",
        "radius = 10\nlimb_darkening = [0.9, 0.2]",
        &["s.toml", "light: limb_darkening is [0.9, 0.2]", "must not be negative"],
    ),
    (
        "radius = 10",
        "radius = 10\nlimb_darkening = [5, -5]",
        &["light: limb_darkening is [5, -5]", "must not be negative", "-0.25"],
    ),
    ("radius = 10", "radius = 10\nlimb_darkening = [nan, 0]", &["light: limb_darkening is [NaN, 0]", "-10 and 10"]),
    ("radius = 10", "radius = 10\nlimb_darkening = [0.6]", &["light: limb_darkening is [0.6]", "[0.6, 0]"]),
    ("radius = 10", "radius = 10\ndiameter_deg = 1", &["light: diameter_deg is 1", "only for a light with direction"]),
    (
        "radius = 10",
        "radius = 10\ndirection = [0, 0, 1]",
        &["light: a light with direction cannot have center or radius"],
    ),
    (
        "center = [0, 0, 1000]\nradius = 10",
        "direction = [0, 0, 0]",
        &["light: direction is [0, 0, 0]", "must not be zero"],
    ),
    (
        "center = [0, 0, 1000]\nradius = 10",
        "direction = [0, 0, 1]\ndiameter_deg = 171",
        &["light: diameter_deg is 171", "between 0 and 170"],
    ),
    ("center = [0, 0, 1000]\nradius = 10", "", &["light: center and radius, or direction, are missing"]),
    ("unit = \"km\"", "unit = \"km\"\nground = 3", &["line 2", "true, false, or a table with color"]),
    ("[light]", "[ground]\ncolor = \"grey\"\n[light]", &["ground: color is \"grey\"", "#rrggbb"]),
    ("samples = 1", "background = \"#12345g\"", &["picture: background is \"#12345g\""]),
];

/// `--fov` against the geometry: a sphere of radius 1 at a distance of 10 has an angular radius of asin 0.1.
#[test]
fn a_field_of_view_replaces_that_of_the_camera() {
    let folder = Folder::new();
    let lens = "kind = \"perspective\"\nposition = [0, 0, 10]\nfield_of_view_deg = 40\n";
    let system = SYSTEM
        .replace("kind = \"orthographic\"\nposition = [0, -10, 5]\n", lens)
        .replace("width = 4\n", "")
        .replace("up = [0, 0, 1]", "up = [0, 1, 0]")
        .replace("[64, 48]", "[200, 100]");
    folder.write("s.toml", &system).write("flat.toml", SYSTEM);
    for (option, degrees) in [("", 40.0_f64), ("--fov 20", 20.0), ("--fov 120", 120.0), ("--fov fill", 0.0)] {
        folder.run_ok(&format!("render s.toml -o p.png --id id.npy --sidecar s.json {option}"));
        let (_, ids) = npy_array::<u32>(std::fs::File::open(folder.path("id.npy")).unwrap());
        let rows = ids.chunks(200).filter(|row| row.contains(&0)).count() as f64;
        let half = 0.1_f64.asin().tan();
        let scale = if degrees > 0.0 { (0.5 * degrees.to_radians()).tan() } else { 1.1 * half };
        assert!((rows - 100.0 * half / scale).abs() <= 1.0, "{option}: {rows} rows");
        assert!(folder.text("s.json").contains("\"unit\": \"km\""));
    }
    // The whole body is in view. The bodies are a prolate spheroid, a ball beside the target, and spheres around the target.
    let spheres = "spheres = [[2, 0, 0, 0.5], [-1, 0, 0, 0.3]]\n";
    for (from, to) in [
        ("radius = 1\n", "radius = 1\npolar_radius = 3\npole = [0, 1, 0]\n"),
        ("target = [0, 0, 0]", "target = [0, 0.9, 0]"),
        ("center = [0, 0, 0]\nradius = 1\n", spheres),
    ] {
        assert!(system.contains(from));
        folder.write("s.toml", system.replace(from, to));
        folder.run_ok("render s.toml -o p.png --id id.npy --fov fill --size 100x100");
        let (_, ids) = npy_array::<u32>(std::fs::File::open(folder.path("id.npy")).unwrap());
        let margin = |n: usize| n.min(99 - n);
        let least = ids
            .iter()
            .enumerate()
            .filter(|(_, id)| **id != u32::MAX)
            .map(|(i, _)| margin(i / 100).min(margin(i % 100)));
        assert!((1..=8).contains(&least.min().unwrap()), "{to}");
    }
    folder.refused("render flat.toml -o p.png --fov 20", "--fov: this camera is a parallel projection");
}

#[test]
fn invalid_systems_are_refused_by_table_key_and_value() {
    let folder = Folder::new();
    folder.write("o.png", "not to be touched");
    for &(from, to, words) in WRONG_SYSTEMS {
        assert!(SYSTEM.contains(from), "{from}");
        // A JPEG that ends after its first bytes.
        folder.write("cut.jpg", [0xff, 0xd8, 0xff, 0xe0, 0, 16]);
        folder.write("s.toml", SYSTEM.replacen(from, to, 1));
        folder.fails("render s.toml -o o.png", 2, &[words, &["s.toml"]].concat());
    }
    println!("{} invalid systems", WRONG_SYSTEMS.len());
}

#[test]
fn invalid_arguments_are_refused() {
    let folder = Folder::new();
    folder.write("s.toml", SYSTEM).write("o.png", "not to be touched");
    folder.write("map.toml", SYSTEM.replace("color = \"#808080\"", "texture = \"none.png\""));
    std::fs::create_dir(folder.path("folder.png")).unwrap();
    for (arguments, code, words) in [
        ("render none.toml -o o.png", 5, "cannot read none.toml"),
        ("render folder.png -o o.png", 5, "not a regular file"),
        ("render map.toml -o o.png", 5, "cannot read none.png: texture of body[0] 'Ball' in map.toml: No such file"),
        ("render o.png -o p.png", 2, "o.png"),
        ("render s.toml -o o.jpg", 2, "supported is .png"),
        ("render s.toml -o s.toml", 2, "supported is .png"),
        ("render s.toml -o folder.png", 5, "it is a folder"),
        ("render s.toml -o none/o.png", 5, "there is no folder"),
        ("render s.toml -o o.png --t t.csv", 2, "supported is .npy"),
        ("render s.toml -o o.png --t a.npy --id a.npy", 2, "a.npy: --t and --id would both write this file"),
        ("render s.toml -o o.png --size 64", 2, "expected WIDTHxHEIGHT"),
        ("render s.toml -o o.png --size 64x-4", 2, "expected WIDTHxHEIGHT"),
        ("render s.toml -o o.png --size 0x4", 2, "--size is 0x4"),
        ("render s.toml -o o.png --samples 17", 2, "--samples is 17"),
        ("render s.toml -o o.png --bits 10", 2, "possible values: 8, 16"),
        ("render s.toml -o o.png --device nonesuch", 3, "no device 'nonesuch'"),
    ] {
        folder.fails(arguments, code, &[words]);
    }
}

#[test]
fn the_default_system_needs_no_arguments() {
    let folder = Folder::new();
    let done = folder.run_ok("render --size 96x54");
    assert!(done.errors.starts_with("cpu: 96x54 pixels, 9 samples per pixel, 2 bodies, "), "{}", done.errors);
    assert!(done.errors.contains("wrote output/planet.png"), "{}", done.errors);
    let png = folder.bytes("output/planet.png");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&png[16..26], [0, 0, 0, 96, 0, 0, 0, 54, 8, 2], "8 bits, RGB");
}

#[test]
fn other_pictures_are_written_where_the_user_stands() {
    let folder = Folder::new();
    folder.write("mine.v2.toml", std::fs::read(umbracast_testing::root().join("systems/planet.toml")).unwrap());
    folder.run_ok("render mine.v2.toml --size 32x18");
    assert_eq!(folder.contents().into_keys().collect::<Vec<_>>(), ["mine.v2.png", "mine.v2.toml"]);
    let done = folder.run("render mine.v2.toml --size 32x18 -o output/mine.png");
    assert!(done.code == 5 && done.errors.contains("there is no folder output"), "{}", done.errors);
}

#[test]
fn several_systems_are_rendered_by_one_command() {
    let folder = Folder::new();
    let read = |name: &str| folder.bytes(name);
    for (name, radius) in [("a", "0.5"), ("b", "1"), ("c", "1.5")] {
        folder.write(&format!("{name}.toml"), SYSTEM.replace("radius = 1\n", &format!("radius = {radius}\n")));
    }
    let done = folder.run_ok("render a.toml b.toml c.toml -o frame-%02d.png --device cpu");
    assert!(done.errors.starts_with("cpu: 3 pictures, "), "{}", done.errors);
    assert!(done.errors.ends_with(" s; wrote frame-01.png to frame-03.png\n"), "{}", done.errors);
    // A name with a number has it for one system, too.
    folder.run_ok("render a.toml -o single-%02d.png -q");
    folder.run_ok("render --size 8x6 -o planet-%d.png -q");
    assert!(read("single-01.png") == read("frame-01.png") && folder.path("planet-1.png").exists());
    // Without -o, they have the names of the systems.
    let done = folder.run_ok("render a.toml b.toml c.toml --json");
    let outputs: Vec<serde_json::Value> = done
        .output
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["output"].clone())
        .collect();
    assert_eq!(outputs, ["a.png", "b.png", "c.png"]);
    for (number, name) in [(1, "a"), (2, "b"), (3, "c")] {
        folder.run_ok(&format!("render {name}.toml -o one.png -q"));
        let [one, named, numbered] =
            [read("one.png"), read(&format!("{name}.png")), read(&format!("frame-0{number}.png"))];
        assert!(one == named && one == numbered, "{name}");
    }
    assert!(read("a.png") != read("b.png"));
    // Nothing is written if one of them is wrong.
    folder.write("dark.toml", SYSTEM.replace("radius = 10", "radius = -10"));
    std::fs::create_dir(folder.path("other")).unwrap();
    folder
        .write("other/a.toml", SYSTEM)
        .write("textured.toml", SYSTEM.replace("color = \"#808080\"", "texture = \"t-2.png\""));
    folder.write("t-2.png", read("a.png"));
    for (arguments, code, words) in [
        ("a.toml dark.toml -o new-%d.png", 2, "dark.toml: light: radius is -10"),
        ("a.toml none.toml -o new-%d.png", 5, "none.toml"),
        (
            "a.toml b.toml -o new.png",
            2,
            "-o new.png: several systems need a number in the names of their pictures, as in -o frame-%03d.png",
        ),
        ("a.toml b.toml -o -", 2, "error: -o -: several systems need a number"),
        ("a.toml b.toml -o new-%d.jpg", 2, "new-1.jpg: cannot write a picture in this format"),
        ("a.toml other/a.toml", 2, "a.toml and other/a.toml would both become a.png: they need a number"),
        ("a.toml b.toml --t t.npy", 2, "--view-distance and --sidecar are for one SYSTEM"),
        ("a.toml b.toml --sidecar t.json", 2, "--sidecar are for one SYSTEM"),
        ("textured.toml a.toml -o t-%d.png", 2, "t-2.png: is also an input of this picture"),
    ] {
        folder.fails(&format!("render {arguments}"), code, &[words]);
    }
}

/// Checks the type and the shape of a NumPy array of 32-bit numbers, and returns their bits.
fn words(bytes: &[u8], descr: &str, shape: &str) -> Vec<u32> {
    let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
    assert!(header.contains(descr) && header.contains(shape), "{header}");
    bytes[128..].chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect()
}

#[test]
fn the_arrays_match_the_pixels() {
    let folder = Folder::new();
    // The camera is between the light and the ball, and sees the lit side of the ball.
    folder.write("s.toml", SYSTEM.replace("up = [0, 0, 1]", "up = [0, 1, 0]").replace("[0, -10, 5]", "[0, 0, 10]"));
    let done =
        folder.run("render s.toml -o o.png --bits 16 --t t.npy --id id.npy --fraction f.npy --flux l.npy --json");
    assert_eq!((done.code, done.errors.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
    assert_eq!(json["device"], "cpu");
    assert_eq!((json["width"].as_u64(), json["height"].as_u64()), (Some(64), Some(48)));
    assert_eq!(json["fraction"], "f.npy");
    let png = folder.bytes("o.png");
    assert_eq!(png[24], 16);
    let read = |name: &str| folder.bytes(name);
    let t = words(&read("t.npy"), "'<f4'", "(48, 64");
    let id = words(&read("id.npy"), "'<u4'", "(48, 64");
    let fraction = words(&read("f.npy"), "'<f4'", "(48, 64");
    assert_eq!(json["flux"], "l.npy");
    // The light has no limb darkening.
    assert_eq!(words(&read("l.npy"), "'<f4'", "(48, 64"), fraction);
    assert_eq!((t.len(), id.len(), fraction.len()), (64 * 48, 64 * 48, 64 * 48));
    // The centre of the picture is a corner of pixels. The pixel to its lower right looks from z = 10 at the ball, whose top is at z = 1.
    let at = 24 * 64 + 32;
    assert!((f32::from_bits(t[at]) - 9.0).abs() < 1e-2);
    assert_eq!((id[at], f32::from_bits(fraction[at])), (0, 1.0));
    assert_eq!((t[0], id[0], f32::from_bits(fraction[0])), (f32::INFINITY.to_bits(), u32::MAX, 1.0));
    // The ball is 32 pixels wide.
    assert_eq!(id.iter().skip(24 * 64).take(64).filter(|&&id| id == 0).count(), 32);
}

#[test]
fn a_cloud_is_many_bodies_and_the_light_is_the_last_id() {
    let folder = Folder::new();
    // Coordinates of tens of millions: the spheres keep their shape.
    let far = 3.0e7_f32;
    folder.write(
        "cloud.npy",
        npy("'<f4'", false, "(3, 4)", &f32_bytes(&[far, 0., 0., 8., far, 0., 40., 8., far, 40., 0., 8.])),
    );
    let system = SYSTEM
        .replace("center = [0, 0, 0]\nradius = 1\n", "spheres = \"cloud.npy\"\n")
        .replace("[0, 0, 1000]", "[3e7, 1000, 0]")
        .replace("[0, -10, 5]", "[3e7, -100, 0]")
        .replace("target = [0, 0, 0]", "target = [3e7, 0, 0]")
        .replace("width = 4", "width = 200");
    folder.write("s.toml", &system);
    let done = folder.run_ok("render s.toml -o o.png --id id.npy");
    assert!(done.errors.contains("1 body with 3 spheres"), "{}", done.errors);
    let id = words(&folder.bytes("id.npy"), "'<u4'", "(48, 64");
    let seen: std::collections::BTreeSet<u32> = id.into_iter().collect();
    // Ball 2 is behind ball 0, and the light (id 3) is behind all balls.
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 3, u32::MAX]);
    for (shape, numbers, words) in [
        ("(3, 4)", &[1.0; 8][..], "truncated"),
        ("(3, 3)", &[1.0; 9], "expected (N, 4)"),
        ("(0, 4)", &[], "the file contains no spheres"),
        ("(2, 4)", &[far, 0.0, 0.0, 8.0, far, 0.0, 40.0, 0.0], "spheres[1]: radius is 0"),
    ] {
        folder.write("cloud.npy", npy("'<f4'", false, shape, &f32_bytes(numbers)));
        folder.refused("render s.toml -o o.png", words);
    }
    std::fs::remove_file(folder.path("cloud.npy")).unwrap();
    let done = folder.run("render s.toml -o o.png");
    assert_eq!(done.code, 5, "{}", done.errors);
    assert!(done.errors.contains("cloud.npy"), "{}", done.errors);
}

#[test]
fn compare_finds_the_devices_agree() {
    let folder = Folder::new();
    folder.write("s.toml", SYSTEM.replace("samples = 1", "samples = 1\nbackground = \"transparent\""));
    for arguments in ["--size 192x108 --samples 2", "s.toml"] {
        let done = folder.run_ok(&format!("render {arguments} -o o.png --device gpu --compare"));
        assert!(done.errors.contains("compared with the CPU engine"), "{}", done.errors);
    }
}

/// A GPU has lists for up to 65,536 spheres, and a BVH for more.
#[test]
fn a_gpu_renders_any_number_of_spheres() {
    let folder = Folder::new();
    folder.write("s.toml", SYSTEM.replace("center = [0, 0, 0]\nradius = 1\n", "spheres = \"c.npy\"\n"));
    for count in [65_536_u32, 65_537] {
        let place = |i: u32| [(i % 256) as f32 * 0.02 - 2.5, (i / 256) as f32 * 0.02 - 2.5, 0.0, 0.004];
        let spheres: Vec<f32> = (0..count).flat_map(place).collect();
        folder.write("c.npy", npy("'<f4'", false, &format!("({count}, 4)"), &f32_bytes(&spheres)));
        for device in ["gpu --compare", "cpu"] {
            let name = &device[..3];
            let done = folder.run_ok(&format!("render s.toml -o {name}.png --t {name}.npy --device {device}"));
            assert!(done.errors.contains(&format!("1 body with {count} spheres")), "{}", done.errors);
        }
        // A GPU rounds distances in another way.
        let distances = ["gpu.npy", "cpu.npy"].map(|name| folder.bytes(name));
        assert!(distances[0] != distances[1], "{count}");
    }
}

/// There are too many pairs of a sphere and an occluder for lists. The GPU then draws the picture through a BVH.
#[test]
fn mutual_shadows_that_exceed_the_lists_of_a_gpu_are_drawn_through_a_bvh() {
    let folder = Folder::new();
    let system = SYSTEM.replace("center = [0, 0, 0]\nradius = 1\n", "spheres = \"c.npy\"\n");
    // A column of spheres towards a wide light: each sphere is in the penumbra of all spheres above it.
    let system = system.replace("radius = 10", "radius = 500").replace("target = [0, 0, 0]", "target = [0, 0, 5]");
    assert!(system.contains("radius = 500") && system.contains("[0, 0, 5]"));
    folder.write("s.toml", system);
    let spheres: Vec<f32> = (0..4000).flat_map(|i| [0.0, 0.0, i as f32 * 0.02, 0.05]).collect();
    folder.write("c.npy", npy("'<f4'", false, "(4000, 4)", &f32_bytes(&spheres)));
    let done = folder.run_ok("render s.toml -o gpu.png --device gpu --id gpu.npy --compare");
    assert!(done.errors.contains("compared with the CPU engine"), "{}", done.errors);
    let ids = words(&folder.bytes("gpu.npy"), "'<u4'", "(48, 64");
    let ids: std::collections::BTreeSet<u32> = ids.into_iter().collect();
    assert!(ids.len() > 20, "the picture shows {} spheres", ids.len());
}

#[test]
fn a_sidecar_records_what_the_picture_depends_on() {
    let folder = Folder::new();
    image::RgbImage::new(4, 2).save(folder.path("map.png")).unwrap();
    let text = SYSTEM.replace("color = \"#808080\"", "texture = \"map.png\"\ngraticule = 15\nvisible = true");
    let text = text.replace("radius = 10", "radius = 10\nlimb_darkening = [0.44, 0.23]");
    folder.write("s.toml", format!("# Positions from an ephemeris\n#\n# of 2024.\n{text}"));
    let done = folder.run_ok("render s.toml -o out.png --sidecar out.json --t t.npy --device gpu --compare");
    assert!(done.errors.contains("; wrote out.png, t.npy, out.json"), "{}", done.errors);
    // The CPU draws maps, on every device.
    let reason = "a body has a texture, a surface or a graticule";
    assert!(done.errors.contains(&format!("; rendered by the CPU engine, because {reason}")), "{}", done.errors);
    assert!(done.errors.contains("warning: --compare has no effect here"), "{}", done.errors);
    let json: serde_json::Value = serde_json::from_str(&folder.text("out.json")).unwrap();
    assert_eq!(json["inputs"], serde_json::json!(["s.toml", "map.png"]));
    assert_eq!(json["comments"], serde_json::json!(["Positions from an ephemeris", "", "of 2024."]));
    assert_eq!((&json["unit"], &json["umbracast"]), (&"km".into(), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!(json["light"]["limb_darkening"]["u2"], 0.23);
    assert_eq!(json["light"]["radius"], 10.0);
    let body = &json["bodies"][0];
    assert_eq!((&body["name"], &body["radius"], &body["graticule_deg"]), (&"Ball".into(), &1.0.into(), &15.0.into()));
    assert_eq!(body["map"]["texture_size"], serde_json::json!([4, 2]));
    assert_eq!(body["visible"], true);
    assert_eq!(json["camera"]["lens"]["width"], 4.0);
    assert_eq!(json["picture"]["size"], serde_json::json!([64, 48]));
    assert_eq!((&json["engine"]["computed_on"], &json["engine"]["cpu_fallback"]), (&"cpu".into(), &reason.into()));
    assert_eq!(json["outputs"], serde_json::json!({"picture": "out.png", "t": "t.npy"}));
    assert!(json["assumptions"].as_array().unwrap().len() > 3);
    // Two encodings, and an empty line before the comments.
    let text = SYSTEM.replace("\"#808080\"", "\"#ff8000\"\nswirl = 0.5");
    let latin = b"\n# 2024, M\xfcnchen\n".iter().chain(text.as_bytes()).copied().collect::<Vec<u8>>();
    for system in [format!("\u{feff}# 2024, München\n{text}").into_bytes(), latin] {
        folder.write("c.toml", system).run_ok("render c.toml -o c.png --sidecar c.json -q");
        let json: serde_json::Value = serde_json::from_str(&folder.text("c.json")).unwrap();
        assert_eq!(json["comments"], serde_json::json!(["2024, München"]));
        let body = &json["bodies"][0];
        assert_eq!((&body["swirl"], &body["sphere_colors"]), (&0.5.into(), &0.into()));
        let orange = body["colors_linear"][0].as_array().unwrap();
        let near = |k: usize, expected: f64| (orange[k].as_f64().unwrap() - expected).abs() < 1e-6;
        // 0x80 is 0.2158605 by the curve of sRGB.
        assert!(near(0, 1.0) && near(1, 0.215_860_5) && near(2, 0.0), "{body}");
    }
    for (arguments, words) in [
        ("--sidecar out.txt", "out.txt: cannot write a sidecar in this format: supported is .json"),
        ("--sidecar none/out.json", "there is no folder none"),
        ("-o map.png", "map.png: is also an input"),
    ] {
        let done = folder.run(&format!("render s.toml -o out.png {arguments}").replace("-o out.png -o", "-o"));
        assert!(done.code != 0 && done.errors.contains(words), "{arguments}: {}", done.errors);
    }
}
