//! Point queries: the spheres that contain each point. A point is cast as a ray with `t` in `[0, 0]`. It hits a solid sphere that contains
//! the point at `t = 0`, so points use the same search as rays, on every device and with the BVH.

use super::cast::Cast;
use super::scene::Scene;
use crate::batch::input::{Points, Rays};
use crate::batch::raygen::source::rays_at_points;
use crate::cpu::query::kinds::{Closest, Contains, Count};
use crate::error::Result;
use crate::query::policy::{Near, Query};
use crate::query::results::Answer;
use crate::records::{Containment, Hit};
use crate::runtime::Instant;
use crate::runtime::block_on::block_on;
use crate::runtime::memory::{try_collect, try_repeat, try_with_capacity};

impl Scene {
    /// Counts the spheres that contain each point, surfaces included, and finds the lowest of their ids. The result contains one record per
    /// point; [`Containment::NONE`] for a point in no sphere. Moving spheres are evaluated at the point's [time](Points::times).
    ///
    /// Of the query only the precision and `on_bad` are used. With [`Precision::Exact`](crate::Precision::Exact) every result agrees with
    /// [`Sphere::contains`](crate::Sphere::contains). In the report, a point in at least one sphere counts as a hit.
    ///
    /// The call blocks as [`closest`](Self::closest) does. It allocates 8 bytes per point for the result and 4 for counts, and copies the
    /// points that lie in a sphere, which are cast again for the id.
    ///
    /// ```
    /// use umbracast::{Containment, Device, DeviceOptions, Query, SceneOptions, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let spheres = [Sphere::new([0.0; 3], 1.0), Sphere::new([1.0, 0.0, 0.0], 1.0)];
    /// let scene = device.scene(&spheres, &SceneOptions::default())?;
    /// let found = scene.contains(&[[0.5, 0.0, 0.0], [2.0, 0.0, 0.0], [9.0, 0.0, 0.0]], &Query::default())?;
    /// assert_eq!(found[0], Containment { count: 2, id: 0 });
    /// assert_eq!(found[1], Containment { count: 1, id: 1 }); // on the surface
    /// assert_eq!(found[2], Containment::NONE);
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`closest`](Self::closest), for points.
    pub fn contains<'a>(&'a self, points: impl Into<Points<'a>>, query: &'a Query) -> Result<Answer<Containment>> {
        block_on(Contains.start(self, points.into(), query))
    }

    /// Counts the spheres that contain each point, then finds the lowest id for the points in at least one.
    pub(super) async fn find_containments(&self, points: Points<'_>, query: &Query) -> Result<Answer<Containment>> {
        let start = Instant::now();
        let query = Query { near: Near::Pass, on_bad: query.on_bad, ..Query::at(query.precision) };
        let rays = Rays {
            first: points.first,
            ray_attributes: points.ray_attributes,
            ..rays_at_points(points.records).into()
        };
        let counts = self.answer::<Count>(rays, &query).await?;
        let mut records = try_collect(counts.iter().map(|count| Containment { count: *count, ..Containment::NONE }))?;
        if self.host.pairwise {
            let contained = (0..).zip(&mut records).filter(|(_, found)| found.count > 0);
            contained.for_each(|(i, found)| found.id = points.first.unwrap_or(0) as u32 + i);
        } else {
            let mut contained = try_with_capacity(counts.report.rays_hit as usize)?;
            let holds = (0..points.records.len()).filter(|i| counts[*i] > 0);
            contained.extend(holds.clone().map(|i| points.records[i]));
            let ray_attributes = points.ray_attributes.gather(holds);
            let mut hits = try_repeat(Hit::MISS, contained.len())?;
            let rays = Rays { ray_attributes: ray_attributes.as_columns(), ..rays_at_points(&contained).into() };
            let silent = self.with_cancel(&self.cancel.without_progress());
            silent.cast::<Closest>(rays, &query, &mut hits).await?;
            let found = records.iter_mut().filter(|found| found.count > 0);
            found.zip(hits).for_each(|(found, hit)| found.id = hit.id);
        }
        let mut report = counts.report;
        report.seconds = start.elapsed().as_secs_f64();
        Ok(Answer { records, report })
    }
}
