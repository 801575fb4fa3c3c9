//! One round of flights: casts a ray per bullet, casts again where rounding may have put a bullet on the wrong side of a surface, and
//! computes how each leg ends.

use rayon::prelude::*;

use super::leg::{Leg, Legs};
use super::ricochet::Ricochet;
use super::state::{Field, Flying};
use crate::batch::input::Rays;
use crate::batch::ray_attributes::Extras;
use crate::error::Result;
use crate::intersect::exact::ExactRoots;
use crate::query::policy::{Inside, Motion, Precision, Query};
use crate::query::results::{Lists, Report};
use crate::records::{Hit, Ray};
use crate::runtime::cpu_pool::{self, on_cores};
use crate::runtime::memory::room;
use crate::scene::scene::{Caller, Scene};

/// The sphere on which a leg ends, and the ricochet; `None` without a hit.
type End = Option<(u32, Ricochet)>;

/// Results of the queries of a round.
pub(crate) struct Answers {
    hits: Vec<Hit>,
    /// Results of the second queries, each with the index of its bullet among those in flight.
    again: Vec<(usize, Second)>,
}

/// Result of the second queries for one bullet.
enum Second {
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
    pub(crate) async fn ask(
        scene: &Scene,
        flying: &[Flying],
        first: bool,
        query: &Query,
        caller: Caller,
        report: &mut Report,
    ) -> Result<Self> {
        let (mut rays, mut times, mut radii) = (room(flying.len())?, room(flying.len())?, room(flying.len())?);
        rays.extend(flying.iter().map(|bullet| bullet.ray));
        times.extend(flying.iter().map(|bullet| bullet.time));
        radii.extend(flying.iter().map(|bullet| bullet.radius));
        let wide = radii.iter().any(|radius| *radius > 0.0);
        let extras = Extras {
            times: (query.motion == Motion::WithRay).then_some(&times[..]),
            radii: wide.then_some(&radii[..]),
            launched: true,
            ..Extras::default()
        };
        let extras = scene.moving(extras, query);
        let ignoring = Query { inside: Inside::Ignore, ..*query };
        let mut hits = room(rays.len())?;
        hits.resize(rays.len(), Hit::MISS);
        let cast =
            scene.hits_into(brought(&rays, extras), if first { query } else { &ignoring }, &mut hits, caller).await?;
        report.judged += cast.judged;
        report.beyond += cast.beyond;
        let mut held: Vec<Hit> = Vec::new();
        if !first {
            let starts: Vec<Ray> = rays.iter().map(at_start).collect();
            let quick = Query { precision: query.precision.min(Precision::Standard), ..*query };
            held = room(rays.len())?;
            held.resize(rays.len(), Hit::MISS);
            scene.hits_into(brought(&starts, extras), &quick, &mut held, caller).await?;
        }

        let doubtful = |at: &usize| match held.get(*at) {
            Some(held) => held.is_hit() || (hits[*at].is_hit() && hits[*at].id == flying[*at].left),
            None => hits[*at].is_hit() && hits[*at].t == 0.0,
        };
        let places: Vec<usize> = (0..flying.len()).filter(doubtful).collect();
        if places.is_empty() {
            return Ok(Self { hits, again: Vec::new() });
        }
        let rays: Vec<Ray> = places.iter().map(|at| rays[*at]).collect();
        let starts: Vec<Ray> = rays.iter().map(at_start).collect();
        let extras = extras.some(places.iter().copied());
        let held = scene.list(brought(&starts, extras.lend()), crate::query::results::ALL, query, caller).await?;
        let met = scene.list(brought(&rays, extras.lend()), 2, &ignoring, caller).await?;
        let host = scene.host.clone();
        let again = on_cores(move || {
            let strictly = |i: usize, id: u32| {
                let target = host.target(id, &extras.lend().of(i));
                target.is_some_and(|target| ExactRoots::of(&rays[i], target).origin_side().is_lt())
            };
            second(&places, first, &held, &met, strictly)
        })
        .await?;
        Ok(Self { hits, again })
    }

    /// Computes how every leg ends, and which bullets fly on.
    pub(crate) fn end(self, field: Field<'_>, flying: Vec<Flying>) -> Result<(Legs, Vec<Flying>)> {
        let mut ends: Vec<Option<(Leg, Option<Flying>)>> = room(flying.len())?;
        let of = |bullet: &Flying, end: End| {
            let next = end.as_ref().and_then(|(id, turned)| bullet.after(*id, turned, field));
            (bullet.leg(end.as_ref(), field), next)
        };
        let first = |(bullet, hit): (&Flying, &Hit)| {
            let met = |hit: &Hit| (hit.id, field.target(hit.id, bullet).met(bullet.at, bullet.along));
            Some(of(bullet, hit.is_hit().then(|| met(hit))))
        };
        cpu_pool::ready();
        flying.par_iter().zip(&self.hits).map(first).collect_into_vec(&mut ends);
        for (at, second) in self.again {
            let bullet = &flying[at];
            ends[at] = Some(match second {
                Second::Inside(id) => (Leg::inside(id), None),
                Second::Among(held, met) => of(bullet, nearest(field, bullet, &held, &met)),
            });
        }
        let mut legs = room(flying.len())?;
        let mut next = room(flying.len())?;
        for (bullet, (leg, on)) in flying.iter().zip(ends.into_iter().flatten()) {
            legs.push((bullet.bullet, leg));
            next.extend(on);
        }
        Ok((legs, next))
    }
}

/// Rays with their attributes.
fn brought<'a>(rays: &'a [Ray], extras: Extras<'a>) -> Rays<'a> {
    Rays { extras, ..Rays::from(rays) }
}

/// The start of a ray, as a ray of length 0.
fn at_start(ray: &Ray) -> Ray {
    ray.between(ray.t_min, ray.t_min)
}

/// Evaluates the second queries. `strictly(i, id)` says whether bullet `i` of `places` starts strictly inside sphere `id`.
fn second(
    places: &[usize],
    first: bool,
    held: &Lists,
    met: &Lists,
    strictly: impl Fn(usize, u32) -> bool + Sync,
) -> Vec<(usize, Second)> {
    let one = |(i, at): (usize, &usize)| {
        let held: Vec<u32> = held.get(i).unwrap_or_default().iter().map(|ball| ball.id).collect();
        // In the first round, a start on a surface or inside is intended, and the exact roots distinguish the two; later it is due to
        // rounding.
        let inside = held.iter().copied().filter(|id| first && strictly(i, *id)).min();
        let held = if first { Vec::new() } else { held };
        let mut two = [Hit::MISS; 2];
        let found = met.get(i).unwrap_or_default();
        two.iter_mut().zip(found).for_each(|(hit, met)| *hit = Hit { t: met.t_enter, id: met.id });
        (*at, inside.map_or(Second::Among(held, two), Second::Inside))
    };
    cpu_pool::ready();
    places.par_iter().enumerate().map(one).collect()
}

/// The first hit among the spheres that contain the start and those hit from outside, except for the sphere just left.
fn nearest(field: Field<'_>, bullet: &Flying, held: &[u32], met: &[Hit; 2]) -> End {
    let held = held.iter().filter(|id| **id != bullet.left);
    let held = held.filter_map(|id| Some((*id, field.target(*id, bullet).touch(bullet.at, bullet.along)?)));
    let met = met.iter().find(|hit| hit.is_hit() && hit.id != bullet.left);
    let met = met.map(|hit| (hit.id, field.target(hit.id, bullet).met(bullet.at, bullet.along)));
    held.chain(met).min_by(|(a, one), (b, other)| one.time.total_cmp(&other.time).then(a.cmp(b)))
}
