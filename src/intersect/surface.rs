//! Rays that start on the surface of a sphere. A rounded origin lies on either side of it, so the side comes from the direction: with
//! e = centre − origin, B = direction · e and A = |direction|², the ray goes inwards if B > 0. Its roots are then those of a ray that starts
//! exactly on the surface, 0 and 2 B / A.
//!
//! Foot of the perpendicular from a centre to a line, in f64, from which normals, angles and ricochets are computed.
//! `origin + t · direction − center` would lose the digits of a small sphere far away.

use std::cmp::Ordering;

use glam::DVec3;

use super::classify::{Root, Roots};
use super::double::double_pair;
use super::exact::ExactRoots;
use super::motion::Target;
use super::sphere::SphereRoots;
use crate::error::{Error, Result};
use crate::math::error_free::two_sum;
use crate::math::float::U_F64 as U;
use crate::records::{Ray, RayAttributes};

/// Roots of a ray that starts on the surface of its target and goes inwards: 0, and `exit` with its error bound.
pub(crate) struct SurfaceRoots<'a> {
    ray: &'a Ray,
    target: Target<'a>,
    exit: f64,
    bound: f64,
}

impl<'a> SurfaceRoots<'a> {
    /// The roots if the ray starts on the surface of `target`; `None` if it starts elsewhere.
    #[inline]
    pub(crate) fn of_start(ray: &'a Ray, target: Target<'a>) -> Option<Self> {
        if target.starts_on_surface() { Self::new(ray, target) } else { None }
    }

    /// The roots; `None` if the ray does not go inwards. For ellipsoids the bounds are 0, although the result is that of f64.
    pub(crate) fn new(ray: &'a Ray, target: Target<'a>) -> Option<Self> {
        let (mut e, mut d, _, slop) = double_pair(ray, target);
        if let Some(map) = target.map {
            (e, d) = (map.apply(e), map.apply(d));
        }
        let (a, b) = (d.dot(d), e.dot(d));
        // One rounding of e, and three of each product and their sum.
        let b_bound = if target.map.is_some() { 0.0 } else { (16.0 * U * e.length() + 4.0 * slop) * a.sqrt() };
        let inwards = if b.abs() > b_bound || target.map.is_some() {
            b > 0.0
        } else {
            ExactRoots::from_surface(ray, target).foot_side().is_gt()
        };
        let exit = 2.0 * b / a;
        let bound = if target.map.is_some() { 0.0 } else { 2.0 * b_bound / a + 8.0 * U * exit.abs() };
        inwards.then_some(Self { ray, target, exit, bound })
    }

    /// The roots as f32 with their bounds. The first is negative: the ray starts inside, so it is before every start.
    pub(crate) fn as_sphere_roots(&self) -> SphereRoots {
        let (t_enter, rounded) = (-f32::MIN_POSITIVE, self.rounded_exit());
        let t_exit = rounded.min(f32::MAX);
        SphereRoots {
            disc: 1.0,
            disc_bound: 0.0,
            t_enter,
            t_exit,
            enter_bound: 0.0,
            exit_bound: t_exit * f32::EPSILON + f32::MIN_POSITIVE,
            foot: 0.5 * t_exit,
            foot_bound: 0.0,
            rounded: [t_enter, rounded],
        }
    }

    fn rounded_exit(&self) -> f32 {
        let (low, high) = ((self.exit - self.bound) as f32, (self.exit + self.bound) as f32);
        if low == high {
            return low;
        }
        ExactRoots::from_surface(self.ray, self.target).round(Root::Exit).unwrap_or(high)
    }
}

