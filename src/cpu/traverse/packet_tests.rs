//! Packets: their kernels against the slab test of single rays.

use super::super::leaf::{LeafHits, PacketHits, StartInside};
use super::super::packet::{ActiveRays, PacketKind};
use super::super::ray_setup::PreparedRay;
use super::super::ray_setup::tests::prepared;
use super::super::stream::{ChildHits, LIST_GROUP, RayList};
use super::*;
use crate::cpu::accel::CpuBvh;
use crate::cpu::traverse::ray_order::{RayOrder, sample_order};
use crate::numbers::Numbers;
use crate::records::{Ray, Sphere};
use crate::runtime::cancel::CancelToken;

/// Rays of a picture of 256 x 32 pixels. Their directions have four octants.
fn picture(z: f32) -> Vec<Ray> {
    let at = |i: i32| [(i % 256 - 128) as f32 * 0.002, (i / 256 - 16) as f32 * 0.015, 1.0];
    (0..256 * 32).map(|i| Ray::new([0.3, 0.2, z], at(i))).collect()
}

/// Rays as a packet, and one by one.
fn both(bvh: &CpuBvh, rays: &[Ray; PACKET_RAYS]) -> (Packet, Vec<PreparedRay>) {
    let mut packet = Packet::EMPTY;
    bvh.level.prepare_packet(&bvh.frame, rays, &mut packet, true);
    (packet, prepared(bvh.level, &bvh.frame, rays))
}

fn spheres(count: usize, radius: f32) -> Vec<Sphere> {
    let mut numbers = Numbers(3);
    (0..count).map(|_| Sphere::new(numbers.vector().map(|x| 10.0 * x), radius)).collect()
}

fn bvh(spheres: &[Sphere], level: SimdLevel) -> CpuBvh {
    CpuBvh::new(spheres, level, &CancelToken::new()).unwrap()
}

#[test]
fn a_child_that_any_ray_of_a_packet_enters_passes_the_interval_test() {
    let spheres = spheres(1000, 0.4);
    let rays = picture(-40.0);
    let list: [u32; PACKET_RAYS] = std::array::from_fn(|i| i as u32);
    for level in SimdLevel::all() {
        let bvh = bvh(&spheres, level);
        let (mut entered, mut rejected) = (0, 0);
        for rays in rays.as_chunks::<PACKET_RAYS>().0 {
            let (mut packet, prepared) = both(&bvh, rays);
            level.bound_packet(&mut packet, true, PACKET_RAYS);
            let Some(PacketKind::Octant(octant)) = packet.kind(false) else { continue };
            let s_far = std::array::from_fn(|i| prepared[i].far);
            for node in &bvh.tree.nodes {
                let children = level.packet_children(node, octant, &packet);
                let mut hits = ChildHits::default();
                level.intersect_children(node, octant, &prepared, &s_far, &list, &mut hits);
                assert_eq!(hits.any & !children, 0, "{}", level.name());
                entered += hits.any.count_ones();
                rejected += (children ^ 0xff).count_ones();
                for child in 0..WIDTH {
                    let inside = level.enter_child(node, child, octant, &packet, &s_far, u64::MAX);
                    let active: Vec<u32> = ActiveRays { first: 0, mask: inside }.collect();
                    for shortened in [false, true] {
                        let (list, mut entering) = (RayList::new(&list, PACKET_RAYS), [0; LIST_GROUP]);
                        let count = level.compact(&hits, child, list, &s_far, shortened, &mut entering);
                        assert_eq!(entering[..count], active, "{}", level.name());
                    }
                }
            }
        }
        assert!(entered > 1000 && rejected > 1000, "{entered} {rejected}");
    }
}

/// The numbers of a ray, a sphere and its positions, of all candidates of a leaf test, in order; and whether they are certain.
type Found = Vec<(u32, u32, [u32; 2], bool)>;

#[test]
fn a_packet_finds_in_leaves_what_its_rays_find_alone() {
    let spheres = spheres(1000, 0.4);
    let mut numbers = Numbers(5);
    for level in SimdLevel::all() {
        let bvh = bvh(&spheres, level);
        let (mut found_by, mut certain_of) = ([0; 2], 0);
        let rays = [picture(-40.0), picture(0.1)].concat();
        for rays in rays.as_chunks::<PACKET_RAYS>().0.iter().step_by(4) {
            let (packet, prepared) = both(&bvh, rays);
            let s_far = std::array::from_fn(|i| prepared[i].far.min(numbers.unit()));
            for (leaf, inside) in bvh.tree.leaves.iter().flat_map(|leaf| {
                use StartInside::{HitAtExit, HitAtStart, Ignored, Undecided};
                [Undecided, HitAtStart, HitAtExit, Ignored].map(|inside| (leaf, inside))
            }) {
                let active = numbers.word();
                let list: Vec<u32> = ActiveRays { first: 0, mask: active }.collect();
                let mut alone = [LeafHits::NONE; PACKET_RAYS];
                let count = level.cull_leaf(leaf, &prepared, &s_far, &list, inside, &mut alone);
                let bits = |low: &[f32], high: &[f32], k: u32| [low[k as usize].to_bits(), high[k as usize].to_bits()];
                let mut expected: Found = alone[..count]
                    .iter()
                    .flat_map(|hits| {
                        let spheres = ActiveRays { first: 0, mask: hits.candidates.into() };
                        spheres.map(|k| (hits.ray, k, bits(&hits.low, &hits.high, k), hits.certain >> k & 1 == 1))
                    })
                    .collect();
                let mut together = [PacketHits::NONE; PacketHits::MAX];
                let count = level.cull_packet_leaf(leaf, &packet, &s_far, active, inside, &mut together);
                let mut found: Found = together[..count]
                    .iter()
                    .flat_map(|hits| {
                        let rays = ActiveRays { first: 0, mask: hits.candidates };
                        rays.map(|i| {
                            let certain = hits.certain >> i & 1 == 1;
                            (hits.first + i, hits.lane, bits(&hits.low, &hits.high, i), certain)
                        })
                    })
                    .collect();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "{} {inside:?}", level.name());
                found_by[usize::from(rays[0].origin.z > 0.0)] += found.len();
                certain_of += found.iter().filter(|found| found.3).count();
            }
        }
        assert!(found_by.iter().all(|&found| found > 1000) && certain_of > 1000, "{found_by:?} {certain_of}");
    }
}

#[test]
fn a_lidar_alternates_between_octants() {
    let beam = |i: usize| {
        let azimuth = (i / 64) as f32 * (std::f32::consts::TAU / 128.0);
        Ray::new([0.1, 0.2, 0.3], [azimuth.cos(), azimuth.sin(), (i % 64) as f32 * 0.01 - 0.4])
    };
    let bvh = bvh(&spheres(1500, 0.4), SimdLevel::best());
    assert_eq!(sample_order(&bvh, 64 * 128, beam), RayOrder::CoherentPerOctant);
    let picture = picture(-40.0);
    assert_eq!(sample_order(&bvh, picture.len(), |i| picture[i]), RayOrder::Coherent);
}
