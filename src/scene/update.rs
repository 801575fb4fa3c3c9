//! Updates of a scene: other spheres with a refitted BVH, or the same spheres with a new BVH.

use std::sync::Arc;

use super::scene::Scene;
use crate::batch::input::Spheres;
use crate::batch::sphere_set::SphereSet;
use crate::cpu::accel::WORTH_REBUILDING;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::query::policy::check_same_length;
use crate::runtime::block_on::{BoxedFuture, block_on};

/// Result of [`Scene::update`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Update {
    /// Relative increase, since the BVH was built, of the number of nodes that a random ray visits: 0 for as many, 1 for twice as many,
    /// below 0 for fewer. Estimated from the surface areas of the AABBs. 0 without a BVH, and after a rebuild.
    pub quality_loss: f32,
    /// Whether [`Scene::rebuild`] will soon pay off: `quality_loss` exceeds 0.25. The CPU engine has then built a new BVH.
    pub rebuild_suggested: bool,
}

impl Scene {
    /// Replaces the spheres of the scene by as many others, which take over the ids. Results are those of a new scene. The BVH keeps its
    /// nodes and is refitted, which takes a fraction of the time of a build. If that makes queries slower by a quarter or more, the CPU
    /// engine builds a new one instead; on a GPU, [`rebuild_suggested`](Update::rebuild_suggested) says so.
    ///
    /// Spheres keep their [masks](Spheres::masks), [velocities](Spheres::velocities) and [transmittances](Spheres::transmittances) unless
    /// new ones are given. In a scene of [`Ellipsoids`](crate::Ellipsoids), ellipsoids given as spheres keep their shape: the radius is the
    /// longest semi-axis.
    ///
    /// Clones made before, and their running queries, keep the old spheres: no existing data is overwritten. Both scenes take memory as
    /// long as such clones exist. The call allocates a second copy of the scene's data, on the host and on the GPU, and blocks until the BVH
    /// is ready.
    ///
    /// ```
    /// use umbracast::{Device, DeviceOptions, Query, Ray, SceneOptions, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let mut scene = device.scene(&[Sphere::new([5.0, 0.0, 0.0], 1.0)], &SceneOptions::default())?;
    /// if scene.update(&[Sphere::new([7.0, 0.0, 0.0], 1.0)])?.rebuild_suggested {
    ///     scene.rebuild()?;
    /// }
    /// let hits = scene.closest(&[Ray::new([0.0; 3], [1.0, 0.0, 0.0])], &Query::default())?;
    /// assert_eq!(hits[0].t, 6.0);
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`LengthsDiffer`](crate::Error::LengthsDiffer) unless there are as many spheres as before, [`BadRecord`](crate::Error::BadRecord)
    /// for an invalid sphere, [`Cancelled`](crate::Error::Cancelled), and device errors as for [`closest`](Self::closest). After an error
    /// the scene is unchanged.
    pub fn update<'a>(&'a mut self, spheres: impl Into<Spheres<'a>>) -> Result<Update> {
        block_on(self.replaced(spheres.into()))
    }

    /// [`update`](Self::update), for code that must not block. On the CPU engine the first poll of the future computes everything.
    pub async fn update_async(&mut self, spheres: impl Into<Spheres<'_>>) -> Result<Update> {
        self.replaced(spheres.into()).await
    }

    fn replaced<'a>(&'a mut self, set: Spheres<'a>) -> BoxedFuture<'a, Update> {
        Box::pin(async move {
            check_same_length("spheres", set.len(), "spheres in the scene", self.len())?;
            let mut set = SphereSet::new(&set, self.host.attributes.clone(), self.options.time_range, &self.cancel)?;
            (set.tree_from, set.tree_on_gpu) = (self.options.tree_from, self.options.tree_on_gpu);
            let (host, quality_loss) = if let Some((device, gpu)) = self.on_gpu() {
                self.cancel.check()?;
                let (scene, loss) = gpu.updated(device, &set).await?;
                self.cancel.check()?;
                let host = CpuScene::for_device(true, self.device.level, set, self.host.pairwise)?;
                self.gpu = Some(Arc::new(scene));
                (host, loss as f32)
            } else {
                self.host.updated(set)?
            };
            self.host = Arc::new(host);
            Ok(Update { quality_loss, rebuild_suggested: quality_loss > WORTH_REBUILDING })
        })
    }

    /// Builds the BVH anew for the current spheres. Results do not change; queries may be faster. Clones made before keep their BVH. It
    /// allocates a second BVH, and blocks until it is built.
    ///
    /// # Errors
    /// [`Cancelled`](crate::Error::Cancelled), and device errors as for [`closest`](Self::closest). After an error the scene is unchanged.
    pub fn rebuild(&mut self) -> Result<()> {
        block_on(self.rebuild_async())
    }

    /// [`rebuild`](Self::rebuild), for code that must not block.
    pub async fn rebuild_async(&mut self) -> Result<()> {
        let CpuScene { spheres, attributes: columns, pairwise, .. } = &*self.host;
        let same = Spheres::from(&spheres[..]);
        let mut set = SphereSet::new(&same, columns.clone(), self.options.time_range, &self.cancel)?;
        (set.tree_from, set.tree_on_gpu) = (self.options.tree_from, self.options.tree_on_gpu);
        if let Some((device, gpu)) = self.on_gpu() {
            let bvh = gpu.rebuilt(device, &set).await?;
            self.cancel.check()?;
            self.gpu = Some(Arc::new(bvh));
        } else {
            self.host = Arc::new(CpuScene::for_device(false, self.device.level, set, *pairwise)?);
        }
        Ok(())
    }
}
