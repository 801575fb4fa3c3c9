//! Small exact queries, which the CPU engine computes if `auto` chose a GPU.

use crate::support::{Numbers, devices};
use umbracast::{Device, Precision, Query, Ray, SceneOptions, Sphere};

/// Runs queries and asserts that exact results equal those of the CPU engine. Returns whether the device created buffers for them.
fn runs_on_device(device: &Device, spheres: &[Sphere], rays: &[Ray], precision: Precision) -> bool {
    let query = Query::at(precision);
    let scene = device.scene(spheres, &SceneOptions::default()).unwrap();
    let cpu = devices().iter().find(|device| device.is_cpu()).unwrap().scene(spheres, &SceneOptions::default());
    let (cpu, before) = (cpu.unwrap(), device.buffers_made());
    let hits = scene.closest(rays, &query).unwrap();
    let bits = scene.occluded(rays, &query).unwrap();
    assert!(hits.report.rays_hit > 0);
    if precision == Precision::Exact {
        let expected = cpu.closest(rays, &query).unwrap();
        assert_eq!(bytemuck::cast_slice::<_, u8>(&hits.records), bytemuck::cast_slice::<_, u8>(&expected.records));
        assert_eq!(bits.words, cpu.occluded(rays, &query).unwrap().words);
    }
    device.buffers_made() > before
}

#[test]
fn small_exact_queries_run_on_the_cpu_if_auto_chose_a_gpu() {
    let n = &mut Numbers(4);
    let spheres: Vec<Sphere> = (0..2000).map(|_| Sphere::new(n.vector(), 0.1)).collect();
    let rays: Vec<Ray> = (0..1 << 14).map(|_| Ray::new(n.vector(), n.vector())).collect();
    for index in 0..devices().len() - 1 {
        let open = || Device::open(&umbracast::DeviceOptions::new(index.to_string())).unwrap();
        let with_cpu = || pollster::block_on(open().with_cpu_for_few()).unwrap();
        // Queries reuse the buffers of earlier ones, hence a new device each time. 10³ pairs take a microsecond.
        assert!(!runs_on_device(&with_cpu(), &spheres[..100], &rays[..10], Precision::Exact));
        assert!(
            runs_on_device(&with_cpu(), &spheres[..100], &rays[..10], Precision::Standard),
            "standard must run on the device, because its last bits may differ"
        );
        assert!(runs_on_device(&with_cpu(), &spheres, &rays, Precision::Exact), "3e7 pairs must run on the device");
        assert!(
            runs_on_device(&open(), &spheres[..100], &rays[..10], Precision::Exact),
            "a device chosen by name must run the query"
        );
    }
}
