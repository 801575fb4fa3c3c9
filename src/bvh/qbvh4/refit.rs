//! Refit of an [`QBvh4`] whose spheres have moved, and its SAH cost. Reference for tests; twins of `shaders/build/refit.wgsl` and
//! `shaders/build/sah_cost.wgsl`.

use super::node::{QBounds, QBvh4, QChild, QNode4};
use crate::bvh::gpu_frame::GpuFrame;
use crate::records::Sphere;

impl QBvh4 {
    /// Refits the boxes to other spheres, of the same number as before.
    pub(crate) fn refit(&mut self, spheres: &[Sphere], frame: &GpuFrame) {
        let mut bounds = vec![QBounds::EMPTY; self.nodes.len()];
        // Children have higher indices than their parents.
        for number in (0..self.nodes.len()).rev() {
            let quad = self.nodes[number];
            let around = |child: QChild| match child {
                QChild::Node(child) => bounds[child as usize],
                QChild::Leaf { first, count } => {
                    let own = self.order[first as usize..][..count as usize].iter();
                    own.map(|place| QBounds::of(&spheres[*place as usize], frame)).fold(QBounds::EMPTY, QBounds::join)
                }
            };
            let child = |i| quad.child(i).1;
            let children: Vec<(QBounds, QChild)> = (0..quad.count()).map(|i| (around(child(i)), child(i))).collect();
            bounds[number] = children.iter().fold(QBounds::EMPTY, |all, (own, _)| all.join(*own));
            self.nodes[number] = QNode4::new(&children, quad.range);
        }
    }

    /// SAH cost: the average number of nodes that a line through the root's box enters.
    pub(crate) fn cost(&self) -> f64 {
        let area = |quad: &QNode4| {
            let low: [f64; 3] = quad.origin.map(|bits| f64::from(f32::from_bits(bits)));
            let high = (0..quad.count()).map(|i| quad.child(i).0[1]);
            let high = high.fold(low, |a, b| std::array::from_fn(|k| f64::max(a[k], b[k])));
            let [x, y, z] = std::array::from_fn(|k| high[k] - low[k]);
            x * y + y * z + z * x
        };
        self.nodes.iter().map(area).sum::<f64>() / area(&self.nodes[0])
    }
}
