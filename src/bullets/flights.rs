//! The question: what becomes of bullets, leg by leg.

use std::time::Instant;

use super::bullet::{Bullet, check_bullet, check_radius};
use super::leg::{Leg, Legs};
use super::state::{Field, Flying};
use super::step::Answers;
use crate::error::{Error, Result};
use crate::query::policy::{Ends, Inside, Motion, OnBad, Query, Touch, same_length};
use crate::query::results::Report;
use crate::runtime::boxed::Boxed;
use crate::runtime::cpu_pool::on_cores;
use crate::runtime::memory::{check_memory, room};
use crate::scene::scene::{Caller, Scene};

/// Bullets to shoot: a borrowed slice, and a column beside it.
#[derive(Clone, Copy, Debug)]
pub struct Bullets<'a> {
    records: &'a [Bullet],
    radii: Option<&'a [f32]>,
    first: u64,
}

impl<'a> Bullets<'a> {
    /// Makes each bullet a ball of a radius, at least 0: it meets a sphere where their surfaces touch, as if the sphere's radius were
    /// larger by its own. Its start, its way and where it is met are those of its centre. Without, 0.
    #[must_use]
    pub fn radii(self, radii: &'a [f32]) -> Self {
        Self { radii: Some(radii), ..self }
    }

    /// Says that these are a part of a longer list, in which the first one has number `first`. Errors then name bullets by their
    /// numbers there.
    #[must_use]
    pub fn numbered_from(self, first: u64) -> Self {
        Self { first, ..self }
    }
}

impl<'a> From<&'a [Bullet]> for Bullets<'a> {
    fn from(records: &'a [Bullet]) -> Self {
        Self { records, radii: None, first: 0 }
    }
}

impl<'a> From<&'a Vec<Bullet>> for Bullets<'a> {
    fn from(records: &'a Vec<Bullet>) -> Self {
        records.as_slice().into()
    }
}

impl<'a, const N: usize> From<&'a [Bullet; N]> for Bullets<'a> {
    fn from(records: &'a [Bullet; N]) -> Self {
        records.as_slice().into()
    }
}

/// What became of bullets: the legs of each, one after the other.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Flights {
    /// Where each bullet's legs begin among the records: one more than there are bullets, from 0 to the number of records.
    pub offsets: Vec<u64>,
    /// At least one a bullet, and exactly one where one ricochet was asked for: all end on spheres but for the last.
    pub records: Vec<Leg>,
    /// How it went; a bullet that meets anything is one hit.
    pub report: Report,
}

impl Flights {
    /// How many bullets.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there were no bullets.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The legs of bullet `i`; `None` past the last one.
    pub fn get(&self, i: usize) -> Option<&[Leg]> {
        let (start, end) = (*self.offsets.get(i)?, *self.offsets.get(i + 1)?);
        self.records.get(start as usize..end as usize)
    }

    /// The legs of every bullet, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Leg]> {
        (0..self.len()).map(|i| self.get(i).unwrap_or_default())
    }
}

impl Scene {
    /// What becomes of bullets among the spheres of the scene, followed through up to `most` ricochets each. A bullet is a point
    /// unless it has a [radius](Bullets::radii). It is met by surfaces from outside alone, a touch is a hit, and one that
    /// starts strictly inside a sphere is not followed. Every leg is flown in f64, from where and how the last one ended; which sphere
    /// it meets is asked of the device, for the nearest ray of f32. A sphere just left is not met again, and one that rounding
    /// puts a bullet into turns it back: it never gets deeper.
    ///
    /// Spheres may move: their velocities are a frame, bullets start at time 0, and frames pass from ricochet to ricochet. Each is
    /// mirrored in the frame of the sphere, as if that were too heavy to be moved: the speed past it is kept, and the bullet is faster
    /// or slower afterwards. Nothing is met after the end of the scene's [time range](crate::SceneOptions::time_range).
    ///
    /// Of the query only the precision and `on_bad` matter; with [`Precision::Exact`](crate::Precision::Exact) the answer is the same
    /// on every device.
    ///
    /// # Errors
    /// As [`closest`](Self::closest), for bullets; [`Error::BadRecord`] for a sphere without a radius, [`Error::LengthsDiffer`] unless
    /// there are as many radii as bullets, [`Error::Usage`] when `most` is 0, in pairwise scenes and where spheres move and time 0 is
    /// outside the time range, [`Error::TooLarge`] when the legs exceed what the machine has to spare (shoot fewer at a time).
    pub async fn bullets(&self, bullets: impl Into<Bullets<'_>>, most: u32, query: &Query) -> Result<Flights> {
        self.fly(bullets.into(), most, query, Caller::Polls).await
    }

