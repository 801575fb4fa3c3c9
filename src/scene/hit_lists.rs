//! Queries that return hit lists: all hits of each ray, or the first few. Also counts of hits.

use super::cast::Cast;
use super::near::without_blocked;
use super::scene::Scene;
use crate::batch::input::Rays;
use crate::cpu::query::kinds::{All, Nearest};
use crate::error::Result;
use crate::query::policy::Query;
use crate::query::results::{HitLists, Report, Tally};
use crate::records::Interval;
use crate::runtime::Instant;
use crate::runtime::block_on::block_on;

/// Offset of each ray's list, the records of all lists, and the counts of the batch.
pub(super) type Listed = (Vec<u64>, Vec<Interval>, Tally);

impl Scene {
    /// Finds every sphere that each ray hits, with both raw roots, ordered by (`t`, id), where `t` follows the policy
    /// ([`Interval::hit_t`]). The number of hits is not limited: memory grows with the result. The call blocks until all lists are
    /// complete, and allocates 8 bytes per ray and 12 per hit; while tasks join their lists, twice that.
    ///
    /// ```
    /// use umbracast::{Device, DeviceOptions, Interval, Query, Ray, SceneOptions, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let spheres = [Sphere::new([9.0, 0.0, 0.0], 1.0), Sphere::new([5.0, 0.0, 0.0], 1.0)];
    /// let scene = device.scene(&spheres, &SceneOptions::default())?;
    /// let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]), Ray::new([0.0; 3], [0.0, 1.0, 0.0])];
    /// let lists = scene.all(&rays, &Query::default())?;
    /// assert_eq!(lists.offsets, [0, 2, 2]);
    /// assert_eq!(lists.get(0).unwrap()[0], Interval { t_enter: 4.0, t_exit: 6.0, id: 1 });
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`closest`](Self::closest); [`Error::TooLarge`](crate::Error::TooLarge) also if the lists of these rays exceed the available
    /// memory of the machine. Then cast fewer rays at a time.
    pub fn all<'a>(&'a self, rays: impl Into<Rays<'a>>, query: &'a Query) -> Result<HitLists> {
        block_on(All.start(self, rays.into(), query))
    }

    /// Finds the first `k` hits of each ray, in the order of [`all`](Self::all), or all hits if there are fewer. The first is the hit of
    /// [`closest`](Self::closest). The CPU engine does not search behind the last of them; a GPU finds all hits and keeps the first `k`.
    /// It blocks and allocates as [`all`](Self::all), for at most `k` hits per ray.
    ///
    /// # Errors
    /// As [`all`](Self::all); [`Error::InvalidArgument`](crate::Error::InvalidArgument) also if `k` is 0.
    pub fn nearest<'a>(&'a self, rays: impl Into<Rays<'a>>, k: u32, query: &'a Query) -> Result<HitLists> {
        block_on(Nearest(k).start(self, rays.into(), query))
    }

    /// Lists at most `most` hits per ray.
    pub(super) async fn list(&self, rays: Rays<'_>, most: u32, query: &Query) -> Result<HitLists> {
        let start = Instant::now();
        let len = rays.len();
        let query = &self.resolved(query);
        let batch = self.batch(&rays, query)?;
        let off_surface = self.off_surface(&batch);
        let (offsets, records, tally) = self.dispatch_lists(batch, most).await?;
        let blocked = self.blocked(&rays, query).await?;
        let report = Report::new(len, Tally { off_surface, ..tally }, query.precision, start);
        Ok(without_blocked(HitLists { offsets, records, report }, &blocked))
    }
}
