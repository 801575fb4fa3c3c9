//! Classifies the raw results of a device. Most are final; the host rounds or exactly resolves the others.

use bytemuck::Pod;

use super::kernels::{Kernels, RAYS_PER_THREAD};
use crate::cpu::query::kind::RayQuery;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs::{self, Program};
use crate::gpu::uniforms::{ApproachState, ClosestState, TAG_OVERFLOW, TAG_UNDECIDED, TAG_UNFINISHED, TAG_UNROUNDED};
use crate::intersect::resolve::{resolve_approach, round_hit, round_roots};
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Approach, Hit, Interval, NO_SPHERE, Ray, RayAttributes};

/// Kind of a raw record.
pub(crate) enum RawRecord<T> {
    /// A final result.
    Final(T),
    /// Overflow: a miss only because the root exceeds f32.
    Overflow,
    /// Undecided: the host resolves it.
    Undecided,
    /// Unfinished: the ray is cast again without the BVH.
    Unfinished,
}

/// Programs and records of a query on a GPU.
pub(crate) trait GpuQuery: RayQuery + Pod {
    const KERNELS: Kernels;
    /// Classifies a raw record.
    fn read(raw: Self, ray: impl FnOnce() -> Ray) -> RawRecord<Self>;
    /// Resolves an undecided record: rounds the roots if it is decided which sphere is the result, else casts the ray again on the
    /// CPU.
    fn resolve(raw: Self, context: &RayContext, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self;
}

/// Kernels of a query with records `R` and state `S` per ray, from its brute-force, BVH and finalize programs.
const fn kernels<R, S>([brute_force, bvh, finalize]: [&'static Program; 3]) -> Kernels {
    Kernels {
        brute_force,
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(bvh),
        finalize: Some(finalize),
        state_bytes: |rays| rays * size_of::<S>() as u64,
        result_bytes: |rays| rays * size_of::<R>() as u64,
    }
}

/// Casts on the CPU a ray that the device left undecided.
pub(crate) fn resolve_on_cpu<T: RayQuery>(
    context: &RayContext,
    scene: &CpuScene,
    query: &Query,
    tally: &mut Tally,
) -> T {
    let found = scene.cast_one::<T>(context.number, &context.ray, context.attributes, query);
    tally.exact += context.count_exact(found.is_some_and(|found| found.exact));
    match found {
        Some(found) => {
            tally.overflowed += u64::from(found.overflowed);
            found.record
        }
        None => T::MISS,
    }
}

fn read<T: RayQuery>(raw: T, tag: f32) -> RawRecord<T> {
    match tag.to_bits() {
        TAG_UNDECIDED | TAG_UNROUNDED => RawRecord::Undecided,
        TAG_OVERFLOW => RawRecord::Overflow,
        TAG_UNFINISHED => RawRecord::Unfinished,
        _ => RawRecord::Final(raw),
    }
}

impl GpuQuery for Hit {
    const KERNELS: Kernels =
        kernels::<Self, ClosestState>([&programs::CLOSEST, &programs::CLOSEST_BVH, &programs::CLOSEST_FINALIZE]);

    fn read(raw: Self, _: impl FnOnce() -> Ray) -> RawRecord<Self> {
        read(raw, raw.t)
    }

    fn resolve(raw: Self, context: &RayContext, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match scene.target(raw.id, &context.attributes) {
            Some(target) if raw.t.to_bits() == TAG_UNROUNDED => {
                Self { t: round_hit(&context.ray, target, query), id: raw.id }
            }
            _ => resolve_on_cpu(context, scene, query, tally),
        }
    }
}

impl GpuQuery for Interval {
    const KERNELS: Kernels =
        kernels::<Self, ClosestState>([&programs::CLOSEST, &programs::CLOSEST_BVH, &programs::INTERVAL_FINALIZE]);

    fn read(raw: Self, _: impl FnOnce() -> Ray) -> RawRecord<Self> {
        read(raw, raw.t_enter)
    }

    fn resolve(raw: Self, context: &RayContext, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match scene.target(raw.id, &context.attributes) {
            Some(target) if raw.t_enter.to_bits() == TAG_UNROUNDED => {
                let (t_enter, t_exit) = round_roots(&context.ray, target);
                Self { t_enter, t_exit, id: raw.id }
            }
            _ => resolve_on_cpu(context, scene, query, tally),
        }
    }
}

impl GpuQuery for Approach {
    const KERNELS: Kernels =
        kernels::<Self, ApproachState>([&programs::APPROACH, &programs::APPROACH_BVH, &programs::APPROACH_FINALIZE]);

    fn read(raw: Self, ray: impl FnOnce() -> Ray) -> RawRecord<Self> {
        match read(raw, raw.t) {
            // The device uses finite ends and reports the largest f32 as an infinity. Clamping to the ray's own ends, finite or infinite,
            // corrects that.
            RawRecord::Final(raw) if raw.id != NO_SPHERE => {
                let ray = ray();
                RawRecord::Final(Self { t: raw.t.max(ray.t_min).min(ray.t_max), ..raw })
            }
            other => other,
        }
    }

    fn resolve(raw: Self, context: &RayContext, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match scene.target(raw.id, &context.attributes) {
            Some(target) if raw.t.to_bits() == TAG_UNROUNDED => {
                let (t, clearance) = resolve_approach(&context.ray, target);
                Self { t, clearance, id: raw.id }
            }
            _ => resolve_on_cpu(context, scene, query, tally),
        }
    }
}

/// An undecided ray to be resolved: the ray, its index in the whole input, and its attributes.
pub(crate) struct RayContext {
    pub(crate) ray: Ray,
    pub(crate) number: u64,
    pub(crate) attributes: RayAttributes,
}

impl RayContext {
    /// What the ray adds to the count of exact resolutions. A ray that only its start leaves to the host need not have been undecided:
    /// `used_exact` says whether the host used exact arithmetic.
    pub(crate) fn count_exact(&self, used_exact: bool) -> u64 {
        u64::from(used_exact || self.attributes.from_id == NO_SPHERE)
    }
}
