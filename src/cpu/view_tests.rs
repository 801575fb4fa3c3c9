//! On every instruction set and for any batch size, a search with or without a BVH gives the results of a loop over all spheres.

use glam::Vec3;

use super::*;
use crate::batch::input::Spheres;
use crate::batch::sphere_set::SphereSet;
use crate::cpu::collector::Resolved;
use crate::cpu::query::kind::RayQuery;
use crate::cpu::scene::CpuScene;
use crate::intensity::scaled;
use crate::math::simd::level::SimdLevel;
use crate::numbers::Numbers;
use crate::query::kind as queries;
use crate::query::policy::{Ends, Inside, Precision, Query};
use crate::query::results::Tally;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;

/// Spheres of all sizes: some are duplicates, one is around everything, one is very far away.
fn spheres(count: usize, radius: f32, n: &mut Numbers) -> Vec<Sphere> {
    let mut spheres: Vec<Sphere> = (0..count).map(|_| Sphere::new(n.vector(), radius * n.unit())).collect();
    for i in (7..count).step_by(9) {
        spheres[i] = spheres[i - 5];
    }
    if count > 40 {
        spheres[11] = Sphere::new([0.0; 3], 5.0);
        spheres[33] = Sphere::new([3e30, 1.0, 0.0], 1e29);
    }
    spheres
}

/// Half-lines, segments, lines, origins inside spheres and far away, a few invalid rays.
fn rays(count: usize, n: &mut Numbers) -> Vec<Ray> {
    let ray = |i: usize| {
        let (from, to) = (n.vector(), n.vector());
        // From very far away every pair is undecided at `exact`, and integer arithmetic is slow.
        let far = if i.is_multiple_of(59) { 1e25 } else { [1.0, 3.0, 1e4][i * 7 % 3] };
        let ray = Ray::new(from.map(|x| x * far), std::array::from_fn::<_, 3, _>(|k| to[k] - from[k] * far));
        match i % 11 {
            0..3 => ray.between(0.0, n.unit()),
            3 => ray.line(),
            4 => ray.between(-n.unit(), 2.0 * n.unit()),
            5 => ray.between(f32::NAN, 1.0),
            _ => ray,
        }
    };
    (0..count).map(ray).collect()
}

/// Reference: a loop over all spheres.
fn slow<Q: RayQuery>(ray: &Ray, candidates: Candidates<'_>, spheres: &[Sphere], query: &Query) -> Resolved<Q::Record> {
    let mut collector = Q::collector(query, &crate::batch::sphere_set::SphereAttributes::NONE);
    (0..)
        .zip(spheres)
        .for_each(|(id, sphere)| collector.test(ray, id, crate::intersect::motion::Target::at_rest(sphere)));
    Q::finish(collector, ray, candidates)
}

fn check<Q: RayQuery<Record: bytemuck::NoUninit>>(spheres: &[Sphere], rays: &[Ray], query: &Query) {
    let mut expected: Option<Vec<Q::Record>> = None;
    let levels = SimdLevel::all().into_iter().filter(|_| !spheres.is_empty()).map(Some);
    for level in std::iter::once(None).chain(levels) {
        let bvh = level.map(|level| CpuBvh::new(spheres, level, &CancelToken::new()).unwrap());
        let scene = CpuScene::with(spheres, bvh).unwrap();
        let expected = expected.get_or_insert_with(|| {
            let slow = |ray: &Ray| {
                slow::<Q>(ray, Candidates::Scene(scene.spheres(), crate::records::RayAttributes::NONE), spheres, query)
                    .record
            };
            rays.iter().map(|ray| if ray.check().is_ok() { slow(ray) } else { Q::MISS }).collect()
        });
        for size in [1, 37, 300] {
            let (mut found, mut tally) = (Vec::new(), Tally::default());
            for rays in rays.chunks(size) {
                let (records, own) = scene.cast_rays::<Q>(rays, query);
                found.extend(records);
                tally = tally + own;
            }
            let bytes = |records: &[Q::Record]| bytemuck::cast_slice::<Q::Record, u8>(records).to_vec();
            assert_eq!(bytes(&found), bytes(expected), "{level:?} {query:?}, {size} at a time");
            assert_eq!(tally.hits, expected.iter().filter(|one| Q::is_hit(one)).count() as u64);
        }
    }
}

#[test]
fn brute_force_and_bvh_agree_with_a_plain_loop() {
    for (seed, (count, radius)) in
        [(0, 0.1), (1, 2.0), (5, 0.5), (64, 0.3), (65, 0.1), (700, 0.05), (300, 1.0)].iter().enumerate()
    {
        let n = &mut Numbers(seed as u64);
        let (spheres, rays) = (spheres(*count, *radius, n), rays(scaled(300), n));
        for precision in Precision::ALL {
            for (inside, ends) in
                [(Inside::Enter, Ends::Closed), (Inside::Exit, Ends::HalfOpen), (Inside::Ignore, Ends::Closed)]
            {
                let query = Query { inside, ends, on_bad: crate::query::policy::OnBad::Skip, ..Query::at(precision) };
                check::<queries::Closest>(&spheres, &rays, &query);
                check::<queries::Interval>(&spheres, &rays, &query);
                check::<queries::Occluded>(&spheres, &rays, &query);
            }
            check::<queries::Approach>(
                &spheres,
                &rays,
                &Query { on_bad: crate::query::policy::OnBad::Skip, ..Query::at(precision) },
            );
        }
    }
}

#[test]
fn a_scene_of_a_gpu_has_a_bvh_once_many_rays_are_undecided() {
    let n = &mut Numbers(9);
    let spheres: Vec<Sphere> = (0..300).map(|_| Sphere::new(n.vector(), 0.3 * n.unit())).collect();
    let rays = rays(200, n);
    let masks: Vec<u32> = (0..300).map(|i| 1 << (i % 3)).collect();
    let velocities: Vec<Vec3> = (0..300).map(|_| Vec3::from(n.vector())).collect();
    let (set, cancel) = (Spheres::from(&spheres).masks(&masks).velocities(&velocities), CancelToken::new());
    let set = SphereSet::new(&set, SphereAttributes::default(), [0.0, 4.0], &cancel).unwrap();
    let scene = CpuScene::for_device(true, SimdLevel::best(), set, false).unwrap();
    let query = Query::at(Precision::Exact);
    let attributes = RayAttributes { time: 3.0, mask: 5, ..RayAttributes::NONE };
    let cast = || {
        let rays = rays.iter().filter(|ray| ray.check().is_ok());
        rays.map(|ray| scene.cast_one::<queries::Closest>(0, ray, attributes, &query).unwrap().record)
            .collect::<Vec<_>>()
    };
    let plain = cast();
    assert!(plain.iter().filter(|hit| hit.is_hit()).count() > 50);
    scene.expect_rays(1);
    assert!(scene.spheres().bvh.is_none());
    scene.expect_rays(1000);
    assert!(scene.spheres().bvh.is_some());
    assert_eq!(cast(), plain);
}
