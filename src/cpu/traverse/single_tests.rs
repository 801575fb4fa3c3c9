//! Interleaved traversals visit what each ray visits alone, on every instruction set.

use std::collections::BTreeSet;

use super::*;
use crate::cpu::accel::CpuBvh;
use crate::cpu::traverse::ray_setup::LANES;
use crate::cpu::traverse::ray_setup::tests::prepared;
use crate::cpu::traverse::stream::tests::hard_scenes::{SCENES, rays, spheres};
use crate::numbers::Numbers;
use crate::records::{Ray, Sphere};
use crate::runtime::cancel::CancelToken;

/// A ray, a leaf, and the mask of its candidates.
type Found = BTreeSet<(u32, usize, u32)>;

/// A scene with prepared rays.
struct Case {
    bvh: CpuBvh,
    rays: Vec<PreparedRay>,
}

impl Case {
    fn new(level: SimdLevel, spheres: &[Sphere], rays: &[Ray]) -> Self {
        let bvh = CpuBvh::new(spheres, level, &CancelToken::new()).unwrap();
        let rays = &rays[..rays.len() / LANES * LANES];
        let rays = prepared(level, &bvh.frame, rays);
        Self { bvh, rays }
    }

    fn ends(&self) -> Vec<f32> {
        self.rays.iter().map(|ray| ray.far).collect()
    }

    /// The rays that are not from too far away.
    fn list(&self) -> Vec<u32> {
        (0..self.rays.len() as u32).filter(|&ray| self.rays[ray as usize].margin < f32::INFINITY).collect()
    }

    /// Notes what a leaf test found, and with `shorten`, ends the ray at its first certain hit.
    fn take(hits: &LeafHits, leaf: usize, shorten: bool, s_far: &mut [f32], found: &mut Found) {
        assert!(
            found.insert((hits.ray, leaf, hits.candidates)),
            "ray {} is tested against leaf {leaf} again",
            hits.ray
        );
        let certain = (0..WIDTH).filter(|k| shorten && hits.certain >> k & 1 == 1);
        let end = &mut s_far[hits.ray as usize];
        *end = certain.fold(*end, |end, k| end.min(hits.high[k]));
    }

    fn side_by_side(&self, shorten: bool) -> Found {
        let (level, tree) = (self.bvh.level, &self.bvh.tree);
        let (mut all, mut hits) = (InterleavedRays::default(), [LeafHits::NONE; SIDE_BY_SIDE]);
        let (mut s_far, mut found) = (self.ends(), Found::new());
        for list in self.list().chunks(SIDE_BY_SIDE) {
            all.start(tree, 0, &self.rays, list);
            while let Some(count) =
                level.next_leaves(tree, &self.rays, &s_far, StartInside::Undecided, &mut all, &mut hits)
            {
                for (hits, &leaf) in hits[..count].iter().zip(&all.hit_leaves) {
                    Self::take(hits, leaf as usize, shorten, &mut s_far, &mut found);
                }
            }
        }
        found
    }

    fn one_by_one(&self, shorten: bool) -> Found {
        let (level, leaves) = (self.bvh.level, AnyLeaves { bvh: &self.bvh, moves_with_ray: false });
        let (mut stack, mut hits) = (ChildStack::EMPTY, LeafHits::NONE);
        let (mut s_far, mut found) = (self.ends(), Found::new());
        for ray in self.list() {
            stack.start(0);
            hits.ray = ray;
            loop {
                let far = s_far[ray as usize];
                let leaf = level.next_leaf(&leaves, &self.rays[ray as usize], far, &mut stack, &mut hits);
                if leaf == END {
                    break;
                }
                Self::take(&hits, leaf as usize, shorten, &mut s_far, &mut found);
            }
        }
        found
    }
}

#[test]
fn rays_side_by_side_find_what_each_finds_alone() {
    for level in SimdLevel::all() {
        for scene in &SCENES {
            for count in [1, 9, 1500] {
                let spheres = spheres(scene, count);
                let rays = rays(&spheres, scene.2, 200);
                let case = Case::new(level, &spheres, &rays);
                assert!(case.side_by_side(false) == case.one_by_one(false), "{} of {}", count, scene.0);
            }
        }
    }
}

#[test]
fn rays_side_by_side_visit_the_nearest_first() {
    let mut n = Numbers(22);
    let spheres: Vec<Sphere> = (0..20_000).map(|_| Sphere::new(n.vector(), 0.02 + 0.03 * n.unit())).collect();
    let rays: Vec<Ray> = (0..512).map(|_| Ray::new(n.vector(), n.vector())).collect();
    for level in SimdLevel::all() {
        let case = Case::new(level, &spheres, &rays);
        // Leaves with candidates that are visited before a certain hit ends the ray.
        let [found, alone] = [case.side_by_side(true).len(), case.one_by_one(true).len()];
        // Children that a ray enters at the same position, because it begins inside them, are visited in another order.
        assert!(found.abs_diff(alone) * 50 <= alone, "{found} {alone}");
        let whole = case.side_by_side(false).len();
        assert!(found * 3 < whole, "order saves little: {found} of {whole}");
    }
}

#[test]
fn a_child_at_the_end_of_a_ray_is_visited() {
    let mut n = Numbers(23);
    let mut ends = vec![0.0, -0.0, 1e-45, -1e-45, 1e-38, -1e-38, OUTSIDE, -OUTSIDE];
    ends.extend((0..1000).map(|_| 4.0 * n.signed() * 10.0_f32.powf(-8.0 * n.unit())));
    for end in ends {
        let key = |k: u32| f32::from_bits(end.to_bits() & !7 | k);
        assert!((0..8).all(|k| key(k) <= largest_key(end)), "{end}");
        assert!(largest_key(end) - end <= 4e-6 * end.abs() + 2e-38, "{end}");
    }
}
