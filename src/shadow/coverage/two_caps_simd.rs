//! Visible fraction of a light behind one sphere, for batches of 256 observers, eight lanes at a time.
//!
//! It computes the same intersection of two caps as `disc.rs`, with the same accuracy, but from sines and cosines instead of angles.
//! Products and roots give the sines and cosines of sums of angles and of their halves. Of twenty transcendental functions four arctangents
//! remain, and there are no branches. Only plain sums, products, quotients, roots and exact multiply-adds are used, so the bits are the
//! same for every lane width.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use bytemuck::Zeroable;
use glam::DVec3;

use super::disc::CONCENTRIC;
use crate::math::error_free::two_sum;
use crate::math::simd::f64x8::{F64x8, WIDTH};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::shadow::ball::{Ball, Shadow, ShadowKind};

/// Observers per batch.
const BATCH_WIDTH: usize = 256;

/// A batch of observers, each with a light behind one occluding sphere, in SoA layout. It is empty if all is zero.
#[derive(Zeroable)]
pub(crate) struct TwoCapBatch {
    count: usize,
    at: [[f64; BATCH_WIDTH]; 3],
    light: [[f64; BATCH_WIDTH]; 4],
    ball: [[f64; BATCH_WIDTH]; 4],
    /// Index of each result in the output.
    place: [usize; BATCH_WIDTH],
    /// Outside 0…1, or NaN, if this method cannot compute it.
    fraction: [f64; BATCH_WIDTH],
    kind: [f64; BATCH_WIDTH],
}

impl TwoCapBatch {
    /// Adds an observer. The batch must not be full.
    pub(crate) fn push(&mut self, observer: DVec3, light: Ball, ball: Ball, place: usize) {
        let i = self.count;
        for k in 0..3 {
            self.at[k][i] = observer[k];
            self.light[k][i] = light.center[k];
            self.ball[k][i] = ball.center[k];
        }
        self.light[3][i] = light.radius;
        self.ball[3][i] = ball.radius;
        self.place[i] = place;
        self.count += 1;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.count == BATCH_WIDTH
    }

    /// Computes all shadows and empties the batch. Calls `take` with the index, shadow, observer, light and occluder of each; the shadow is
    /// `None` if it has to be computed by another method.
    pub(crate) fn drain(&mut self, level: SimdLevel, mut take: impl FnMut(usize, Option<Shadow>, DVec3, [Ball; 2])) {
        level.compute(self);
        for i in 0..self.count {
            let fraction = self.fraction[i];
            let kind = ShadowKind::ALL[(self.kind[i] as usize).min(3)];
            let shadow = (0.0..=1.0).contains(&fraction).then_some(Shadow { fraction, kind });
            let at = DVec3::new(self.at[0][i], self.at[1][i], self.at[2][i]);
            let ball = |of: &[[f64; BATCH_WIDTH]; 4]| Ball::new([of[0][i], of[1][i], of[2][i]], of[3][i]);
            take(self.place[i], shadow, at, [ball(&self.light), ball(&self.ball)]);
        }
        self.count = 0;
    }
}

multiversion! {
    /// Computes all shadows of a batch.
    compute, (batch: &mut TwoCapBatch)
}

#[inline(always)]
fn compute(_: impl Lanes, batch: &mut TwoCapBatch) {
    let TwoCapBatch { count, at, light, ball, fraction, kind, .. } = batch;
    for first in (0..*count).step_by(WIDTH) {
        let load =
            |column: &[f64; BATCH_WIDTH]| F64x8(*column[first..].first_chunk().expect("columns are whole vectors"));
        let from = [load(&at[0]), load(&at[1]), load(&at[2])];
        let center = [load(&light[0]), load(&light[1]), load(&light[2])];
        let of = [load(&ball[0]), load(&ball[1]), load(&ball[2])];
        let (f, k) = one(from, center, load(&light[3]), of, load(&ball[3]));
        fraction[first..first + WIDTH].copy_from_slice(&f.0);
        kind[first..first + WIDTH].copy_from_slice(&k.0);
    }
}

type Vector = [F64x8; 3];

#[inline(always)]
fn dot(a: Vector, b: Vector) -> F64x8 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// An angle, represented by its sine and cosine.
#[derive(Clone, Copy)]
struct Angle {
    sine: F64x8,
    cosine: F64x8,
}

impl Angle {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self {
            sine: self.sine * other.cosine + self.cosine * other.sine,
            cosine: self.cosine * other.cosine - self.sine * other.sine,
        }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.plus(Self { sine: -other.sine, cosine: other.cosine })
    }

    /// Squared sine of half the angle, without cancellation.
    #[inline(always)]
    fn half_sine_squared(self) -> F64x8 {
        let near = 0.5 * self.sine * self.sine / (1.0 + self.cosine.abs());
        self.cosine.if_not_positive(0.5 * (1.0 - self.cosine), near)
    }

    /// 1 minus the cosine, for an angle up to a quarter turn.
    #[inline(always)]
    fn versine(self) -> F64x8 {
        self.sine * self.sine / (1.0 + self.cosine)
    }
}

