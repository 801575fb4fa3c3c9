//! Culling is conservative: pictures are the same, bit for bit, as without it.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::*;
use crate::batch::raygen::camera::{Camera, Lens};
use crate::batch::raygen::projection::Projection;
use crate::intensity::scaled;
use crate::numbers::Numbers;
use crate::runtime::cancel::CancelToken;
use crate::shadow::ball_bvh::BallBvh;
use crate::shadow::coverage::disc::{DARK, FULL, Illumination, OccluderSet, cap_of, ground_at, illumination};
use crate::shadow::coverage::light::disc_from;
use crate::shadow::light_frame::LightFrame;
use crate::shadow::picture::image::Color;
use crate::shadow::picture::prepared::{Culling, PreparedPicture};
use crate::shadow::picture::primary::{VisiblePoint, first_body};
use crate::shadow::picture::receiver_lists::ReceiverLists;
use crate::shadow::picture::render_cpu::{picture, place};
use crate::shadow::picture::tiles::Grid;
use crate::shadow::system::{Body, LightSource, PictureOptions, System};

/// Uniform in the cube from −1 to 1.
fn point(numbers: &mut Numbers) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| 2.0 * numbers.unit_f64() - 1.0))
}

/// A power of ten with an exponent between `from` and `to`.
fn power(numbers: &mut Numbers, from: f64, to: f64) -> f64 {
    10_f64.powf(from + (to - from) * numbers.unit_f64())
}

/// True in one of `count` cases.
fn one_in(numbers: &mut Numbers, count: u32) -> bool {
    numbers.bits().is_multiple_of(count)
}

/// Directions along a spiral on the unit sphere.
fn spiral(count: u32) -> impl Iterator<Item = DVec3> {
    (0..count).map(move |i| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
        (DVec2::from_angle(f64::from(i) * 2.399_963) * (1.0 - z * z).sqrt()).extend(z)
    })
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

/// The visible spheres, and the light. Spheroids are in no tile and no BVH: every ray is tested against them.
fn round(prepared_picture: &PreparedPicture) -> impl Iterator<Item = (Ball, u32)> {
    let is_visible = |i: u32| prepared_picture.bodies.get(i as usize).is_none_or(|one| one.visible);
    let is_round = move |i: u32| prepared_picture.shapes.iter().all(|one| one.0 != i) && is_visible(i);
    prepared_picture.balls.iter().copied().zip(0..).filter(move |(_, i)| is_round(*i))
}

/// The prepared scene without culling: a single tile lists every sphere, and the BVH of the occluders returns all of them.
fn whole(prepared_picture: &PreparedPicture) -> PreparedPicture {
    let mut whole = prepared_picture.clone();
    whole.occluders = prepared_picture.occluders.exhaustive();
    let patch = Patch { low: [0; 2], high: [0; 2] };
    let items: Vec<_> = round(prepared_picture).map(|(_, i)| (i, patch)).collect();
    let mut words = Vec::new();
    let grid = Grid::new(&mut words, [1, 1], 0, 0, &items);
    whole.culling = Culling::Tiles(Grid { level: 31, ..grid }, words);
    whole
}

/// The prepared scene with a BVH instead of tiles.
fn with_bvh(prepared_picture: &PreparedPicture) -> PreparedPicture {
    let bvh = BallBvh::new(round(prepared_picture)).expect("so few fit");
    PreparedPicture { culling: Culling::Bvh(bvh), ..prepared_picture.clone() }
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
        let shares = [found.rgb[i][0], found.rgb[i][1], found.rgb[i][2], found.fraction[i]];
        assert!(
            shares.iter().all(|x| (0.0..=1.0).contains(x)) && found.t[i] >= 0.0,
            "{name}: pixel {i} has {shares:?}"
        );
    }
    let lists = ReceiverLists::new(&prepared_picture).unwrap().expect("so few fit on a device");
    let [width, height] = system.picture().size;
    let (mut met, mut shaded) = (0, 0);
    let Culling::Tiles(grid, words) = &prepared_picture.culling else { panic!("{name}: no tiles") };
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let at = place([width, height], f64::from(x) + 0.5, f64::from(y) + 0.5);
        let (origin, direction) = prepared_picture.view.ray(at);
        let seen = first_body(&prepared_picture, [x, y], origin, direction);
        let listed = light_by_lists(&lists, seen).fraction as f32;
        assert_eq!(listed.to_bits(), expected.fraction[(y * width + x) as usize].to_bits(), "{name}: {x},{y} by lists");
        met += grid.list(words, x, y).len();
        // A sample of the occluder lists: some receiver, at some square.
        let receiver = &lists.receivers[(x * 7 + y) as usize % lists.receivers.len()];
        shaded += receiver.grid.list(&lists.words, x * 31 % SQUARES, y * 17 % SQUARES).len();
    }
    let pixels = f64::from(width * height);
    let share = |tests: usize, of: usize| 1.0 - tests as f64 / (pixels * of as f64).max(1.0);
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

