//! Scenes made easy: colours per sphere, a distant light, a ground, an automatic camera, transparency, normals, depth, ambient occlusion.

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Body, Picture, PictureOptions, System};
use umbracast_files::parse_system;

use umbracast_testing::cpu;
use umbracast_testing::folder::{Folder, npy};

/// Renders the system on the CPU.
fn render(text: &str, folder: &Folder) -> (System, Picture) {
    let system = parse_system(text, &folder.path("s.toml")).unwrap_or_else(|e| panic!("{e}"));
    let picture = cpu().render(&system, None).unwrap();
    (system, picture)
}

/// Light above; a camera that sees 4 units around the origin, from the front.
const FRONT: &str = r##"unit = "m"
[light]
direction = [0, 0, 1]
[camera]
kind = "orthographic"
position = [0, -10, 0]
target = [0, 0, 0]
up = [0, 0, 1]
width = 4
"##;

/// The automatic camera follows the size of the picture, and shows visible bodies.
#[test]
fn the_automatic_camera_shows_all_bodies_at_any_size() {
    let folder = Folder::new();
    let text = "unit = \"m\"\n[light]\ndirection = [1, 2, 3]\n[[body]]\nspheres = [[-3,0,0,1],[3,0,0,1],[0,3,0,1],[0,-3,0,1]]\n";
    let hidden = "[[body]]\ncenter = [0, 0, 1000]\nradius = 1\nvisible = false\n";
    let of_file = |more: &str| parse_system(&format!("{text}{more}"), &folder.path("s.toml")).unwrap();
    let size = [100, 400];
    let options = PictureOptions { size, ..of_file("").picture().clone() };
    let [resized, beside] = [of_file(""), of_file(hidden)].map(|one| one.with_picture(options.clone()).unwrap());
    let picture = cpu().render(&resized, None).unwrap();
    for id in 0..4 {
        assert!(picture.id.iter().filter(|&&seen| seen == id).count() > 100, "sphere {id} is not in view");
    }
    let in_file = of_file(&format!("[picture]\nsize = {size:?}\n"));
    assert_eq!((resized.camera(), beside.camera()), (in_file.camera(), in_file.camera()));
    // The camera of a tall picture is farther away, and thus inside this light.
    let wide = "unit = \"m\"\n[light]\ncenter = [20, 0, 0]\nradius = 17\n[[body]]\ncenter = [0, 0, 0]\nradius = 1\n";
    let refused = parse_system(wide, &folder.path("s.toml")).unwrap().with_picture(options).unwrap_err().to_string();
    assert!(refused.contains("light: the camera is inside") && refused.contains("in the table [camera]"), "{refused}");
    // Pixels of another size are no pixels of the system.
    let other = of_file("");
    for refused in [picture.normals(&other).err(), picture.view_distances(&other).err(), picture.fluxes(&other).err()] {
        let message = refused.expect("a picture of another size is refused").to_string();
        assert!(message.contains("the picture has 100x400 pixels, and the system 1920x1080"), "{message}");
    }
}

/// The ground touches a flattened body where its surface is lowest, not the ball around it.
#[test]
fn the_ground_touches_spheroids() {
    let folder = Folder::new();
    for (pole, lowest) in [([0.0, 0.0, 1.0], -0.2), ([1.0, 0.0, 0.0], -1.0), ([0.0, 1.0, 1.0], -(0.52_f64.sqrt()))] {
        let text = format!(
            "unit = \"m\"\nground = true\n[light]\ndirection = [0, 0, 1]\n[[body]]\ncenter = [0, 0, 0]\nradius = 1\npolar_radius = 0.2\npole = {pole:?}\n"
        );
        let system = parse_system(&text, &folder.path("s.toml")).unwrap();
        let ground = system.bodies()[1].balls[0];
        assert!((ground.center.z + ground.radius - lowest).abs() < 1e-9, "{pole:?}: {ground:?}");
    }
}

#[test]
fn spheres_have_the_colors_of_their_columns() {
    let folder = Folder::new();
    // Ambient light only, as strong as white: each pixel has the colour of its sphere.
    let system = format!(
        "{FRONT}[[body]]\nspheres = \"c.csv\"\n[picture]\nsize = [200, 100]\nsamples = 1\nexposure = 1e-6\nambient = 1\n"
    );
    let colors = |csv: &str| {
        folder.write("c.csv", csv);
        let (_, picture) = render(&system, &folder);
        let pixels = picture.srgb8();
        [50, 150].map(|x| {
            let at = 50 * 200 + x;
            [pixels[3 * at], pixels[3 * at + 1], pixels[3 * at + 2]]
        })
    };
    let rows = "x,y,z,r,red,green,blue\n-1,0,0,0.5,10,200,255\n1,0,0,0.5,0,128,77\n";
    assert_eq!(colors(rows), [[10, 200, 255], [0, 128, 77]]);
    // Oxygen and nitrogen.
    assert_eq!(colors("x,y,z,r,element\n-1,0,0,0.5,8\n1,0,0,0.5,7\n"), [[255, 13, 13], [48, 80, 248]]);
}

