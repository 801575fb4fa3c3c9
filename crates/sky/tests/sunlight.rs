//! When Earth and Moon hide the Sun: against closed forms, against 50-digit arithmetic, and against solar eclipses.

use std::f64::consts::TAU;

use umbracast::glam::{DMat3, DVec3};
use umbracast::shadow::ShadowKind::{self, Antumbra, Penumbra, Umbra};
use umbracast::shadow::{Ball, ShadowRow, Spheroid};
use umbracast_sky::{
    AU_KM, DeltaT, Frame, Place, Radii, ShadowInterval, Sky, SkyBody, SkyOptions, Sunlight, Time, Trajectory,
    TrajectoryState, shadow_intervals,
};
use umbracast_testing::cpu;

use super::{instant, number, rows, sky, solar};

const SUN_KM: f64 = 695_700.0;
const EARTH_KM: f64 = 6_378.137;
/// Product of the mass of the Earth and the constant of gravitation, in km³/s².
const GM: f64 = 398_600.441_8;

/// Equally spaced times.
fn samples(count: usize, step: f64) -> Vec<f64> {
    (0..count).map(|i| i as f64 * step).collect()
}

/// The intervals around a body at the origin, in front of a light at rest.
fn found(times: &[f64], light: DVec3, body: Spheroid, at: impl Fn(f64) -> DVec3) -> Vec<ShadowInterval> {
    shadow_intervals(times, &|_, time, row: &mut ShadowRow| {
        *row = ShadowRow::new(at(time), Ball::new(light, SUN_KM), [body]);
    })
}

fn kinds(found: &[ShadowInterval]) -> Vec<ShadowKind> {
    found.iter().map(|one| one.kind).collect()
}

/// The times from the middle of the passage at which a circular orbit of radius `r` crosses the cones of a round Earth: outer, and inner if it
/// does. `tilt` is the angle between the light and the plane of the orbit.
fn closed_form(r: f64, tilt: f64) -> [Option<f64>; 2] {
    let rate = (GM / r.powi(3)).sqrt();
    // On a cone with its apex at `apex` from the Earth towards the light and this sine of the half-angle, at s behind the Earth:
    // r² − s² = tan² (s + apex)².
    let crossing = |sum: f64| {
        let sine = sum / AU_KM;
        let (apex, square) = (AU_KM * EARTH_KM / sum, sine * sine / (1.0 - sine * sine));
        let (a, b, c) = (1.0 + square, square * apex, square * apex * apex - r * r);
        let s = -c / (b + (b * b - a * c).sqrt());
        let cosine = s / (r * tilt.cos());
        (cosine < 1.0).then(|| cosine.acos() / rate)
    };
    // The inner cone has its apex behind the Earth: the sum of the radii is their difference, of the other sign.
    let inner = {
        let sine = (SUN_KM - EARTH_KM) / AU_KM;
        let (apex, square) = (AU_KM * EARTH_KM / (SUN_KM - EARTH_KM), sine * sine / (1.0 - sine * sine));
        let (a, b, c) = (1.0 + square, -square * apex, square * apex * apex - r * r);
        let s = (-b + (b * b - a * c).sqrt()) / a;
        let cosine = s / (r * tilt.cos());
        (s < apex && cosine < 1.0).then(|| cosine.acos() / rate)
    };
    [crossing(SUN_KM + EARTH_KM), inner]
}

#[test]
fn circular_orbits_about_a_round_earth_agree_with_the_closed_form() {
    let mut worst = 0.0_f64;
    let (mut grazing, mut total) = (0, 0);
    for r in [6_700.0, 7_500.0, 12_000.0, 26_560.0, 42_164.0, 300_000.0] {
        let widest = (EARTH_KM / r).asin();
        // From the middle of the shadow to an orbit that misses it, densely where it only grazes the penumbra.
        let tilts = (0..20)
            .map(|i| widest * f64::from(i) / 20.0)
            .chain((0..60).map(|i| widest * 0.985 + 0.0006 * f64::from(i)));
        for tilt in tilts {
            let rate = (GM / r.powi(3)).sqrt();
            let middle = 0.43 * TAU / rate + 3.7;
            let light = DVec3::X * AU_KM;
            let at = |time: f64| {
                let (sine, cosine) = (rate * (time - middle)).sin_cos();
                // The middle of the passage is on the side away from the light.
                r * DVec3::new(-cosine * tilt.cos(), sine, cosine * tilt.sin())
            };
            let times = samples(91, TAU / rate / 90.0);
            let found = found(&times, light, Ball::new([0.0; 3], EARTH_KM).into(), at);
            let mut expected: Vec<f64> = Vec::new();
            let [outer, inner] = closed_form(r, tilt);
            for half in [outer, inner].into_iter().flatten() {
                expected.extend([middle - half, middle + half]);
            }
            expected.sort_by(f64::total_cmp);
            let is_short = expected.windows(2).any(|pair| pair[1] - pair[0] < 2e-3);
            if is_short {
                continue;
            }
            let kinds = kinds(&found);
            match (outer, inner) {
                (None, _) => assert!(found.is_empty(), "{r} {tilt}: {found:?}"),
                (Some(_), None) => assert_eq!(kinds, [Penumbra], "{r} {tilt}: {found:?}"),
                (Some(_), Some(_)) => assert_eq!(kinds, [Penumbra, Umbra, Penumbra], "{r} {tilt}: {found:?}"),
            }
            grazing += usize::from(inner.is_none() && outer.is_some_and(|half| 2.0 * half < times[1]));
            total += usize::from(inner.is_some());
            let ends: Vec<f64> = found.iter().map(|one| one.begins).chain(found.last().map(|one| one.ends)).collect();
            assert_eq!(ends.len(), expected.len());
            for (found, expected) in ends.iter().zip(&expected) {
                worst = worst.max((found - expected).abs());
                assert!((found - expected).abs() < 1e-6, "{r} {tilt}: {found} for {expected}");
            }
        }
    }
    println!("worst {worst:.1e} s; {grazing} shorter than a step, {total} with umbra");
    // Some of the passages are shorter than the step of the samples.
    assert!(grazing >= 10 && total > 100, "{grazing} {total}");
}

