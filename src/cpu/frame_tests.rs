//! Every sphere that is left out is a certain miss: grazing pairs against integer arithmetic and against the intersection test.

use proptest::prelude::*;

use super::*;
use crate::bvh::bvh8::node::Leaf8;
use crate::cpu::accel::build_item;
use crate::cpu::traverse::certain_miss::misses;
use crate::cpu::traverse::ray_setup::tests::prepared;
use crate::intensity::scaled;
use crate::intersect::classify::{HitClass, classify};
use crate::intersect::exact::ExactRoots;
use crate::intersect::motion::Target;
use crate::intersect::resolve::resolve_pair;
use crate::intersect::{exact, sphere};
use crate::math::simd::level::SimdLevel;
use crate::query::policy::{Inside, Precision, Query, Touch};

/// A sphere relative to the ray: position along it, distance from it in radii, angle around it, radius, and the f32 steps by which its
/// numbers are changed.
#[derive(Clone, Debug)]
struct GrazingSphere {
    along: f64,
    aside: f64,
    turn: f64,
    radius: f64,
    steps: [i32; 4],
}

fn grazing_sphere() -> impl Strategy<Value = GrazingSphere> {
    let size = |low: f64, high: f64| (low..high).prop_map(f64::exp2);
    // Mostly grazing, from the inside or the outside, with a gap of 2⁻³⁴ to 2⁻³ radii.
    let aside = (any::<bool>(), size(-34.0, -3.0), 0u8..8).prop_map(|(outside, by, kind)| match kind {
        0 => 1.0,
        1 => by,
        _ if outside => 1.0 + by,
        _ => 1.0 - by,
    });
    let radius = prop_oneof![8 => size(-12.0, 2.0), 1 => size(-60.0, 10.0), 1 => Just(0.0)];
    let along = prop_oneof![6 => -4.0..4.0, 1 => -1e3..1e3, 1 => -1e6..1e6];
    (along, aside, 0.0..std::f64::consts::TAU, radius, prop::array::uniform4(-2i32..=2))
        .prop_map(|(along, aside, turn, radius, steps)| GrazingSphere { along, aside, turn, radius, steps })
}

fn step(x: impl Into<f64>, steps: i32) -> f32 {
    let mut y = x.into() as f32;
    for _ in 0..steps.unsigned_abs() {
        y = if steps > 0 { y.next_up() } else { y.next_down() };
    }
    y.clamp(-f32::MAX, f32::MAX)
}

type Parts = (([f64; 3], f64, [f64; 3]), (i32, i32), Vec<GrazingSphere>, (f32, f32));

/// Configuration of the property tests of grazing pairs. Failures are printed, not kept in files.
pub(crate) fn property_cases() -> ProptestConfig {
    ProptestConfig { cases: scaled(256) as u32, failure_persistence: None, ..ProptestConfig::default() }
}

/// A ray and spheres that it grazes, at any scale and position.
pub(crate) fn scene() -> impl Strategy<Value = (Ray, Vec<Sphere>)> {
    let place = prop_oneof![2 => Just(0.0), 1 => -3.0..3.0, 1 => -1e4..1e4];
    let start = prop_oneof![3 => -3.0..3.0, 1 => -1e5..1e5, 1 => -1e9..1e9];
    let direction = prop_oneof![6 => -1.0..1.0, 1 => Just(0.0), 1 => -1e-9..1e-9, 1 => -1e-30..1e-30];
    let frame = (prop::array::uniform3(place), start, prop::array::uniform3(direction));
    let sizes = (prop_oneof![3 => Just(0), 1 => -148i32..100], prop_oneof![3 => Just(0), 1 => -120i32..120]);
    let spheres = prop::collection::vec(grazing_sphere(), 1..70);
    let ends =
        prop_oneof![Just((0.0, f32::INFINITY)), Just((f32::NEG_INFINITY, f32::INFINITY)), (-2f32..2.0, 0f32..4.0)];
    (frame, sizes, spheres, ends).prop_filter_map("usable", |parts| {
        let ((place, start, d), (size, length), spheres, (from, stretch)): Parts = parts;
        let scale: f64 = f64::from(size).exp2();
        let d: DVec3 = DVec3::from_array(d).try_normalize()?;
        let (u, v): (DVec3, DVec3) = d.any_orthonormal_pair();
        let place: DVec3 = DVec3::from_array(place);
        let ray = Ray::new(((place + start * d) * scale).as_vec3(), (d * f64::from(length).exp2()).as_vec3());
        let ray = ray.between(from, from + stretch);
        // The line of the rounded numbers.
        let (o, hat) = (ray.origin.as_dvec3() / scale, ray.direction.as_dvec3().try_normalize()?);
        let middle = o - (o - place).dot(hat) * hat;
        let sphere = |n: &GrazingSphere| {
            let aside = n.aside * n.radius * (n.turn.cos() * u + n.turn.sin() * v);
            let c = (middle + n.along * hat + aside) * scale;
            let c = [step(c.x, n.steps[0]), step(c.y, n.steps[1]), step(c.z, n.steps[2])];
            Sphere::new(c, step(n.radius * scale, n.steps[3]).abs())
        };
        let spheres: Vec<Sphere> = spheres.iter().map(sphere).collect();
        (ray.check().is_ok() && spheres.iter().all(|s| s.check().is_ok())).then_some((ray, spheres))
    })
}

