//! Prepared rays in the tests of AABBs and leaves, with grazing pairs, against exact arithmetic and both intersection tests.

use bytemuck::Zeroable;
use glam::{Vec3, Vec3A};
use proptest::prelude::*;

use super::*;
use crate::bvh::bvh8::node::{Bounds, BuildItem, Bvh8Node, Child, Leaf8, WIDTH};
use crate::cpu::accel::build_item;
use crate::cpu::frame::tests::{property_cases, scene};
use crate::cpu::traverse::leaf::{LeafHits, PacketHits, StartInside};
use crate::cpu::traverse::packet::PACKET_RAYS;
use crate::cpu::traverse::stream::ChildHits;
use crate::intersect::classify::{HitClass, classify};
use crate::intersect::motion::Target;
use crate::intersect::resolve::{intersect, resolve_pair, with_finite_ends};
use crate::numbers::Numbers;
use crate::query::policy::{Inside, Precision, Query, Touch};
use crate::records::Sphere;

/// Prepares rays for lists of them; the last eight are padded.
pub(crate) fn prepared(level: SimdLevel, frame: &CpuFrame, rays: &[Ray]) -> Vec<PreparedRay> {
    let mut prepared = vec![PreparedRay::zeroed(); rays.len().next_multiple_of(LANES)];
    let mut packet = Packet::EMPTY;
    for (rays, prepared) in rays.chunks(PACKET_RAYS).zip(prepared.chunks_mut(PACKET_RAYS)) {
        level.prepare_packet(frame, rays, &mut packet, false);
        for (group, prepared) in prepared.as_chunks_mut().0.iter_mut().enumerate() {
            level.copy_group(&packet, group, prepared);
        }
    }
    prepared
}

/// A leaf of at most eight spheres, and a node whose children are the AABBs of these spheres, without the allowance of a build.
fn leaf_and_node(frame: &CpuFrame, spheres: &[Sphere]) -> (Leaf8, Bvh8Node) {
    let items: Vec<BuildItem> = spheres.iter().map(|sphere| build_item(frame, 0, sphere)).collect();
    let children = items.iter().map(|item| {
        let (c, r) = (Vec3A::from_array(item.center), Vec3A::splat(item.padded_radius));
        (Bounds { low: c - r, high: c + r }, Child(Child::LEAF))
    });
    (Leaf8::new(&items).0, Bvh8Node::of(&children.collect::<Vec<_>>()))
}

/// Whether a query reports a hit at any precision, under the policies that report most.
fn is_hit(ray: &Ray, sphere: &Sphere) -> bool {
    let target = Target::at_rest(sphere);
    [Inside::Enter, Inside::Exit].into_iter().any(|inside| {
        let query = Query { inside, touch: Touch::Hit, ..Query::at(Precision::Standard) };
        let solved = intersect(ray, target);
        resolve_pair(ray, target, &query).0 == HitClass::Hit
            || classify(&solved, &with_finite_ends(ray), &query, false).class == HitClass::Hit
    })
}

/// What the tests say of a ray and eight spheres: masks of those whose AABB it enters, of candidates, and of certain hits. In a packet the ray
/// has number 13.
fn masks(
    level: SimdLevel,
    (frame, ray, prepared): (&CpuFrame, &Ray, &[PreparedRay]),
    (leaf, node): &(Leaf8, Bvh8Node),
    packed: bool,
) -> [u32; 3] {
    let (s_far, mut hits, mut entered) = (prepared[0].far, LeafHits::NONE, ChildHits::default());
    level.intersect_children(node, prepared[0].octant(), prepared, &[s_far], &[0], &mut entered);
    let inside = StartInside::Undecided;
    let [mut candidates, mut certain] = [0; 2];
    if packed {
        let (mut packet, mut hits) = (Packet::EMPTY, [PacketHits::NONE; PacketHits::MAX]);
        level.prepare_packet(frame, &[*ray; 14], &mut packet, false);
        let count = level.cull_packet_leaf(leaf, &packet, &[s_far; PACKET_RAYS], 1 << 13, inside, &mut hits);
        for PacketHits { first, lane, candidates: rays, certain: sure, .. } in &hits[..count] {
            assert_eq!(*rays << first, 1 << 13);
            candidates |= 1 << lane;
            certain |= u32::from(*sure != 0) << lane;
        }
    } else if level.cull_leaf(leaf, prepared, &[s_far], &[0], inside, std::slice::from_mut(&mut hits)) == 1 {
        LeafHits { candidates, certain, .. } = hits;
    }
    [entered.any as u32, candidates, certain]
}

fn check(ray: &Ray, spheres: &[Sphere]) -> Result<(), TestCaseError> {
    let frame = CpuFrame::of(spheres);
    for level in SimdLevel::all() {
        let prepared = prepared(level, &frame, &[*ray]);
        if prepared[0].margin == f32::INFINITY {
            continue;
        }
        for eight in spheres.chunks(WIDTH) {
            let kernels = leaf_and_node(&frame, eight);
            for packet in [false, true] {
                let [entered, candidates, certain] = masks(level, (&frame, ray, &prepared), &kernels, packet);
                for (k, sphere) in eight.iter().enumerate() {
                    let what = || format!("{}: {ray:?} {sphere:?}", level.name());
                    let has = |mask: u32| mask >> k & 1 == 1;
                    if !has(entered) || !has(candidates) {
                        prop_assert!(!is_hit(ray, sphere), "left out: {}", what());
                    }
                    if has(certain) {
                        let query =
                            Query { inside: Inside::Ignore, touch: Touch::Miss, ..Query::at(Precision::Standard) };
                        let (class, _) = resolve_pair(ray, Target::at_rest(sphere), &query);
                        prop_assert!(class == HitClass::Hit, "not certain: {}", what());
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn rays_of_a_packet_are_prepared_like_each_of_them_alone() {
    let mut n = Numbers(11);
    let spheres: Vec<Sphere> = (0..9).map(|_| Sphere::new(Vec3::from(n.vector()), n.unit())).collect();
    let frame = CpuFrame::of(&spheres);
    let rays: [Ray; 2 * PACKET_RAYS - 3] = std::array::from_fn(|_| {
        let ray = Ray::new(Vec3::from(n.vector()) * 3.0, Vec3::from(n.vector()));
        ray.between(n.signed(), 2.0 + n.unit())
    });
    for level in SimdLevel::all() {
        for (ray, together) in rays.iter().zip(prepared(level, &frame, &rays)) {
            let alone = prepared(level, &frame, &[*ray])[0];
            assert_eq!(bytemuck::bytes_of(&together), bytemuck::bytes_of(&alone), "{}", level.name());
            assert_eq!(bytemuck::bytes_of(&together), bytemuck::bytes_of(&level.prepare_ray(&frame, ray)));
        }
    }
}

#[test]
fn the_inverse_root_is_as_accurate_as_stated() {
    let mut n = Numbers(5);
    for exponent in -300..257 {
        let x: Lane = std::array::from_fn(|_| (1.0 + f64::from(n.unit())) * 2.0_f64.powi(exponent));
        for (x, y) in x.iter().zip(inverse_root(&x)) {
            let relative = y * y * x - 1.0;
            assert!(relative.abs() < 2.0_f64.powi(-33), "{x}: {relative}");
        }
    }
}

proptest! {
    #![proptest_config(property_cases())]

    #[test]
    fn spheres_that_the_tests_leave_out_are_misses((ray, spheres) in scene()) {
        check(&ray, &spheres)?;
    }
}
