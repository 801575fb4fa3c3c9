//! Hit lists of a batch, built on all cores: each task has its own list, and the lists are joined at the end.

use super::growth_budget::GrowthBudget;
use super::query::all_hits::AllHits;
use super::scene::{CpuScene, TaskPlan};
use super::traverse::stream::STREAM_RAYS;
use crate::batch::ray_batch::RayBatch;
use crate::error::Result;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Interval, Ray, RayAttributes};
use crate::runtime::map_tasks;
use crate::runtime::memory::{try_repeat, try_with_capacity};

/// Hit lists of the rays of one task.
pub(crate) struct TaskLists {
    /// Where each ray's list begins in `records`, and its length, in the order of the rays.
    ranges: Vec<(usize, u32)>,
    records: Vec<Interval>,
    pub(crate) tally: Tally,
}

fn tally(every: &AllHits<'_>, count: usize) -> Tally {
    Tally {
        hits: u64::from(count > 0),
        exact: u64::from(every.used_exact),
        overflowed: u64::from(every.overflowed && count == 0),
        ..Tally::default()
    }
}

impl CpuScene {
    /// Lists the hits of a batch, per ray the first `most` or fewer; `u32::MAX` means all.
    pub(crate) fn list(&self, batch: RayBatch<'_>, most: u32, pool: &GrowthBudget) -> Result<Vec<TaskLists>> {
        let (rays, plan) = (batch.rays.len(), self.plan(&batch, true, false));
        let size = plan.size;
        let task = |start: usize| self.list_task(batch.slice(start..rays.min(start + size)), plan, most, pool);
        // Of several errors the first counts, so that it names the first invalid ray.
        map_tasks((0..rays).step_by(size), task).into_iter().collect()
    }

    fn list_task(&self, batch: RayBatch<'_>, plan: TaskPlan, most: u32, pool: &GrowthBudget) -> Result<TaskLists> {
        let RayBatch { first, ray_attributes, query, cancel, .. } = batch;
        let rays = batch.rays.records();
        let order = self.ordered(&rays, batch.valid_rays(self.level, &rays, self.start_check())?, plan);
        let skipped = (rays.len() - order.len()) as u64;
        let mut lists = TaskLists {
            ranges: vec![(0, 0); rays.len()],
            records: Vec::new(),
            tally: Tally { skipped, ..Tally::default() },
        };
        let mut own: Vec<Ray> = Vec::with_capacity(STREAM_RAYS);
        for places in order.chunks(STREAM_RAYS) {
            cancel.check()?;
            pool.check()?;
            own.clear();
            own.extend(places.iter().map(|&i| rays[i as usize]));
            let mut collectors: Vec<_> = places.iter().map(|_| AllHits::new(query, most, pool)).collect();
            if self.pairwise {
                for ((&i, ray), collector) in places.iter().zip(&own).zip(&mut collectors) {
                    if let Some(candidates) = self.candidates(first + u64::from(i), ray, ray_attributes.of(i as usize))
                    {
                        candidates.collect_into(ray, collector, query);
                    }
                }
            } else {
                self.spheres().visit_candidates(
                    &own,
                    &self.gather_attributes(&batch, &rays, places, false),
                    &mut collectors,
                    query,
                    plan.order,
                );
            }
            for (&i, collector) in places.iter().zip(&mut collectors) {
                lists.ranges[i as usize] = (lists.records.len(), lists.add(collector, pool) as u32);
            }
            cancel.add(places.len() as u64);
        }
        pool.check()?;
        cancel.add(skipped);
        Ok(lists)
    }

    /// Lists the hits of one ray, which has index `number` in the whole input.
    pub(crate) fn list_one(
        &self,
        number: u64,
        ray: &Ray,
        attributes: RayAttributes,
        query: &Query,
        most: u32,
    ) -> Result<(Vec<Interval>, Tally)> {
        let pool = GrowthBudget::new(u64::MAX);
        let mut every = AllHits::new(query, most, &pool);
        if let Some(candidates) = self.candidates(number, ray, attributes) {
            candidates.collect_into(ray, &mut every, query);
        }
        let records: Vec<Interval> = every.entries().iter().map(|entry| entry.interval()).collect();
        let tally = tally(&every, records.len());
        drop(every);
        pool.check()?;
        Ok((records, tally))
    }
}

impl TaskLists {
    /// Appends the list of one ray and returns its length, or 0 if the budget is used up.
    fn add(&mut self, every: &mut AllHits<'_>, pool: &GrowthBudget) -> usize {
        let entries = every.entries();
        let (count, spare) = (entries.len(), self.records.capacity() - self.records.len());
        let more = count.max(self.records.len());
        if spare < count && !pool.reserve(&mut self.records, more) {
            return 0;
        }
        self.records.extend(entries.iter().map(|entry| entry.interval()));
        self.tally = self.tally + tally(every, count);
        count
    }
}

/// Joins the lists of all tasks. Returns where each ray's list begins, with one entry more than there are rays, and the records.
pub(crate) fn join(lists: Vec<TaskLists>) -> Result<(Vec<u64>, Vec<Interval>, Tally)> {
    let rays: usize = lists.iter().map(|part| part.ranges.len()).sum();
    let total: usize = lists.iter().map(|part| part.records.len()).sum();
    let (mut offsets, mut records) = (try_with_capacity(rays + 1)?, try_repeat(Interval::MISS, total)?);
    offsets.push(0);
    let mut end = 0;
    for &(_, count) in lists.iter().flat_map(|part| &part.ranges) {
        end += u64::from(count);
        offsets.push(end);
    }
    let tally = lists.iter().fold(Tally::default(), |sum, part| sum + part.tally);
    let mut rest = &mut records[..];
    let places: Vec<_> = lists.iter().filter_map(|part| rest.split_off_mut(..part.records.len())).collect();
    // Each part is freed as soon as it is copied.
    map_tasks(places.into_iter().zip(lists), |(mut place, part)| {
        for (start, count) in part.ranges {
            let own = place.split_off_mut(..count as usize).unwrap_or_default();
            own.copy_from_slice(&part.records[start..][..own.len()]);
        }
    });
    Ok((offsets, records, tally))
}
