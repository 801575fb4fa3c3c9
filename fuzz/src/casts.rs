//! Queries: exact results are compared with integer arithmetic, standard results with their error bounds, and the tree with a sweep.

use std::cmp::Ordering;

use arbitrary::{Result, Unstructured};
use umbracast::exact::{self, ExactRoots, Root};
use umbracast::{Ends, Hit, Inside, Precision, Query, Ray, Scene, SceneOptions, Sphere, Touch};
use umbracast_testing::oracle;

use crate::{Style, below, cpu, number, vector};

/// Unit roundoff of f32.
const U: f64 = 1.0 / (1 << 24) as f64;

/// The input encodes policies, spheres and rays.
pub(crate) fn casts(u: &mut Unstructured<'_>) -> Result<()> {
    let style = *u.choose(&[Style::Lattice, Style::Tame, Style::Wild])?;
    let (policies, copies, count) = (usize::from(u.arbitrary::<u8>()?), below(u, 8)?, 1 + below(u, 8)?);
    let policy = Query::new()
        .inside([Inside::Enter, Inside::Exit, Inside::Ignore][policies % 3])
        .touch([Touch::Hit, Touch::Miss][policies / 3 % 2])
        .ends([Ends::Closed, Ends::HalfOpen][policies / 6 % 2]);
    let mut spheres = Vec::new();
    for _ in 0..count {
        spheres.push(Sphere::new(vector(u, style)?, number(u, style)?.abs()));
    }
    // Shifted copies in rows give the tree many spheres. They cost few input bytes and few exact (integer) roots.
    for copy in 1..=3 * copies.saturating_sub(4) {
        for i in 0..count {
            let moved = Sphere { center: spheres[i].center + copy as f32 * 0.75, ..spheres[i] };
            spheres.extend(moved.check().is_ok().then_some(moved));
        }
    }
    let mut rays = Vec::new();
    while !u.is_empty() && rays.len() < 4 {
        let ray = Ray::new(vector(u, style)?, vector(u, style)?);
        let (a, b) = (number(u, style)?, number(u, style)?);
        let ray = match below(u, 4)? {
            0 => ray,
            1 => ray.line(),
            2 => ray.between(a.min(b), f32::INFINITY),
            _ => ray.between(a.min(b), a.max(b)),
        };
        rays.extend(ray.check().is_ok().then_some(ray));
    }
    if rays.is_empty() {
        return Ok(());
    }
    let scenes = [1, usize::MAX]
        .map(|from| cpu().scene(&spheres, &SceneOptions::default().tree_from(from)).expect("the input is valid"));
    for precision in Precision::ALL {
        let query = policy.precision(precision);
        let [tree, sweep] = scenes.each_ref().map(|scene| answers(scene, &rays, &query));
        assert_eq!(tree, sweep, "{query:?}, {rays:?}, {spheres:?}");
    }
    exactly(&scenes[0], &rays, &policy.precision(Precision::Exact));
    // f64 is accurate enough to check the bounds only for numbers of moderate size.
    if style != Style::Wild {
        for ray in &rays {
            for sphere in &spheres[..count] {
                within_bounds(ray, sphere, &policy.precision(Precision::Standard));
            }
        }
    }
    Ok(())
}

