//! Pictures of eclipses and of bodies with vectors, rendered as users render them.

use umbracast_testing::folder::{Folder, npy_array};

#[test]
fn a_sidecar_describes_the_picture_of_an_eclipse() {
    let folder = Folder::new();
    folder.run_ok("eclipse 2024-04-08 --view sun --size 48x27 -o p.png --sidecar p.json --delta-t 69.2 -q");
    let value: serde_json::Value = serde_json::from_str(&folder.text("p.json")).unwrap();
    assert_eq!((&value["command"], &value["outputs"]["picture"]), (&"eclipse".into(), &"p.png".into()));
    assert_eq!(value["sky"]["instant"], "2024-04-08T18:17:20.2Z");
    assert_eq!(value["sky"]["conventions"]["delta_t_s"], 69.2);
    assert_eq!(value["camera"]["lens"]["width"], 2.2 * 6378.137 * 48.0 / 27.0);
    assert_eq!(value["bodies"].as_array().unwrap().len(), 9);
    assert_eq!(value["sky"]["corona"], false);
    folder.run_ok("eclipse 2024-04-08 --view earth --size 48x27 -o p.png --sidecar p.json -q");
    let value: serde_json::Value = serde_json::from_str(&folder.text("p.json")).unwrap();
    assert!(value["sky"]["corona"]["is"].as_str().unwrap().starts_with("schematic"), "{value}");
}

/// Io, computed from a circular orbit, shades Jupiter.
#[test]
fn bodies_with_vectors_are_written_to_system_files() {
    let folder = Folder::new();
    let mut text = String::from("jd_tdb,x,y,z\n");
    for k in 0..25 {
        let angle = std::f64::consts::TAU * f64::from(k) / (24.0 * 1.769);
        let [x, y] = [421_800.0 * angle.cos(), 421_800.0 * angle.sin()];
        text += &format!("{:.7},{x:.3},{:.3},{:.3}\n", 2_460_408.5 + f64::from(k) / 24.0, 0.9 * y, 0.436 * y);
    }
    folder.write("io.csv", &text);
    let summary =
        folder.json("system 2024-04-08T12:00Z --bodies sun,jupiter,io --vectors io@jupiter=io.csv -o j.toml --json");
    assert_eq!(summary["bodies"], serde_json::json!(["Sun", "Jupiter", "Io"]));
    assert!((0.1..20.0).contains(&summary["interpolation_error_km"][0].as_f64().unwrap()), "{summary}");
    let system = folder.text("j.toml");
    assert!(
        system.contains("# Vectors relative to Jupiter: io.csv.") && system.contains("radius = 1821.49"),
        "{system}"
    );
    folder.run_ok("render j.toml -o j.png --size 32x18 -q");
    // From the centre of the Earth towards a body, which fills the picture: Jupiter, and Venus in front of the Sun.
    let ids = |arguments: &str| {
        folder.run_ok(&format!("system {arguments} -o v.toml -q"));
        assert_eq!(
            folder.run_ok("render v.toml -o v.png --size 320x180 --samples 1 --id v.npy -q").errors,
            "",
            "{arguments}"
        );
        npy_array::<u32>(std::fs::File::open(folder.path("v.npy")).unwrap()).1
    };
    let count = |ids: &[u32], id: u32| ids.iter().filter(|own| **own == id).count();
    let jupiter = ids("2024-04-08T12:00Z --bodies sun,earth,jupiter --view to-jupiter");
    // A disc with a diameter of 164 pixels, flattened by 6 %.
    assert!((19_500..=19_900).contains(&count(&jupiter, 1)), "{}", count(&jupiter, 1));
    let transit = ids("2012-06-06T01:30Z --bodies sun,venus,earth --view to-sun");
    // Venus is 5 pixels wide.
    assert!((15..=24).contains(&count(&transit, 0)) && count(&transit, 2) > 20_700, "{}", count(&transit, 2));
    // A page of Horizons: lines before $$SOE, names of columns on lines of their own.
    let page = umbracast_testing::root().join("tests/data/cases/h_text.txt");
    let page = page.to_str().unwrap();
    folder.run_ok(&format!("system 2024-04-08T13:00:00Z --bodies sun,jupiter,io --vectors io={page} -o x.toml -q"));
    let io = folder.text("x.toml");
    let center = io.split("name = \"Io\"\ncenter = [").nth(1).unwrap().split(']').next().unwrap();
    let found: Vec<f64> = center.split(", ").map(|number| number.parse().unwrap()).collect();
    for (found, expected) in found.iter().zip([811_934_321.06, 209_556_477.88, 251_436_235.78]) {
        assert!((found - expected).abs() < 0.01, "{center}");
    }
    folder.run_ok(
        "system 2024-04-08T12:00Z --bodies sun,jupiter,io --vectors io@jupiter=io.csv --radius io=1800 -o j.toml -q",
    );
    assert!(folder.text("j.toml").contains("radius = 1800.0"));
}

