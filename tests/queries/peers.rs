//! Ray–sphere test cases from the test suites of 20 other projects (`tests/data/peer_cases.jsonl`). Every case of a supported kind
//! is tested under that project's own policies, on every device and as a single pair.
//!
//! The cases are f64; each input is rounded once to f32. Two bounds on the difference of a time follow: the tolerance that the
//! case itself states, and the effect of that rounding, derived at [`Case::reach`].

use std::f64::consts::PI;

use super::peer_cases::{COVERED, Case, cases, vector};
use umbracast::exact::{ExactRoots, Root};
use umbracast::glam::DVec3;
use umbracast::{Approach, Ellipsoids, Hit, Interval, Query, Ray, Sphere, Spheres};
use umbracast_testing::{byte_precisions, devices};

pub(super) const U: f64 = 1.0 / 16_777_216.0;

#[derive(Default, Debug, PartialEq)]
struct Tally {
    flags: usize,
    /// Rays that are tangent to an ellipsoid, or start or end on it.
    grazing: usize,
    /// The number of those whose hit flag is nevertheless the stated one.
    agreed: usize,
    /// Compared values that the project states: times, points, normals and angles.
    stated: usize,
    /// Compared roots of the equation in f64, which most projects do not state.
    roots: usize,
}

/// Checks the results for a case of a kind that has hits and misses.
fn check_case(case: &Case, hit: Option<Hit>, interval: Option<Interval>, tally: &mut Tally, who: &str) {
    let what = format!("{who} {} {:?}: {hit:?} {interval:?}", case.id, case.query);
    assert_eq!(interval.is_some(), hit.is_some(), "{what}");
    if case.kind == "normal" || case.kind == "incidence" || case.kind == "ricochet" {
        check_geometry(case, hit.unwrap_or_else(|| panic!("{what}")), tally, &what);
        return;
    }
    if case.grazes() {
        tally.grazing += 1;
        tally.agreed += usize::from(hit.is_some() == case.hit());
        return;
    }
    assert_eq!(hit.is_some(), case.hit(), "{what}");
    tally.flags += 1;
    let (Some(hit), Some(interval)) = (hit, interval) else { return };
    let found = [f64::from(interval.t_enter), f64::from(interval.t_exit)];
    let Some(roots) = case.roots() else {
        // The rounded inputs hit the sphere and the given ones do not: compare with exact integer arithmetic.
        let exact = ExactRoots::new(&case.ray, &case.sphere);
        assert_eq!(found, [Root::Enter, Root::Exit].map(|root| f64::from(exact.round_f64(root) as f32)), "{what}");
        return;
    };
    let near = |t: f64, truth: f64, tolerance: f64| {
        assert!((t - truth).abs() <= tolerance, "{what}: {t} for {truth} ± {tolerance}");
    };
    // The bounds of both roots in our unit.
    let root_bound = roots.map(|t| case.root_bound(t, roots) / case.scale);
    for i in 0..2 {
        near(found[i], roots[i], root_bound[i]);
        tally.roots += 1;
    }
    // The time of the hit is the start or one of the roots.
    let t = f64::from(hit.t);
    let start = f64::from(case.ray.t_min);
    assert!(t == start || t == found[0] || t == found[1], "{what}");
    // Compare with the values that the project states.
    let (tolerance, scale) = (case.tolerance(), case.scale);
    for (key, value) in case.expected.as_object().unwrap() {
        let truth = value.as_f64();
        match key.as_str() {
            "hit" | "tol" => continue,
            // This is the time of the hit, whichever root it is.
            "t" => near(t * scale, truth.unwrap(), tolerance.max(root_bound[0].max(root_bound[1]) * scale)),
            "t0" => near(found[0] * scale, truth.unwrap(), tolerance.max(root_bound[0] * scale)),
            "t1" => near(found[1] * scale, truth.unwrap(), tolerance.max(root_bound[1] * scale)),
            "start" => near(t, truth.unwrap(), 0.0),
            "t0_sign" => assert_eq!(found[0].signum(), truth.unwrap(), "{what}"),
            "t1_sign" => assert_eq!(found[1].signum(), truth.unwrap(), "{what}"),
            "ts" => {
                let end = f64::from(case.ray.t_max);
                let inside: Vec<f64> = found.into_iter().filter(|t| start <= *t && *t < end).collect();
                let list: Vec<f64> = value.as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
                assert_eq!(inside.len(), list.len(), "{what}");
                assert_eq!(t, inside[0], "{what}");
                for (t, truth) in inside.into_iter().zip(list) {
                    near(t, truth, tolerance.max(root_bound[0].max(root_bound[1])));
                }
            }
            "point" => {
                let length = case.ray.direction.as_dvec3().length();
                let off = (hit.point(&case.ray, &case.sphere).as_dvec3() - vector(value)).length();
                assert!(off <= tolerance.max(root_bound[0].max(root_bound[1]) * length), "{what}: {off}");
            }
            "points" => {
                for ((t, point), root_bound) in found.into_iter().zip(value.as_array().unwrap()).zip(root_bound) {
                    let hit = Hit { t: t as f32, id: 0 };
                    let off = (hit.point(&case.ray, &case.sphere).as_dvec3() - vector(point)).length();
                    let length = case.ray.direction.as_dvec3().length();
                    assert!(off <= tolerance.max(root_bound * length), "{what}: {off}");
                }
            }
            "normal" | "normal_towards_target" => {
                let outward = hit.normal(&case.ray, &case.sphere).as_dvec3();
                let normal = if key == "normal" { outward } else { -outward };
                assert!((normal - vector(value)).length() <= tolerance.min(1e-6), "{what}: {normal}");
            }
            other => panic!("{what}: unknown expected value {other}"),
        }
        tally.stated += 1;
    }
}

