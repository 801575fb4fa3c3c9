//! The results that `--compare` compares, with their error bounds.

use super::line::{Line, U};
use super::{Input, Pair};
use umbracast::{Approach, Hit, Interval};

/// A result that can be compared.
pub(crate) trait Comparable: Copy {
    fn id(self) -> u32;
    /// The values that are compared, in ulp and with their bounds.
    fn values(self) -> [f32; 2];
    fn bounds(self, input: &Input<'_>, pair: &Pair<'_>) -> Bounds;
    /// Whether the ends of the ray determine which spheres count.
    const ENDS: bool = true;
}

/// Error bounds of a result, in f64.
pub(crate) struct Bounds {
    /// The value by which the query chooses among spheres.
    pub(crate) key: f64,
    /// Bound of the error of `key`.
    pub(crate) key_may: f64,
    /// Bounds of the errors of the values.
    pub(crate) values: [f64; 2],
}

impl Comparable for Hit {
    fn id(self) -> u32 {
        self.id
    }
    fn values(self) -> [f32; 2] {
        [self.t, 0.0]
    }
    fn bounds(self, input: &Input<'_>, pair: &Pair<'_>) -> Bounds {
        let t = f64::from(self.t);
        let may = Line::new(pair).bound(input.query.precision, t);
        Bounds { key: t, key_may: may, values: [may, 0.0] }
    }
}

impl Comparable for Interval {
    fn id(self) -> u32 {
        self.id
    }
    fn values(self) -> [f32; 2] {
        [self.t_enter, self.t_exit]
    }
    fn bounds(self, input: &Input<'_>, pair: &Pair<'_>) -> Bounds {
        let line = Line::new(pair);
        let may = |t| line.bound(input.query.precision, t);
        let key = input.policy_t(pair.ray, self.t_enter, self.t_exit);
        Bounds { key, key_may: may(key), values: self.values().map(|t| may(f64::from(t))) }
    }
}

impl Comparable for Approach {
    fn id(self) -> u32 {
        self.id
    }
    fn values(self) -> [f32; 2] {
        [self.t, self.clearance]
    }
    /// |δt|·|d| ≤ 8u (E + |t·d|), |δclearance| ≤ 8u (E + |t·d| + r).
    fn bounds(self, _: &Input<'_>, pair: &Pair<'_>) -> Bounds {
        let line = Line::new(pair);
        let (e, length, t) = (line.offset.length(), line.direction.length(), f64::from(self.t));
        let (may_t, may_clearance) = (
            8.0 * U * (e / length + t.abs()) + line.position_error / length,
            8.0 * U * (e + t.abs() * length + line.radius) + line.position_error,
        );
        Bounds { key: f64::from(self.clearance), key_may: may_clearance, values: [may_t, may_clearance] }
    }
    const ENDS: bool = false;
}

/// Distance between two numbers in ulp of f32: the number of f32 steps between them.
pub(super) fn steps(a: f32, b: f32) -> u64 {
    let ordered = |x: f32| {
        let bits = i64::from(x.to_bits() & 0x7fff_ffff);
        if x.is_sign_negative() { -bits } else { bits }
    };
    ordered(a).abs_diff(ordered(b))
}
