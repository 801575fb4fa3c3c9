//! wgpu devices of the caller, and devices that are lost, time out, run out of memory or have small limits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use umbracast::wgpu;
use umbracast::{CancelToken, Device, DeviceOptions, Error, Limits, Precision, Query, Ray, SceneOptions, Sphere};
use umbracast::{required_features, required_limits};
use umbracast_testing::child::run_alone;
use umbracast_testing::{Numbers, adapters};

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
fn a_device_of_the_caller_gives_the_same_results() {
    let (spheres, rays) = work();
    let cpu = umbracast_testing::cpu().scene(&spheres, &SceneOptions::default()).unwrap();
    let expected = cpu.closest(&rays, &Query::at(Precision::Exact)).unwrap().records;
    for adapter in adapters() {
        let (device, queue) = own_device(&adapter);
        let ours = Device::from_wgpu(device.clone(), queue).unwrap();
        assert_eq!(ours.name(), adapter.get_info().name);
        let scene = ours.scene(&spheres, &SceneOptions::default()).unwrap();
        assert_eq!(scene.closest(&rays, &Query::at(Precision::Exact)).unwrap().records, expected);
        drop((scene, ours));
        // The device still belongs to the caller and still works.
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

/// A callback of the caller may call this library again. On a thread of ours that polls, it would then wait for itself.
#[test]
fn callbacks_of_the_caller_may_query_and_run_on_the_caller_s_threads() {
    // In a process of its own: other tests open devices that a thread of ours polls.
    if std::env::var_os("UMBRACAST_TEST_CALLBACKS").is_none() {
        let name = concat!(module_path!(), "::callbacks_of_the_caller_may_query_and_run_on_the_caller_s_threads");
        run_alone(name, "UMBRACAST_TEST_CALLBACKS", "1");
        return;
    }
    let (spheres, rays) = work();
    for adapter in adapters() {
        let (device, queue) = own_device(&adapter);
        let ours = Device::from_wgpu(device.clone(), queue.clone()).unwrap();
        let scene = ours.scene(&spheres, &SceneOptions::default()).unwrap();
        let expected = scene.closest(&rays, &Query::at(Precision::Exact)).unwrap().records;
        // Several, because the query polls the device once or more.
        let (ran, calls) = std::sync::mpsc::channel();
        for _ in 0..4 {
            let (again, again_rays, ran) = (scene.clone(), rays.clone(), ran.clone());
            queue.on_submitted_work_done(move || {
                let inner = again.closest(&again_rays, &Query::at(Precision::Exact)).unwrap().records;
                ran.send((std::thread::current().id(), inner)).unwrap();
            });
            let outer = scene.closest(&rays, &Query::at(Precision::Exact)).unwrap().records;
            assert_eq!(outer, expected);
        }
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        drop(ran);
        let calls: Vec<_> = calls.iter().collect();
        assert_eq!(calls.len(), 4);
        for (thread, inner) in calls {
            assert_eq!(thread, std::thread::current().id(), "a callback ran on another thread");
            assert_eq!(inner, expected);
        }
        #[cfg(target_os = "linux")]
        for thread in std::fs::read_dir("/proc/self/task").unwrap() {
            let name = std::fs::read_to_string(thread.unwrap().path().join("comm")).unwrap_or_default();
            assert_ne!(name.trim(), "umbracast-poll");
        }
    }
}

#[test]
fn async_calls_on_a_device_of_the_caller_let_other_futures_run() {
    use std::task::{Context, Poll, Waker};

    let (spheres, rays) = work();
    let rays = rays.repeat(20);
    for adapter in adapters() {
        let (device, queue) = own_device(&adapter);
        let ours = Device::from_wgpu(device, queue).unwrap();
        let scene = ours.scene(&spheres, &SceneOptions::default()).unwrap();
        let query = Query::at(Precision::Standard);
        let mut cast = std::pin::pin!(scene.cast_async(umbracast::queries::Closest, &rays, &query));
        let mut turns = 0;
        let records = loop {
            match cast.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(done) => break done.unwrap().records,
                Poll::Pending => turns += 1,
            }
        };
        // A GPU may be done within the first millisecond, and llvmpipe computes during the submission.
        let slow = adapter.get_info().name.contains("SwiftShader");
        assert!(turns > 0 || !slow, "the future never gave its thread back");
        assert_eq!(records, scene.closest(&rays, &query).unwrap().records);
    }
}

#[test]
fn shaders_without_subgroups_give_the_same_results() {
    // Software adapters are opened with subgroups, whose threads load spheres for one another. Hardware adapters are opened without.
    let (spheres, rays) = work();
    let mut compared = 0;
    for adapter in adapters() {
        if !required_features(&adapter).contains(wgpu::Features::SUBGROUP) {
            continue;
        }
        compared += 1;
        let devices = [wgpu::Features::empty(), required_features(&adapter)].map(|features| {
            let description = wgpu::DeviceDescriptor {
                required_features: features,
                required_limits: required_limits(&adapter),
                ..Default::default()
            };
            let (device, queue) = pollster::block_on(adapter.request_device(&description)).unwrap();
            Device::from_wgpu(device, queue).unwrap()
        });
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let [alone, shared] = devices.each_ref().map(|device| {
                let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
                (
                    scene.closest(&rays, &query).unwrap().records,
                    scene.occluded(&rays, &query).unwrap().words,
                    scene.approach(&rays, &query).unwrap().records,
                )
            });
            assert!(alone.0.iter().any(|hit| hit.is_hit()));
            assert!(alone == shared, "{} {precision:?}", adapter.get_info().name);
        }
    }
    if compared == 0 {
        println!(
            "NOT TESTED: programs with and without subgroups, because there is no software adapter with subgroups (llvmpipe)"
        );
    }
}

