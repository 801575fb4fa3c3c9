//! Culling is conservative: pictures are the same, bit for bit, as without it.

use glam::DVec3;

use super::*;
use crate::batch::raygen::camera::{Camera, Lens};
use crate::intensity::scaled;
use crate::numbers::Numbers;
use crate::runtime::cancel::CancelToken;
use crate::shadow::coverage::disc::{DARK, FULL, Illumination, OccluderSet, ground_at, illumination};
use crate::shadow::picture::color::Color;
use crate::shadow::picture::exhaustive::{whole, with_bvh};
use crate::shadow::picture::prepared::{Culling, PreparedPicture};
use crate::shadow::picture::primary::{VisiblePoint, first_body, pixel_ray};
use crate::shadow::picture::receiver_lists::ReceiverLists;
use crate::shadow::picture::render_cpu::{picture, place};
use crate::shadow::system::{Body, LightSource, PictureOptions, System};
use crate::shadow::visibility::visible_fraction;

/// Uniform in the cube from −1 to 1.
fn point(numbers: &mut Numbers) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| 2.0 * numbers.unit_f64() - 1.0))
}

/// The light at a visible point, with the occluders that the lists for a device contain. Twin of `light_at` in `shade.wgsl`.
fn light_by_lists(lists: &ReceiverLists, seen: VisiblePoint) -> Illumination {
    let Some(receiver) = lists.receivers.get(seen.id as usize) else {
        return FULL;
    };
    let normal = (receiver.light_from_view * seen.normal).normalize_or_zero();
    if normal == DVec3::ZERO {
        return DARK;
    }
    let place = if seen.place == seen.normal { normal } else { receiver.light_from_view * seen.place };
    let [x, y] = square(place);
    let near = receiver.grid.list(&lists.words, x, y);
    let near: Vec<_> = near.iter().map(|&i| lists.occluders[i as usize]).collect();
    match ground_at(place, normal, receiver.light) {
        Err(known) => known,
        Ok(ground) => illumination(&mut OccluderSet::default(), ground, place, receiver.light, &near, &lists.shapes),
    }
}

/// Renders with tiles, with a BVH and without culling, and compares the pictures. Returns the fractions of sphere tests and of occluder
/// tests that were culled.
fn same(name: &str, system: &System) -> [f64; 2] {
    let prepared_picture = PreparedPicture::new(system).unwrap_or_else(|e| panic!("{name}: {e}"));
    let whole = whole(&prepared_picture);
    let [found, traversed, expected] = [&prepared_picture, &with_bvh(&prepared_picture), &whole]
        .map(|prepared_picture| picture(system, prepared_picture, &CancelToken::new(), &|_| {}).unwrap());
    for i in 0..found.id.len() {
        let bits = |p: &crate::shadow::picture::image::Picture| {
            (p.rgb[i].map(f32::to_bits), p.t[i].to_bits(), p.id[i], p.fraction[i].to_bits())
        };
        assert_eq!(bits(&found), bits(&expected), "{name}: pixel {i} of {:?}", found.size);
        assert_eq!(bits(&traversed), bits(&expected), "{name}: pixel {i} of {:?} with a BVH", found.size);
    }
    let lists = ReceiverLists::new(&prepared_picture).unwrap().expect("so few fit on a device");
    let [width, height] = system.picture().size;
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let at = place([width, height], f64::from(x) + 0.5, f64::from(y) + 0.5);
        let (origin, direction) = pixel_ray(&prepared_picture, at);
        let seen = first_body(&prepared_picture, [x, y], origin, direction);
        let listed = light_by_lists(&lists, seen).fraction as f32;
        assert_eq!(listed.to_bits(), expected.fraction[(y * width + x) as usize].to_bits(), "{name}: {x},{y} by lists");
    }
    let pixels = f64::from(width * height);
    let (mut met, mut shaded) = (0, 0);
    let Culling::Tiles(grid, words) = &prepared_picture.culling else { panic!("{name}: no tiles") };
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        met += grid.list(words, x, y).len();
        // A sample of the occluder lists: some receiver, at some square.
        let receiver = &lists.receivers[(x * 7 + y) as usize % lists.receivers.len()];
        shaded += receiver.grid.list(&lists.words, x * 31 % SQUARES, y * 17 % SQUARES).len();
    }
    let share = |tests: usize, of: usize| 1.0 - tests as f64 / (pixels * of as f64);
    [share(met, prepared_picture.balls.len()), share(shaded, lists.receivers.len())]
}

