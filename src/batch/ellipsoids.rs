//! Ellipsoids: balls stretched along three orthogonal axes.
//!
//! A linear map turns an ellipsoid into a ball and a line into a line, with the same `t`. So a ray intersects an ellipsoid where the
//! mapped ray intersects the ball. The map is applied only to differences of points, and to directions.

use glam::{Quat, Vec3};

use super::input::Spheres;
use crate::intersect::ellipsoid::EllipsoidShape;
use crate::records::Sphere;

/// An ellipsoid: centre, semi-axes and rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    /// The centre, in any unit; all lengths of a scene share it.
    pub center: Vec3,
    /// Semi-axes, that is half the extent along each of its own axes: finite and above 0, the longest at most 2²⁰ times the shortest.
    pub radii: Vec3,
    /// Rotation from its own axes to those of the scene. It is normalised; any finite length except zero is allowed.
    pub rotation: Quat,
}

impl Ellipsoid {
    /// An ellipsoid whose axes are parallel to those of the scene.
    pub fn new(center: impl Into<Vec3>, radii: impl Into<Vec3>) -> Self {
        Self { center: center.into(), radii: radii.into(), rotation: Quat::IDENTITY }
    }

    /// Sets the rotation about the centre.
    #[must_use]
    pub fn turned(self, rotation: Quat) -> Self {
        Self { rotation, ..self }
    }
}

impl From<Sphere> for Ellipsoid {
    fn from(sphere: Sphere) -> Self {
        Self::new(sphere.center, Vec3::splat(sphere.radius))
    }
}

/// Ellipsoids to build a scene from, instead of spheres. The index of an ellipsoid is its id.
///
/// Such a scene supports [`closest`](crate::Scene::closest), [`occluded`](crate::Scene::occluded),
/// [`interval`](crate::Scene::interval), [`count`](crate::Scene::count), [`transmittance`](crate::Scene::transmittance),
/// [`all`](crate::Scene::all), [`nearest`](crate::Scene::nearest) and [`contains`](crate::Scene::contains) under the same rules as for
/// spheres, with [`Precision::Fast`](crate::Precision::Fast) and [`Precision::Standard`](crate::Precision::Standard). With the latter, the
/// error of `t` is at most 8 u (|t| + g²/w), plus the effect of a displacement of the ellipsoid by 2⁻⁴² of its distance. Here u = 2⁻²⁴, w
/// is half the chord of the ray in units of `t`, and g is half the chord that the ray would have through the centre. It is an error to ask
/// for [`Precision::Exact`](crate::Precision::Exact), [`approach`](crate::Scene::approach), rays with a radius, or anything that needs
/// normals.
///
/// [Masks](Spheres::masks), [velocities](Spheres::velocities) and [transmittances](Spheres::transmittances) work as for spheres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ellipsoids {
    balls: Vec<Sphere>,
    shapes: Vec<EllipsoidShape>,
}

impl Ellipsoids {
    /// Collects ellipsoids. They are checked when a scene is built.
    pub fn new(ellipsoids: impl IntoIterator<Item = Ellipsoid>) -> Self {
        let mut all = Self::default();
        ellipsoids.into_iter().for_each(|one| all.push(one));
        all
    }

    /// Adds an ellipsoid.
    pub fn push(&mut self, ellipsoid: Ellipsoid) {
        let shape = EllipsoidShape { radii: ellipsoid.radii, rotation: ellipsoid.rotation };
        self.balls.push(Sphere::new(ellipsoid.center, shape.bounding_radius()));
        self.shapes.push(shape);
    }

    /// Number of ellipsoids.
    pub fn len(&self) -> usize {
        self.balls.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.balls.is_empty()
    }
}

impl<'a> From<&'a Ellipsoids> for Spheres<'a> {
    fn from(ellipsoids: &'a Ellipsoids) -> Self {
        Spheres::from(&ellipsoids.balls).shapes(&ellipsoids.shapes)
    }
}
