//! A second implementation of the policies, written from the documentation and not from the code, on integer arithmetic.

use std::cmp::Ordering;

use umbracast::exact::{ExactRoots, Root, Roots};
use umbracast::{Ends, Hit, Inside, Query, Ray, Sphere, Touch};

/// `t` of the hit of a ray and a sphere at precision `exact`, `None` for a miss.
///
/// # Panics
/// If an end of the ray is not a number.
pub fn hit(ray: &Ray, sphere: &Sphere, query: &Query) -> Option<f32> {
    let roots = ExactRoots::new(ray, sphere);
    let at_least = |root, t| roots.compare(root, t).unwrap() != Ordering::Less;
    match roots.crossing {
        Ordering::Less => return None,
        Ordering::Equal if query.touch == Touch::Miss => return None,
        _ => {}
    }
    // A sphere behind the start is always a miss.
    if !at_least(Root::Exit, ray.t_min) {
        return None;
    }
    let starts_inside = !at_least(Root::Enter, ray.t_min);
    let root = match (starts_inside, query.inside) {
        (false, _) => Root::Enter,
        (true, Inside::Exit) => Root::Exit,
        (true, Inside::Ignore) => return None,
        (true, _) => {
            let within = ray.t_min < ray.t_max || (ray.t_min == ray.t_max && query.ends == Ends::Closed);
            return within.then_some(ray.t_min);
        }
    };
    let end = roots.compare(root, ray.t_max).unwrap();
    if end == Ordering::Greater || (end == Ordering::Equal && query.ends == Ends::HalfOpen) {
        return None;
    }
    roots.round(root).filter(|t| t.is_finite())
}

/// The hit with the least `t` of those that [`hit`] finds, and the lowest id.
pub fn closest(ray: &Ray, spheres: &[Sphere], query: &Query) -> Hit {
    let mut best = Hit::MISS;
    for (id, sphere) in (0..).zip(spheres) {
        if let Some(t) = hit(ray, sphere, query)
            && t < best.t
        {
            best = Hit { t, id };
        }
    }
    best
}