/// Between these bounds, products of four lengths neither overflow nor become subnormal.
const LEAST: f64 = 1e-280;
const MOST: f64 = 1e300;

/// Fractions and kinds (as numbers) of eight observers. `disc.rs` explains the geometry and uses the same names.
#[inline(always)]
fn one(at: Vector, light: Vector, light_radius: F64x8, center: Vector, radius: F64x8) -> (F64x8, F64x8) {
    let (toward, from_origin, from_light) = (sub(light, at), sub(center, at), sub(center, light));
    let (light_square, square) = (dot(toward, toward), dot(from_origin, from_origin));
    // Both vectors have the same component across the line to the light; the shorter one has the smaller rounding error.
    let light_to_ball = dot(from_light, from_light);
    let w = [
        light_to_ball.if_below(square, from_light[0], from_origin[0]),
        light_to_ball.if_below(square, from_light[1], from_origin[1]),
        light_to_ball.if_below(square, from_light[2], from_origin[2]),
    ];
    let cross =
        [toward[1] * w[2] - toward[2] * w[1], toward[2] * w[0] - toward[0] * w[2], toward[0] * w[1] - toward[1] * w[0]];
    let light_distance = light_square.sqrt();
    let exact_power = power(at, center, radius);
    // An observer slightly below the occluder's surface counts as on it.
    let depth = exact_power + radius * radius * (1.0 / (1_u64 << 21) as f64);
    let power = exact_power.at_least(0.0);
    let sum = [toward[0] + from_origin[0], toward[1] + from_origin[1], toward[2] + from_origin[2]];
    let front = -dot(from_light, sum) - (light_radius - radius) * (light_radius + radius);

    let tangent = power.sqrt();
    let one_over_distance = 1.0 / (power + radius * radius).sqrt();
    let light_tangent = ((light_distance - light_radius) * (light_distance + light_radius)).at_least(0.0).sqrt();
    let one_over_light = 1.0 / light_distance;
    let a = Angle { sine: light_radius * one_over_light, cosine: light_tangent * one_over_light };
    let b = Angle { sine: radius * one_over_distance, cosine: tangent * one_over_distance };
    let (area, ahead) = (dot(cross, cross), dot(toward, from_origin));
    let both = area + ahead * ahead;
    let one_over_both = 1.0 / both.sqrt();
    let c = Angle { sine: area.sqrt() * one_over_both, cosine: ahead * one_over_both };
    let (near, far) = (c.minus(b), c.plus(b));
    let (inner, outer, beyond) = (a.minus(near), a.plus(near), far.minus(a));

    // The squares of the four sines in the half-angle formulas.
    let zero = F64x8::splat(0.0);
    let whole = a.plus(far).half_sine_squared();
    let less_a = beyond.sine.if_not_positive(zero, beyond.half_sine_squared());
    let (less_b, less_c) = (outer.half_sine_squared(), inner.half_sine_squared());
    let (versine_a, versine_b) = (a.versine(), b.versine());
    let lens =
        segment(less_a * less_c, whole * less_b, versine_a) + segment(less_b * less_c, whole * less_a, versine_b);
    let partial = 1.0 - lens / (PI * versine_a);
    let partial = partial.if_below(zero, zero, partial);
    let partial = F64x8::splat(1.0).if_below(partial, F64x8::splat(1.0), partial);
    let kinds = [0.0, 1.0, 2.0, 3.0].map(F64x8::splat);

    // Same centre, up to rounding: then the radii decide.
    let apart = c.sine - CONCENTRIC * a.sine;
    // Annular: the occluder is smaller than the light and does not cross the rim.
    let within = |yes: F64x8, no: F64x8| apart.if_not_positive(yes, beyond.sine.if_not_positive(yes, no));
    let smaller = |yes: F64x8, no: F64x8| b.sine.if_below(a.sine, within(yes, no), no);
    let covers = |yes: F64x8, no: F64x8| apart.if_not_positive(b.sine.if_below(a.sine, no, yes), no);
    let total = |yes: F64x8, no: F64x8| outer.sine.if_not_positive(yes, covers(yes, no));
    let hides = |yes: F64x8, no: F64x8| radius.if_not_positive(no, inner.sine.if_not_positive(no, yes));
    let none = |yes: F64x8, no: F64x8| front.if_not_positive(yes, hides(no, yes));
    let inside = |yes: F64x8, no: F64x8| depth.if_below(zero, yes, no);
    let fraction = inside(zero, none(kinds[1], total(zero, smaller(1.0 - versine_b / versine_a, partial))));
    // If products of four lengths leave the range of f64, the result is unknown.
    let known = F64x8::splat(MOST).if_below(both, F64x8::splat(f64::NAN), fraction);
    let fraction = both.if_below(F64x8::splat(LEAST), F64x8::splat(f64::NAN), known);
    // If the fraction is 0 the shadow is total, whatever the edges indicate.
    (fraction, inside(kinds[3], none(kinds[0], fraction.if_not_positive(kinds[3], smaller(kinds[2], kinds[1])))))
}

