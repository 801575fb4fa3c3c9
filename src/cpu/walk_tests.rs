//! Scenes that trees are bad at: the invariants hold, and every answer is that of a sweep over all spheres.

use super::*;
use crate::cpu::index::Index;
use crate::cpu::level::Level;
use crate::cpu::{Batch, CpuQuery, CpuScene};
use crate::emit::Source;
use crate::query::{Ends, Inside, Query, Touch};
use crate::records::{Approach, Hit, Interval};
use crate::tree::tree_bytes;
use crate::watch::Watch;

struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }
    fn vector(&mut self) -> [f32; 3] {
        std::array::from_fn(|_| 2.0 * self.unit() - 1.0)
    }
}

/// A scene's name, what makes its spheres, and from how far rays come.
type Scene = (&'static str, fn(usize, &mut Numbers) -> Sphere, f32);

const SCENES: [Scene; 11] = [
    ("mixed", |_, n| Sphere::new(n.vector(), 0.2 * n.unit() * n.unit()), 2.0),
    ("cloud", |_, n| Sphere::new(n.vector(), 0.03), 2.0),
    ("one centre", |_, n| Sphere::new([1.0, 2.0, 3.0], n.unit()), 3.0),
    ("shells", |i, _| Sphere::new([0.0; 3], (i + 1) as f32), 9000.0),
    ("identical", |_, _| Sphere::new([0.5, 0.25, -3.0], 0.5), 4.0),
    ("ten orders", |_, n| Sphere::new(n.vector(), 10f32.powf(-10.0 * n.unit())), 2.0),
    ("one around all", |i, n| Sphere::new(n.vector(), if i == 77 { 10.0 } else { 0.02 }), 2.0),
    ("line", |i, _| Sphere::new([i as f32, 0.0, 0.0], 0.4), 3000.0),
    ("map", |_, n| Sphere::new(n.vector().map(|x| 1e7 + 100.0 * x), 1.0), 2e7),
    ("points", |_, n| Sphere::new(n.vector().map(|x| (8.0 * x).floor()), 0.0), 20.0),
    ("far ones", |i, n| Sphere::new(n.vector().map(|x| if i % 50 == 3 { 1e30 * x } else { x }), 0.05), 2.0),
];

fn spheres(scene: &Scene, count: usize) -> Vec<Sphere> {
    let n = &mut Numbers(count as u64);
    (0..count).map(|i| scene.1(i, n)).collect()
}

/// Towards spheres, past them, along axes, out of their insides.
fn rays(spheres: &[Sphere], far: f32, count: usize) -> Vec<Ray> {
    let n = &mut Numbers(99);
    let ray = |i: usize| {
        let target = spheres[i * 7919 % spheres.len()];
        let from = match i % 5 {
            0 => target.center.to_array(),
            _ => n.vector().map(|x| far * x),
        };
        let aside = n.vector().map(|x| 1.2 * x * target.radius);
        let to: [f32; 3] = std::array::from_fn(|k| target.center[k] + aside[k] - from[k]);
        let axis = [[1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.0, 0.0, 1.0]][i % 3];
        let ray = Ray::new(from, if i % 4 == 1 || to == [0.0; 3] { axis } else { to });
        match i % 7 {
            0 => ray.line(),
            1 => ray.between(0.0, 1.0),
            2 => ray.between(-1.0, 0.5),
            _ => ray,
        }
    };
    let mut rays: Vec<Ray> = (0..count).map(ray).collect();
    // Among the spheres, with ends anywhere.
    let n = &mut Numbers(7);
    rays.extend((0..count * 6).map(|i| {
        let ray = Ray::new(n.vector(), n.vector());
        if i % 2 == 0 { ray.between(0.0, n.unit()) } else { ray.between(n.unit() - 0.5, 1.0 + n.unit()) }
    }));
    rays
}

fn both<T: CpuQuery + bytemuck::NoUninit>(name: &str, scenes: &[CpuScene; 2], rays: &[Ray], query: &Query) {
    let watch = Watch::new();
    let [tree, sweep] = scenes.each_ref().map(|scene| {
        let mut out = vec![T::MISS; rays.len()];
        let tally =
            scene.cast(Batch { first: 0, rays: Source::Records(rays), query, watch: &watch }, &mut out).unwrap();
        (bytemuck::cast_slice::<T, u8>(&out).to_vec(), tally.hits, tally.beyond)
    });
    assert!(tree == sweep, "{name}, {query:?}: {} hits by the tree, {} by a sweep", tree.1, sweep.1);
}

fn compare(scene: &Scene, count: usize, many: usize, precisions: &[Precision]) {
    let spheres = spheres(scene, count);
    let rays = rays(&spheres, scene.2, many);
    let level = Level::best();
    let planted = Planted::new(&spheres, level).unwrap();
    assert_eq!(planted.tree.check(count), Ok(()), "{}", scene.0);
    assert!(planted.tree.bytes() <= tree_bytes(count as u64), "{}: {} bytes", scene.0, planted.tree.bytes());
    let index = [Index::Tree(planted), Index::blocks(&spheres, level).unwrap()];
    let scenes = index.map(|index| CpuScene::with(&spheres, index).unwrap());
    for &precision in precisions {
        let policies = [
            (Inside::Enter, Touch::Hit, Ends::Closed),
            (Inside::Exit, Touch::Miss, Ends::HalfOpen),
            (Inside::Ignore, Touch::Hit, Ends::Closed),
        ];
        for (inside, touch, ends) in policies {
            let query = Query { inside, touch, ends, ..Query::at(precision) };
            both::<Hit>(scene.0, &scenes, &rays, &query);
            both::<Interval>(scene.0, &scenes, &rays, &query);
            both::<bool>(scene.0, &scenes, &rays, &query);
        }
        both::<Approach>(scene.0, &scenes, &rays, &Query::at(precision));
    }
}

#[test]
fn a_tree_answers_what_a_sweep_does() {
    for scene in &SCENES {
        // Integers are slow: few rays where everything ties.
        compare(scene, 1500, 150, &[Precision::Fast, Precision::Standard]);
        compare(scene, 150, 25, &[Precision::Exact]);
    }
}

#[test]
fn what_is_met_beyond_f32_hides_nothing() {
    // The large one is entered and left at a t that f32 does not hold; the points are met.
    let spheres: Vec<Sphere> =
        (0..9).map(|i| Sphere::new([0.0, 0.0, i as f32], if i == 4 { 1.2e25 } else { 0.0 })).collect();
    let ray = Ray::new([0.0; 3], [0.0, 0.0, -1e-45]);
    let rays = [ray.line(), ray.between(f32::NEG_INFINITY, 0.0), ray, Ray::new([0.0, 0.0, 1.5e25], [0.0, 0.0, -1e-45])];
    let level = Level::best();
    let index = [Index::Tree(Planted::new(&spheres, level).unwrap()), Index::blocks(&spheres, level).unwrap()];
    let scenes = index.map(|index| CpuScene::with(&spheres, index).unwrap());
    for precision in Precision::ALL {
        for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
            let query = Query { inside, ..Query::at(precision) };
            both::<Hit>("beyond", &scenes, &rays, &query);
            both::<bool>("beyond", &scenes, &rays, &query);
        }
    }
}

