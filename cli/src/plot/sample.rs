//! What of a stream of rays is drawn: all of few, every so many of many, so that a plot of a million takes no more memory
//! than one of a thousand.

use umbracast::{Interval, Ray};

/// Rays drawn at most: more are a fog.
const MOST: usize = 2000;

/// Spheres drawn at most of those that a ray lists.
const MOST_LISTED: usize = 256;

/// What there is to see of an answer, as parameters of its ray.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// It met this sphere here.
    Hit { t: f32, id: u32 },
    /// It is inside this sphere from here to there.
    Inside(Interval),
    /// It goes through these, in their order.
    Through(Box<[Interval]>),
    /// It passes nearest to this sphere here.
    Pass { t: f32, clearance: f32, id: u32 },
    /// It meets something.
    Occluded,
    /// It meets nothing.
    Miss,
}

impl Mark {
    /// Of a list.
    pub(super) fn through(list: &[Interval]) -> Self {
        if list.is_empty() { Self::Miss } else { Self::Through(list[..list.len().min(MOST_LISTED)].into()) }
    }

    /// Where it is inside of spheres.
    pub(super) fn chords(&self) -> &[Interval] {
        match self {
            Self::Inside(one) => std::slice::from_ref(one),
            Self::Through(list) => list,
            _ => &[],
        }
    }
}

/// A ray with its answer.
#[derive(Clone, Debug)]
pub(super) struct Beam {
    pub(super) number: u64,
    pub(super) ray: Ray,
    /// When it sees spheres that move.
    pub(super) time: f32,
    pub(super) radius: f32,
    pub(super) mark: Mark,
}

impl Beam {
    /// The spheres that it is about, and at which `t`.
    pub(super) fn met(&self) -> impl Iterator<Item = (u32, f32)> {
        let one = match self.mark {
            Mark::Hit { t, id } | Mark::Pass { t, id, .. } => Some((id, t)),
            _ => None,
        };
        let begin = |chord: &Interval| (chord.id, chord.t_enter.max(self.ray.t_min));
        one.into_iter().chain(self.mark.chords().iter().map(begin))
    }
}

/// Rays kept with their answers: every `stride`th of those that went by.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) kept: Vec<Beam>,
    stride: u64,
    pub(super) seen: u64,
}

impl Sample {
    pub(super) fn new() -> Self {
        Self { kept: Vec::new(), stride: 1, seen: 0 }
    }

    /// Which of `count` rays to come are to be kept, by their place among them.
    pub(super) fn wanted(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = (self.stride - self.seen % self.stride) % self.stride;
        (first as usize..count).step_by(self.stride as usize)
    }

    /// Keeps a ray; of too many every second one goes.
    pub(super) fn keep(&mut self, beam: Beam) {
        if beam.number.is_multiple_of(self.stride) {
            self.kept.push(beam);
        }
        if self.kept.len() > MOST {
            self.stride *= 2;
            self.kept.retain(|beam| beam.number.is_multiple_of(self.stride));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_so_many_of_many_whatever_the_batches() {
        for (count, batch) in [(5, 2), (2000, 300), (2001, 2001), (1_000_000, 77_777)] {
            let mut sample = Sample::new();
            while sample.seen < count {
                let now = batch.min(count - sample.seen) as usize;
                for i in sample.wanted(now).collect::<Vec<_>>() {
                    let (number, ray) = (sample.seen + i as u64, Ray::new([0.0; 3], [1.0; 3]));
                    sample.keep(Beam { number, ray, time: 0.0, radius: 0.0, mark: Mark::Miss });
                }
                sample.seen += now as u64;
            }
            let stride = (count.div_ceil(MOST as u64)).next_power_of_two();
            let expected: Vec<u64> = (0..count).step_by(stride as usize).collect();
            assert_eq!(sample.kept.iter().map(|beam| beam.number).collect::<Vec<_>>(), expected, "{count}");
        }
    }
}
