//! Astronomical shadows, measured in the pictures of systems/: Ganymede's on Jupiter, the Earth's on the Moon, an occultation of a
//! star by a planet, and the shadow of ten thousand spheres. tests/data/README.md has the sources of the expected values.

use umbracast::glam::{DVec2, DVec3};
use umbracast::shadow::{Ball, Camera, Lens, Picture, PictureOptions, System, visible_fraction};
use umbracast::{Ends, NO_SPHERE, Query, Ray, Sphere, Touch};

use umbracast_testing::{Numbers, cpu, devices, rows, shipped_system};

/// The projection of a camera, computed independently of the renderer.
///
/// `axes` point right, up and forward. `pixels` is the size in pixels of a unit length at distance 1 (perspective) or at any distance
/// (orthographic: `flat`). `middle` is the centre of the picture in pixels.
struct Eye {
    at: DVec3,
    axes: [DVec3; 3],
    pixels: f64,
    middle: DVec2,
    flat: bool,
}

impl Eye {
    fn of(system: &System) -> Self {
        let camera = system.camera();
        let [width, height] = system.picture().size.map(f64::from);
        let forward = (camera.target - camera.position).normalize();
        let right = forward.cross(camera.up).normalize();
        let (pixels, flat) = match camera.lens {
            Lens::Perspective { field_of_view_deg } => {
                (0.5 * height / (0.5 * field_of_view_deg).to_radians().tan(), false)
            }
            Lens::Orthographic { width: across } => (width / across, true),
        };
        let axes = [right, right.cross(forward), forward];
        Self { at: camera.position, axes, pixels, middle: 0.5 * DVec2::new(width, height), flat }
    }

    /// Projects a point: its depth, and its position in the picture in pixels.
    fn see(&self, point: DVec3) -> (f64, DVec2) {
        let [x, y, z] = self.axes.map(|axis| axis.dot(point - self.at));
        let scale = if self.flat { self.pixels } else { self.pixels / z };
        (z, self.middle + scale * DVec2::new(x, -y))
    }

    /// The point at distance `t` along the ray through a pixel's centre.
    fn point(&self, x: usize, y: usize, t: f64) -> DVec3 {
        let v = (DVec2::new(x as f64, y as f64) + 0.5 - self.middle) / self.pixels;
        let [right, up, forward] = self.axes;
        if self.flat {
            return self.at + right * v.x - up * v.y + forward * t;
        }
        self.at + t * (right * v.x - up * v.y + forward).normalize()
    }
}

fn places(picture: &Picture) -> impl Iterator<Item = (usize, usize, usize)> {
    let [width, height] = picture.size.map(|side| side as usize);
    (0..width * height).map(move |i| (i, i % width, i / width))
}

/// The system with the light and one body at other positions.
fn moved(system: &System, body: usize, light: DVec3, center: DVec3) -> System {
    let (mut source, mut bodies) = (system.light().clone(), system.bodies().to_vec());
    source.ball.center = light;
    bodies[body].balls[0].center = center;
    System::new(source, bodies, *system.camera(), system.picture().clone()).unwrap()
}

/// The point of Jupiter with a planetographic latitude and an east longitude of System III: a spheroid of 71,492 and 66,854 km, with
/// the pole and the rotation of the IAU (Archinal et al. 2018). A row states these for the axis of the shadow.
fn on_jupiter(jd: f64, latitude: f64, longitude: f64) -> DVec3 {
    let (a, c) = (71_492.0_f64, 66_854.0_f64);
    let days = jd - 2_451_545.0;
    let centuries = days / 36_525.0;
    let ascension = (268.056_595 - 0.006_499 * centuries).to_radians();
    let declination = (64.495_303 + 0.002_413 * centuries).to_radians();
    let meridian = (284.95 + 870.536 * days).rem_euclid(360.0).to_radians();
    let pole = DVec3::new(declination.cos() * ascension.cos(), declination.cos() * ascension.sin(), declination.sin());
    let node = DVec3::new(-ascension.sin(), ascension.cos(), 0.0);
    let (sine, cosine) = latitude.to_radians().sin_cos();
    let curvature = a / (1.0 - (1.0 - (c / a).powi(2)) * sine * sine).sqrt();
    let turn = meridian + longitude.to_radians();
    let outward = node * turn.cos() + pole.cross(node) * turn.sin();
    curvature * cosine * outward + curvature * (c / a).powi(2) * sine * pole
}

