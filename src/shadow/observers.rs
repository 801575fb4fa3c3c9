//! The visible fraction for many observers of one light.

use bytemuck::allocation::zeroed_box;
use glam::DVec3;
use rayon::prelude::*;

use super::ball::{Ball, Shadow, ShadowKind};
use super::coverage::classify_simd::{BLOCK, COVERS, IN_LIGHT, Observers, TOUCHES};
use super::coverage::disc::OccluderSet;
use super::coverage::two_caps_simd::TwoCapBatch;
use super::lighting::Lighting;
use super::occluder_bvh::OccluderBvh;
use super::spheroid::Spheroid;
use super::validate::{LARGEST, check_observer};
use super::visibility::LocalVisibility;
use crate::error::Result;
use crate::math::simd::level::SimdLevel;
use crate::query::policy::check_same_length;
use crate::runtime::block_on::block_on;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::try_repeat;
use crate::scene::device::Device;
use crate::shadow::gpu::uniforms::Shade;
use crate::shadow::gpu::visibility::visible_shades;

/// Observers per task.
const TASK_OBSERVERS: usize = 16 * BLOCK;
/// Minimum number of occluders for which a BVH finds those near the light's disc.
const MIN_BVH_OCCLUDERS: usize = 64;
/// Largest number of observers that are prepared for a GPU at once.
const MAX_CHUNK_OBSERVERS: usize = 1 << 18;
/// Maximum number of occluders that are prepared for a GPU at once, if every one touches every observer's disc: 64 MiB.
const MAX_OCCLUDER_RECORDS: usize = 1 << 20;

/// Observers whose shadow is still to be computed: index in the list, and the prepared query.
type UndecidedObservers = Vec<(usize, LocalVisibility)>;

impl Device {
    /// Visible fraction of the light for each observer, and the kind of coverage: [`visible_fraction`](super::visibility::visible_fraction)
    /// for large numbers of observers.
    ///
    /// The CPU engine computes in f64, as accurately as that function. A GPU computes in f32, accurate to 10⁻⁴ (10⁻³ with spheroids), from
    /// numbers that are made relative in f64. Before that, observers outside every penumbra are classified in f64. The CPU computes the
    /// cases that the GPU cannot: an edge of an occluder across a light of a few µrad, more than sixteen spheres on one disc, or, if a body is
    /// a spheroid, more than three bodies, or an observer on a surface or close to it. Empty lists of observers or occluders are valid.
    ///
    /// The call blocks until all shadows are computed. It allocates one [`Shadow`] per observer; on a GPU, also the occluders in front of the
    /// light of each observer in the penumbra, for a part of the observers at a time.
    ///
    /// ```
    /// use umbracast::shadow::{Ball, Lighting, ShadowKind};
    /// use umbracast::{Device, DeviceOptions};
    ///
    /// let sun = Ball::new([0.0, 0.0, 149_597_870.7], 695_700.0);
    /// let moon = Ball::new([0.0, 0.0, 370_000.0], 1_737.4);
    /// let lighting = Lighting::new(sun, [moon])?;
    /// let observers = [[0.0, 0.0, 6_371.0].into(), [1_000.0, 0.0, 6_291.0].into(), [0.0, 6_371.0, 0.0].into()];
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let shadows = device.shadows(&lighting, &observers)?;
    ///
    /// let kinds = shadows.iter().map(|shadow| shadow.kind).collect::<Vec<_>>();
    /// assert_eq!(kinds, [ShadowKind::Umbra, ShadowKind::Penumbra, ShadowKind::Lit]);
    /// assert_eq!((shadows[0].fraction, shadows[2].fraction), (0.0, 1.0));
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) for the first observer with a coordinate that is not a number or exceeds 1e150 in
    /// magnitude; [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::Cancelled`](crate::Error::Cancelled); device errors.
    pub fn shadows(&self, lighting: &Lighting, observers: &[DVec3]) -> Result<Vec<Shadow>> {
        block_on(self.shadows_async(lighting, observers))
    }

    /// [`shadows`](Self::shadows), for code that must not block. On the CPU engine the first poll of the future computes everything.
    ///
    /// # Errors
    /// The errors of [`shadows`](Self::shadows).
    pub async fn shadows_async(&self, lighting: &Lighting, observers: &[DVec3]) -> Result<Vec<Shadow>> {
        let mut out = try_repeat(Shadow::default(), observers.len())?;
        self.shade(lighting, observers, &mut out).await?;
        Ok(out)
    }

    /// [`shadows`](Self::shadows), written to `out`. It blocks, too. On the CPU engine it allocates nothing that grows with the number of observers.
    ///
    /// # Errors
    /// The errors of [`shadows`](Self::shadows), and [`Error::LengthsDiffer`](crate::Error::LengthsDiffer). After an error the contents of
    /// `out` are unspecified.
    pub fn shadows_into(&self, lighting: &Lighting, observers: &[DVec3], out: &mut [Shadow]) -> Result<()> {
        block_on(self.shade(lighting, observers, out))
    }

    async fn shade(&self, lighting: &Lighting, observers: &[DVec3], out: &mut [Shadow]) -> Result<()> {
        check_same_length("observers", observers.len(), "shadows", out.len())?;
        let tasks = ShadowTasks::of(self, lighting)?;
        let Some(gpu) = self.on_gpu() else { return tasks.compute(observers, out) };
        let piece = chunk_observers(lighting);
        for ((first, own), out) in (0_u64..).step_by(piece).zip(observers.chunks(piece)).zip(out.chunks_mut(piece)) {
            let undecided = tasks.classify(first, own, out)?;
            let (places, prepared): (Vec<usize>, Vec<LocalVisibility>) = undecided.into_iter().unzip();
            let found = visible_shades(gpu, &prepared, None).await?;
            places.into_iter().zip(resolve(&found, &prepared)).for_each(|(at, shadow)| out[at] = shadow);
            self.cancel.add(own.len() as u64);
        }
        Ok(())
    }
}

