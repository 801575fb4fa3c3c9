//! Packets: their kernels against the slab test of single rays, and the results of coherent and of short rays against brute force.

use bytemuck::Zeroable;

use super::super::packet::{ActiveRays, PacketKind};
use super::super::ray_setup::{LANES, PreparedRay};
use super::super::stream::{ChildHits, LIST_GROUP, RayList};
use super::*;
use crate::cpu::accel::CpuBvh;
use crate::cpu::scene::CpuScene;
use crate::cpu::traverse::ray_order::{RayOrder, sample_order};
use crate::cpu::traverse::stream::tests::{hard_scenes, results};
use crate::numbers::Numbers;
use crate::query::kind as queries;
use crate::query::policy::{Precision, Query};
use crate::records::{Ray, Sphere};
use crate::runtime::cancel::CancelToken;

/// Rays of a picture of 256 x 32 pixels. Their directions have four octants.
fn picture() -> Vec<Ray> {
    let at = |i: i32| [(i % 256 - 128) as f32 * 0.002, (i / 256 - 16) as f32 * 0.015, 1.0];
    (0..256 * 32).map(|i| Ray::new([0.3, 0.2, -40.0], at(i))).collect()
}

/// Rays of a LiDAR with 64 channels, one azimuth after the other.
fn lidar() -> Vec<Ray> {
    let ray = |i: i32| {
        let azimuth = (i / 64) as f32 * (std::f32::consts::TAU / 128.0);
        Ray::new([0.1, 0.2, 0.3], [azimuth.cos(), azimuth.sin(), (i % 64) as f32 * 0.01 - 0.4])
    };
    (0..64 * 128).map(ray).collect()
}

/// Short rays from the surfaces of spheres.
fn short(spheres: &[Sphere], length: f32) -> Vec<Ray> {
    let mut numbers = Numbers(7);
    let ray = |i: usize| {
        let sphere = spheres[i * 31 % spheres.len()];
        let d: [f32; 3] = numbers.vector();
        let r = sphere.radius * 1.001 / (d.iter().map(|d| d * d).sum::<f32>().sqrt().max(1e-3));
        Ray::new(std::array::from_fn(|k| sphere.center.to_array()[k] + r * d[k]), d).between(0.0, length)
    };
    (0..5000).map(ray).collect()
}

fn spheres(count: usize, radius: f32) -> Vec<Sphere> {
    let mut numbers = Numbers(3);
    (0..count).map(|_| Sphere::new(numbers.vector().map(|x| 10.0 * x), radius)).collect()
}

fn bvh(spheres: &[Sphere], level: SimdLevel) -> CpuBvh {
    CpuBvh::new(spheres, level, &CancelToken::new()).unwrap()
}

#[test]
fn packets_give_the_results_of_brute_force() {
    for (count, radius) in [(1500, 0.4), (1500, 0.15), (300, 3.0)] {
        let spheres = spheres(count, radius);
        let batches = [
            (picture(), RayOrder::Coherent),
            (lidar(), RayOrder::CoherentPerOctant),
            (short(&spheres, 2.0), RayOrder::Short),
        ];
        for (rays, order) in batches {
            let brute = CpuScene::with(&spheres, None).unwrap();
            for (precision, levels) in
                [(Precision::Standard, SimdLevel::all()), (Precision::Exact, vec![SimdLevel::best()])]
            {
                let query = Query::at(precision);
                let wanted = (
                    results::<queries::Closest>(&brute, &rays, &query),
                    results::<queries::Occluded>(&brute, &rays, &query),
                );
                assert!(wanted.0.1 > 20, "{order:?} with radius {radius}: only {} hits", wanted.0.1);
                for level in levels {
                    let bvh = bvh(&spheres, level);
                    assert_eq!(sample_order(&bvh, rays.len(), |i| rays[i]), order, "radius {radius}");
                    let scene = CpuScene::with(&spheres, Some(bvh)).unwrap();
                    let found = (
                        results::<queries::Closest>(&scene, &rays, &query),
                        results::<queries::Occluded>(&scene, &rays, &query),
                    );
                    assert!(found == wanted, "{order:?}, radius {radius}, {precision:?}, {}", level.name());
                }
            }
        }
    }
}

#[test]
fn packets_of_hard_scenes_give_the_results_of_brute_force() {
    for hard in &hard_scenes::SCENES {
        let spheres = hard_scenes::spheres(hard, 700);
        // Neighbouring rays alike: each of a few rays 64 times, from slightly different origins.
        let rays: Vec<Ray> = hard_scenes::rays(&spheres, hard.2, 24)
            .iter()
            .flat_map(|ray| {
                (0..64).map(|i| {
                    let by = 1.0 + i as f32 * 1e-5;
                    Ray { origin: ray.origin * by, ..*ray }
                })
            })
            .collect();
        let query = Query::at(Precision::Standard);
        let brute = CpuScene::with(&spheres, None).unwrap();
        for level in SimdLevel::all() {
            let scene = CpuScene::with(&spheres, Some(bvh(&spheres, level))).unwrap();
            let [found, wanted] = [&scene, &brute].map(|scene| results::<queries::Closest>(scene, &rays, &query));
            assert!(found == wanted, "{}, {}", hard.0, level.name());
        }
    }
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