#[test]
fn a_destroyed_device_is_reported_as_lost() {
    let (spheres, rays) = work();
    for adapter in adapters() {
        let (device, queue) = own_device(&adapter);
        let ours = Device::from_wgpu(device.clone(), queue).unwrap();
        let scene = ours.scene(&spheres, &SceneOptions::default()).unwrap();
        let _ = scene.closest(&rays, &Query::at(Precision::Standard)).unwrap();
        device.destroy();
        for error in [
            scene.closest(&rays, &Query::at(Precision::Standard)).err(),
            scene.occluded(&rays, &Query::at(Precision::Standard)).err(),
            ours.scene(&spheres, &SceneOptions::default()).err(),
        ] {
            let error = error.expect("the call succeeded on a destroyed device");
            assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
        }
    }
}

#[test]
fn a_device_destroyed_during_a_query_is_reported_as_lost() {
    // Two million rays, so that the device is destroyed while chunks are in flight.
    let (spheres, rays) = work();
    let rays = rays.repeat(400);
    for adapter in adapters() {
        for occluded in [false, true] {
            let (device, queue) = own_device(&adapter);
            let ours = Device::from_wgpu(device.clone(), queue).unwrap();
            let watch = CancelToken::new();
            let scene = ours.scene(&spheres, &SceneOptions::default()).unwrap().with_cancel(&watch);
            let ended = AtomicBool::new(false);
            let error = std::thread::scope(|threads| {
                threads.spawn(|| {
                    while watch.done() == 0 && !ended.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                    device.destroy();
                });
                let error = if occluded {
                    scene.occluded(&rays, &Query::at(Precision::Standard)).err()
                } else {
                    scene.closest(&rays, &Query::at(Precision::Standard)).err()
                };
                ended.store(true, Ordering::Relaxed);
                error
            });
            assert!(watch.done() > 0 && watch.done() < rays.len() as u64, "{} rays were done", watch.done());
            let error = error.expect("the call succeeded on a destroyed device");
            assert!(matches!(error, Error::DeviceLost { .. }), "{error:?}");
            println!("after {} rays: {error}", watch.done());
        }
    }
}

