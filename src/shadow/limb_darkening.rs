//! Limb darkening: the brightness of a light's disc between its centre and its edge.

use super::coverage::trig_roots::between_ones;
use crate::error::Result;
use crate::query::validate::usage;

/// Limb darkening: the brightness of a light's disc, relative to its centre.
///
/// `μ` is the cosine of the angle between the line of sight and the light's surface normal: 1 in the centre of the disc, 0 at its edge. The
/// Sun in visible light has about `u1 = 0.44` and `u2 = 0.23` in the quadratic law (Claret, 2000, for 5,770 K in the V band).
///
/// GPUs compute the quadratic law. The CPU computes fluxes and pictures with the other laws, also for a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbDarkening(Law);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Quadratic([f64; 2]),
    PowerTwo { c: f64, alpha: f64 },
    FourParameter([f64; 4]),
}

/// Coefficients such as 0.7 and 0.3 may add up to a little more than 1.
const BLACK: f64 = -1e-12;

impl LimbDarkening {
    /// The quadratic law: `I(μ) = 1 − u1 (1 − μ) − u2 (1 − μ)²`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) unless both are between −10 and 10 and no part of the disc is darker than black.
    pub fn new(u1: f64, u2: f64) -> Result<Self> {
        if ![u1, u2].iter().all(|u| (-10.0..=10.0).contains(u)) {
            return usage(format!(
                "light: limb_darkening is [{u1}, {u2}]: both coefficients must be between -10 and 10"
            ));
        }
        // The intensity is a parabola in 1 − μ. Its smallest value is at the edge of the disc or at the vertex.
        let vertex = (-0.5 * u1 / u2).clamp(0.0, 1.0);
        let vertex = if vertex.is_nan() { 0.0 } else { vertex };
        let brightness = |aside: f64| 1.0 - aside * (u1 + u2 * aside);
        let least = brightness(1.0).min(brightness(vertex));
        if least < BLACK {
            return usage(format!(
                "light: limb_darkening is [{u1}, {u2}]: the brightness 1 - u1 (1 - mu) - u2 (1 - mu)^2 must not be negative, \
                 and it falls to {least}"
            ));
        }
        Ok(Self(Law::Quadratic([u1, u2])))
    }

    /// The power-2 law: `I(μ) = 1 − c (1 − μ^α)` (Hestroffer, 1997).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) unless `c` is −10 to 1 and `alpha` 0.01 to 10.
    pub fn power_2(c: f64, alpha: f64) -> Result<Self> {
        if !(-10.0..=1.0 - BLACK).contains(&c) || !(0.01..=10.0).contains(&alpha) {
            return usage(format!(
                "light: limb_darkening is [{c}, {alpha}]: in the brightness 1 - c (1 - mu^alpha), c must be between -10 and 1, and alpha \
                 between 0.01 and 10"
            ));
        }
        Ok(Self(Law::PowerTwo { c, alpha }))
    }

    /// The law of four parameters: `I(μ) = 1 − Σ a_k (1 − μ^(k/2))` for k = 1 to 4 (Claret, 2000).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) unless all are between −10 and 10 and no part of the disc is darker than black.
    pub fn four_parameter(coefficients: [f64; 4]) -> Result<Self> {
        let [a1, a2, a3, a4] = coefficients;
        let law = Self(Law::FourParameter(coefficients));
        if !coefficients.iter().all(|a| (-10.0..=10.0).contains(a)) {
            return usage(format!(
                "light: limb_darkening is {coefficients:?}: all coefficients must be between -10 and 10"
            ));
        }
        // The intensity is a quartic in √μ.
        let (turns, count) = between_ones([a1, 2.0 * a2, 3.0 * a3, 4.0 * a4, 0.0]);
        let within = turns[..count].iter().map(|root| root.max(0.0));
        let least = within.chain([0.0]).map(|root| law.raw_intensity(root * root)).fold(1.0, f64::min);
        if least < BLACK {
            return usage(format!(
                "light: limb_darkening is {coefficients:?}: the brightness, 1 less the sum of a_k (1 - mu^(k/2)), must not be negative, and \
                 it falls to {least}"
            ));
        }
        Ok(law)
    }

    /// The coefficients u1 and u2, if the law is quadratic.
    pub fn quadratic(self) -> Option<[f64; 2]> {
        match self.0 {
            Law::Quadratic(coefficients) => Some(coefficients),
            _ => None,
        }
    }

    /// Brightness at `mu`, 0…1, relative to the centre of the disc.
    pub fn intensity(self, mu: f64) -> f64 {
        self.raw_intensity(mu).max(0.0)
    }

    fn raw_intensity(self, mu: f64) -> f64 {
        match self.0 {
            Law::Quadratic([u1, u2]) => {
                let aside = 1.0 - mu;
                1.0 - aside * (u1 + u2 * aside)
            }
            Law::PowerTwo { c, alpha } => 1.0 - c * (1.0 - mu.powf(alpha)),
            Law::FourParameter([a1, a2, a3, a4]) => {
                let root = mu.sqrt();
                1.0 - a1 * (1.0 - root) - a2 * (1.0 - mu) - a3 * (1.0 - mu * root) - a4 * (1.0 - mu * mu)
            }
        }
    }

    /// The integrals of `μ I(μ)` and `μ (1 − μ²) I(μ)` for μ from 0 to 1.
    pub(crate) fn moments(self) -> [f64; 2] {
        // Σ a (1 − μ^p) of the brightness 1 − Σ a (1 − μ^p).
        let of_powers = |terms: &[(f64, f64)]| {
            terms.iter().fold([0.5, 0.25], |[first, second], &(a, p)| {
                let (two, four) = (1.0 / (p + 2.0), 1.0 / (p + 4.0));
                [first - a * (0.5 - two), second - a * (0.25 - two + four)]
            })
        };
        match self.0 {
            Law::Quadratic([u1, u2]) => [0.5 - u1 / 6.0 - u2 / 12.0, 0.25 - u1 * 7.0 / 60.0 - u2 / 15.0],
            Law::PowerTwo { c, alpha } => of_powers(&[(c, alpha)]),
            Law::FourParameter([a1, a2, a3, a4]) => of_powers(&[(a1, 0.5), (a2, 1.0), (a3, 1.5), (a4, 2.0)]),
        }
    }
}
