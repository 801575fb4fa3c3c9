//! The visible fraction for many observers of one light.

use glam::DVec3;
use rayon::prelude::*;

use super::ball::{Ball, Shadow, ShadowKind};
use super::coverage::classify_simd::{BLOCK, COVERS, IN_LIGHT, Observers, TOUCHES};
use super::coverage::disc::Sky;
use super::coverage::two_caps_simd::Lenses;
use super::lighting::Lighting;
use super::spheroid::Spheroid;
use super::validate::{LARGEST, check_observer};
use super::visibility::Prepared;
use crate::error::Result;
use crate::math::simd::level::Level;
use crate::query::policy::same_length;
use crate::runtime::cancel::Watch;
use crate::runtime::cpu_pool::{self, on_cores};
use crate::runtime::memory::{filled, room};
use crate::scene::device::Device;
use crate::scene::scene::Caller;
use crate::shadow::gpu::render::shades;
use crate::shadow::gpu::uniforms::Shade;

/// Observers per task.
const TASK: usize = 16 * BLOCK;
/// Observers per chunk if they must be copied.
const PIECE: usize = 1 << 18;
/// Maximum number of occluders that are prepared for a GPU at once, if every one touches every observer's disc: 64 MiB.
const WRITTEN: usize = 1 << 20;

/// Observers whose shadow is still to be computed: index in the list, and the prepared query.
type Doubtful = Vec<(usize, Prepared)>;

impl Device {
    /// Visible fraction of the light for each observer, and the kind of coverage: [`visible_fraction`](super::visibility::visible_fraction)
    /// for large numbers of observers.
    ///
    /// The CPU engine computes in f64, as accurately as that function. A GPU computes in f32, accurate to 10⁻⁴ (10⁻³ with spheroids), from
    /// numbers that are made relative in f64. Before that, observers outside every penumbra are classified in f64. The CPU computes the
    /// cases that the GPU cannot: an edge of an occluder across a light of a few µrad, more than sixteen spheres on one disc, or more than
    /// three bodies if one is a spheroid. Empty lists of observers or occluders are valid.
    ///
    /// ```
    /// use umbracast::shadow::{Ball, Lighting, ShadowKind};
    /// use umbracast::{DeviceOptions, blocking};
    ///
    /// let sun = Ball::new([0.0, 0.0, 149_597_870.7], 695_700.0);
    /// let moon = Ball::new([0.0, 0.0, 370_000.0], 1_737.4);
    /// let lighting = Lighting::new(sun, [moon])?;
    /// let observers = [[0.0, 0.0, 6_371.0].into(), [1_000.0, 0.0, 6_291.0].into(), [0.0, 6_371.0, 0.0].into()];
    ///
    /// let device = blocking::open(&DeviceOptions::new("cpu"))?;
    /// let shadows = blocking::shadows(&device, &lighting, &observers)?;
    ///
    /// let kinds = shadows.iter().map(|shadow| shadow.kind).collect::<Vec<_>>();
    /// assert_eq!(kinds, [ShadowKind::Total, ShadowKind::Partial, ShadowKind::None]);
    /// assert_eq!((shadows[0].fraction, shadows[2].fraction), (0.0, 1.0));
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) for the first observer with a coordinate that is not a number or exceeds 1e150 in
    /// magnitude; [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::Cancelled`](crate::Error::Cancelled); device errors.
    pub async fn shadows(&self, lighting: &Lighting, observers: &[DVec3]) -> Result<Vec<Shadow>> {
        self.shadows_of(lighting, observers, Caller::Polls).await
    }

    /// [`shadows`](Self::shadows), written to `out`.
    ///
    /// # Errors
    /// The errors of [`shadows`](Self::shadows), and [`Error::LengthsDiffer`](crate::Error::LengthsDiffer). After an error the contents of
    /// `out` are unspecified.
    pub async fn shadows_into(&self, lighting: &Lighting, observers: &[DVec3], out: &mut [Shadow]) -> Result<()> {
        self.shade(lighting, observers, out, Caller::Polls).await
    }

    pub(crate) async fn shadows_of(
        &self,
        lighting: &Lighting,
        observers: &[DVec3],
        caller: Caller,
    ) -> Result<Vec<Shadow>> {
        let mut out = room(observers.len())?;
        out.resize(observers.len(), Shadow::default());
        self.shade(lighting, observers, &mut out, caller).await?;
        Ok(out)
    }

    pub(crate) async fn shade(
        &self,
        lighting: &Lighting,
        observers: &[DVec3],
        out: &mut [Shadow],
        caller: Caller,
    ) -> Result<()> {
        same_length("observers", observers.len(), "shadows", out.len())?;
        if self.is_cpu() && caller == Caller::Waits {
            return cpu(lighting, 0, observers, out, &self.watch);
        }
        let piece = match self.gpu() {
            None => PIECE,
            Some(_) => {
                let bodies = lighting.occluders().len() + lighting.spheroids().len();
                (WRITTEN / bodies.max(1)).clamp(16, PIECE)
            }
        };
        for ((first, own), out) in (0_u64..).step_by(piece).zip(observers.chunks(piece)).zip(out.chunks_mut(piece)) {
            let watch = self.watch.clone();
            let (lighting, mut observers) = (lighting.clone(), room(own.len())?);
            observers.extend_from_slice(own);
            match self.gpu() {
                None => {
                    let work = move || {
                        let mut out = filled("shadows", observers.len(), Shadow::default())?;
                        cpu(&lighting, first, &observers, &mut out, &watch).map(|()| out)
                    };
                    out.copy_from_slice(&on_cores(work).await??);
                }
                Some(gpu) => {
                    let work = move || sift(&lighting, first, &observers, &watch);
                    let (sifted, doubtful) = on_cores(work).await??;
                    out.copy_from_slice(&sifted);
                    let (places, prepared): (Vec<usize>, Vec<Prepared>) = doubtful.into_iter().unzip();
                    let found = shades(gpu, &prepared).await?;
                    let settled = on_cores(move || settle(&found, &prepared)).await?;
                    places.into_iter().zip(settled).for_each(|(at, shadow)| out[at] = shadow);
                    self.watch.add(own.len() as u64);
                }
            }
        }
        Ok(())
    }
}

