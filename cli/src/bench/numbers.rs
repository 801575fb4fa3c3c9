//! The same random numbers everywhere.

use umbracast::glam::DVec3;

/// A small generator with a fixed seed.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Uniform in the unit cube.
    pub(super) fn point(&mut self) -> [f32; 3] {
        [self.unit(), self.unit(), self.unit()]
    }

    /// The same in f64.
    pub(super) fn place(&mut self) -> DVec3 {
        DVec3::from(self.point().map(f64::from))
    }

    /// Uniform on the unit sphere.
    pub(super) fn direction(&mut self) -> DVec3 {
        loop {
            let v = 2.0 * self.place() - 1.0;
            // Not so short that its rounding would show.
            if (1e-4..=1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    /// One of so many.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (f64::from(self.unit()) * count as f64) as usize
    }
}
