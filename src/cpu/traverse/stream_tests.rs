//! Scenes that are hard for BVHs: the invariants are satisfied, and every result is that of brute force.

use super::*;
use crate::bvh::bvh8::node::{WIDTH, leaf_slots, tree_bytes};
use crate::cpu::query::kind::RayQuery;
use crate::cpu::scene::CpuScene;
use crate::intensity::scaled;
use crate::math::simd::level::SimdLevel;
use crate::numbers::Numbers;
use crate::query::kind as queries;
use crate::query::policy::{Ends, Inside, Query, Touch};
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;

#[path = "../../../tests/support/hard_scenes.rs"]
pub(crate) mod hard_scenes;

use hard_scenes::{SCENES, Scene, rays, spheres};

/// The records as bytes, the number of hits, and that of roots beyond f32.
pub(crate) fn results<Q: RayQuery<Record: bytemuck::NoUninit>>(
    scene: &CpuScene,
    rays: &[Ray],
    query: &Query,
) -> (Vec<u8>, u64, u64) {
    let (out, tally) = scene.cast_rays::<Q>(rays, query);
    (bytemuck::cast_slice(&out).to_vec(), tally.hits, tally.overflowed)
}

fn both<Q: RayQuery<Record: bytemuck::NoUninit>>(name: &str, scenes: &[CpuScene; 2], rays: &[Ray], query: &Query) {
    let [tree, sweep] = scenes.each_ref().map(|scene| results::<Q>(scene, rays, query));
    assert!(tree == sweep, "{name}, {query:?}: {} hits by the tree, {} by a sweep", tree.1, sweep.1);
}

fn compare(scene: &Scene, count: usize, many: usize, precisions: &[Precision]) {
    let spheres = spheres(scene, count);
    let rays = rays(&spheres, scene.2, many);
    let level = SimdLevel::best();
    let bvh = CpuBvh::new(&spheres, level, &CancelToken::new()).unwrap();
    assert_eq!(bvh.tree.check(count), Ok(()), "{}", scene.0);
    assert!(bvh.tree.bytes() <= tree_bytes(count as u64), "{}: {} bytes", scene.0, bvh.tree.bytes());
    let laid = (bvh.tree.ids.len() * WIDTH) as u64;
    assert!(laid <= leaf_slots(count as u64), "{}: {laid} places for {count} spheres", scene.0);
    let scenes = [Some(bvh), None].map(|bvh| CpuScene::with(&spheres, bvh).unwrap());
    for &precision in precisions {
        let policies = [
            (Inside::Enter, Touch::Hit, Ends::Closed),
            (Inside::Exit, Touch::Miss, Ends::HalfOpen),
            (Inside::Ignore, Touch::Hit, Ends::Closed),
        ];
        for (inside, touch, ends) in policies {
            let query = Query { inside, touch, ends, ..Query::at(precision) };
            both::<queries::Closest>(scene.0, &scenes, &rays, &query);
            both::<queries::Interval>(scene.0, &scenes, &rays, &query);
            both::<queries::Occluded>(scene.0, &scenes, &rays, &query);
        }
        both::<queries::Approach>(scene.0, &scenes, &rays, &Query::at(precision));
    }
}

#[test]
fn bvh_results_equal_brute_force() {
    for scene in &SCENES {
        // Integer arithmetic is slow: few rays at `exact`, where everything ties.
        compare(scene, 1500, scaled(150), &[Precision::Fast, Precision::Standard]);
        compare(scene, 150, scaled(25), &[Precision::Exact]);
    }
}

#[test]
fn hits_with_overflowing_roots_do_not_hide_other_hits() {
    // The roots of the large sphere overflow f32; the points are hit.
    let spheres: Vec<Sphere> =
        (0..9).map(|i| Sphere::new([0.0, 0.0, i as f32], if i == 4 { 1.2e25 } else { 0.0 })).collect();
    let ray = Ray::new([0.0; 3], [0.0, 0.0, -1e-45]);
    let rays = [ray.line(), ray.between(f32::NEG_INFINITY, 0.0), ray, Ray::new([0.0, 0.0, 1.5e25], [0.0, 0.0, -1e-45])];
    let level = SimdLevel::best();
    let bvh = CpuBvh::new(&spheres, level, &CancelToken::new()).unwrap();
    let scenes = [Some(bvh), None].map(|bvh| CpuScene::with(&spheres, bvh).unwrap());
    for precision in Precision::ALL {
        for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
            let query = Query { inside, ..Query::at(precision) };
            both::<queries::Closest>("beyond", &scenes, &rays, &query);
            both::<queries::Occluded>("beyond", &scenes, &rays, &query);
        }
    }
}

#[test]
fn a_bvh_of_a_million_identical_spheres_works() {
    compare(&SCENES[4], 1_000_000, 3, &[Precision::Standard]);
}

#[test]
fn trees_of_every_size_are_valid() {
    for scene in &SCENES {
        for count in [1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 20_000] {
            let tree = CpuBvh::new(&spheres(scene, count), SimdLevel::best(), &CancelToken::new()).unwrap().tree;
            assert_eq!(tree.check(count), Ok(()), "{count} of {}", scene.0);
        }
    }
}

#[test]
fn a_cancelled_build_stops() {
    let (spheres, cancel) = (spheres(&SCENES[1], 20_000), CancelToken::new());
    cancel.cancel();
    let stopped = CpuBvh::new(&spheres, SimdLevel::best(), &cancel).map(drop);
    assert_eq!(stopped, Err(crate::error::Error::Cancelled { done: 0 }));
}

#[test]
fn the_validator_finds_a_broken_tree() {
    let spheres = spheres(&SCENES[1], 2000);
    let broken = |what: &str, edit: &dyn Fn(&mut crate::bvh::bvh8::node::Bvh8)| {
        let mut tree = CpuBvh::new(&spheres, SimdLevel::best(), &CancelToken::new()).unwrap().tree;
        edit(&mut tree);
        let Err(error) = tree.check(2000) else { panic!("not found: {what}") };
        assert!(error.contains(what), "{error}");
    };
    broken("out of reach", &|tree| tree.nodes.push(tree.nodes[0]));
    broken("met twice", &|tree| tree.ids[3][2] = tree.ids[4][1]);
    broken("leaves the box", &|tree| tree.leaves[5].x.iter_mut().for_each(|x| *x += 0.1));
    broken("leaves its parent's", &|tree| tree.nodes[1].bounds[1][2].iter_mut().for_each(|z| *z += 1.0));
    broken("out of its order", &|tree| tree.nodes[1].order[5] ^= 1);
    broken("at depth", &|tree| tree.depth -= 1);
    broken("promised", &|tree| tree.depth += 1);
    broken("half empty", &|tree| {
        for node in &mut tree.nodes {
            (0..WIDTH)
                .filter(|&i| node.children[i].kind() == ChildRef::Nothing)
                .for_each(|i| node.bounds[1][0][i] = 0.0);
        }
    });
}
