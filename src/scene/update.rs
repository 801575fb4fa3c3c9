//! Scenes whose spheres move.

use std::sync::Arc;

use super::scene::Scene;
use crate::batch::input::Spheres;
use crate::batch::sphere_set::Given;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::query::policy::same_length;
use crate::runtime::boxed::Boxed;

/// A tree that costs a quarter more than when it was built: rays then took 1.4 times as long as in a new one (at 0.2 1.3 times, at
/// 0.5 1.7, at 1.3 3, at 3.5 9 times; drifting 10⁵ spheres, uniform and clustered), and to build one takes no longer than to fit it.
const WORTH_REBUILDING: f32 = 0.25;

/// What [`Scene::update`] says.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Update {
    /// How many more nodes of its tree a random ray enters than when the tree was built, as a share of those: 0 for as many, 1 for
    /// twice as many, below 0 for fewer. Estimated by the surfaces of the boxes; 0 without a tree, and for one built anew.
    pub quality_loss: f32,
    /// Whether [`Scene::rebuild`] will soon pay off: `quality_loss` exceeds 0.25.
    pub rebuild_suggested: bool,
}

impl Scene {
    /// Puts other spheres in the place of these: as many as there are, each with its number. On a GPU the tree keeps its nodes, which
    /// get new boxes; the CPU engine builds its tree anew. Answers are those of a new scene.
    ///
    /// Spheres keep their [masks](Spheres::masks) and [velocities](Spheres::velocities) unless new ones are given. In a scene of
    /// [`Ellipsoids`](crate::Ellipsoids), those that come as spheres keep the shape they had: the radius is the longest semi-axis.
    ///
    /// Clones made before, and queries of theirs under way, keep the spheres they have: nothing that was there is written to. For
    /// as long as they are there, both scenes take memory.
    ///
    /// # Errors
    /// [`LengthsDiffer`](crate::Error::LengthsDiffer), [`BadRecord`](crate::Error::BadRecord) and what the device can suffer. After
    /// an error the scene is what it was.
    pub async fn update(&mut self, spheres: impl Into<Spheres<'_>>) -> Result<Update> {
        self.replace(spheres.into()).await
    }

    /// [`update`](Self::update).
    fn replace<'a>(&'a mut self, given: Spheres<'a>) -> Boxed<'a, Update> {
        Box::pin(self.replace_spheres(given))
    }

    async fn replace_spheres(&mut self, given: Spheres<'_>) -> Result<Update> {
        let spheres = given.records;
        same_length("spheres", spheres.len(), "spheres in the scene", self.len())?;
        let given = Given::new(&given, self.host.columns.clone(), self.options.time_range, &self.watch)?;
        let mut quality_loss = 0.0;
        let mut moved = None;
        if let Some((device, gpu)) = self.on_gpu() {
            self.watch.check()?;
            let (scene, loss) = gpu.moved(device, &given, self.options.builder).await?;
            self.watch.check()?;
            (moved, quality_loss) = (Some(Arc::new(scene)), loss as f32);
        }
        let host = CpuScene::beside(moved.is_some(), given, self.host.pairwise)?;
        self.gpu = moved;
        self.host = Arc::new(host);
        Ok(Update { quality_loss, rebuild_suggested: quality_loss > WORTH_REBUILDING })
    }

    /// Builds the tree anew, for the spheres as they are. Answers do not change; rays may be quicker. Clones made before keep the
    /// tree they have. Does nothing on the CPU engine, whose tree is always new.
    ///
    /// # Errors
    /// What the device can suffer. After an error the scene is what it was.
    pub async fn rebuild(&mut self) -> Result<()> {
        if let Some((device, gpu)) = self.on_gpu() {
            let CpuScene { spheres, columns, .. } = &*self.host;
            let same = crate::batch::input::Spheres::from(&spheres[..]);
            let given = Given::new(&same, columns.clone(), self.options.time_range, &self.watch)?;
            let planted = gpu.replanted(device, &given, self.options.builder).await?;
            self.watch.check()?;
            self.gpu = Some(Arc::new(planted));
        }
        Ok(())
    }
}