/// The device's results; those that it left to the CPU are computed here in f64.
pub(crate) fn settle(found: &[Shade], prepared: &[Prepared]) -> Vec<Shadow> {
    let one = |(found, one): (&Shade, &Prepared)| match ShadowKind::ALL.get(found.kind as usize) {
        Some(&kind) => Shadow { fraction: f64::from(found.fraction), kind },
        None => one.shadow(&mut Sky::default()),
    };
    found.par_iter().zip(prepared).map(one).collect()
}

/// Computes all shadows in f64, on all cores.
fn cpu(lighting: &Lighting, first: u64, observers: &[DVec3], out: &mut [Shadow], watch: &Watch) -> Result<()> {
    cpu_pool::ready();
    let level = Level::best();
    let done = observers.par_chunks(TASK).zip(out.par_chunks_mut(TASK)).try_for_each(|(observers, out)| {
        watch.check()?;
        let mut sky = Sky::default();
        let mut lenses = (lighting.light().radius > 0.0).then(|| Lenses::new(lighting.light()));
        let mut compute = |_, prepared: &Prepared| prepared.shadow(&mut sky);
        if !task(level, lighting, observers, out, lenses.as_deref_mut(), &mut compute) {
            return refuse(0, observers);
        }
        watch.add(observers.len() as u64);
        Ok(())
    });
    // If several observers are invalid, the error names the first one, whichever task found its own first.
    done.or_else(|error| refuse(first, observers).and(Err(error)))
}

/// Classifies observers. Returns the shadows of those outside every penumbra; for all others, their indices and prepared queries.
fn sift(lighting: &Lighting, first: u64, observers: &[DVec3], watch: &Watch) -> Result<(Vec<Shadow>, Doubtful)> {
    let level = Level::best();
    let mut out = room(observers.len())?;
    out.resize(observers.len(), Shadow::default());
    let tasks = observers.par_chunks(TASK).zip(out.par_chunks_mut(TASK)).enumerate();
    let found = tasks.map(|(n, (observers, out))| {
        watch.check()?;
        let mut doubtful = Vec::new();
        let good = task(level, lighting, observers, out, None, &mut |at, prepared| {
            doubtful.push((n * TASK + at, prepared.clone()));
            Shadow::default()
        });
        if good { Ok(doubtful) } else { refuse(0, observers).map(|()| doubtful) }
    });
    let found: Result<Vec<Doubtful>> = found.collect();
    let doubtful = found.or_else(|error| refuse(first, observers).and(Err(error)))?;
    Ok((out, doubtful.into_iter().flatten().collect()))
}

