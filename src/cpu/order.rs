//! Rays in an order in which neighbours take the same way through the tree: by the octant of their direction, then by where they
//! enter and leave the scene's box (Morton order of both points together).

use glam::Vec3;

use super::index::Planted;
use super::level::Level;
use super::walk::STREAM;
use crate::records::Ray;

/// Bits a coordinate: three coordinates, two points.
const BITS: u32 = 4;

/// Bits a pass of the radix sort.
const DIGIT: u32 = 9;

/// Rays whose keys are found at once.
const EIGHT: usize = 8;

/// Where rays enter and leave what.
pub(crate) struct Sorter {
    low: Vec3,
    high: Vec3,
    cells: Vec3,
    middle: Vec3,
    scale: f32,
}

impl Sorter {
    pub(crate) fn new(planted: &Planted) -> Self {
        let [low, high] = planted.tree.corners().map(Vec3::from_array);
        let cells = ((1 << BITS) as f32 * 0.9999 / (high - low)).min(Vec3::splat(f32::MAX));
        Self { low, high, cells, middle: planted.frame.middle().as_vec3(), scale: planted.frame.scale() as f32 }
    }

    /// Whether neighbours go together as they come: a picture's rays do.
    fn in_order(keys: &[u64]) -> bool {
        // Two bits a coordinate, and the octant.
        let coarse = |entry: u64| entry >> (32 + 6 * (BITS - 2));
        let (mut pairs, mut alike) = (0, 0);
        for pair in keys.windows(2).step_by(61) {
            pairs += 1;
            alike += usize::from(coarse(pair[0]) == coarse(pair[1]));
        }
        alike * 8 >= pairs * 7
    }

    /// The numbers of the usable rays in order.
    pub(crate) fn order(&self, planted: &Planted, rays: &[Option<&Ray>]) -> Vec<u32> {
        let numbers = (0..).zip(rays).filter_map(|(i, ray): (u64, _)| ray.map(|_| i));
        if rays.len() <= STREAM {
            return numbers.map(|i| i as u32).collect();
        }
        let mut entries: Vec<u64> = numbers.collect();
        let nowhere = Ray::new([0.0; 3], [1.0; 3]);
        for eight in entries.chunks_mut(EIGHT) {
            let rays =
                std::array::from_fn(|i| rays[eight[i.min(eight.len() - 1)] as usize].copied().unwrap_or(nowhere));
            let mut keys = [0; EIGHT];
            planted.level.sort_keys(self, &rays, &mut keys);
            eight.iter_mut().zip(keys).for_each(|(entry, key)| *entry |= u64::from(key) << 32);
        }
        if Self::in_order(&entries) {
            return entries.iter().map(|&entry| entry as u32).collect();
        }
        let mut other = vec![0; entries.len()];
        for shift in (32..32 + 3 + 6 * BITS).step_by(DIGIT as usize) {
            let digit = |entry: u64| (entry >> shift) as usize & ((1 << DIGIT) - 1);
            let mut starts = [0; 1 << DIGIT];
            entries.iter().for_each(|&entry| starts[digit(entry)] += 1);
            let mut sum = 0;
            for start in &mut starts {
                sum += std::mem::replace(start, sum);
            }
            for &entry in &entries {
                let start = &mut starts[digit(entry)];
                other[*start] = entry;
                *start += 1;
            }
            std::mem::swap(&mut entries, &mut other);
        }
        entries.iter().map(|&entry| entry as u32).collect()
    }
}

dispatch! {
    /// What the rays are sorted by. It decides nothing but speed: f32 will do, overflow included.
    sort_keys, (sorter: &Sorter, rays: &[Ray; EIGHT], keys: &mut [u32; EIGHT])
}

#[expect(clippy::extra_unused_type_parameters, reason = "the compiler finds the lanes by itself")]
#[inline(always)]
fn sort_keys<L>(sorter: &Sorter, rays: &[Ray; EIGHT], keys: &mut [u32; EIGHT]) {
    type Lane = [f32; EIGHT];
    let Sorter { low, high, cells, middle, scale } = sorter;
    let (mut enter, mut leave): (Lane, Lane) = (rays.map(|ray| ray.t_min), rays.map(|ray| ray.t_max));
    let mut origin = [[0.0; EIGHT]; 3];
    let mut step = [[0.0; EIGHT]; 3];
    for k in 0..3 {
        for i in 0..EIGHT {
            origin[k][i] = (rays[i].origin[k] - middle[k]) * scale;
            step[k][i] = rays[i].direction[k] * scale;
            let inverse = 1.0 / step[k][i];
            let (a, b) = ((low[k] - origin[k][i]) * inverse, (high[k] - origin[k][i]) * inverse);
            enter[i] = enter[i].max(a.min(b));
            leave[i] = leave[i].min(a.max(b));
        }
    }
    *keys = [0; EIGHT];
    for k in 0..3 {
        for (place, t) in [(k, &enter), (k + 3, &leave)] {
            for i in 0..EIGHT {
                let cell = (origin[k][i] + t[i] * step[k][i] - low[k]) * cells[k];
                let cell = cell.clamp(0.0, 15.0) as u32;
                let spread = cell & 1 | (cell & 2) << 5 | (cell & 4) << 10 | (cell & 8) << 15;
                keys[i] |= spread << place;
            }
        }
        for i in 0..EIGHT {
            keys[i] |= (step[k][i].to_bits() >> 31) << (6 * BITS as usize + k);
        }
    }
}
