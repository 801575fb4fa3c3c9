//! `umbracast cast` with files: rays are read, cast and written in batches, so memory is limited to a few batches.

use std::path::Path;

use crate::error::{Error, Result};
use umbracast::glam::DVec3;
use umbracast::memory;
use umbracast::{CancelToken, Motion, OnBad, Query, Ray, Rays, Report, Sphere, Spheres};
use umbracast::{Device, DeviceOptions, Scene};
use umbracast_files::{FileWriter, ReadOptions, check_disk, least_output, origin_of_spheres, read_spheres_with};
use umbracast_files::{Heights, LeftOut, OriginFinder, PreparedFile, RayBatches, Rounding, Table};
use umbracast_files::{check_output, check_points_output, is_pipe, is_points_output};

use super::args::Origin;
use super::cast::CastArgs;
use super::cast_query::{CastQuery, QueryName};
use super::coarse::{RAY, Rounded};
use super::compare::{self, Comparison, Reference};
use super::describe::With;
use super::plot::Plot;
use super::progress::{CastProgress, ProgressDisplay};
use super::ray_input::{RayInput, RayInputOptions};
use super::summary::{CastSummary, FromId};
use super::{left_out, print_summary, say, signals};

/// Warns about starts that are far from the surface of their sphere.
pub(crate) fn warn_off_surface(count: u64, what: &str) {
    if count > 0 {
        say(&format!(
            "warning: {count} {what} start farther from the surface of their sphere than rounding to f32 explains; see from_id in docs/columns.md"
        ));
    }
}

/// A cast with input and output files.
pub(crate) struct Files<'a> {
    pub(crate) args: &'a CastArgs,
    pub(crate) query: Query,
    pub(crate) spheres: &'a Path,
    pub(crate) rays: RayInputOptions<'a>,
    pub(crate) output: &'a Path,
    /// The columns of `--with`, and for a file of points the point.
    pub(crate) with: Vec<With>,
}

/// Totals of the rays so far.
#[derive(Default)]
struct CastTotals<'a> {
    report: Report,
    rounding: Rounding,
    /// What was left out of a file of points.
    left_out: LeftOut,
    comparison: Comparison,
    /// Number of spheres hit by all rays, for queries that count or list them.
    sphere_hits: Option<u64>,
    plot: Option<Plot<'a>>,
    heights: Heights,
}

