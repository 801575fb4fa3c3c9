//! Several rays made ready for a walk at once: the arithmetic of [`Frame::prepare`](super::filter::Frame) and of `stream.rs` in
//! f64, a lane a ray. One by one it takes as long as the walk of a ray that soon meets something.

use super::filter::{FAR, Frame, Ruler};
use super::level::Level;
use super::stream::StreamRay;
use crate::query::Precision;
use crate::records::Ray;

/// Rays made ready at once: with eight, the registers do not hold the intermediate results.
pub(crate) const LANES: usize = 4;

const U: f64 = 1.0 / 16_777_216.0;

type Lane = [f64; LANES];
type Narrow = [f32; LANES];

#[inline(always)]
fn each(f: impl Fn(usize) -> f64) -> Lane {
    std::array::from_fn(f)
}

#[inline(always)]
fn from_each(f: impl Fn(usize) -> f32) -> Narrow {
    std::array::from_fn(f)
}

#[inline(always)]
fn dot(a: &[Lane; 3], b: &[Lane; 3]) -> Lane {
    each(|i| a[0][i] * b[0][i] + a[1][i] * b[1][i] + a[2][i] * b[2][i])
}

/// The nearest f32 but one, not below.
#[inline(always)]
fn up(x: f64) -> f32 {
    (x + x.abs() * (4.0 * U) + 1e-38) as f32
}

dispatch! {
    /// Makes rays ready. A ray from so far that f64 cannot tell has an infinite margin.
    aim_rays, (frame: &Frame, rays: &[Ray; LANES], precision: Precision, aimed: &mut [StreamRay; LANES], rulers: &mut [Ruler; LANES])
}

#[expect(clippy::extra_unused_type_parameters, reason = "the compiler finds the lanes by itself")]
#[inline(always)]
fn aim_rays<L>(
    frame: &Frame,
    rays: &[Ray; LANES],
    precision: Precision,
    aimed: &mut [StreamRay; LANES],
    rulers: &mut [Ruler; LANES],
) {
    let solve = if precision == Precision::Fast { 32.0 * U } else { 3.7e-12 };
    let (middle, scale) = (frame.middle().to_array(), frame.scale());
    let axes = [0, 1, 2];
    let o = axes.map(|k| each(|i| (f64::from(rays[i].origin[k]) - middle[k]) * scale));
    let d = axes.map(|k| each(|i| f64::from(rays[i].direction[k])));
    let (square, distance) = (dot(&d, &d), dot(&o, &o));
    let length = each(|i| square[i].sqrt());
    let distance = each(|i| distance[i].sqrt());
    let inverse_length = each(|i| 1.0 / length[i]);
    let hat = axes.map(|k| each(|i| d[k][i] * inverse_length[i]));
    let across = each(|i| d[0][i] * d[0][i] + d[1][i] * d[1][i]);
    let inverse_across = each(|i| 1.0 / across[i].sqrt());
    let ux = each(|i| if across[i] > 0.0 { -d[1][i] * inverse_across[i] } else { 1.0 });
    let uy = each(|i| if across[i] > 0.0 { d[0][i] * inverse_across[i] } else { 0.0 });
    let v =
        [each(|i| -hat[2][i] * uy[i]), each(|i| hat[2][i] * ux[i]), each(|i| hat[0][i] * uy[i] - hat[1][i] * ux[i])];
    let start = dot(&o, &hat);
    let foot = axes.map(|k| each(|i| o[k][i] - start[i] * hat[k][i]));
    let alpha = each(|i| -(foot[0][i] * ux[i] + foot[1][i] * uy[i]));
    let beta = dot(&foot, &v);
    let off = dot(&foot, &foot);
    let off = each(|i| off[i].sqrt());
    let step = each(|i| length[i] * scale);
    let slack = each(|i| 128.0 * U * distance[i] + 4.8e-38 * step[i] + 1e-18);
    let near = each(|i| start[i] + f64::from(rays[i].t_min.min(0.0)) * step[i] - slack[i]);
    let far = each(|i| start[i] + f64::from(rays[i].t_max.max(0.0)) * step[i] + slack[i]);
    let begin = each(|i| start[i] + f64::from(rays[i].t_min) * step[i] + 2.0 * slack[i]);
    let end = each(|i| 2.0 * slack[i] - start[i] - f64::from(rays[i].t_max) * step[i]);
    let delta = each(|i| 16.0 * U * off[i] + solve * distance[i]);
    // What follows need not be exact, only wide enough: f32, and the last bit up.
    let up = |x: &Lane| -> Narrow { from_each(|i| up(x[i])) };
    let narrow = |x: &Lane| -> Narrow { from_each(|i| x[i] as f32) };
    let floor = up(&each(|i| delta[i] * delta[i] * (1.0 + 32.0 * U) + 7.9e-31));
    let wide = up(&each(|i| 2.0 * delta[i] + 80.0 * U * off[i] + 1e-15));
    let (delta, slack32, near, far) = (up(&delta), up(&slack), up(&each(|i| -near[i])), up(&far));
    let (begin, end) = (up(&begin), up(&end));
    let spread: Narrow = from_each(|i| 2.00001 * delta[i]);
    let margin: Narrow = from_each(|i| if distance[i] < FAR { 2.00001 * slack32[i] + 1e-15 } else { f32::INFINITY });
    let near: Narrow = from_each(|i| if rays[i].t_min <= -f32::MAX { f32::NEG_INFINITY } else { -near[i] });
    let far: Narrow = from_each(|i| if rays[i].t_max >= f32::MAX { f32::INFINITY } else { far[i] });
    let (foot, hat, v) = (foot.each_ref().map(narrow), hat.each_ref().map(narrow), v.each_ref().map(narrow));
    let (ux, uy, alpha, beta) = (narrow(&ux), narrow(&uy), narrow(&alpha), narrow(&each(|i| -beta[i])));
    // A direction along a face meets it nowhere: turned by less than any rounding, it does.
    let inverse = axes.map(|k| -> Narrow { from_each(|i| 1.0 / hat[k][i].abs().max(1e-18).copysign(hat[k][i])) });
    let enter = axes.map(|k| -> Narrow { from_each(|i| -(foot[k][i] + wide[i].copysign(hat[k][i])) * inverse[k][i]) });
    let leave = axes.map(|k| -> Narrow { from_each(|i| -(foot[k][i] - wide[i].copysign(hat[k][i])) * inverse[k][i]) });
    for (i, (ray, ruler)) in aimed.iter_mut().zip(rulers).enumerate() {
        *ray = StreamRay {
            inverse: [inverse[0][i], inverse[1][i], inverse[2][i]],
            enter: [enter[0][i], enter[1][i], enter[2][i]],
            leave: [leave[0][i], leave[1][i], leave[2][i]],
            near: near[i],
            far: far[i],
            margin: margin[i],
            begin: if rays[i].t_min <= -f32::MAX { f32::NEG_INFINITY } else { begin[i] },
            end: if rays[i].t_max >= f32::MAX { f32::INFINITY } else { -end[i] },
            line: [
                ux[i], uy[i], v[0][i], v[1][i], v[2][i], alpha[i], beta[i], spread[i], floor[i], hat[0][i], hat[1][i],
                hat[2][i],
            ],
        };
        *ruler = Ruler::new(start[i], step[i], slack[i], scale);
    }
}
