//! Ray setup for the stream traversal, eight rays at a time in f64, then a vector at a time in f32: the arithmetic of
//! [`CpuFrame::prepare`](crate::cpu::frame::CpuFrame::prepare) and of `leaf.rs`, one lane per ray. Ray by ray, setup takes as long as the
//! traversal of a ray that soon hits something.
//!
//! F, the point of the line nearest to the middle of the scene, and positions along the line lose digits by cancellation, so they are
//! computed in f64. The rest is computed in f32.
//!
//! Error analysis, in addition to that in `frame.rs` and `leaf.rs`, to first order in U = 2⁻²⁴. The perpendiculars u and v come from the
//! rounded direction, with errors of 4 U and 7 U. These count from F, as in `frame.rs`. α and β come from the rounded F, with another 4 U |F|.
//! So the error of (x, y) is at most 16 U |c| + 20 U |F|: δ has 24 U |F| instead of 16 U |F|, and 16 + 32 is less than 72. The error of a
//! position p is at most 8 U |p|. The bounds contain it.
//!
//! The length of the direction has a relative error of 2⁻³⁴. It stretches all positions along the line alike, and moves F along the line by
//! up to 2⁻³³ |o|: the slack of 128 U |o| contains both. F stays on the line.

use std::hint::black_box;

use bytemuck::{Pod, Zeroable};

use super::packet::{GROUPS, PACKET_RAYS, Packet};
use crate::cpu::frame::{CpuFrame, FLAG_ERROR, MAX_START, round_up};
use crate::math::float::U;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::records::Ray;

/// Rays prepared at once in f64: one 512-bit register per number. With four, AVX-512 prepares pictures 5 to 9 % more slowly, and AVX2 takes as
/// many instructions.
pub(crate) const LANES: usize = 8;

type Lane = [f64; LANES];
pub(super) type Narrow = [f32; LANES];

/// Numbers of a prepared ray.
pub(crate) const NUMBERS: usize = size_of::<PreparedRay>() / size_of::<f32>();

/// The place of a field of [`PreparedRay`] among its numbers.
macro_rules! place_of {
    ($($field:tt)+) => {
        std::mem::offset_of!($crate::cpu::traverse::ray_setup::PreparedRay, $($field)+) / size_of::<f32>()
    };
}
pub(super) use place_of;

/// Vectors in memory. If one crossed two cache lines, its access would take twice as long.
#[repr(align(64))]
struct Aligned<T>(T);

/// Evaluates an expression for each axis. Not `map`: the compiler calls it as a function and passes vectors through memory.
macro_rules! axes {
    (|$k:ident| $each:expr) => {{
        let (x, y, z) = (
            {
                let $k = 0;
                $each
            },
            {
                let $k = 1;
                $each
            },
            {
                let $k = 2;
                $each
            },
        );
        [x, y, z]
    }};
}
pub(crate) use axes;

/// Evaluates a function for each lane. Not `std::array::from_fn`, which takes the compiler four times as long.
#[inline(always)]
pub(crate) fn each<T>(f: impl Fn(usize) -> T) -> [T; LANES] {
    [f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)]
}

#[inline(always)]
fn dot(a: &[Lane; 3], b: &[Lane; 3]) -> Lane {
    each(|i| a[0][i] * b[0][i] + a[1][i] * b[1][i] + a[2][i] * b[2][i])
}

/// 1/√x with a relative error below 2⁻³⁴: three of Newton's steps, which take a quarter of the time of a root and a quotient in f64. The
/// first approximation halves the exponent (Lomont 2003, Fast inverse square root).
#[inline(always)]
fn inverse_root(x: &Lane) -> Lane {
    let half = each(|i| 0.5 * x[i]);
    let mut y = each(|i| f64::from_bits(0x5fe6_eb50_c7b5_37a9 - (x[i].to_bits() >> 1)));
    for _ in 0..3 {
        y = each(|i| y[i] * (1.5 - half[i] * y[i] * y[i]));
    }
    y
}

