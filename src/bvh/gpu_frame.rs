//! Coordinates in which the GPU culls spheres and its BVH is built: scaled by a power of two, relative to the middle of the scene.

use glam::Vec3;
use rayon::prelude::*;

use crate::records::Sphere;

/// Origin and unit of these coordinates; see `shaders/cull/blocks.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GpuFrame {
    pub(crate) scale: f32,
    pub(crate) middle: [f32; 3],
    pub(crate) far: f32,
    /// Corners of the box around the centres, in the coordinates of the input.
    pub(crate) corners: [[f32; 3]; 2],
}

impl GpuFrame {
    pub(crate) fn of(spheres: &[Sphere]) -> Self {
        let around = |(low, high): (Vec3, Vec3), sphere: &Sphere| (low.min(sphere.center), high.max(sphere.center));
        let both = |a: (Vec3, Vec3), b: (Vec3, Vec3)| (a.0.min(b.0), a.1.max(b.1));
        let nothing = || (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (low, high) = spheres.par_iter().fold(nothing, around).reduce(nothing, both);
        let corners = [low.to_array(), high.to_array()];
        let middle = if spheres.is_empty() { glam::DVec3::ZERO } else { (low.as_dvec3() + high.as_dvec3()) * 0.5 };
        let middle = middle.as_vec3().as_dvec3();
        let reach = |s: &Sphere| (s.center.as_dvec3() - middle).abs().element_sum() + f64::from(s.radius);
        let reach = spheres.par_iter().map(reach).reduce(|| 0.0, f64::max);
        let largest = f64::from(max_magnitude(spheres));
        // The power of two that scales the reach to [1, 2), unless coordinates would exceed 2⁴⁰ or shaders could not represent the power.
        let exponent = |x: f64| if x > 0.0 { x.log2().floor() } else { -126.0 };
        let power = (-exponent(reach)).min(40.0 - exponent(largest)).min(126.0);
        if power < -126.0 {
            // The spheres span the whole range of f32: nothing is culled.
            return Self { scale: f32::MIN_POSITIVE, middle: [0.0; 3], far: -1.0, corners };
        }
        let scale = power.exp2();
        let far = (50.0 - power).exp2().min(f64::from(f32::MAX));
        Self { scale: scale as f32, middle: (middle * scale).as_vec3().to_array(), far: far as f32, corners }
    }

    /// A frame for whatever spheres lie within a box, whole.
    pub(crate) fn within([low, high]: [Vec3; 2]) -> Self {
        // Centres reach the corners at most, and radii half of the shortest edge.
        let radius = (0.5 * high - 0.5 * low).min_element();
        Self::of(&[low, high].map(|center| Sphere { center, radius }))
    }

    /// Whether a BVH can be built in this frame.
    pub(crate) fn supports_bvh(&self) -> bool {
        self.far > 0.0
    }

    /// Centre and radius in the frame, as computed by `sphere_at` in the shaders.
    pub(crate) fn sphere(&self, sphere: &Sphere) -> ([f32; 3], f32) {
        (self.center(sphere.center.to_array()), sphere.radius * self.scale)
    }

    pub(crate) fn center(&self, center: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|k| center[k] * self.scale - self.middle[k])
    }
}

/// The largest magnitude among a scene's coordinates and radii.
pub(crate) fn max_magnitude(spheres: &[Sphere]) -> f32 {
    spheres.par_iter().map(|s| s.center.abs().max_element().max(s.radius)).reduce(|| 0.0, f32::max)
}