/// A light with bodies, each of one colour, seen from `position` towards the origin.
fn system(light: Ball, bodies: Vec<Vec<Ball>>, position: [f64; 3], field_of_view_deg: f64, size: [u32; 2]) -> System {
    let bodies = bodies.into_iter().map(|balls| Body::new("body", balls, vec![Color::WHITE])).collect();
    let lens = Lens::Perspective { field_of_view_deg };
    let camera = Camera { position: position.into(), target: DVec3::ZERO, up: DVec3::Z, lens };
    let picture = PictureOptions { size, samples: 2, ..PictureOptions::default() };
    System::new(LightSource::new("light", light), bodies, camera, picture).unwrap_or_else(|e| panic!("{e}"))
}

/// A planet with a ring of a thousand moonlets.
fn ringed(size: [u32; 2]) -> System {
    let mut numbers = Numbers(8);
    let mut moonlet = |i: usize| {
        let (sine, cosine) = (i as f64 * 2.399_963).sin_cos();
        let distance = 1.5 + 0.8 * numbers.unit_f64();
        let center = [distance * cosine, distance * sine, 0.02 * numbers.unit_f64()];
        Ball::new(center, 0.004 + 0.01 * numbers.unit_f64())
    };
    let ring = (0..1000).map(&mut moonlet).collect();
    let light = Ball::new([900.0, -300.0, 250.0], 4.6);
    system(light, vec![vec![Ball::new([0.0; 3], 1.0)], ring], [3.0, -5.0, 2.0], 40.0, size)
}

/// A planet in a swarm: the light near or far, the camera within the swarm, looking in any direction.
fn swarm(numbers: &mut Numbers, case: usize) -> crate::error::Result<System> {
    let distance = [4.0, 30.0, 1e4, 1e9][case % 4];
    let light = Ball { center: distance * point(numbers), radius: [0.0, 0.002, 0.05, 0.3][case / 4 % 4] * distance };
    let body = |balls| Body::new("body", balls, vec![Color::WHITE]);
    let spread = [1.4, 3.0, 12.0][case % 3];
    let moons =
        (0..60).map(|_| Ball { center: spread * point(numbers), radius: 0.3 * numbers.unit_f64().powi(4) + 1e-3 });
    let bodies = vec![body(vec![Ball::new([0.0; 3], 1.0)]), body(moons.collect())];
    let lens = if case.is_multiple_of(5) {
        Lens::Orthographic { width: 1.0 + 3.0 * numbers.unit_f64() }
    } else {
        Lens::Perspective { field_of_view_deg: 5.0 + 150.0 * numbers.unit_f64() }
    };
    let camera = Camera { position: spread * point(numbers), target: 0.5 * point(numbers), up: point(numbers), lens };
    let picture = PictureOptions { size: [37, 23], samples: 1, ..PictureOptions::default() };
    let light = LightSource::new("light", light);
    System::new(light, bodies, camera, picture)
}

