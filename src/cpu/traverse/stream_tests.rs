//! Trees over scenes that are hard for BVHs: their invariants hold, and the validator finds broken ones.

use super::*;
use crate::bvh::bvh8::node::{Bvh8, ChildRef, WIDTH, leaf_slots, tree_bytes};
use crate::math::simd::level::SimdLevel;
use crate::numbers::Numbers;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;

#[path = "../../../tests/support/hard_scenes.rs"]
pub(crate) mod hard_scenes;

use hard_scenes::{SCENES, spheres};

#[test]
fn trees_of_every_size_are_valid() {
    for scene in &SCENES {
        for count in [1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 20_000] {
            check(scene.0, &spheres(scene, count));
        }
    }
    check("a million identical spheres", &spheres(&SCENES[4], 1_000_000));
}

fn check(name: &str, spheres: &[Sphere]) {
    let tree = CpuBvh::new(spheres, SimdLevel::best(), &CancelToken::new()).unwrap().tree;
    let count = spheres.len();
    assert_eq!(tree.check(count), Ok(()), "{count} of {name}");
    assert!(tree.bytes() <= tree_bytes(count as u64), "{count} of {name}: {} bytes", tree.bytes());
    let laid = (tree.ids.len() * WIDTH) as u64;
    assert!(laid <= leaf_slots(count as u64), "{name}: {laid} places for {count} spheres");
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
    let broken = |what: &str, edit: &dyn Fn(&mut Bvh8)| {
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
