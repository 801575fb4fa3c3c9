//! Fuzz target for the uncovered fraction of a disc. It depends neither on the order of the caps nor on caps hidden behind others, and more
//! caps never leave more.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DVec2, DVec3};

use super::bytes::Bytes;
use crate::shadow::coverage::caps::{Cap, are_apart, covered};
use crate::shadow::coverage::disc::{OccluderSet, add, uncovered_fraction};
use crate::shadow::coverage::light::Disc;

/// Tolerance of the uncovered fraction.
const BOUND: f64 = 1e-9;
/// Tolerance of the uncovered fraction if two caps are almost equal: the crossings of their edges are then less accurate.
const NEARLY: f64 = 1e-5;

fn cap_at(separation: f64, radius: f64, azimuth: DVec2) -> Cap {
    Cap { separation, radius, edge: separation - radius, azimuth }
}

/// A cap that overlaps or touches a disc of radius `a`. It may share its radius, separation or azimuth with the cap `before`.
fn cap(bytes: &mut Bytes<'_>, a: f64, before: Cap) -> Cap {
    let choice = bytes.byte();
    if choice >= 216 {
        // Almost equal to the previous cap.
        let near = |bytes: &mut Bytes<'_>| a * bytes.signed() * 0.1_f64.powi(i32::from(bytes.byte() % 18));
        let (nearer, wider, turned) = (near(bytes), near(bytes), near(bytes));
        let radius = (before.radius + wider).clamp(1e-3 * a, FRAC_PI_2);
        let separation = (before.separation + nearer).clamp((radius - a).max(0.0), radius + a);
        let turn = DVec2::from_angle(turned / before.separation.max(a));
        return cap_at(separation, radius, before.azimuth.rotate(turn));
    }
    let radius = match choice % 6 {
        0 => FRAC_PI_2,
        1 => a,
        2 => before.radius,
        3 => a * bytes.unit().powi(4),
        4 => a * bytes.unit(),
        _ => a * (1.0 + 4.0 * bytes.unit()),
    };
    let radius = radius.clamp(1e-3 * a, FRAC_PI_2);
    let inner = (radius - a).max(0.0);
    let separation = match choice / 6 % 3 {
        0 => before.separation.clamp(inner, radius + a),
        _ => inner + (radius + a - inner) * bytes.unit(),
    };
    let azimuth = match choice / 18 % 3 {
        0 => before.azimuth,
        _ => DVec2::from_angle(TAU / 256.0 * f64::from(bytes.byte())),
    };
    cap_at(separation, radius, azimuth)
}

fn left_by<'a>(disc: Disc, caps: impl IntoIterator<Item = &'a Cap>) -> f64 {
    let mut occluder_set = OccluderSet::default();
    caps.into_iter().for_each(|cap| add(&mut occluder_set, disc, *cap));
    uncovered_fraction(&mut occluder_set, disc)
}

/// `caps`: checks the fraction of a disc that caps leave uncovered.
pub fn caps(data: &[u8]) {
    let mut bytes = Bytes(data);
    let a = [1e-4, 4.7e-3, 0.1, 1.0][bytes.below(4)];
    let disc = Disc { toward: DVec3::Z, power: 1.0, radius: a };
    let (turn, twice, share) = (usize::from(bytes.byte()), usize::from(bytes.byte()), bytes.unit());
    let mut caps = vec![cap(&mut bytes, a, cap_at(a, a, DVec2::X))];
    while !bytes.is_empty() && caps.len() < 8 {
        caps.push(cap(&mut bytes, a, caps[caps.len() - 1]));
    }
    let count = caps.len();
    let apart_by = |one: Cap, other: Cap| are_apart(one, other).max((one.radius - other.radius).abs());
    let nearly = (1..count).any(|i| caps[..i].iter().any(|before| apart_by(*before, caps[i]) < 1e-3 * a));
    let bound = if nearly { NEARLY } else { BOUND };
    let all = left_by(disc, &caps);
    assert!((0.0..=1.0).contains(&all), "{all} is left by {caps:?}");
    let same = |what: &str, found: f64| {
        assert!((found - all).abs() <= bound, "{what}: {found} instead of {all}, disc {a}, {caps:?}");
    };
    same("reversed", left_by(disc, caps.iter().rev()));
    same("turned", left_by(disc, caps.iter().cycle().skip(turn % count).take(count)));
    let one = caps[twice % count];
    same("one twice", left_by(disc, caps.iter().chain([&one])));
    let inside = cap_at(one.separation, one.radius * (1e-3 + 0.999 * share), one.azimuth);
    same("one inside another", left_by(disc, caps.iter().chain([&inside])));
    same("one inside another, first", left_by(disc, [&inside].into_iter().chain(&caps)));
    let mut before = 1.0;
    for some in 1..=count {
        let now = left_by(disc, &caps[..some]);
        assert!(now <= before + bound, "{some} caps leave {now}, one less {before}: disc {a}, {caps:?}");
        before = now;
    }
    let (single, part) = (left_by(disc, [&one]), covered(a, one));
    assert!((single + part - 1.0).abs() <= bound, "{single} is left where {part} is covered, disc {a}, {one:?}");
}