/// Returns the error for the first invalid observer.
fn refuse(first: u64, observers: &[DVec3]) -> Result<()> {
    (first..).zip(observers).try_for_each(|(index, &observer)| check_observer(index, observer))
}

/// Runs one task. `lenses`, if given, computes the observers that may be in the penumbra of exactly one sphere; `compute` computes all
/// others. Returns false if an observer is invalid.
fn task(
    level: Level,
    lighting: &Lighting,
    observers: &[DVec3],
    out: &mut [Shadow],
    mut lenses: Option<&mut Lenses>,
    compute: &mut dyn FnMut(usize, &Prepared) -> Shadow,
) -> bool {
    let (light, occluders, spheroids) = (lighting.light(), lighting.occluders(), lighting.spheroids());
    let mut block = Observers::new();
    let mut prepared = Prepared::default();
    let mut touching = Vec::new();
    let mut own_balls = Vec::new();
    let mut touching_spheroids = Vec::new();
    let mut own_spheroids = Vec::new();
    let mut doubtful = [0_u32; BLOCK];
    for (first, own) in (0..).step_by(BLOCK).zip(observers.chunks(BLOCK)) {
        if !level.take_in(&mut block, own, light, LARGEST) {
            return false;
        }
        touching.clear();
        for (number, &ball) in (0..).zip(occluders) {
            if level.sift(&mut block, ball, number) {
                touching.push(ball);
            }
        }
        touching_spheroids.clear();
        for spheroid in spheroids {
            if level.sift_between(&mut block, spheroid.around(), spheroid.within()) {
                touching_spheroids.push(*spheroid);
            }
        }
        // Branch-free, because which observers are undecided is unpredictable.
        let mut count = 0;
        for (i, (out, &flags)) in out[first..].iter_mut().zip(&block.flags).enumerate() {
            *out = if flags & COVERS != 0 { Shadow::DARK } else { Shadow::LIT };
            doubtful[count] = i as u32;
            count += usize::from(flags & IN_LIGHT != 0 || (flags & COVERS == 0 && flags >= TOUCHES));
        }
        for &i in &doubtful[..count] {
            let (i, at) = (i as usize, first + i as usize);
            match lenses.as_deref_mut().filter(|_| block.flags[i] == TOUCHES) {
                Some(lenses) => {
                    lenses.push(own[i], occluders[block.last[i] as usize], at);
                    if lenses.is_full() {
                        drain(level, lenses, light, out, compute);
                    }
                }
                None => {
                    // Observers close to the light are not classified, so all occluders count. For others, `touching` also contains
                    // occluders that touch only other observers of the block.
                    own_balls.clear();
                    own_spheroids.clear();
                    if block.flags[i] & IN_LIGHT != 0 {
                        own_balls.extend_from_slice(occluders);
                        own_spheroids.extend_from_slice(spheroids);
                    } else {
                        own_balls.extend(touching.iter().filter(|ball| block.is_touched(i, **ball)));
                        let near = |one: &&Spheroid| block.is_touched_within(i, one.around());
                        own_spheroids.extend(touching_spheroids.iter().filter(near));
                    }
                    prepared.set(own[i], light, &own_balls, &own_spheroids);
                    out[at] = compute(at, &prepared);
                }
            }
        }
    }
    if let Some(lenses) = lenses {
        drain(level, lenses, light, out, compute);
    }
    true
}

/// Computes the pair batch and writes its results to `out`.
fn drain(
    level: Level,
    lenses: &mut Lenses,
    light: Ball,
    out: &mut [Shadow],
    compute: &mut dyn FnMut(usize, &Prepared) -> Shadow,
) {
    lenses.drain(level, |at, shadow, observer, ball| {
        out[at] = shadow.unwrap_or_else(|| {
            let mut prepared = Prepared::default();
            prepared.set(observer, light, &[ball], &[]);
            compute(at, &prepared)
        });
    });
}