/// Observers that are prepared for a GPU at once.
pub(super) fn chunk_observers(lighting: &Lighting) -> usize {
    let bodies = lighting.occluders().len() + lighting.spheroids().len();
    (MAX_OCCLUDER_RECORDS / bodies.max(1)).clamp(16, MAX_CHUNK_OBSERVERS)
}

/// The device's results; those that it left to the CPU are computed here in f64.
pub(crate) fn resolve(found: &[Shade], prepared: &[LocalVisibility]) -> Vec<Shadow> {
    let one = |(found, one): (&Shade, &LocalVisibility)| match ShadowKind::ALL.get(found.kind as usize) {
        Some(&kind) => Shadow { fraction: f64::from(found.fraction), kind },
        None => one.shadow(&mut OccluderSet::default()),
    };
    found.par_iter().zip(prepared).map(one).collect()
}

/// The shadows of one light, and how to compute them.
pub(super) struct ShadowTasks<'a> {
    level: SimdLevel,
    pub(super) lighting: &'a Lighting,
    /// The BVH of the occluders, if there are enough of them for it to save time.
    pub(super) bvh: Option<OccluderBvh>,
    pub(super) cancel: &'a CancelToken,
}

impl<'a> ShadowTasks<'a> {
    pub(super) fn of(device: &'a Device, lighting: &'a Lighting) -> Result<Self> {
        let (occluders, light) = (lighting.occluders(), lighting.light());
        let is_worth_it = occluders.len() >= MIN_BVH_OCCLUDERS;
        let bvh = is_worth_it.then(|| OccluderBvh::new(occluders.iter().copied().zip(0..), light)).transpose()?;
        Ok(Self { level: device.level, lighting, bvh, cancel: &device.cancel })
    }

    /// Computes all shadows in f64, on all cores.
    fn compute(&self, observers: &[DVec3], out: &mut [Shadow]) -> Result<()> {
        let tasks = observers.par_chunks(TASK_OBSERVERS).zip(out.par_chunks_mut(TASK_OBSERVERS));
        let done = tasks.try_for_each(|(observers, out)| {
            self.cancel.check()?;
            let mut occluder_set = OccluderSet::default();
            let mut batch = (self.lighting.light().radius > 0.0).then(zeroed_box::<TwoCapBatch>);
            let mut compute = |_, prepared: &LocalVisibility| prepared.shadow(&mut occluder_set);
            if !self.task(observers, out, batch.as_deref_mut(), &mut compute) {
                return refuse(0, observers);
            }
            self.cancel.add(observers.len() as u64);
            Ok(())
        });
        // If several observers are invalid, the error names the first one, whichever task found its own first.
        done.or_else(|error| refuse(0, observers).and(Err(error)))
    }