/// A few bodies of any kind near the origin, and clouds, with light and camera near or far.
fn bodies(numbers: &mut Numbers, case: usize) -> crate::error::Result<System> {
    let distance = [4.0, 30.0, 1e4, 1e9][case % 4];
    let radius = [0.0, 0.002, 0.05, 0.5][case / 4 % 4] * numbers.unit_f64() * distance;
    let light = LightSource::new("light", Ball { center: distance * point(numbers), radius });
    let lens = match case % 3 {
        0 => Lens::Orthographic { width: 0.01 + 5.0 * numbers.unit_f64() },
        _ => Lens::Perspective { field_of_view_deg: 0.001 + 169.9 * numbers.unit_f64() },
    };
    let away = [2.0, 5.0, 40.0, 1e6][case / 16 % 4];
    let camera = Camera { position: away * point(numbers), target: point(numbers), up: point(numbers), lens };
    let picture = PictureOptions {
        size: [12, 8],
        samples: 1,
        exposure: power(numbers, -3.0, 3.0),
        ambient: numbers.unit_f64(),
        background: Color::BLACK,
        stars: numbers.unit_f64(),
        ..PictureOptions::default()
    };
    let bodies = (0..1 + case % 12).map(|_| {
        let spread = [0.0, 1.0, 3.0, 8.0][numbers.bits() as usize % 4];
        let radius = 1e-3 + 1.5 * numbers.unit_f64().powi(3);
        let (count, size) = if one_in(numbers, 4) { (6, 0.2 * radius) } else { (1, radius) };
        let balls: Vec<_> = (0..count).map(|_| Ball { center: spread * point(numbers), radius: size }).collect();
        Body {
            polar_radius: (count == 1 && one_in(numbers, 3)).then(|| radius * (0.05 + 3.0 * numbers.unit_f64())),
            pole: if one_in(numbers, 2) { DVec3::Z } else { point(numbers) },
            swirl: numbers.unit_f64(),
            casts: !one_in(numbers, 4),
            receives: !one_in(numbers, 4),
            ..Body::new("body", balls, vec![Color::WHITE, Color([0.2, 0.5, 1.0])])
        }
    });
    System::new(light, bodies.collect(), camera, picture)
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
    let mut drawn = 0;
    for case in 0..scaled(3000) {
        if let Ok(system) = bodies(&mut numbers, case) {
            same(&format!("bodies {case}"), &system);
            drawn += 1;
        }
    }
    assert!(drawn > scaled(3000) / 4, "{drawn}");
}