/// `eclipse` has all bodies: Venus and Mercury in front of the Sun, and planets as targets.
#[test]
fn eclipse_draws_planets() {
    let folder = Folder::new();
    let rgb = |arguments: &str| {
        folder.run_ok(&format!("eclipse {arguments} --size 640x360 -o p.png -q"));
        image::open(folder.path("p.png")).unwrap().to_rgb8()
    };
    // Pixels of the Sun's disc that a planet darkens: Venus is 1/32 of the Sun's 327 pixels wide, and Mercury 1/160.
    for (instant, expected) in [
        ("2012-06-06T01:29:36Z", 75..=110),
        ("2004-06-08T08:19:45Z", 75..=110),
        ("2019-11-11T15:19:48Z", 2..=9),
        ("2012-06-06T12:00:00Z", 0..=0),
    ] {
        let picture = rgb(&format!("{instant} --view to-sun"));
        let near = |x: u32, y: u32| (f64::from(x) - 319.5).hypot(f64::from(y) - 179.5) < 160.0;
        let dark = picture.enumerate_pixels().filter(|(x, y, rgb)| near(*x, *y) && rgb.0[0] < 230).count();
        assert!(expected.contains(&dark), "{instant}: {dark} dark pixels");
    }
    for planet in ["mars", "jupiter"] {
        let picture = rgb(&format!("2024-04-08 --view to-{planet}"));
        let bright = picture.pixels().filter(|rgb| rgb.0[0] > 60).count();
        assert!((44_000..=86_000).contains(&bright), "{planet}: {bright} bright pixels");
    }
}

