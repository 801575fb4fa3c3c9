//! Exact intersection with integers: the reference of the tests, and the last step in the resolution of undecided rays.
//!
//! Every f32 is an integer times 2⁻¹⁴⁹, so the coefficients of the quadratic are integers of a few hundred bits. Every predicate here (does
//! the line intersect the sphere, on which side of a number does a root lie) is the sign of an integer. Only a result is rounded: once, to
//! nearest, ties to even.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

pub use super::classify::{Root, Roots};
use super::motion::Target;
use crate::records::{Ray, Sphere};

/// All inputs are integers in units of 2^-UNIT.
const UNIT: u64 = 149;

/// `value · 2^UNIT`, exact for every finite f32.
fn integer(value: f32) -> BigInt {
    let (mantissa, exponent) = parts(f64::from(value));
    // An f32 is a multiple of 2^-149, so the shift only ever removes zeros.
    if exponent + UNIT as i64 >= 0 {
        mantissa << (exponent + UNIT as i64)
    } else {
        mantissa >> -(exponent + UNIT as i64)
    }
}

/// A finite f64 as an integer times a power of two.
fn parts(value: f64) -> (BigInt, i64) {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i64;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    (if value < 0.0 { -BigInt::from(mantissa) } else { BigInt::from(mantissa) }, exponent)
}

