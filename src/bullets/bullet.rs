//! Bullets and their validation.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::error::{Error, Result};
use crate::query::validate::{commas, not_finite};

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
///
/// # Errors
/// [`Error::BadRecord`] with the index, the field and the value.
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
        return bad("x2,y2,z2", commas(bullet.to), "the target point must differ from the start point");
    }
    if !bullet.speed.is_finite() {
        return bad("speed", bullet.speed.to_string(), "a speed must be finite");
    }
    if bullet.speed <= 0.0 {
        return bad("speed", bullet.speed.to_string(), "a speed must be above 0");
    }
    Ok(())
}
