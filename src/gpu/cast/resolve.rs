//! What a device found, as answers: most are final, the rest is rounded or judged on the host.

use bytemuck::Pod;

use crate::cpu::query::kind::CpuQuery;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs::{self, Program};
use crate::gpu::uniforms::{Best, Nearest, TAG_AGAIN, TAG_BEYOND, TAG_JUDGE, TAG_ROUND};
use crate::intersect::resolve::{judge_approach, round_hit, round_roots};
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Approach, Extra, Hit, Interval, NO_SPHERE, Ray};

/// What a raw record is.
pub(crate) enum Raw<T> {
    /// An answer.
    Final(T),
    /// A miss only because the root exceeds f32.
    Beyond,
    /// For the host to settle.
    Open,
    /// To be cast again, without the tree.
    Again,
}

/// A query's programs and records on a GPU.
pub(crate) trait GpuQuery: CpuQuery + Pod {
    /// The program run over each range of spheres.
    const SEARCH: &'static Program;
    /// The same by the tree.
    const WALK: Option<&'static Program>;
    /// Bytes it keeps of a ray between two of them.
    const STATE: u64;
    /// The program run once at the end.
    const FINISH: &'static Program;
    /// What a raw record is.
    fn read(raw: Self, ray: impl FnOnce() -> Ray) -> Raw<Self>;
    /// Settles an open one: rounds the roots of a sphere that is certain, or judges the whole ray.
    fn settle(raw: Self, asker: &Asker, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self;
}

/// Answers a ray on the CPU that the device left open.
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
    const SEARCH: &'static Program = &programs::CLOSEST;
    const WALK: Option<&'static Program> = Some(&programs::CLOSEST_BVH);
    const STATE: u64 = size_of::<Best>() as u64;
    const FINISH: &'static Program = &programs::CLOSEST_FINALIZE;

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
    const SEARCH: &'static Program = &programs::CLOSEST;
    const WALK: Option<&'static Program> = Some(&programs::CLOSEST_BVH);
    const STATE: u64 = size_of::<Best>() as u64;
    const FINISH: &'static Program = &programs::INTERVAL_FINALIZE;

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
    const SEARCH: &'static Program = &programs::APPROACH;
    const WALK: Option<&'static Program> = Some(&programs::APPROACH_BVH);
    const STATE: u64 = size_of::<Nearest>() as u64;
    const FINISH: &'static Program = &programs::APPROACH_FINALIZE;

    fn read(raw: Self, ray: impl FnOnce() -> Ray) -> Raw<Self> {
        match read(raw, raw.t) {
            // Found between finite ends; the ray's own may be infinite.
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

/// Whose answer is settled: a ray, its number in the whole input, and what it brings along.
pub(crate) struct Asker {
    pub(crate) ray: Ray,
    pub(crate) number: u64,
    pub(crate) extra: Extra,
}
