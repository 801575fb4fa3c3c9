//! Classifies the raw results of a device. Most are final; the host rounds or exactly resolves the others.

use bytemuck::Pod;

use super::kernels::{Kernels, RAYS_PER_THREAD};
use crate::cpu::query::kind::CpuQuery;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs::{self, Program};
use crate::gpu::uniforms::{Best, Nearest, TAG_AGAIN, TAG_BEYOND, TAG_JUDGE, TAG_ROUND};
use crate::intersect::resolve::{judge_approach, round_hit, round_roots};
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Approach, Extra, Hit, Interval, NO_SPHERE, Ray};

/// Kind of a raw record.
pub(crate) enum Raw<T> {
    /// A final result.
    Final(T),
    /// Overflow: a miss only because the root exceeds f32.
    Beyond,
    /// Undecided: the host resolves it.
    Open,
    /// Unfinished: the ray is cast again without the BVH.
    Again,
}

/// Programs and records of a query on a GPU.
pub(crate) trait GpuQuery: CpuQuery + Pod {
    const KERNELS: Kernels;
    /// Classifies a raw record.
    fn read(raw: Self, ray: impl FnOnce() -> Ray) -> Raw<Self>;
    /// Resolves an undecided record: rounds the roots if the sphere is certain, else casts the ray again on the CPU.
    fn settle(raw: Self, asker: &Asker, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self;
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
pub(crate) fn judged<T: CpuQuery>(asker: &Asker, scene: &CpuScene, query: &Query, tally: &mut Tally) -> T {
    tally.judged += 1;
    match scene.cast_one::<T>(asker.number, &asker.ray, asker.extra, query) {
        Some(found) => {
            tally.beyond += u64::from(found.beyond);
            found.answer
        }
        None => T::MISS,
    }
}

fn read<T: CpuQuery>(raw: T, tag: f32) -> Raw<T> {
    match tag.to_bits() {
        TAG_JUDGE | TAG_ROUND => Raw::Open,
        TAG_BEYOND => Raw::Beyond,
        TAG_AGAIN => Raw::Again,
        _ => Raw::Final(raw),
    }
}

impl GpuQuery for Hit {
    const KERNELS: Kernels =
        kernels::<Self, Best>([&programs::CLOSEST, &programs::CLOSEST_BVH, &programs::CLOSEST_FINALIZE]);

    fn read(raw: Self, _: impl FnOnce() -> Ray) -> Raw<Self> {
        read(raw, raw.t)
    }

    fn settle(raw: Self, asker: &Asker, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match scene.target(raw.id, &asker.extra) {
            Some(target) if raw.t.to_bits() == TAG_ROUND => {
                Self { t: round_hit(&asker.ray, target, query), id: raw.id }
            }
            _ => judged(asker, scene, query, tally),
        }
    }
}

impl GpuQuery for Interval {
    const KERNELS: Kernels =
        kernels::<Self, Best>([&programs::CLOSEST, &programs::CLOSEST_BVH, &programs::INTERVAL_FINALIZE]);

    fn read(raw: Self, _: impl FnOnce() -> Ray) -> Raw<Self> {
        read(raw, raw.t_enter)
    }

    fn settle(raw: Self, asker: &Asker, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match scene.target(raw.id, &asker.extra) {
            Some(target) if raw.t_enter.to_bits() == TAG_ROUND => {
                let (t_enter, t_exit) = round_roots(&asker.ray, target);
                Self { t_enter, t_exit, id: raw.id }
            }
            _ => judged(asker, scene, query, tally),
        }
    }
}

impl GpuQuery for Approach {
    const KERNELS: Kernels =
        kernels::<Self, Nearest>([&programs::APPROACH, &programs::APPROACH_BVH, &programs::APPROACH_FINALIZE]);

    fn read(raw: Self, ray: impl FnOnce() -> Ray) -> Raw<Self> {
        match read(raw, raw.t) {
            // The device uses finite ends and reports the largest f32 as an infinity. Clamping to the ray's own ends, finite or infinite,
            // corrects that.
            Raw::Final(raw) if raw.id != NO_SPHERE => {
                let ray = ray();
                Raw::Final(Self { t: raw.t.max(ray.t_min).min(ray.t_max), ..raw })
            }
            other => other,
        }
    }

    fn settle(raw: Self, asker: &Asker, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match scene.target(raw.id, &asker.extra) {
            Some(target) if raw.t.to_bits() == TAG_ROUND => {
                let (t, clearance) = judge_approach(&asker.ray, target);
                Self { t, clearance, id: raw.id }
            }
            _ => judged(asker, scene, query, tally),
        }
    }
}

/// An undecided ray to be resolved: the ray, its index in the whole input, and its attributes.
pub(crate) struct Asker {
    pub(crate) ray: Ray,
    pub(crate) number: u64,
    pub(crate) extra: Extra,
}