/// A factor that exceeds the roundings of any bound below.
const MORE: f32 = 1.0 + 64.0 * U;

/// The numbers of eight rays that f64 has to compute, because they lose digits by cancellation, as f32. In scaled units.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct RayNumbers {
    /// The point of the line nearest to the middle of the scene, and the direction.
    foot: [Narrow; 3],
    unit: [Narrow; 3],
    /// Position of t = 0, length of one unit of t, and an upper bound of the distance of the origin from the middle (the sum of its
    /// coordinates, which needs no root): infinite beyond [`MAX_START`], which makes the margin infinite.
    start: Narrow,
    step: Narrow,
    distance: Narrow,
    /// Positions of the ray's ends, and of the least and largest t that a certain hit may have.
    from: Narrow,
    to: Narrow,
    first: Narrow,
    last: Narrow,
}

/// Columns of these numbers.
const WIDE: usize = size_of::<RayNumbers>() / size_of::<Narrow>();

/// The rest of the setup in f32, with bounds that contain its own roundings, for the lanes from `i` on. The first [`WIDE`] columns have the
/// [`RayNumbers`]. Replaces them by the numbers of prepared rays, in the order of the fields, and with `corners` writes those of AABBs around
/// the segments to the columns after them.
#[inline(always)]
fn prepare_columns<L: Lanes, const RAYS: usize>(lanes: L, columns: &mut [[f32; RAYS]], i: usize, corners: bool) {
    let Some((numbers, corner_columns)) = columns.split_first_chunk_mut::<NUMBERS>() else { return };
    let splat = |x| lanes.splat(x);
    let (zero, more) = (splat(0.0), splat(MORE));
    // No sphere lies as far out as these positions. Infinite ones would give NaN.
    let (least, most) = (splat(-1e30), splat(1e30));
    let number = |k: usize| lanes.load(&numbers[k][i..]);
    let position = |k: usize| number(k).max(least).min(most);
    let [foot, unit] = [[number(0), number(1), number(2)], [number(3), number(4), number(5)]];
    let start = position(6);
    let step = number(7).mul_add(more, splat(f32::MIN_POSITIVE));
    let distance = number(8).mul(more);
    let [from, to, first, last] = [position(9), position(10), position(11), position(12)];
    let slack = step.mul_add(splat(4.8e-38), distance.mul_add(splat(128.0 * U), splat(1e-18))).mul(more);
    let (double, rounding) = (slack.add(slack), splat(8.0 * U));
    let near = from.min(start);
    let near = near.sub(near.abs().mul_add(rounding, slack));
    let far = to.max(start);
    let far = far.add(far.abs().mul_add(rounding, slack));
    let begin = first.add(first.abs().mul_add(rounding, double));
    let end = last.sub(last.abs().mul_add(rounding, double));
    let before = from.sub(from.abs().mul_add(rounding, double));
    let margin = double.mul_add(more, splat(1e-15));
    let off = foot[0].abs().add(foot[1].abs()).add(foot[2].abs()).mul(more);
    let delta = off.mul_add(splat(24.0 * U), distance.mul(splat(FLAG_ERROR as f32))).mul(more);
    let floor = delta.mul(more).mul_add(delta, splat(7.9e-31));
    let spread = delta.add(delta).mul(more);
    let wide = off.mul_add(splat(80.0 * U), spread).mul_add(more, splat(1e-15));
    // A direction parallel to a face never intersects it. Turned by less than any rounding, it does.
    let inverse = axes!(|k| splat(1.0).div(unit[k]).max(splat(-1e18)).min(splat(1e18)));
    let enter = axes!(|k| zero.sub(foot[k].mul_add(inverse[k], wide.mul(inverse[k].abs()))));
    let leave = axes!(|k| wide.mul(inverse[k].abs()).sub(foot[k].mul(inverse[k])));
    // The perpendicular (−dy, dx, 0). By its inverse, dy is not 0.
    let y = splat(1.0).div(inverse[1]);
    let inverse_across = splat(1.0).div(y.mul_add(y, unit[0].mul(unit[0])).sqrt());
    let (ux, uy) = (zero.sub(y.mul(inverse_across)), unit[0].mul(inverse_across));
    let v = [zero.sub(unit[2].mul(uy)), unit[2].mul(ux), unit[0].mul_sub(uy, y.mul(ux))];
    let alpha = zero.sub(foot[1].mul_add(uy, foot[0].mul(ux)));
    let beta = zero.sub(foot[2].mul_add(v[2], foot[1].mul_add(v[1], foot[0].mul(v[0]))));
    let [ix, iy, iz] = inverse;
    let prepared = [
        [ix, iy, iz, enter[0]],
        [enter[1], enter[2], leave[0], leave[1]],
        [leave[2], near, far, margin],
        [begin, end, ux, uy],
        [v[0], v[1], v[2], alpha],
        [beta, spread, floor, unit[0]],
        [unit[1], unit[2], step, before],
    ];
    for (column, number) in numbers.iter_mut().zip(prepared.as_flattened()) {
        number.store(&mut column[i..]);
    }
    let Some((low, high)) = corner_columns.split_at_mut_checked(3).filter(|_| corners) else { return };
    // Errors of these sums are at most 4 U (|F| + |s|).
    let pad = near.abs().add(far.abs()).add(splat(4.0)).mul_add(rounding, wide);
    for k in 0..3 {
        let (a, b) = (unit[k].mul_add(near, foot[k]), unit[k].mul_add(far, foot[k]));
        a.min(b).sub(pad).store(&mut low[k][i..]);
        a.max(b).add(pad).store(&mut high[k][i..]);
    }
}

