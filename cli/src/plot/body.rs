//! Orthographic projection of balls and ellipsoids: an elliptical outline, and the depth of each point in it.

use umbracast::glam::{DMat2, DMat3, DVec2};

/// Minimum semi-axis of an outline in pixels, so that points and thin bodies are visible.
const LEAST: f64 = 0.6;

/// An ellipse centred at 0, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outline {
    /// Half extents along x and y.
    pub(super) half: DVec2,
    /// Maps the ellipse to the unit circle.
    pub(super) unit: DMat2,
}

/// A ball or an ellipsoid. At the offset p from its centre, its near surface has the depth lean · p + depth · √(1 − |unit · p|²),
/// relative to the centre and positive towards the eye.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Body {
    pub(super) outline: Outline,
    /// Gradient of the mid-surface.
    pub(super) lean: DVec2,
    /// Height of the near surface above the mid-surface at the centre.
    pub(super) depth: f64,
}

impl Outline {
    pub(super) fn round(radius: f64) -> Self {
        let radius = radius.max(LEAST);
        Self { half: DVec2::splat(radius), unit: DMat2::from_diagonal(DVec2::splat(1.0 / radius)) }
    }

    /// The outline of all points p with p · S⁻¹ p ≤ 1, where S is symmetric with the elements `xx`, `xy`, `yy`.
    fn of(xx: f64, xy: f64, yy: f64) -> Self {
        // The semi-axes are the square roots of the eigenvalues, and at least `LEAST`.
        let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
        let apart = half.hypot(xy);
        let [long, short] = [mean + apart, mean - apart].map(|square| square.max(0.0).sqrt().max(LEAST));
        let turn = 0.5 * xy.atan2(half);
        let axis = DVec2::new(turn.cos(), turn.sin());
        let across = axis.perp();
        let half = DVec2::new((axis.x * long).hypot(across.x * short), (axis.y * long).hypot(across.y * short));
        Self { half, unit: DMat2::from_cols(axis / long, across / short).transpose() }
    }
}

impl Body {
    pub(super) fn round(radius: f64) -> Self {
        let outline = Outline::round(radius);
        Self { outline, lean: DVec2::ZERO, depth: radius }
    }

    /// The image of the unit ball under a matrix: x to the right, y up, z towards the eye, in pixels.
    pub(super) fn of(matrix: DMat3) -> Self {
        let square = matrix * matrix.transpose();
        let (xx, xy, yy) = (square.x_axis.x, square.x_axis.y, square.y_axis.y);
        let outline = Outline::of(xx, xy, yy);
        let aside = square.z_axis.truncate();
        let lean = outline.unit.transpose() * (outline.unit * aside);
        Self { outline, lean, depth: (square.z_axis.z - lean.dot(aside)).max(0.0).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use umbracast::glam::{DQuat, DVec3};

    #[test]
    fn the_outline_of_a_rotated_ellipsoid_contains_its_points() {
        let turn = DMat3::from_quat(DQuat::from_xyzw(0.3, -0.5, 0.2, 0.7).normalize());
        for radii in [DVec3::new(50.0, 20.0, 8.0), DVec3::splat(30.0), DVec3::new(3.0, 900.0, 40.0)] {
            let matrix = turn * DMat3::from_diagonal(radii);
            let body = Body::of(matrix);
            let (mut reach, mut edge) = (DVec2::ZERO, 0.0_f64);
            for i in 0..40_000 {
                // Fibonacci lattice on the sphere.
                let z = 1.0 - (2.0 * f64::from(i) + 1.0) / 40_000.0;
                let (angle, aside) = (f64::from(i) * 2.399_963, (1.0 - z * z).sqrt());
                let point = matrix * DVec3::new(aside * angle.cos(), aside * angle.sin(), z);
                let flat = point.truncate();
                let unit = (body.outline.unit * flat).length();
                (reach, edge) = (reach.max(flat.abs()), edge.max(unit));
                // The near and the far surface have the same distance from the mid-surface.
                let rest = (1.0 - unit * unit).max(0.0).sqrt();
                let off = ((point.z - body.lean.dot(flat)).abs() - body.depth * rest).abs();
                assert!(off < 2e-6 * radii.max_element(), "{radii} {i}: {off}");
            }
            assert!((edge - 1.0).abs() < 1e-3, "{radii}: {edge}");
            assert!((reach - body.outline.half).abs().max_element() < 0.02 * reach.max_element(), "{radii}");
        }
        assert_eq!(Body::round(7.0).outline.half, DVec2::splat(7.0));
        let (round, through) = (Body::round(7.0), Body::of(turn * 7.0));
        assert!(
            (round.outline.half - through.outline.half).length() < 1e-9 && (round.depth - through.depth).abs() < 1e-9
        );
    }

    #[test]
    fn thin_bodies_have_a_minimum_width() {
        for radii in [DVec3::ZERO, DVec3::new(90.0, 1e-9, 1e-9), DVec3::new(90.0, 0.0, 90.0)] {
            let body = Body::of(DMat3::from_diagonal(radii));
            assert!(body.outline.half.min_element() >= 0.59 && body.depth.is_finite() && body.lean.is_finite());
        }
    }
}