    /// [`bullets`](Self::bullets).
    pub(crate) fn fly<'a>(
        &'a self,
        bullets: Bullets<'a>,
        most: u32,
        query: &'a Query,
        caller: Caller,
    ) -> Boxed<'a, Flights> {
        Box::pin(self.fly_in_rounds(bullets, most, query, caller))
    }

    /// Flights, round by round: all that still fly go together.
    async fn fly_in_rounds(&self, bullets: Bullets<'_>, most: u32, query: &Query, caller: Caller) -> Result<Flights> {
        let start = Instant::now();
        if most == 0 {
            return Err(Error::Usage("bullets are followed through 1 ricochet at least, not 0".into()));
        }
        let [from, to] = self.options.time_range;
        let end = self.host.columns.velocities.is_some().then_some(to);
        if end.is_some() && !(from..=to).contains(&0.0) {
            let said =
                format!("bullets start at time 0: the time range of the scene, {from} to {to}, does not hold it");
            return Err(Error::Usage(said));
        }
        if self.host.pairwise {
            return Err(Error::Usage(
                "bullets fly among all spheres of a scene: a pairwise one has none for all".into(),
            ));
        }
        self.check_round("bullets")?;
        self.check_spheres()?;
        let count = bullets.records.len();
        let radii = bullets.radii;
        same_length("bullets", count, "radii", radii.map_or(count, <[f32]>::len))?;
        let memory = size_of::<Flying>() + size_of::<crate::records::Ray>() + 8 + 3 * size_of::<Leg>();
        check_memory("bullets", count as u64 * memory as u64)?;
        let mut report = Report { rays: count as u64, ..Report::default() };
        let mut flying = room(count)?;
        for (i, bullet) in bullets.records.iter().enumerate() {
            let (number, radius) = (bullets.first.saturating_add(i as u64), radii.map_or(0.0, |radii| radii[i]));
            let checked = check_bullet(number, bullet).and_then(|()| check_radius(number, radius));
            match (checked, query.on_bad) {
                (Ok(()), _) => flying.push(Flying::launched(i, bullet, radius, end)),
                (Err(_), OnBad::Skip) => report.skipped += 1,
                (Err(error), OnBad::Refuse) => return Err(error),
            }
        }

        let motion = if end.is_some() { Motion::WithRay } else { Motion::AtTime };
        let query = Query { inside: Inside::Enter, touch: Touch::Hit, ends: Ends::Closed, motion, ..*query };
        let mut rounds: Vec<Legs> = Vec::new();
        while !flying.is_empty() && rounds.len() < most as usize {
            check_memory("the legs of bullets", flying.len() as u64 * 3 * size_of::<(usize, Leg)>() as u64)?;
            let answers = Answers::ask(self, &flying, rounds.is_empty(), &query, caller, &mut report).await?;
            let (host, flew) = (self.host.clone(), flying);
            let legs;
            (legs, flying) = on_cores(move || answers.end(Field { host: &host, end }, flew)).await??;
            if rounds.is_empty() {
                report.hits = legs.iter().filter(|(_, leg)| leg.is_hit()).count() as u64;
            }
            rounds.push(legs);
        }
        let (offsets, records) = on_cores(move || joined(count, rounds)).await??;
        report.seconds = start.elapsed().as_secs_f64();
        Ok(Flights { offsets, records, report })
    }

    /// Nothing glances off a point.
    fn check_spheres(&self) -> Result<()> {
        let flat = self.host.spheres.iter().position(|sphere| sphere.radius == 0.0);
        flat.map_or(Ok(()), |index| {
            let why = "a bullet needs something to glance off: a radius above 0";
            Err(Error::record("sphere", index as u64, "r", 0, why))
        })
    }
}

/// The legs of every round, bullet by bullet. One that could not be used has missed.
fn joined(count: usize, rounds: Vec<Legs>) -> Result<(Vec<u64>, Vec<Leg>)> {
    let mut offsets = room(count + 1)?;
    offsets.resize(count + 1, 0);
    for (bullet, _) in rounds.iter().flatten() {
        offsets[*bullet + 1] += 1;
    }
    for i in 0..count {
        offsets[i + 1] = offsets[i] + offsets[i + 1].max(1);
    }
    let mut records = room(offsets[count] as usize)?;
    records.resize(offsets[count] as usize, Leg::MISS);
    for (round, legs) in rounds.into_iter().enumerate() {
        for (bullet, leg) in legs {
            records[offsets[bullet] as usize + round] = leg;
        }
    }
    Ok((offsets, records))
}