/// The numbers of eight rays, from the columns of their records.
#[inline(always)]
fn ray_numbers(frame: &CpuFrame, columns: &[Narrow; 8]) -> RayNumbers {
    let [ox, oy, oz, t_min, dx, dy, dz, t_max] = columns;
    let (origin, direction) = ([ox, oy, oz], [dx, dy, dz]);
    let (middle, scale) = (frame.middle.to_array(), frame.scale);
    let narrow = |x: &Lane| -> Narrow { each(|i| x[i] as f32) };
    // In f64: what loses digits by cancellation.
    let o = axes!(|k| each(|i| (f64::from(origin[k][i]) - middle[k]) * scale));
    let d = axes!(|k| each(|i| f64::from(direction[k][i])));
    let square = dot(&d, &d);
    let inverse_length = inverse_root(&square);
    let unit = axes!(|k| each(|i| d[k][i] * inverse_length[i]));
    let start = dot(&o, &unit);
    let foot = axes!(|k| narrow(&each(|i| o[k][i] - start[i] * unit[k][i])));
    let step = each(|i| square[i] * inverse_length[i] * scale);
    let position = |t: &Narrow| narrow(&each(|i| start[i] + f64::from(t[i]) * step[i]));
    let distance = narrow(&each(|i| o[0][i].abs() + o[1][i].abs() + o[2][i].abs()));
    RayNumbers {
        foot,
        unit: axes!(|k| narrow(&unit[k])),
        start: narrow(&start),
        step: narrow(&step),
        distance: each(|i| if distance[i] < MAX_START as f32 { distance[i] } else { f32::INFINITY }),
        // The largest numbers stand for roots beyond them, too.
        from: position(&each(|i| if t_min[i] > -f32::MAX { t_min[i] } else { f32::NEG_INFINITY })),
        to: position(&each(|i| if t_max[i] < f32::MAX { t_max[i] } else { f32::INFINITY })),
        // A root beyond half of the largest f32 may overflow, which is not a hit: so it is never a certain hit.
        first: position(&each(|i| if t_min[i] > -0.5 * f32::MAX { t_min[i] } else { -0.5 * f32::MAX })),
        last: position(&each(|i| if t_max[i] < 0.5 * f32::MAX { t_max[i] } else { 0.5 * f32::MAX })),
    }
}

