//! Sorts rays for coherence, so that neighbours take the same path through the BVH: by the octant of their direction, then by the points
//! where they enter and leave the scene's AABB (one Morton code of both points). Short rays are sorted by the Morton code of the first
//! point alone, because packets of them do not need one octant. Also determines whether a batch needs sorting.

use glam::Vec3;

use super::packet::PACKET_RAYS;
use super::ray_setup::{LANES, axes, each, octant_of};
use super::stream::STREAM_RAYS;
use crate::cpu::accel::CpuBvh;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::records::Ray;

/// Bits per coordinate: three coordinates, two points.
const BITS: u32 = 4;

/// Bits per coordinate of the one point of short rays. With more, packets hold slightly fewer cells, but sorting takes a third pass.
const SHORT_BITS: u32 = 6;

/// Bits per pass of the radix sort.
const DIGIT: u32 = 9;

/// Rays whose sort keys are computed at once.
const GROUP: usize = LANES;

/// The scene's AABB, its grid of Morton cells, and the scaled units, for computing sort keys.
pub(crate) struct RaySorter {
    low: Vec3,
    high: Vec3,
    cells: Vec3,
    middle: Vec3,
    scale: f32,
    short: bool,
}

impl RaySorter {
    pub(crate) fn new(bvh: &CpuBvh, order: RayOrder) -> Self {
        let [low, high] = bvh.tree.corners().map(Vec3::from_array);
        let cells = ((1 << BITS) as f32 * 0.9999 / (high - low)).min(Vec3::splat(f32::MAX));
        Self {
            low,
            high,
            cells,
            middle: bvh.frame.middle.as_vec3(),
            scale: bvh.frame.scale as f32,
            short: order == RayOrder::Short,
        }
    }

