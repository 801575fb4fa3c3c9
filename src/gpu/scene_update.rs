//! Updates of a scene on a GPU: moved spheres with refitted BVHs, or the same spheres with new BVHs.

use super::bvh::motion::LeafMotion;
use super::bvh::resident::GpuBvh;
use super::scene::{GpuScene, SceneInfo, ScenePart};
use crate::batch::sphere_set::SphereSet;
use crate::bvh::BvhBuilder;
use crate::bvh::gpu_frame::GpuFrame;
use crate::error::Result;
use crate::gpu::engine::GpuEngine;

impl GpuScene {
    /// Returns the scene with other spheres, as many as before, and the relative increase of the SAH cost of its BVHs since they were
    /// built.
    pub(crate) async fn updated(
        &self,
        gpu: &GpuEngine,
        set: &SphereSet<'_>,
        builder: BvhBuilder,
    ) -> Result<(Self, f64)> {
        let spheres = set.swept_bounds();
        let frame = GpuFrame::of(spheres);
        let trees = Self::worth_bvh(gpu, set.spheres.len(), set.tree_from, &frame);
        let mut parts = Vec::new();
        let (mut now, mut before) = (0.0, 0.0);
        for old in &self.parts {
            set.cancel.check()?;
            let own = &spheres[old.first as usize..][..old.count as usize];
            let buffer = Self::upload(gpu, own).await?;
            let attributes = Self::upload_attributes(gpu, set, old.first, old.count).await?;
            let mut part = ScenePart { spheres: buffer, attributes, bvh: None, ..*old };
            let motion = LeafMotion::of(&part.attributes, set);
            match (&old.bvh, gpu.probe.failure.is_none()) {
                _ if !trees => part.built_cost = None,
                (Some(bvh), true) => {
                    let fitted = bvh.refit(gpu, &part.spheres, part.count, &frame, motion).await?;
                    let built = match old.built_cost {
                        Some(cost) => cost,
                        None => bvh.cost(gpu).await?,
                    };
                    now += fitted.cost(gpu).await?;
                    before += built;
                    (part.bvh, part.built_cost) = (Some(fitted), Some(built));
                }
                _ => {
                    part.bvh = Some(GpuBvh::new(gpu, &part.spheres, own, &frame, motion, builder, set.cancel).await?);
                    part.built_cost = None;
                }
            }
            parts.push(part);
        }
        let loss = if before > 0.0 { now / before - 1.0 } else { 0.0 };
        Ok((Self { parts, info: SceneInfo::of(set), ..self.empty_like(frame) }, loss))
    }

    /// Returns the scene with new BVHs.
    pub(crate) async fn rebuilt(&self, gpu: &GpuEngine, set: &SphereSet<'_>, builder: BvhBuilder) -> Result<Self> {
        let mut parts = Vec::new();
        for old in &self.parts {
            let own = &set.swept_bounds()[old.first as usize..][..old.count as usize];
            let motion = LeafMotion::of(&old.attributes, set);
            let bvh = match &old.bvh {
                Some(_) => Some(GpuBvh::new(gpu, &old.spheres, own, &self.frame, motion, builder, set.cancel).await?),
                None => None,
            };
            let (spheres, attributes) = (old.spheres.clone(), old.attributes.clone());
            parts.push(ScenePart { spheres, attributes, bvh, built_cost: None, ..*old });
        }
        Ok(Self { parts, ..self.empty_like(self.frame) })
    }

    /// Returns a scene without spheres, with the throughputs measured so far.
    fn empty_like(&self, frame: GpuFrame) -> Self {
        Self {
            parts: Vec::new(),
            throughputs: self.throughputs.each_ref().map(super::context::throughput::Throughput::for_similar_scene),
            frame,
            info: self.info,
        }
    }
}