/// Light, occluder and receiver at any distances: no sampled point of a penumbra is left out.
#[test]
fn penumbras_lie_in_their_squares() {
    let mut numbers = Numbers(11);
    let mut touched = 0;
    for case in 0..scaled(5000) {
        let n = &mut numbers;
        let receiver = Ball::new([0.0; 3], 1.0);
        let distance = 3.0 + power(n, -2.0, 9.0);
        let size = if one_in(n, 8) { 0.0 } else { power(n, -6.0, 0.0) };
        let light = Ball { center: distance * point(n).normalize_or(DVec3::Z), radius: size * (distance - 1.5) };
        // Positions near the receiver, or near the line from it to the light.
        let along = distance * n.unit_f64().powi(3);
        let from_light = if one_in(n, 2) { DVec3::ZERO } else { along * light.center / distance };
        let center = from_light + point(n) * power(n, -1.0, 1.0);
        let occluder = Ball { center, radius: power(n, -3.0, 1.0) };
        let apart = |a: Ball, b: Ball| (a.center - b.center).length() > a.radius + b.radius;
        // Bodies of a system may overlap each other, but not the light.
        if !apart(light, occluder) || !apart(light, receiver) {
            continue;
        }
        let frame = LightFrame::new(receiver.center, receiver.radius, light);
        let (light_here, one) = (frame.light, frame.occluder(occluder));
        let patch = penumbra_patch(light_here, one);
        // Points around the centre of the shadow, in even steps to beyond its edge, and all over the receiver.
        let (middle, spread) = (one.offset, one.radius + light_here.ratio * (one.along.abs() + 1.0));
        let rings = (0..144).flat_map(|i| {
            let place = middle + DVec2::from_angle(TAU * f64::from(i % 12) / 12.0) * spread * f64::from(i / 12) / 10.0;
            let height = (1.0 - place.length_squared()).sqrt();
            [place.extend(height), place.extend(-height)].into_iter().filter(|place| place.is_finite())
        });
        for place in spiral(200).chain(rings) {
            let disc = disc_from(place, light_here);
            let cap = cap_of(place, light_here, disc, one);
            // The tolerance is larger than the rounding error of an edge that just touches another.
            if disc.power <= 0.0 || cap.radius <= 0.0 || cap.edge >= disc.radius - 1e-9 {
                continue;
            }
            touched += 1;
            let what = || format!("case {case}, {place}: light {light:?}, occluder {occluder:?}");
            assert!(may_shade(light, occluder, receiver), "no shadow at {}", what());
            let patch = patch.unwrap_or_else(|| panic!("no square at {}", what()));
            let at = square(place);
            let within = (0..2).all(|k| (patch.low[k]..=patch.high[k]).contains(&at[k]));
            assert!(within, "square {at:?} is not in {patch:?} at {}", what());
        }
    }
    assert!(touched > scaled(5000), "{touched}");
}

/// Cameras and balls at any place: no sampled pixel of a ball is left out.
#[test]
fn balls_lie_in_their_outlines() {
    let mut numbers = Numbers(13);
    let mut seen_pixels = 0;
    for _ in 0..scaled(5000) {
        let n = &mut numbers;
        let size = [1 + n.bits() % 200, 1 + n.bits() % 100];
        let lens = if one_in(n, 3) {
            Lens::Orthographic { width: power(n, -1.0, 2.0) }
        } else {
            Lens::Perspective { field_of_view_deg: 0.01 + 169.9 * n.unit_f64() }
        };
        let view = View::new(&Camera { position: DVec3::ZERO, target: DVec3::Z, up: DVec3::Y, lens }, size);
        let ball = Ball { center: point(n) * power(n, -1.0, 2.0), radius: power(n, -3.0, 1.5) };
        if ball.center.length() <= ball.radius {
            continue;
        }
        let patch = outline(&view, size, ball);
        for normal in spiral(300) {
            let point = ball.center + ball.radius * normal;
            // Points near the plane of the camera are skipped, for a perspective camera projects them to infinity.
            if view.projection == Projection::Perspective && point.z <= 1e-9 * ball.radius {
                continue;
            }
            let Some(seen) = view.projection.position(point) else { continue };
            let [width, height] = size.map(f64::from);
            let pixel = [0.5 * width * (seen.x / view.half.x + 1.0), 0.5 * height * (1.0 - seen.y / view.half.y)];
            if !(0..2).all(|k| (0.0..f64::from(size[k])).contains(&pixel[k])) {
                continue;
            }
            seen_pixels += 1;
            let patch =
                patch.unwrap_or_else(|| panic!("{ball:?} is left out, seen at {pixel:?} of {size:?} by {lens:?}"));
            let within = (0..2).all(|k| (patch.low[k]..=patch.high[k]).contains(&(pixel[k] as u32)));
            assert!(within, "{ball:?} at {pixel:?} is not in {patch:?} of {size:?} by {lens:?}");
        }
    }
    assert!(seen_pixels > scaled(5000), "{seen_pixels}");
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
        let bvh = BallBvh::new(balls.iter().copied().zip(0..)).unwrap();
        let mut members = Vec::new();
        for (around, group) in bvh.subtrees(64) {
            assert!(group.len() <= 64);
            for (ball, i) in group {
                assert!((ball.center - around.center).length() + ball.radius <= around.radius * (1.0 + 1e-14));
                members.push(*i);
            }
        }
        members.sort_unstable();
        assert!(members.into_iter().eq(0..count as u32), "{count}");
    }
}
