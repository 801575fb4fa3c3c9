//! Transmittances as optical depths in fixed point: their sums do not depend on the order of the spheres, so every engine returns the same
//! bits.

use crate::error::{Error, Result};

/// Fixed-point depth of a transmittance of 1/2.
const HALF: f64 = (1 << 24) as f64;

/// Depth of an opaque sphere, and the largest sum: no f32 above 0 is so small a transmittance. Twin of `OPAQUE` in
/// `shaders/query/transmittance_state.wgsl`.
pub(crate) const OPAQUE: u32 = 150 << 24;

/// Checks that the transmittance of sphere `index` is from 0 to 1.
///
/// # Errors
/// [`Error::BadRecord`] with the index and the value.
pub fn check_transmittance(index: u64, transmittance: f32) -> Result<()> {
    if (0.0..=1.0).contains(&transmittance) {
        return Ok(());
    }
    let why = "a transmittance must be from 0 (opaque) to 1 (invisible)";
    Err(Error::record("sphere", index, "transmittance", transmittance, why))
}

/// Optical depth of a sphere with this transmittance: −log2 in units of 2⁻²⁴, rounded to the nearest. 0 for a transmittance of 1.
pub(crate) fn optical_depth(index: u64, transmittance: f32) -> Result<u32> {
    check_transmittance(index, transmittance)?;
    // The conversion saturates: the depth of 0 is infinite.
    Ok(((-f64::from(transmittance).log2() * HALF).round() as u32).min(OPAQUE))
}

/// Sum of two depths that are at most [`OPAQUE`], saturated there. Twin of `add_depth` in `shaders/query/transmittance_state.wgsl`.
#[inline]
pub(crate) fn add_depths(a: u32, b: u32) -> u32 {
    a + b.min(OPAQUE - a)
}

/// Transmittance of a sum of depths: 0 if the sum is [`OPAQUE`].
pub(crate) fn transmittance(depth: u32) -> f32 {
    if depth >= OPAQUE { 0.0 } else { (-f64::from(depth) / HALF).exp2() as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_within_their_bound_and_ordered() {
        assert_eq!([0.0, -0.0, 0.5, 1.0].map(|t| optical_depth(0, t).unwrap()), [OPAQUE, OPAQUE, 1 << 24, 0]);
        assert!(optical_depth(0, f32::from_bits(1)).unwrap() < OPAQUE, "the smallest f32 is not opaque");
        assert!(optical_depth(0, 1.0_f32.next_down()).unwrap() > 0, "only 1 is invisible");
        let mut before = OPAQUE;
        for k in 0..10_000 {
            let t = k as f32 / 10_000.0;
            let depth = optical_depth(0, t).unwrap();
            assert!(depth <= before, "{t}");
            before = depth;
            let error = f64::from(transmittance(depth)) - f64::from(t);
            assert!(error.abs() <= f64::from(t) * (1.0 + 0.35) / HALF, "{t}: {error}");
        }
        assert_eq!([1, OPAQUE - 1].map(transmittance), [1.0_f32.next_down(), f32::from_bits(1)]);
    }

    #[test]
    fn sums_saturate() {
        assert_eq!(add_depths(3, 4), 7);
        for (a, b) in [(OPAQUE, OPAQUE), (OPAQUE - 1, 1), (OPAQUE - 1, 2), (0, OPAQUE), (OPAQUE, 0)] {
            assert_eq!((add_depths(a, b), add_depths(b, a)), (OPAQUE, OPAQUE));
        }
    }
}
