//! Rays in an order in which neighbours take the same way through the tree: by the octant of their direction, then by where they
//! enter and leave the scene's box (Morton order of both points together).

use glam::Vec3;

use super::index::Planted;
use super::walk::STREAM;
use crate::records::Ray;

/// Bits a coordinate: three coordinates, two points.
const BITS: u32 = 4;

/// Bits a pass of the radix sort.
const DIGIT: u32 = 9;

/// Spreads four bits to every sixth place.
const SPREAD: [u32; 1 << BITS] = {
    let mut table = [0; 1 << BITS];
    let mut i = 0;
    while i < table.len() {
        let mut bit = 0;
        while bit < BITS {
            table[i] |= ((i >> bit & 1) as u32) << (6 * bit);
            bit += 1;
        }
        i += 1;
    }
    table
};

/// Where rays enter and leave what.
pub(crate) struct Sorter {
    low: Vec3,
    high: Vec3,
    cells: Vec3,
}

impl Sorter {
    pub(crate) fn new(planted: &Planted) -> Self {
        let [low, high] = planted.tree.corners().map(Vec3::from_array);
        let cells = ((1 << BITS) as f32 * 0.9999 / (high - low)).min(Vec3::splat(f32::MAX));
        Self { low, high, cells }
    }

    fn key(&self, origin: Vec3, ray: &Ray) -> u32 {
        let d = ray.direction;
        let inverse = d.recip();
        let (a, b) = ((self.low - origin) * inverse, (self.high - origin) * inverse);
        let enter = a.min(b).max_element().max(ray.t_min);
        let leave = a.max(b).min_element().min(ray.t_max);
        let spread = |t: f32| {
            let cell = ((origin + t * d - self.low) * self.cells).max(Vec3::ZERO);
            let [x, y, z] = cell.to_array().map(|x| SPREAD[(x as usize).min(SPREAD.len() - 1)]);
            x | y << 1 | z << 2
        };
        let octant = (0..3).fold(0, |octant, k| octant | u32::from(d[k] < 0.0) << k);
        octant << (6 * BITS) | spread(enter) | spread(leave) << 3
    }

    /// Whether neighbours go together as they come: a picture's rays do.
    fn in_order(&self, planted: &Planted, rays: &[Option<&Ray>]) -> bool {
        // Two bits a coordinate, and the octant.
        let coarse = |ray: &Ray| self.key(planted.frame.place(ray.origin), ray) >> (6 * (BITS - 2));
        let (mut pairs, mut alike) = (0, 0);
        for pair in rays.windows(2).step_by(61) {
            if let [Some(a), Some(b)] = pair {
                pairs += 1;
                alike += usize::from(coarse(a) == coarse(b));
            }
        }
        alike * 8 >= pairs * 7
    }

    /// The numbers of the usable rays in order.
    pub(crate) fn order(&self, planted: &Planted, rays: &[Option<&Ray>]) -> Vec<u32> {
        if rays.len() <= STREAM || self.in_order(planted, rays) {
            return (0..).zip(rays).filter_map(|(i, ray)| ray.map(|_| i)).collect();
        }
        let entry = |(i, ray): (usize, &Option<&Ray>)| {
            let ray = (*ray)?;
            Some(u64::from(self.key(planted.frame.place(ray.origin), ray)) << 32 | i as u64)
        };
        let mut entries: Vec<u64> = rays.iter().enumerate().filter_map(entry).collect();
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
