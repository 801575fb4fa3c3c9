//! The queries of `umbracast cast` with files: how each one is run, compared and written.

use std::path::Path;

use crate::error::{Error, Result};
use umbracast::glam::DVec3;
use umbracast::{Answer, Approach, Hit, HitLists, Interval, Query, Rays, Report, Scene};
use umbracast_files::{AnswerRow, Column, FileWriter, RayBatches, StreamFormat};

use super::compare::{Comparison, Input};
use super::describe::Described;
use super::plot::{DARK, HIT, LISTED, Legend, MISS, Mark, PASS, RAY};
use super::ray_input::{Channel, SensorAngles};
use super::stream::Files;

/// Defines [`QueryName`] from a row per query: its word in `--query`, whether it obeys `--near block`, the record that it returns per ray
/// if it is no list, and its help.
macro_rules! queries {
    ($($kind:ident $word:literal $near:literal $(-> $record:ty)?, $help:literal;)*) => {
        /// A query kind of `--query`.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum QueryName {
            $($kind,)*
        }

        /// The query kinds with their words and help.
        pub(crate) const QUERIES: [(&str, &str, QueryName); [$($word),*].len()] =
            [$(($word, $help, QueryName::$kind)),*];

        impl QueryName {
            /// Whether the query obeys `--near block`.
            pub(crate) fn obeys_near(self) -> bool {
                match self {
                    $(Self::$kind => $near,)*
                }
            }

            /// Runs the query on files. A list has at most `most` spheres per ray.
            pub(crate) fn run(self, files: &Files<'_>, most: Option<u32>) -> Result<()> {
                match self {
                    $($(Self::$kind => files.answer(RecordQuery::<$record>::new(<$record>::COLUMNS)),)?)*
                    Self::All | Self::Nearest => files.answer(ListQuery { most }),
                }
            }
        }

        /// The queries with one row per ray, with their columns.
        #[cfg(test)]
        pub(crate) fn tables() -> Vec<(&'static str, serde_json::Value)> {
            vec![$($(($word, crate::schema::table(<$record>::COLUMNS)),)?)*]
        }
    };
}
queries! {
    Closest "closest" true -> Hit, "the first sphere that the ray hits: t, id";
    Occluded "occluded" false -> bool, "whether the ray hits any sphere: occluded";
    Interval "interval" true -> Interval, "both roots of the first sphere: t_enter, t_exit, id";
    Count "count" false -> u32, "the number of spheres that the ray hits: count";
    Transmittance "transmittance" false -> f32,
        "the product of the column transmittance over all spheres that the ray hits: transmittance";
    All "all" true, "both roots of every sphere that the ray hits, sorted by t: lists of t_enter, t_exit, id";
    Nearest "nearest" true, "as `all`, but at most the first --k spheres";
    Approach "approach" false -> Approach, "the closest approach of the ray to any surface: t, clearance, id";
}

impl QueryName {
    pub(crate) fn word(self) -> &'static str {
        QUERIES[self as usize].0
    }
}

/// A query kind, for a cast of files.
pub(crate) trait CastQuery {
    /// Results of a batch of rays.
    type Found;
    /// The part of the results that is written to the output file.
    type Batch: ?Sized;
    /// Bytes per ray in memory: of its result, or of the offset of its list and one list entry.
    const BYTES: u64;
    /// Minimum bytes of a result per ray in the arrays of `.npz`.
    fn least_bytes(&self) -> u64;
    /// Whether fewer rays per call may succeed after [`Error::TooLarge`](umbracast::Error::TooLarge).
    const PARTS: bool = false;
    /// Number of rays of the first call.
    const FIRST: usize = RayBatches::BATCH;

    /// Legend of a plot.
    const LEGEND: Legend;