    /// Classifies observers. Writes the shadows of those outside every penumbra, and returns the indices and prepared queries of all others.
    fn classify(&self, first: u64, observers: &[DVec3], out: &mut [Shadow]) -> Result<UndecidedObservers> {
        let tasks = observers.par_chunks(TASK_OBSERVERS).zip(out.par_chunks_mut(TASK_OBSERVERS)).enumerate();
        let found = tasks.map(|(n, (observers, out))| {
            self.cancel.check()?;
            let mut doubtful = Vec::new();
            let good = self.task(observers, out, None, &mut |at, prepared| {
                doubtful.push((n * TASK_OBSERVERS + at, prepared.clone()));
                Shadow::default()
            });
            if good { Ok(doubtful) } else { refuse(0, observers).map(|()| doubtful) }
        });
        let found: Result<Vec<UndecidedObservers>> = found.collect();
        let doubtful = found.or_else(|error| refuse(first, observers).and(Err(error)))?;
        Ok(doubtful.into_iter().flatten().collect())
    }

    /// Runs one task. `batch`, if given, computes the observers that may be in the penumbra of exactly one sphere; `compute` computes all
    /// others. Returns false if an observer is invalid.
    fn task(
        &self,
        observers: &[DVec3],
        out: &mut [Shadow],
        mut batch: Option<&mut TwoCapBatch>,
        compute: &mut dyn FnMut(usize, &LocalVisibility) -> Shadow,
    ) -> bool {
        let Self { level, lighting, bvh, .. } = self;
        let (light, occluders, spheroids) = (lighting.light(), lighting.occluders(), lighting.spheroids());
        let mut block = zeroed_box::<Observers>();
        let mut prepared = LocalVisibility::default();
        let mut touching = Vec::new();
        let mut near = Vec::new();
        let mut own_balls = Vec::new();
        let mut touching_spheroids = Vec::new();
        let mut own_spheroids = Vec::new();
        let mut doubtful = [0_u32; BLOCK];
        for (first, own) in (0..).step_by(BLOCK).zip(observers.chunks(BLOCK)) {
            if !level.load_observers(&mut block, own, light, LARGEST) {
                return false;
            }
            touching.clear();
            let mut classify = |(number, ball): (u64, Ball)| {
                if level.classify_ball(&mut block, ball, number) {
                    touching.push(ball);
                }
            };
            match bvh {
                None => (0..).zip(occluders.iter().copied()).for_each(classify),
                Some(bvh) => {
                    // The occluders near the disc of any observer of the block, in the same order.
                    near.clear();
                    for &observer in own {
                        bvh.query_all(observer, observer.length(), &mut near);
                    }
                    near.sort_unstable();
                    near.dedup();
                    near.iter().for_each(|&number| classify((u64::from(number), occluders[number as usize])));
                }
            }
            touching_spheroids.clear();
            for spheroid in spheroids {
                if level.classify_group(&mut block, spheroid.bounding_ball(), spheroid.inscribed_ball()) {
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
                match batch.as_deref_mut().filter(|_| block.flags[i] == TOUCHES) {
                    Some(batch) => {
                        batch.push(own[i], light, occluders[block.last[i] as usize], at);
                        if batch.is_full() {
                            drain(*level, batch, out, compute);
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
                            let near = |one: &&Spheroid| block.is_touched_within(i, one.bounding_ball());
                            own_spheroids.extend(touching_spheroids.iter().filter(near));
                        }
                        prepared.set(own[i], light, &own_balls, &own_spheroids);
                        out[at] = compute(at, &prepared);
                    }
                }
            }
        }
        if let Some(batch) = batch {
            drain(*level, batch, out, compute);
        }
        true
    }
}

/// Returns the error for the first invalid observer.
pub(super) fn refuse(first: u64, observers: &[DVec3]) -> Result<()> {
    (first..).zip(observers).try_for_each(|(index, &observer)| check_observer(index, observer))
}

/// Computes the pair batch and writes its results to `out`.
pub(super) fn drain(
    level: SimdLevel,
    batch: &mut TwoCapBatch,
    out: &mut [Shadow],
    compute: &mut dyn FnMut(usize, &LocalVisibility) -> Shadow,
) {
    batch.drain(level, |at, shadow, observer, [light, ball]| {
        out[at] = shadow.unwrap_or_else(|| {
            let mut prepared = LocalVisibility::default();
            prepared.set(observer, light, &[ball], &[]);
            compute(at, &prepared)
        });
    });
}
