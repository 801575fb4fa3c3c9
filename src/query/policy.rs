//! Policies of a query, such as its precision.

use crate::error::{Error, Result};
use crate::records::{Interval, Ray};

/// Treatment of rays that start inside a sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Inside {
    /// The sphere is solid: the ray hits it at `t_min`.
    #[default]
    Enter,
    /// Only the surface counts: the ray hits it on the way out, at `t_exit`.
    Exit,
    /// A sphere that contains the start is ignored.
    Ignore,
}

impl Interval {
    /// Parameter of the hit, computed from the roots. [`Hit::t`](crate::Hit::t) reports it for the closest sphere, and hit lists are
    /// ordered by it. (With [`Precision::Exact`] lists are ordered by the true roots. If a root is not the ray's start but rounds to it,
    /// this function may return another parameter.)
    pub fn hit_t(&self, ray: &Ray, inside: Inside) -> f32 {
        match inside {
            Inside::Enter => self.t_enter.max(ray.t_min),
            Inside::Exit if self.t_enter < ray.t_min => self.t_exit,
            Inside::Exit | Inside::Ignore => self.t_enter,
        }
    }
}

/// Whether an exactly tangent ray hits the sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Touch {
    /// A tangent ray is a hit.
    #[default]
    Hit,
    /// A tangent ray is a miss.
    Miss,
}

/// Whether a ray's last point belongs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Ends {
    /// `[t_min, t_max]`.
    #[default]
    Closed,
    /// `[t_min, t_max)`, for stepping frame by frame: empty when the two are equal.
    HalfOpen,
}

/// Whether a surface before the start of a ray blocks it: one at a `t` from 0 to below `t_min`. The minimum range of a sensor is no start
/// of its beams: a post that is nearer than the minimum range returns nothing, and hides the spheres behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Near {
    /// [`Block`](Self::Block) for the rays of a sensor ([`Lidar`](crate::raygen::Lidar)) in queries that can obey it, else
    /// [`Pass`](Self::Pass).
    #[default]
    Auto,
    /// Nothing before `t_min` matters.
    Pass,
    /// The ray is a miss. For `closest`, `interval`, `all` and `nearest`; other queries refuse it.
    Block,
}

/// Precision of the results. The [crate documentation](crate) states the error bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Precision {
    /// [`Exact`](Self::Exact) for spheres. [`Standard`](Self::Standard) for ellipsoids, which have no exact arithmetic, and for
    /// [encoded queries](crate::Scene::plan), which leave some rays to the caller at `Exact`.
    #[default]
    Auto,
    /// Plain f32 arithmetic on a GPU; the CPU engine computes as at `Standard`. The error bounds hold on every device.
    Fast,
    /// Error-free corrections: hit or miss is wrong only within 2⁻⁴⁰ (1 + E/r) of tangency, and where a ray ends within the error of a root.
    /// Needs a device that rounds correctly.
    Standard,
    /// The true result rounded once, identical on every device: undecided rays are resolved by exact arithmetic.
    Exact,
}

/// How spheres with velocities move. Spheres without velocities are at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Motion {
    /// Each ray is intersected with the spheres at the ray's own time, as in a picture of an instant.
    #[default]
    AtTime,
    /// The spheres move while a ray travels, so `t` is time, as for a projectile. The ray's ends must be finite.
    WithRay,
}

/// Treatment of invalid rays. (Scenes refuse invalid spheres. The crate `umbracast-files` can skip those of a file.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum OnBad {
    /// Refuse the whole batch, with an error that names the ray.
    #[default]
    Refuse,
    /// Treat the ray as a miss, and count it in the report.
    Skip,
}

