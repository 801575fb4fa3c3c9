//! Vectors of eight f64 lanes, as arrays that the compiler vectorises, for long sums without branches. (Comparisons that give bit masks are
//! in `lanes`.)

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Number of lanes.
pub(crate) const WIDTH: usize = 8;

/// Vector of f64 lanes. No operation is fused implicitly, so all processors round alike.
#[derive(Clone, Copy)]
pub(crate) struct F64x8(pub(crate) [f64; WIDTH]);

macro_rules! operator {
    ($trait:ident, $name:ident, $operator:tt) => {
        impl $trait for F64x8 {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                self.zip(other, |a, b| a $operator b)
            }
        }
        impl $trait<f64> for F64x8 {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: f64) -> Self {
                self.zip(Self::splat(other), |a, b| a $operator b)
            }
        }
        impl $trait<F64x8> for f64 {
            type Output = F64x8;
            #[inline(always)]
            fn $name(self, other: F64x8) -> F64x8 {
                F64x8::splat(self).zip(other, |a, b| a $operator b)
            }
        }
    };
}
operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);
operator!(Div, div, /);

impl Neg for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl F64x8 {
    #[inline(always)]
    pub(crate) fn splat(value: f64) -> Self {
        Self([value; WIDTH])
    }

    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = self.0;
        for x in &mut out {
            *x = f(*x);
        }
        Self(out)
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self.0;
        for (x, y) in out.iter_mut().zip(&other.0) {
            *x = f(*x, *y);
        }
        Self(out)
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        self.map(f64::abs)
    }

    /// `self · b + c`, rounded once: the only fused operation.
    #[inline(always)]
    pub(crate) fn exact_mul_add(self, b: Self, c: Self) -> Self {
        let mut out = self.0;
        for ((x, b), c) in out.iter_mut().zip(&b.0).zip(&c.0) {
            *x = x.mul_add(*b, *c);
        }
        Self(out)
    }

    /// The maximum of each lane and `bound`; `bound` where the lane is NaN.
    #[inline(always)]
    pub(crate) fn at_least(self, bound: f64) -> Self {
        self.map(|x| if x > bound { x } else { bound })
    }

    /// Selects `yes` in lanes where `self < limit`, otherwise (also for NaN) `no`.
    #[inline(always)]
    pub(crate) fn if_below(self, limit: Self, yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for (((x, limit), yes), out) in self.0.iter().zip(&limit.0).zip(&yes.0).zip(&mut out) {
            *out = if x < limit { *yes } else { *out };
        }
        Self(out)
    }

    /// Selects `yes` in lanes where `self <= 0`, otherwise (also for NaN) `no`.
    #[inline(always)]
    pub(crate) fn if_not_positive(self, yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for ((x, yes), out) in self.0.iter().zip(&yes.0).zip(&mut out) {
            *out = if *x <= 0.0 { *yes } else { *out };
        }
        Self(out)
    }
}