fn dot(a: &[BigInt; 3], b: &[BigInt; 3]) -> BigInt {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

fn vector(v: glam::Vec3) -> [BigInt; 3] {
    v.to_array().map(integer)
}

fn sign(value: &BigInt) -> Ordering {
    match value.sign() {
        Sign::Minus => Ordering::Less,
        Sign::NoSign => Ordering::Equal,
        Sign::Plus => Ordering::Greater,
    }
}

/// Integer form of a pair: the vector from the origin to the centre at t = 0, the relative velocity, and the sum of the radii, in units of
/// 2^-unit.
struct IntegerPair {
    e: [BigInt; 3],
    d: [BigInt; 3],
    r: BigInt,
    unit: u64,
}

impl IntegerPair {
    fn of(ray: &Ray, target: Target<'_>) -> Self {
        let (o, d, center) = (vector(ray.origin), vector(ray.direction), vector(target.sphere.center));
        let r = integer(target.sphere.radius);
        let e = std::array::from_fn(|i| &center[i] - &o[i]);
        let Some(moves) = &target.motion else { return Self { e, d, r, unit: UNIT } };
        let (velocity, low, time) = (vector(moves.velocity), vector(moves.direction_low), integer(moves.time));
        let none = BigInt::ZERO;
        let away = |i: usize| if moves.moves_with_ray { &velocity[i] } else { &none };
        Self {
            e: std::array::from_fn(|i| (&e[i] << UNIT) + &velocity[i] * &time),
            d: std::array::from_fn(|i| (&d[i] + &low[i] - away(i)) << UNIT),
            r: (r + integer(moves.radius)) << UNIT,
            unit: 2 * UNIT,
        }
    }
}

/// The quadratic `A t² − 2 B t + C = 0` of one line and one sphere, with integer coefficients. Inputs must be finite, and the direction
/// must not be zero.
pub struct ExactRoots {
    a: BigInt,
    b: BigInt,
    c: BigInt,
    /// Sign of the discriminant: `Less` for no root, `Equal` for tangency, `Greater` for two roots.
    pub crossing: Ordering,
}

impl ExactRoots {
    /// Computes the coefficients.
    pub fn new(ray: &Ray, sphere: &Sphere) -> Self {
        Self::of(ray, Target::at_rest(sphere))
    }

    /// [`new`](Self::new) for targets that may move.
    pub(crate) fn of(ray: &Ray, target: Target<'_>) -> Self {
        let IntegerPair { e, d, r, .. } = IntegerPair::of(ray, target);
        let (a, b, c) = (dot(&d, &d), dot(&e, &d), dot(&e, &e) - &r * &r);
        // If the relative velocity is zero, the ray is inside the sphere for all t or for none.
        let rest = a.sign() == Sign::NoSign;
        let crossing = if rest { sign(&-&c) } else { sign(&(&b * &b - &a * &c)) };
        Self { a, b, c, crossing }
    }

    /// The quadratic of a ray that starts on the surface of its target: its constant term is 0.
    pub(crate) fn from_surface(ray: &Ray, target: Target<'_>) -> Self {
        Self { c: BigInt::ZERO, crossing: Ordering::Greater, ..Self::of(ray, target) }
    }

    /// Sign of the parameter of the perpendicular foot: `Greater` if the centre lies ahead of the origin.
    pub(crate) fn foot_side(&self) -> Ordering {
        sign(&self.b)
    }

    /// Side of the sphere on which the point at `t = 0` lies: `Less` inside, `Equal` on it, `Greater` outside.
    pub fn origin_side(&self) -> Ordering {
        sign(&self.c)
    }

    /// Compares a root with `n · 2^-shift`. The root must exist.
    fn compare_scaled(&self, root: Root, n: &BigInt, shift: u64) -> Ordering {
        if self.a.sign() == Sign::NoSign {
            return if root == Root::Enter { Ordering::Less } else { Ordering::Greater };
        }
        // The number is below the enter root if the quadratic is positive there and the foot lies ahead.
        let an = &self.a * n;
        let value = &an * n - ((&self.b * n) << (shift + 1)) + (&self.c << (2 * shift));
        let side_of_foot = an.cmp(&(&self.b << shift));
        match (sign(&value), root) {
            (Ordering::Less, Root::Enter) => Ordering::Less,
            (Ordering::Less, Root::Exit) => Ordering::Greater,
            // At a root, or outside both. The side of the foot, which lies halfway between the roots, distinguishes the cases.
            (Ordering::Equal, _) => match (root, side_of_foot) {
                (_, Ordering::Equal) => Ordering::Equal,
                (Root::Enter, Ordering::Less) | (Root::Exit, Ordering::Greater) => Ordering::Equal,
                (Root::Enter, Ordering::Greater) => Ordering::Less,
                (Root::Exit, Ordering::Less) => Ordering::Greater,
            },
            (Ordering::Greater, _) => side_of_foot.reverse(),
        }
    }

    fn compare_f64(&self, root: Root, t: f64) -> Ordering {
        if t.is_infinite() {
            return if t > 0.0 { Ordering::Less } else { Ordering::Greater };
        }
        let (mantissa, exponent) = parts(t);
        if exponent >= 0 {
            self.compare_scaled(root, &(mantissa << exponent), 0)
        } else {
            self.compare_scaled(root, &mantissa, -exponent as u64)
        }
    }

    /// A root rounded once to f64, for comparison with reference tables.
    pub fn round_f64(&self, root: Root) -> f64 {
        // Keys are ordered bit patterns. The midpoint of two neighbours needs one bit more than f64 has.
        let key = |k: i64| f64::from_bits((if k < 0 { i64::MIN ^ !k } else { k }) as u64);
        let largest = f64::MAX.to_bits() as i64;
        let floor = bisect(!largest, largest, |k| self.compare_f64(root, key(k)) != Ordering::Less);
        let (low, high) = (key(floor), key((floor + 1).min(largest)));
        let ((m, x), (n, y)) = (parts(low), parts(high));
        let shift = x.min(y) - 1;
        let middle = (m << (x - shift - 1)) + (n << (y - shift - 1));
        let middle_side = if shift >= 0 {
            self.compare_scaled(root, &(middle << shift), 0)
        } else {
            self.compare_scaled(root, &middle, -shift as u64)
        };
        pick(low, high, middle_side, low.to_bits() & 1 == 0) + 0.0
    }
}

impl Roots for ExactRoots {
    fn discriminant_sign(&self) -> Option<Ordering> {
        Some(self.crossing)
    }

    fn compare(&self, root: Root, t: f32) -> Option<Ordering> {
        Some(self.compare_f64(root, f64::from(t)))
    }

    fn round(&self, root: Root) -> Option<f32> {
        Some(round_f32(|t| self.compare_f64(root, t)))
    }
}

/// Closest approach of the line, clamped to the ray's ends, to a sphere: parameter and clearance, each rounded once.
pub fn approach(ray: &Ray, sphere: &Sphere) -> (f32, f32) {
    approach_of(ray, Target::at_rest(sphere))
}

/// [`approach`] for targets that may move.
pub(crate) fn approach_of(ray: &Ray, target: Target<'_>) -> (f32, f32) {
    let IntegerPair { e, d, r, unit } = IntegerPair::of(ray, target);
    let (a, b) = (dot(&d, &d), dot(&e, &d));
    let rest = a.sign() == Sign::NoSign;
    let foot_versus = |t: f64| {
        if t.is_infinite() {
            return if t > 0.0 { Ordering::Less } else { Ordering::Greater };
        }
        let (n, x) = parts(t);
        let (left, right) = if x >= 0 { (b.clone(), &a * (n << x)) } else { (&b << -x, &a * n) };
        left.cmp(&right)
    };
    // Squared distance to the centre as the fraction `square / over`, in units of 2^(−2 · unit).
    let (t, square, over) = if rest || foot_versus(f64::from(ray.t_min)) == Ordering::Less {
        distance_at(ray.t_min, &e, &d)
    } else if foot_versus(f64::from(ray.t_max)) == Ordering::Greater {
        distance_at(ray.t_max, &e, &d)
    } else {
        (round_f32(foot_versus), dot(&e, &e) * &a - &b * &b, a.clone())
    };
    let clearance = round_f32(|y| {
        // Compares the distance with y + r, which may be negative.
        let (n, x) = parts(y);
        let low = x.min(-(unit as i64));
        let sum = (n << (x - low)) + (&r << (-(unit as i64) - low));
        if sum.sign() == Sign::Minus {
            return Ordering::Greater;
        }
        let shift = (-(unit as i64) - low) as u64;
        (&square << (2 * shift)).cmp(&(&sum * &sum * &over))
    });
    (t, clearance)
}

/// Squared distance between the centre and the point at `t`. Returns `t`, the numerator and the denominator.
fn distance_at(t: f32, e: &[BigInt; 3], d: &[BigInt; 3]) -> (f32, BigInt, BigInt) {
    let n = integer(t);
    let p: [BigInt; 3] = std::array::from_fn(|i| (&e[i] << UNIT) - &n * &d[i]);
    (t, dot(&p, &p), BigInt::from(1) << (2 * UNIT))
}

/// Rounds a number to the nearest f32, ties to even. `compare` compares the number with its argument. A number that rounds beyond the
/// largest f32 gives an infinity, as in IEEE 754.
fn round_f32(compare: impl Fn(f64) -> Ordering) -> f32 {
    let key = |k: i64| f32::from_bits((if k < 0 { i64::from(i32::MIN) ^ !k } else { k }) as u32);
    let infinity = i64::from(f32::INFINITY.to_bits());
    // The value after the largest f32 would be 2^128. Rounding treats infinity as that number.
    let number = |k: i64| {
        let value = key(k);
        if value.is_infinite() { 2f64.powi(128).copysign(f64::from(value)) } else { f64::from(value) }
    };
    if compare(number(infinity)) != Ordering::Less {
        return f32::INFINITY;
    }
    if compare(number(!infinity)) != Ordering::Greater {
        return f32::NEG_INFINITY;
    }
    let floor = bisect(!infinity, infinity, |k| compare(number(k)) != Ordering::Less);
    let (low, high) = (number(floor), number(floor + 1));
    let even = key(floor).to_bits() & 1 == 0;
    let side = compare(low + (high - low) / 2.0);
    // Adding 0 turns a negative zero into zero.
    (if pick(low, high, side, even) == low { key(floor) } else { key(floor + 1) }) + 0.0
}

fn pick(low: f64, high: f64, middle_side: Ordering, low_is_even: bool) -> f64 {
    match middle_side {
        Ordering::Less => low,
        Ordering::Greater => high,
        Ordering::Equal if low_is_even => low,
        Ordering::Equal => high,
    }
}

/// The largest key in `low..high` for which `holds` is true. It must be true at `low`.
fn bisect(mut low: i64, mut high: i64, holds: impl Fn(i64) -> bool) -> i64 {
    while high as i128 - low as i128 > 1 {
        let middle = low.midpoint(high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}
