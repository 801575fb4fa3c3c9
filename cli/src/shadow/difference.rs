//! Differences between the shadows of two devices, for `--compare`.

use serde::Serialize;
use umbracast::shadow::{Shadow, ShadowKind};

/// Allowed difference of fractions: if all bodies are spheres, and otherwise.
pub(super) const PROMISED: [f64; 2] = [1e-4, 1e-3];

/// Allowed difference of fluxes.
const PROMISED_FLUX: f64 = 1e-3;

/// Differences between the results of two devices.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Difference {
    /// Allowed difference of fractions.
    pub(super) promised: f64,
    /// Largest difference of two fractions, and the row of its observer.
    pub(super) fraction: f64,
    fraction_at: Option<u64>,
    fractions_beyond: u64,
    /// Largest difference of two fluxes, 0 without limb darkening; 1e-3 is allowed.
    flux: f64,
    fluxes_beyond: u64,
    pub(super) kinds: u64,
    /// Those of them that fractions within `promised` do not explain.
    kinds_beyond: u64,
}

impl Difference {
    pub(super) fn add(&mut self, row: impl Fn(usize) -> u64, found: &[Shadow], expected: &[Shadow]) {
        for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
            let apart = (found.fraction - expected.fraction).abs();
            if apart.is_nan() || apart > self.fraction {
                (self.fraction, self.fraction_at) = (apart, Some(row(at)));
            }
            self.fractions_beyond += u64::from(apart.is_nan() || apart > self.promised);
            self.kinds += u64::from(found.kind != expected.kind);
            self.kinds_beyond += u64::from(!explained(found, expected, self.promised));
        }
    }

    pub(super) fn add_fluxes(&mut self, found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            let apart = (found - expected).abs();
            self.flux = if apart.is_nan() { apart } else { self.flux.max(apart) };
            self.fluxes_beyond += u64::from(apart.is_nan() || apart > PROMISED_FLUX);
        }
    }

    /// Describes the differences that violate a guarantee; `None` if there are none.
    pub(super) fn broken(&self) -> Option<String> {
        let mut faults = Vec::new();
        if self.fractions_beyond > 0 {
            let (count, most, promised) = (self.fractions_beyond, self.fraction, self.promised);
            faults.push(format!("{count} fractions differ by more than {promised:.0e}, by up to {most:.1e}"));
        }
        if self.fluxes_beyond > 0 {
            let (count, most) = (self.fluxes_beyond, self.flux);
            faults.push(format!("{count} fluxes differ by more than {PROMISED_FLUX:.0e}, by up to {most:.1e}"));
        }
        if self.kinds_beyond > 0 {
            faults.push(format!("{} kinds differ, and the fractions do not explain it", self.kinds_beyond));
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

/// Whether the fractions, within `promised`, allow both kinds: close to 1, the kind may be `None` or any other; close to 0, `Umbra` or any
/// other. Penumbra and annular are allowed for all fractions, because a disc may touch the rim from within.
fn explained(a: &Shadow, b: &Shadow, promised: f64) -> bool {
    let near = |fraction: f64| (a.fraction - fraction).abs().max((b.fraction - fraction).abs()) <= promised;
    let one_is = |kind: ShadowKind| (a.kind == kind) != (b.kind == kind);
    (!one_is(ShadowKind::Lit) || near(1.0)) && (!one_is(ShadowKind::Umbra) || near(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compare_reports_differences_beyond_the_bounds() {
        let shadow = |fraction, kind| Shadow { fraction, kind };
        let broken = |a: Shadow, b: Shadow| {
            let mut difference = Difference { promised: 1e-4, ..Difference::default() };
            difference.add(|at| [2, 7][at], &[Shadow::LIT, a], &[Shadow::LIT, b]);
            difference.broken()
        };
        use ShadowKind::{Antumbra, Lit, Penumbra, Umbra};
        for (a, b, fault) in [
            (shadow(0.5, Penumbra), shadow(0.50009, Penumbra), None),
            (shadow(0.5, Penumbra), shadow(0.5002, Penumbra), Some("1 fractions differ by more than 1e-4")),
            (shadow(f64::NAN, Penumbra), shadow(0.5, Penumbra), Some("fractions")),
            (shadow(0.5, Penumbra), shadow(0.5, Antumbra), None),
            (shadow(1.0, Lit), shadow(0.99995, Penumbra), None),
            (shadow(0.99, Lit), shadow(0.99, Penumbra), Some("1 kinds differ")),
            (shadow(0.0, Umbra), shadow(0.00005, Antumbra), None),
            (shadow(0.0, Umbra), shadow(0.0, Lit), Some("1 kinds differ")),
        ] {
            let found = broken(a, b);
            assert_eq!(found.is_some(), fault.is_some(), "{a:?} {b:?}: {found:?}");
            assert!(found.unwrap_or_default().contains(fault.unwrap_or_default()), "{a:?} {b:?}");
        }
        for (flux, fault) in
            [(0.5009, None), (0.502, Some("1 fluxes differ by more than 1e-3")), (f64::NAN, Some("NaN"))]
        {
            let mut difference = Difference::default();
            difference.add_fluxes(&[0.1, flux], &[0.1, 0.5]);
            let found = difference.broken();
            assert_eq!(found.is_some(), fault.is_some(), "{flux}: {found:?}");
            assert!(found.unwrap_or_default().contains(fault.unwrap_or_default()), "{flux}");
        }
    }
}
