//! Eight rays made ready for a walk at once: the arithmetic of [`Frame::prepare`](super::filter::Frame) and of `stream.rs` in
//! f64, a lane a ray. One by one it takes as long as the walk of a ray that soon meets something.

use super::filter::{FAR, Frame, Ruler};
use super::level::Level;
use super::stream::StreamRay;
use crate::query::Precision;
use crate::records::Ray;

/// Rays made ready at once.
pub(crate) const EIGHT: usize = 8;

const U: f64 = 1.0 / 16_777_216.0;

type Lane = [f64; EIGHT];

#[inline(always)]
fn each(f: impl Fn(usize) -> f64) -> Lane {
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
    /// Makes eight rays ready. A ray from so far that f64 cannot tell has an infinite margin.
    aim_eight, (frame: &Frame, rays: &[Ray; EIGHT], precision: Precision, aimed: &mut [StreamRay; EIGHT], rulers: &mut [Ruler; EIGHT])
}

#[inline(always)]
fn aim_eight<L>(
    frame: &Frame,
    rays: &[Ray; EIGHT],
    precision: Precision,
    aimed: &mut [StreamRay; EIGHT],
    rulers: &mut [Ruler; EIGHT],
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
    let delta = each(|i| 16.0 * U * off[i] + solve * distance[i]);
    let spread = each(|i| 2.0 * delta[i] * (1.0 + 32.0 * U));
    let floor = each(|i| delta[i] * delta[i] * (1.0 + 32.0 * U) + 7.9e-31);
    let step = each(|i| length[i] * scale);
    let slack = each(|i| 128.0 * U * distance[i] + 4.8e-38 * step[i] + 1e-18);
    let margin = each(|i| if distance[i] < FAR { 2.0 * slack[i] * (1.0 + 4.0 * U) + 1e-15 } else { f64::INFINITY });
    let wide = each(|i| 2.0 * delta[i] + 64.0 * U * off[i] + 1e-15);
    // A direction along a face meets it nowhere: turned by less than any rounding, it does.
    let turned = hat.map(|hat| each(|i| if hat[i].abs() < 1e-18 { 1e-18f64.copysign(hat[i]) } else { hat[i] }));
    let inverse = turned.map(|hat| each(|i| 1.0 / hat[i]));
    let wide = turned.map(|hat| each(|i| wide[i].copysign(hat[i])));
    let enter = axes.map(|k| each(|i| -(foot[k][i] + wide[k][i]) * inverse[k][i]));
    let leave = axes.map(|k| each(|i| -(foot[k][i] - wide[k][i]) * inverse[k][i]));
    let near = each(|i| start[i] + f64::from(rays[i].t_min.min(0.0)) * step[i] - slack[i]);
    let far = each(|i| start[i] + f64::from(rays[i].t_max.max(0.0)) * step[i] + slack[i]);
    for (i, (ray, ruler)) in aimed.iter_mut().zip(rulers).enumerate() {
        let open = (rays[i].t_min <= -f32::MAX, rays[i].t_max >= f32::MAX);
        let v = v.map(|v| v[i] as f32);
        let (ux, uy, alpha, beta) = (ux[i] as f32, uy[i] as f32, alpha[i] as f32, -beta[i] as f32);
        let hat = hat.map(|hat| hat[i] as f32);
        *ray = StreamRay {
            inverse: inverse.map(|x| x[i] as f32),
            enter: enter.map(|x| x[i] as f32),
            leave: leave.map(|x| x[i] as f32),
            near: if open.0 { f32::NEG_INFINITY } else { -up(-near[i]) },
            far: if open.1 { f32::INFINITY } else { up(far[i]) },
            margin: margin[i] as f32,
            line: [ux, uy, v[0], v[1], v[2], alpha, beta, spread[i] as f32, floor[i] as f32, hat[0], hat[1], hat[2]],
        };
        *ruler = Ruler::new(start[i], step[i], slack[i], scale);
    }
}
