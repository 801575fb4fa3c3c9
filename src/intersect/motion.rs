//! Ray setup for pairs that are not at rest: the sphere moves, the ray has a radius, or its direction is the difference of two points. Twin
//! of `shaders/intersect/motion.wgsl`.
//!
//! Differences and products are kept as pairs (high, low). A relative velocity rounded to f32 would move a root by 3 ulp or more, and a
//! rounded centre that has moved far would move it by far more. The remaining error of the centre, c + v · time − o, is recorded as
//! `position_error`.

use glam::Vec3;

use super::ellipsoid::UnitBallMap;
use super::sphere::{ScaledPair, largest, normalize_range};
use crate::math::error_free::{norm1, two_product, two_sum};
use crate::math::float::power_of_two;
use crate::records::{Ray, RayAttributes, Sphere};

/// Target of a ray: a sphere, its motion and, if it is an ellipsoid, its map.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) sphere: &'a Sphere,
    /// `None` for a pair at rest.
    pub(crate) motion: Option<RelativeMotion>,
    /// Map from the ellipsoid to a ball; `None` for a sphere.
    pub(crate) map: Option<&'a UnitBallMap>,
}

/// Differences of a pair from a pair at rest: motion of the sphere, radius of the ray, low part of its direction.
#[derive(Clone, Copy)]
pub(crate) struct RelativeMotion {
    /// Velocity of the sphere.
    pub(crate) velocity: Vec3,
    /// Time of the ray: at `t = 0` the centre is `center + time · velocity`. It is 0 if the sphere moves while the ray travels, unless the
    /// ray starts at a time of its own.
    pub(crate) time: f32,
    /// Whether the sphere moves while the ray travels. Then `t` is time.
    pub(crate) moves_with_ray: bool,
    /// Radius of the ray.
    pub(crate) radius: f32,
    /// Low part of the ray's direction: the exact direction is `direction + direction_low`.
    pub(crate) direction_low: Vec3,
    /// Whether the ray starts on the surface of the sphere and goes inwards. Its roots are then those of [`SurfaceRoots`].
    pub(crate) starts_on_surface: bool,
}

impl RelativeMotion {
    /// A pair at rest.
    pub(crate) const NONE: Self = Self {
        velocity: Vec3::ZERO,
        time: 0.0,
        moves_with_ray: false,
        radius: 0.0,
        direction_low: Vec3::ZERO,
        starts_on_surface: false,
    };
}

impl<'a> Target<'a> {
    /// Whether the sphere moves with the ray's exact velocity, so that their distance does not change.
    pub(crate) fn keeps_distance(&self, ray: &Ray) -> bool {
        let same = |moves: RelativeMotion| {
            moves.moves_with_ray && moves.velocity == ray.direction && moves.direction_low == Vec3::ZERO
        };
        self.motion.is_some_and(same)
    }

    pub(crate) fn at_rest(sphere: &'a Sphere) -> Self {
        Self { sphere, motion: None, map: None }
    }

    /// Target for a ray with attributes: a sphere with its velocity and its map.
    #[inline(always)]
    pub(crate) fn new(
        sphere: &'a Sphere,
        velocity: Option<Vec3>,
        map: Option<&'a UnitBallMap>,
        attributes: &RayAttributes,
    ) -> Self {
        if velocity.is_none() && !attributes.moves() {
            return Self { sphere, motion: None, map };
        }
        let RayAttributes { time, radius, direction_low: low, moves_with_ray: relative, .. } = *attributes;
        let moves = RelativeMotion {
            velocity: velocity.unwrap_or_default(),
            time,
            moves_with_ray: relative != 0,
            radius,
            direction_low: low.into(),
            starts_on_surface: false,
        };
        Self { sphere, motion: Some(moves), map }
    }

    /// The same target for a ray that starts on its surface and goes inwards.
    pub(crate) fn with_surface_start(self) -> Self {
        let moves = self.motion.unwrap_or(RelativeMotion::NONE);
        Self { motion: Some(RelativeMotion { starts_on_surface: true, ..moves }), ..self }
    }