/// Runs all queries, checks that they agree with each other, and returns their results as text, which has every bit.
fn answers(scene: &Scene, rays: &[Ray], query: &Query) -> String {
    let closest = scene.closest(rays, query).expect("the input is valid");
    let interval = scene.interval(rays, query).expect("the input is valid");
    let approach = scene.approach(rays, query).expect("the input is valid");
    let occluded = scene.occluded(rays, query).expect("the input is valid");
    let count = scene.count(rays, query).expect("the input is valid");
    let all = scene.all(rays, query).expect("the input is valid");
    let nearest = scene.nearest(rays, 2, query).expect("the input is valid");
    let points: Vec<[f32; 3]> = rays.iter().map(|ray| ray.origin.to_array()).collect();
    let contains = scene.contains(&points, query).expect("the input is valid");
    for (i, ray) in rays.iter().enumerate() {
        let what = || format!("{query:?}, {ray:?}, {:?}", scene.spheres());
        let list = all.get(i).expect("as many");
        assert_eq!(list.len(), count[i] as usize, "count: {}", what());
        assert_eq!(closest[i].id, list.first().map_or(Hit::MISS.id, |first| first.id), "{list:?}, {}", what());
        assert_eq!(occluded.get(i), Some(closest[i].is_hit()), "occluded: {}", what());
        assert_eq!(interval[i].id, closest[i].id, "interval: {}", what());
        assert_eq!(nearest.get(i).expect("as many"), &list[..list.len().min(2)], "nearest: {}", what());
        assert!(closest[i].is_hit() == closest[i].t.is_finite(), "{:?}: {}", closest[i], what());
        let within = closest[i].t >= ray.t_min && closest[i].t <= ray.t_max;
        assert!(within || !closest[i].is_hit(), "{:?}: {}", closest[i], what());
        if let Some(first) = list.first().filter(|_| query.precision < Precision::Exact) {
            assert_eq!(first.hit_t(ray, query.inside).to_bits(), closest[i].t.to_bits(), "{first:?}: {}", what());
        }
    }
    let lists = (&all.offsets, &all.records, &nearest.records);
    format!(
        "{:?}",
        (closest.records, interval.records, approach.records, occluded.words, count.records, contains.records, lists)
    )
}

/// Compares the exact results of a scene with integer arithmetic.
fn exactly(scene: &Scene, rays: &[Ray], query: &Query) {
    let spheres = scene.spheres();
    let hits = scene.closest(rays, query).expect("the input is valid");
    let passes = scene.approach(rays, query).expect("the input is valid");
    for ((ray, hit), pass) in rays.iter().zip(hits.iter()).zip(passes.iter()) {
        assert_eq!(*hit, oracle::closest(ray, spheres, query), "{query:?}, {ray:?}, {spheres:?}");
        let least = spheres.iter().map(|sphere| exact::approach(ray, sphere)).map(|(t, clearance)| (clearance, t));
        let least = least.min_by(|a, b| a.partial_cmp(b).expect("numbers"));
        assert_eq!(Some((pass.clearance, pass.t)), least, "{ray:?}, {spheres:?}");
    }
}

/// Checks the guarantees of `standard` for one pair.
fn within_bounds(ray: &Ray, sphere: &Sphere, query: &Query) {
    let (found, truth) = (ray.hit(sphere, query), oracle::hit(ray, sphere, query));
    let (e, d) = (sphere.center.as_dvec3() - ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let (r, length) = (f64::from(sphere.radius), d.length());
    let b = (e - e.dot(d) / (length * length) * d).length();
    let roots = ExactRoots::new(ray, sphere);
    let clear_of_tangency = (b - r).abs() > 2_f64.powi(-40) * (r + e.length());
    if roots.crossing != Ordering::Greater {
        assert!(truth.is_some() == found.is_some() || !clear_of_tangency, "{query:?}, {ray:?}, {sphere:?}: {found:?}");
        return;
    }
    let both = [Root::Enter, Root::Exit].map(|root| roots.round_f64(root));
    let half = 0.5 * (both[1] - both[0]) * length;
    let bounds = both.map(|t| 8.0 * U * (t.abs() * length + r * r / half) / length);
    let near = |t: f64, bound: f64| found.is_some_and(|hit| (f64::from(hit.t) - t).abs() <= bound);
    let ends = [ray.t_min, ray.t_max].map(f64::from);
    let clear_of_ends = both.iter().zip(bounds).all(|(t, bound)| ends.iter().all(|end| (t - end).abs() > bound));
    let what = || format!("{query:?}, {ray:?}, {sphere:?}: {found:?}, truth {truth:?}, roots {both:?}, {bounds:?}");
    if clear_of_tangency && clear_of_ends {
        assert_eq!(found.is_some(), truth.is_some(), "{}", what());
    }
    if let (Some(_), Some(t)) = (found, truth) {
        // If a root lies within its bound of an end of the ray, either root is accepted.
        let other = !clear_of_ends && both.into_iter().zip(bounds).any(|(root, bound)| near(root, bound));
        assert!(near(t.into(), bounds[0].max(bounds[1])) || other, "{}", what());
    }
}