#[test]
fn a_timeout_is_an_error_and_the_device_stays_usable() {
    let (spheres, rays) = work();
    let query = Query::at(Precision::Standard);
    for (index, device) in umbracast_testing::devices().iter().enumerate().filter(|(_, device)| !device.is_cpu()) {
        let mut limits = Limits::default();
        let limit = Duration::from_nanos(1);
        limits.patience = Some(limit);
        let hasty = Device::open(&DeviceOptions::new(index.to_string()).limits(limits)).unwrap();
        // A hardware GPU would be done before anybody waits.
        let more = if device.kind() == "software" { 1 } else { 64 };
        let (spheres, rays) = (spheres.repeat(more), rays.repeat(more));
        let scene = hasty.scene(&spheres, &SceneOptions::default().tree_from(usize::MAX)).unwrap();
        for error in [scene.closest(&rays, &query).err(), scene.occluded(&rays, &query).err()] {
            let error = error.expect("the call took less than a nanosecond");
            assert_eq!(error, Error::TimedOut { device: device.name().into(), limit });
            println!("{error}");
        }
        let patient = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let _ = patient.closest(&rays, &query).unwrap();
    }
}

/// A driver without memory: the child process limits its address space to little more than the driver already uses.
#[test]
#[cfg(target_os = "linux")]
fn out_of_device_memory_is_an_error() {
    if let Ok(index) = std::env::var("UMBRACAST_TEST_STARVED") {
        let spheres: Vec<Sphere> = vec![Sphere::new([0.0; 3], 1.0); 6_000_000];
        let device = Device::open(&DeviceOptions::new(index)).unwrap();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let used = status.lines().find(|line| line.starts_with("VmSize:")).unwrap();
        let used: u64 = used.split_whitespace().nth(1).unwrap().parse().unwrap();
        // 40 MiB more than is used now. The list of spheres (96 MB) is allocated already, and a further copy does not fit.
        let limit = (used << 10) + (40 << 20);
        let done = std::process::Command::new("prlimit")
            .args([format!("--as={limit}"), format!("--pid={}", std::process::id())])
            .status()
            .unwrap();
        assert!(done.success());
        let error = device.scene(&spheres, &SceneOptions::default()).map(|_| ()).unwrap_err();
        println!("{error}");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error:?}");
        return;
    }
    for (index, device) in umbracast_testing::devices().iter().enumerate() {
        let name = concat!(module_path!(), "::out_of_device_memory_is_an_error");
        println!("{}: {}", device.name(), run_alone(name, "UMBRACAST_TEST_STARVED", &index.to_string()));
    }
}

#[test]
fn a_device_with_small_buffers_works_in_chunks() {
    let (spheres, rays) = work();
    let rays = rays.repeat(20);
    let cpu = umbracast_testing::cpu().scene(&spheres, &SceneOptions::default()).unwrap();
    let expected = cpu.closest(&rays, &Query::at(Precision::Exact)).unwrap().records;
    for adapter in adapters() {
        let bytes = 1 << 20;
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_limits: wgpu::Limits {
                max_buffer_size: bytes,
                max_storage_buffer_binding_size: bytes,
                ..wgpu::Limits::default()
            },
            ..Default::default()
        }))
        .unwrap();
        let ours = Device::from_wgpu(device, queue).unwrap();
        let scene = ours.scene(&spheres, &SceneOptions::default()).unwrap();
        // Repeated until the measured throughput allows chunks of the largest size.
        for _ in 0..6 {
            assert_eq!(scene.closest(&rays, &Query::at(Precision::Exact)).unwrap().records, expected);
        }
    }
}

#[test]
fn a_device_below_the_required_limits_is_refused() {
    for adapter in adapters() {
        let device = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_limits: wgpu::Limits { max_compute_invocations_per_workgroup: 32, ..wgpu::Limits::default() },
            ..Default::default()
        }));
        let (device, queue) = device.unwrap();
        let error = Device::from_wgpu(device, queue)
            .expect_err("the device was accepted, but 64 threads per workgroup are required");
        assert!(matches!(error, Error::DeviceFailed { .. }), "{error:?}");
    }
}
