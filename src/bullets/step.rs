//! One round of flights: casts a ray per bullet, casts again where rounding may have put a bullet on the wrong side of a surface, and
//! computes how each leg ends.

use rayon::prelude::*;

use super::bullet::{Leg, Legs};
use super::ricochet::Ricochet;
use super::state::{BulletScene, BulletState};
use crate::batch::input::Rays;
use crate::batch::ray_attributes::RayAttributeColumns;
use crate::cpu::query::kinds::{All, Nearest};
use crate::error::Result;
use crate::intersect::exact::ExactRoots;
use crate::query::policy::{Inside, Motion, Precision, Query};
use crate::query::results::{HitLists, Report};
use crate::records::{Hit, NO_SPHERE, Ray};
use crate::runtime::memory::{try_collect, try_collect_parallel, try_repeat, try_with_capacity};
use crate::scene::cast::Cast;
use crate::scene::scene::Scene;

/// The sphere on which a leg ends, and the ricochet; `None` without a hit.
type End = Option<(u32, Ricochet)>;

/// Results of the queries of a round.
pub(crate) struct Answers {
    hits: Vec<Hit>,
    /// Results of the second queries, each with the index of its bullet among those in flight.
    rechecked: Vec<(usize, Recheck)>,
}

/// Result of the second queries for one bullet.
enum Recheck {
    /// The bullet starts inside this sphere and is not traced.
    Inside(u32),
    /// The spheres into which rounding has put the start, and the first two spheres that are hit from outside.
    Among(Vec<u32>, [Hit; 2]),
}

impl Answers {
    /// Finds the first sphere of every bullet, and the bullets that start in a ball or on its surface. There are second queries for these,
    /// and for bullets whose first sphere is the one they have just left.
    ///
    /// In the first round, solid balls are hit at the start by rays that start in them, so one query answers both questions. Later, a
    /// bullet has just glanced off and is so close to a surface that no f32 shows on which side. The first query then ignores spheres that
    /// contain the start, so it need not decide this. The other query uses at most `Standard` precision, which leaves no rays undecided: to
    /// resolve them, the CPU would test every sphere.
    pub(crate) async fn query_scene(
        scene: &Scene,
        active: &[BulletState],
        first: bool,
        query: &Query,
        report: &mut Report,
    ) -> Result<Self> {
        let rays = try_collect(active.iter().map(|bullet| bullet.ray))?;
        let times = try_collect(active.iter().map(|bullet| bullet.time))?;
        let radii = try_collect(active.iter().map(|bullet| bullet.radius))?;
        let from_ids = try_collect(active.iter().map(|bullet| bullet.from_id))?;
        let wide = radii.iter().any(|radius| *radius > 0.0);
        let on_first_leg = if first { active } else { &[] };
        let lows = try_collect(on_first_leg.iter().map(|bullet| bullet.direction_low))?;
        let ray_attributes = RayAttributeColumns {
            times: (query.motion == Motion::WithRay).then_some(&times[..]),
            radii: wide.then_some(&radii[..]),
            from_ids: from_ids.iter().any(|id| *id != NO_SPHERE).then_some(&from_ids[..]),
            directions_low: lows.iter().any(|low| *low != [0.0; 3]).then_some(&lows[..]),
            starts_at_own_time: true,
            ..RayAttributeColumns::default()
        };
        let ray_attributes = scene.with_motion(ray_attributes, query);
        let ignoring = Query { inside: Inside::Ignore, ..*query };
        let mut hits = try_repeat(Hit::MISS, rays.len())?;
        let cast = scene
            .hits_into(with_attributes(&rays, ray_attributes), if first { query } else { &ignoring }, &mut hits)
            .await?;
        report.resolved_exactly += cast.resolved_exactly;
        report.overflowed += cast.overflowed;
        report.off_surface += cast.off_surface;
        let mut containing: Vec<Hit> = Vec::new();
        if !first {
            let starts: Vec<Ray> = rays.iter().map(at_start).collect();
            let quick = Query { precision: query.precision.min(Precision::Standard), ..*query };
            containing = try_repeat(Hit::MISS, rays.len())?;
            scene.hits_into(with_attributes(&starts, ray_attributes), &quick, &mut containing).await?;
        }

        let doubtful = |at: &usize| match containing.get(*at) {
            Some(containing) => containing.is_hit() || (hits[*at].is_hit() && hits[*at].id == active[*at].last_sphere),
            None => hits[*at].is_hit() && hits[*at].t == 0.0,
        };
        let places: Vec<usize> = (0..active.len()).filter(doubtful).collect();
        if places.is_empty() {
            return Ok(Self { hits, rechecked: Vec::new() });
        }
        let rays: Vec<Ray> = places.iter().map(|at| rays[*at]).collect();
        let starts: Vec<Ray> = rays.iter().map(at_start).collect();
        let ray_attributes = ray_attributes.gather(places.iter().copied());
        let starts = with_attributes(&starts, ray_attributes.as_columns());
        let containing = All.start(scene, starts, query).await?;
        let entering = with_attributes(&rays, ray_attributes.as_columns());
        let entered = Nearest(2).start(scene, entering, &ignoring).await?;
        let strictly = |i: usize, id: u32| {
            let attributes = ray_attributes.as_columns().of(i);
            let target = scene.host.target(id, &attributes);
            scene.host.spheres().is_start(&attributes, id)
                || target.is_some_and(|target| ExactRoots::of(&rays[i], target).origin_side().is_lt())
        };
        let rechecked = recheck(&places, first, &containing, &entered, strictly);
        Ok(Self { hits, rechecked })
    }