/// Half the solid angle between an arc and its chord. The half-angle A is given by the ratio `p` : `q` of sin⁴(A/2) to cos⁴(A/2); `v` is
/// the versine of the circle's radius.
#[inline(always)]
fn segment(p: F64x8, q: F64x8, v: F64x8) -> F64x8 {
    let (p, q) = (p.sqrt(), q.sqrt());
    let (along, aside) = (q - p, 2.0 * (p * q).sqrt());
    let one_over_length = 1.0 / (p + q);
    let (s, c) = (aside * one_over_length, along * one_over_length);
    let half_angle = arc(aside, along.abs());
    let half_angle = along.if_below(F64x8::splat(0.0), PI - half_angle, half_angle);
    let (run, rise) = (s * c * v, 1.0 - s * s * v);
    let excess = arc(run.abs(), rise);
    let excess = run.if_below(F64x8::splat(0.0), -excess, excess);
    let one_over_rise = 1.0 / rise;
    let x = run * one_over_rise;
    let square = x * x;
    let series = 1.0 / 5.0 - square * (1.0 / 7.0 - square * (1.0 / 9.0 - square * (1.0 / 11.0)));
    let tail = x * square * (1.0 / 3.0 - square * series);
    let less_arctangent = x.abs().if_below(F64x8::splat(0.05), tail, x - excess);
    let y = 2.0 * half_angle;
    let square = y * y;
    let tail = 1.0 - square * (1.0 / 72.0) * (1.0 - square * (1.0 / 110.0) * (1.0 - square * (1.0 / 156.0)));
    let tail = y * square * (1.0 / 6.0) * (1.0 - square * (1.0 / 20.0) * (1.0 - square * (1.0 / 42.0) * tail));
    let less_sine = y.if_below(F64x8::splat(0.3), tail, y - 2.0 * s * c);
    let small = 0.5 * v * less_sine - v * v * s * s * s * c * one_over_rise + less_arctangent;
    run.abs().if_below(0.25 * rise, small, half_angle * v - excess)
}

/// Angle in `[0, π/2]` of the vector `(x, y)` with nonnegative components; the arctangent of Cephes.
#[inline(always)]
fn arc(y: F64x8, x: F64x8) -> F64x8 {
    let (low, high) = (y.if_below(x, y, x), y.if_below(x, x, y));
    let bound = 0.66 * high;
    let z = bound.if_below(low, low - high, low) / bound.if_below(low, low + high, high);
    let s = z * z;
    let p = (((-8.750_608_600_031_904e-1 * s - 1.615_753_718_733_365e1) * s - 7.500_855_792_314_705e1) * s
        - 1.228_866_684_490_136_2e2)
        * s
        - 6.485_021_904_942_025e1;
    let q = ((((s + 2.485_846_490_142_306_3e1) * s + 1.650_270_098_316_988_5e2) * s + 4.328_810_604_912_903e2) * s
        + 4.853_903_996_359_137e2)
        * s
        + 1.945_506_571_482_614e2;
    let angle = z + z * s * (p / q);
    let angle = bound.if_below(low, FRAC_PI_4 + (angle + 3.061_616_997_868_383e-17), angle);
    let angle = y.if_below(x, angle, FRAC_PI_2 - (angle - 6.123_233_995_736_766e-17));
    // Both may be 0; the result is 0 then.
    high.if_not_positive(F64x8::splat(0.0), angle)
}

/// Squared distance minus squared radius, as in `src/shadow/light_frame.rs`.
#[inline(always)]
fn power(point: Vector, center: Vector, radius: F64x8) -> F64x8 {
    let mut sum = (F64x8::splat(0.0), F64x8::splat(0.0));
    for k in 0..3 {
        let (d, rest) = two_sum(center[k], -point[k]);
        sum = add_product(sum, d, d, 2.0 * d * rest);
    }
    let (high, low) = add_product(sum, -radius, radius, F64x8::splat(0.0));
    high + low
}

/// Adds `a · b + tail` to a sum that consists of a high and a low part.
#[inline(always)]
fn add_product((high, low): (F64x8, F64x8), a: F64x8, b: F64x8, tail: F64x8) -> (F64x8, F64x8) {
    let product = a * b;
    let (sum, rest) = two_sum(high, product);
    (sum, low + (rest + a.exact_mul_add(b, -product) + tail))
}

#[cfg(test)]
mod tests {
    use super::arc;
    use crate::math::simd::f64x8::F64x8;

    #[test]
    fn simd_arctangents_are_accurate_to_a_few_ulp() {
        let mut worst = 0.0_f64;
        for i in 0..200_000 {
            let y = f64::from(i % 1000) * 0.001 * 10_f64.powi(-(i / 10_000));
            let x = 1.0 - f64::from(i % 777) / 777.0;
            let (found, expected) = (arc(F64x8::splat(y), F64x8::splat(x)).0[7], y.atan2(x));
            worst = worst.max((found - expected).abs() / expected.max(1e-300));
        }
        assert!(worst < 5e-16, "{worst:e}");
        assert_eq!(arc(F64x8::splat(0.0), F64x8::splat(0.0)).0, [0.0; 8]);
    }
}
