//! The total eclipse of 2024-04-08 at 18:17:20 UTC: the point where its axis reaches the ground, and the width of the umbra there. The
//! annular eclipse of 2023-10-14 at 17:59:27 UTC: the point where its axis reaches the ground, and the ring of the Sun seen there.

use umbracast::NO_SPHERE;
use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Camera, Lens, Picture, PictureOptions, System, visible_fraction};

use umbracast_testing::{devices, rows, shipped_system};

/// The point where the line through the centres of the light and the Moon enters the Earth.
fn axis_on_ground(system: &System) -> DVec3 {
    let (sun, earth, moon) = (system.light().ball, system.bodies()[0].balls[0], system.bodies()[1].balls[0]);
    let along = (moon.center - sun.center).normalize();
    let to_earth = earth.center - moon.center;
    let foot = to_earth.dot(along);
    let aside = (to_earth - foot * along).length();
    moon.center + (foot - (earth.radius.powi(2) - aside.powi(2)).sqrt()) * along
}

#[test]
fn the_axis_of_2024_reaches_the_ground_in_mexico() {
    let ground = axis_on_ground(&shipped_system("eclipse-2024-04-08.toml"));
    let latitude = (ground.z / ground.length()).asin().to_degrees();
    let longitude = ground.y.atan2(ground.x).to_degrees();
    println!("{latitude:.4} N {longitude:.4} E");
    assert!((latitude - 25.149).abs() < 0.001, "{latitude}");
    assert!((longitude + 104.155).abs() < 0.001, "{longitude}");
}

/// Checks the umbra in a picture along the axis. It is a circle there, independent of the slope of the ground, with the diameter of
/// the cone: 189.3 km. (On the ground, tilted by 20°, it measures 189 by 201 km.)
fn check_umbra(picture: &Picture) {
    assert_eq!(picture.size, [601, 601]);
    let dark = |x: usize, y: usize| picture.fraction[y * 601 + x] == 0.0;
    assert!(dark(300, 300), "the middle is {}", picture.fraction[300 * 601 + 300]);
    let across = (0..601).filter(|&x| dark(x, 300)).count();
    let down = (0..601).filter(|&y| dark(300, y)).count();
    let area = (0..601 * 601).filter(|&i| picture.fraction[i] == 0.0).count();
    let diameter = (area as f64 * 4.0 / std::f64::consts::PI).sqrt();
    println!("umbra: {across} px across, {down} px down, {diameter:.1} px from its area");
    assert!(across.abs_diff(189) <= 2, "{across}");
    assert!(down.abs_diff(189) <= 2, "{down}");
    assert!((diameter - 189.3).abs() < 0.5, "{diameter}");
}

#[test]
fn the_umbra_is_189_km_across() {
    let system = shipped_system("umbra-2024-04-08.toml");
    let middle = system.camera().target;
    assert!((middle - axis_on_ground(&system)).length() < 1e-6);
    for device in devices() {
        println!("{}", device.name());
        check_umbra(&device.render(&system, None).unwrap());
    }
}

#[test]
fn rendered_fractions_agree_with_visible_fraction() {
    let system = shipped_system("umbra-2024-04-08.toml");
    let camera = system.camera();
    let forward = (camera.target - camera.position).normalize();
    let right = forward.cross(camera.up).normalize();
    let up = right.cross(forward);
    let moon: Ball = system.bodies()[1].balls[0];
    for device in devices() {
        let picture = device.render(&system, None).unwrap();
        // In f32 the covered part of the disc has an error of about 10⁻⁵.
        let allowed = if device.is_cpu() { 2e-6 } else { 2e-5 };
        for (x, y) in [(300, 300), (180, 300), (300, 420), (20, 30), (590, 300), (0, 600)] {
            let origin = camera.position + (x as f64 - 300.0) * right - (y as f64 - 300.0) * up;
            let i = y * 601 + x;
            let ground = origin + f64::from(picture.t[i]) * forward;
            let expected = visible_fraction(ground, system.light().ball, &[moon]).unwrap();
            // The point comes from an f32 distance, with an error of 1 m; the penumbra is 3,500 km wide.
            let error = (f64::from(picture.fraction[i]) - expected).abs();
            assert!(error < allowed, "{}: {x} {y}: off by {error:.1e} from {expected}", device.name());
            assert_eq!(picture.id[i], 0);
        }
    }
}

#[test]
fn the_axis_of_2023_is_on_the_centre_line() {
    let system = shipped_system("annular-2023-10-14.toml");
    let ground = axis_on_ground(&system);
    let (latitude, longitude) =
        ((ground.z / ground.length()).asin().to_degrees(), ground.y.atan2(ground.x).to_degrees());
    assert!((latitude - 11.331).abs() < 0.001 && (longitude + 83.114).abs() < 0.001, "{latitude} {longitude}");

    // The table is for the oblate Earth (WGS 84): intersect the same axis with the ellipsoid, scaled along z to a sphere.
    let (a, b) = (6_378.137, 6_356.752_314_245);
    let (sun, moon) = (system.light().ball.center, system.bodies()[1].balls[0].center);
    let squash = |v: DVec3| DVec3::new(v.x, v.y, v.z * a / b);
    let (from, along) = (squash(moon), squash(moon - sun).normalize());
    let foot = -from.dot(along);
    let point = from + (foot - (a * a - (from + foot * along).length_squared()).sqrt()) * along;
    let (x, y, z) = (point.x, point.y, point.z * b / a);
    let latitude = (z * (a / b).powi(2)).atan2(x.hypot(y)).to_degrees();
    let longitude = y.atan2(x).to_degrees();
    // The table has a row every five minutes. The position at 17:59:27 is interpolated by the parabola through the three nearest rows.
    let rows = rows::<4>("sky/centerline.csv", "date,utc,lat_de421,lon_de421");
    let at = rows.iter().position(|row| row[0] == "2023-10-14" && row[1] == "18:00").unwrap();
    let s = (59.0 + 27.0 / 60.0 - 60.0) / 5.0;
    let expected = [2, 3].map(|column: usize| {
        let [before, now, after] = [at - 1, at, at + 1].map(|row| rows[row][column].parse::<f64>().unwrap());
        now + 0.5 * s * (after - before) + 0.5 * s * s * (after - 2.0 * now + before)
    });
    let km = [(latitude - expected[0]) * 111.2, (longitude - expected[1]) * 111.2 * latitude.to_radians().cos()];
    println!("{latitude:.4} N {longitude:.4} E, {km:.2?} km from the table's");
    assert!(km.iter().all(|km| km.abs() < 0.3), "{km:?}");
}