#[test]
fn views_of_eclipses_are_rendered() {
    let folder = Folder::new();
    for view in ["moon", "sun", "earth", "above", "32.7767,-96.797"] {
        folder.run_ok(&format!("eclipse 2024-04-08 --view {view} --size 48x27 -o view.png -q"));
        let bytes = folder.bytes("view.png");
        let picture = image::load_from_memory(&bytes).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), (48, 27), "{view}");
        let bright = picture.pixels().filter(|pixel| pixel.0[2] > 60).count();
        // The middle of the umbra sees the Moon and a schematic corona, and the others a good part of Earth or Sun.
        let expected = if view == "earth" { 100..=500 } else { 20..=900 };
        assert!(expected.contains(&bright), "{view}: {bright} bright pixels");
        std::fs::remove_file(folder.path("view.png")).unwrap();
    }
    // Outside an eclipse, the nearest one is named, on the same day or on another. In one, nothing is said.
    for (instant, view, words) in [
        ("2025-03-14T05:50Z", "40,-100", ""),
        (
            "2024-04-08T15:30Z",
            "earth",
            "15:30:00Z: the nearest is the total solar eclipse of 2024-04-08, which begins at 2024-04-08T15:42:",
        ),
        (
            "2024-04-08T21:10Z",
            "moon",
            "21:10:00Z: the nearest is the total solar eclipse of 2024-04-08, which ended at 2024-04-08T20:52:",
        ),
        (
            "2024-03-28T00:00Z",
            "sun",
            "00:00:00Z: the nearest is the penumbral lunar eclipse of 2024-03-25, which ended at 2024-03-25T09:",
        ),
        (
            "1900-01-01T00:00Z",
            "sun",
            "00:00:00 UT1: the nearest is the total solar eclipse of 1900-05-28, which begins at 1900-05-28T12:12:",
        ),
    ] {
        let said = folder.run_ok(&format!("eclipse {instant} --view {view} --size 48x27 -o some.png -q")).errors;
        let warned = said.starts_with(&format!("warning: no eclipse is in progress at {}", &instant[..11]));
        assert_eq!((warned, said.is_empty()), (!words.is_empty(), words.is_empty()), "{instant}: {said}");
        assert!(said.contains(words), "{instant}: '{words}' is not in: {said}");
    }
    assert!(folder.run_ok("eclipse 2024-04-08T03:00Z").errors.starts_with("warning: no eclipse is in progress"));
    let bright = |arguments: &str, least: u8| {
        folder.run_ok(&format!("{arguments} --size 48x27 -o view.png -q"));
        let picture = image::open(folder.path("view.png")).unwrap().to_rgb8();
        picture.pixels().filter(|pixel| pixel.0[2] > least).count()
    };
    // Without the corona, a total eclipse is black. Elsewhere there is none, and what is visible is said.
    let said = folder.run_ok("eclipse 2024-04-08 --view earth --size 48x27 -o total.png").errors;
    assert!(
        said.contains("a total eclipse, the whole disc is hidden; the corona is schematic: --corona off"),
        "{said}"
    );
    assert_eq!(bright("eclipse 2024-04-08 --view earth --corona off", 60), 0);
    let picture = image::open(folder.path("total.png")).unwrap().to_rgb8();
    let row: Vec<u8> = (0..24).map(|x| picture.get_pixel(23 - x, 13).0[1]).collect();
    // From the middle to the left: the Moon, the bright inner corona, and less of it at each step.
    let limb = row.iter().position(|x| *x > 100).unwrap();
    assert!((6..=9).contains(&limb) && row[..limb - 1].iter().all(|x| *x < 10), "{row:?}");
    assert!(
        row[limb..].iter().max().unwrap() > &140 && row[23] < 40 && row[limb + 1..].is_sorted_by(|a, b| a >= b),
        "{row:?}"
    );
    for (arguments, words) in [
        (
            "2024-04-08T18:00Z --view 32.7767,-96.797",
            "from 32.7767 N, 96.7970 W, with the Sun 63.9 degrees high: a partial eclipse, 37.4 %",
        ),
        ("2024-04-08T18:42Z --view 34.0522,-118.2437", "a partial eclipse, "),
        // Below the ellipsoid: the Earth is in the way of the light, but not in the picture.
        ("2024-04-08T18:00Z --view 32.7767N,96.797W,-400", "a partial eclipse, 37.4 %"),
        ("2023-10-14 --view earth", "an annular eclipse, 90.8 % of the disc is hidden\n"),
        ("2025-03-14T06:30Z", "the whole Moon is in the umbra\n"),
        ("2025-03-14T05:30Z", "a part of the Moon is in the umbra\n"),
    ] {
        let said = folder.run_ok(&format!("eclipse {arguments} --size 48x27 -o some.png")).errors;
        assert!(said.contains(words) && !said.contains("corona"), "{arguments}: {said}");
    }
    // The axis of the shadow misses the Earth: the Sun from the place nearest to it, where 7 % of its disc are left.
    let crescent = bright("eclipse 2025-03-29", 60);
    assert!((5..=60).contains(&crescent), "{crescent}");
    // The Moon is visible in the umbra.
    let (moon, sunlit) = (bright("eclipse 2025-03-14", 15), bright("eclipse 2025-03-14", 90));
    assert!((150..=500).contains(&moon) && sunlit == 0, "{moon} {sunlit}");
    // From the centre of the Earth, which is invisible, but casts its shadow.
    let (moon, sunlit) =
        (bright("eclipse 2025-03-14 --view to-moon", 15), bright("eclipse 2025-03-14 --view to-moon", 90));
    assert!((440..=500).contains(&moon) && sunlit == 0, "{moon} {sunlit}");
}

