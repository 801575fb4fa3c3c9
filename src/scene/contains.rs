//! Points in spheres. A point is a ray that goes nowhere: a solid ball that holds it is met where it starts, so that what finds
//! spheres for rays finds them for points, on every device, by the tree.

use std::time::Instant;

use super::scene::{Caller, Scene};
use crate::batch::input::{Points, Rays};
use crate::batch::raygen::source::here;
use crate::error::Result;
use crate::query::policy::{Ends, Inside, Motion, Query, Touch};
use crate::query::results::Answer;
use crate::records::{Hit, Holders};
use crate::runtime::boxed::Boxed;
use crate::runtime::memory::room;

impl Scene {
    /// For each point how many spheres hold it, their surfaces included, and the lowest of their ids. Spheres that move are where they
    /// are at the point's [time](Points::times). Of the query only the precision and `on_bad` matter; with [`Precision::Exact`](crate::Precision::Exact) every answer is that of
    /// [`Sphere::contains`](crate::Sphere::contains). In the report a point that is in any sphere is a hit.
    ///
    /// # Errors
    /// As [`closest`](Self::closest), for points.
    pub async fn contains(&self, points: impl Into<Points<'_>>, query: &Query) -> Result<Answer<Holders>> {
        self.holders(points.into(), query, Caller::Polls).await
    }

    /// [`contains`](Self::contains).
    pub(crate) fn holders<'a>(
        &'a self,
        points: Points<'a>,
        query: &'a Query,
        caller: Caller,
    ) -> Boxed<'a, Answer<Holders>> {
        Box::pin(self.find_holders(points, query, caller))
    }

    /// Counts the spheres around each point, then finds the lowest id for those points that have any.
    async fn find_holders(&self, points: Points<'_>, query: &Query, caller: Caller) -> Result<Answer<Holders>> {
        let start = Instant::now();
        let query =
            Query { inside: Inside::Enter, touch: Touch::Hit, ends: Ends::Closed, motion: Motion::AtTime, ..*query };
        let first = Some(points.first).filter(|first| *first > 0);
        let rays = Rays { first, extras: points.extras, ..here(points.records).into() };
        let counts = self.counted(rays, &query, caller).await?;
        let mut records = room(counts.len())?;
        records.extend(counts.iter().map(|count| Holders { count: *count, ..Holders::NONE }));
        if self.host.pairwise {
            let held = (0..).zip(&mut records).filter(|(_, found)| found.count > 0);
            held.for_each(|(i, found)| found.id = points.first as u32 + i);
        } else {
            let mut held = room(counts.report.hits as usize)?;
            let holds = (0..points.records.len()).filter(|i| counts[*i] > 0);
            held.extend(holds.clone().map(|i| points.records[i]));
            let extras = points.extras.some(holds);
            let mut hits = room(held.len())?;
            hits.resize(held.len(), Hit::MISS);
            let rays = Rays { extras: extras.lend(), ..here(&held).into() };
            self.hits_into(rays, &query, &mut hits, caller).await?;
            let found = records.iter_mut().filter(|found| found.count > 0);
            found.zip(hits).for_each(|(found, hit)| found.id = hit.id);
        }
        let mut report = counts.report;
        report.seconds = start.elapsed().as_secs_f64();
        Ok(Answer { records, report })
    }
}
