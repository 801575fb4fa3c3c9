//! Updates of a scene on a GPU: moved spheres with refitted BVHs, or the same spheres with new BVHs.

use super::bvh::motion::Ways;
use super::bvh::resident::Planted;
use super::scene::{Facts, GpuScene, Part};
use crate::batch::sphere_set::Given;
use crate::bvh::builder::Builder;
use crate::bvh::scene_frame::Frame;
use crate::error::Result;
use crate::gpu::engine::GpuEngine;

impl GpuScene {
    /// Returns the scene with other spheres, as many as before, and the relative increase of the SAH cost of its BVHs since they were
    /// built.
    pub(crate) async fn moved(&self, gpu: &GpuEngine, given: &Given<'_>, builder: Builder) -> Result<(Self, f64)> {
        let spheres = given.bounds();
        let frame = Frame::of(spheres);
        let trees = Self::has_trees(gpu, spheres.len(), &frame);
        let mut parts = Vec::new();
        let (mut now, mut before) = (0.0, 0.0);
        for old in &self.parts {
            given.watch.check()?;
            let own = &spheres[old.first as usize..][..old.count as usize];
            let buffer = Self::upload(gpu, own).await?;
            let beside = Self::upload_beside(gpu, given, old.first, old.count).await?;
            let mut part = Part { spheres: buffer, beside, planted: None, ..*old };
            let ways = Ways::of(&part.beside, given);
            match (&old.planted, gpu.probe.failure.is_none()) {
                _ if !trees => part.built_cost = None,
                (Some(planted), true) => {
                    let fitted = planted.refit(gpu, &part.spheres, part.count, &frame, ways).await?;
                    let built = match old.built_cost {
                        Some(cost) => cost,
                        None => planted.cost(gpu).await?,
                    };
                    now += fitted.cost(gpu).await?;
                    before += built;
                    (part.planted, part.built_cost) = (Some(fitted), Some(built));
                }
                _ => {
                    part.planted =
                        Some(Planted::new(gpu, &part.spheres, own, &frame, ways, builder, given.watch).await?);
                    part.built_cost = None;
                }
            }
            parts.push(part);
        }
        let loss = if before > 0.0 { now / before - 1.0 } else { 0.0 };
        Ok((Self { parts, facts: Facts::of(given), ..self.like(frame) }, loss))
    }

    /// Returns the scene with new BVHs.
    pub(crate) async fn replanted(&self, gpu: &GpuEngine, given: &Given<'_>, builder: Builder) -> Result<Self> {
        let mut parts = Vec::new();
        for old in &self.parts {
            let own = &given.bounds()[old.first as usize..][..old.count as usize];
            let ways = Ways::of(&old.beside, given);
            let planted = match &old.planted {
                Some(_) => Some(Planted::new(gpu, &old.spheres, own, &self.frame, ways, builder, given.watch).await?),
                None => None,
            };
            let (spheres, beside) = (old.spheres.clone(), old.beside.clone());
            parts.push(Part { spheres, beside, planted, built_cost: None, ..*old });
        }
        Ok(Self { parts, ..self.like(self.frame) })
    }

    /// Returns a scene without spheres, with the throughputs measured so far.
    fn like(&self, frame: Frame) -> Self {
        Self {
            parts: Vec::new(),
            paces: self.paces.each_ref().map(super::context::throughput::Pace::again),
            frame,
            facts: self.facts,
        }
    }
}
