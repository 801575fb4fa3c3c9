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
    pub(crate) fn sort(&self, bvh: &CpuBvh, rays: &[Ray], mut numbers: Vec<u32>) -> Vec<u32> {
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
        if self.short {
            radix_sort::<2>(entries, &mut numbers)
        } else {
            radix_sort::<3>(entries, &mut numbers)
        }
        numbers
    }
}

/// Sorts entries by as many digits from bit 32 on, and writes their lower halves.
fn radix_sort<const DIGITS: usize>(mut entries: Vec<u64>, numbers: &mut [u32]) {
    const VALUES: usize = 1 << DIGIT;
    let digit = |entry: u64, place: usize| (entry >> (32 + place as u32 * DIGIT)) as usize % VALUES;
    let mut starts = [[0_u32; VALUES]; DIGITS];
    for &entry in &entries {
        (0..DIGITS).for_each(|place| starts[place][digit(entry, place)] += 1);
    }
    let mut other = vec![0; entries.len()];
    for (place, starts) in starts.iter_mut().enumerate() {
        let mut sum = 0;
        for start in &mut *starts {
            sum += std::mem::replace(start, sum);
        }
        let mut next = |entry| {
            let start = &mut starts[digit(entry, place)];
            std::mem::replace(start, *start + 1) as usize
        };
        if place + 1 == DIGITS {
            entries.iter().for_each(|&entry| numbers[next(entry)] = entry as u32);
        } else {
            entries.iter().for_each(|&entry| other[next(entry)] = entry);
            std::mem::swap(&mut entries, &mut other);
        }
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
fn sort_keys<L: Lanes>(lanes: L, sorter: &RaySorter, rays: &[Ray; GROUP], keys: &mut [u32; GROUP]) {
    let RaySorter { low, high, cells, middle, scale, short } = sorter;
    let lanes = lanes.narrow();
    let columns = lanes.transpose(bytemuck::cast_ref::<_, [[f32; 8]; 8]>(rays).each_ref());
    let splat = |x| lanes.splat(x);
    let bits = if *short { SHORT_BITS } else { BITS };
    let (finer, last) = ((1 << (bits - BITS)) as f32, splat(((1 << bits) - 1) as f32));
    let mut corners = [[[0.0; GROUP]; 3]; 2];
    for i in (0..GROUP).step_by(<L::Narrow as Lanes>::COUNT) {
        let column = |k: usize| lanes.load(&columns[k][i..]);
        let origin = axes!(|k| column(k).sub(splat(middle[k])).mul(splat(*scale)));
        let step = axes!(|k| column(4 + k).mul(splat(*scale)));
        let inverse = axes!(|k| splat(1.0).div(step[k]));
        let a = axes!(|k| splat(low[k]).sub(origin[k]).mul(inverse[k]));
        let b = axes!(|k| splat(high[k]).sub(origin[k]).mul(inverse[k]));
        let enter = a[0].min(b[0]).max(a[1].min(b[1])).max(a[2].min(b[2])).max(column(3));
        let leave = a[0].max(b[0]).min(a[1].max(b[1])).min(a[2].max(b[2])).min(column(7));
        for k in 0..3 {
            for (corner, t) in corners.iter_mut().zip([enter, leave]) {
                // Minus one half, because the sum below rounds to nearest. At 2²³ the last bit of an f32 counts ones.
                let cell =
                    t.mul_add(step[k], origin[k].sub(splat(low[k]))).mul_sub(splat(finer * cells[k]), splat(0.5));
                cell.max(splat(0.0)).min(last).add(splat(8_388_608.0)).store(&mut corner[k][i..]);
            }
        }
    }
    *keys = [0; GROUP];
    for k in 0..3 {
        for i in 0..GROUP {
            let [enter, leave] =
                [corners[0][k][i], corners[1][k][i]].map(|cell| cell.to_bits() & ((1 << SHORT_BITS) - 1));
            if *short {
                let mut bits = enter;
                bits = (bits | bits << 8) & 0x00_f00f;
                bits = (bits | bits << 4) & 0x0c_30c3;
                bits = (bits | bits << 2) & 0x24_9249;
                keys[i] |= bits << k;
                continue;
            }
            let spread = |cell: u32| cell & 1 | (cell & 2) << 5 | (cell & 4) << 10 | (cell & 8) << 15;
            let sign = columns[4 + k][i].to_bits() >> 31;
            keys[i] |= spread(enter) << k | spread(leave) << (k + 3) | sign << (6 * BITS as usize + k);
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
