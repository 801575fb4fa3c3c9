//! Bullets and their validation, and legs: the straight parts of a flight, each from its start or a ricochet to the next hit or the end.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::error::{Error, Result};
use crate::query::validate::not_finite;
use crate::records::NO_SPHERE;

/// A bullet: starts at a point, and flies towards another point and beyond it, at a constant speed. 28 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Bullet {
    /// The start.
    pub from: Vec3,
    /// Any other point of the path.
    pub to: Vec3,
    /// Distance per frame, above 0.
    pub speed: f32,
}

impl Bullet {
    /// A bullet that flies from a point towards another, with a speed in distance per frame.
    pub fn new(from: impl Into<Vec3>, to: impl Into<Vec3>, speed: f32) -> Self {
        Self { from: from.into(), to: to.into(), speed }
    }

    /// Checks that the bullet is valid: two finite points that differ, and a finite speed above 0.
    ///
    /// # Errors
    /// [`Error::BadRecord`] with index 0, the field and the value.
    pub fn check(&self) -> Result<()> {
        check_bullet(0, self)
    }
}

/// Checks the radius of a bullet: finite, not negative.
pub(crate) fn check_radius(index: u64, radius: f32) -> Result<()> {
    if radius.is_finite() && radius >= 0.0 {
        return Ok(());
    }
    Err(Error::record("bullet", index, "radius", radius, "a radius must be finite and not negative"))
}

/// Checks a bullet: two finite points that differ, and a finite speed above 0.
pub(crate) fn check_bullet(index: u64, bullet: &Bullet) -> Result<()> {
    let bad = |field, value: String, why: &'static str| Err(Error::record("bullet", index, field, value, why));
    for (names, point, why) in [
        (["x1", "y1", "z1"], bullet.from, "a start point must be finite"),
        (["x2", "y2", "z2"], bullet.to, "a target point must be finite"),
    ] {
        if let Some((field, value)) = not_finite(names, point) {
            return bad(field, value.to_string(), why);
        }
    }
    if bullet.from == bullet.to {
        // Not the coordinates: the caller may have subtracted an origin.
        return bad("x2,y2,z2", "the start point".into(), "the target point must differ from it");
    }
    if !bullet.speed.is_finite() {
        return bad("speed", bullet.speed.to_string(), "a speed must be finite");
    }
    if bullet.speed <= 0.0 {
        return bad("speed", bullet.speed.to_string(), "a speed must be above 0");
    }
    Ok(())
}

/// How a leg of a flight ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[repr(u8)]
pub enum LegStatus {
    /// On a sphere.
    Hit = 0,
    /// Nowhere: no sphere is ahead or, among moving spheres, none before the end of the time range.
    #[default]
    Miss = 1,
    /// At its start: the bullet starts inside a sphere, or overlaps it, and is not traced.
    StartedInside = 2,
}

impl LegStatus {
    /// All values, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Hit, Self::Miss, Self::StartedInside];

    /// Name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::StartedInside => "started_inside",
        }
    }
}

/// A straight part of a bullet's flight: from its start, or from a sphere that it glanced off, to the next sphere. Computed in f64 and
/// rounded once; the error bounds are those of [`MovingSphere::ricochet`](super::ricochet::MovingSphere::ricochet).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Leg {
    /// How it ends.
    pub status: LegStatus,
    /// Id of the sphere that is hit; with [`LegStatus::StartedInside`] the lowest id of those that contain the start; [`NO_SPHERE`] on a
    /// miss.
    pub id: u32,
    /// Distance that the bullet has flown at the hit, over all its legs so far; infinite without a hit.
    pub distance: f32,
    /// Frames from the start of the bullet to the hit; among spheres at rest, `distance` divided by the speed. Infinite without a hit.
    pub frames: f32,
    /// Position of the bullet at the hit; of its centre if it has a radius. NaN without a hit, like the fields below.
    pub point: Vec3,
    /// Angle between the path, as seen from the sphere, and the tangent plane, in radians: 0 grazing, π/2 head on.
    pub grazing_rad: f32,
    /// Velocity after the hit, per frame: reflected in the tangent plane, in the frame of the sphere. The speed relative to the sphere is
    /// preserved; off a moving sphere, the bullet's own speed is not.
    pub velocity: Vec3,
}

impl Leg {
    /// A leg that hits nothing.
    pub const MISS: Self = Self {
        status: LegStatus::Miss,
        id: NO_SPHERE,
        distance: f32::INFINITY,
        frames: f32::INFINITY,
        point: Vec3::NAN,
        grazing_rad: f32::NAN,
        velocity: Vec3::NAN,
    };

    /// The leg of a bullet that starts inside sphere `id`.
    pub(crate) fn inside(id: u32) -> Self {
        Self { status: LegStatus::StartedInside, id, ..Self::MISS }
    }

    /// Whether a sphere is hit.
    pub fn is_hit(&self) -> bool {
        self.status == LegStatus::Hit
    }
}

/// The legs of one round, each with the index of its bullet in the input.
pub(crate) type Legs = Vec<(usize, Leg)>;