#[test]
fn an_orbit_may_start_and_end_in_a_shadow() {
    let (r, light) = (7_000.0_f64, DVec3::X * AU_KM);
    let rate = (GM / r.powi(3)).sqrt();
    let at = |time: f64| r * DVec3::new(-(rate * time).cos(), (rate * time).sin(), 0.0);
    let [outer, inner] = closed_form(r, 0.0).map(Option::unwrap);
    let found = found(&samples(61, TAU / rate / 60.0), light, Ball::new([0.0; 3], EARTH_KM).into(), at);
    assert_eq!(kinds(&found), [Umbra, Penumbra, Penumbra, Umbra]);
    let known: Vec<[bool; 2]> = found.iter().map(|one| [one.begins_earlier, one.ends_later]).collect();
    assert_eq!(known, [[true, false], [false, false], [false, false], [false, true]]);
    assert_eq!(found[0].begins, 0.0);
    assert!((found[0].ends - inner).abs() < 1e-6 && (found[1].ends - outer).abs() < 1e-6, "{found:?}");
    assert!((found[3].ends - TAU / rate).abs() < 1e-6);
    // All of the time in the umbra, and one sample.
    let still = |_: f64| DVec3::new(-r, 0.0, 0.0);
    let round = Ball::new([0.0; 3], EARTH_KM).into();
    let dark = self::found(&samples(5, 60.0), light, round, still);
    assert_eq!(kinds(&dark), [Umbra]);
    assert!(dark[0].begins_earlier && dark[0].ends_later && dark[0].ends == 240.0);
    assert!(self::found(&[0.0], light, round, still).is_empty() && self::found(&[], light, round, still).is_empty());
}

#[test]
fn a_body_smaller_than_the_light_has_an_antumbra() {
    // A planet in transit: it enters the disc, is inside it, and leaves it. Then one that only crosses the rim.
    let light = DVec3::Z * AU_KM;
    let body = |x: f64| Ball::new([x, 0.0, 0.3 * AU_KM], 6_000.0);
    for (aside, expected) in [
        (0.0, &[Penumbra, Antumbra, Penumbra][..]),
        (0.3 * (SUN_KM - 2_000.0), &[Penumbra]),
        (0.3 * (SUN_KM + 40_000.0), &[]),
    ] {
        let times = samples(41, 20_000.0);
        let found = shadow_intervals(&times, &|_, time, row: &mut ShadowRow| {
            let ball = Ball { center: body(time - 400_500.0).center + DVec3::Y * aside, ..body(0.0) };
            *row = ShadowRow::new([0.0; 3], Ball::new(light, SUN_KM), [ball.into()]);
        });
        assert_eq!(kinds(&found), expected, "{aside}: {found:?}");
        if let [enters, inside, leaves] = &found[..] {
            // Contacts where the separation is the sum or the difference of the angular radii.
            let [sun, own] = [(SUN_KM / AU_KM).asin(), 6_000.0 / (0.3 * AU_KM)];
            let half = |radius: f64| 0.3 * AU_KM * radius.tan();
            for (found, expected) in [
                (enters.begins, 400_500.0 - half(sun + own)),
                (inside.begins, 400_500.0 - half(sun - own)),
                (inside.ends, 400_500.0 + half(sun - own)),
                (leaves.ends, 400_500.0 + half(sun + own)),
            ] {
                // The body is nearer at the middle of its straight path: by 10⁻⁵ of its distance.
                assert!((found - expected).abs() < 1.0, "{found} {expected}");
            }
        }
    }
}