fn check_certain_misses(ray: &Ray, spheres: &[Sphere]) -> Result<(), TestCaseError> {
    for sphere in spheres.iter().filter(|sphere| misses(ray, &Target::at_rest(sphere))) {
        prop_assert!(ExactRoots::new(ray, sphere).crossing.is_lt(), "{ray:?} meets {sphere:?}");
        let solved = sphere::intersect_compensated::<false>(&sphere::scale(ray, sphere));
        prop_assert!(solved.disc < 0.0, "the intersection test says that {ray:?} meets {sphere:?}");
    }
    Ok(())
}

/// A sphere outside the segment of a prepared ray, shortened by a hit at `last`, has no hit at a `t` that counts, whatever the policies.
fn check_cull_by_ends(ray: &Ray, spheres: &[Sphere], last: f32) -> Result<(), TestCaseError> {
    let finite = ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX));
    let frame = CpuFrame::of(spheres);
    let prepared = prepared(SimdLevel::best(), &frame, &[*ray])[0];
    if prepared.margin == f32::INFINITY {
        return Ok(());
    }
    let end = match ray.t_min >= 0.0 && last < f32::MAX {
        true => prepared.far_after(ray.t_min, last),
        false => frame.parameter(ray).far(last),
    };
    let (near, far) = (prepared.near, prepared.far.min(end));
    let d = ray.direction.as_dvec3().normalize().as_vec3();
    let is_outside = |sphere: &&Sphere| {
        let (c, reach) = frame.sphere(sphere);
        let along = c.as_vec3().dot(d);
        along - reach > far || near > along + reach
    };
    for (sphere, precision) in spheres.iter().filter(is_outside).flat_map(|sphere| Precision::ALL.map(|p| (sphere, p)))
    {
        let solved = sphere::intersect_compensated::<false>(&sphere::scale(ray, sphere));
        for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
            let query = Query { inside, touch: Touch::Hit, ..Query::at(precision) };
            let found = resolve_pair(ray, Target::at_rest(sphere), &query);
            prop_assert!(found.0 != HitClass::Hit || found.1 > last, "{found:?} of {ray:?} and {sphere:?}, {last:e}");
            let undecided = precision == Precision::Exact;
            // A saturated number may stand for a larger one: `exact` resolves such a pair, as above.
            if undecided && solved.foot.abs().max(solved.t_exit.abs()) >= f32::MAX {
                continue;
            }
            let verdict = classify(&solved, &finite, &query, undecided);
            let counts = match verdict.class {
                HitClass::Hit if !undecided => verdict.t <= last,
                HitClass::Hit | HitClass::Undecided => verdict.t_lower <= last,
                HitClass::Miss | HitClass::Overflow => false,
            };
            prop_assert!(!counts, "{precision:?} {verdict:?} of {ray:?} and {sphere:?}, {last:e}");
        }
    }
    Ok(())
}

fn check_cull_by_clearance(ray: &Ray, spheres: &[Sphere], limit: f32) -> Result<(), TestCaseError> {
    let ends = ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX));
    let frame = CpuFrame::of(spheres);
    let Some((line, parameter)) = frame.prepare(ray, None) else { return Ok(()) };
    for (eight, level) in
        spheres.chunks(8).flat_map(|eight| SimdLevel::all().into_iter().map(move |level| (eight, level)))
    {
        let items: Vec<_> = eight.iter().map(|sphere| build_item(&frame, 0, sphere)).collect();
        let mut least = [0.0; 8];
        level.clearances(&Leaf8::new(&items).0, &line, &mut least);
        for (sphere, _) in eight.iter().zip(least).filter(|(_, least)| *least > parameter.limit(limit)) {
            let (_, clearance) = sphere::closest_approach::<false>(&sphere::scale(ray, sphere), ends.t_min, ends.t_max);
            prop_assert!(clearance > limit, "{clearance:e} of {ray:?} and {sphere:?}, {limit:e}");
            let (_, clearance) = exact::approach(ray, sphere);
            prop_assert!(clearance > limit, "exactly {clearance:e} of {ray:?} and {sphere:?}, {limit:e}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(property_cases())]

    #[test]
    fn culled_spheres_are_misses((ray, spheres) in scene()) {
        check_certain_misses(&ray, &spheres)?;
    }

    #[test]
    fn spheres_culled_by_the_ray_ends_have_no_hit_between_them((ray, spheres) in scene(), which: prop::sample::Index, steps in -3i32..=3) {
        let sphere = which.get(&spheres);
        let solved = sphere::intersect_compensated::<false>(&sphere::scale(&ray, sphere));
        // A few f32 steps from one of the sphere's own results.
        for last in [f32::MAX, step(solved.t_enter, steps), step(solved.foot, steps), step(solved.t_exit, steps)] {
            check_cull_by_ends(&ray, &spheres, last)?;
            // The same number as an end of the ray.
            for ends in [(ray.t_min, last), (last, ray.t_max)] {
                let ray = ray.between(ends.0, ends.1);
                if ray.check().is_ok() {
                    check_cull_by_ends(&ray, &spheres, f32::MAX)?;
                }
            }
        }
    }

    #[test]
    fn spheres_culled_by_clearance_are_farther_than_the_limit((ray, spheres) in scene(), which: prop::sample::Index, steps in -3i32..=3) {
        let (_, clearance) = exact::approach(&ray, which.get(&spheres));
        for limit in [step(clearance, steps), 0.0] {
            check_cull_by_clearance(&ray, &spheres, limit)?;
        }
    }
}
