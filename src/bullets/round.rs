//! One round of flights: the ray that a device is asked for each, what is asked again where rounding has put a bullet on the wrong
//! side of a surface, and how each leg ends.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::flight::Legs;
use super::ricochet::{Ricochet, Target};
use super::{Bullet, Leg, LegStatus};
use crate::answer::{Lists, Report};
use crate::batch::Rays;
use crate::cpu::on_cores;
use crate::error::Result;
use crate::exact::ExactRoots;
use crate::memory::room;
use crate::query::{Inside, Precision, Query};
use crate::records::{Hit, NO_SPHERE, Ray, Sphere};
use crate::scene::{Caller, Scene};

/// A bullet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flying {
    /// Its number among those that were shot.
    bullet: usize,
    /// The sphere that it glanced off last: a line that leaves a ball does not come back to it.
    left: u32,
    /// What a device is asked: the nearest ray of f32 whose start is not inside that sphere.
    ray: Ray,
    at: DVec3,
    /// A unit vector.
    along: DVec3,
    flown: f64,
    speed: f64,
}

/// Where a leg ends: the sphere, and how the bullet glances off.
type End = Option<(u32, Ricochet)>;

impl Flying {
    pub(crate) fn launched(bullet: usize, shot: &Bullet) -> Self {
        // As long as 1 or 2 by a power of two, which rounds nothing: the nearest and the farthest target have a direction of f32.
        let away = shot.to.as_dvec3() - shot.from.as_dvec3();
        let direction = (away * (-away.abs().max_element().log2().floor()).exp2()).as_vec3();
        Self {
            bullet,
            left: NO_SPHERE,
            ray: Ray::new(shot.from, direction),
            at: shot.from.as_dvec3(),
            along: away.normalize(),
            flown: 0.0,
            speed: f64::from(shot.speed),
        }
    }

    /// After a ricochet; none where the sphere was met beyond the coordinates of f32.
    fn after(self, id: u32, sphere: &Sphere, turned: &Ricochet) -> Option<Self> {
        let (center, r) = (sphere.center.as_dvec3(), f64::from(sphere.radius));
        let outside = |at: &Vec3| (at.as_dvec3() - center).length_squared() > r * r * (1.0 + (-50.0_f64).exp2());
        // As far out as rounding to f32 may take it in, and a rounding of f64 of what lies between.
        let grid = turned.point.abs().max_element().max(f64::from(f32::MIN_POSITIVE)) * (-23.0_f64).exp2();
        let step = grid + (center.abs().max_element() + r) * (-49.0_f64).exp2();
        let start = turned.point.as_vec3();
        let start = if outside(&start) { start } else { (turned.point + step * turned.normal).as_vec3() };
        let along = turned.velocity.normalize();
        let ray = Ray::new(start, along.as_vec3());
        let flown = self.flown + turned.time;
        start.is_finite().then_some(Self { left: id, ray, at: turned.point, along, flown, ..self })
    }

    fn leg(&self, end: &End) -> Leg {
        let Some((id, turned)) = end else { return Leg::MISS };
        let distance = self.flown + turned.time;
        Leg {
            status: LegStatus::Hit,
            id: *id,
            distance: distance as f32,
            frames: (distance / self.speed) as f32,
            point: turned.point.as_vec3(),
            angle: turned.angle as f32,
            velocity: (turned.velocity.normalize() * self.speed).as_vec3(),
        }
    }
}

/// What a device says of a round.
pub(crate) struct Answers {
    hits: Vec<Hit>,
    /// By their places among those that fly: what was asked again.
    again: Vec<(usize, Second)>,
}

/// The second answer.
enum Second {
    /// It starts inside this sphere, and goes nowhere.
    Inside(u32),
    /// Those that rounding has put the start into, and the first two that are met from outside.
    Among(Vec<u32>, [Hit; 2]),
}