#[test]
fn a_field_of_view_fills_the_picture() {
    let folder = Folder::new();
    // The whole Sun, before the eclipse begins there.
    let sun = "eclipse 2024-04-08T16:30Z --view 32.7767,-96.797 -o p.png -q";
    let extent = |arguments: &str| {
        folder.run_ok(&format!("{sun} {arguments}"));
        let picture = image::open(folder.path("p.png")).unwrap().to_rgb8();
        let is_bright = |x: u32, y: u32| picture.get_pixel(x, y).0[1] > 100;
        let columns = (0..picture.width()).filter(|x| (0..picture.height()).any(|y| is_bright(*x, y))).count();
        let rows = (0..picture.height()).filter(|y| (0..picture.width()).any(|x| is_bright(x, *y))).count();
        [columns, rows].map(|count| count as f64)
    };
    // The disc, 0.5325 degrees wide on that day, fills the smaller side but for a margin of a tenth.
    for size in ["220x110", "110x220"] {
        let found = extent(&format!("--fov fill --size {size}"));
        assert!(found.iter().all(|side| (side - 100.0).abs() <= 1.0), "{size}: {found:?}");
    }
    for (degrees, expected) in [(1.0, 0.5325), (2.0, 0.5325 / 2.0)] {
        let found = extent(&format!("--fov {degrees} --size 400x200"));
        assert!(found.iter().all(|side| (side - 200.0 * expected).abs() <= 1.5), "{degrees}: {found:?}");
    }
}

#[test]
fn a_caption_is_written_below_a_view() {
    let folder = Folder::new();
    // A perspective and a parallel projection.
    for view in ["32.7767,-96.797", "sun"] {
        let arguments = format!("eclipse 2024-04-08T18:42Z --view {view} -q");
        folder.run_ok(&format!("{arguments} --size 320x240 --caption -o told.png"));
        let told = image::open(folder.path("told.png")).unwrap().to_rgb8();
        assert_eq!(told.dimensions(), (320, 240));
        // Four lines of 9 pixels and the scale bar.
        let height = 240 - (9.0_f64 * (2.5 + 1.35 * 4.0)).ceil() as u32;
        folder.run_ok(&format!("{arguments} --size 320x{height} -o bare.png"));
        let bare = image::open(folder.path("bare.png")).unwrap().to_rgb8();
        assert!(bare.enumerate_pixels().all(|(x, y, pixel)| pixel == told.get_pixel(x, y)), "{view}");
        // Most of the caption is black.
        let lit = (height..240).map(|y| (0..320).filter(|x| told.get_pixel(*x, y)[0] > 60).count()).sum::<usize>();
        assert!((1000..8000).contains(&lit), "{view}: {lit}");
    }
}