/// The pixels on the disc of Jupiter whose fraction satisfies `dark`: their centroid, and the radius of a circle of the same area,
/// in pixels.
fn spot(picture: &Picture, disc: (DVec2, f64), dark: impl Fn(f32) -> bool) -> (DVec2, f64) {
    let (mut sum, mut count) = (DVec2::ZERO, 0.0);
    for (i, x, y) in places(picture) {
        let place = DVec2::new(x as f64, y as f64) + 0.5;
        // Leaves out the rim of the disc, where it is night or the Sun is low.
        if picture.id[i] == 0 && (place - disc.0).length() < 0.95 * disc.1 && dark(picture.fraction[i]) {
            sum += place;
            count += 1.0;
        }
    }
    (sum / count, f64::sqrt(count / std::f64::consts::PI))
}

#[test]
fn ganymedes_shadow_is_at_its_ephemeris_position() {
    let system = shipped_system("ganymede-2015-03-03.toml");
    let columns =
        "jd_tdb,mx,my,mz,sx,sy,sz,shadow_lat_planetographic,shadow_lon_sysIII_east,umbra_radius_km,penumbra_radius_km";
    let table: Vec<[f64; 11]> = rows("jupiter_shadows.csv", columns)
        .iter()
        .map(|row| row.each_ref().map(|cell| cell.parse().unwrap()))
        .collect();
    let shown = table.iter().find(|row| row[0] == 2_457_084.597_222_23).unwrap();
    let (light, moon) = (system.light().ball.center, system.bodies()[1].balls[0].center);
    assert_eq!([shown[1], shown[2], shown[3]], moon.to_array());
    assert_eq!([shown[4], shown[5], shown[6]], light.to_array());

    let eye = Eye::of(&system);
    let (depth, middle) = eye.see(DVec3::ZERO);
    // The disc, with the polar radius.
    let disc = (middle, eye.pixels * 66_854.0 / depth);
    let mut compared = 0;
    for row in &table {
        let (sun, moon) = (DVec3::from_slice(&row[4..7]), DVec3::from_slice(&row[1..4]));
        let expected = on_jupiter(row[0], row[7], row[8]);
        // Near ingress and egress the shadow is stretched along the limb, and its centroid means little.
        let slope = expected.normalize().dot(sun.normalize());
        if slope < 0.7 {
            continue;
        }
        let system = moved(&system, 1, sun, moon);
        let (depth, place) = eye.see(expected);
        let km = depth / eye.pixels;
        // The circle is stretched by the slope of the ground to the light, and foreshortened by its slope to the camera.
        let view = expected.normalize().dot((eye.at - expected).normalize());
        let stretch = (view / slope).sqrt();
        for device in devices().iter().filter(|device| row == shown || device.is_cpu()) {
            let picture = device.render(&system, None).unwrap();
            let (umbra, umbra_radius) = spot(&picture, disc, |f| f <= 1e-5);
            let (penumbra, penumbra_radius) = spot(&picture, disc, |f| f < 1.0 - 1e-5);
            let off = (umbra - place).length();
            let radii = [umbra_radius, penumbra_radius].map(|r| r / stretch);
            let wanted = [row[9] / km, row[10] / km];
            println!(
                "{} {}: umbra {off:.2} px from the position of its row, penumbra {:.2}; radii {radii:.2?} px, expected {wanted:.2?}; \
                 1 px is {km:.0} km",
                device.name(),
                row[0],
                (penumbra - place).length()
            );
            assert!(off < 0.5 && (penumbra - place).length() < 0.5);
            assert!((radii[0] - wanted[0]).abs() < 0.3 && (radii[1] - wanted[1]).abs() < 0.3);
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

/// Fits a circle to points (Kåsa's least squares): its centre and radius.
fn circle(points: &[DVec2]) -> (DVec2, f64) {
    let n = points.len() as f64;
    let mean = points.iter().sum::<DVec2>() / n;
    let (mut a, mut b, mut c, mut u, mut v) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for p in points.iter().map(|p| *p - mean) {
        let square = p.length_squared();
        (a, b, c) = (a + p.x * p.x, b + p.x * p.y, c + p.y * p.y);
        (u, v) = (u + 0.5 * square * p.x, v + 0.5 * square * p.y);
    }
    let middle = DVec2::new(u * c - v * b, v * a - u * b) / (a * c - b * b);
    let radius = (middle.length_squared() + (a + c) / n).sqrt();
    (mean + middle, radius)
}

#[test]
fn the_earths_umbra_has_its_radius_at_the_moon() {
    let system = shipped_system("lunar-2025-03-14.toml");
    let row = rows::<5>("sky/lunar.csv", "date,engine,gamma,umbral_mag,penumbral_mag")
        .into_iter()
        .find(|row| row[0] == "2025-03-14" && row[1] == "skyfield-de421/geometric-sphere-6371.0")
        .unwrap();
    let [gamma, umbral, penumbral] = [2, 3, 4].map(|i| row[i].parse::<f64>().unwrap());
    // The magnitude is the part of the Moon's diameter within the shadow. Gamma is the Moon's distance from the axis, in equatorial
    // radii of the Earth. Both are those of the greatest eclipse, the time of the third Moon.
    let moons: Vec<DVec3> = system.bodies()[1..].iter().map(|body| body.balls[0].center).collect();
    let aside = moons[2].truncate().length();
    assert!((aside / 6_378.137 - gamma).abs() < 1e-5, "{aside}");
    let from_row = |magnitude: f64| (2.0 * magnitude - 1.0) * 1_737.4 + gamma * 6_378.137;
    let expected = [from_row(umbral), from_row(penumbral)];

    let eye = Eye::of(&system);
    let km = 1.0 / eye.pixels;
    let sun = -system.light().ball.center.z;
    // The rates at which the cones narrow and widen. With them, edges measured on a Moon's near side are projected to the distance of
    // the third Moon.
    let slopes = [(695_700.0 - 6_371.0) / sun, -(695_700.0 + 6_371.0) / sun];
    for device in devices() {
        let picture = device.render(&system, None).unwrap();
        let width = picture.size[0] as usize;
        let mut edges = [Vec::new(), Vec::new()];
        for (i, x, y) in places(&picture) {
            let id = picture.id[i];
            if id == 0 || id == NO_SPHERE || x + 1 == width || picture.id[i + 1] != id || i + width >= picture.id.len()
            {
                continue;
            }
            let point = eye.point(x, y, f64::from(picture.t[i]));
            let (near, moon) = (point.truncate(), moons[id as usize - 1]);
            // Leaves out the Moon's limb, where its own horizon hides the Sun.
            if (near - moon.truncate()).length() > 0.9 * 1_737.4 {
                continue;
            }
            let inside = |i: usize, k: usize| picture.fraction[i] <= [1e-5, 1.0 - 1e-5][k];
            for k in 0..2 {
                for (j, step) in [(i + 1, DVec2::new(-0.5 * km, 0.0)), (i + width, DVec2::new(0.0, -0.5 * km))] {
                    if picture.id[j] == id && inside(i, k) != inside(j, k) {
                        // East is on the left: x increases to the left.
                        let edge = near + step;
                        edges[k].push(edge + edge.normalize() * slopes[k] * (point.z - moons[2].z));
                    }
                }
            }
        }
        for k in 0..2 {
            let (middle, radius) = circle(&edges[k]);
            println!(
                "{}: {} {} km from {} points of its edge, expected {:.1}; middle {:.1} km from the axis; 1 px is {km:.2} km",
                device.name(),
                ["umbra", "penumbra"][k],
                radius.round(),
                edges[k].len(),
                expected[k],
                middle.length()
            );
            assert!(edges[k].len() > 100);
            let worst = edges[k].iter().map(|edge| (edge.length() - expected[k]).abs()).fold(0.0, f64::max);
            assert!(worst < 1.5 * km, "an edge is {worst} km off");
            assert!((radius - expected[k]).abs() < 0.4 * km && middle.length() < 0.4 * km);
        }
    }
}

/// The system with another camera.
fn seen_from(system: &System, camera: Camera, size: [u32; 2]) -> System {
    let picture = PictureOptions { size, samples: 1, ..system.picture().clone() };
    System::new(system.light().clone(), system.bodies().to_vec(), camera, picture).unwrap()
}

/// Whether a planet blocks the centre of a star, with the policies of seed 004 (`tests/queries/seeds.rs`): half-open ends, and a
/// tangent ray passes.
fn blocked(eye: DVec3, star: Ball, planet: Ball) -> bool {
    let query = Query::default().touch(Touch::Miss).ends(Ends::HalfOpen);
    // Relative to the planet's centre, for the precision of f32.
    let ray =
        Ray::segment((eye - planet.center).as_vec3().to_array(), (star.center - planet.center).as_vec3().to_array());
    ray.hit(&Sphere::new([0.0; 3], planet.radius as f32), &query).is_some()
}

#[test]
fn occultation_contacts_agree_with_geometry() {
    let system = shipped_system("occultation.toml");
    let (star, planet) = (system.light().ball, system.bodies()[0].balls[0]);
    assert_eq!(planet.center, DVec3::ZERO);
    // The observer moves along a straight line past the planet, and the star's centre passes behind it. In the plane through both, the
    // line of sight touches the planet at the two tangents from the star.
    let (x, y) = (star.center.normalize(), star.center.cross(DVec3::Z).normalize());
    let (distance, far) = (star.center.length(), 204_000.0);
    let at = |aside: f64| -far * x + aside * y;
    // The contacts: the star first touches the planet, its centre disappears, and all of it has disappeared. They are lines tangent to
    // both spheres, and for the centre the tangent from the star's centre. (Rims as seen from the planet's centre would be 10⁻³ off.)
    let contact = |rim: f64| {
        let sine = (planet.radius - rim * star.radius) / distance;
        (distance + far) * sine / (1.0 - sine * sine).sqrt() + rim * star.radius / (1.0 - sine * sine).sqrt()
    };
    let [first, middle, last] = [-1.0, 0.0, 1.0].map(contact);
    println!("contacts at {first:.1}, {middle:.1} and {last:.1} km from the axis");
    for way in [1.0, -1.0] {
        // 1 km in 85,000: the effect of rounding the star's position to f32.
        assert!(!blocked(at(way * (middle + 1.0)), star, planet) && blocked(at(way * (middle - 1.0)), star, planet));
    }
    assert!(blocked(at(0.0), star, planet));

    // The same in pictures: counts the visible pixels of the star's disc.
    let size = [201, 201];
    let lens = Lens::Perspective { field_of_view_deg: 10.0 };
    for device in devices() {
        let count = |aside: f64| {
            let camera = Camera { position: at(aside), target: star.center, up: DVec3::Z, lens };
            let picture = device.render(&seen_from(&system, camera, size), None).unwrap();
            picture.id.iter().filter(|id| **id == 2).count() as f64
        };
        let whole = count(first + 2_000.0);
        // One pixel in km of the observer's path: its angle divided by the angular speed of the star's centre towards the limb.
        let gap = |aside: f64| {
            let (to_star, to_planet) = (star.center - at(aside), planet.center - at(aside));
            to_star.angle_between(to_planet) - (planet.radius / to_planet.length()).asin()
        };
        let pixel = (10.0_f64 / 201.0).to_radians() / (0.01 * (gap(middle + 50.0) - gap(middle - 50.0)));
        println!("{}: {whole} pixels of star; a pixel is {pixel:.0} km of the observer's path", device.name());
        // A pixel counts if its centre is on the star. The sliver at a contact, up to one and a half pixels deep, may contain no centre.
        let some = 1.5 * pixel;
        assert!(count(first - some) < whole && count(first + some) == whole, "{}", device.name());
        assert!(count(last - some) == 0.0 && count(last + some) > 0.0, "{}", device.name());
        for step in 0..=12 {
            let aside = last + (first - last) * f64::from(step) / 12.0;
            let expected = visible_fraction(at(aside), star, &[planet]).unwrap();
            let found = count(aside) / whole;
            // Whole rows of pixels along the limb change at once, hence the tolerance.
            assert!((found - expected).abs() < 0.01, "{}: {aside}: {found} {expected}", device.name());
        }
    }
}

#[test]
fn shadows_of_ten_thousand_moonlets_agree_with_visible_fraction() {
    let system = shipped_system("ring.toml");
    let (light, planet, ring) = (system.light().ball, system.bodies()[0].balls[0], &system.bodies()[1].balls);
    assert_eq!(ring.len(), 10_000);
    let eye = Eye::of(&system);
    let picture = cpu().render(&system, None).unwrap();
    let mut numbers = Numbers(17);
    let (mut compared, mut shaded, mut of_ring, mut worst) = (0, 0, 0, 0.0_f64);
    for (i, x, y) in places(&picture) {
        let id = picture.id[i] as usize;
        // Compares a random 0.4 % of the pixels, with each moonlet tested.
        if id > ring.len() || numbers.unit() > 0.004 {
            continue;
        }
        let ball = if id == 0 { planet } else { ring[id - 1] };
        // The hit point of the pixel's ray in f64: f32 distances are too coarse for a moonlet of 400 km.
        let direction = (eye.point(x, y, 1.0) - eye.at).normalize();
        let foot = (ball.center - eye.at).dot(direction);
        let aside = (ball.center - eye.at - foot * direction).length();
        let point = eye.at + (foot - (ball.radius.powi(2) - aside.powi(2)).sqrt()) * direction;
        let (normal, toward) = ((point - ball.center) / ball.radius, (light.center - point).normalize());
        // Compares only where the whole disc of the light is above the horizon.
        if normal.dot(toward).asin() < 1.01 * light.radius / (light.center - point).length() {
            continue;
        }
        let others: Vec<Ball> =
            [planet].iter().chain(ring).enumerate().filter(|(j, _)| *j != id).map(|(_, ball)| *ball).collect();
        let expected = visible_fraction(point, light, &others).unwrap();
        worst = worst.max((expected - f64::from(picture.fraction[i])).abs());
        compared += 1;
        of_ring += u32::from(id > 0);
        shaded += u32::from(expected < 0.99);
    }
    println!("{compared} pixels, {of_ring} of moonlets, {shaded} shaded: worst {worst:.1e}");
    assert!(compared > 1000 && of_ring > 300 && shaded > 200, "{compared} {of_ring} {shaded}");
    assert!(worst < 1e-6, "{worst}");
}