impl Roots for SurfaceRoots<'_> {
    fn discriminant_sign(&self) -> Option<Ordering> {
        Some(Ordering::Greater)
    }

    fn compare(&self, root: Root, t: f32) -> Option<Ordering> {
        if root == Root::Enter {
            return Some(Ordering::Less);
        }
        let t_wide = f64::from(t);
        if self.exit - self.bound > t_wide {
            Some(Ordering::Greater)
        } else if self.exit + self.bound < t_wide {
            Some(Ordering::Less)
        } else if self.bound == 0.0 {
            Some(Ordering::Equal)
        } else {
            ExactRoots::from_surface(self.ray, self.target).compare(Root::Exit, t)
        }
    }

    fn round(&self, root: Root) -> Option<f32> {
        Some(if root == Root::Enter { 0.0 } else { self.rounded_exit() })
    }
}

/// How far the start of a ray is from the surface on which it should lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurfaceDistance {
    /// No farther than rounding to f32 puts it.
    On,
    /// As far as a point `o + t · d` may be whose `t` is an f32.
    Near,
    /// Farther: the ray does not start on this surface.
    Off,
}

impl SurfaceDistance {
    /// Compares the distance of the origin from the surface of `target` with 2⁻²⁰ s and 2⁻¹⁰ r + 2⁻¹⁶ s, where s = |o| + |c| + r.
    pub(crate) fn of(ray: &Ray, target: Target<'_>) -> Self {
        let (e, _, r, _) = double_pair(ray, target);
        let o = ray.origin.as_dvec3().length();
        let size = o + (e + ray.origin.as_dvec3()).length() + r;
        // For an ellipsoid, the distance along the line from its centre.
        let distance = match target.map {
            None => (e.length() - r).abs(),
            Some(map) => (e.length() * (1.0 - r / map.apply(e).length())).abs(),
        };
        if distance <= (-20.0_f64).exp2() * size {
            Self::On
        } else if distance <= (-10.0_f64).exp2() * r + (-16.0_f64).exp2() * size {
            Self::Near
        } else {
            Self::Off
        }
    }

    /// Returns an error if a ray cannot start on the surface of `target`, sphere `attributes.from_id`. `number` is the index of the ray in
    /// the whole input, and `own` the one sphere that it may hit in a pairwise scene.
    pub(crate) fn check(
        number: u64,
        ray: &Ray,
        attributes: &RayAttributes,
        target: Option<Target<'_>>,
        own: Option<u64>,
    ) -> Result<()> {
        let id = attributes.from_id;
        let bad = |field, value: String, why: String| Err(Error::record("ray", number, field, value, why));
        let Some(target) = target else {
            return bad("from_id", id.to_string(), "the scene has no such sphere".into());
        };
        if own.is_some_and(|own| own != u64::from(id)) {
            return bad("from_id", id.to_string(), format!("ray {number} is paired with sphere {number} only"));
        }
        if ray.t_min < 0.0 {
            let why = "a ray that starts on a surface (from_id) must have a t_min of at least 0";
            return bad("t_min", ray.t_min.to_string(), why.into());
        }
        if Self::of(ray, target) == Self::Off {
            let why =
                "the start does not lie on the surface of this sphere: a ray that starts elsewhere has no from_id";
            return bad("from_id", id.to_string(), why.into());
        }
        Ok(())
    }
}

/// Point of a line that is closest to a centre.
pub(crate) struct PerpendicularFoot {
    /// Parameter of the foot, in units of the direction.
    pub(crate) t: f64,
    /// Vector from the foot to the centre.
    pub(crate) p: DVec3,
    /// Half the chord inside a sphere of the given radius; 0 if the line misses it.
    pub(crate) half: f64,
}

impl PerpendicularFoot {
    /// Foot on the line along `d`. `e` is the vector from its point at t = 0 to the centre.
    pub(crate) fn of(e: DVec3, d: DVec3, radius: f64) -> Self {
        let t = e.dot(d) / d.length_squared();
        let p = e - t * d;
        let half = ((radius - p.length()) * (radius + p.length())).max(0.0).sqrt();
        Self { t, p, half }
    }
}

/// a + b − c in f64, accurate even under cancellation: the rounding errors of both sums are added last (Knuth's TwoSum).
pub(crate) fn add_subtract(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (sum, lost) = two_sum(a, b);
    let (rest, more) = two_sum(sum, -c);
    rest + (lost + more)
}
