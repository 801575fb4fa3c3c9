//! Ellipsoids: balls stretched along three axes at right angles.
//!
//! A linear map makes a ball of an ellipsoid, and a line of a line, with the same `t`. So an ellipsoid is met as the ball is that it
//! becomes; only the differences of points, and directions, go through the map.

use bytemuck::{Pod, Zeroable};
use glam::{DMat3, DQuat, Quat, Vec3};

use crate::batch::Spheres;
use crate::error::{Error, Result};
use crate::records::Sphere;

/// How many times as long as the shortest semi-axis the longest may be.
const SLIMMEST: f32 = 1_048_576.0;

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

/// What an ellipsoid is besides the ball around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) radii: Vec3,
    pub(crate) rotation: Quat,
}

impl Shape {
    /// The radius of the ball around it.
    pub(crate) fn longest(&self) -> f32 {
        self.radii.max_element()
    }

    /// Why ellipsoid number `index` cannot be used, if it cannot.
    pub(crate) fn check(&self, index: u64) -> Result<()> {
        let bad = |field, value: f32, why: &'static str| Err(Error::record("ellipsoid", index, field, value, why));
        let radii = self.radii.to_array();
        for (field, radius) in ["rx", "ry", "rz"].into_iter().zip(radii) {
            if !radius.is_finite() || radius <= 0.0 {
                return bad(field, radius, "a semi-axis must be finite and larger than 0");
            }
        }
        let [x, y, z, w] = self.rotation.to_array();
        let rotation = [w, x, y, z];
        for (field, part) in ["qw", "qx", "qy", "qz"].into_iter().zip(rotation) {
            if !part.is_finite() {
                return bad(field, part, "a rotation must be finite");
            }
        }
        if rotation == [0.0; 4] {
            return bad("qw", 0.0, "a rotation must not be zero");
        }
        let slim = ["rx", "ry", "rz"].into_iter().zip(radii).find(|(_, r)| self.longest() / SLIMMEST > *r);
        slim.map_or(Ok(()), |(field, r)| bad(field, r, "the longest semi-axis may be 1048576 times as long at most"))
    }
}

/// What makes a ball of an ellipsoid, with the radius of the ball around it: the rows of a matrix as pairs; and the shortest semi-axis
/// as a share of the longest. `shaders/brought.wgsl` reads it as words.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Map {
    pub(crate) high: [[f32; 3]; 3],
    pub(crate) low: [[f32; 3]; 3],
    /// Rounded down.
    pub(crate) least: f32,
}

impl Map {
    /// That of a shape that was found to be right.
    pub(crate) fn of(shape: &Shape) -> Self {
        let [x, y, z, w] = shape.rotation.to_array().map(f64::from);
        let (longest, radii) = (f64::from(shape.longest()), shape.radii.to_array().map(f64::from));
        let shortest = radii.into_iter().fold(longest, f64::min);
        let axes = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize()).to_cols_array_2d();
        let rows: [[f64; 3]; 3] = std::array::from_fn(|i| axes[i].map(|part| part * (longest / radii[i])));
        let high = rows.map(|row| row.map(|part| part as f32));
        let low = std::array::from_fn(|i| std::array::from_fn(|j| (rows[i][j] - f64::from(high[i][j])) as f32));
        let least = (shortest / longest) as f32;
        Self { high, low, least: if f64::from(least) * longest > shortest { least.next_down() } else { least } }
    }
}