/// Checks angles, normals and reflected directions. The cases allow up to half a degree; here errors of a few f32 roundings are
/// allowed.
fn check_geometry(case: &Case, hit: Hit, tally: &mut Tally, what: &str) {
    let attributes = hit.attributes(&case.ray, &case.sphere);
    let (normal, direction) = (attributes.normal.as_dvec3(), case.ray.direction.as_dvec3().normalize());
    for (key, value) in case.expected.as_object().unwrap() {
        let (found, truth, tolerance) = match key.as_str() {
            "hit" | "tol" => continue,
            "normal" => (normal, vector(value), 1e-6),
            "point" => (attributes.point.as_dvec3(), vector(value), 1e-5),
            "dir_out" => (direction - 2.0 * direction.dot(normal) * normal, vector(value), 1e-6),
            "angle_to_normal_deg" => (
                DVec3::X * f64::from(attributes.incidence_rad),
                DVec3::X * value.as_f64().unwrap() * (PI / 180.0),
                1e-6,
            ),
            other => panic!("{what}: unknown expected value {other}"),
        };
        assert!((found - truth).length() <= tolerance, "{what} {key}: {found} for {truth}");
        assert!(tolerance <= case.tolerance(), "{what}: the project's tolerance is smaller than ours");
        tally.stated += 1;
    }
}

/// Checks the closest approach: gap, point or squared distance, as the project states it.
fn check_approach(case: &Case, found: Approach, tally: &mut Tally, who: &str) {
    let what = format!("{who} {}: {found:?}", case.id);
    let r = f64::from(case.sphere.radius);
    let exact = &case.verify["exact"];
    let (t, distance) = (exact["t"].as_f64().unwrap(), exact["dist"].as_f64().unwrap());
    let length = case.ray.direction.as_dvec3().length();
    let e = (case.sphere.center - case.ray.origin).as_dvec3().length();
    // The distance is a difference of the inputs: it changes by at most as much as they do, and is rounded once.
    let off = 1.01 * (case.moved + (t.abs() * length + e) * case.turned);
    assert!((f64::from(found.t) - t).abs() * length <= off + U * t.abs() * length, "{what} t {t}");
    let clearance = f64::from(found.clearance);
    assert!((clearance - (distance - r)).abs() <= off + U * (distance - r).abs(), "{what} distance {distance}");
    tally.roots += 2;
    let tolerance = case.tolerance().max(off + U * (distance + r));
    for (key, value) in case.expected.as_object().unwrap() {
        let wrong = match key.as_str() {
            "tol" => continue,
            "gap_to_ball" => (clearance.max(0.0) - value.as_f64().unwrap()).abs(),
            "dist2" => ((clearance + r).powi(2) - value.as_f64().unwrap()).abs() / (2.0 * distance).max(1.0),
            "point" => (case.ray.point_at(found.t).as_dvec3() - vector(value)).length(),
            other => panic!("{what}: unknown expected value {other}"),
        };
        assert!(wrong <= tolerance, "{what} {key}: off by {wrong}, {tolerance} allowed");
        tally.stated += 1;
    }
}

