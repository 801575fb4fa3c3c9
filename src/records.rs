//! Records shared by host, device and files: little-endian, 4-byte words, no padding.
//!
//! Twins of `shaders/records.wgsl`; `src/gpu/shader_tests.rs` compares the offsets.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// The id that means "no sphere", as in a miss.
pub const NO_SPHERE: u32 = u32::MAX;

/// A sphere: its centre and its radius (finite, not negative), 16 bytes.
///
/// The index of a sphere in its scene is its id. Radius 0 is a point, which only an exactly tangent ray hits.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sphere {
    /// The centre, in any unit; all lengths of a scene share it.
    pub center: Vec3,
    /// The radius, in the same unit.
    pub radius: f32,
}

impl Sphere {
    /// A sphere from its centre and radius.
    pub fn new(center: impl Into<Vec3>, radius: f32) -> Self {
        Self { center: center.into(), radius }
    }
}

/// A ray, a segment or a line: the points `origin + t · direction` with `t` in `[t_min, t_max]`, 32 bytes.
///
/// The direction may have any length except zero. `t` is in units of the direction **as given**. `t_min = −∞` and `t_max = +∞` are allowed;
/// together they mean a whole line.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ray {
    /// The point at `t = 0`.
    pub origin: Vec3,
    /// Parameter at which the ray starts.
    pub t_min: f32,
    /// Change of the point per unit of `t`.
    pub direction: Vec3,
    /// Parameter at which the ray ends.
    pub t_max: f32,
}

impl Ray {
    /// The half-line from `origin` along `direction`: `t` in `[0, ∞)`.
    pub fn new(origin: impl Into<Vec3>, direction: impl Into<Vec3>) -> Self {
        Self { origin: origin.into(), t_min: 0.0, direction: direction.into(), t_max: f32::INFINITY }
    }

    /// The segment from `a` to `b`: direction `b − a` rounded once to f32, `t` in `[0, 1]`.
    pub fn segment(a: impl Into<Vec3>, b: impl Into<Vec3>) -> Self {
        let (a, b) = (a.into(), b.into());
        Self { origin: a, t_min: 0.0, direction: b - a, t_max: 1.0 }
    }

    /// The ray with other ends.
    #[must_use]
    pub fn between(self, t_min: f32, t_max: f32) -> Self {
        Self { t_min, t_max, ..self }
    }

    /// The whole line through the ray: `t` in `(−∞, ∞)`.
    #[must_use]
    pub fn line(self) -> Self {
        self.between(f32::NEG_INFINITY, f32::INFINITY)
    }

    /// The point `origin + t · direction`, computed in f64 and rounded once.
    pub fn point_at(&self, t: f32) -> Vec3 {
        (self.origin.as_dvec3() + f64::from(t) * self.direction.as_dvec3()).as_vec3()
    }
}

/// Result of `closest`: the smallest valid `t` and the sphere it belongs to, 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Hit {
    /// Parameter along the ray, in `[t_min, t_max]`; `+∞` on a miss.
    pub t: f32,
    /// The sphere's id; [`NO_SPHERE`] on a miss.
    pub id: u32,
}

/// Result of `interval`: both roots of the closest sphere, never clipped to the ray's ends, 12 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Interval {
    /// The smaller root; `+∞` on a miss, `−∞` when it lies below the lowest f32.
    pub t_enter: f32,
    /// The larger root; `+∞` on a miss or when it lies beyond the largest f32.
    pub t_exit: f32,
    /// The sphere's id; [`NO_SPHERE`] on a miss.
    pub id: u32,
}

/// Result of `approach`: the point of the ray with the smallest clearance from any sphere, 12 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Approach {
    /// Parameter of that point, in `[t_min, t_max]`; `+∞` when the scene is empty, or if it exceeds the largest f32.
    pub t: f32,
    /// Distance to the centre minus the radius there, negative if the ray enters the sphere; `+∞` when the scene is empty.
    pub clearance: f32,
    /// The sphere's id; [`NO_SPHERE`] when the scene is empty.
    pub id: u32,
}

/// Result of `contains`: the spheres that contain a point, 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Containment {
    /// Number of spheres that contain the point.
    pub count: u32,
    /// The lowest of their ids; [`NO_SPHERE`] when there is none.
    pub id: u32,
}

impl Containment {
    /// Result for a point in no sphere.
    pub const NONE: Self = Self { count: 0, id: NO_SPHERE };
}

impl Hit {
    /// Result for a ray that hits nothing.
    pub const MISS: Self = Self { t: f32::INFINITY, id: NO_SPHERE };
    /// Whether a sphere was hit.
    pub fn is_hit(&self) -> bool {
        self.id != NO_SPHERE
    }
}

impl Interval {
    /// Result for a ray that hits nothing.
    pub const MISS: Self = Self { t_enter: f32::INFINITY, t_exit: f32::INFINITY, id: NO_SPHERE };
    /// Whether a sphere was hit.
    pub fn is_hit(&self) -> bool {
        self.id != NO_SPHERE
    }
}

impl Approach {
    /// Result for a ray in an empty scene, and for a skipped ray.
    pub const NONE: Self = Self { t: f32::INFINITY, clearance: f32::INFINITY, id: NO_SPHERE };
}

/// Attributes of one ray. The first [`UPLOADED_BYTES`](Self::UPLOADED_BYTES) are the twin of `RayAttributes` in `shaders/records.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct RayAttributes {
    /// The ray hits only spheres whose masks share a bit with this one.
    pub(crate) mask: u32,
    /// Id of the one sphere that the ray does not hit.
    pub(crate) skip_id: u32,
    /// Time of the ray, at which moving spheres are intersected.
    pub(crate) time: f32,
    /// Radius of the ray.
    pub(crate) radius: f32,
    /// Low part of the direction: the exact direction is `direction + direction_low`.
    pub(crate) direction_low: [f32; 3],
    /// 1 if spheres move while the ray travels.
    pub(crate) moves_with_ray: u32,
    /// Id of the sphere on whose surface the ray starts. A GPU does not read it: see `CpuScene::on_gpu`.
    pub(crate) from_id: u32,
}

impl RayAttributes {
    /// Attributes of a ray without attribute columns.
    pub(crate) const NONE: Self = Self {
        mask: u32::MAX,
        skip_id: NO_SPHERE,
        time: 0.0,
        radius: 0.0,
        direction_low: [0.0; 3],
        moves_with_ray: 0,
        from_id: NO_SPHERE,
    };

    /// Bytes of the attributes that a GPU reads: all but `from_id`.
    pub(crate) const UPLOADED_BYTES: usize = std::mem::offset_of!(Self, from_id);

    /// The attributes that a GPU reads.
    pub(crate) fn uploaded(&self) -> [u8; Self::UPLOADED_BYTES] {
        std::array::from_fn(|i| bytemuck::bytes_of(self)[i])
    }

    /// Whether radius or low part change the intersection even with a sphere at rest.
    #[inline(always)]
    pub(crate) fn moves(&self) -> bool {
        self.radius != 0.0 || self.direction_low != [0.0; 3]
    }

    /// Whether the ray may hit a sphere with this mask and id.
    #[inline(always)]
    pub(crate) fn admits(&self, mask: u32, id: u32) -> bool {
        (self.mask & mask != 0) & (id != self.skip_id)
    }
}