/// A small ball and the Moon, in km: f32 has 0.03 km there.
#[test]
fn spheres_of_files_keep_all_digits() {
    let folder = Folder::new();
    let rows: [[f64; 4]; 2] =
        [[0.0, 0.0, 0.0, 1.1], [-25_416.495_482_834_707, -355_482.078_458_267_03, 49_445.037_240_81, 1_737.4]];
    let cells = rows.map(|row| row.map(|number| number.to_string()).join(","));
    let bytes: Vec<u8> = rows.as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect();
    folder.write("s.csv", format!("x,y,z,r\n{}\n", cells.join("\n")));
    folder.write("s.npy", npy("'<f8'", false, "(2, 4)", &bytes));
    for file in ["s.csv", "s.npy"] {
        let text = format!("{FRONT}[[body]]\nspheres = \"{file}\"\n");
        let system = parse_system(&text, &folder.path("s.toml")).unwrap();
        assert_eq!(system.bodies()[0].balls, rows.map(|[x, y, z, r]| Ball::new([x, y, z], r)), "{file}");
    }
}

#[test]
fn wrong_columns_are_refused_by_file_row_and_column() {
    let folder = Folder::new();
    folder.write("s.toml", format!("{FRONT}[[body]]\nspheres = \"c.csv\"\n"));
    for (csv, words) in [
        ("x,y,z,r,element\n0,0,0,1,6\n0,0,0,1,119\n", ["c.csv", "line 3", "element", "119"]),
        ("x,y,z,r,element\n0,0,0,1,6.5\n", ["c.csv", "line 2", "element", "6.5"]),
        ("x,y,z,r,red,green,blue\n0,0,0,1,0,0,256\n", ["c.csv", "line 2", "blue", "256"]),
        ("x,y,z,r,red,green,blue\n0,0,0,1,-1,0,0\n", ["c.csv", "line 2", "red", "-1"]),
        ("x,y,z,r,red,green,blue\n0,0,0,1,1,0.5,0\n", ["c.csv", "no colour is above 1", "from 0 to 255", "fractions"]),
        ("x,y,z,r,red,green\n0,0,0,1,0,0\n", ["c.csv", "blue", "red", "green"]),
        // What only scenes have.
        (
            "x,y,z,rx,ry,rz\n0,0,0,1,2,3\n",
            ["c.csv", "line 1", "'rx': the spheres of a system are opaque balls", "polar_radius"],
        ),
        (
            "x,y,z,r,mask\n0,0,0,1,0\n",
            ["c.csv", "line 1", "'mask': the spheres of a system are opaque balls", "remove the column"],
        ),
    ] {
        folder.write("c.csv", csv);
        let done = folder.run("render s.toml -o p.png --device cpu");
        done.says(2, &words);
        assert!(!folder.path("p.png").exists());
    }
}

#[test]
fn a_transparent_background_has_alpha_0() {
    let folder = Folder::new();
    let body = "[[body]]\ncenter = [0, 0, 0]\nradius = 1\n";
    let system = format!("{FRONT}{body}[picture]\nsize = [64, 64]\nsamples = 4\nbackground = \"transparent\"\n");
    folder.write("s.toml", &system);
    folder.run_ok("render s.toml -o p.png --device cpu");
    let png = image::open(folder.path("p.png")).unwrap();
    assert_eq!(png.color(), image::ColorType::Rgba8);
    let alpha: Vec<u8> = png.to_rgba8().pixels().map(|pixel| pixel.0[3]).collect();
    assert_eq!((alpha[0], alpha[32 * 64 + 32]), (0, 255));
    // The area of a disc of a quarter of the width.
    let area = alpha.iter().map(|&a| f64::from(a) / 255.0).sum::<f64>() / (64.0 * 64.0);
    assert!((area - std::f64::consts::PI / 16.0).abs() < 2e-3, "{area}");
    assert!(alpha.iter().any(|&a| a > 0 && a < 255), "the edge is not smooth");
}

#[test]
fn normals_and_depths_are_those_of_the_sphere() {
    let folder = Folder::new();
    let body = "[[body]]\ncenter = [0.25, 0, 0.5]\nradius = 1\n";
    let (system, picture) = render(&format!("{FRONT}{body}[picture]\nsize = [80, 80]\nsamples = 1\n"), &folder);
    let (normals, depths) = (picture.normals(&system).unwrap(), picture.view_distances(&system).unwrap());
    let mut shown = 0;
    for at in 0..80 * 80 {
        let x = ((at % 80) as f64 + 0.5) / 20.0 - 2.0 - 0.25;
        let z = 2.0 - ((at / 80) as f64 + 0.5) / 20.0 - 0.5;
        let square = 1.0 - x * x - z * z;
        if square <= 0.0 {
            assert_eq!((normals[at], depths[at]), ([0.0; 3], f32::INFINITY), "pixel {at}");
            continue;
        }
        shown += 1;
        let expected = DVec3::new(x, -square.sqrt(), z);
        let found = DVec3::from_array(normals[at].map(f64::from));
        assert!(found.distance(expected) < 1e-6, "pixel {at}: {found} {expected}");
        assert!((f64::from(depths[at]) - (10.0 - square.sqrt())).abs() < 2e-6, "pixel {at}: {}", depths[at]);
    }
    assert!(shown > 1200, "{shown}");
}

