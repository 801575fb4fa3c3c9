//! Visible fractions where everything may vary: each row has its own observer, light and bodies.

use bytemuck::allocation::zeroed_box;
use glam::DVec3;
use rayon::prelude::*;

use super::ball::{Ball, Shadow, ShadowFlux, ShadowKind};
use super::coverage::classify_simd::{BLOCK, COVERS, IN_LIGHT, RowBlock, TOUCHES};
use super::coverage::disc::OccluderSet;
use super::coverage::two_caps_simd::TwoCapBatch;
use super::gpu::visibility::visible_shades;
use super::interiors::depth_inside;
use super::limb_darkening::LimbDarkening;
use super::spheroid::{Spheroid, check_spheroid};
use super::system::check_apart_from_light;
use super::validate::check;
use super::visibility::LocalVisibility;
use super::{fluxes, observers};
use crate::error::{Error, Result};
use crate::math::simd::level::SimdLevel;
use crate::runtime::block_on::block_on;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::try_repeat;
use crate::scene::device::Device;

/// Rows per task.
const TASK_ROWS: usize = 16 * BLOCK;
/// Rows that are prepared for a GPU at once.
const GPU_ROWS: usize = 1 << 16;

/// A row of [`Device::shadows_by_row`]: an observer, a light, and the bodies that may cover the light. Positions are in f64, in any unit.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowRow {
    /// Position of the observer, who must not be inside a body.
    pub observer: DVec3,
    /// The light; its radius must be above 0.
    pub light: Ball,
    /// The bodies. One whose radii are equal is a sphere, and its pole does not matter.
    pub bodies: Vec<Spheroid>,
    /// Limb darkening of the light. Without it, the flux is the fraction.
    pub limb_darkening: Option<LimbDarkening>,
}

impl ShadowRow {
    /// A row with this observer, light and bodies, without limb darkening.
    pub fn new(observer: impl Into<DVec3>, light: Ball, bodies: impl Into<Vec<Spheroid>>) -> Self {
        Self { observer: observer.into(), light, bodies: bodies.into(), limb_darkening: None }
    }

    /// Checks the row with the number `index`.
    ///
    /// # Errors
    /// [`Error::BadRecord`] for the first invalid value: a coordinate or radius that is not a number or exceeds 1e150 in magnitude, a light
    /// without extent, a negative radius, a spheroid whose polar radius is not 0.01 to 100 times its radius, whose pole has no direction, or
    /// whose bounding sphere touches the light, and an observer inside a body, deeper below the surface than 2⁻²² of the distance from the
    /// centre to the surface there.
    pub fn check(&self, index: u64) -> Result<()> {
        check("observer", index, Ball { center: self.observer, radius: 0.0 })?;
        check("light", index, self.light)?;
        if self.light.radius == 0.0 {
            return Err(Error::record("light", index, "radius", "0", "the radius of a light must be above 0"));
        }
        let of_body = |number: usize, error| match error {
            Error::BadRecord { index, field, value, why, .. } => {
                let why = format!("{why} (body {number} of the row)").into();
                Error::BadRecord { what: "row", index, field, value, why }
            }
            other => other,
        };
        for (number, body) in self.bodies.iter().enumerate() {
            match body.is_sphere() {
                true => check("body", index, body.bounding_ball()),
                false => check_spheroid(index, body).and_then(|()| check_apart_from_light(index, body, self.light)),
            }
            .map_err(|error| of_body(number, error))?;
            if let Some(depth) = depth_inside(body, self.observer) {
                let [x, y, z] = self.observer.to_array();
                let why = format!("it is inside body {number} of the row, {depth} below the surface");
                return Err(Error::record("observer", index, "position", format!("[{x}, {y}, {z}]"), why));
            }
        }
        Ok(())
    }
}

/// Writes the row with a given index over the last one.
type Fill<'a> = &'a (dyn Fn(usize, &mut ShadowRow) + Sync);

