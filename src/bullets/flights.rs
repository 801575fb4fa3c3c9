//! Flights: traces bullets through a scene, leg by leg.

use super::bullet::{Bullet, Leg, Legs, check_bullet, check_radius};
use super::state::{BulletScene, BulletState};
use super::step::Answers;
use crate::batch::input::from_slices;
use crate::error::{Error, Result};
use crate::query::policy::{Motion, Near, OnBad, Query, check_same_length, setters};
use crate::query::results::{Lists, Report};
use crate::query::validate::usage;
use crate::records::{NO_SPHERE, RayAttributes};
use crate::runtime::Instant;
use crate::runtime::block_on::{BoxedFuture, block_on};
use crate::runtime::memory::{self, try_repeat, try_with_capacity};
use crate::scene::scene::Scene;

/// Bullets to shoot: a borrowed slice, and an optional column of radii.
#[derive(Clone, Copy, Debug)]
pub struct Bullets<'a> {
    records: &'a [Bullet],
    radii: Option<&'a [f32]>,
    from_ids: Option<&'a [u32]>,
    first: Option<u64>,
}

impl<'a> Bullets<'a> {
    setters! {
        /// Sets a radius per bullet, at least 0. Such a bullet is a ball. It hits a sphere where their surfaces touch, as if the sphere's
    /// radius were larger by the bullet's. Its start, path and hit points are those of its centre. Default: 0.
    radii: &'a [f32], Some;
    /// Sets the sphere on whose surface each bullet starts, as [`Rays::from_ids`](crate::Rays::from_ids) does for rays:
    /// [`NO_SPHERE`](crate::NO_SPHERE) for none. A bullet that flies away from that sphere does not hit it with its first leg, and one that
    /// flies into it has [started inside](crate::LegStatus::StartedInside). The spheres must be at rest.
    from_ids: &'a [u32], Some;
    }
}

from_slices!(Bullets, Bullet, |records| Bullets { records, radii: None, from_ids: None, first: None }, "bullets", "");

/// Result of `bullets`: the legs of each bullet, which counts as a ray here. Every bullet has at least one leg, and exactly one if one
/// ricochet was requested. Every leg of a bullet except the last ends on a sphere.
pub type Flights = Lists<Leg>;

