//! The union of overlapping occluders, and the irradiance of the ground.

use std::f64::consts::TAU;

use super::*;
use crate::intensity::scaled;
use crate::numbers::Numbers;
use crate::shadow::coverage::caps::{Cap, are_apart, covered};

/// A cap that overlaps or touches a disc of radius `a`, and often shares a part with the cap `before`, or is almost equal to it.
fn cap_after(numbers: &mut Numbers, a: f64, before: Cap) -> Cap {
    if numbers.unit_f64() < 0.15 {
        let mut near = || a * (2.0 * numbers.unit_f64() - 1.0) * 0.1_f64.powf((18.0 * numbers.unit_f64()).floor());
        let (nearer, wider, turned) = (near(), near(), near());
        let radius = (before.radius + wider).clamp(1e-3 * a, FRAC_PI_2);
        let separation = (before.separation + nearer).clamp((radius - a).max(0.0), radius + a);
        let turn = DVec2::from_angle(turned / before.separation.max(a));
        return cap_at(separation, radius, before.azimuth.rotate(turn));
    }
    let radius = match (6.0 * numbers.unit_f64()) as u32 {
        0 => FRAC_PI_2,
        1 => a,
        2 => before.radius,
        3 => a * numbers.unit_f64().powi(4),
        4 => a * numbers.unit_f64(),
        _ => a * (1.0 + 4.0 * numbers.unit_f64()),
    };
    let radius = radius.clamp(1e-3 * a, FRAC_PI_2);
    let inner = (radius - a).max(0.0);
    let separation = match (6.0 * numbers.unit_f64()) as u32 {
        0 | 1 => before.separation.clamp(inner, radius + a),
        2 => inner,
        3 => radius + a,
        _ => inner + (radius + a - inner) * numbers.unit_f64(),
    };
    let turn = DVec2::from_angle(TAU / 256.0 * (256.0 * numbers.unit_f64()).floor());
    cap_at(separation, radius, if numbers.unit_f64() < 0.3 { before.azimuth } else { turn })
}

fn cap_at(separation: f64, radius: f64, azimuth: DVec2) -> Cap {
    Cap { separation, radius, edge: separation - radius, azimuth }
}

fn left_by<'a>(disc: Disc, caps: impl IntoIterator<Item = &'a Cap>) -> f64 {
    let mut occluder_set = OccluderSet::default();
    caps.into_iter().for_each(|cap| add(&mut occluder_set, disc, *cap));
    uncovered_fraction(&mut occluder_set, disc)
}

/// The part that is left depends neither on the order of the caps nor on caps hidden behind others, and more caps leave no more.
#[test]
fn the_order_of_caps_and_hidden_ones_do_not_matter() {
    for case in 0..scaled(20_000) {
        let mut numbers = Numbers(case as u64);
        let a = [1e-4, 4.7e-3, 0.1, 1.0][case % 4];
        let disc = Disc { toward: DVec3::Z, power: 1.0, radius: a };
        let mut caps = vec![cap_after(&mut numbers, a, cap_at(a, a, DVec2::X))];
        while caps.len() < 1 + case / 4 % 8 {
            caps.push(cap_after(&mut numbers, a, caps[caps.len() - 1]));
        }
        let count = caps.len();
        // The crossings of the edges of caps that are almost equal are less accurate.
        let apart_by = |one: Cap, other: Cap| are_apart(one, other).max((one.radius - other.radius).abs());
        let nearly = (1..count).any(|i| caps[..i].iter().any(|before| apart_by(*before, caps[i]) < 1e-3 * a));
        let bound = if nearly { 1e-5 } else { 1e-9 };
        let all = left_by(disc, &caps);
        assert!((0.0..=1.0).contains(&all), "case {case}: {all} is left by {caps:?}");
        let same = |what: &str, found: f64| {
            assert!((found - all).abs() <= bound, "case {case}, {what}: {found} instead of {all}, disc {a}, {caps:?}");
        };
        let one = caps[(count as f64 * numbers.unit_f64()) as usize];
        let inside = cap_at(one.separation, one.radius * (1e-3 + 0.999 * numbers.unit_f64()), one.azimuth);
        same("reversed", left_by(disc, caps.iter().rev()));
        same("turned", left_by(disc, caps.iter().cycle().skip(case / 32 % count).take(count)));
        same("one twice", left_by(disc, caps.iter().chain([&one])));
        same("one inside another", left_by(disc, caps.iter().chain([&inside])));
        same("one inside another, first", left_by(disc, [&inside].into_iter().chain(&caps)));
        let fractions: Vec<f64> = (0..=count).map(|some| left_by(disc, &caps[..some])).collect();
        assert!(
            fractions.is_sorted_by(|before, now| *now <= before + bound),
            "case {case}: {fractions:?}, disc {a}, {caps:?}"
        );
        let (single, part) = (left_by(disc, [&one]), covered(a, one));
        assert!((single + part - 1.0).abs() <= bound, "{single} is left where {part} is covered, disc {a}, {one:?}");
    }
}

#[test]
fn irradiance_is_the_integral_of_the_cosine_over_the_part_above_the_horizon() {
    let rings = 2000;
    for radius in [0.0047, 0.05, 0.5, 1.2] {
        for step in 0..=12 {
            // Height of the light's centre: from just below the point where its rim rises to well above the horizon.
            let height = radius * (-1.05 + 0.2 * f64::from(step));
            if height > FRAC_PI_2 {
                continue;
            }
            let light = Light { inverse_distance: 1e-9, ratio: f64::sin(radius) };
            let normal = DVec3::new(height.cos(), 0.0, height.sin());
            let disc = disc_from(normal, light);
            let ground = horizon_cap(normal, light, disc, normal);
            assert!((ground.edge - height).abs() < 1e-8 && (disc.radius - radius).abs() < 1e-8);
            // Rings around the light's centre: along each, the cosine is h + k cos φ, clipped where it is negative.
            let mut sum = 0.0;
            for ring in 0..rings {
                let away = radius * (f64::from(ring) + 0.5) / f64::from(rings);
                let (h, k) = (height.sin() * away.cos(), height.cos() * away.sin());
                let phi = (-h / k).clamp(-1.0, 1.0).acos();
                sum += 2.0 * (h * phi + k * phi.sin()) * away.sin();
            }
            let integral = sum * radius / f64::from(rings);
            // At the zenith it would be π sin² a.
            let expected = integral / (PI * radius.sin() * radius.sin());
            let got = irradiance(disc, ground);
            assert!((got - expected).abs() < 2e-6 * (1.0 + radius), "{radius} {height}: {got} {expected}");
        }
    }
}