/// The part of the Sun's disc that a moon covers whose disc lies wholly inside the Sun's.
fn covered(observer: DVec3, sun: Ball, moon: Ball) -> f64 {
    let share = |ball: Ball| 1.0 - (1.0 - (ball.radius / (ball.center - observer).length()).powi(2)).sqrt();
    share(moon) / share(sun)
}

#[test]
fn the_antumbra_of_2023_is_173_km_across_and_never_total() {
    let shipped = shipped_system("annular-2023-10-14.toml");
    let (sun, moon) = (shipped.light().ball, shipped.bodies()[1].balls[0]);
    let ground = axis_on_ground(&shipped);
    let along = (moon.center - sun.center).normalize();
    // A view along the axis, 1 km per pixel, with the axis at the centre of a pixel.
    let camera = Camera {
        position: ground - 20_000.0 * along,
        target: ground,
        up: DVec3::Z,
        lens: Lens::Orthographic { width: 301.0 },
    };
    let picture = PictureOptions { size: [301, 301], ..shipped.picture().clone() };
    let system = System::new(shipped.light().clone(), shipped.bodies().to_vec(), camera, picture).unwrap();
    // The radius of the antumbra at the ground, behind the tip of the umbra: the cone widens there at the rate at which it narrowed.
    let sine = (sun.radius - moon.radius) / (moon.center - sun.center).length();
    let radius =
        (ground - moon.center).length() * sine / (1.0 - sine * sine).sqrt() - moon.radius / (1.0 - sine * sine).sqrt();
    let row = rows::<3>("sky/greatest.csv", "date,engine,obscuration")
        .into_iter()
        .find(|row| row[0] == "2023-10-14" && row[1] == "skyfield-de421/iau")
        .unwrap();
    let (right, up) = (along.cross(DVec3::Z).normalize(), along.cross(DVec3::Z).normalize().cross(along));
    for device in devices() {
        let picture = device.render(&system, None).unwrap();
        let darkest = picture.fraction.iter().copied().fold(1.0, f32::min);
        let allowed = if device.is_cpu() { 1e-6 } else { 2e-5 };
        let mut ringed = 0;
        for i in 0..301 * 301 {
            let (x, y) = ((i % 301) as f64 - 150.0, (i / 301) as f64 - 150.0);
            let point = camera.position + x * right - y * up + f64::from(picture.t[i]) * along;
            let ring = 1.0 - covered(point, sun, moon);
            assert!(f64::from(picture.fraction[i]) > ring - allowed, "{}", device.name());
            ringed += u32::from(f64::from(picture.fraction[i]) < ring + allowed);
        }
        let found = (f64::from(ringed) / std::f64::consts::PI).sqrt();
        let middle = 1.0 - picture.fraction[150 * 301 + 150];
        println!(
            "{}: antumbra {found:.1} km, expected {radius:.1}; covered at most {:.5}, {middle:.5} in its middle; the \
            table has {}",
            device.name(),
            1.0 - darkest,
            row[2]
        );
        // Just outside, the covered part decreases so slowly that f32 does not resolve it at first.
        assert!((found - radius).abs() < if device.is_cpu() { 1.0 } else { 3.0 }, "{found} {radius}");
        assert!((f64::from(middle) - row[2].parse::<f64>().unwrap()).abs() < 2e-4, "{middle}");
        assert!(darkest > 0.09);
    }
}

#[test]
fn the_ring_of_2023_is_rendered() {
    let system = shipped_system("ring-2023-10-14.toml");
    let (sun, moon, eye) = (system.light().ball, system.bodies()[1].balls[0], system.camera().position);
    assert!((eye - axis_on_ground(&system)).length() < 0.003);
    let Lens::Perspective { field_of_view_deg } = system.camera().lens else { panic!("expected a perspective camera") };
    let [width, height] = system.picture().size.map(|side| side as usize);
    let scale = 0.5 * height as f64 / (0.5 * field_of_view_deg).to_radians().tan();
    let radius = |ball: Ball| scale * (ball.radius / (ball.center - eye).length()).asin().tan();
    for device in devices() {
        let picture = device.render(&system, None).unwrap();
        for step in 0..720 {
            let (sine, cosine) = (f64::from(step) * std::f64::consts::PI / 360.0).sin_cos();
            let id = |r: f64| {
                let at = [width as f64 / 2.0 + r * cosine, height as f64 / 2.0 + r * sine].map(|c| c as usize);
                picture.id[at[1] * width + at[0]]
            };
            // From the centre outwards: the Moon, the Sun, the background.
            let [inner, outer] = [radius(moon), radius(sun)];
            for (r, expected) in
                [(0.0, 1), (inner - 1.5, 1), (inner + 1.5, 2), (outer - 1.5, 2), (outer + 1.5, NO_SPHERE)]
            {
                assert_eq!(id(r), expected, "{}: {r:.1} px at step {step}", device.name());
            }
        }
    }
}
