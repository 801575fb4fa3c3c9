//! Ellipsoids: balls stretched along three axes at right angles.
//!
//! A linear map makes a ball of an ellipsoid, and a line of a line, with the same `t`. So an ellipsoid is met as the ball is that it
//! becomes; only the differences of points, and directions, go through the map.

use glam::{Quat, Vec3};

use super::input::Spheres;
use crate::intersect::ellipsoid::Shape;
use crate::records::Sphere;

/// An ellipsoid: its centre, its semi-axes, and how these are turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    /// The centre, in any unit; all lengths of a scene share it.
    pub center: Vec3,
    /// Half its extent along each of its own axes: finite and above 0, the longest at most 2²⁰ times the shortest.
    pub radii: Vec3,
    /// Turns its own axes into those of the scene. Any length but zero will do: it is taken as 1.
    pub rotation: Quat,
}

impl Ellipsoid {
    /// An ellipsoid whose axes are those of the scene.
    pub fn new(center: impl Into<Vec3>, radii: impl Into<Vec3>) -> Self {
        Self { center: center.into(), radii: radii.into(), rotation: Quat::IDENTITY }
    }

    /// The same, turned about its centre.
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

/// Ellipsoids to make a scene of, in the place of spheres: an ellipsoid's number is its id.
///
/// Such a scene answers [`closest`](crate::Scene::closest), [`occluded`](crate::Scene::occluded),
/// [`interval`](crate::Scene::interval), [`count`](crate::Scene::count), [`all`](crate::Scene::all),
/// [`nearest`](crate::Scene::nearest) and [`contains`](crate::Scene::contains) by the same rules, with
/// [`Precision::Fast`](crate::Precision::Fast) and [`Precision::Standard`](crate::Precision::Standard). With the latter, t is off by
/// 8 u (|t| + g²/w) at most, u = 2⁻²⁴, where w is half of the time that the ray is inside and g half of what it would be through the
/// centre, and besides by what a displacement of the ellipsoid by 2⁻⁴² of its distance makes of it. It does not answer
/// [`Precision::Exact`](crate::Precision::Exact), [`approach`](crate::Scene::approach), rays with a radius, and whatever asks for
/// normals: these are errors.
///
/// [Masks](Spheres::masks) and [velocities](Spheres::velocities) go with them as with spheres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ellipsoids {
    balls: Vec<Sphere>,
    shapes: Vec<Shape>,
}

impl Ellipsoids {
    /// From any number of them. What cannot be used is refused where a scene is made.
    pub fn new(ellipsoids: impl IntoIterator<Item = Ellipsoid>) -> Self {
        let mut all = Self::default();
        ellipsoids.into_iter().for_each(|one| all.push(one));
        all
    }

    /// Adds one more.
    pub fn push(&mut self, ellipsoid: Ellipsoid) {
        let shape = Shape { radii: ellipsoid.radii, rotation: ellipsoid.rotation };
        self.balls.push(Sphere::new(ellipsoid.center, shape.longest()));
        self.shapes.push(shape);
    }

    /// How many there are.
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