/// A body that is inside the disc only between two samples, at both of which it is on the rim: as are the samples next to them.
#[test]
fn a_body_may_be_inside_the_disc_between_two_samples() {
    let (disc, own) = (0.01_f64, 0.006_f64);
    let body = |x: f64| Ball::new([1e3 * x.tan(), 0.0, 1e3], 1e3 * own.sin() / x.cos());
    let light = Ball::new([0.0, 0.0, 1e9], 1e9 * disc.sin());
    let times = [-0.012, -0.005, 0.005, 0.012];
    let found = shadow_intervals(&times, &|i, time, row: &mut ShadowRow| {
        // Each row is asked for within its step.
        assert!(times[i] <= time && time <= times[i + 1], "{i} {time}");
        *row = ShadowRow::new([0.0; 3], light, [body(time).into()]);
    });
    assert_eq!(kinds(&found), [Penumbra, Antumbra, Penumbra], "{found:?}");
    assert!((found[1].begins + disc - own).abs() < 1e-6 && (found[1].ends - disc + own).abs() < 1e-6, "{found:?}");
}

/// Flat bodies that pass the disc between a few samples: wherever the visible fraction is less than 1, there is an interval.
#[test]
fn flat_bodies_are_found_between_few_samples() {
    let mut seed = 1_u64;
    let mut random = |low: f64, high: f64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (device, mut missed, mut short) = (cpu(), 0, 0);
    for _ in 0..6_000 {
        let (radius, polar) = (100.0, random(1.0, 60.0));
        let disc = random(0.1, 20.0);
        let height = polar + disc - random(0.0, 1.0).powi(3) * 0.4 * polar;
        let (step, shift) = (random(30.0, 300.0), random(-0.5, 0.5));
        let times: Vec<f64> = (-2..=2).map(|i| (f64::from(i) + shift) * step).collect();
        let write = |time: f64, row: &mut ShadowRow| {
            let light = Ball::new([0.0, 0.0, 1e9], 1e6 * disc);
            let body = Spheroid::new([time, height, 1e3], radius, polar, DVec3::Y);
            *row = ShadowRow::new([0.0; 3], light, [body]);
        };
        let found = shadow_intervals(&times, &|_, time, row: &mut ShadowRow| write(time, row));
        let at: Vec<f64> =
            (-40..=40).map(|i| f64::from(i) * 0.5).filter(|at| *at > times[0] && *at < times[4]).collect();
        let seen = device.shadows_by_row(at.len(), &|i, row| write(at[i], row)).unwrap();
        let is_hidden = seen.iter().any(|one| one.shadow.fraction < 1.0 - 1e-9);
        short += usize::from(is_hidden && found.iter().all(|one| one.ends - one.begins < step));
        missed += usize::from(is_hidden && found.is_empty());
    }
    assert!(missed == 0 && short > 100, "{missed} {short}");
}

#[test]
fn an_oblate_earth_agrees_with_fifty_digits() {
    let table = rows("sky/contacts.csv", "radius_km,inclination_deg,node_deg,declination_deg,contact,time_s");
    let mut cases: Vec<([f64; 4], Vec<f64>)> = Vec::new();
    for [r, inclination, node, declination, contact, time] in &table {
        assert!(["outer", "inner"].contains(&contact.as_str()));
        let case = [r, inclination, node, declination].map(|text| number(text));
        match cases.last_mut() {
            Some((last, times)) if *last == case => times.push(number(time)),
            _ => cases.push((case, vec![number(time)])),
        }
    }
    let mut worst = 0.0_f64;
    for ([r, inclination, node, declination], expected) in &cases {
        let rate = (GM / r.powi(3)).sqrt();
        let (sine, cosine) = declination.to_radians().sin_cos();
        let light = AU_KM * DVec3::new(cosine, 0.0, sine);
        let turn = DMat3::from_rotation_z(node.to_radians()) * DMat3::from_rotation_x(inclination.to_radians());
        let at = |time: f64| turn * (r * DVec3::new((rate * time).cos(), (rate * time).sin(), 0.0));
        let earth = Spheroid::new([0.0; 3], EARTH_KM, 6_356.752_314_2, DVec3::Z);
        let found = found(&samples(97, TAU / rate / 96.0), light, earth, at);
        let mut ends: Vec<f64> = found.iter().flat_map(|one| [one.begins, one.ends]).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let inner: Vec<f64> = ends.into_iter().filter(|time| *time > 0.0 && *time < TAU / rate - 1e-3).collect();
        assert_eq!(inner.len(), expected.len(), "{r} {inclination}: {inner:?} {expected:?}");
        for (found, expected) in inner.iter().zip(expected) {
            worst = worst.max((found - expected).abs());
            assert!((found - expected).abs() < 1e-6, "{r} {inclination}: {found} for {expected}");
        }
    }
    println!("worst {worst:.1e} s of {} contacts", table.len());
    assert!(table.len() >= 24, "{}", table.len());
}

