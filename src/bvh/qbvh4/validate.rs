//! Validator for an [`QBvh4`]: checks its invariants by visiting all nodes and leaves.

use super::node::{MAX_LEAF_SPHERES, QBvh4, QChild, QNode4, WIDTH};
use crate::bvh::gpu_frame::GpuFrame;
use crate::bvh::{Corners, contains};
use crate::records::Sphere;

const NOTHING: Corners = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];

fn join(a: &Corners, b: &Corners) -> Corners {
    [std::array::from_fn(|k| a[0][k].min(b[0][k])), std::array::from_fn(|k| a[1][k].max(b[1][k]))]
}

/// Spheres and bounds that have been visited.
struct Validator<'a> {
    tree: &'a QBvh4,
    spheres: &'a [Sphere],
    frame: &'a GpuFrame,
    seen: Vec<bool>,
    /// QBounds of the spheres below each node, in f64.
    reaches: Vec<Corners>,
}

impl Validator<'_> {
    /// Checks a node. Must be called from the last node to the first.
    fn node(&mut self, number: usize, quad: &QNode4) -> Result<(), String> {
        let mut all = NOTHING;
        for i in 0..quad.count() {
            let (own, child) = quad.child(i);
            let reach = match child {
                QChild::Node(child) => self.reaches[child as usize],
                QChild::Leaf { first, count } => self.leaf(first as usize, count as usize)?,
            };
            if !contains(&own, &reach) {
                return Err(format!("spheres leave box {i} of node {number}"));
            }
            all = join(&all, &reach);
        }
        self.reaches[number] = all;
        Ok(())
    }

    fn leaf(&mut self, first: usize, count: usize) -> Result<Corners, String> {
        if count == 0 || count > MAX_LEAF_SPHERES || first + count > self.tree.order.len() {
            return Err(format!("the leaf from {first} has {count} spheres"));
        }
        let mut all = NOTHING;
        for place in &self.tree.order[first..first + count] {
            let Some(sphere) = self.spheres.get(*place as usize) else {
                return Err(format!("sphere {place} does not exist"));
            };
            if std::mem::replace(&mut self.seen[*place as usize], true) {
                return Err(format!("sphere {place} is met twice"));
            }
            let (center, radius) = self.frame.sphere(sphere);
            let (c, r) = (center.map(f64::from), f64::from(radius));
            all = join(&all, &[c.map(|c| c - r), c.map(|c| c + r)]);
        }
        Ok(all)
    }
}

impl QBvh4 {
    /// Checks that every sphere is in exactly one leaf, that every box contains the spheres below it, that levels are contiguous, and
    /// that every node and sphere can be reached.
    pub(crate) fn check(&self, spheres: &[Sphere], frame: &GpuFrame) -> Result<(), String> {
        let (mut begin, mut next) = (0, 1);
        for end in self.levels.iter().map(|end| *end as usize) {
            if end != next || end > self.nodes.len() {
                return Err(format!("a level ends at node {end}, not {next}"));
            }
            for (number, quad) in (begin..).zip(&self.nodes[begin..end]) {
                if quad.count() > WIDTH || (quad.count() == 0 && !spheres.is_empty()) {
                    return Err(format!("node {number} has {} children", quad.count()));
                }
                for child in (0..quad.count()).map(|i| quad.child(i).1) {
                    match child {
                        QChild::Node(child) if child as usize == next => next += 1,
                        QChild::Node(child) => return Err(format!("node {number} leads to {child}, not {next}")),
                        QChild::Leaf { .. } => {}
                    }
                }
            }
            begin = end;
        }
        if next != self.nodes.len() || begin != next || self.levels.len() > Self::MAX_LEVELS {
            return Err(format!("{next} of {} nodes in {} levels", self.nodes.len(), self.levels.len()));
        }
        let (seen, reaches) = (vec![false; spheres.len()], vec![NOTHING; next]);
        let mut validator = Validator { tree: self, spheres, frame, seen, reaches };
        for (number, quad) in self.nodes.iter().enumerate().rev() {
            validator.node(number, quad)?;
        }
        match validator.seen.iter().position(|seen| !seen) {
            Some(lost) => Err(format!("sphere {lost} is out of reach")),
            None => Ok(()),
        }
    }
}
