//! BVH traversal for the closest approach: one ray at a time, nearest child first.
//!
//! The ball around an AABB contains the AABB and its spheres. The clearances of the spheres are therefore at least that of the ball. So one
//! function bounds the clearances of AABBs and of spheres.

use crate::bvh::bvh8::node::{Child, Kind, Leaf, Node, WIDTH};
use crate::cpu::accel::Planted;
use crate::cpu::collector::Visitor;
use crate::cpu::cull::{Line, Ruler};
use crate::cpu::view::Spheres;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{Level, dispatch};
use crate::query::policy::Precision;
use crate::records::{Extra, Ray};

const U: f32 = 1.0 / 16_777_216.0;

dispatch! {
    /// Lower bounds of the clearances of eight balls from the line's segment; NaN in unused lanes.
    clearances, (balls: &Leaf, line: &Line, least: &mut [f32; WIDTH])
}

#[inline(always)]
fn clearances<L: Lanes>(lanes: L, balls: &Leaf, line: &Line, least: &mut [f32; WIDTH]) {
    let lanes = lanes.narrow();
    let splat = |value| lanes.splat(value);
    let Line { u, v, d, minus_alpha, minus_beta, near, far, .. } = *line;
    for i in (0..WIDTH).step_by(L::Narrow::COUNT) {
        let load = |column: &[f32; WIDTH]| lanes.load(&column[i..]);
        let (x, y, z) = (load(&balls.x), load(&balls.y), load(&balls.z));
        let across = y.mul_add(splat(u[1]), x.mul_add(splat(u[0]), splat(minus_alpha)));
        let over = z.mul_add(splat(v[2]), y.mul_add(splat(v[1]), x.mul_add(splat(v[0]), splat(minus_beta))));
        let along = z.mul_add(splat(d[2]), y.mul_add(splat(d[1]), x.mul(splat(d[0]))));
        // Clamped: if the segment is very far away, the square would be infinite, and then only the first leaf would be tested.
        let outside = splat(near).sub(along).max(along.sub(splat(far))).max(splat(0.0)).min(splat(1e18));
        let square = over.mul_add(over, across.mul_add(across, outside.mul(outside)));
        square.sqrt().sub(load(&balls.reach)).store(&mut least[i..]);
    }
}

/// The balls around a node's AABBs.
fn balls(node: &Node) -> Leaf {
    let [low, high] = &node.faces;
    let middle = |k: usize| -> [f32; WIDTH] { std::array::from_fn(|i| 0.5 * low[k][i] + 0.5 * high[k][i]) };
    let (x, y, z) = (middle(0), middle(1), middle(2));
    let reach = |i: usize| {
        let half = |k: usize| 0.5 * high[k][i] - 0.5 * low[k][i];
        let size = x[i].abs() + y[i].abs() + z[i].abs();
        let radius = (half(0) * half(0) + half(1) * half(1) + half(2) * half(2)).sqrt();
        // Allowance for the rounding of the radius and of the distance, and for underflow.
        radius + 128.0 * U * (radius + size) + 1e-15
    };
    Leaf { x, y, z, reach: std::array::from_fn(reach) }
}

struct Search<'a, V> {
    planted: &'a Planted,
    scene: Spheres<'a>,
    ray: &'a Ray,
    extra: Option<&'a Extra>,
    visitor: &'a mut V,
    line: Line,
    ruler: Ruler,
}

/// Passes the spheres whose surfaces may be as near as still counts to a ray's collector.
pub(crate) fn search<V: Visitor>(
    planted: &Planted,
    scene: Spheres<'_>,
    ray: &Ray,
    extra: Option<&Extra>,
    visitor: &mut V,
    precision: Precision,
) {
    let (mut line, mut ruler) = planted.frame.prepare(ray, precision);
    ruler.grow(extra.map_or(0.0, |extra| planted.frame.growth(ray, extra, precision).along));
    // From so far away everything may be near.
    if line.floor == f32::INFINITY {
        return scene.show_all(ray, extra, visitor);
    }
    (line.near, line.far) = ruler.ends(ray);
    let mut search = Search { planted, scene, ray, extra, visitor, line, ruler };
    search.narrow();
    search.node(0);
}

impl<V: Visitor> Search<'_, V> {
    fn narrow(&mut self) {
        let counts = self.visitor.counts(self.ray);
        self.line.limit = counts.map_or(f32::NEG_INFINITY, |counts| self.ruler.limit(counts));
    }

    /// Visits a node. The recursion is as deep as the BVH.
    fn node(&mut self, number: usize) {
        let node = &self.planted.tree.nodes[number];
        let mut least = [0.0; WIDTH];
        self.planted.level.clearances(&balls(node), &self.line, &mut least);
        let mut nearest: [(f32, Child); WIDTH] = std::array::from_fn(|i| (least[i], node.children[i]));
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (least, child) in nearest {
            if least > self.line.limit {
                continue;
            }
            match child.kind() {
                Kind::Node(number) => self.node(number),
                Kind::Leaf(number) => self.leaf(number),
                Kind::Nothing => {}
            }
        }
    }

    fn leaf(&mut self, number: usize) {
        let mut least = [0.0; WIDTH];
        self.planted.level.clearances(&self.planted.tree.leaves[number], &self.line, &mut least);
        for (least, id) in least.into_iter().zip(self.planted.tree.ids[number]) {
            if least <= self.line.limit
                && let Some(target) = self.scene.target(id, self.extra)
                && self.extra.is_none_or(|extra| self.scene.admits(extra, id))
            {
                self.visitor.see(self.ray, id, target);
                self.narrow();
            }
        }
    }
}
