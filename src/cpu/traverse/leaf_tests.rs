//! The leaf test for spheres at rest, against roots in f64: what it decides about spheres around the start of a ray.

use glam::Vec3;

use super::*;
use crate::cpu::accel::CpuBvh;
use crate::cpu::traverse::ray_setup::tests::prepared;
use crate::numbers::Numbers;
use crate::query::policy::Precision;
use crate::records::{Ray, Sphere};
use crate::runtime::cancel::CancelToken;

/// Positions where a ray enters and leaves a sphere that moves while the ray travels, in units of its direction.
pub(crate) fn roots(ray: &Ray, sphere: &Sphere, velocity: Vec3) -> Option<[f64; 2]> {
    let e = ray.origin.as_dvec3() - sphere.center.as_dvec3();
    let w = ray.direction.as_dvec3() - velocity.as_dvec3();
    let discriminant = w.length_squared() * f64::from(sphere.radius).powi(2) - e.cross(w).length_squared();
    (discriminant >= 0.0).then(|| [-1.0, 1.0].map(|sign| (sign * discriminant.sqrt() - e.dot(w)) / w.length_squared()))
}

/// Where the ray hits the sphere by the rules of a query; None for a miss.
fn hit(ray: &Ray, sphere: &Sphere, inside: Inside) -> Option<f64> {
    let [enter, exit] = roots(ray, sphere, Vec3::ZERO)?;
    let [start, end] = [ray.t_min, ray.t_max].map(f64::from);
    let t = match inside {
        Inside::Enter if exit >= start => enter.max(start),
        Inside::Exit | Inside::Ignore if enter >= start => enter,
        Inside::Exit if exit >= start => exit,
        _ => return None,
    };
    (t <= end).then_some(t)
}

#[test]
fn spheres_around_the_start_are_decided_as_the_policy_says() {
    let mut n = Numbers(7);
    for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
        let query = Query { inside, ..Query::at(Precision::Standard) };
        let (mut around, mut certain_around, mut dropped) = (0, 0, 0);
        for _ in 0..400 {
            let size = 10.0_f32.powf(2.0 * n.signed());
            let spheres: Vec<Sphere> =
                (0..8).map(|_| Sphere::new(Vec3::from(n.vector()) * size, size * n.unit())).collect();
            let bvh = CpuBvh::new(&spheres, SimdLevel::best(), &CancelToken::new()).unwrap();
            let (leaf, ids) = (&bvh.tree.leaves[0], &bvh.tree.ids[0]);
            for i in 0..16 {
                let direction = Vec3::from(n.vector()) * size;
                // On the surface, a little inside, and deep inside.
                let depth = [1.0, 0.999_999, 0.99, 0.5, 0.1][i % 5];
                let from = &spheres[i % 8];
                let outward = Vec3::from(n.vector()).normalize() * from.radius * depth;
                let (begin, length) = (4.0 * n.signed(), 3.0 * n.unit() * n.unit());
                let ray = Ray::new(from.center + outward - direction * begin, direction);
                let ray = ray.between(begin, if i % 3 == 0 { f32::INFINITY } else { begin + length });
                let prepared = prepared(bvh.level, &bvh.frame, &[ray]);
                let (o, d) = (bvh.frame.scaled_point(ray.origin.as_dvec3()), ray.direction.as_dvec3());
                let s_of = |t: f64| o.dot(d) / d.length() + t * d.length() * bvh.frame.scale;
                let (s_far, mut hits) = ([prepared[0].far], [LeafHits::NONE]);
                let any = bvh.level.cull_leaf(leaf, &prepared, &s_far, &[0], StartInside::of(&query), &mut hits);
                for (k, sphere) in ids.iter().enumerate().filter_map(|(k, &id)| Some((k, spheres.get(id as usize)?))) {
                    let mask = |bits: u32| any == 1 && bits >> k & 1 == 1;
                    let (candidate, certain) = (mask(hits[0].candidates), mask(hits[0].certain));
                    let truth = hit(&ray, sphere, inside);
                    let context =
                        format!("{inside:?} {ray:?} {sphere:?} {:?} {truth:?}", roots(&ray, sphere, Vec3::ZERO));
                    assert!(truth.is_none() || candidate, "{context}");
                    if certain {
                        let t = truth.unwrap_or_else(|| panic!("certain, but a miss: {context}"));
                        let (low, high) = (f64::from(hits[0].low[k]), f64::from(hits[0].high[k]));
                        assert!((low..=high).contains(&s_of(t)), "{context}: {low} {high}");
                    }
                    let contains = |r: [f64; 2]| r[0] < f64::from(ray.t_min) && r[1] > f64::from(ray.t_min);
                    if roots(&ray, sphere, Vec3::ZERO).is_some_and(contains) {
                        around += 1;
                        certain_around += usize::from(certain);
                        dropped += usize::from(!candidate);
                    }
                }
            }
        }
        // Most are deep inside, and decided.
        assert!(around > 5_000, "{around}");
        let decided = if inside == Inside::Enter { certain_around } else { certain_around + dropped };
        assert!(decided * 10 > around * 6, "{inside:?}: {decided} of {around}");
        match inside {
            Inside::Enter => assert_eq!(dropped, 0),
            Inside::Exit => assert!(certain_around > around / 5 && dropped > around / 50, "{certain_around} {dropped}"),
            Inside::Ignore => assert_eq!(certain_around, 0),
        }
    }
}