    /// Computes how every leg ends, and which bullets fly on.
    pub(crate) fn end(self, field: BulletScene<'_>, active: Vec<BulletState>) -> Result<(Legs, Vec<BulletState>)> {
        let of = |bullet: &BulletState, end: End| {
            let next = end.as_ref().and_then(|(id, turned)| bullet.after(*id, turned, field));
            (bullet.leg(end.as_ref(), field), next)
        };
        let first = |(bullet, hit): (&BulletState, &Hit)| {
            let entered = |hit: &Hit| {
                (hit.id, field.target(hit.id, bullet).ricochet_of_certain_hit(bullet.position, bullet.direction))
            };
            Some(of(bullet, hit.is_hit().then(|| entered(hit))))
        };
        let mut ends = try_collect_parallel(active.par_iter().zip(&self.hits).map(first))?;
        for (at, second) in self.rechecked {
            let bullet = &active[at];
            ends[at] = Some(match second {
                Recheck::Inside(id) => (Leg::inside(id), None),
                Recheck::Among(containing, entered) => of(bullet, nearest(field, bullet, &containing, &entered)),
            });
        }
        let mut legs = try_with_capacity(active.len())?;
        let mut next = try_with_capacity(active.len())?;
        for (bullet, (leg, on)) in active.iter().zip(ends.into_iter().flatten()) {
            legs.push((bullet.bullet, leg));
            next.extend(on);
        }
        Ok((legs, next))
    }
}

/// Rays with their attributes.
fn with_attributes<'a>(rays: &'a [Ray], ray_attributes: RayAttributeColumns<'a>) -> Rays<'a> {
    Rays { ray_attributes, ..Rays::from(rays) }
}

/// The start of a ray, as a ray of length 0.
fn at_start(ray: &Ray) -> Ray {
    ray.between(ray.t_min, ray.t_min)
}

/// Evaluates the second queries. `strictly(i, id)` says whether bullet `i` of `places` starts strictly inside sphere `id`.
fn recheck(
    places: &[usize],
    first: bool,
    containing: &HitLists,
    entered: &HitLists,
    strictly: impl Fn(usize, u32) -> bool + Sync,
) -> Vec<(usize, Recheck)> {
    let one = |(i, at): (usize, &usize)| {
        let containing: Vec<u32> = containing.get(i).unwrap_or_default().iter().map(|ball| ball.id).collect();
        // In the first round, a start on a surface or inside is intended, and the exact roots distinguish the two; later it is due to
        // rounding.
        let inside = containing.iter().copied().filter(|id| first && strictly(i, *id)).min();
        let containing = if first { Vec::new() } else { containing };
        let mut two = [Hit::MISS; 2];
        let found = entered.get(i).unwrap_or_default();
        two.iter_mut().zip(found).for_each(|(hit, entered)| *hit = Hit { t: entered.t_enter, id: entered.id });
        (*at, inside.map_or(Recheck::Among(containing, two), Recheck::Inside))
    };
    places.par_iter().enumerate().map(one).collect()
}

/// The first hit among the spheres that contain the start and those hit from outside, except for the sphere just left.
fn nearest(field: BulletScene<'_>, bullet: &BulletState, containing: &[u32], entered: &[Hit; 2]) -> End {
    let containing = containing.iter().filter(|id| **id != bullet.last_sphere);
    let containing = containing
        .filter_map(|id| Some((*id, field.target(*id, bullet).ricochet_or_touch(bullet.position, bullet.direction)?)));
    let entered = entered.iter().find(|hit| hit.is_hit() && hit.id != bullet.last_sphere);
    let entered = entered
        .map(|hit| (hit.id, field.target(hit.id, bullet).ricochet_of_certain_hit(bullet.position, bullet.direction)));
    containing.chain(entered).min_by(|(a, one), (b, other)| one.time.total_cmp(&other.time).then(a.cmp(b)))
}
