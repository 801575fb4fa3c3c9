//! The host's scene of a GPU.

use glam::Vec3;

use super::*;
use crate::batch::input::Spheres;
use crate::batch::sphere_set::SphereSet;
use crate::cpu::accel::CpuBvh;
use crate::cpu::query::kinds as queries;
use crate::cpu::scene::CpuScene;
use crate::numbers::Numbers;
use crate::query::policy::Precision;
use crate::runtime::cancel::CancelToken;

#[test]
fn a_scene_of_a_gpu_has_a_bvh_once_many_rays_are_undecided() {
    let n = &mut Numbers(9);
    let spheres: Vec<Sphere> = (0..300).map(|_| Sphere::new(n.vector(), 0.3 * n.unit())).collect();
    let rays: Vec<Ray> = (0..200).map(|_| Ray::new(n.vector(), n.vector()).line()).collect();
    let masks: Vec<u32> = (0..300).map(|i| 1 << (i % 3)).collect();
    let velocities: Vec<Vec3> = (0..300).map(|_| Vec3::from(n.vector())).collect();
    let (set, cancel) = (Spheres::from(&spheres).masks(&masks).velocities(&velocities), CancelToken::new());
    let set = SphereSet::new(&set, SphereAttributes::default(), [0.0, 4.0], &cancel).unwrap();
    let scene = CpuScene::for_device(true, SimdLevel::best(), set, false).unwrap();
    let query = Query::at(Precision::Exact);
    let attributes = RayAttributes { time: 3.0, mask: 5, ..RayAttributes::NONE };
    let one = |ray| scene.cast_one::<queries::Closest>(0, ray, attributes, &query).unwrap().record;
    let cast = || rays.iter().map(one).collect::<Vec<_>>();
    let plain = cast();
    assert!(plain.iter().filter(|hit| hit.is_hit()).count() > 50);
    scene.expect_rays(1);
    assert!(scene.spheres().bvh.is_none());
    scene.expect_rays(1000);
    assert!(scene.spheres().bvh.is_some());
    assert_eq!(cast(), plain);
}

/// With the debug assertions of the BVH.
#[test]
fn moving_spheres_are_updated() {
    let n = &mut Numbers(3);
    let cancel = CancelToken::new();
    let spheres: Vec<Sphere> = (0..300).map(|_| Sphere::new(n.vector(), 0.3 * n.unit())).collect();
    let moved: Vec<_> = spheres.iter().map(|sphere| Sphere::new(sphere.center + 0.01, sphere.radius)).collect();
    let velocities: Vec<Vec3> = (0..300).map(|_| Vec3::from(n.vector())).collect();
    let set = |spheres| {
        let set = Spheres::from(spheres).velocities(&velocities);
        SphereSet::new(&set, SphereAttributes::default(), [0.0, 4.0], &cancel).unwrap()
    };
    let bvh = CpuBvh::of(&set(&spheres), SimdLevel::best()).unwrap();
    let (updated, _) = bvh.updated(&set(&moved)).unwrap();
    assert_eq!(updated.tree.ids, bvh.tree.ids, "refitted");
}