#[test]
fn an_animation_shows_an_eclipse_from_its_beginning_to_its_end() {
    use image::AnimationDecoder;
    let folder = Folder::new();
    let done = folder.run_ok(
        "eclipse 2024-04-08 --view 32.7767,-96.797 --fov fill --size 64x48 --frames 9 --corona off -o film.png",
    );
    assert!(done.errors.contains("9 frames; wrote film.png"), "{}", done.errors);
    let file = std::io::BufReader::new(std::fs::File::open(folder.path("film.png")).unwrap());
    let frames = image::codecs::png::PngDecoder::new(file).unwrap().apng().unwrap().into_frames();
    let bright: Vec<usize> =
        frames.map(|frame| frame.unwrap().buffer().pixels().filter(|pixel| pixel.0[1] > 100).count()).collect();
    // At C1 and C4 the whole Sun; in the middle, within a minute of the maximum at Dallas, none of it.
    assert_eq!(bright.len(), 9, "{bright:?}");
    assert!(bright[0].abs_diff(bright[8]) < 20 && bright[0] > 1000 && bright[4] == 0, "{bright:?}");
    assert!(bright[..5].is_sorted_by(|a, b| a > b) && bright[4..].is_sorted_by(|a, b| a < b), "{bright:?}");
    // At Palma, the Sun sets during the eclipse of 2026, so there are fewer frames; in Delhi it is night.
    let done = folder.run_ok("eclipse 2026-08-12 --view 39.57,2.65 --size 32x24 --frames 20 -o film.png");
    assert!(done.errors.contains("instants are left out, because the Sun is below the horizon"), "{}", done.errors);
    // In Berlin, the Moon rises during the lunar eclipse of 2028-12-31; from Jakarta it is up all the time.
    let lunar = "--fov fill --size 32x24 --frames 6 -o film.png";
    let done = folder.run_ok(&format!("eclipse 2028-12-31 --view 52.52,13.40 {lunar}"));
    assert!(done.errors.contains("1 instant is left out, because the Moon is below the horizon"), "{}", done.errors);
    let done = folder.run_ok(&format!("eclipse 2028-12-31 --view -6.2,106.8 {lunar}"));
    assert!(done.errors.contains(" 6 frames; wrote film.png\n"), "{}", done.errors);
    // Two instants are the first and the last of numbered pictures, which are those of the single instants.
    let view = "--view 32.7767,-96.797 --size 64x48 --corona off";
    let done = folder.run_ok(&format!("eclipse 2024-04-08T18:30Z..2024-04-08T18:50Z {view} --frames 3 -o of-%03d.png"));
    assert!(done.errors.contains("3 frames; wrote of-001.png to of-003.png"), "{}", done.errors);
    for (number, minute) in [("001", 30), ("002", 40), ("003", 50)] {
        folder.run_ok(&format!("eclipse 2024-04-08T18:{minute}Z {view} -o one.png -q"));
        let [one, frame] = ["one.png".to_owned(), format!("of-{number}.png")]
            .map(|name| image::open(folder.path(&name)).unwrap().to_rgb8());
        assert!(one == frame, "{number}");
    }
    assert!(!folder.path("of-%03d.png").exists());
    for (arguments, words) in [
        ("2026-08-12 --view 28.6,77.2 --frames 4", "the Sun is below the horizon of --view"),
        (
            "2024-04-10T03:00Z..2024-04-10T09:00Z --view 32.78,-96.80 --frames 4",
            "the Sun or the Moon is below the horizon of --view",
        ),
        ("2028-12-31 --view -15,-75 --frames 4", "the Moon is below the horizon of --view"),
        ("2026-08-13T12:00Z --frames 4", "there is no eclipse on this day"),
        ("2024-04-08 --view sun --fov 3", "this camera is a parallel projection"),
        ("2024-04-08 --fov 0", "0.00001 to 170 degrees, or fill"),
        ("2024-04-08 --caption", "of 24 rows: make --size larger"),
        ("2024-04-08 --frames 1", "1 is not in 2..=10000"),
        ("2024-04-08T18:30Z..2024-04-08T18:50Z", "a range, FIRST..LAST, which needs --frames"),
        ("2024-04-08T18:50Z..2024-04-08T18:30Z --frames 2", "expected FIRST..LAST, two instants in order"),
        ("2024-04-08..2024-04-09 --frames 2", "expected FIRST..LAST, two instants in order"),
    ] {
        folder.refused(&format!("eclipse {arguments} --size 32x24 -o none.png"), words);
        assert!(!folder.path("none.png").exists());
    }
    for (output, words) in [("data.csv", "data.csv: --view"), ("-", "are for a picture, .png: add --format png")] {
        let done = folder.refused(&format!("eclipse 2024-04-08 -o {output} --caption"), words);
        assert!(done.errors.contains("are for a picture, .png") && !done.errors.contains("standard input"));
    }
}

