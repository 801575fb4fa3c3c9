//! Classifies the raw results of a device. Most are final; the host rounds or exactly resolves the others.

use bytemuck::Pod;

use super::kernels::{Kernels, RAYS_PER_THREAD};
use crate::cpu::query::kind::RayQuery;
use crate::cpu::query::kinds as queries;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs::{self, Program};
use crate::gpu::uniforms::{
    ApproachState, COUNT_OVERFLOW, COUNT_UNDECIDED, COUNT_UNFINISHED, ClosestState, CountState, TAG_OVERFLOW,
    TAG_UNDECIDED, TAG_UNFINISHED, TAG_UNROUNDED,
};
use crate::intersect::motion::Target;
use crate::intersect::resolve::{resolve_approach, round_hit, round_roots};
use crate::query::optical_depth::transmittance;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Approach, Hit, Interval, NO_SPHERE, Ray, RayAttributes};

/// Kind of a raw record.
pub(crate) enum RawRecord<T> {
    /// A final result.
    Final(T),
    /// Overflow: a miss only because the root exceeds f32.
    Overflow,
    /// Undecided: the host resolves it, from this record.
    Undecided(T),
    /// Unfinished: the ray is cast again without the BVH.
    Unfinished,
}

/// Programs and raw records of a query on a GPU.
pub(crate) trait GpuQuery: RayQuery {
    /// Result of a ray as the device writes it.
    type Raw: Pod + Sync;
    const KERNELS: Kernels;
    /// Whether a device casts pairwise scenes. Otherwise the CPU engine does.
    const PAIRS_ON_GPU: bool = true;
    /// Classifies a raw record.
    fn read(raw: Self::Raw, ray: impl FnOnce() -> Ray) -> RawRecord<Self::Record>;
    /// Rounds the roots of an undecided record if it is decided which sphere is the result; else `None`.
    fn round(_raw: Self::Record, _context: &RayContext, _scene: &CpuScene, _query: &Query) -> Option<Self::Record> {
        None
    }
}