    /// The indices `numbers` of the valid rays, which are in ascending order, sorted.
    pub(crate) fn sort(&self, bvh: &CpuBvh, rays: &[Ray], numbers: Vec<u32>) -> Vec<u32> {
        let (eights, left) = rays.as_chunks();
        let mut entries = vec![0; rays.len()];
        // The last group of eight is padded with copies of its first ray.
        let last = left.first().map(|first| std::array::from_fn(|i| *left.get(i).unwrap_or(first)));
        for (n, (eight, entries)) in eights.iter().chain(&last).zip(entries.chunks_mut(GROUP)).enumerate() {
            let mut keys = [0; GROUP];
            bvh.level.sort_keys(self, eight, &mut keys);
            for (i, (entry, key)) in entries.iter_mut().zip(keys).enumerate() {
                *entry = u64::from(key) << 32 | (n * GROUP + i) as u64;
            }
        }
        if numbers.len() < rays.len() {
            entries = numbers.iter().map(|&i| entries[i as usize]).collect();
        }
        let mut other = vec![0; entries.len()];
        let bits = if self.short { 3 * SHORT_BITS } else { 3 + 6 * BITS };
        for shift in (32..32 + bits).step_by(DIGIT as usize) {
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

/// Determines the order of `count` rays from a sample.
pub(crate) fn sample_order(bvh: &CpuBvh, count: usize, ray: impl Fn(usize) -> Ray) -> RayOrder {
    if count < PACKET_RAYS {
        // Too few for a packet, and for sorting.
        return RayOrder::Incoherent;
    }
    let sorter = RaySorter::new(bvh, RayOrder::Incoherent);
    // Two bits per coordinate, and the octant.
    let coarse = |key: u32| key >> (6 * (BITS - 2));
    let (mut pairs, mut alike, mut short) = (0, 0, 0);
    // Small batches take fewer samples: one ray in four.
    for group in samples(count / GROUP, (count / (4 * GROUP)).clamp(2, 256)) {
        let mut keys = [0; GROUP];
        bvh.level.sort_keys(&sorter, &each(|i| ray(group * GROUP + i)), &mut keys);
        pairs += GROUP - 1;
        short += keys.iter().filter(|&&key| coarse(key) & 0o0707 == coarse(key) >> 3 & 0o0707).count();
        alike += keys.windows(2).filter(|pair| coarse(pair[0]) == coarse(pair[1])).count();
    }
    if alike * 8 < pairs * 7 {
        // A quarter of the rays. So few rays as fit into one stream are not sorted, and not near each other.
        let short = short * 7 > pairs * 2 && count > STREAM_RAYS;
        return if short { RayOrder::Short } else { RayOrder::Incoherent };
    }
    let (mut packets, mut mixed) = (0, 0);
    for packet in samples(count / PACKET_RAYS, 64) {
        let first = octant(&ray(packet * PACKET_RAYS));
        packets += 1;
        mixed += usize::from((1..PACKET_RAYS).any(|i| octant(&ray(packet * PACKET_RAYS + i)) != first));
    }
    if mixed * 8 > packets { RayOrder::CoherentPerOctant } else { RayOrder::Coherent }
}

/// At most `most` of `count` indices, evenly spaced.
fn samples(count: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(count.div_ceil(most).max(1))
}

/// The octant of a ray's direction.
fn octant(ray: &Ray) -> usize {
    octant_of(ray.direction.to_array())
}

/// The indices `numbers` of rays, ordered by octant, otherwise as before.
pub(crate) fn group_octants(rays: &[Ray], numbers: &[u32]) -> Vec<u32> {
    let mut octants: [Vec<u32>; 8] = Default::default();
    numbers.iter().for_each(|&i| octants[octant(&rays[i as usize])].push(i));
    octants.concat()
}

multiversion! {
    /// Sort keys of eight rays. They only affect speed: f32 is sufficient, overflow included.
    sort_keys, (sorter: &RaySorter, rays: &[Ray; GROUP], keys: &mut [u32; GROUP])
}

#[inline(always)]
fn sort_keys(lanes: impl Lanes, sorter: &RaySorter, rays: &[Ray; GROUP], keys: &mut [u32; GROUP]) {
    let RaySorter { low, high, cells, middle, scale, short } = sorter;
    let [x, y, z, t_min, dx, dy, dz, t_max] = lanes.narrow().transpose(bytemuck::cast_ref(rays));
    let (from, along) = ([x, y, z], [dx, dy, dz]);
    let origin = axes!(|k| each(|i| (from[k][i] - middle[k]) * scale));
    let step = axes!(|k| each(|i| along[k][i] * scale));
    let inverse = axes!(|k| each(|i| 1.0 / step[k][i]));
    let a = axes!(|k| each(|i| (low[k] - origin[k][i]) * inverse[k][i]));
    let b = axes!(|k| each(|i| (high[k] - origin[k][i]) * inverse[k][i]));
    let enter = axes!(|k| each(|i| a[k][i].min(b[k][i])));
    let leave = axes!(|k| each(|i| a[k][i].max(b[k][i])));
    let enter = each(|i| t_min[i].max(enter[0][i]).max(enter[1][i]).max(enter[2][i]));
    let leave = each(|i| t_max[i].min(leave[0][i]).min(leave[1][i]).min(leave[2][i]));
    *keys = [0; GROUP];
    if *short {
        const FINER: f32 = (1 << (SHORT_BITS - BITS)) as f32;
        for k in 0..3 {
            let cell = each(|i| (origin[k][i] + enter[i] * step[k][i] - low[k]) * (FINER * cells[k]) - 0.5);
            let cell = each(|i| cell[i].clamp(0.0, ((1 << SHORT_BITS) - 1) as f32) + 8_388_608.0);
            for i in 0..GROUP {
                let mut bits = cell[i].to_bits() & ((1 << SHORT_BITS) - 1);
                bits = (bits | bits << 8) & 0x00_f00f;
                bits = (bits | bits << 4) & 0x0c_30c3;
                bits = (bits | bits << 2) & 0x24_9249;
                keys[i] |= bits << k;
            }
        }
        return;
    }
    for k in 0..3 {
        for (place, t) in [(k, &enter), (k + 3, &leave)] {
            // Minus one half, because the sum below rounds to nearest. At 2²³ the last bit of an f32 counts ones.
            let cell = each(|i| (origin[k][i] + t[i] * step[k][i] - low[k]) * cells[k] - 0.5);
            let cell = each(|i| cell[i].clamp(0.0, 15.0) + 8_388_608.0);
            for i in 0..GROUP {
                let cell = cell[i].to_bits();
                let spread = cell & 1 | (cell & 2) << 5 | (cell & 4) << 10 | (cell & 8) << 15;
                keys[i] |= spread << place;
            }
        }
        for i in 0..GROUP {
            keys[i] |= (step[k][i].to_bits() >> 31) << (6 * BITS as usize + k);
        }
    }
}

/// How the rays of a batch follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RayOrder {
    /// Neighbours are alike, as those of a picture are.
    Coherent,
    /// The same within each octant of directions, and the octants alternate. The channels of a LiDAR are an example.
    CoherentPerOctant,
    /// Neighbours differ, or are unknown.
    Incoherent,
    /// Neighbours differ, and most rays begin and end in the same part of the scene.
    Short,
}

impl RayOrder {
    /// Whether rays in this order are sorted before they are cast.
    pub(crate) fn is_sorted(self) -> bool {
        matches!(self, RayOrder::Incoherent | RayOrder::Short)
    }
}
