//! Limb darkening: the brightness of a light's disc between its centre and its edge.

use crate::error::Result;
use crate::query::validate::usage;

/// Quadratic limb darkening: `I(μ) = 1 − u1 (1 − μ) − u2 (1 − μ)²`, relative to the centre of the disc.
///
/// `μ` is the cosine of the angle between the line of sight and the light's surface normal: 1 in the centre of the disc, 0 at its edge. The
/// Sun in visible light has about `u1 = 0.44` and `u2 = 0.23` (Claret, 2000, for 5,770 K in the V band).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbDarkening {
    u1: f64,
    u2: f64,
}

impl LimbDarkening {
    /// The law with these coefficients.
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
        // Coefficients such as 0.7 and 0.3 may add up to a little more than 1.
        if least < -1e-12 {
            return usage(format!(
                "light: limb_darkening is [{u1}, {u2}]: the brightness 1 - u1 (1 - mu) - u2 (1 - mu)^2 must not be negative, \
                 and it falls to {least}"
            ));
        }
        Ok(Self { u1, u2 })
    }

    /// The coefficients u1 and u2.
    pub fn coefficients(self) -> [f64; 2] {
        [self.u1, self.u2]
    }

    /// Brightness at `mu`, 0…1, relative to the centre of the disc.
    pub fn intensity(self, mu: f64) -> f64 {
        let aside = 1.0 - mu;
        (1.0 - aside * (self.u1 + self.u2 * aside)).max(0.0)
    }
}
