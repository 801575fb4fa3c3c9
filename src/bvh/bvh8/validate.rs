//! Validator for a [`Bvh8`]: checks its invariants by a full traversal.

use super::node::{Bvh8, Child, ChildRef, Leaf8, MAX_DEPTH, WIDTH};
use crate::bvh::{Corners, contains};
use crate::records::NO_SPHERE;

const EVERYTHING: Corners = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];

/// Nodes, leaves and spheres that the traversal has visited.
struct Validator<'a> {
    tree: &'a Bvh8,
    nodes: Vec<bool>,
    leaves: Vec<bool>,
    spheres: Vec<bool>,
    deepest: usize,
}

impl Validator<'_> {
    fn node(&mut self, number: usize, around: &Corners, depth: usize) -> Result<(), String> {
        let node = self.tree.nodes.get(number).ok_or_else(|| format!("node {number} does not exist"))?;
        if std::mem::replace(&mut self.nodes[number], true) {
            return Err(format!("node {number} is met twice"));
        }
        if depth > self.tree.depth {
            return Err(format!("node {number} is at depth {depth} of {}", self.tree.depth));
        }
        self.deepest = self.deepest.max(depth);
        for order in node.order {
            if (0..WIDTH).fold(0, |places, i| places | 1 << (order >> (3 * i) & 7)) != 255 {
                return Err(format!("node {number} leaves a place out of its order"));
            }
        }
        for (i, child) in node.children.iter().enumerate() {
            let own = node.bounds.map(|faces| faces.map(|face| f64::from(face[i])));
            if *child == Child::NOTHING {
                if own != [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]] || node.children[i..].iter().any(|c| c != child)
                {
                    return Err(format!("place {i} of node {number} is half empty"));
                }
                continue;
            }
            if !contains(around, &own) {
                return Err(format!("box {i} of node {number} leaves its parent's"));
            }
            match child.kind() {
                ChildRef::Node(next) => self.node(next, &own, depth + 1)?,
                ChildRef::Leaf(leaf) => self.leaf(leaf, &own)?,
                ChildRef::Nothing => {}
            }
        }
        Ok(())
    }

    fn leaf(&mut self, number: usize, around: &Corners) -> Result<(), String> {
        let (Some(leaf), Some(ids)) = (self.tree.leaves.get(number), self.tree.ids.get(number)) else {
            return Err(format!("leaf {number} does not exist"));
        };
        if std::mem::replace(&mut self.leaves[number], true) {
            return Err(format!("leaf {number} is met twice"));
        }
        let Leaf8 { x, y, z, padded_radius: reach } = leaf;
        for (i, &id) in ids.iter().enumerate() {
            if id == NO_SPHERE {
                if !x[i].is_nan() {
                    return Err(format!("place {i} of leaf {number} holds a sphere without an id"));
                }
                continue;
            }
            match self.spheres.get_mut(id as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(format!("sphere {id} in leaf {number} does not exist, or is met twice")),
            }
            let (c, r) = ([x[i], y[i], z[i]].map(f64::from), f64::from(reach[i]));
            if !contains(around, &[c.map(|c| c - r), c.map(|c| c + r)]) {
                return Err(format!("sphere {id} leaves the box of leaf {number}"));
            }
        }
        Ok(())
    }
}

impl Bvh8 {
    /// Checks that every sphere is in exactly one slot, that every box contains everything below it, that `depth` is the length of the
    /// longest path, and that every node, leaf and sphere can be reached.
    pub(crate) fn check(&self, spheres: usize) -> Result<(), String> {
        if self.depth > MAX_DEPTH || self.ids.len() != self.leaves.len() {
            return Err(format!("depth {}, {} leaves, {} ids", self.depth, self.leaves.len(), self.ids.len()));
        }
        let mut validator = Validator {
            tree: self,
            nodes: vec![false; self.nodes.len()],
            leaves: vec![false; self.leaves.len()],
            spheres: vec![false; spheres],
            deepest: 0,
        };
        validator.node(0, &EVERYTHING, 1)?;
        for (what, seen) in [("node", &validator.nodes), ("leaf", &validator.leaves), ("sphere", &validator.spheres)] {
            if let Some(lost) = seen.iter().position(|seen| !seen) {
                return Err(format!("{what} {lost} is out of reach"));
            }
        }
        if validator.deepest != self.depth {
            return Err(format!("depth {} is promised, {} is all", self.depth, validator.deepest));
        }
        Ok(())
    }
}
