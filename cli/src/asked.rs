//! The queries as a cast of files sees them: how to ask, how to compare, what to write.

use std::path::Path;

use umbracast::glam::DVec3;
use umbracast::io::{AnswerRow, AnswerWriter, Beside, Column, ListWriter, RayBatches, Ready};
use umbracast::{Answer, Approach, Hit, Interval, Lists, Query, Rays, Report, Result, Scene, Watch, blocking};

use super::compare::{Comparison, Input};
use super::describe::Described;
use super::plot::{LISTED, Legend, Plot, Plotted};

/// A query.
pub(crate) trait Asked {
    /// What it answers.
    type Found;
    /// Who writes that.
    type Writer: Writes<Self::Found>;
    /// Bytes of a ray's answer, as far as that is known.
    const BYTES: u64;
    /// Bytes of a ray's answer in arrays, at the least.
    fn least_bytes(&self) -> u64;
    /// Whether fewer rays may fit where these do not.
    const PARTS: bool = false;
    /// Rays that are cast together at first.
    const FIRST: usize = RayBatches::BATCH;

    /// What the colours of a plot mean.
    const LEGEND: Legend;

    /// Hears what was subtracted from all positions.
    fn subtracted(&mut self, _origin: DVec3) {}
    fn create(&self, path: &Path) -> Result<Self::Writer>;
    fn ask(&self, scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Self::Found>;
    /// Shows a plot a part of the rays, what is beside them from a number on, and what was found.
    fn look(plot: &mut Plot<'_>, rays: Rays<'_>, beside: Option<(&Beside, usize)>, found: &Self::Found);
    fn compare(&self, input: &Input<'_>, found: &Self::Found, expected: &Self::Found) -> Comparison;
    fn report(found: &Self::Found) -> Report;
    /// Spheres met, where that was asked.
    fn met(found: &Self::Found) -> Option<u64>;
    /// Rays that are cast together next.
    fn next(size: usize, _found: &Self::Found) -> usize {
        size
    }
}

/// A file being written.
pub(crate) trait Writes<T>: Sized {
    fn write(&mut self, found: &T) -> Result<()>;
    /// Completes the file, which has yet to appear.
    fn complete(self, watch: &Watch) -> Result<Ready>;
}

/// One record a ray, in these columns.
pub(crate) struct Each<T> {
    columns: Vec<Column<T>>,
    /// What was subtracted from all positions.
    origin: DVec3,
}

impl<T> Each<T> {
    pub(crate) fn new(columns: &[Column<T>]) -> Self {
        Self { columns: columns.to_vec(), origin: DVec3::ZERO }
    }
}

/// A query of one record a ray.
pub(crate) trait EachAsked: AnswerRow + Plotted {
    fn ask(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>>;
    /// Puts positions back to where the files have them.
    fn put_back(&mut self, _origin: DVec3) {}
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison;
    fn met(_found: &[Self]) -> Option<u64> {
        None
    }
}

impl<T: EachAsked> Asked for Each<T> {
    type Found = Answer<T>;
    type Writer = AnswerWriter<T>;
    const BYTES: u64 = size_of::<T>() as u64;
    const LEGEND: Legend = <T as Plotted>::LEGEND;

    fn least_bytes(&self) -> u64 {
        self.columns.iter().map(|(_, number)| number(&T::MISS).bytes()).sum()
    }
    fn create(&self, path: &Path) -> Result<AnswerWriter<T>> {
        AnswerWriter::create_with(path, self.columns.clone())
    }
    fn look(plot: &mut Plot<'_>, rays: Rays<'_>, beside: Option<(&Beside, usize)>, found: &Answer<T>) {
        plot.look(rays, beside, found);
    }
    fn subtracted(&mut self, origin: DVec3) {
        self.origin = origin;
    }
    fn ask(&self, scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<T>> {
        let mut found = T::ask(scene, rays, query)?;
        if self.origin != DVec3::ZERO {
            found.records.iter_mut().for_each(|record| record.put_back(self.origin));
        }
        Ok(found)
    }
    fn compare(&self, input: &Input<'_>, found: &Answer<T>, expected: &Answer<T>) -> Comparison {
        T::compare(input, found, expected)
    }
    fn report(found: &Answer<T>) -> Report {
        found.report
    }
    fn met(found: &Answer<T>) -> Option<u64> {
        T::met(found)
    }
}

impl<T: AnswerRow> Writes<Answer<T>> for AnswerWriter<T> {
    fn write(&mut self, found: &Answer<T>) -> Result<()> {
        AnswerWriter::write(self, found)
    }
    fn complete(self, watch: &Watch) -> Result<Ready> {
        AnswerWriter::complete(self, watch)
    }
}

/// Every sphere met, or the first `most`.
pub(crate) struct Listed {
    pub(crate) most: Option<u32>,
}

/// Records that the lists cast together should have, 96 MiB of them: how long lists are is found out while they are made.
const TOGETHER: u64 = 1 << 23;

impl Asked for Listed {
    type Found = Lists;
    type Writer = ListWriter;
    /// Where it begins, and one sphere.
    const BYTES: u64 = (size_of::<u64>() + size_of::<Interval>()) as u64;
    const PARTS: bool = true;
    const FIRST: usize = 1 << 14;
    const LEGEND: Legend = LISTED;

    fn least_bytes(&self) -> u64 {
        size_of::<u64>() as u64
    }
    fn create(&self, path: &Path) -> Result<ListWriter> {
        ListWriter::create(path)
    }
    fn ask(&self, scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Lists> {
        match self.most {
            None => blocking::all(scene, rays, query),
            Some(k) => blocking::nearest(scene, rays, k, query),
        }
    }
    fn look(plot: &mut Plot<'_>, rays: Rays<'_>, beside: Option<(&Beside, usize)>, found: &Lists) {
        plot.look_at_lists(rays, beside, found);
    }
    fn compare(&self, input: &Input<'_>, found: &Lists, expected: &Lists) -> Comparison {
        input.compare_lists(found, expected, self.most)
    }
    fn report(found: &Lists) -> Report {
        found.report
    }
    fn met(found: &Lists) -> Option<u64> {
        Some(found.records.len() as u64)
    }
    /// Carefully: the rays that come may meet more than those that went.
    fn next(size: usize, found: &Lists) -> usize {
        let fit = (found.len() as u64).saturating_mul(TOGETHER) / (found.records.len() as u64).max(1);
        (fit as usize).clamp(1, (4 * size).min(RayBatches::BATCH))
    }
}

impl Writes<Lists> for ListWriter {
    fn write(&mut self, found: &Lists) -> Result<()> {
        ListWriter::write(self, found)
    }
    fn complete(self, watch: &Watch) -> Result<Ready> {
        ListWriter::complete(self, watch)
    }
}

impl EachAsked for Hit {
    fn ask(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        blocking::closest(scene, rays, query)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare(found, expected)
    }
}

impl EachAsked for Described {
    fn ask(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        let hits = blocking::closest(scene, rays, query)?;
        let were = scene.attributes(rays, &hits, query)?;
        let records =
            hits.iter().zip(were).map(|(hit, was)| Self { hit: *hit, was, point: was.point.into() }).collect();
        Ok(Answer { records, report: hits.report })
    }
    fn put_back(&mut self, origin: DVec3) {
        self.point += origin;
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        let [found, expected] = [found, expected].map(|list| list.iter().map(|d| d.hit).collect::<Vec<_>>());
        input.compare(&found, &expected)
    }
}

impl EachAsked for bool {
    fn ask(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        let bits = blocking::occluded(scene, rays, query)?;
        Ok(Answer { records: bits.iter().collect(), report: bits.report })
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare_bits(found, expected)
    }
}

impl EachAsked for u32 {
    fn ask(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        blocking::count(scene, rays, query)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare_bits(found, expected)
    }
    fn met(found: &[Self]) -> Option<u64> {
        Some(found.iter().map(|count| u64::from(*count)).sum())
    }
}

impl EachAsked for Interval {
    fn ask(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        blocking::interval(scene, rays, query)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare(found, expected)
    }
}

impl EachAsked for Approach {
    fn ask(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        blocking::approach(scene, rays, query)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare(found, expected)
    }
}
