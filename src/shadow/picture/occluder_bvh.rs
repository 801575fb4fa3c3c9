//! Binary BVH over the occluders of a picture: bounding balls in f64, at most four occluders per leaf, median splits. A query finds the
//! occluders that may cover a part of the light's disc, seen from a point: those that the cone from the point to the light intersects.
//!
//! A query is conservative. A ball with centre C and radius r, with `along` and `across` the components of C − P along and across the axis
//! of the cone with the half angle α, intersects the cone only if `across · cos α − along · sin α ≤ r`: the left side is never more than the
//! distance of C from the cone. A ball that begins farther away than the light's centre is not in front of the light, because its power is
//! greater than that of the light. The margin is 10⁻¹² of all lengths, which exceeds their rounding errors by far.

use glam::DVec3;

use crate::error::Result;
use crate::runtime::memory::try_with_capacity;
use crate::shadow::ball::Ball;

/// Maximum number of occluders per leaf.
const LEAF: usize = 4;

/// Margin of a query, relative to the lengths.
const MARGIN: f64 = 1e-12;

/// A node: the bounding ball of the occluders in a range of the order.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Ball,
    first: u32,
    count: u32,
    /// Index of the node after the last node below this one. The first child follows its parent.
    next: u32,
}

/// The occluders of a picture.
#[derive(Clone, Debug)]
pub(crate) struct OccluderBvh {
    /// Depth first.
    nodes: Vec<Node>,
    /// The occluders in the order of the leaves: bounding ball and id.
    order: Vec<(Ball, u32)>,
    light: Ball,
}

/// The cone from a point to the light.
struct Cone {
    apex: DVec3,
    /// Unit vector to the light.
    axis: DVec3,
    /// Distance of the light's centre.
    distance: f64,
    sine: f64,
    cosine: f64,
    margin: f64,
}

impl Cone {
    fn may_intersect(&self, ball: Ball) -> bool {
        let v = ball.center - self.apex;
        let along = v.dot(self.axis);
        let across = (v - along * self.axis).length();
        let reach = ball.radius + self.margin + MARGIN * (ball.radius + along.abs() + across);
        // Negated, so that NaN counts as an intersection.
        !(across * self.cosine - along * self.sine > reach || along < -reach || along - reach > self.distance)
    }
}

impl OccluderBvh {
    /// Builds the BVH of occluders: their bounding balls and ids.
    pub(crate) fn new(occluders: impl Iterator<Item = (Ball, u32)>, light: Ball) -> Result<Self> {
        let mut order: Vec<(Ball, u32)> = occluders.collect();
        let mut nodes = try_with_capacity(order.len())?;
        let count = order.len();
        if count > 0 {
            build(&mut nodes, &mut order, 0, count);
        }
        Ok(Self { nodes, order, light })
    }

    /// The same occluders without nodes: a query returns all of them.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn exhaustive(&self) -> Self {
        Self { nodes: Vec::new(), ..self.clone() }
    }

    /// Replaces `found` by the ids, ascending, of the occluders that may cover a part of the light, seen from `point`. `scale` is the
    /// largest length from which the point was computed.
    pub(crate) fn query(&self, point: DVec3, scale: f64, found: &mut Vec<u32>) {
        found.clear();
        let toward = self.light.center - point;
        let distance = toward.length();
        let sine = self.light.radius / distance;
        if self.nodes.is_empty() || sine.is_nan() || sine >= 1.0 {
            found.extend(self.order.iter().map(|(_, id)| *id));
            found.sort_unstable();
            return;
        }
        let cone = Cone {
            apex: point,
            axis: toward / distance,
            distance,
            sine: sine * (1.0 + MARGIN),
            cosine: ((1.0 - sine) * (1.0 + sine)).sqrt(),
            margin: MARGIN * (scale + self.light.center.length()),
        };
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !cone.may_intersect(node.bounds) {
                at = node.next as usize;
                continue;
            }
            if node.count > 0 {
                let leaf = &self.order[node.first as usize..][..node.count as usize];
                found.extend(leaf.iter().filter(|(ball, _)| cone.may_intersect(*ball)).map(|(_, id)| *id));
            }
            at += 1;
        }
        found.sort_unstable();
    }
}

/// Appends the nodes of a range of the order, depth first.
fn build(nodes: &mut Vec<Node>, order: &mut [(Ball, u32)], first: usize, end: usize) {
    let own = &mut order[first..end];
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (mut low_center, mut high_center) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for (ball, _) in own.iter() {
        (low, high) = (low.min(ball.center - ball.radius), high.max(ball.center + ball.radius));
        (low_center, high_center) = (low_center.min(ball.center), high_center.max(ball.center));
    }
    let center = 0.5 * (low + high);
    let reach = |(ball, _): &(Ball, u32)| (ball.center - center).length() + ball.radius;
    let radius = own.iter().map(reach).fold(0.0, f64::max) * (1.0 + 1e-15);
    let at = nodes.len();
    let leaf = own.len() <= LEAF;
    let count = if leaf { own.len() as u32 } else { 0 };
    nodes.push(Node { bounds: Ball { center, radius }, first: first as u32, count, next: 0 });
    if !leaf {
        let axis = (high_center - low_center).max_position();
        let half = own.len() / 2;
        own.select_nth_unstable_by(half, |a, b| a.0.center[axis].total_cmp(&b.0.center[axis]));
        build(nodes, order, first, first + half);
        build(nodes, order, first + half, end);
    }
    nodes[at].next = nodes.len() as u32;
}