impl Scene {
    /// Traces bullets among the spheres of the scene, through up to `most` ricochets each. The result contains the legs of each bullet, in
    /// the order of the bullets.
    ///
    /// A bullet is a point unless it has a [radius](Bullets::radii). It hits surfaces from outside only, and a tangent path is a hit. A
    /// bullet that starts strictly inside a sphere is not traced ([`LegStatus::StartedInside`](crate::LegStatus::StartedInside)). Each leg
    /// is computed in f64, from the end of the previous one; the device finds the sphere that it hits: on the first leg for a direction of
    /// two f32, then for the nearest f32 ray. The sphere that a bullet has just left is not hit again. If rounding puts a bullet inside a
    /// sphere, the sphere reflects it, so it never gets deeper.
    ///
    /// Spheres may move. Velocities are then per frame, bullets start at time 0, and time continues from ricochet to ricochet. A ricochet
    /// reflects the bullet in the frame of the sphere, which has infinite mass: the speed relative to the sphere is preserved, so the
    /// bullet is faster or slower afterwards. Nothing is hit after the end of the scene's [time range](crate::SceneOptions::time_range).
    ///
    /// The call blocks until all bullets are traced. It allocates the legs, which are as many as there are ricochets, and per flying bullet
    /// a state and a ray.
    ///
    /// Of the query only the precision and `on_bad` are used. With [`Precision::Exact`](crate::Precision::Exact) the result is the same on
    /// every device.
    ///
    /// ```
    /// use umbracast::{Bullet, Device, DeviceOptions, Query, SceneOptions, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let spheres = [Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([-5.0, 0.0, 0.0], 1.0)];
    /// let scene = device.scene(&spheres, &SceneOptions::default())?;
    /// let bullet = Bullet::new([0.0; 3], [1.0, 0.0, 0.0], 2.0);
    /// let flights = scene.bullets(&[bullet], 2, &Query::default())?;
    /// let legs = flights.get(0).unwrap();
    /// assert_eq!((legs[0].id, legs[0].distance, legs[0].frames), (0, 4.0, 2.0));
    /// assert_eq!((legs[1].id, legs[1].distance, legs[1].frames), (1, 12.0, 6.0));
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`closest`](Self::closest), for bullets. Also:
    ///
    /// * [`Error::BadRecord`]: a sphere with radius 0.
    /// * [`Error::LengthsDiffer`]: the number of radii differs from that of bullets.
    /// * [`Error::InvalidArgument`]: `most` is 0; the scene is pairwise or contains ellipsoids; or spheres move and time 0 is outside the time range.
    /// * [`Error::TooLarge`]: the legs exceed the available memory of the machine. Then shoot fewer bullets at a time.
    pub fn bullets<'a>(&'a self, bullets: impl Into<Bullets<'a>>, most: u32, query: &'a Query) -> Result<Flights> {
        block_on(self.flights(bullets.into(), most, query))
    }

    /// [`bullets`](Self::bullets), for code that must not block. On a scene of the CPU engine the first poll of the future computes
    /// everything, as for [`cast_async`](Self::cast_async).
    pub async fn bullets_async(&self, bullets: impl Into<Bullets<'_>>, most: u32, query: &Query) -> Result<Flights> {
        self.flights(bullets.into(), most, query).await
    }

    /// Traces flights round by round: each round computes one leg of every bullet that still flies.
    fn flights<'a>(&'a self, bullets: Bullets<'a>, most: u32, query: &'a Query) -> BoxedFuture<'a, Flights> {
        Box::pin(async move {
            let start = Instant::now();
            if most == 0 {
                return usage("the maximum number of ricochets is 0: it must be at least 1");
            }
            let [from, to] = self.options.time_range;
            let end = self.host.attributes.velocities.is_some().then_some(to);
            if end.is_some() && !(from..=to).contains(&0.0) {
                let outside = "which is outside the time range of the scene";
                return usage(format!("bullets start at time 0, {outside}, {from} to {to}"));
            }
            if self.host.pairwise {
                return usage("bullets cannot be used with a pairwise scene: any of them may hit any sphere");
            }
            self.refuse_ellipsoids("bullets")?;
            self.check_spheres()?;
            let count = bullets.records.len();
            let radii = bullets.radii;
            check_same_length("bullets", count, "radii", radii.map_or(count, <[f32]>::len))?;
            let from_ids = bullets.from_ids;
            check_same_length("bullets", count, "from_ids", from_ids.map_or(count, <[u32]>::len))?;
            let memory = size_of::<BulletState>() + size_of::<crate::records::Ray>() + 8 + 3 * size_of::<Leg>();
            memory::check("bullets", count as u64 * memory as u64)?;
            let query = self.resolved(query);
            let mut report = Report { rays: count as u64, precision: query.precision, ..Report::default() };
            let mut active = try_with_capacity(count)?;
            for (i, bullet) in bullets.records.iter().enumerate() {
                let (number, radius) =
                    (bullets.first.unwrap_or(0).saturating_add(i as u64), radii.map_or(0.0, |radii| radii[i]));
                let from_id = from_ids.map_or(NO_SPHERE, |ids| ids[i]);
                let checked = check_bullet(number, bullet).and_then(|()| check_radius(number, radius));
                let state = checked.and_then(|()| {
                    let state = BulletState::at_start(i, bullet, radius, from_id, end);
                    let attributes = RayAttributes { radius, from_id, ..RayAttributes::NONE };
                    self.host.start_check()(number, &state.ray, &attributes).map_err(|error| match error {
                        Error::BadRecord { what: "ray", index, field, value, why } => {
                            Error::BadRecord { what: "bullet", index, field, value, why }
                        }
                        other => other,
                    })?;
                    Ok(state)
                });
                match (state, query.on_bad) {
                    (Ok(state), _) => active.push(state),
                    (Err(_), OnBad::Skip) => report.skipped += 1,
                    (Err(error), OnBad::Refuse) => return Err(error),
                }
            }

            let motion = if end.is_some() { Motion::WithRay } else { Motion::AtTime };
            let query = Query { motion, near: Near::Pass, on_bad: query.on_bad, ..Query::at(query.precision) };
            let mut rounds: Vec<Legs> = Vec::new();
            while !active.is_empty() && rounds.len() < most as usize {
                memory::check("legs of bullets", active.len() as u64 * 3 * size_of::<(usize, Leg)>() as u64)?;
                let answers = Answers::query_scene(self, &active, rounds.is_empty(), &query, &mut report).await?;
                let legs;
                (legs, active) = answers.end(BulletScene { host: &self.host, end }, active)?;
                if rounds.is_empty() {
                    report.rays_hit = legs.iter().filter(|(_, leg)| leg.is_hit()).count() as u64;
                }
                rounds.push(legs);
            }
            let (offsets, records) = joined(count, rounds)?;
            report.seconds = start.elapsed().as_secs_f64();
            Ok(Flights { offsets, records, report })
        })
    }

    /// Returns an error for a sphere with radius 0: a bullet cannot glance off a point.
    fn check_spheres(&self) -> Result<()> {
        let flat = self.host.spheres.iter().position(|sphere| sphere.radius == 0.0);
        flat.map_or(Ok(()), |index| {
            let why = "a bullet cannot ricochet off a point: the radius must be above 0";
            Err(Error::record("sphere", index as u64, "r", 0, why))
        })
    }
}

/// Joins the legs of all rounds, bullet by bullet. An invalid bullet gets one leg, a miss.
fn joined(count: usize, rounds: Vec<Legs>) -> Result<(Vec<u64>, Vec<Leg>)> {
    let mut offsets = try_repeat(0, count + 1)?;
    for (bullet, _) in rounds.iter().flatten() {
        offsets[*bullet + 1] += 1;
    }
    for i in 0..count {
        offsets[i + 1] = offsets[i] + offsets[i + 1].max(1);
    }
    let mut records = try_repeat(Leg::MISS, offsets[count] as usize)?;
    for (round, legs) in rounds.into_iter().enumerate() {
        for (bullet, leg) in legs {
            records[offsets[bullet] as usize + round] = leg;
        }
    }
    Ok((offsets, records))
}
