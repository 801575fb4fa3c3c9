//! Validation of spheres and observers.

use glam::DVec3;

use super::ball::Ball;
use crate::error::{Error, Result};

/// Checks that the position of observer `index` is valid: coordinates between -1e150 and 1e150.
///
/// # Errors
/// [`Error::BadRecord`] with the index, the field and the value.
pub fn check_observer(index: u64, observer: DVec3) -> Result<()> {
    check("observer", index, Ball { center: observer, radius: 0.0 })
}

/// Largest coordinate and radius: their squares are finite.
pub(crate) const LARGEST: f64 = 1e150;

pub(crate) fn check(what: &'static str, index: u64, ball: Ball) -> Result<()> {
    let bad = |field, value: f64, why: &'static str| Err(Error::record(what, index, field, value, why));
    for (field, value) in ["x", "y", "z"].into_iter().zip(ball.center.to_array()) {
        if value.is_nan() || value.abs() > LARGEST {
            return bad(field, value, "a coordinate must be between -1e150 and 1e150");
        }
    }
    if !(0.0..=LARGEST).contains(&ball.radius) {
        return bad("radius", ball.radius, "a radius must be between 0 and 1e150");
    }
    Ok(())
}
