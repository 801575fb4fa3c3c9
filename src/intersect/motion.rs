//! A ray and a sphere that are not what they are at rest: the sphere moves, the ray is a ball on its way, or its direction is the
//! difference of two points. Twin of `shaders/intersect/motion.wgsl`.
//!
//! Differences and products are kept as pairs: a relative velocity rounded to f32 moves a root by 3 ulp and more, and a centre far
//! along its way by far more. What pairs still lose in a centre, c + v · time − o, is told as noise.

use glam::Vec3;

use super::ellipsoid::Map;
use super::sphere::{Scaled, largest, power_of_two, ranged};
use crate::math::error_free::{norm1, two_product, two_sum};
use crate::records::{Extra, Ray, Sphere};

/// What a ray is cast at.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) sphere: &'a Sphere,
    /// None at rest.
    pub(crate) moves: Option<Moves>,
    /// What makes it of an ellipsoid; None of what is round.
    pub(crate) map: Option<&'a Map>,
}

/// How ray and sphere differ from what they are at rest.
#[derive(Clone, Copy)]
pub(crate) struct Moves {
    /// The sphere's velocity.
    pub(crate) velocity: Vec3,
    /// It is where it is at this time; 0 when it moves while the ray travels.
    pub(crate) time: f32,
    /// Whether it moves while the ray travels: then t is time.
    pub(crate) relative: bool,
    /// The ray's radius.
    pub(crate) radius: f32,
    /// What the ray's direction lacks.
    pub(crate) low: Vec3,
}

impl Moves {
    /// Of what stays as it is.
    pub(crate) const NONE: Self =
        Self { velocity: Vec3::ZERO, time: 0.0, relative: false, radius: 0.0, low: Vec3::ZERO };
}

impl<'a> Target<'a> {
    /// Whether the ray keeps its distance from the sphere.
    pub(crate) fn keeps_distance(&self, ray: &Ray) -> bool {
        self.moves.is_some_and(|moves| moves.relative && moves.velocity == ray.direction)
    }

    pub(crate) fn at_rest(sphere: &'a Sphere) -> Self {
        Self { sphere, moves: None, map: None }
    }

    /// A sphere with its velocity and its map, for a ray that brings something along.
    #[inline(always)]
    pub(crate) fn new(sphere: &'a Sphere, velocity: Option<Vec3>, map: Option<&'a Map>, extra: &Extra) -> Self {
        if velocity.is_none() && !extra.moves() {
            return Self { sphere, moves: None, map };
        }
        let Extra { time, radius, low, relative, .. } = *extra;
        let moves =
            Moves { velocity: velocity.unwrap_or_default(), time, relative: relative != 0, radius, low: low.into() };
        Self { sphere, moves: Some(moves), map }
    }
}

#[inline(always)]
fn sums(a: Vec3, b: Vec3) -> (Vec3, Vec3) {
    let (x, y, z) = (two_sum(a.x, b.x), two_sum(a.y, b.y), two_sum(a.z, b.z));
    (Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1))
}

#[inline(always)]
fn products(a: Vec3, b: f32) -> (Vec3, Vec3) {
    let (x, y, z) = (two_product(a.x, b), two_product(a.y, b), two_product(a.z, b));
    (Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1))
}

/// `scale` of a pair that moves. With nothing that moves it is the same to the bit.
#[inline(always)]
pub(crate) fn scale_moving(ray: &Ray, sphere: &Sphere, moves: &Moves) -> Scaled {
    let way = moves.velocity * moves.time;
    let m = largest(ray.origin).max(largest(sphere.center)).max(largest(way)).max(sphere.radius).max(moves.radius);
    let before = if m >= power_of_two(125) {
        let s = power_of_two(-3);
        let near = largest((sphere.center * s + way * s) - ray.origin * s).max(sphere.radius * s).max(moves.radius * s);
        if near < power_of_two(100) && way == Vec3::ZERO { 0 } else { -3 }
    } else if m < power_of_two(-60) {
        60
    } else {
        0
    };
    let s = power_of_two(before);
    let (o, c) = (ray.origin * s, sphere.center * s);
    let (p, p1) = products(moves.velocity * s, moves.time);
    let (h, h1) = sums(c, p);
    let (e, e1) = sums(h, -o);
    let (eh, el) = sums(e, e1 + (h1 + p1));
    let (r, rl) = two_sum(sphere.radius * s, moves.radius * s);
    let noise = if way == Vec3::ZERO { 0.0 } else { power_of_two(-45) * (norm1(o) + norm1(c) + norm1(p)) };
    // The difference of two large velocities must not overflow.
    let v = if moves.relative { moves.velocity } else { Vec3::ZERO };
    let quarter = if largest(ray.direction).max(largest(v)) >= power_of_two(125) { -2 } else { 0 };
    let q = power_of_two(quarter);
    let (d, d1) = sums(ray.direction * q, -(v * q));
    let dl = d1 + moves.low * q;
    ranged(&Scaled { eh, el, d, r, dl, rl, noise, length: -before, direction: -quarter })
}

/// The middle of a time range, as far as f32 has it.
pub(crate) fn midway([from, to]: [f32; 2]) -> f32 {
    (0.5 * (f64::from(from) + f64::from(to))) as f32
}

/// The longest that anything in a time range is from its middle.
pub(crate) fn half(span: [f32; 2]) -> f64 {
    let (middle, [from, to]) = (f64::from(midway(span)), span.map(f64::from));
    (to - middle).max(middle - from)
}

/// A ball that holds a sphere at all times of a range: centre and radius, rounded outwards. The centre is where the sphere is midway.
pub(crate) fn swept(sphere: &Sphere, velocity: Vec3, span: [f32; 2]) -> Sphere {
    let (c, v) = (sphere.center.as_dvec3(), velocity.as_dvec3());
    let [from, to] = span.map(f64::from);
    let center = (c + v * f64::from(midway(span))).as_vec3();
    let reach = |time: f64| (c + v * time - center.as_dvec3()).length() + f64::from(sphere.radius);
    let radius = reach(from).max(reach(to)) * (1.0 + 1e-12);
    let rounded = radius as f32;
    Sphere { center, radius: if f64::from(rounded) < radius { rounded.next_up() } else { rounded } }
}
