//! Devices that belong to the caller, and devices that go away.

mod common;

use common::Numbers;
use umbracast::wgpu;
use umbracast::{Device, Error, Query, Ray, SceneOptions, Sphere, blocking, required_features, required_limits};

fn adapters() -> Vec<wgpu::Adapter> {
    let mut description = wgpu::InstanceDescriptor::new_without_display_handle();
    description.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let found = pollster::block_on(wgpu::Instance::new(description).enumerate_adapters(wgpu::Backends::all()));
    assert!(!found.is_empty(), "no GPU adapter: run tests/run.sh, or apt-get install mesa-vulkan-drivers");
    found
}

fn own_device(adapter: &wgpu::Adapter) -> (wgpu::Device, wgpu::Queue) {
    pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: required_features(adapter),
        required_limits: required_limits(adapter),
        ..Default::default()
    }))
    .unwrap()
}

fn work() -> (Vec<Sphere>, Vec<Ray>) {
    let mut n = Numbers(5);
    let spheres = (0..500).map(|_| Sphere::new(n.vector(), 0.1)).collect();
    let rays = (0..5000).map(|_| Ray::new(n.vector(), n.vector())).collect();
    (spheres, rays)
}

#[test]
fn a_device_of_the_callers_gives_the_same_answers() {
    let (spheres, rays) = work();
    let cpu = blocking::scene(&common::cpu(), &spheres, &SceneOptions::default()).unwrap();
    let expected = blocking::closest(&cpu, &rays, &Query::default()).unwrap().records;
    for adapter in adapters() {
        let (device, queue) = own_device(&adapter);
        let ours = blocking::from_wgpu(device.clone(), queue).unwrap();
        assert_eq!(ours.name(), adapter.get_info().name);
        let scene = blocking::scene(&ours, &spheres, &SceneOptions::default()).unwrap();
        assert_eq!(blocking::closest(&scene, &rays, &Query::default()).unwrap().records, expected);
        drop((scene, ours));
        // Still the caller's, and still usable.
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let _ = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        assert!(pollster::block_on(scope.pop()).is_none());
    }
}

#[test]
fn a_destroyed_device_is_an_error_and_no_panic() {
    let (spheres, rays) = work();
    for adapter in adapters() {
        let (device, queue) = own_device(&adapter);
        let ours = blocking::from_wgpu(device.clone(), queue).unwrap();
        let scene = blocking::scene(&ours, &spheres, &SceneOptions::default()).unwrap();
        let _ = blocking::closest(&scene, &rays, &Query::default()).unwrap();
        device.destroy();
        for error in [
            blocking::closest(&scene, &rays, &Query::default()).err(),
            blocking::occluded(&scene, &rays, &Query::default()).err(),
            blocking::scene(&ours, &spheres, &SceneOptions::default()).err(),
        ] {
            let error = error.expect("a destroyed device answers nothing");
            assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
            assert_eq!(error.exit_code(), 4);
        }
    }
}

#[test]
fn a_device_too_small_is_refused_and_does_not_panic() {
    for adapter in adapters() {
        let device = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_limits: wgpu::Limits { max_compute_invocations_per_workgroup: 32, ..wgpu::Limits::default() },
            ..Default::default()
        }));
        let (device, queue) = device.unwrap();
        let error =
            pollster::block_on(Device::from_wgpu(device, queue)).err().expect("64 threads a workgroup are needed");
        assert!(matches!(error, Error::DeviceFailed { .. }), "{error:?}");
    }
}
