//! The BVH of a picture's bodies, as `shaders/shadow/tree.wgsl` traverses it: records, and their conversion from f64.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::runtime::memory::try_reserve;
use crate::shadow::ball::Ball;
use crate::shadow::ball_bvh::BallBvh;
use crate::shadow::picture::image::CpuFallback;
use crate::shadow::picture::prepared::PreparedPicture;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct BallNode {
    pub(crate) bounds: [f32; 4],
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) size: u32,
    pub(crate) unused: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct TreeBall {
    pub(crate) high: [f32; 4],
    pub(crate) low: [f32; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct TreeBody {
    pub(crate) id: u32,
    pub(crate) pattern: u32,
    pub(crate) flags: u32,
    pub(crate) unused: u32,
}

/// Flags of a [`TreeBody`].
const CASTS: u32 = 1;
const RECEIVES: u32 = 2;
const VISIBLE: u32 = 4;

/// The smallest ratio of the radius of the light to its distance: below it, squares leave the range of f32. (A system whose light is more
/// than 10¹⁵ times as far away as its smallest sphere is large is not valid.)
const SMALLEST_LIGHT: f64 = 1e-9;

/// The bodies of a picture and their BVH. All lengths are in camera space, in units of `unit`.
pub(crate) struct PictureTree {
    pub(crate) nodes: Vec<BallNode>,
    /// In the order of the leaves, the light last.
    pub(crate) balls: Vec<TreeBall>,
    pub(crate) bodies: Vec<TreeBody>,
    /// A power of two, at least the largest coordinate or radius of a body.
    pub(crate) unit: f64,
}

impl BallNode {
    /// Converts a node. The ball is enlarged by the rounding errors of its centre and radius.
    fn new(bounds: Ball, balls: std::ops::Range<u32>, size: u32) -> Self {
        let center = bounds.center.as_vec3();
        let moved = (center.as_dvec3() - bounds.center).length();
        let radius = ((bounds.radius + moved) * (1.0 + 1e-6)) as f32;
        let bounds = center.extend(radius).to_array();
        Self { bounds, first: balls.start, count: balls.len() as u32, size, unused: 0 }
    }
}

impl TreeBall {
    fn new(ball: Ball) -> Self {
        let whole = ball.center.extend(ball.radius);
        let high = whole.as_vec4();
        Self { high: high.to_array(), low: (whole - high.as_dvec4()).as_vec4().to_array() }
    }
}

impl PictureTree {
    /// The BVH of a picture. Returns the reason if a GPU whose largest binding has `largest` bytes cannot render it: there are spheroids or
    /// too many spheres, or the light is so small that f32 cannot represent squares of its size.
    pub(crate) fn new(picture: &PreparedPicture, largest: u64) -> Result<std::result::Result<Self, CpuFallback>> {
        // The light is the last ball.
        let count = picture.bodies.len();
        let light = picture.balls[count];
        let size = |ball: &Ball| ball.center.abs().max_element().max(ball.radius);
        let extent = picture.balls[..count].iter().map(size).fold(f64::MIN_POSITIVE, f64::max);
        let unit = 2_f64.powi(extent.log2().ceil() as i32);
        let ratio = light.radius / light.center.length();
        let reasons = [
            (!picture.shapes.is_empty(), CpuFallback::Spheroid),
            ((count as u64 + 1) * size_of::<TreeBall>() as u64 > largest, CpuFallback::SphereCount),
            (ratio > 0.0 && ratio < SMALLEST_LIGHT, CpuFallback::NarrowLight),
        ];
        if let Some(&(_, reason)) = reasons.iter().find(|(holds, _)| *holds) {
            return Ok(Err(reason));
        }
        let scaled = |ball: Ball| Ball { center: ball.center / unit, radius: ball.radius / unit };
        let bvh = BallBvh::new(picture.balls[..count].iter().copied().map(scaled).zip(0..))?;
        let (mut nodes, mut balls, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        try_reserve("spheres of a picture for a GPU", &mut balls, count as u64 + 1)?;
        try_reserve("bodies of a picture for a GPU", &mut bodies, count as u64 + 1)?;
        try_reserve("a BVH of spheres for a GPU", &mut nodes, count as u64)?;
        for &(ball, id) in &bvh.balls {
            let body = picture.bodies[id as usize];
            let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
            let flags = flag(body.casts, CASTS) | flag(body.receives, RECEIVES) | flag(body.visible, VISIBLE);
            balls.push(TreeBall::new(ball));
            bodies.push(TreeBody { id, pattern: body.pattern, flags, unused: 0 });
        }
        balls.push(TreeBall::new(scaled(light)));
        bodies.push(TreeBody { id: count as u32, pattern: 0, flags: VISIBLE, unused: 0 });
        bvh.visit_nodes(0, &mut |bounds, balls, size| nodes.push(BallNode::new(bounds, balls, size)));
        Ok(Ok(Self { nodes, balls, bodies, unit }))
    }

    /// Upper estimate of the tests of a pixel: those of nodes and spheres on the paths to a few leaves.
    pub(crate) fn tests(&self) -> u64 {
        16 * u64::from(self.nodes.len().max(1).ilog2() + 1)
    }
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec4};

    use super::*;
    use crate::numbers::Numbers;

    /// Each node contains the balls of its subtree, as f32 and as f64, and the sizes of subtrees lead from each node to the next one.
    #[test]
    fn nodes_contain_their_balls_after_rounding() {
        let mut n = Numbers(5);
        for (count, spread) in [(1, 1.0), (5, 1e-3), (700, 0.4), (3000, 1e-7)] {
            let balls = (0..count).map(|_| Ball {
                center: DVec3::splat(0.5) + spread * DVec3::from_array(n.vector().map(f64::from)),
                radius: spread * 0.01 * f64::from(n.signed()).abs(),
            });
            let balls: Vec<_> = balls.collect();
            let bvh = BallBvh::new(balls.iter().copied().zip(0..)).unwrap();
            let mut nodes = Vec::new();
            bvh.visit_nodes(0, &mut |bounds, balls, size| nodes.push(BallNode::new(bounds, balls, size)));
            assert_eq!(nodes[0].size as usize, nodes.len());
            let mut found = 0;
            for (at, node) in nodes.iter().enumerate() {
                let bounds = Vec4::from_array(node.bounds).as_dvec4();
                for below in &nodes[at..at + node.size as usize] {
                    for &(ball, _) in &bvh.balls[below.first as usize..][..below.count as usize] {
                        let TreeBall { high, low } = TreeBall::new(ball);
                        let sum = Vec4::from_array(high).as_dvec4() + Vec4::from_array(low).as_dvec4();
                        assert!((sum - ball.center.extend(ball.radius)).length() < 1e-14);
                        let reach = (ball.center - bounds.truncate()).length() + ball.radius;
                        assert!(reach <= bounds.w, "{reach} {}", bounds.w);
                        found += usize::from(at == 0);
                    }
                }
            }
            assert_eq!(found, count);
        }
    }
}