/// A circular orbit in the axes of the GCRS, with velocities or without.
fn orbit(r: f64, start: Time, count: usize, step: f64, has_velocity: bool) -> Vec<TrajectoryState> {
    let rate = (GM / r.powi(3)).sqrt();
    let turn = DMat3::from_rotation_z(0.6) * DMat3::from_rotation_x(0.9);
    (0..count)
        .map(|i| {
            let seconds = i as f64 * step;
            let (sine, cosine) = (rate * seconds).sin_cos();
            let velocity = turn * (r * rate * DVec3::new(-sine, cosine, 0.0));
            TrajectoryState {
                time: start.plus(seconds),
                position: turn * (r * DVec3::new(cosine, sine, 0.0)),
                velocity: has_velocity.then_some(velocity),
            }
        })
        .collect()
}

/// Begins and ends of the intervals, with body and kind.
fn ends(sunlight: &Sunlight, path: usize) -> Vec<(usize, ShadowKind, f64, f64)> {
    sunlight.intervals()[path].iter().map(|one| (one.body, one.kind, one.begins, one.ends)).collect()
}

fn assert_near(a: &[(usize, ShadowKind, f64, f64)], b: &[(usize, ShadowKind, f64, f64)], allowed: f64) {
    assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
    for (a, b) in a.iter().zip(b) {
        assert!(a.0 == b.0 && a.1 == b.1, "{a:?} {b:?}");
        assert!((a.2 - b.2).abs() < allowed && (a.3 - b.3).abs() < allowed, "{a:?} {b:?}");
    }
}

/// The steps, velocities and axes of the input do not matter: an interpolated orbit has the intervals of a dense one.
#[test]
fn intervals_do_not_depend_on_the_samples() {
    let sky = sky(69.0, Radii::IAU);
    let start = instant("2026-03-21T05:00:00Z");
    let with = |step: f64, has_velocity: bool| {
        let states = orbit(7_000.0, start, (30_000.0 / step) as usize + 1, step, has_velocity);
        Trajectory::new("a", Frame::Gcrs, states).unwrap()
    };
    let paths = [with(5.0, true), with(60.0, true), with(60.0, false), with(240.0, true), with(240.0, false)];
    let sunlight = Sunlight::new(&sky, &paths).unwrap();
    let dense = ends(&sunlight, 0);
    assert!(dense.len() >= 12, "{dense:?}");
    for (path, allowed) in [(1, 1e-5), (2, 1e-5), (3, 1e-3), (4, 2e-2)] {
        assert_near(&ends(&sunlight, path), &dense, allowed);
        let error = Sunlight::new(&sky, &paths[path..=path]).unwrap().check().interpolation_error_km.unwrap();
        println!("{path}: {error:e} km");
        assert!(error < 30.0 * allowed, "{path}: {error}");
    }
    // The same orbit in axes that rotate. Those of a span of eight hours are fixed, which moves a place by less than a metre.
    let turned = paths[1].states().iter().map(|state| {
        let fixed = |seconds: f64| {
            let (time, velocity) = (state.time.plus(seconds), state.velocity.unwrap());
            sky.to_earth_fixed(state.position + velocity * seconds, time)
        };
        let velocity = (fixed(0.5) - fixed(-0.5)) / 1.0;
        TrajectoryState { position: fixed(0.0), velocity: Some(velocity), ..*state }
    });
    let turned = Trajectory::new("a", Frame::Itrf, turned.collect()).unwrap();
    assert_near(&ends(&Sunlight::new(&sky, &[turned]).unwrap(), 0), &dense, 2e-3);
}

/// States in TEME and in the GCRS, by Skyfield, are at the same places, and move alike.
#[test]
fn states_of_two_line_elements_agree_with_skyfield() {
    let columns = "time,teme_x,teme_y,teme_z,teme_vx,teme_vy,teme_vz";
    let gcrs = "gcrs_x,gcrs_y,gcrs_z,gcrs_vx,gcrs_vy,gcrs_vz";
    let (own, other) = (rows::<7>("sky/teme.csv", columns), rows::<6>("sky/teme.csv", gcrs));
    let sky = Sky::new(SkyOptions::default());
    let mut row = ShadowRow::new([0.0; 3], Ball::new([0.0; 3], 1.0), []);
    // The position in the axes of date after some seconds, between two states without acceleration.
    let mut after = |frame: Frame, time: Time, cells: &[String], seconds: f64| {
        let numbers: Vec<f64> = cells.iter().map(|cell| number(cell)).collect();
        let (at, velocity) = (DVec3::from_slice(&numbers), DVec3::from_slice(&numbers[3..]));
        let state = TrajectoryState { time, position: at + velocity * seconds, velocity: Some(velocity) };
        let path = Trajectory::new("", Frame::from_name(&format!("{frame:?}")).unwrap(), vec![state]).unwrap();
        Sunlight::new(&sky, &[path]).unwrap().row(0, 0, &mut row);
        row.observer
    };
    for ([time, teme @ ..], gcrs) in own.iter().zip(&other) {
        for seconds in [0.0, 60.0] {
            let [a, b] = [(Frame::Teme, &teme[..]), (Frame::Gcrs, &gcrs[..])]
                .map(|(frame, cells)| after(frame, instant(time), cells, seconds));
            // The equinox is fixed for eight hours, in which it moves by 0.05 arcseconds.
            assert!(a.distance(b) < 1.5e-7 * a.length(), "{time}: {} m", 1e3 * a.distance(b));
        }
    }
    assert_eq!(own.len(), 8);
}

