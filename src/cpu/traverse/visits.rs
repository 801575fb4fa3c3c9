//! Counts of a traversal: a measure of its work that no other program can change.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of visits, each of one ray to a node or to a leaf, and of pairs that were intersected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// Tests of a ray against the eight boxes of a node.
    pub nodes: u64,
    /// Tests of a ray against the eight spheres of a leaf.
    pub leaves: u64,
    /// Pairs of a ray and a sphere that were intersected.
    pub solves: u64,
}

static NODES: AtomicU64 = AtomicU64::new(0);
static LEAVES: AtomicU64 = AtomicU64::new(0);
static SOLVES: AtomicU64 = AtomicU64::new(0);

impl std::ops::AddAssign for Visits {
    fn add_assign(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.leaves += other.leaves;
        self.solves += other.solves;
    }
}

impl Visits {
    /// Adds the counts of a stream to those of the process.
    pub(crate) fn publish(self) {
        NODES.fetch_add(self.nodes, Ordering::Relaxed);
        LEAVES.fetch_add(self.leaves, Ordering::Relaxed);
        SOLVES.fetch_add(self.solves, Ordering::Relaxed);
    }

    /// Returns the counts of all streams of the process since the last call.
    pub fn take() -> Self {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        Self { nodes: take(&NODES), leaves: take(&LEAVES), solves: take(&SOLVES) }
    }
}
