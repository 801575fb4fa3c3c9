//! What can be asked: queries, precisions and policies.

use crate::error::{Error, Result};
use crate::records::{Interval, Ray};

/// How a ray is treated that starts inside a sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inside {
    /// The ball is solid: it is met at `t_min`.
    #[default]
    Enter,
    /// Only the surface counts: it is met on the way out, at `t_exit`.
    Exit,
    /// A sphere around the start does not count.
    Ignore,
}

impl Interval {
    /// Where it was met, from its roots: what [`Hit::t`](crate::Hit::t) tells of a closest sphere, and what lists of spheres are
    /// ordered by. (With [`Precision::Exact`] lists are ordered by the true roots; a root that is not the ray's start but is rounded to
    /// it may be told otherwise here.)
    pub fn met_at(&self, ray: &Ray, inside: Inside) -> f32 {
        match inside {
            Inside::Enter => self.t_enter.max(ray.t_min),
            Inside::Exit if self.t_enter < ray.t_min => self.t_exit,
            Inside::Exit | Inside::Ignore => self.t_enter,
        }
    }
}

/// Whether an exactly tangent ray meets the sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Touch {
    /// It does.
    #[default]
    Hit,
    /// It does not.
    Miss,
}

/// Whether a ray's last point belongs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ends {
    /// `[t_min, t_max]`.
    #[default]
    Closed,
    /// `[t_min, t_max)`, for stepping frame by frame: empty when the two are equal.
    HalfOpen,
}

/// How exact the answer is; `docs` of [`crate`] state the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// One plain f32 solve, its bounds valid on every device.
    Fast,
    /// Error-free corrections: wrong only within 2⁻⁴⁰ of tangency; needs a device that rounds as it should.
    #[default]
    Standard,
    /// The true answer rounded once, identical on every device: doubtful rays are decided by exact arithmetic.
    Exact,
}

/// How spheres with velocities move; those without stay where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Motion {
    /// Each ray sees them where they are at its own time: a picture at an instant.
    #[default]
    AtTime,
    /// They move while a ray travels, so that t is time: a projectile. Its ends must be finite.
    WithRay,
}

/// What to do with a ray that cannot be used (spheres are always refused).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnBad {
    /// Refuse the whole batch and name the ray.
    #[default]
    Refuse,
    /// Let it miss, and count it in the report.
    Skip,
}

/// The policies of a query; `Query::default()` is what most people mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Query {
    /// Rays that start inside a sphere.
    pub inside: Inside,
    /// Tangent rays.
    pub touch: Touch,
    /// The last point of a ray.
    pub ends: Ends,
    /// How exact.
    pub precision: Precision,
    /// Rays that cannot be used.
    pub on_bad: OnBad,
    /// Spheres that move.
    pub motion: Motion,
}

impl Query {
    /// The default policies at another precision.
    pub fn at(precision: Precision) -> Self {
        Self { precision, ..Self::default() }
    }
}

impl Precision {
    /// All of them, from the quickest to the most exact.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Standard, Self::Exact];

    /// The word used on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Standard => "standard",
            Self::Exact => "exact",
        }
    }
}

/// Refuses two arrays that belong together and differ in length.
pub(crate) fn same_length(left_name: &'static str, left: usize, right_name: &'static str, right: usize) -> Result<()> {
    if left == right {
        return Ok(());
    }
    Err(Error::LengthsDiffer { left_name, left: left as u64, right_name, right: right as u64 })
}
