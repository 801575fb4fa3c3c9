//! Sampling of a stream of rays for a plot: all rays up to 2,000, otherwise a subset of about 1,000 to 2,000. So memory does not grow with
//! the number of rays.
//!
//! A ray is selected by a hash of its index. Selecting every nth ray of a sensor sweep would select the same few azimuths in every turn.

use umbracast::{Interval, Ray};

/// Maximum number of rays drawn. More are indistinguishable.
const MOST: usize = 2000;

/// Maximum number of spheres drawn per hit list.
const MOST_LISTED: usize = 256;

/// The content of a result, as parameters of its ray.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// The ray hits this sphere at `t`.
    Hit { t: f32, id: u32 },
    /// The ray is inside this sphere in the interval.
    Inside(Interval),
    /// The ray passes through these spheres, in this order.
    Through(Box<[Interval]>),
    /// The nearest pass: the sphere, `t` and the clearance.
    Pass { t: f32, clearance: f32, id: u32 },
    /// The ray hits an unknown sphere.
    Occluded,
    /// The ray hits nothing.
    Miss,
}

impl Mark {
    /// The mark of a hit list.
    pub(crate) fn through(list: &[Interval]) -> Self {
        if list.is_empty() { Self::Miss } else { Self::Through(list[..list.len().min(MOST_LISTED)].into()) }
    }

    /// The intervals in which the ray is inside spheres.
    pub(super) fn chords(&self) -> &[Interval] {
        match self {
            Self::Inside(one) => std::slice::from_ref(one),
            Self::Through(list) => list,
            _ => &[],
        }
    }
}

/// A ray with its result.
#[derive(Clone, Debug)]
pub(super) struct Beam {
    pub(super) number: u64,
    pub(super) ray: Ray,
    /// Time of the ray, at which moving spheres are intersected.
    pub(super) time: f32,
    pub(super) radius: f32,
    pub(super) mark: Mark,
}

impl Beam {
    /// Ids of the spheres in the result, each with its `t`.
    pub(super) fn hits(&self) -> impl Iterator<Item = (u32, f32)> {
        let one = match self.mark {
            Mark::Hit { t, id } | Mark::Pass { t, id, .. } => Some((id, t)),
            _ => None,
        };
        let begin = |chord: &Interval| (chord.id, chord.t_enter.max(self.ray.t_min));
        one.into_iter().chain(self.mark.chords().iter().map(begin))
    }
}

/// The selected rays with their results: about one in `share` of all rays.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) kept: Vec<Beam>,
    /// A power of two.
    share: u64,
    pub(super) seen: u64,
}

/// Hash of an index (the finaliser of SplitMix64).
fn hash(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Whether ray `number` is selected when one in `share` is.
fn belongs(number: u64, share: u64) -> bool {
    hash(number).is_multiple_of(share)
}

impl Sample {
    pub(super) fn new() -> Self {
        Self { kept: Vec::new(), share: 1, seen: 0 }
    }

    /// Positions of the selected rays among the next `count` rays.
    pub(super) fn is_selected(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let (seen, share) = (self.seen, self.share);
        (0..count).filter(move |i| belongs(seen + *i as u64, share))
    }

    /// Keeps a ray if it is selected. When there are too many, `share` doubles and about half of them are dropped.
    pub(super) fn keep(&mut self, beam: Beam) {
        if belongs(beam.number, self.share) {
            self.kept.push(beam);
        }
        while self.kept.len() > MOST {
            self.share *= 2;
            self.kept.retain(|beam| belongs(beam.number, self.share));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indices of the selected rays of `count`, added in batches of `batch`.
    fn kept(count: u64, batch: u64) -> Vec<u64> {
        let mut sample = Sample::new();
        while sample.seen < count {
            let now = batch.min(count - sample.seen) as usize;
            for i in sample.is_selected(now).collect::<Vec<_>>() {
                let (number, ray) = (sample.seen + i as u64, Ray::new([0.0; 3], [1.0; 3]));
                sample.keep(Beam { number, ray, time: 0.0, radius: 0.0, mark: Mark::Miss });
            }
            sample.seen += now as u64;
        }
        sample.kept.iter().map(|beam| beam.number).collect()
    }

    #[test]
    fn sampling_keeps_few_rays_and_thins_many_for_any_batch_size() {
        for (count, batch) in [(5, 2), (2000, 300)] {
            assert_eq!(kept(count, batch), (0..count).collect::<Vec<_>>());
        }
        for (count, batch) in [(2001, 2001), (1_000_000, 77_777)] {
            let found = kept(count, batch);
            assert_eq!(found, kept(count, 1_000), "{count}");
            assert!((800..=MOST).contains(&found.len()), "{} of {count}", found.len());
        }
    }

    #[test]
    fn sampling_a_sensor_keeps_all_elevations_and_most_azimuths() {
        let found = kept(64 * 1024, 4096);
        let different =
            |of: fn(u64) -> u64| found.iter().map(|ray| of(*ray)).collect::<std::collections::BTreeSet<_>>().len();
        let (azimuths, elevations) = (different(|ray| ray % 1024), different(|ray| ray / 1024));
        assert!(azimuths > 500 && elevations == 64, "{azimuths} azimuths, {elevations} elevations of {}", found.len());
    }
}
