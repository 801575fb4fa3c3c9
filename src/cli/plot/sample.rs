//! What of a stream of rays is drawn: all of few, every so many of many, so that a plot of a million takes no more memory
//! than one of a thousand.

use umbracast::Ray;

/// Rays drawn at most: more are a fog.
const MOST: usize = 2000;

/// What there is to see of an answer, as parameters of its ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    /// It met this sphere here.
    Hit { t: f32, id: u32 },
    /// It is inside this sphere from here to there.
    Inside { t_enter: f32, t_exit: f32, id: u32 },
    /// It passes nearest to this sphere here.
    Pass { t: f32, clearance: f32, id: u32 },
    /// It meets something.
    Occluded,
    /// It meets nothing.
    Miss,
}

impl Mark {
    /// The sphere that it is about.
    pub(super) fn id(self) -> Option<u32> {
        match self {
            Self::Hit { id, .. } | Self::Inside { id, .. } | Self::Pass { id, .. } => Some(id),
            Self::Occluded | Self::Miss => None,
        }
    }
}

/// Rays kept with their answers: every `stride`th of those that went by.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) kept: Vec<(u64, Ray, Mark)>,
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
    pub(super) fn keep(&mut self, number: u64, ray: Ray, mark: Mark) {
        if number.is_multiple_of(self.stride) {
            self.kept.push((number, ray, mark));
        }
        if self.kept.len() > MOST {
            self.stride *= 2;
            self.kept.retain(|(number, ..)| number.is_multiple_of(self.stride));
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
                    sample.keep(sample.seen + i as u64, Ray::new([0.0; 3], [1.0; 3]), Mark::Miss);
                }
                sample.seen += now as u64;
            }
            let stride = (count.div_ceil(MOST as u64)).next_power_of_two();
            let expected: Vec<u64> = (0..count).step_by(stride as usize).collect();
            assert_eq!(sample.kept.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), expected, "{count}");
        }
    }
}