/// Defines methods that return the value with another field. The field of a row with `Some` is an option, and the method sets it.
macro_rules! setters {
    ($($(#[$about:meta])* $name:ident: $kind:ty $(, $some:ident)?;)*) => {$(
        $(#[$about])*
        #[must_use]
        pub const fn $name(self, $name: $kind) -> Self {
            Self { $name: $($some)? ($name), ..self }
        }
    )*};
}
pub(crate) use setters;

/// Policies of a query. `Query::default()` fits most uses; other policies are set one by one:
/// `Query::new().inside(Inside::Exit).precision(Precision::Exact)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Query {
    /// Rays that start inside a sphere.
    pub inside: Inside,
    /// Tangent rays.
    pub touch: Touch,
    /// The last point of a ray.
    pub ends: Ends,
    /// Precision of the results.
    pub precision: Precision,
    /// Invalid rays.
    pub on_bad: OnBad,
    /// Motion of the spheres.
    pub motion: Motion,
    /// Surfaces before the start of a ray.
    pub near: Near,
}

impl Query {
    /// The default policies.
    pub const fn new() -> Self {
        Self {
            inside: Inside::Enter,
            touch: Touch::Hit,
            ends: Ends::Closed,
            precision: Precision::Auto,
            on_bad: OnBad::Refuse,
            motion: Motion::AtTime,
            near: Near::Auto,
        }
    }

    /// The default policies with another precision.
    pub const fn at(precision: Precision) -> Self {
        Self::new().precision(precision)
    }

    setters! {
        /// Sets the treatment of rays that start inside a sphere.
        inside: Inside;
        /// Sets the treatment of tangent rays.
        touch: Touch;
        /// Sets whether the last point of a ray belongs to it.
        ends: Ends;
        /// Sets the precision of the results.
        precision: Precision;
        /// Sets the treatment of invalid rays.
        on_bad: OnBad;
        /// Sets how spheres with velocities move.
        motion: Motion;
        /// Sets whether surfaces before the start of a ray block it.
        near: Near;
    }
}

impl Precision {
    /// All precisions that [`Auto`](Self::Auto) may mean, from the fastest to the most exact.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Standard, Self::Exact];

    /// The precision that [`Auto`](Self::Auto) means: of a query about spheres, or about `ellipsoids`. Other precisions are returned as they
    /// are. The only place that has the default.
    #[must_use]
    pub const fn resolved(self, ellipsoids: bool) -> Self {
        match (self, ellipsoids) {
            (Self::Auto, false) => Self::Exact,
            (Self::Auto, true) => Self::Standard,
            _ => self,
        }
    }

    /// Name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Fast => "fast",
            Self::Standard => "standard",
            Self::Exact => "exact",
        }
    }
}

/// Returns an error if two arrays that belong together differ in length.
pub(crate) fn check_same_length(
    left_name: &'static str,
    left: usize,
    right_name: &'static str,
    right: usize,
) -> Result<()> {
    if left == right {
        return Ok(());
    }
    Err(Error::LengthsDiffer { left_name, left: left as u64, right_name, right: right as u64 })
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::*;
    use crate::Sphere;

    /// As TOML, which has infinities.
    #[test]
    fn records_and_policies_are_serialised() {
        let query = Query::at(Precision::Exact).ends(Ends::HalfOpen).motion(Motion::WithRay);
        let text = toml::to_string(&query).unwrap();
        for words in ["precision = \"exact\"", "ends = \"half-open\"", "on_bad = \"refuse\""] {
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(toml::from_str::<Query>(&text).unwrap(), query);
        // Policies that are not given have their defaults.
        assert_eq!(toml::from_str::<Query>("touch = \"miss\"").unwrap(), Query::new().touch(Touch::Miss));
        let (ray, sphere) = (Ray::new([0.0; 3], [1.0, 0.0, 0.0]), Sphere::new([1.0, 2.0, 3.0], 4.0));
        let text = toml::to_string(&ray).unwrap();
        assert!(text.contains("t_max = inf"), "{text}");
        assert_eq!(toml::from_str::<Ray>(&text).unwrap(), ray);
        assert_eq!(toml::from_str::<Sphere>(&toml::to_string(&sphere).unwrap()).unwrap(), sphere);
    }
}