impl Answers {
    /// Asks for the first sphere of every bullet, and which of them lie in a ball or on it: there is more to ask about these, and
    /// about those said to meet again what they have just left.
    ///
    /// At first solid balls are met where rays start in them, and one question tells both. A bullet that has just glanced off lies so
    /// near a surface that no f32 tells on which side; where spheres around the start do not count, that need not be told, and
    /// the other question is asked at a precision that leaves nothing open for the CPU to judge, which would look at every sphere.
    pub(crate) async fn ask(
        scene: &Scene,
        flying: &[Flying],
        first: bool,
        query: &Query,
        caller: Caller,
        report: &mut Report,
    ) -> Result<Self> {
        let mut rays = room(flying.len())?;
        rays.extend(flying.iter().map(|bullet| bullet.ray));
        let ignoring = Query { inside: Inside::Ignore, ..*query };
        let mut hits = room(rays.len())?;
        hits.resize(rays.len(), Hit::MISS);
        let cast = scene.cast(Rays::from(&rays), if first { query } else { &ignoring }, &mut hits, caller).await?;
        report.judged += cast.judged;
        report.beyond += cast.beyond;
        let mut held: Vec<Hit> = Vec::new();
        if !first {
            let starts: Vec<Ray> = rays.iter().map(|ray| ray.between(0.0, 0.0)).collect();
            let quick = Query { precision: query.precision.min(Precision::Standard), ..*query };
            held = room(rays.len())?;
            held.resize(rays.len(), Hit::MISS);
            scene.cast(Rays::from(&starts), &quick, &mut held, caller).await?;
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
        let starts: Vec<Ray> = rays.iter().map(|ray| ray.between(0.0, 0.0)).collect();
        let held = scene.list(Rays::from(&starts), crate::lists::ALL, query, caller).await?;
        let met = scene.list(Rays::from(&rays), 2, &ignoring, caller).await?;
        let host = scene.host.clone();
        let again = on_cores(move || second(&host.spheres, &places, &rays, first, &held, &met)).await?;
        Ok(Self { hits, again })
    }

    /// How every leg ends, and who flies on.
    pub(crate) fn end(self, spheres: &[Sphere], flying: Vec<Flying>) -> Result<(Legs, Vec<Flying>)> {
        let mut ends: Vec<Option<(Leg, Option<Flying>)>> = room(flying.len())?;
        let of = |bullet: &Flying, end: End| {
            let next = end.as_ref().and_then(|(id, turned)| bullet.after(*id, &spheres[*id as usize], turned));
            (bullet.leg(&end), next)
        };
        let first = |(bullet, hit): (&Flying, &Hit)| {
            let target = |hit: &Hit| Target::from(&spheres[hit.id as usize]);
            let met = |hit: &Hit| (hit.id, target(hit).met(bullet.at, bullet.along));
            Some(of(bullet, hit.is_hit().then(|| met(hit))))
        };
        flying.par_iter().zip(&self.hits).map(first).collect_into_vec(&mut ends);
        for (at, second) in self.again {
            let bullet = &flying[at];
            ends[at] = Some(match second {
                Second::Inside(id) => (Leg::inside(id), None),
                Second::Among(held, met) => of(bullet, nearest(spheres, bullet, &held, &met)),
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

/// What the second answers come to.
fn second(
    spheres: &[Sphere],
    places: &[usize],
    rays: &[Ray],
    first: bool,
    held: &Lists,
    met: &Lists,
) -> Vec<(usize, Second)> {
    let one = |(i, at): (usize, &usize)| {
        let held: Vec<u32> = held.get(i).unwrap_or_default().iter().map(|ball| ball.id).collect();
        let strictly = |id: &&u32| ExactRoots::new(&rays[i], &spheres[**id as usize]).origin_side().is_lt();
        // What is on a surface or inside at first was meant to be, and the exact roots tell; later it is rounding.
        let inside = held.iter().filter(|_| first).filter(strictly).min().copied();
        let held = if first { Vec::new() } else { held };
        let mut two = [Hit::MISS; 2];
        let found = met.get(i).unwrap_or_default();
        two.iter_mut().zip(found).for_each(|(hit, met)| *hit = Hit { t: met.t_enter, id: met.id });
        (*at, inside.map_or(Second::Among(held, two), Second::Inside))
    };
    places.par_iter().enumerate().map(one).collect()
}

/// The first of the spheres that hold the start or are met from outside, but for the one just left.
fn nearest(spheres: &[Sphere], bullet: &Flying, held: &[u32], met: &[Hit; 2]) -> End {
    let sphere = |id: u32| Target::from(&spheres[id as usize]);
    let held = held.iter().filter(|id| **id != bullet.left);
    let held = held.filter_map(|id| Some((*id, sphere(*id).touch(bullet.at, bullet.along)?)));
    let met = met.iter().find(|hit| hit.is_hit() && hit.id != bullet.left);
    let met = met.map(|hit| (hit.id, sphere(hit.id).met(bullet.at, bullet.along)));
    held.chain(met).min_by(|(a, one), (b, other)| one.time.total_cmp(&other.time).then(a.cmp(b)))
}