impl Device {
    /// Visible fraction, kind of coverage and visible flux for `count` rows, each with its own observer, light and bodies.
    ///
    /// `row` writes the row with the given index, 0…`count` − 1, over an earlier one: it replaces the bodies, for example with
    /// `bodies.clear()` and `bodies.extend(…)`. It may be called several times for a row, from several threads, and must always write the same.
    /// The rules of [`Lighting`](super::Lighting) apply, except that an observer inside a body and a light of radius 0 are errors. `flux` is
    /// the brightness of the visible part, relative to that of the whole disc: the fraction without limb darkening.
    ///
    /// The CPU engine computes in f64: fractions are accurate to 10⁻⁹ + 5 · 10⁻¹⁷ / a, for a light of the angular radius a in rad. A GPU
    /// computes the rows in a penumbra in f32, accurate to 10⁻⁴ (10⁻³ with spheroids and for fluxes), and leaves to the CPU what
    /// [`shadows`](Self::shadows) leaves to it. The CPU also computes the fluxes of rows whose laws of limb darkening differ.
    ///
    /// The call blocks until all rows are computed, and allocates 24 bytes per row.
    ///
    /// ```
    /// use umbracast::shadow::{Ball, ShadowKind, Spheroid};
    /// use umbracast::{Device, DeviceOptions};
    ///
    /// // A satellite in a circular orbit around the oblate Earth, and the Sun, in km.
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let seen = device.shadows_by_row(360, &|i, row| {
    ///     let (sine, cosine) = (i as f64).to_radians().sin_cos();
    ///     row.observer = [7_000.0 * cosine, 7_000.0 * sine, 0.0].into();
    ///     row.light = Ball::new([149_597_870.7, 0.0, 0.0], 695_700.0);
    ///     row.bodies.clear();
    ///     row.bodies.push(Spheroid::new([0.0; 3], 6_378.137, 6_356.752, [0.0, 0.0, 1.0]));
    /// })?;
    /// assert_eq!(seen[0].shadow.kind, ShadowKind::Lit);
    /// assert_eq!(seen[180].shadow.kind, ShadowKind::Umbra);
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of [`ShadowRow::check`] for the first invalid row; [`Error::OutOfMemory`]; [`Error::Cancelled`]; device errors.
    pub fn shadows_by_row(
        &self,
        count: usize,
        row: &(dyn Fn(usize, &mut ShadowRow) + Sync),
    ) -> Result<Vec<ShadowFlux>> {
        block_on(self.shadows_by_row_async(count, row))
    }

    /// [`shadows_by_row`](Self::shadows_by_row), for code that must not block. On the CPU engine the first poll of the future computes
    /// everything.
    ///
    /// # Errors
    /// As [`shadows_by_row`](Self::shadows_by_row).
    pub async fn shadows_by_row_async(
        &self,
        count: usize,
        row: &(dyn Fn(usize, &mut ShadowRow) + Sync),
    ) -> Result<Vec<ShadowFlux>> {
        let mut out = try_repeat(ShadowFlux::default(), count)?;
        let rows = Rows { level: self.level, fill: row, cancel: &self.cancel };
        match self.on_gpu() {
            None => rows.compute(0, &mut out)?,
            Some(gpu) => {
                for (first, out) in (0..).step_by(GPU_ROWS).zip(out.chunks_mut(GPU_ROWS)) {
                    let (places, prepared) = rows.classify(first, out)?;
                    let found = observers::resolve(&visible_shades(gpu, &prepared, None).await?, &prepared);
                    places.into_iter().zip(found).for_each(|(at, shadow)| out[at].shadow = shadow);
                }
            }
        }
        let is_partial = |one: &ShadowFlux| matches!(one.shadow.kind, ShadowKind::Penumbra | ShadowKind::Antumbra);
        let is_darkened = |at: &usize| out[*at].flux == DARKENED && is_partial(&out[*at]);
        let darkened: Vec<usize> = (0..count).into_par_iter().filter(is_darkened).collect();
        out.par_iter_mut().for_each(|one| one.flux = one.shadow.fraction);
        let flux = |set: &mut OccluderSet, one: &LocalVisibility, limb: Option<LimbDarkening>| {
            limb.map_or(1.0, |limb| one.flux(set, limb))
        };
        for places in darkened.chunks(GPU_ROWS) {
            let found = match self.on_gpu() {
                None => rows.prepare_each(places, flux)?,
                Some(gpu) => {
                    let prepared = rows.prepare_each(places, |_, one, limb| (one.clone(), limb))?;
                    let (prepared, laws): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
                    let law = laws[0].filter(|law| laws.iter().all(|other| *other == Some(*law)));
                    match law.and_then(|law| Some((law, law.quadratic()?))) {
                        Some((law, coefficients)) => {
                            let shades = visible_shades(gpu, &prepared, Some(coefficients)).await?;
                            fluxes::resolve(&shades, &prepared, law)
                        }
                        None => {
                            let pairs = prepared.par_iter().zip(laws);
                            pairs.map_init(OccluderSet::default, |set, (one, limb)| flux(set, one, limb)).collect()
                        }
                    }
                }
            };
            places.iter().zip(found).for_each(|(&at, flux)| out[at].flux = flux);
        }
        Ok(out)
    }
}

/// Rows, and how to compute them.
struct Rows<'a> {
    level: SimdLevel,
    fill: Fill<'a>,
    cancel: &'a CancelToken,
}

/// A row to be overwritten.
const EMPTY: ShadowRow = ShadowRow {
    observer: DVec3::ZERO,
    light: Ball { center: DVec3::ZERO, radius: 1.0 },
    bodies: Vec::new(),
    limb_darkening: None,
};
/// The flux of a row with limb darkening before it is computed.
const DARKENED: f64 = -1.0;

impl Rows<'_> {
    /// Computes the shadows of the rows from `first` in f64, on all cores.
    fn compute(&self, first: usize, out: &mut [ShadowFlux]) -> Result<()> {
        let tasks = out.par_chunks_mut(TASK_ROWS).enumerate().map(|(n, out)| {
            let mut occluder_set = OccluderSet::default();
            let mut compute = |_, prepared: &LocalVisibility| prepared.shadow(&mut occluder_set);
            self.task(first + n * TASK_ROWS, out, Some(&mut *zeroed_box()), &mut compute)
        });
        // If several rows are invalid, the error names the first one.
        tasks.collect::<Vec<Result<()>>>().into_iter().collect()
    }