    /// Whether the ray starts on its surface and goes inwards.
    pub(crate) fn starts_on_surface(&self) -> bool {
        self.motion.is_some_and(|moves| moves.starts_on_surface)
    }
}

#[inline(always)]
fn two_product3(a: Vec3, b: f32) -> (Vec3, Vec3) {
    let (x, y, z) = (two_product(a.x, b), two_product(a.y, b), two_product(a.z, b));
    (Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1))
}

/// [`scale`](super::sphere::scale) for a pair that moves. For a pair at rest the result is bit-identical.
#[inline(always)]
pub(crate) fn scale_moving(ray: &Ray, sphere: &Sphere, moves: &RelativeMotion) -> ScaledPair {
    let displacement = moves.velocity * moves.time;
    let m =
        largest(ray.origin).max(largest(sphere.center)).max(largest(displacement)).max(sphere.radius).max(moves.radius);
    let before = if m >= power_of_two(125) {
        let s = power_of_two(-3);
        let near = largest((sphere.center * s + displacement * s) - ray.origin * s)
            .max(sphere.radius * s)
            .max(moves.radius * s);
        if near < power_of_two(100) && displacement == Vec3::ZERO { 0 } else { -3 }
    } else if m < power_of_two(-60) {
        60
    } else {
        0
    };
    let s = power_of_two(before);
    let (o, c) = (ray.origin * s, sphere.center * s);
    // Of a small displacement the time or the velocity is below 1, and can be enlarged.
    let (of_velocity, of_time) = if before > 0 && moves.time.abs() < 1.0 { (1.0, s) } else { (s, 1.0) };
    let (p, p1) = two_product3(moves.velocity * of_velocity, moves.time * of_time);
    let (h, h1) = two_sum(c, p);
    let (e, e1) = two_sum(h, -o);
    let (eh, el) = two_sum(e, e1 + (h1 + p1));
    let (r, rl) = two_sum(sphere.radius * s, moves.radius * s);
    let position_error =
        if displacement == Vec3::ZERO { 0.0 } else { power_of_two(-45) * (norm1(o) + norm1(c) + norm1(p)) };
    // The difference of two large velocities must not overflow.
    let v = if moves.moves_with_ray { moves.velocity } else { Vec3::ZERO };
    let quarter = if largest(ray.direction).max(largest(v)) >= power_of_two(125) { -2 } else { 0 };
    let q = power_of_two(quarter);
    let (d, d1) = two_sum(ray.direction * q, -(v * q));
    // Where direction and velocity cancel, the low part of the direction may be as large as what is left of them, or all of it.
    let (d, dl) = two_sum(d, d1 + moves.direction_low * q);
    normalize_range(&ScaledPair { eh, el, d, r, dl, rl, position_error, length: -before, direction: -quarter })
}

/// Midpoint of a time range, rounded to f32.
pub(crate) fn midpoint([from, to]: [f32; 2]) -> f32 {
    (0.5 * (f64::from(from) + f64::from(to))) as f32
}

/// Largest difference in time between a time of the range and its [midpoint].
pub(crate) fn half_span(span: [f32; 2]) -> f64 {
    let (middle, [from, to]) = (f64::from(midpoint(span)), span.map(f64::from));
    (to - middle).max(middle - from)
}

/// Bounding ball of a sphere over a time range. Its centre is the sphere's centre at the midpoint of the range; its radius is rounded up.
pub(crate) fn swept_bounds(sphere: &Sphere, velocity: Vec3, span: [f32; 2]) -> Sphere {
    let (c, v) = (sphere.center.as_dvec3(), velocity.as_dvec3());
    let [from, to] = span.map(f64::from);
    let center = (c + v * f64::from(midpoint(span))).as_vec3();
    let reach = |time: f64| (c + v * time - center.as_dvec3()).length() + f64::from(sphere.radius);
    let radius = reach(from).max(reach(to)) * (1.0 + 1e-12);
    let rounded = radius as f32;
    Sphere { center, radius: if f64::from(rounded) < radius { rounded.next_up() } else { rounded } }
}
