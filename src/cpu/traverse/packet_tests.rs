//! Packets: their kernels against the slab test of single rays.

use bytemuck::Zeroable;

use super::super::packet::{ActiveRays, PacketKind};
use super::super::ray_setup::{LANES, PreparedRay};
use super::super::stream::{ChildHits, LIST_GROUP, RayList};
use super::*;
use crate::cpu::accel::CpuBvh;
use crate::cpu::traverse::ray_order::{RayOrder, sample_order};
use crate::numbers::Numbers;
use crate::records::{Ray, Sphere};
use crate::runtime::cancel::CancelToken;

/// Rays of a picture of 256 x 32 pixels. Their directions have four octants.
fn picture() -> Vec<Ray> {
    let at = |i: i32| [(i % 256 - 128) as f32 * 0.002, (i / 256 - 16) as f32 * 0.015, 1.0];
    (0..256 * 32).map(|i| Ray::new([0.3, 0.2, -40.0], at(i))).collect()
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
    let rays = picture();
    let list: [u32; PACKET_RAYS] = std::array::from_fn(|i| i as u32);
    for level in SimdLevel::all() {
        let bvh = bvh(&spheres, level);
        let (mut entered, mut rejected) = (0, 0);
        for rays in rays.as_chunks::<PACKET_RAYS>().0 {
            let (mut packet, mut prepared) = (Packet::zeroed(), [PreparedRay::zeroed(); PACKET_RAYS]);
            for (n, (rays, prepared)) in rays.as_chunks().0.iter().zip(prepared.as_chunks_mut().0).enumerate() {
                let packet = Some((&mut packet, n * LANES, true));
                level.prepare_rays(&bvh.frame, rays, prepared, packet);
            }
            level.bound_packet(&mut packet, COLUMNS, PACKET_RAYS);
            let Some(PacketKind::Octant(octant)) = packet.kind(false) else { continue };
            let s_far = prepared.map(|ray| ray.far);
            for node in &bvh.tree.nodes {
                let children = level.packet_children(node, octant, &packet);
                let mut hits = ChildHits::default();
                level.intersect_children(node, octant, &prepared, &s_far, &list, &mut hits);
                assert_eq!(hits.any & !children, 0, "{}", level.name());
                entered += hits.any.count_ones();
                rejected += (children ^ 0xff).count_ones();
                for child in 0..WIDTH {
                    let inside = level.enter_child(node, child, octant, &packet, &s_far, u64::MAX);
                    let mut entering = [0; PACKET_RAYS + LIST_GROUP];
                    let count =
                        level.compact(&hits, child, RayList::new(&list, PACKET_RAYS), &s_far, false, &mut entering);
                    let active: Vec<u32> = ActiveRays { first: 0, mask: inside }.collect();
                    assert_eq!(entering[..count], active, "{}", level.name());
                }
            }
        }
        assert!(entered > 1000 && rejected > 1000, "{entered} {rejected}");
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
    let picture = picture();
    assert_eq!(sample_order(&bvh, picture.len(), |i| picture[i]), RayOrder::Coherent);
}