/// States at the edges of a gap may fit each other well. The estimate also covers the inside of the gap.
#[test]
fn a_gap_is_part_of_the_estimated_error() {
    let sky = sky(69.0, Radii::IAU);
    let start = instant("2026-03-21T05:00:00Z");
    // Two days: more than a thousand states, not all of which are tested.
    for has_velocity in [true, false] {
        let whole = orbit(7_000.0, start, 2_880, 60.0, has_velocity);
        let error = |states: &[TrajectoryState]| {
            let path = Trajectory::new("a", Frame::Gcrs, states.to_vec()).unwrap();
            Sunlight::new(&sky, &[path]).unwrap().check().interpolation_error_km.unwrap()
        };
        assert!(error(&whole) < 0.01, "{}", error(&whole));
        // Six hours in the middle, at the beginning and at the end.
        for first in [1_001, 1, 2, 2_519] {
            let with_gap = [&whole[..first], &whole[first + 360..]].concat();
            let found = error(&with_gap);
            assert!(found > 10.0, "{first} {has_velocity}: {found}");
        }
        // One missing state does no harm.
        let with_hole = [&whole[..1_001], &whole[1_002..]].concat();
        assert!(error(&with_hole) < 0.01, "{has_velocity}: {}", error(&with_hole));
        // As few states as an estimate needs, with a gap.
        let few = [&whole[..2], &whole[362..363]].concat();
        assert!(error(&few) > 10.0, "{has_velocity}: {}", error(&few));
    }
}

/// The polynomial of Lagrange through the eight positions nearest to a step, in the middle if there are as many on either side.
fn lagrange(states: &[TrajectoryState], step: usize, time: Time) -> DVec3 {
    let first = (step + 1).saturating_sub(4).min(states.len() - 8);
    let nodes = &states[first..first + 8];
    let x = |one: &TrajectoryState| one.time.seconds_since(time);
    let weight = |i: usize| -> f64 {
        (0..8).filter(|j| *j != i).map(|j| x(&nodes[j]) / (x(&nodes[j]) - x(&nodes[i]))).product()
    };
    (0..8).map(|i| weight(i) * nodes[i].position).sum()
}

/// However long the step: an eclipse that begins and ends between two states is found on the path through them, and none where states are lit.
#[test]
fn eclipses_inside_gaps_are_found() {
    let sky = sky(69.0, Radii::IAU);
    let start = instant("2026-03-21T05:00:00Z");
    let whole = orbit(6_790.0, start, 200, 60.0, false);
    let light = |states: Vec<TrajectoryState>| {
        let path = Trajectory::new("a", Frame::Gcrs, states).unwrap();
        Sunlight::new(&sky, &[path]).unwrap()
    };
    let (mut hidden, mut gaps) = (0, 0);
    for first in (4..60).step_by(3) {
        for length in [20, 30, 34, 37, 40, 44, 50, 60] {
            let states = [&whole[..first], &whole[first + length..]].concat();
            let (from, to) = (states[first - 1].time, states[first].time);
            // The path by another formula, as states of its own; a path through the Earth is none.
            let inner = (1..600).map(|i| from.plus(f64::from(i) / 600.0 * to.seconds_since(from)));
            let inner: Vec<TrajectoryState> = inner
                .map(|time| TrajectoryState { time, position: lagrange(&states, first - 1, time), velocity: None })
                .collect();
            let Ok(path) = Trajectory::new("b", Frame::Gcrs, inner.clone()) else { continue };
            let expected = Sunlight::new(&sky, &[path]).unwrap();
            let row = |i: usize, row: &mut ShadowRow| expected.row(0, i, row);
            let seen = cpu().shadows_by_row(inner.len(), &row).unwrap();
            let found = &light(states).intervals()[0];
            for (state, seen) in inner.iter().zip(&seen) {
                let at = state.time.seconds_since(start);
                // The Moon is away; a contact is not tested.
                let near = found.iter().any(|one| (one.begins - at).abs().min((one.ends - at).abs()) < 1e-3);
                let own =
                    found.iter().find(|one| one.begins < at && at < one.ends).map_or(ShadowKind::Lit, |one| one.kind);
                assert!(near || own == seen.shadow.kind, "{first} {length}: {own:?} for {:?} at {at}", seen.shadow);
                hidden += usize::from(own == Umbra);
            }
            gaps += 1;
        }
    }
    assert!(gaps > 60 && hidden > 5_000, "{gaps} {hidden}");
}