impl Files<'_> {
    /// Runs the query on all rays and writes its results.
    pub(crate) fn answer<T: CastQuery>(&self, mut cast_query: T) -> Result<()> {
        // All checks that need no device come first, the cheapest ones before the others.
        let (table, keep) = (&self.args.table, &self.args.keep);
        table.check(&[self.spheres, self.rays.path()], self.output, self.args.summary.json)?;
        let (rays, inputs) = self.rays.open(&self.args.sphere_options.options(keep.read_options(table)))?;
        let inputs = [self.spheres].into_iter().chain(inputs.iter().map(|path| &**path)).collect::<Vec<_>>();
        // `run` adds the point of each hit to the columns of a file of points.
        let target = if matches!(self.args.query, QueryName::Closest) { check_points_output } else { check_output }(
            self.output,
            &inputs,
            table.format,
        )?;
        let mut kept = rays.kept().to_vec();
        let from_column = rays.start_column();
        cast_query.sensor(rays.angles()?);
        let others: Vec<&Path> = inputs.iter().copied().chain([self.output, &*target]).collect();
        let plot = self.args.plot.as_deref().map(|path| Plot::new(path, &others, T::LEGEND)).transpose()?;
        let sphere_options = self.args.sphere_options.options(keep.sphere_options(table)).on_bad(self.args.on_bad);
        let (mut spheres, origin) =
            read_spheres_from(self.spheres, self.args.origin, &sphere_options, self.args.summary.quiet, || {
                self.rays.starts(&keep.read_options(table))
            })?;
        cast_query.subtracted(origin.unwrap_or_default());
        if spheres.optional.velocities.is_none() {
            self.args.check_rest(self.spheres)?;
        }
        if spheres.optional.stretches() {
            self.check_round()?;
        }
        let count = spheres.records.len();
        if let Some(rays) = rays.rays().filter(|rays| self.args.pairwise && *rays != count as u64) {
            return Err(not_pairs(count, rays));
        }
        let counted = rays.rays();
        let mut rays = rays.read(origin.unwrap_or_default(), self.args.on_bad)?;
        let needs_times = spheres.optional.velocities.is_some() && self.query.motion == Motion::AtTime;
        let poses = inputs.last().copied().unwrap_or(self.spheres);
        if needs_times && !rays.use_pose_times(poses, self.args.on_bad)? && !self.args.summary.quiet {
            let how = match keep.is_given() {
                true => "the poses have no column time",
                false => "the poses can have times with --keep (.csv or .parquet, one row per ray)",
            };
            say(&format!("note: {}: all rays are at time 0: {how}", self.rays.path().display()));
        }
        if let Some(warning) = rays.warning() {
            // Printed even with `--quiet`, as that about rounding below.
            say(&format!("warning: {}: {warning}", self.rays.path().display()));
        }
        if let Some(all) = counted.or_else(|| rays.made()) {
            self.check_disk(all, cast_query.least_bytes())?;
        }
        let precision = self.query.precision.resolved(spheres.optional.stretches());
        let device = Device::open(&self.args.device.options(precision))?;
        let reference = self.args.compare.then(|| Device::open(&DeviceOptions::new("cpu"))).transpose()?;
        let with = Reference::of(&device, spheres.optional.stretches());
        self.check_memory::<T>(&device, reference.as_ref(), spheres.spheres(), &rays)?;

        let watch = CancelToken::new();
        let how = (self.args.pairwise, self.args.summary.quiet);
        let (scene, reference) = with.scenes(&device, reference, spheres.spheres(), self.args.time_range(), how)?;
        let (scene, reference) = (scene.with_cancel(&watch), reference.map(|scene| scene.with_cancel(&watch)));
        if reference.is_none() && plot.is_none() && !spheres.optional.stretches() {
            // The scene has its own copies.
            (spheres.records, spheres.optional) = Default::default();
        }
        let from_id = self.choose_start_column(from_column, &scene, origin, &watch)?;
        if matches!(from_id, Some(FromId::Unused(_))) && !is_pipe(self.rays.path()) {
            let (free, _) = self.rays.free().open(&self.args.sphere_options.options(keep.read_options(table)))?;
            kept = free.kept().to_vec();
            rays = free.read(origin.unwrap_or_default(), self.args.on_bad)?;
        }
        // An empty query, which fails if the device does not support the precision or the query.
        let _ = cast_query.cast(&scene, Rays::from(&[]).numbered_from(0), &self.query)?;

        signals::cancel(&watch);
        let mut writer = cast_query.create(self.output, &kept, table.format)?;
        let mut sum = CastTotals { plot, comparison: Comparison::to(with), ..CastTotals::default() };
        let reference = reference.as_ref().map(|scene| (scene, &spheres));
        let cast = self.cast(&cast_query, rays, &scene, &spheres, reference, &watch, &mut writer, &mut sum);
        let comparison = reference.is_some().then_some(&sum.comparison);
        let broken = comparison.and_then(|c| compare::broken(c, precision));
        // Results that violate a guarantee are not written.
        let mut plotted = None;
        let finish = || {
            if broken.is_none() {
                // Both files are complete before either appears: if one fails, the other stays unchanged.
                let plot = sum
                    .plot
                    .as_ref()
                    .map(|plot| {
                        plot.write(&spheres, self.query.motion, self.args.time_range(), origin.unwrap_or_default())
                    })
                    .transpose()?;
                let answers = self.complete::<T>(writer, &watch)?;
                let (shown, plot) = plot.unzip();
                PreparedFile::persist_all(plot.into_iter().chain([answers]))?;
                plotted = shown;
            }
            Ok(())
        };
        cast.and_then(|()| finish())?;
        left_out::say_of(self.rays.path(), &sum.left_out, self.args.summary.quiet);
        let mut rounding = spheres.rounding;
        rounding += sum.rounding;
        let files = &[self.spheres, self.rays.path()];
        let rounded = Rounded { rounding, heights: &sum.heights, what: RAY, origin: (self.args.origin, origin), files };
        if let Some(warning) = rounded.warning(scene.spheres()) {
            // Printed even with `--quiet`, because the results differ from those of the input before rounding.
            say(&warning);
        }
        warn_off_surface(sum.report.off_surface, "rays");
        let Report { rays, rays_hit, skipped, overflowed, resolved_exactly, off_surface, seconds, .. } = sum.report;
        let (from_id, unused_id) = match from_id {
            Some(FromId::Column(name)) => (Some(name), None),
            Some(FromId::Unused(why)) => (None, Some(why)),
            None => (None, None),
        };
        let shown = |path: &Path| path.display().to_string();
        let summary = CastSummary {
            query: self.args.query.word(),
            precision: precision.word(),
            device: device.name(),
            cpu: device.is_cpu(),
            spheres: count,
            skipped_spheres: spheres.skipped.len(),
            rays,
            rays_hit,
            sphere_hits: sum.sphere_hits,
            skipped,
            overflowed,
            resolved_exactly,
            off_surface,
            from_id,
            unused_id,
            seconds,
            mrays_per_second: (seconds > 0.0).then(|| rays as f64 / seconds * 1e-6),
            rounded: rounding.changed,
            largest_rounding: rounding.largest,
            rounded_field: (rounding.changed > 0).then_some(rounding.field),
            origin: origin.map(|o| o.to_array()),
            output: broken.is_none().then(|| shown(self.output)),
            plot: self.args.plot.as_deref().filter(|_| plotted.is_some()).map(shown),
            plot_shows: plotted.as_deref(),
            compare: comparison,
        };
        print_summary(&summary, &summary.line(), self.args.summary.json, self.args.summary.quiet)?;
        broken.map_or(Ok(()), |what| Err(Error::BrokenPromise(what)))
    }

    /// Decides on the column of the spheres on whose surfaces the rays from points start. A column `id` that no option names is used only
    /// if every point lies on its sphere; so the points are read twice.
    fn choose_start_column(
        &self,
        column: Option<&'static str>,
        scene: &Scene,
        origin: Option<DVec3>,
        watch: &CancelToken,
    ) -> Result<Option<FromId>> {
        let Some(column) = column else { return Ok(None) };
        if column != "id" || self.args.from_id.is_some() {
            return Ok(Some(FromId::Column(column)));
        }
        if is_pipe(self.rays.path()) {
            return Ok(Some(FromId::Unused("the points come from a pipe, which is read once; see --from-id".into())));
        }
        let (file, _) = self.rays.open(&self.args.keep.read_options(&self.args.table))?;
        let mut points = file.read(origin.unwrap_or_default(), self.args.on_bad)?;
        let mut end = 0;
        loop {
            match points.next(watch) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if matches!(error.of_records(), Some(umbracast::Error::Cancelled { .. })) => {
                    return Err(error);
                }
                // Other columns are read again.
                Err(error) => return Ok(Some(FromId::Unused(error.to_string()))),
            }
            let mut rays = points.rays(end);
            end += rays.len() as u64;
            while let Err(error) = scene.check_starts(rays) {
                let why = match error {
                    // The cast skips this point.
                    umbracast::Error::BadRecord { what: "point", index, .. } if self.args.on_bad == OnBad::Skip => {
                        let left = (end - index - 1) as usize;
                        rays = rays.slice(rays.len() - left..rays.len());
                        continue;
                    }
                    umbracast::Error::BadRecord { what: "ray", index, .. } => {
                        format!(
                            "the point in row {} (index {index}) does not lie on the sphere that it names",
                            index + 1
                        )
                    }
                    // The cast reports it.
                    _ => "a point is not valid".into(),
                };
                return Ok(Some(FromId::Unused(why)));
            }
        }
        Ok(Some(FromId::Column(column)))
    }

    /// Rejects `--with`, which does not support ellipsoids.
    fn check_round(&self) -> Result<()> {
        if self.with.is_empty() {
            return Ok(());
        }
        let spheres = self.spheres.display();
        if is_points_output(self.output) {
            let output = self.output.display();
            return Err(Error::Usage(format!("-o {output} does not support ellipsoids, which {spheres} contains")));
        }
        Err(Error::Usage(format!("--with does not support ellipsoids, which {spheres} contains (columns rx,ry,rz)")))
    }

    /// Rejects results that do not fit on the disk, with both sizes. Prints the expected size if it is at least 1 GiB.
    fn check_disk(&self, answers: u64, bytes: u64) -> Result<()> {
        const LARGE_OUTPUT: u64 = 1 << 30;
        let Some(least) = least_output(self.output, answers, bytes) else { return Ok(()) };
        check_disk(self.output, least)?;
        if least >= LARGE_OUTPUT && !self.args.summary.quiet {
            say(&format!("{answers} rays: the results will take at least {:.1} GB", least as f64 * 1e-9));
        }
        Ok(())
    }

    /// Rejects scenes and batches that do not fit into memory, with both sizes.
    fn check_memory<T: CastQuery>(
        &self,
        device: &Device,
        reference: Option<&Device>,
        spheres: Spheres<'_>,
        rays: &RayInput,
    ) -> Result<()> {
        let batch = rays.at_most().unwrap_or(u64::MAX).min(RayBatches::BATCH as u64);
        // Results per device, and one converted copy, in arrays or as text, that is being written.
        let fixed = RayBatches::IN_FLIGHT * batch * size_of::<Ray>() as u64 + 64 * batch;
        let needed = [Some(device), reference].into_iter().flatten().fold(fixed, |sum, device| {
            let answers = batch * T::BYTES;
            sum.saturating_add(device.estimate_bytes_of(spheres, batch)).saturating_add(answers)
        });
        Ok(memory::check("the scene and batches of rays", needed)?)
    }

    /// Casts all batches, and with a reference scene also on that. Writes, compares and plots the results.
    #[expect(clippy::too_many_arguments, reason = "what is read, where it is cast, and where the answers go")]
    fn cast<T: CastQuery>(
        &self,
        cast_query: &T,
        mut rays: RayInput,
        scene: &Scene,
        table: &Table<Sphere>,
        reference: Option<(&Scene, &Table<Sphere>)>,
        watch: &CancelToken,
        writer: &mut FileWriter<T::Batch>,
        sum: &mut CastTotals<'_>,
    ) -> Result<()> {
        let mut size = T::FIRST;
        let _working = self.casting(&rays, scene, if reference.is_some() { 2 } else { 1 }, watch);
        while rays.next(watch)? {
            let first = sum.report.rays;
            let end = first + rays.rays(first).len() as u64;
            if self.args.pairwise && end > scene.len() as u64 {
                return Err(not_pairs(scene.len(), end + count_rest(&mut rays, watch)?));
            }
            let batch = rays.rays(first);
            if !self.args.pairwise {
                let spheres = if table.records.is_empty() { scene.spheres().into() } else { table.spheres() };
                sum.heights.add(spheres, &table.rounding, batch.len(), |i| rays.start(batch, i));
            }
            let mut begin = 0;
            while begin < batch.len() {
                let part = batch.slice(begin..begin + size);
                let found = match cast_query.cast(scene, part, &self.query) {
                    // The lengths of lists are known only when they are made.
                    Err(Error::Umbracast(umbracast::Error::TooLarge { .. })) if T::PARTS && part.len() > 1 => {
                        size = part.len() / 8 + 1;
                        continue;
                    }
                    found => found.map_err(|error| self.rays.placed(error))?,
                };
                let optional = Some((rays.optional(), begin));
                begin += part.len();
                if let Some((reference, table)) = reference {
                    let expected = cast_query.cast(reference, part, &sum.comparison.with.query(&self.query))?;
                    let (first, query, pairwise) = (sum.report.rays, &self.query, self.args.pairwise);
                    let written: Vec<Ray> = (0..part.len()).filter_map(|i| part.ray(i)).collect();
                    let (spheres, held) = (&table.records[..], Some(&table.optional));
                    let rays = &written;
                    let input = compare::Input { spheres, held, rays, first, query, pairwise, optional };
                    sum.comparison += cast_query.compare(&input, &found, &expected);
                }
                match rays.kept() {
                    Some(kept) => writer.write_kept(T::batch(&found), kept, begin - part.len())?,
                    None => writer.write(T::batch(&found))?,
                }
                if let Some(plot) = &mut sum.plot {
                    plot.add(part, optional, |ray| T::mark(&found, ray));
                }
                sum.report = sum.report + T::report(&found);
                sum.sphere_hits = T::hits(&found).map(|hits| hits + sum.sphere_hits.unwrap_or(0)).or(sum.sphere_hits);
                size = T::next(size, &found);
            }
            if writer.is_closed() {
                break;
            }
        }
        sum.rounding = rays.rounding();
        sum.left_out = rays.left_out();
        if self.args.pairwise && !writer.is_closed() && sum.report.rays != scene.len() as u64 {
            return Err(not_pairs(scene.len(), sum.report.rays));
        }
        Ok(())
    }

    fn casting(&self, rays: &RayInput, scene: &Scene, casts: u64, watch: &CancelToken) -> ProgressDisplay {
        let watch = watch.clone();
        let casting = CastProgress {
            what: format!("casting rays at {} spheres on {}", scene.len(), scene.device().name()),
            things: "rays",
            done: move || watch.done() / casts,
            expected: rays.expected(),
        };
        ProgressDisplay::casting(casting, self.args.summary.quiet)
    }

    fn complete<T: CastQuery>(&self, writer: FileWriter<T::Batch>, watch: &CancelToken) -> Result<PreparedFile> {
        let _working = ProgressDisplay::on("writing".into(), self.args.summary.quiet);
        Ok(writer.complete(watch)?)
    }
}

