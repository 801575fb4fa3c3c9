//! Binary BVH over balls: bounding balls in f64, at most four balls per leaf, median splits along the longest side.

use std::ops::Range;

use glam::DVec3;

use super::ball::Ball;
use crate::error::Result;
use crate::runtime::memory::{try_filled, try_reserve};

/// Maximum number of balls per leaf.
const LEAF: usize = 4;

/// Subtrees with more balls are built in parallel.
const PARALLEL: usize = 1 << 13;

/// A node: the bounding ball of the balls in a range of the order.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Ball,
    first: u32,
    /// Number of balls of a leaf; 0 for an inner node.
    count: u32,
    /// Number of nodes of the subtree. The first child follows its parent, and the second child follows the subtree of the first.
    size: u32,
}

/// A BVH over balls with ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct BallBvh {
    /// Depth first.
    nodes: Vec<Node>,
    /// The balls in the order of the leaves, with their ids.
    pub(crate) balls: Vec<(Ball, u32)>,
}

impl BallBvh {
    /// Builds the BVH of balls with their ids.
    pub(crate) fn new(balls: impl Iterator<Item = (Ball, u32)>) -> Result<Self> {
        let mut order = Vec::new();
        try_reserve("a BVH of spheres", &mut order, balls.size_hint().1.unwrap_or(0) as u64)?;
        order.extend(balls);
        let mut nodes = Vec::new();
        if !order.is_empty() {
            let none = Node { bounds: Ball { center: DVec3::ZERO, radius: 0.0 }, first: 0, count: 0, size: 0 };
            nodes = try_filled("a BVH of spheres", node_count(order.len()), none)?;
            build(&mut nodes, &mut order, 0);
        }
        Ok(Self { nodes, balls: order })
    }

    /// The same balls without nodes: a query visits all of them.
    #[cfg(test)]
    pub(crate) fn without_nodes(&self) -> Self {
        Self { nodes: Vec::new(), ..self.clone() }
    }

    /// Whether there are no nodes to traverse.
    pub(crate) fn has_no_nodes(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether a ball passes a test. `intersects` must be true for the bounding balls of each ball that does.
    #[inline]
    pub(crate) fn any(&self, intersects: impl Fn(Ball) -> bool, mut test: impl FnMut(Ball, u32) -> bool) -> bool {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !intersects(node.bounds) {
                at += node.size as usize;
                continue;
            }
            if node.count > 0 && self.leaf(node).iter().any(|&(ball, id)| test(ball, id)) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// The largest subtrees with at most `most` balls: the bounding ball of each, and its balls with their ids.
    pub(crate) fn subtrees(&self, most: usize) -> Vec<(Ball, &[(Ball, u32)])> {
        let (mut at, mut found) = (0, Vec::new());
        while let Some(node) = self.nodes.get(at) {
            let next = at + node.size as usize;
            let end = self.nodes.get(next).map_or(self.balls.len(), |node| node.first as usize);
            let balls = &self.balls[node.first as usize..end];
            if balls.len() <= most {
                found.push((node.bounds, balls));
                at = next;
            } else {
                at += 1;
            }
        }
        found
    }

    /// Traverses the BVH front to back. `enter` returns a lower bound of the distance at which a ray enters a bounding ball, infinite for
    /// a miss. `visit` is called for the balls of each leaf that the ray may enter before `limit`, and returns the new limit.
    pub(crate) fn visit_front_to_back(
        &self,
        mut limit: f64,
        enter: impl Fn(Ball) -> f64,
        mut visit: impl FnMut(&[(Ball, u32)], f64) -> f64,
    ) {
        // The tree is balanced, so its depth is at most 32.
        let mut stack = [(0_u32, 0.0_f64); 40];
        let mut height = 0;
        let Some(root) = self.nodes.first() else { return };
        let mut next = Some((0_u32, enter(root.bounds)));
        while let Some((at, distance)) = next {
            next = None;
            if distance <= limit && distance < f64::INFINITY {
                let node = &self.nodes[at as usize];
                if node.count > 0 {
                    limit = visit(self.leaf(node), limit);
                } else {
                    let left = at + 1;
                    let right = left + self.nodes[left as usize].size;
                    let near = (left, enter(self.nodes[left as usize].bounds));
                    let far = (right, enter(self.nodes[right as usize].bounds));
                    let (near, far) = if far.1 < near.1 { (far, near) } else { (near, far) };
                    stack[height] = far;
                    height += 1;
                    next = Some(near);
                }
            }
            if next.is_none() && height > 0 {
                height -= 1;
                next = Some(stack[height]);
            }
        }
    }

    /// Visits node `at` (0 is the root) and all nodes below it, parents before their children, and of two children first the one nearer to
    /// the origin. The arguments are the bounding ball, the range of the balls of a leaf (empty for an inner node), and the number of nodes
    /// of the subtree.
    pub(crate) fn visit_nodes(&self, at: usize, visit: &mut impl FnMut(Ball, Range<u32>, u32)) {
        let Some(node) = self.nodes.get(at) else { return };
        visit(node.bounds, node.first..node.first + node.count, node.size);
        if node.count == 0 {
            let left = at + 1;
            let right = left + self.nodes[left].size as usize;
            let distance = |child: usize| self.nodes[child].bounds.center.length_squared();
            let (near, far) = if distance(right) < distance(left) { (right, left) } else { (left, right) };
            self.visit_nodes(near, visit);
            self.visit_nodes(far, visit);
        }
    }

    fn leaf(&self, node: &Node) -> &[(Ball, u32)] {
        &self.balls[node.first as usize..][..node.count as usize]
    }
}

/// Number of nodes of a tree over `count` balls.
fn node_count(count: usize) -> usize {
    if count <= LEAF { 1 } else { 1 + node_count(count / 2) + node_count(count - count / 2) }
}

/// Writes the nodes of a range of the order that begins at `first`, depth first.
fn build(nodes: &mut [Node], order: &mut [(Ball, u32)], first: usize) {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (mut low_center, mut high_center) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for (ball, _) in order.iter() {
        (low, high) = (low.min(ball.center - ball.radius), high.max(ball.center + ball.radius));
        (low_center, high_center) = (low_center.min(ball.center), high_center.max(ball.center));
    }
    let center = 0.5 * (low + high);
    let reach = |(ball, _): &(Ball, u32)| (ball.center - center).length() + ball.radius;
    let radius = order.iter().map(reach).fold(0.0, f64::max) * (1.0 + 1e-15);
    let leaf = order.len() <= LEAF;
    let count = if leaf { order.len() as u32 } else { 0 };
    let size = nodes.len() as u32;
    let Some((root, below)) = nodes.split_first_mut() else { return };
    *root = Node { bounds: Ball { center, radius }, first: first as u32, count, size };
    if leaf {
        return;
    }
    let axis = (high_center - low_center).max_position();
    let half = order.len() / 2;
    order.select_nth_unstable_by(half, |a, b| a.0.center[axis].total_cmp(&b.0.center[axis]));
    let parallel = order.len() > PARALLEL;
    let (left, right) = order.split_at_mut(half);
    let (left_nodes, right_nodes) = below.split_at_mut(node_count(half));
    if parallel {
        rayon::join(|| build(left_nodes, left, first), || build(right_nodes, right, first + half));
    } else {
        build(left_nodes, left, first);
        build(right_nodes, right, first + half);
    }
}