multiversion! {
    /// Prepares the rays of a packet, with AABBs if its segments are short. If a ray starts too far away for f64, its `margin` is infinite.
    /// Pads the last group of eight with copies of its first ray.
    prepare_packet, (frame: &CpuFrame, rays: &[Ray], packet: &mut Packet, short: bool)
}

#[inline(always)]
fn prepare_packet<L: Lanes>(lanes: L, frame: &CpuFrame, rays: &[Ray], packet: &mut Packet, short: bool) {
    let (groups, left) = rays.as_chunks();
    let last = left.first().map(|first| each(|i| *left.get(i).unwrap_or(first)));
    let Some(columns) = packet.columns.first_chunk_mut::<WIDE>() else { return };
    // In two passes: each is a long chain of dependent operations, and a processor overlaps more groups if chains are shorter.
    for (g, group) in groups.iter().chain(&last).enumerate() {
        // The records' columns go through memory. Otherwise the compiler would see that they come from rows, and work on two numbers at a time
        // instead of eight.
        let records = Aligned(lanes.narrow().transpose(bytemuck::cast_ref::<_, [Narrow; 8]>(group).each_ref()));
        let numbers = ray_numbers(frame, &black_box(&records).0);
        for (column, number) in columns.iter_mut().zip(bytemuck::cast_ref::<_, [Narrow; WIDE]>(&numbers)) {
            column.as_chunks_mut().0[g % GROUPS] = *number;
        }
    }
    for i in (0..PACKET_RAYS).step_by(L::COUNT) {
        if i >= rays.len() {
            break;
        }
        prepare_columns(lanes, &mut packet.columns, i, short);
    }
}

multiversion! {
    /// Copies the numbers of a group of a packet's rays.
    copy_group, (packet: &Packet, group: usize, prepared: &mut [PreparedRay; LANES]), |lanes| {
        for (k, columns) in packet.columns.as_chunks::<8>().0.iter().take(NUMBERS / 8).enumerate() {
            let numbers = lanes.narrow().transpose(each(|i| &columns[i].as_chunks().0[group % GROUPS]));
            for (ray, numbers) in prepared.iter_mut().zip(numbers) {
                bytemuck::cast_mut::<PreparedRay, [Narrow; 4]>(ray)[k] = numbers;
            }
        }
    }
}

multiversion! {
    /// Prepares one ray, in vectors of equal lanes. From scalars the compiler would make vectors over the axes; gathering them takes longer.
    prepare_ray, (frame: &CpuFrame, ray: &Ray) -> PreparedRay
}

#[inline(always)]
fn prepare_ray<L: Lanes>(lanes: L, frame: &CpuFrame, ray: &Ray) -> PreparedRay {
    let records = bytemuck::cast_ref::<Ray, [f32; 8]>(ray).map(|number| [number; LANES]);
    let mut columns = [[0.0; LANES]; NUMBERS];
    columns[..WIDE].copy_from_slice(bytemuck::cast_ref::<_, [Narrow; WIDE]>(&ray_numbers(frame, &records)));
    prepare_columns(lanes.narrow(), &mut columns, 0, false);
    bytemuck::cast::<[f32; NUMBERS], PreparedRay>(std::array::from_fn(|i| columns[i][0]))
}