#[test]
fn a_tree_of_a_million_identical_spheres_answers() {
    compare(&SCENES[4], 1_000_000, 3, &[Precision::Standard]);
}

#[test]
fn trees_of_every_size_are_whole() {
    for scene in &SCENES {
        for count in [1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 20_000] {
            let tree = Planted::new(&spheres(scene, count), Level::best()).unwrap().tree;
            assert_eq!(tree.check(count), Ok(()), "{count} of {}", scene.0);
        }
    }
}

#[test]
fn a_broken_tree_is_caught() {
    let spheres = spheres(&SCENES[1], 2000);
    let broken = |what: &str, edit: &dyn Fn(&mut crate::tree::Tree)| {
        let mut tree = Planted::new(&spheres, Level::best()).unwrap().tree;
        edit(&mut tree);
        let error = tree.check(2000).unwrap_err();
        assert!(error.contains(what), "{error}");
    };
    broken("out of reach", &|tree| tree.nodes.push(tree.nodes[0]));
    broken("met twice", &|tree| tree.ids[3][2] = tree.ids[4][1]);
    broken("leaves the box", &|tree| tree.leaves[5].x[0] += 0.1);
    broken("leaves its parent's", &|tree| tree.nodes[1].faces[1][2][0] += 1.0);
    broken("out of its order", &|tree| tree.nodes[1].order[5] ^= 1);
    broken("at depth", &|tree| tree.depth -= 1);
    broken("promised", &|tree| tree.depth += 1);
    broken("half empty", &|tree| {
        for node in &mut tree.nodes {
            (0..WIDTH).filter(|&i| node.children[i].kind() == Kind::Nothing).for_each(|i| node.faces[1][0][i] = 0.0);
        }
    });
}