    /// Writes the shadows of the rows outside every penumbra, and returns the indices and prepared queries of all others.
    fn classify(&self, first: usize, out: &mut [ShadowFlux]) -> Result<(Vec<usize>, Vec<LocalVisibility>)> {
        let tasks = out.par_chunks_mut(TASK_ROWS).enumerate().map(|(n, out)| {
            let mut undecided = Vec::new();
            self.task(first + n * TASK_ROWS, out, None, &mut |at, prepared| {
                undecided.push((n * TASK_ROWS + at, prepared.clone()));
                Shadow::default()
            })?;
            Ok(undecided)
        });
        let found: Result<Vec<Vec<_>>> = tasks.collect::<Vec<_>>().into_iter().collect();
        Ok(found?.into_iter().flatten().unzip())
    }

    /// Prepares the visibility query of each of the rows in `places`, which have been checked, and applies `finish` to it.
    fn prepare_each<T: Send>(
        &self,
        places: &[usize],
        finish: impl Fn(&mut OccluderSet, &LocalVisibility, Option<LimbDarkening>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let start = || (OccluderSet::default(), LocalVisibility::default(), EMPTY);
        let one = |(occluder_set, prepared, row): &mut (OccluderSet, LocalVisibility, ShadowRow), &at: &usize| {
            self.cancel.check()?;
            (self.fill)(at, row);
            prepared.set_bodies(row.observer, row.light, &row.bodies);
            Ok(finish(occluder_set, prepared, row.limb_darkening))
        };
        places.par_iter().map_init(start, one).collect()
    }

    /// Runs one task. `batch`, if given, computes the rows that may be in the penumbra of exactly one sphere; `compute` computes all others
    /// that need it.
    fn task(
        &self,
        first: usize,
        out: &mut [ShadowFlux],
        mut batch: Option<&mut TwoCapBatch>,
        compute: &mut dyn FnMut(usize, &LocalVisibility) -> Shadow,
    ) -> Result<()> {
        let level = self.level;
        self.cancel.check()?;
        let mut block = zeroed_box::<RowBlock>();
        let mut rows = vec![EMPTY; BLOCK.min(out.len())];
        let mut prepared = LocalVisibility::default();
        let mut shadows = [Shadow::default(); TASK_ROWS];
        let mut doubtful = [0_u32; BLOCK];
        for start in (0..out.len()).step_by(BLOCK) {
            let rows = &mut rows[..BLOCK.min(out.len() - start)];
            for (at, row) in (start..).zip(rows.iter_mut()) {
                (self.fill)(first + at, row);
                if row.limb_darkening.is_some() {
                    out[at].flux = DARKENED;
                }
            }
            let mut is_suspect = block.load(level, rows);
            for number in 0..rows.iter().map(|row| row.bodies.len()).max().unwrap_or(0) {
                is_suspect |= block.classify(level, rows, number);
            }
            if is_suspect {
                (first as u64 + start as u64..).zip(&*rows).try_for_each(|(index, row)| row.check(index))?;
            }
            // Branch-free, because which rows are undecided is unpredictable.
            let mut count = 0;
            let flags = &block.observers.flags;
            for (i, (shadow, &flags)) in shadows[start..].iter_mut().zip(flags).take(rows.len()).enumerate() {
                *shadow = if flags & COVERS != 0 { Shadow::DARK } else { Shadow::LIT };
                doubtful[count] = i as u32;
                count += usize::from(flags & IN_LIGHT != 0 || (flags & COVERS == 0 && flags >= TOUCHES));
            }
            for &i in &doubtful[..count] {
                let (i, at) = (i as usize, start + i as usize);
                let (row, flags) = (&rows[i], block.observers.flags[i]);
                match batch.as_deref_mut().filter(|_| flags == TOUCHES) {
                    Some(batch) => {
                        let body = row.bodies[block.observers.last[i] as usize].bounding_ball();
                        batch.push(row.observer, row.light, body, at);
                        if batch.is_full() {
                            observers::drain(level, batch, &mut shadows, compute);
                        }
                    }
                    None => {
                        // Observers close to the light are not classified, so all bodies count.
                        let counts = |body: &&Spheroid| flags & IN_LIGHT != 0 || block.is_touched(i, body);
                        prepared.set_bodies(row.observer, row.light, row.bodies.iter().filter(counts));
                        shadows[at] = compute(at, &prepared);
                    }
                }
            }
        }
        if let Some(batch) = batch {
            observers::drain(level, batch, &mut shadows, compute);
        }
        out.iter_mut().zip(shadows).for_each(|(out, shadow)| out.shadow = shadow);
        self.cancel.add(out.len() as u64);
        Ok(())
    }
}