/// A ray prepared for the tests of AABBs and leaves. The fields for AABBs fill one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct PreparedRay {
    /// 1/d, and the offsets for the planes where the ray enters and leaves.
    pub(crate) inverse: [f32; 3],
    pub(crate) enter: [f32; 3],
    pub(crate) leave: [f32; 3],
    /// Ends of the segment that is searched before any hit: the ray's own, extended to contain t = 0.
    pub(crate) near: f32,
    pub(crate) far: f32,
    /// Error of a root.
    pub(crate) margin: f32,
    /// Positions from `begin` to `end` certainly lie between the ray's own ends.
    pub(crate) begin: f32,
    pub(crate) end: f32,
    pub(crate) line: Line,
    /// Upper bound of the length of one unit of `t`.
    pub(crate) step: f32,
    /// Positions up to this one certainly lie before the ray's beginning.
    pub(crate) before: f32,
    /// Time of the ray, at which moving spheres are intersected, relative to the middle of their time range. If they move while the ray
    /// travels, it is the time at which the ray is at `pivot`; the other fields are only for this case, see
    /// [`moving_leaf`](super::moving_leaf).
    pub(crate) time: f32,
    pub(crate) pivot: f32,
    pub(crate) pace: f32,
    pub(crate) flag: f32,
}

/// The line of a prepared ray, in the notation of `frame.rs`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Line {
    /// The perpendiculars (the first has no z), and the coordinates of the line along them, negated. If spheres move while the ray travels,
    /// `v` is the ray's point at [`pivot`](PreparedRay::pivot) instead.
    pub(crate) u: [f32; 2],
    pub(crate) v: [f32; 3],
    pub(crate) minus_alpha: f32,
    pub(crate) minus_beta: f32,
    /// 2 δ and δ²: a sphere is a candidate up to `spread` · ρ + `floor`.
    pub(crate) spread: f32,
    pub(crate) floor: f32,
    /// The unit direction.
    pub(crate) d: [f32; 3],
}

/// The octant of a direction, or of its inverse: bit k is set if number k is negative.
#[inline(always)]
pub(crate) fn octant_of(numbers: [f32; 3]) -> usize {
    (0..3).fold(0, |octant, k| octant | usize::from(numbers[k].is_sign_negative()) << k)
}

impl PreparedRay {
    /// Inflates the ray laterally by `lateral` and axially by `along`, in scaled units. The conditions for certain hits become stricter
    /// by the same amounts.
    pub(crate) fn inflate(&mut self, lateral: f32, along: f32) {
        let [lateral, along] = [lateral, along].map(|by| by * 1.000_001);
        if along > 0.0 {
            (self.near, self.far) = ((self.near - along).next_down(), (self.far + along).next_up());
            (self.begin, self.end) = ((self.begin + along).next_up(), (self.end - along).next_down());
            self.margin = (self.margin + along).next_up();
            self.before = (self.before - along).next_down();
        }
        if lateral > 0.0 {
            for k in 0..3 {
                let more = (lateral * self.inverse[k].abs()) * 1.000_001;
                self.enter[k] -= more;
                self.leave[k] += more;
            }
            let Line { spread, floor, .. } = &mut self.line;
            let delta = (floor.sqrt() + lateral) * 1.000_001;
            (*spread, *floor) = ((*spread + 2.0 * lateral) * 1.000_001, delta * delta * 1.000_001);
        }
    }

    /// Upper bound of the position beyond which every hit has a larger `t`, as
    /// [`RayParameter::far`](crate::cpu::frame::RayParameter::far), for a ray that begins at `t_min`. That must not be negative: the position of
    /// a distant beginning would be too inaccurate.
    #[inline(always)]
    pub(crate) fn far_after(&self, t_min: f32, t: f32) -> f32 {
        // `begin` is an upper bound of the position at `t_min`, with twice the error of a root.
        let length = f64::from(t.max(t_min)) - f64::from(t_min);
        round_up(f64::from(self.begin) + length * f64::from(self.step))
    }

    /// Octant of the direction. All rays of an octant enter AABBs through the same faces.
    pub(crate) fn octant(&self) -> usize {
        octant_of(self.inverse)
    }
}

#[cfg(test)]
#[path = "ray_setup_tests.rs"]
pub(crate) mod tests;
