//! Devices that flush subnormal numbers to 0, as SwiftShader and many GPUs do. Simulated on llvmpipe by edited shaders.

use umbracast::{Device, Precision, Query, Ray, Sphere};
use umbracast::{Points, SceneOptions, Segments, bench};

use crate::support::{Numbers, cpu, scaled};

/// An edit that flushes the inputs of the intersection function.
const FLUSH_INPUTS: (&str, &str) = (
    "fn scale(ray: Ray, sphere: Sphere) -> ScaledPair {",
    "fn flushed(v: vec3<f32>) -> vec3<f32> {
       return select(v, vec3<f32>(0.0), abs(v) < vec3<f32>(1.17549435e-38));
     }
     fn scale(given_ray: Ray, given_sphere: Sphere) -> ScaledPair {
       let ends = flushed(vec3<f32>(given_ray.t_min, given_ray.t_max, given_sphere.radius));
       let ray = Ray(flushed(given_ray.origin), ends.x, flushed(given_ray.direction), ends.y);
       let sphere = Sphere(flushed(given_sphere.center), ends.z);",
);

/// An edit that flushes the roots it returns.
const FLUSH_ROOTS: (&str, &str) =
    ("return bitcast<f32>((bits & 0x807fffffu) | (u32(e + 100) << 23u)) * power_of_two(-100);", "return 0.0;");

fn flushing() -> Vec<Device> {
    [FLUSH_INPUTS, FLUSH_ROOTS].map(|edit| pollster::block_on(Device::open_edited(0, edit)).unwrap()).into()
}

/// Pairs with coordinates of about `size` and directions of about `speed`: grazing rays, rays from inside, and misses.
fn pairs(size: f32, speed: f32, count: usize) -> (Vec<Sphere>, Vec<Ray>) {
    let n = &mut Numbers(count as u64 + size.to_bits() as u64);
    let pair = |i: usize| {
        let center = n.vector().map(|x| size * x);
        let radius = size * n.unit() * [1.0, 0.1, 0.6][i % 3];
        let from = n.vector().map(|x| size * x);
        let aside = n.vector();
        let aim: [f32; 3] = std::array::from_fn(|k| (center[k] - from[k]) / size + aside[k] * radius / size);
        (Sphere::new(center, radius), Ray::new(from, aim.map(|x| speed * x)))
    };
    let (spheres, rays): (Vec<Sphere>, Vec<Ray>) = (0..count).map(pair).unzip();
    let usable = |pair: &(Sphere, Ray)| pair.1.check().is_ok();
    spheres.into_iter().zip(rays).filter(usable).unzip()
}

/// Sizes and directions for which inputs or roots are subnormal.
const CASES: [(f32, f32); 6] = [(3e-38, 1.0), (2e-38, 1e-9), (5e-39, 1e-39), (1e-27, 1e14), (1.0, 1e38), (1e-34, 1e5)];

#[test]
fn exact_is_exact_on_devices_that_flush_subnormals() {
    let query = Query::at(Precision::Exact);
    for (device, edit) in flushing().iter().zip(["inputs flushed", "roots flushed"]) {
        for (size, speed) in CASES {
            let (spheres, rays) = pairs(size, speed, scaled(2000));
            let name = format!("{edit} {size:e} {speed:e}");
            // As pairs, so that every ray is near its sphere.
            let [tested, reference] =
                [device, &cpu()].map(|device| device.pairwise(&spheres, &Default::default()).unwrap());
            assert!(
                tested.closest(&rays, &query).unwrap().records == reference.closest(&rays, &query).unwrap().records,
                "{name}"
            );
            let few = &spheres[..300];
            for tree in [true, false] {
                let _tree = bench::use_tree(tree);
                let [tested, reference] =
                    [device, &cpu()].map(|device| device.scene(few, &SceneOptions::default()).unwrap());
                let found = |scene: &umbracast::Scene| {
                    let list = scene.nearest(&rays, 3, &query).unwrap();
                    let everything = scene.all(&rays, &query).unwrap();
                    (
                        scene.closest(&rays, &query).unwrap().records,
                        scene.interval(&rays, &query).unwrap().records,
                        scene.occluded(&rays, &query).unwrap().words,
                        scene.count(&rays, &query).unwrap().records,
                        scene.approach(&rays, &query).unwrap().records,
                        (list.offsets, list.records, everything.offsets, everything.records),
                    )
                };
                let (tested, expected) = (found(&tested), found(&reference));
                assert!(tested.0 == expected.0, "{name}: closest");
                assert!(tested.1 == expected.1, "{name}: interval");
                assert!(tested.2 == expected.2, "{name}: occluded");
                assert!(tested.3 == expected.3, "{name}: count");
                assert!(tested.4 == expected.4, "{name}: approach");
                assert!(tested.5 == expected.5, "{name}: lists");
            }
            let points: Vec<[f32; 3]> = rays.iter().map(|ray| ray.origin.into()).collect();
            let [tested, reference] =
                [device, &cpu()].map(|device| device.scene(few, &SceneOptions::default()).unwrap());
            let contained = |scene: &umbracast::Scene| scene.contains(Points::from(&points), &query).unwrap().records;
            assert!(contained(&tested) == contained(&reference), "{name}: contains");
            let segments = Segments::new(rays.iter().map(|ray| [ray.origin.into(), ray.point_at(2.0).into()]));
            let ends = |scene: &umbracast::Scene| scene.closest(&segments, &query).map(|hits| hits.records);
            assert!(ends(&tested) == ends(&reference), "{name}: segments");
        }
        // The probe has detected it.
        assert!(!device.probe().unwrap().subnormals, "{edit}");
        assert_eq!(device.probe().unwrap().failure, None, "{edit}");
    }
}

/// The pairs of two bug reports.
#[test]
fn pairs_of_bug_reports_give_the_exact_results() {
    let query = Query::at(Precision::Exact);
    let sphere = Sphere::new([1.801_062e-38, -1.279_432e-39, 7.964_28e-40], 6.103_11e-39);
    let ray = Ray::new([1.164_123e-38, 8.635_503e-39, 9.909_209e-39], [1.494_645_6e-9, -2.712_195e-9, -1.313_030_5e-9]);
    let small = (Sphere::new([3e-29, 0.0, 0.0], 1e-27), Ray::new([0.0; 3], [1e14, 0.0, 0.0]));
    for device in flushing() {
        for (sphere, ray) in [(sphere, ray), small] {
            let [tested, reference] =
                [&device, &cpu()].map(|device| device.scene(&[sphere], &SceneOptions::default()).unwrap());
            let [found, expected] = [tested, reference].map(|scene| scene.interval(&[ray], &query).unwrap().records);
            assert_eq!(found, expected);
        }
    }
}

/// Queries with numbers of ordinary magnitude are still computed by the device.
#[test]
fn ordinary_numbers_are_computed_by_the_device() {
    let (spheres, rays) = pairs(1.0, 3.0, 2000);
    for device in flushing() {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let before = device.buffers_made();
        let _ = scene.closest(&rays, &Query::at(Precision::Exact)).unwrap();
        assert!(device.buffers_made() > before, "the CPU engine answered");
    }
}
