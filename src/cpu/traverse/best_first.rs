//! BVH traversal for the closest approach: one ray at a time, nearest child first.
//!
//! The ball around an AABB contains the AABB and its spheres. The clearances of the spheres are therefore at least that of the ball. So one
//! function bounds the clearances of AABBs and of spheres.

use crate::bvh::bvh8::node::{Bvh8Node, Child, ChildRef, Leaf8, WIDTH};
use crate::cpu::accel::CpuBvh;
use crate::cpu::collector::HitCollector;
use crate::cpu::frame::{RayLine, RayParameter};
use crate::cpu::view::SceneView;
use crate::math::float::U;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::records::{Ray, RayAttributes};

multiversion! {
    /// Lower bounds of the clearances of eight balls from the line's segment; NaN in unused lanes.
    clearances, (child_balls: &Leaf8, line: &RayLine, least: &mut [f32; WIDTH])
}

#[inline(always)]
fn clearances<L: Lanes>(lanes: L, balls: &Leaf8, line: &RayLine, least: &mut [f32; WIDTH]) {
    let lanes = lanes.narrow();
    let splat = |value| lanes.splat(value);
    let RayLine { u, v, d, minus_alpha, minus_beta, near, far, .. } = *line;
    for i in (0..WIDTH).step_by(L::Narrow::COUNT) {
        let load = |column: &[f32; WIDTH]| lanes.load(&column[i..]);
        let (x, y, z) = (load(&balls.x), load(&balls.y), load(&balls.z));
        let across = y.mul_add(splat(u[1]), x.mul_add(splat(u[0]), splat(minus_alpha)));
        let over = z.mul_add(splat(v[2]), y.mul_add(splat(v[1]), x.mul_add(splat(v[0]), splat(minus_beta))));
        let along = z.mul_add(splat(d[2]), y.mul_add(splat(d[1]), x.mul(splat(d[0]))));
        // Clamped: if the segment is very far away, the square would be infinite, and then only the first leaf would be tested.
        let outside = splat(near).sub(along).max(along.sub(splat(far))).max(splat(0.0)).min(splat(1e18));
        let square = over.mul_add(over, across.mul_add(across, outside.mul(outside)));
        square.sqrt().sub(load(&balls.padded_radius)).store(&mut least[i..]);
    }
}

/// The balls around a node's AABBs.
fn child_balls(node: &Bvh8Node) -> Leaf8 {
    let [low, high] = &node.bounds;
    let middle = |k: usize| -> [f32; WIDTH] { std::array::from_fn(|i| 0.5 * low[k][i] + 0.5 * high[k][i]) };
    let (x, y, z) = (middle(0), middle(1), middle(2));
    let reach = |i: usize| {
        let half = |k: usize| 0.5 * high[k][i] - 0.5 * low[k][i];
        let size = x[i].abs() + y[i].abs() + z[i].abs();
        let radius = (half(0) * half(0) + half(1) * half(1) + half(2) * half(2)).sqrt();
        // Allowance for the rounding of the radius and of the distance, and for underflow.
        radius + 128.0 * U * (radius + size) + 1e-15
    };
    Leaf8 { x, y, z, padded_radius: std::array::from_fn(reach) }
}

struct BestFirstSearch<'a, V> {
    bvh: &'a CpuBvh,
    scene: SceneView<'a>,
    ray: &'a Ray,
    attributes: Option<&'a RayAttributes>,
    collector: &'a mut V,
    line: RayLine,
    parameter: RayParameter,
}

/// Passes the spheres whose surfaces may be as near as still counts to a ray's collector.
pub(crate) fn search<V: HitCollector>(
    bvh: &CpuBvh,
    scene: SceneView<'_>,
    ray: &Ray,
    attributes: Option<&RayAttributes>,
    collector: &mut V,
) {
    let Some((line, parameter)) = bvh.frame.prepare(ray, attributes) else {
        return scene.visit_all(ray, attributes, collector);
    };
    let mut search = BestFirstSearch { bvh, scene, ray, attributes, collector, line, parameter };
    search.apply_cutoff();
    search.node(0);
}

impl<V: HitCollector> BestFirstSearch<'_, V> {
    fn apply_cutoff(&mut self) {
        let counts = self.collector.cutoff(self.ray);
        self.line.limit = counts.map_or(f32::NEG_INFINITY, |counts| self.parameter.limit(counts));
    }

    /// Visits a node. The recursion is as deep as the BVH.
    fn node(&mut self, number: usize) {
        let node = &self.bvh.tree.nodes[number];
        let mut least = [0.0; WIDTH];
        self.bvh.level.clearances(&child_balls(node), &self.line, &mut least);
        let mut nearest: [(f32, Child); WIDTH] = std::array::from_fn(|i| (least[i], node.children[i]));
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (least, child) in nearest {
            if least > self.line.limit {
                continue;
            }
            match child.kind() {
                ChildRef::Node(number) => self.node(number),
                ChildRef::Leaf(number) => self.leaf(number),
                ChildRef::Nothing => {}
            }
        }
    }

    fn leaf(&mut self, number: usize) {
        let mut least = [0.0; WIDTH];
        self.bvh.level.clearances(&self.bvh.tree.leaves[number], &self.line, &mut least);
        for (least, id) in least.into_iter().zip(self.bvh.tree.ids[number]) {
            if least <= self.line.limit
                && let Some(target) = self.scene.target(id, self.attributes)
                && self.attributes.is_none_or(|attributes| self.scene.admits(attributes, id))
            {
                self.collector.test(self.ray, id, target);
                self.apply_cutoff();
            }
        }
    }
}