#[test]
fn the_depth_of_a_perspective_camera_is_measured_along_the_viewing_direction() {
    let folder = Folder::new();
    let camera = FRONT.replace("orthographic", "perspective").replace("width = 4", "field_of_view_deg = 60");
    assert!(camera.contains("perspective") && camera.contains("field_of_view_deg"));
    // A floor so large that it is a plane at the distance 10.
    let body = "[[body]]\ncenter = [0, 1e8, 0]\nradius = 1e8\n";
    let (system, picture) = render(&format!("{camera}{body}[picture]\nsize = [40, 40]\nsamples = 1\n"), &folder);
    let depths = picture.view_distances(&system).unwrap();
    assert!(depths.iter().all(|depth| (depth - 10.0).abs() < 1e-4), "{:?}", &depths[..3]);
    assert!(picture.t[0] > 12.0, "{}", picture.t[0]);
}

/// Below a ball of radius r at the height h, the share r² / h² of the cosine-weighted sky is blocked.
#[test]
fn ambient_occlusion_below_a_ball_is_known() {
    let folder = Folder::new();
    let open = |samples: u32, ball: &str| {
        let text = format!(
            r##"unit = "m"
[light]
direction = [0, 0, 1]
[[body]]
center = [0, 0, -1e4]
radius = 1e4
color = "#ffffff"
{ball}
[camera]
kind = "orthographic"
position = [0, -1, 0.2]
target = [0, 0, 0]
up = [0, 0, 1]
width = 0.01
[picture]
size = [8, 8]
samples = 1
exposure = 1e-6
ambient = 0.5
ambient_samples = {samples}
"##
        );
        let (_, picture) = render(&text, &folder);
        let sum: f64 = picture.rgb.iter().map(|rgb| f64::from(rgb[0])).sum();
        2.0 * sum / 64.0
    };
    let ball = "[[body]]\ncenter = [0, 0, 2]\nradius = 1\n";
    assert!((open(0, ball) - 1.0).abs() < 1e-5);
    assert!((open(64, "") - 1.0).abs() < 1e-5);
    // Inside a body that only casts shadows, whose centre is behind all rays.
    assert_eq!(open(64, "[[body]]\ncenter = [0, 0, -0.5]\nradius = 1\nvisible = false\n"), 0.0);
    // 64 pixels with 256 rays each: an error of 1/√16384, or less.
    let found = open(256, ball);
    assert!((found - 0.75).abs() < 0.01, "{found}");
}

#[test]
fn a_file_without_camera_shows_everything_on_its_ground() {
    let folder = Folder::new();
    let text = r#"unit = "m"
ground = true
[light]
direction = [1, 1, 2]
diameter_deg = 2
[[body]]
center = [100, 50, 7]
radius = 2
[[body]]
center = [106, 50, 6]
radius = 1
[picture]
size = [160, 120]
samples = 1
"#;
    let (system, picture) = render(text, &folder);
    let pixels = |id: u32| picture.id.iter().filter(|&&one| one == id).count();
    assert!(pixels(0) > 300 && pixels(1) > 80 && pixels(2) > 5000, "{} {} {}", pixels(0), pixels(1), pixels(2));
    let border = |at: usize| at.is_multiple_of(160) || at % 160 == 159 || at / 160 == 0 || at / 160 == 119;
    assert!((0..picture.id.len()).all(|at| !border(at) || picture.id[at] > 1), "a body is cut off");
    // The ground touches the lowest point of the bodies: z = 5.
    let ground = system.bodies()[2].balls[0];
    assert!((ground.center.z + ground.radius - 5.0).abs() < 1e-6, "{ground:?}");
    let umbra = (0..picture.id.len()).filter(|&at| picture.id[at] == 2 && picture.fraction[at] == 0.0).count();
    assert!(umbra > 50, "no shadow on the ground: {umbra}");
    // The angular diameter of the light, seen from the bodies.
    let light = system.light().ball;
    let half = (light.radius / light.center.distance(DVec3::new(100.0, 50.0, 7.0))).asin();
    assert!((2.0 * half.to_degrees() - 2.0).abs() < 1e-6);
    let ground = Body::ground(&system.bodies()[..2], DVec3::Y, system.light().color).balls[0];
    assert!((ground.center.y + ground.radius - 48.0).abs() < 1e-6, "{ground:?}");
}