/// A line that passes the centre of the Earth at 5,700 km, at 1 km/s, whose states below 6,500 km are missing.
#[test]
fn a_path_through_the_earth_is_a_doubt() {
    let sky = sky(69.0, Radii::IAU);
    let start = instant("2026-03-20T12:00:00Z");
    let line = |lowest: f64, step: f64| {
        let states = (0..=(43_200.0 / step) as usize).map(|i| {
            let seconds = i as f64 * step;
            let position = DVec3::new(0.0, seconds - 21_600.0, 5_700.0);
            TrajectoryState { time: start.plus(seconds), position, velocity: Some(DVec3::Y) }
        });
        Trajectory::new("line", Frame::Gcrs, states.filter(|one| one.position.length() > lowest).collect()).unwrap()
    };
    let path = line(6_500.0, 60.0);
    let sunlight = Sunlight::new(&sky, std::slice::from_ref(&path)).unwrap();
    let doubts = sunlight.check().doubts;
    // The depth where the line is nearest to the pole: 6378.1 - 5700 * 6378.1 / 6356.8 km; the axis of date is not z.
    let depth: f64 = doubts[0].split("the Earth, ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((depth - 659.0).abs() < 2.0, "{doubts:?}");
    assert!(
        doubts.len() == 1
            && doubts[0]
                .starts_with("the path of 'line' from 2026-03-20T17:07:00Z to 2026-03-20T18:53:00Z goes through"),
        "{doubts:?}"
    );
    // All states are in light, and no interval says otherwise.
    let row = |i: usize, row: &mut ShadowRow| sunlight.row(0, i, row);
    let seen = cpu().shadows_by_row(path.states().len(), &row).unwrap();
    let found = &sunlight.intervals()[0];
    for (state, seen) in path.states().iter().zip(&seen) {
        let at = state.time.seconds_since(path.states()[0].time);
        assert!(
            seen.shadow.kind == ShadowKind::Lit && !found.iter().any(|one| one.begins < at && at < one.ends),
            "{at} {found:?}"
        );
    }
}

/// How far the interpolated path is from the orbit, by another formula, and what the estimate says about it.
#[test]
fn the_estimate_holds_at_coarse_steps_and_at_the_ends() {
    let sky = sky(69.0, Radii::IAU);
    let start = instant("2026-03-21T05:00:00Z");
    for (step, count) in [(240.0, 60), (600.0, 40), (900.0, 30), (1_200.0, 25), (1_800.0, 20)] {
        let states = orbit(6_790.0, start, count, step, false);
        let dense = orbit(6_790.0, start, count * 20, step / 20.0, false);
        let within = (0..dense.len() - 20).filter(|i| i % 20 > 0);
        let error =
            within.map(|i| lagrange(&states, i / 20, dense[i].time).distance(dense[i].position)).fold(0.0, f64::max);
        let path = Trajectory::new("a", Frame::Gcrs, states).unwrap();
        let estimate = Sunlight::new(&sky, &[path]).unwrap().check().interpolation_error_km.unwrap();
        println!("{step} s: {error:.3} km, estimate {estimate:.3} km");
        assert!((0.6..1.5).contains(&(estimate / error)), "{step}: {error} km, estimate {estimate} km");
    }
}

/// Velocities that are not those of the positions are refused, or the estimate knows about them.
#[test]
fn velocities_are_compared_with_the_positions() {
    let sky = sky(69.0, Radii::IAU);
    let start = instant("2026-03-21T05:00:00Z");
    let good = orbit(6_790.0, start, 300, 60.0, true);
    let turn = DVec3::Z * 7.292_115e-5;
    let with = |change: &dyn Fn(&TrajectoryState) -> DVec3| {
        let states = good.iter().map(|one| TrajectoryState { velocity: Some(change(one)), ..*one });
        Trajectory::new("a", Frame::Gcrs, states.collect())
    };
    let own = |one: &TrajectoryState| one.velocity.unwrap();
    for (name, change) in [
        ("none", &(|_: &TrajectoryState| DVec3::ZERO) as &dyn Fn(&TrajectoryState) -> DVec3),
        ("reversed", &|one: &TrajectoryState| -own(one)),
        ("relative to the Earth", &|one: &TrajectoryState| own(one) - turn.cross(one.position)),
        ("km/min", &|one: &TrajectoryState| own(one) * 60.0),
    ] {
        let error = with(change).unwrap_err().to_string();
        let words = "velocities do not belong to these positions (frame, unit?)";
        assert!(error.contains(words) && error.contains("state 1: velocity is ["), "{name}: {error}");
    }
    // At coarse steps and next to gaps, correct velocities are accepted.
    for step in [60.0, 600.0, 1_200.0, 1_800.0] {
        Trajectory::new("a", Frame::Gcrs, orbit(6_790.0, start, 40, step, true)).unwrap();
    }
    // A slow object each second, with positions in whole metres.
    let slow = (0..100).map(|i| {
        let drift = (10.0 * f64::from(i) * 0.777).round() * 1e-3;
        let velocity = Some(DVec3::Z * 0.00777);
        TrajectoryState { time: start.plus(f64::from(i)), position: DVec3::new(6_410.0, 0.0, drift), velocity }
    });
    Trajectory::new("balloon", Frame::Itrf, slow.collect()).unwrap();
    // Below 2%, the velocities are believed, and displace the path: one of 0.1 km/s by 3.28 km in the last minute, by a solution in Python.
    let slip = with(&|one| own(one) + DVec3::X * 0.1).unwrap();
    let check = Sunlight::new(&sky, &[slip]).unwrap().check();
    assert!((2.5..4.5).contains(&check.interpolation_error_km.unwrap()), "{check:?}");
    // At a gap of 41 minutes, the path is wrong by 2.56 km, by the same solution. Digits that are rounded matter little.
    let rounded = |one: &TrajectoryState| TrajectoryState { position: (one.position * 1e6).round() * 1e-6, ..*one };
    let gap = [&good[..15], &good[55..70]].concat().iter().map(rounded).collect();
    let check = Sunlight::new(&sky, &[Trajectory::new("a", Frame::Gcrs, gap).unwrap()]).unwrap().check();
    assert!((2.0..3.5).contains(&check.interpolation_error_km.unwrap()), "{check:?}");
    // An impulse of 1 km/s: two states of 35 differ.
    let fired = |one: &TrajectoryState| {
        let more = (one.time.seconds_since(start) - 9_000.0).max(0.0);
        let burn = DVec3::Z * if more > 0.0 { 1.0 } else { 0.0 };
        TrajectoryState { position: one.position + burn * more, velocity: Some(own(one) + burn), ..*one }
    };
    let path = Trajectory::new("a", Frame::Gcrs, good[120..155].iter().map(fired).collect()).unwrap();
    let error = Sunlight::new(&sky, &[path]).unwrap().check().interpolation_error_km.unwrap();
    assert!(error > 1.0, "{error}");
}

/// Two states are joined, but nothing is known about the error between them.
#[test]
fn objects_of_two_states_have_no_estimate() {
    let sky = sky(69.0, Radii::IAU);
    let start = instant("2026-03-21T05:00:00Z");
    let of = |count: usize| Trajectory::new("a", Frame::Gcrs, orbit(7_000.0, start, count, 60.0, false)).unwrap();
    let sunlight = Sunlight::new(&sky, &[of(2), of(1), of(20), of(2), of(0)]).unwrap();
    let words =
        |objects: &str| format!("{objects} only two states: too few to estimate the error of the path between them");
    assert_eq!(sunlight.check().doubts, [words("2 objects have")]);
    let sunlight = Sunlight::new(&sky, &[of(2), of(1)]).unwrap();
    let check = sunlight.check();
    assert_eq!((check.doubts, check.interpolation_error_km), (vec![words("1 object has")], None));
}

/// A place on the ground is an object, too. Its contacts are those of the solar eclipse, which another part of the library computes.
#[test]
fn the_moon_hides_the_sun_at_the_contacts_of_a_solar_eclipse() {
    let sky = Sky::new(SkyOptions { delta_t: DeltaT::Table, ..SkyOptions::default() });
    for (date, latitude, longitude, middle) in [
        ("2024-04-08", 25.2896, -104.1479, "2024-04-08T16:30:00Z"),
        ("2023-10-14", 11.3, -83.0, "2023-10-14T15:45:00Z"),
    ] {
        let place = Place::new(latitude, longitude, 1_000.0).unwrap();
        let local = solar(&sky, date).circumstances(&place);
        let expected: Vec<Time> = [&local.c1, &local.c2, &local.c3, &local.c4]
            .into_iter()
            .map(|contact| contact.as_ref().unwrap().time)
            .collect();
        let start = instant(middle);
        let position = place_km(&place);
        let states = (0..250).map(|i| TrajectoryState {
            time: start.plus(60.0 * f64::from(i)),
            position,
            velocity: (i < 1000).then_some(DVec3::ZERO),
        });
        let path = Trajectory::new("place", Frame::Itrf, states.collect()).unwrap();
        let sunlight = Sunlight::new(&sky, &[path]).unwrap();
        let moon: Vec<ShadowInterval> =
            sunlight.intervals().remove(0).into_iter().filter(|one| one.body == 1).collect();
        let inner = if date == "2024-04-08" { Umbra } else { Antumbra };
        assert_eq!(kinds(&moon), [Penumbra, inner, Penumbra], "{moon:?}");
        assert_eq!(Sunlight::BODIES[1], SkyBody::Moon);
        for (found, expected) in [moon[0].begins, moon[1].begins, moon[1].ends, moon[2].ends].iter().zip(&expected) {
            let apart = start.plus(*found).seconds_since(*expected);
            println!("{date}: {apart:.4} s");
            // Circumstances subtract the place from a distance in the barycentric frame: up to 16 m, or 0.03 s.
            assert!(apart.abs() < 0.04, "{date}: {apart}");
        }
        // In the middle of totality nothing is left of the Sun.
        let middle = (0.5 * (moon[1].begins + moon[1].ends) / 60.0) as usize;
        let row = |_: usize, row: &mut ShadowRow| sunlight.row(0, middle, row);
        let seen = cpu().shadows_by_row(1, &row).unwrap()[0].shadow;
        assert_eq!(seen.kind, inner);
    }
}

/// Points 15 km inside and outside the Moon's umbra, 122 km above its surface, from the geometric positions of Sun and Moon in the barycentric frame,
/// where the shadow needs 0.4 ms to the points. At the quarters the Moon's distance in that frame is 39 km less than in the Earth's.
#[test]
fn objects_near_the_moon_are_in_its_shadow_at_the_quarters() {
    let sky = Sky::new(SkyOptions::default());
    for (position, expected) in
        [([-9_336.130, -346_784.986, -189_824.518], Umbra), ([-9_247.310, -343_738.051, -188_156.425], ShadowKind::Lit)]
    {
        let time = instant("2025-03-22T12:16:00Z");
        let state = TrajectoryState { time, position: position.into(), velocity: None };
        let path = Trajectory::new("orbiter", Frame::Itrf, vec![state]).unwrap();
        let sunlight = Sunlight::new(&sky, &[path]).unwrap();
        let row = |_: usize, row: &mut ShadowRow| sunlight.row(0, 0, row);
        assert_eq!(cpu().shadows_by_row(1, &row).unwrap()[0].shadow.kind, expected);
    }
}

/// The position of a place in axes that rotate with the Earth.
fn place_km(place: &Place) -> DVec3 {
    let (a, b) = SkyBody::Earth.radii_km();
    let (latitude, longitude, height) =
        (place.latitude.to_radians(), place.longitude.to_radians(), 1e-3 * place.height_m);
    let square = 1.0 - (b / a).powi(2);
    let n = a / (1.0 - square * latitude.sin().powi(2)).sqrt();
    let across = (n + height) * latitude.cos();
    DVec3::new(across * longitude.cos(), across * longitude.sin(), (n * (1.0 - square) + height) * latitude.sin())
}

#[test]
fn states_that_cannot_be_are_refused() {
    let start = instant("2026-03-21T05:00:00Z");
    let good = orbit(7_000.0, start, 5, 60.0, true);
    let refused = |change: &dyn Fn(&mut Vec<TrajectoryState>)| {
        let mut states = good.clone();
        change(&mut states);
        Trajectory::new("a", Frame::Gcrs, states).unwrap_err().to_string()
    };
    for (words, error) in [
        ("state 3: time is 0 s after the state before it", refused(&|states| states[3].time = states[2].time)),
        ("state 2: time is -60 s after", refused(&|states| states.swap(1, 2))),
        (
            "state 4: time is 90000 s after the state before it: states may be at most a day apart",
            refused(&|states| states[4].time = states[3].time.plus(90_000.0)),
        ),
        ("state 1: z is NaN", refused(&|states| states[1].position.z = f64::NAN)),
        // A low orbit in metres.
        (
            "state 1: position is 6871000 km from the centre: it must be within 4 million km",
            refused(&|states| states[1].position = DVec3::new(0.0, 4_122_600.0, 5_496_800.0)),
        ),
        // Julian dates as seconds.
        (
            "state 1: position is 452.7 km from the state before it, 6.944e-4 s earlier: it is faster than 1000 km/s",
            refused(&|states| {
                for (i, state) in states.iter_mut().enumerate() {
                    state.time = start.plus(i as f64 / 1_440.0);
                }
            }),
        ),
        ("velocity is [7600, 0, 0]: its", refused(&|states| states[0].velocity = Some(DVec3::X * 7600.0))),
        (
            "state 2: position is 6371 km from the centre: it is inside the Earth",
            refused(&|states| states[2].position = DVec3::X * 6371.0),
        ),
        ("state 2: velocity is missing", refused(&|states| states[2].velocity = None)),
        ("state 1: velocity is given", refused(&|states| states[0].velocity = None)),
        (
            "state 1: velocity is [NaN, 0, 0]",
            refused(&|states| states[1].velocity = Some(DVec3::new(f64::NAN, 0.0, 0.0))),
        ),
        ("state 0: time is", refused(&|states| states[0].time = Time::from_tt_seconds(1e11))),
        ("state 0: time is NaN", refused(&|states| states[0].time = Time::from_tt_seconds(f64::NAN))),
    ] {
        assert!(error.contains(words), "{error} for {words}");
    }
    for (name, frame) in [
        ("GCRF", Frame::Gcrs),
        ("EME2000", Frame::Gcrs),
        ("ITRF2014", Frame::Itrf),
        ("itrf-97", Frame::Itrf),
        (" itrs", Frame::Itrf),
    ] {
        assert_eq!(Frame::from_name(name).unwrap(), frame);
    }
    for name in ["tod", "itrfx", "", "itrf20000"] {
        assert!(Frame::from_name(name).unwrap_err().to_string().contains("expected gcrs"), "{name}");
    }
}