    /// Receives the origin that was subtracted from all positions.
    fn subtracted(&mut self, _origin: DVec3) {}
    /// Receives the angles of a sensor, for columns that name its channels.
    fn sensor(&mut self, _angles: Option<SensorAngles>) {}
    /// Creates the output, with columns of text that are `kept`. `format` is that of standard output and of files without an extension.
    fn create(&self, path: &Path, kept: &[String], format: Option<StreamFormat>) -> Result<FileWriter<Self::Batch>>;
    fn batch(found: &Self::Found) -> &Self::Batch;
    fn cast(&self, scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Self::Found>;
    /// What a plot shows of a ray.
    fn mark(found: &Self::Found, ray: usize) -> Mark;
    fn compare(&self, input: &Input<'_>, found: &Self::Found, expected: &Self::Found) -> Comparison;
    fn report(found: &Self::Found) -> Report;
    /// Number of spheres hit by all rays, for queries that count or list them.
    fn hits(found: &Self::Found) -> Option<u64>;
    /// Number of rays of the next call, after a call with `size` rays.
    fn next(size: usize, _found: &Self::Found) -> usize {
        size
    }
}

/// A query with one record per ray, written in these columns.
pub(crate) struct RecordQuery<T> {
    columns: Vec<Column<T>>,
    /// The origin that was subtracted from all positions.
    origin: DVec3,
    /// The angles of the sensor, if a sensor makes the rays.
    sensor: Option<SensorAngles>,
}

impl<T> RecordQuery<T> {
    pub(crate) fn new(columns: &[Column<T>]) -> Self {
        Self { columns: columns.to_vec(), origin: DVec3::ZERO, sensor: None }
    }
}

/// A record that a query returns per ray.
pub(crate) trait RayRecord: AnswerRow {
    /// Legend of a plot.
    const LEGEND: Legend;

    fn cast(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>>;
    /// Adds the origin to positions, which are then in the coordinates of the files.
    fn add_origin(&mut self, _origin: DVec3) {}
    /// Adds the channel of the sensor that made the ray.
    fn add_channel(&mut self, _channel: Channel) {}
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison;
    fn sphere_hits(_found: &[Self]) -> Option<u64> {
        None
    }
    /// What a plot shows.
    fn mark(&self) -> Mark;
}

impl<T: RayRecord> CastQuery for RecordQuery<T> {
    type Found = Answer<T>;
    type Batch = [T];
    const BYTES: u64 = size_of::<T>() as u64;
    const LEGEND: Legend = <T as RayRecord>::LEGEND;

    fn least_bytes(&self) -> u64 {
        self.columns.iter().map(|(_, number)| number(&T::MISS).bytes()).sum()
    }
    fn sensor(&mut self, angles: Option<SensorAngles>) {
        self.sensor = angles;
    }
    fn create(&self, path: &Path, kept: &[String], format: Option<StreamFormat>) -> Result<FileWriter<[T]>> {
        Ok(FileWriter::create_kept(path, self.columns.clone(), kept, format)?)
    }
    fn batch(found: &Answer<T>) -> &[T] {
        found
    }
    fn mark(found: &Answer<T>, ray: usize) -> Mark {
        found[ray].mark()
    }
    fn subtracted(&mut self, origin: DVec3) {
        self.origin = origin;
    }
    fn cast(&self, scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<T>> {
        let mut found = T::cast(scene, rays, query)?;
        if self.origin != DVec3::ZERO {
            found.records.iter_mut().for_each(|record| record.add_origin(self.origin));
        }
        if let Some(angles) = &self.sensor {
            for (index, record) in (rays.first_index()..).zip(&mut found.records) {
                record.add_channel(angles.channel(index));
            }
        }
        Ok(found)
    }
    fn compare(&self, input: &Input<'_>, found: &Answer<T>, expected: &Answer<T>) -> Comparison {
        T::compare(input, found, expected)
    }
    fn report(found: &Answer<T>) -> Report {
        found.report
    }
    fn hits(found: &Answer<T>) -> Option<u64> {
        T::sphere_hits(found)
    }
}

/// The queries `all` and `nearest`: lists of every sphere that a ray hits, or of the first `most`.
pub(crate) struct ListQuery {
    pub(crate) most: Option<u32>,
}

/// Target number of list entries per call, 96 MiB. The lengths of lists are not known before they are made.
const MAX_ENTRIES_PER_CALL: u64 = 1 << 23;

impl CastQuery for ListQuery {
    type Found = HitLists;
    type Batch = HitLists;
    /// The offset of the list, and one sphere.
    const BYTES: u64 = (size_of::<u64>() + size_of::<Interval>()) as u64;
    const PARTS: bool = true;
    const FIRST: usize = 1 << 14;
    const LEGEND: Legend = LISTED;

    fn least_bytes(&self) -> u64 {
        size_of::<u64>() as u64
    }
    fn create(&self, path: &Path, kept: &[String], _: Option<StreamFormat>) -> Result<FileWriter<HitLists>> {
        if !kept.is_empty() {
            return Err(Error::Usage("--keep needs a query with one row per ray, not all or nearest".into()));
        }
        Ok(FileWriter::<HitLists>::create(path)?)
    }
    fn batch(found: &HitLists) -> &HitLists {
        found
    }
    fn cast(&self, scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<HitLists> {
        match self.most {
            None => Ok(scene.all(rays, query)?),
            Some(k) => Ok(scene.nearest(rays, k, query)?),
        }
    }
    fn mark(found: &HitLists, ray: usize) -> Mark {
        Mark::through(found.get(ray).unwrap_or_default())
    }
    fn compare(&self, input: &Input<'_>, found: &HitLists, expected: &HitLists) -> Comparison {
        input.compare_lists(found, expected, self.most)
    }
    fn report(found: &HitLists) -> Report {
        found.report
    }
    fn hits(found: &HitLists) -> Option<u64> {
        Some(found.records.len() as u64)
    }
    /// Chooses the number for `MAX_ENTRIES_PER_CALL` entries, but at most quadruples the number of rays: the next rays may hit more spheres
    /// than the last ones.
    fn next(size: usize, found: &HitLists) -> usize {
        let fit = (found.len() as u64).saturating_mul(MAX_ENTRIES_PER_CALL) / (found.records.len() as u64).max(1);
        (fit as usize).clamp(1, (4 * size).min(RayBatches::BATCH))
    }
}

impl RayRecord for Hit {
    const LEGEND: Legend = &[("ray that hits", RAY, true), ("hit", HIT, false), ("ray that misses", MISS, true)];

    fn cast(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        Ok(scene.closest(rays, query)?)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare(found, expected)
    }
    fn mark(&self) -> Mark {
        if self.is_hit() { Mark::Hit { t: self.t, id: self.id } } else { Mark::Miss }
    }
}

impl RayRecord for Described {
    const LEGEND: Legend = <Hit as RayRecord>::LEGEND;

    fn cast(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        let hits = scene.closest(rays, query)?;
        let were = scene.attributes(rays, &hits, query)?;
        let records = hits.iter().zip(were).map(|(hit, was)| Self::new(*hit, was)).collect();
        Ok(Answer { records, report: hits.report })
    }
    fn add_origin(&mut self, origin: DVec3) {
        self.point += origin;
    }
    fn add_channel(&mut self, channel: Channel) {
        self.channel = channel;
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        let [found, expected] = [found, expected].map(|list| list.iter().map(|d| d.hit).collect::<Vec<_>>());
        input.compare(&found, &expected)
    }
    fn mark(&self) -> Mark {
        self.hit.mark()
    }
}

impl RayRecord for bool {
    const LEGEND: Legend = &[("occluded ray", DARK, true), ("free ray", MISS, true)];

    fn cast(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        let bits = scene.occluded(rays, query)?;
        Ok(Answer { records: bits.iter().collect(), report: bits.report })
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare_equal(found, expected)
    }
    fn mark(&self) -> Mark {
        if *self { Mark::Occluded } else { Mark::Miss }
    }
}

impl RayRecord for u32 {
    const LEGEND: Legend = &[("ray that hits", DARK, true), ("ray that misses", MISS, true)];

    fn cast(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        Ok(scene.count(rays, query)?)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare_equal(found, expected)
    }
    fn sphere_hits(found: &[Self]) -> Option<u64> {
        Some(found.iter().map(|count| u64::from(*count)).sum())
    }
    fn mark(&self) -> Mark {
        if *self > 0 { Mark::Occluded } else { Mark::Miss }
    }
}

impl RayRecord for f32 {
    const LEGEND: Legend = &[("ray that loses light", DARK, true), ("ray that loses none", MISS, true)];

    fn cast(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        Ok(scene.transmittance(rays, query)?)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare_equal(found, expected)
    }
    fn mark(&self) -> Mark {
        if *self < 1.0 { Mark::Occluded } else { Mark::Miss }
    }
}

impl RayRecord for Interval {
    const LEGEND: Legend = &[
        ("ray that hits", RAY, true),
        ("inside its sphere", HIT, true),
        ("t_enter, t_exit", HIT, false),
        ("ray that misses", MISS, true),
    ];

    fn cast(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        Ok(scene.interval(rays, query)?)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare(found, expected)
    }
    fn mark(&self) -> Mark {
        if self.is_hit() { Mark::Inside(*self) } else { Mark::Miss }
    }
}

impl RayRecord for Approach {
    const LEGEND: Legend =
        &[("ray", RAY, true), ("nearest pass", PASS, false), ("clearance to the surface", PASS, true)];

    fn cast(scene: &Scene, rays: Rays<'_>, query: &Query) -> Result<Answer<Self>> {
        Ok(scene.approach(rays, query)?)
    }
    fn compare(input: &Input<'_>, found: &[Self], expected: &[Self]) -> Comparison {
        input.compare(found, expected)
    }
    fn mark(&self) -> Mark {
        let Self { t, clearance, id } = *self;
        if *self == Self::NONE { Mark::Miss } else { Mark::Pass { t, clearance, id } }
    }
}