#[test]
fn culling_does_not_change_a_bit_of_a_picture() {
    let earth = vec![Ball::new([0.0; 3], 6371.0)];
    let moon = |z| vec![Ball::new([360_000.0, 900.0, z], 1737.4)];
    let sun = Ball::new([1.495e8, 0.0, 0.0], 696_000.0);
    let systems = [
        ("planet", {
            let moon = vec![Ball::new([3.0, 0.2, 0.1], 0.27)];
            system(
                Ball::new([400.0, 0.0, 20.0], 9.0),
                vec![vec![Ball::new([0.0; 3], 1.0)], moon],
                [2.0, -3.0, 1.0],
                45.0,
                [96, 54],
            )
        }),
        ("eclipse", system(sun, vec![earth.clone(), moon(2500.0)], [20_000.0, 9000.0, 12_000.0], 40.0, [96, 54])),
        ("umbra", system(sun, vec![earth, moon(0.0)], [15_000.0, 3000.0, 0.0], 30.0, [61, 61])),
        ("ring", ringed([160, 90])),
    ];
    for (name, system) in &systems {
        let [met, shaded] = same(name, system);
        println!("{name}: {:.1} % of the balls and {:.1} % of the occluders left out", 100.0 * met, 100.0 * shaded);
        assert!(*name != "ring" || (met > 0.98 && shaded > 0.98));
    }
    let mut numbers = Numbers(3);
    let (mut drawn, mut left_out) = (0, [0.0; 2]);
    for case in 0..scaled(600) {
        let Ok(system) = swarm(&mut numbers, case) else { continue };
        let shares = same(&format!("swarm {case}"), &system);
        drawn += 1;
        left_out = [0, 1].map(|k| left_out[k] + shares[k]);
    }
    let [met, shaded] = left_out.map(|share| share / f64::from(drawn));
    println!("{drawn} swarms: {:.1} % of the balls and {:.1} % of the occluders left out", 100.0 * met, 100.0 * shaded);
    assert!(drawn > 250 && met > 0.5 && shaded > 0.5, "{drawn} {met} {shaded}");
}

#[test]
fn groups_contain_every_ball_once() {
    let mut numbers = Numbers(9);
    for count in [0, 1, 63, 64, 65, 1000] {
        let balls: Vec<Ball> = (0..count)
            .map(|i| Ball {
                center: if i % 3 == 0 { DVec3::ONE } else { point(&mut numbers) },
                radius: numbers.unit_f64(),
            })
            .collect();
        let groups = groups(&balls, 64);
        let mut members: Vec<u32> = groups.iter().flat_map(|group| group.members.clone()).collect();
        members.sort_unstable();
        assert!(members.into_iter().eq(0..count as u32), "{count}");
        for group in &groups {
            assert!(group.members.len() <= 64);
            for &i in &group.members {
                let ball = balls[i as usize];
                assert!((ball.center - group.around.center).length() + ball.radius <= group.around.radius);
            }
        }
    }
}

/// If the list lacked an occluder, a part of its shadow would be missing.
#[test]
fn occluder_lists_contain_every_ball_that_can_cast_a_shadow() {
    let mut numbers = Numbers(5);
    let mut random = || numbers.unit_f64();
    let (mut kept, mut needed) = (0, 0);
    for case in 0..4000 {
        let light = Ball::new([0.0, 0.0, 0.0], [0.0, 0.5, 3.0, 20.0][case % 4]);
        let receiver = Ball::new([0.0, 0.0, 60.0], 0.05 + 4.0 * random());
        let place = DVec3::new(16.0 * random() - 8.0, 16.0 * random() - 8.0, 25.0 + 50.0 * random());
        let occluder = Ball { center: place, radius: 0.05 + 3.0 * random() };
        let shaded = (0..400).any(|i| {
            // Points along a spiral on the receiver's surface.
            let z = 1.0 - (2.0 * f64::from(i) + 1.0) / 400.0;
            let (r, turn) = ((1.0 - z * z).sqrt(), f64::from(i) * 2.399_963);
            let normal = DVec3::new(r * turn.cos(), r * turn.sin(), z);
            let point = receiver.center + receiver.radius * normal;
            visible_fraction(point, light, &[occluder]).is_ok_and(|fraction| fraction < 1.0)
        });
        let may = may_shade(light, occluder, receiver);
        assert!(may || !shaded, "case {case}: {light:?} {occluder:?} {receiver:?}");
        kept += u32::from(may);
        needed += u32::from(shaded);
    }
    println!("{needed} of 4000 shade their receiver, {kept} were kept");
    // Culling must also be effective.
    assert!(needed > 500 && kept < needed + needed / 4);
}
