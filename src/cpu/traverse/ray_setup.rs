//! Ray setup for the stream traversal, eight rays at a time: the arithmetic of [`CullFrame::prepare`](crate::cpu::cull::CullFrame::prepare) and of
//! `kernels.rs` in f64, one lane per ray. Ray by ray, setup takes as long as the traversal of a ray that soon hits something.

use std::hint::black_box;

use glam::{Mat4, Vec4};

use super::packet::{Packet, RAY_COLUMNS};
use super::prepared_ray::PreparedRay;
use crate::cpu::cull::{CullFrame, MAX_START, flag_error};
use crate::math::float::{U as U32, U_WIDE as U};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::query::policy::Precision;
use crate::records::Ray;

/// Rays prepared at once: one 512-bit register per number. With four, AVX-512 prepares pictures 5 to 9 % more slowly, and AVX2 takes as many
/// instructions.
pub(crate) const LANES: usize = 8;

type Lane = [f64; LANES];
type Narrow = [f32; LANES];

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
fn each(f: impl Fn(usize) -> f64) -> Lane {
    [f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)]
}

/// Like [`each`], in f32.
#[inline(always)]
fn from_each(f: impl Fn(usize) -> f32) -> Narrow {
    [f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)]
}

#[inline(always)]
fn dot(a: &[Lane; 3], b: &[Lane; 3]) -> Lane {
    each(|i| a[0][i] * b[0][i] + a[1][i] * b[1][i] + a[2][i] * b[2][i])
}

/// Rounds up to f32, at most a few f32 steps too far.
#[inline(always)]
fn round_up(x: f64) -> f32 {
    (x + x.abs() * (4.0 * U) + 1e-38) as f32
}

/// Eight rays in SoA layout: origin and `t_min`, direction and `t_max`.
#[inline(always)]
fn columns(rays: &[Ray; 8]) -> ([Narrow; 4], [Narrow; 4]) {
    let halves: &[[Ray; 4]; 2] = bytemuck::cast_ref(rays);
    let (a, b) = (columns4(&halves[0]), columns4(&halves[1]));
    let join = |a: [f32; 4], b: [f32; 4]| -> Narrow { bytemuck::cast([a, b]) };
    (
        [join(a.0[0], b.0[0]), join(a.0[1], b.0[1]), join(a.0[2], b.0[2]), join(a.0[3], b.0[3])],
        [join(a.1[0], b.1[0]), join(a.1[1], b.1[1]), join(a.1[2], b.1[2]), join(a.1[3], b.1[3])],
    )
}

/// Four rays in SoA layout. Transposed as whole vectors: number by number it takes longer than the computations that follow.
#[inline(always)]
pub(crate) fn columns4(rays: &[Ray; 4]) -> ([[f32; 4]; 4], [[f32; 4]; 4]) {
    let column = |half: usize, i: usize| Vec4::from_array(bytemuck::cast::<Ray, [[f32; 4]; 2]>(rays[i])[half]);
    let half = |half| Mat4::from_cols(column(half, 0), column(half, 1), column(half, 2), column(half, 3)).transpose();
    (half(0).to_cols_array_2d(), half(1).to_cols_array_2d())
}

multiversion! {
    /// Prepares rays. If a ray starts too far away for f64, its `margin` is infinite. A packet receives them as its rays from the given number
    /// on, with AABBs if its segments are short.
    prepare_rays, (
        frame: &CullFrame,
        rays: &[Ray; LANES],
        precision: Precision,
        prepared: &mut [PreparedRay; LANES],
        packet: Option<(&mut Packet, usize, bool)>
    )
}

