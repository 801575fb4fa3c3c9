//! Small exact queries, which the CPU engine computes if `auto` chose a GPU.

use crate::support::{Numbers, devices};
use umbracast::{Device, Precision, Query, Ray, SceneOptions, Sphere, blocking};

/// Runs queries and asserts that exact results equal those of the CPU engine. Returns whether the device created buffers for them.
fn asks_it(device: &Device, spheres: &[Sphere], rays: &[Ray], precision: Precision) -> bool {
    let query = Query::at(precision);
    let scene = blocking::scene(device, spheres, &SceneOptions::default()).unwrap();
    let cpu =
        blocking::scene(devices().iter().find(|device| device.is_cpu()).unwrap(), spheres, &SceneOptions::default());
    let (cpu, before) = (cpu.unwrap(), device.buffers_made());
    let hits = blocking::closest(&scene, rays, &query).unwrap();
    let bits = blocking::occluded(&scene, rays, &query).unwrap();
    assert!(hits.report.hits > 0);
    if precision == Precision::Exact {
        let expected = blocking::closest(&cpu, rays, &query).unwrap();
        assert_eq!(bytemuck::cast_slice::<_, u8>(&hits.records), bytemuck::cast_slice::<_, u8>(&expected.records));
        assert_eq!(bits.words, blocking::occluded(&cpu, rays, &query).unwrap().words);
    }
    device.buffers_made() > before
}

#[test]
fn small_exact_queries_run_on_the_cpu_if_auto_chose_a_gpu() {
    let n = &mut Numbers(4);
    let spheres: Vec<Sphere> = (0..2000).map(|_| Sphere::new(n.vector(), 0.1)).collect();
    let rays: Vec<Ray> = (0..1 << 14).map(|_| Ray::new(n.vector(), n.vector())).collect();
    for index in 0..devices().len() - 1 {
        let open = || blocking::open(&umbracast::DeviceOptions::new(index.to_string())).unwrap();
        let sparing = || pollster::block_on(open().with_cpu_for_few()).unwrap();
        // Queries reuse the buffers of earlier ones, hence a new device each time. 10³ pairs take a microsecond.
        assert!(!asks_it(&sparing(), &spheres[..100], &rays[..10], Precision::Exact));
        assert!(
            asks_it(&sparing(), &spheres[..100], &rays[..10], Precision::Standard),
            "answers may differ in last bits"
        );
        assert!(asks_it(&sparing(), &spheres, &rays, Precision::Exact), "3e7 pairs are not few");
        assert!(asks_it(&open(), &spheres[..100], &rays[..10], Precision::Exact), "chosen by name");
    }
}