/// The view from a place shows the Sun in a transit, wherever the Moon is, and in a solar eclipse of a day the most that the place sees.
#[test]
fn the_view_from_a_place_is_of_the_event() {
    let folder = Folder::new();
    let aims = |arguments: &str| {
        folder.run_ok(&format!("eclipse {arguments} --size 32x18 -o p.png --sidecar p.json -q"));
        let json: serde_json::Value = serde_json::from_str(&folder.text("p.json")).unwrap();
        let [target, light] = [&json["camera"]["target"], &json["light"]["center"]];
        assert!(target.is_array() && light.is_array(), "{json}");
        (target == light, json["sky"]["instant"].as_str().unwrap().to_owned())
    };
    // From Madrid the Moon is far below the horizon, from 100 degrees east it is up.
    for view in ["40.4,-3.7", "0,100"] {
        let (is_sun, instant) = aims(&format!("2032-11-13T09:00Z --view {view}"));
        assert!(is_sun && instant.starts_with("2032-11-13T09:00"), "{view} {instant}");
    }
    assert!(!aims("2025-03-14 --view 32.7767,-96.797").0);
    // Burgos: totality at 18:29; the greatest eclipse is at 17:46.
    let (is_sun, instant) = aims("2026-08-12 --view 42.3439,-3.6969,860");
    assert!(is_sun && instant.starts_with("2026-08-12T18:29:"), "{instant}");
    // In Delhi the Sun is down all the time.
    folder.refused("eclipse 2026-08-12 --view 28.6,77.2 --size 32x18 -o p.png", "the Sun is below the horizon");
    // The Sun rises during the transit.
    let done = folder.run_ok("eclipse 2032-11-13 --view 40.4,-3.7 --fov fill --frames 3 --size 32x18 -o film.png");
    assert!(done.errors.contains(" 2 frames; wrote film.png; 1 instant is left out"), "{}", done.errors);
}

/// The corona fades while the last of the Sun is covered, instead of appearing at once.
#[test]
fn the_corona_does_not_appear_at_once() {
    let folder = Folder::new();
    let sky = umbracast_sky::Sky::new(umbracast_sky::SkyOptions::default());
    let (day, _) = sky.parse_time("2024-04-08").unwrap();
    let Some(umbracast_sky::Eclipse::Solar(eclipse)) = sky.eclipse_on(day).unwrap() else { panic!() };
    let place = umbracast_sky::Place { latitude: 32.7767, longitude: -96.797, height_m: 0.0 };
    let second_contact = eclipse.circumstances(&place).c2.unwrap().time;
    // Mean brightness next to the Sun, a degree high in the picture.
    let around = |seconds: f64| {
        let time = second_contact.plus(seconds).text(3, sky.options().delta_t);
        folder.run_ok(&format!("eclipse {time} --view 32.7767,-96.797 --size 96x96 -o p.png -q"));
        let picture = image::open(folder.path("p.png")).unwrap().to_rgb8();
        let ring = picture.enumerate_pixels().filter(|(x, y, _)| {
            let r = (f64::from(*x) - 47.5).hypot(f64::from(*y) - 47.5);
            (30.0..40.0).contains(&r)
        });
        let all: Vec<f64> = ring.map(|(.., pixel)| f64::from(pixel.0[1])).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let found = [-60.0, -2.0, -1.0, 1.0].map(around);
    assert!(found[0] < 2.0 && found[1] > 5.0, "{found:?}");
    assert!(found.is_sorted() && found[2] > 0.7 * found[3], "{found:?}");
}