/// Reads spheres from a file. Also returns the origin that was subtracted. `starts` returns the starts of some rays, which the automatic
/// origin also depends on.
pub(crate) fn read_spheres_from(
    path: &Path,
    origin: Option<Origin>,
    options: &ReadOptions,
    quiet: bool,
    starts: impl FnOnce() -> Result<Vec<DVec3>>,
) -> Result<(Table<Sphere>, Option<DVec3>)> {
    let working = ProgressDisplay::on("reading spheres".into(), quiet);
    let origin = match origin {
        None => None,
        Some(Origin::At(origin)) => Some(origin),
        Some(Origin::Auto) => Some(origin_of_spheres(path, OriginFinder::new(&starts()?), options)?),
    };
    let spheres = read_spheres_with(path, origin.unwrap_or_default(), options)?;
    drop(working);
    left_out::say_of(path, &spheres.left_out, quiet);
    Ok((spheres, origin))
}

fn not_pairs(spheres: usize, rays: u64) -> Error {
    umbracast::Error::LengthsDiffer { left_name: "spheres", left: spheres as u64, right_name: "rays", right: rays }
        .into()
}

/// Reads the remaining rays and returns their number.
fn count_rest(rays: &mut RayInput, watch: &CancelToken) -> Result<u64> {
    let mut count = 0;
    while rays.next(watch)? {
        count += rays.rays(0).len() as u64;
    }
    Ok(count)
}