#[inline(always)]
fn prepare_rays(
    _: impl Lanes,
    frame: &CullFrame,
    rays: &[Ray; LANES],
    precision: Precision,
    prepared: &mut [PreparedRay; LANES],
    packet: Option<(&mut Packet, usize, bool)>,
) {
    // The columns go through memory. Otherwise the compiler would see that they come from rows, and work on two numbers at a time instead
    // of eight.
    let ([ox, oy, oz, t_min], [dx, dy, dz, t_max]) = black_box(columns(rays));
    let (origin, direction) = ([ox, oy, oz], [dx, dy, dz]);
    let relative_error = flag_error(precision);
    let (middle, scale) = (frame.middle().to_array(), frame.scale());
    let o = axes!(|k| each(|i| (f64::from(origin[k][i]) - middle[k]) * scale));
    let d = axes!(|k| each(|i| f64::from(direction[k][i])));
    let (square, distance) = (dot(&d, &d), dot(&o, &o));
    let length = each(|i| square[i].sqrt());
    let distance = each(|i| distance[i].sqrt());
    let inverse_length = each(|i| 1.0 / length[i]);
    let unit = axes!(|k| each(|i| d[k][i] * inverse_length[i]));
    let across = each(|i| d[0][i] * d[0][i] + d[1][i] * d[1][i]);
    let inverse_across = each(|i| 1.0 / across[i].sqrt());
    let ux = each(|i| if across[i] > 0.0 { -d[1][i] * inverse_across[i] } else { 1.0 });
    let uy = each(|i| if across[i] > 0.0 { d[0][i] * inverse_across[i] } else { 0.0 });
    let v = [
        each(|i| -unit[2][i] * uy[i]),
        each(|i| unit[2][i] * ux[i]),
        each(|i| unit[0][i] * uy[i] - unit[1][i] * ux[i]),
    ];
    let start = dot(&o, &unit);
    let foot = axes!(|k| each(|i| o[k][i] - start[i] * unit[k][i]));
    let alpha = each(|i| -(foot[0][i] * ux[i] + foot[1][i] * uy[i]));
    let beta = dot(&foot, &v);
    let off = dot(&foot, &foot);
    let off = each(|i| off[i].sqrt());
    let step = each(|i| length[i] * scale);
    let slack = each(|i| 128.0 * U * distance[i] + 4.8e-38 * step[i] + 1e-18);
    let near = each(|i| start[i] + f64::from(t_min[i].min(0.0)) * step[i] - slack[i]);
    let far = each(|i| start[i] + f64::from(t_max[i].max(0.0)) * step[i] + slack[i]);
    // A root beyond half of the largest f32 may overflow, which is not a hit: so it is never a certain hit.
    let begin = each(|i| start[i] + f64::from(t_min[i].max(-0.5 * f32::MAX)) * step[i] + 2.0 * slack[i]);
    // Negated, because `up` rounds up.
    let end = each(|i| 2.0 * slack[i] - start[i] - f64::from(t_max[i].min(0.5 * f32::MAX)) * step[i]);
    let before = each(|i| 2.0 * slack[i] - start[i] - f64::from(t_min[i]) * step[i]);
    let delta = each(|i| 16.0 * U * off[i] + relative_error * distance[i]);
    // The rest need not be exact, only conservative: f32, rounded up.
    let up = |x: &Lane| -> Narrow { from_each(|i| round_up(x[i])) };
    let narrow = |x: &Lane| -> Narrow { from_each(|i| x[i] as f32) };
    let floor = up(&each(|i| delta[i] * delta[i] * (1.0 + 32.0 * U) + 7.9e-31));
    let wide = up(&each(|i| 2.0 * delta[i] + 80.0 * U * off[i] + 1e-15));
    let (delta, slack32, near, far) = (up(&delta), up(&slack), up(&each(|i| -near[i])), up(&far));
    let (begin, end, before) = (up(&begin), up(&end), up(&before));
    let spread: Narrow = from_each(|i| 2.00001 * delta[i]);
    let margin: Narrow =
        from_each(|i| if distance[i] < MAX_START { 2.00001 * slack32[i] + 1e-15 } else { f32::INFINITY });
    let near: Narrow = from_each(|i| if t_min[i] <= -f32::MAX { f32::NEG_INFINITY } else { -near[i] });
    let far: Narrow = from_each(|i| if t_max[i] >= f32::MAX { f32::INFINITY } else { far[i] });
    let (foot, unit, v) = (axes!(|k| narrow(&foot[k])), axes!(|k| narrow(&unit[k])), axes!(|k| narrow(&v[k])));
    let (ux, uy, alpha, beta) = (narrow(&ux), narrow(&uy), narrow(&alpha), narrow(&each(|i| -beta[i])));
    // A direction parallel to a face never intersects it. Turned by less than any rounding, it does.
    let inverse = axes!(|k| from_each(|i| 1.0 / unit[k][i].abs().max(1e-18).copysign(unit[k][i])));
    let enter = axes!(|k| from_each(|i| -(foot[k][i] + wide[i].copysign(unit[k][i])) * inverse[k][i]));
    let leave = axes!(|k| from_each(|i| -(foot[k][i] - wide[i].copysign(unit[k][i])) * inverse[k][i]));
    let (end, before): (Narrow, Narrow) = (from_each(|i| -end[i]), from_each(|i| -before[i]));
    // In the order of the fields of `PreparedRay`.
    let words = black_box([
        [inverse[0], inverse[1], inverse[2], enter[0]],
        [enter[1], enter[2], leave[0], leave[1]],
        [leave[2], near, far, margin],
        [begin, end, ux, uy],
        [v[0], v[1], v[2], alpha],
        [beta, spread, floor, unit[0]],
        [unit[1], unit[2], up(&step), before],
    ]);
    if let Some((packet, first, short)) = packet {
        packet.set(0, first, &words.as_flattened()[..RAY_COLUMNS]);
        if short {
            // Errors of these sums are at most 4 U (|F| + |s|), in f32.
            let pad: Narrow = from_each(|i| wide[i] + (near[i].abs() + far[i].abs() + 4.0) * (8.0 * U32));
            let a = axes!(|k| from_each(|i| foot[k][i] + near[i] * unit[k][i]));
            let b = axes!(|k| from_each(|i| foot[k][i] + far[i] * unit[k][i]));
            let low = axes!(|k| from_each(|i| if a[k][i] < b[k][i] { a[k][i] } else { b[k][i] } - pad[i]));
            let high = axes!(|k| from_each(|i| if a[k][i] > b[k][i] { a[k][i] } else { b[k][i] } + pad[i]));
            packet.set(RAY_COLUMNS, first, [low, high].as_flattened());
        }
    }
    for (k, columns) in words.iter().enumerate() {
        for (half, prepared) in prepared.chunks_mut(4).enumerate() {
            let part: [[f32; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| columns[i][4 * half + j]));
            let rows = Mat4::from_cols_array_2d(&part).transpose().to_cols_array_2d();
            for (ray, row) in prepared.iter_mut().zip(rows) {
                bytemuck::cast_mut::<PreparedRay, [[f32; 4]; 8]>(ray)[k] = row;
            }
        }
    }
}