/// Kernels of a query with records `R` and state `S` per ray, from its brute-force and BVH programs, and its finalize program if it has one.
const fn kernels<R, S>([brute_force, bvh]: [&'static Program; 2], finalize: Option<&'static Program>) -> Kernels {
    Kernels {
        brute_force,
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(bvh),
        finalize,
        state_bytes: |rays| rays * size_of::<S>() as u64,
        result_bytes: |rays| rays * size_of::<R>() as u64,
    }
}

/// Casts on the CPU a ray that the device left undecided.
pub(crate) fn resolve_on_cpu<Q: RayQuery>(
    context: &RayContext,
    scene: &CpuScene,
    query: &Query,
    tally: &mut Tally,
) -> Q::Record {
    let found = scene.cast_one::<Q>(context.number, &context.ray, context.attributes, query);
    tally.exact += context.count_exact(found.is_some_and(|found| found.exact));
    match found {
        Some(found) => {
            tally.overflowed += u64::from(found.overflowed);
            found.record
        }
        None => Q::MISS,
    }
}

fn read<T>(raw: T, tag: f32) -> RawRecord<T> {
    match tag.to_bits() {
        TAG_UNDECIDED | TAG_UNROUNDED => RawRecord::Undecided(raw),
        TAG_OVERFLOW => RawRecord::Overflow,
        TAG_UNFINISHED => RawRecord::Unfinished,
        _ => RawRecord::Final(raw),
    }
}

impl GpuQuery for queries::Closest {
    type Raw = Hit;
    const KERNELS: Kernels =
        kernels::<Hit, ClosestState>([&programs::CLOSEST, &programs::CLOSEST_BVH], Some(&programs::CLOSEST_FINALIZE));

    fn read(raw: Hit, _: impl FnOnce() -> Ray) -> RawRecord<Hit> {
        read(raw, raw.t)
    }

    fn round(raw: Hit, context: &RayContext, scene: &CpuScene, query: &Query) -> Option<Hit> {
        let target = context.rounded_target(raw.t, raw.id, scene)?;
        Some(Hit { t: round_hit(&context.ray, target, query), id: raw.id })
    }
}

impl GpuQuery for queries::Interval {
    type Raw = Interval;
    const KERNELS: Kernels = kernels::<Interval, ClosestState>(
        [&programs::CLOSEST, &programs::CLOSEST_BVH],
        Some(&programs::INTERVAL_FINALIZE),
    );

    fn read(raw: Interval, _: impl FnOnce() -> Ray) -> RawRecord<Interval> {
        read(raw, raw.t_enter)
    }

    fn round(raw: Interval, context: &RayContext, scene: &CpuScene, _: &Query) -> Option<Interval> {
        let (t_enter, t_exit) = round_roots(&context.ray, context.rounded_target(raw.t_enter, raw.id, scene)?);
        Some(Interval { t_enter, t_exit, id: raw.id })
    }
}

impl GpuQuery for queries::Approach {
    type Raw = Approach;
    const KERNELS: Kernels = kernels::<Approach, ApproachState>(
        [&programs::APPROACH, &programs::APPROACH_BVH],
        Some(&programs::APPROACH_FINALIZE),
    );

    fn read(raw: Approach, ray: impl FnOnce() -> Ray) -> RawRecord<Approach> {
        match read(raw, raw.t) {
            // The device uses finite ends and reports the largest f32 as an infinity. Clamping to the ray's own ends, finite or infinite,
            // corrects that.
            RawRecord::Final(raw) if raw.id != NO_SPHERE => {
                let ray = ray();
                RawRecord::Final(Approach { t: raw.t.max(ray.t_min).min(ray.t_max), ..raw })
            }
            other => other,
        }
    }

    fn round(raw: Approach, context: &RayContext, scene: &CpuScene, _: &Query) -> Option<Approach> {
        let (t, clearance) = resolve_approach(&context.ray, context.rounded_target(raw.t, raw.id, scene)?);
        Some(Approach { t, clearance, id: raw.id })
    }
}

/// Reads the result of a query that sums integers over the spheres that a ray hits. What a sphere adds depends on its id alone, not on the
/// roots. A ray hits if its sum is not 0. The host converts the sums, so that the results have the bits of the CPU engine.
fn read_sum<T>(CountState { count, flags }: CountState, miss: T, of_sum: impl FnOnce(u32) -> T) -> RawRecord<T> {
    match flags {
        _ if flags & COUNT_UNFINISHED != 0 => RawRecord::Unfinished,
        _ if flags & COUNT_UNDECIDED != 0 => RawRecord::Undecided(miss),
        _ if count == 0 && flags & COUNT_OVERFLOW != 0 => RawRecord::Overflow,
        _ => RawRecord::Final(of_sum(count)),
    }
}

impl GpuQuery for queries::Count {
    type Raw = CountState;
    const KERNELS: Kernels = kernels::<CountState, CountState>([&programs::COUNT, &programs::COUNT_BVH], None);

    fn read(raw: CountState, _: impl FnOnce() -> Ray) -> RawRecord<u32> {
        read_sum(raw, Self::MISS, |count| count)
    }
}

impl GpuQuery for queries::Transmittance {
    type Raw = CountState;
    const KERNELS: Kernels =
        kernels::<CountState, CountState>([&programs::TRANSMITTANCE, &programs::TRANSMITTANCE_BVH], None);
    /// The depths of a pairwise scene are not uploaded.
    const PAIRS_ON_GPU: bool = false;

    fn read(raw: CountState, _: impl FnOnce() -> Ray) -> RawRecord<f32> {
        read_sum(raw, Self::MISS, transmittance)
    }
}

/// An undecided ray to be resolved: the ray, its index in the whole input, and its attributes.
pub(crate) struct RayContext {
    pub(crate) ray: Ray,
    pub(crate) number: u64,
    pub(crate) attributes: RayAttributes,
}

impl RayContext {
    /// The sphere of a record whose roots the host only has to round, which `tag` marks.
    fn rounded_target<'s>(&self, tag: f32, id: u32, scene: &'s CpuScene) -> Option<Target<'s>> {
        scene.target(id, &self.attributes).filter(|_| tag.to_bits() == TAG_UNROUNDED)
    }

    /// What the ray adds to the count of exact resolutions. A ray that only its start leaves to the host need not have been undecided:
    /// `used_exact` says whether the host used exact arithmetic.
    pub(crate) fn count_exact(&self, used_exact: bool) -> u64 {
        u64::from(used_exact || self.attributes.from_id == NO_SPHERE)
    }
}