/// The number of comparisons in one pass over all cases.
const COMPARED: Tally = Tally { flags: 501, grazing: 0, agreed: 0, stated: 164, roots: 566 };
const COMPARED_WITH_ELLIPSOIDS: Tally = Tally { flags: 732, grazing: 84, agreed: 82, stated: 194, roots: 730 };

#[test]
fn peer_cases_agree_as_single_pairs() {
    let mut tally = Tally::default();
    for case in cases().into_iter().filter(|case| case.ellipsoid.is_none()) {
        if case.kind == "closest_approach" {
            check_approach(&case, case.ray.approach(&case.sphere).unwrap(), &mut tally, "alone");
            continue;
        }
        let hit = case.ray.hit(&case.sphere, &case.query);
        let interval = hit.map(|hit| {
            let (t_enter, t_exit) = case.ray.roots(&case.sphere).expect("a hit has roots");
            Interval { t_enter, t_exit, id: hit.id }
        });
        check_case(&case, hit, interval, &mut tally, "alone");
    }
    assert_eq!(tally, COMPARED);
}

#[test]
fn peer_cases_agree_in_batches_on_every_device() {
    let cases = cases();
    for device in devices() {
        let mut tally = Tally::default();
        let mut groups: Vec<(Query, &str, Vec<&Case>)> = Vec::new();
        for case in &cases {
            let group_kind = match case.kind.as_str() {
                "closest_approach" => "nearest",
                _ if case.ellipsoid.is_some() => "ellipsoids",
                _ => "spheres",
            };
            match groups.iter_mut().find(|(query, other, _)| *query == case.query && *other == group_kind) {
                Some((_, _, group)) => group.push(case),
                None => groups.push((case.query, group_kind, vec![case])),
            }
        }
        for (query, group_kind, group) in &groups {
            let spheres: Vec<Sphere> = group.iter().map(|case| case.sphere).collect();
            let rays: Vec<Ray> = group.iter().map(|case| case.ray).collect();
            let ellipsoids = Ellipsoids::new(group.iter().filter_map(|case| case.ellipsoid));
            let given = if ellipsoids.is_empty() { Spheres::from(&spheres) } else { (&ellipsoids).into() };
            let pairs = device.pairwise(given, &Default::default()).unwrap();
            if *group_kind == "nearest" {
                let found = pairs.approach(&rays, query).unwrap();
                for (case, approach) in group.iter().zip(found.iter()) {
                    check_approach(case, *approach, &mut tally, device.name());
                }
                continue;
            }
            let hits = pairs.closest(&rays, query).unwrap();
            let both = pairs.interval(&rays, query).unwrap();
            let occluded = pairs.occluded(&rays, query).unwrap();
            let attributes = (*group_kind == "spheres").then(|| pairs.attributes(&rays, &hits, query).unwrap());
            for (i, case) in group.iter().enumerate() {
                if let Some(attributes) = &attributes {
                    // NaN of a miss is itself here.
                    let alone = hits[i].attributes(&case.ray, &case.sphere);
                    assert_eq!(format!("{:?}", attributes[i]), format!("{alone:?}"), "{} {}", device.name(), case.id);
                }
                assert_eq!(occluded.get(i), Some(hits[i].is_hit()), "{} {}", device.name(), case.id);
                let interval = both[i].is_hit().then_some(both[i]);
                check_case(case, hits[i].is_hit().then_some(hits[i]), interval, &mut tally, device.name());
            }
        }
        println!("{}: {} groups of equal policies, {tally:?}", device.name(), groups.len());
        // How many grazing rays a peer and the device decide alike depends on the device's rounding.
        let agreed = if byte_precisions(device).len() > 1 { tally.agreed } else { COMPARED_WITH_ELLIPSOIDS.agreed };
        assert_eq!(Tally { agreed, ..tally }, COMPARED_WITH_ELLIPSOIDS);
    }
    for (kind, count) in COVERED {
        println!("{kind}: {count} cases");
    }
    println!("{} cases", cases.len());
}
