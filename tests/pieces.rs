//! Batches in parts: numbering, watching and stopping.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use umbracast::{Error, Hit, Query, Ray, Rays, Sphere, Watch, blocking};

/// Spheres in a row along x, rays down on every one of them and beside it.
fn row(count: usize) -> (Vec<Sphere>, Vec<Ray>) {
    let sphere = |i: usize| Sphere::new([3.0 * i as f32, 0.0, 0.0], 1.0);
    let ray = |i: usize| Ray::new([3.0 * i as f32 + (i % 3) as f32, 0.0, 5.0], [0.0, 0.0, -1.0]);
    ((0..count).map(sphere).collect(), (0..count).map(ray).collect())
}

#[test]
fn parts_of_a_pairwise_list_find_their_spheres_by_number() {
    let (spheres, rays) = row(1000);
    for device in common::devices() {
        let scene = blocking::pairwise(device, &spheres).unwrap();
        let whole = blocking::closest(&scene, &rays, &Query::default()).unwrap();
        assert!(whole.report.hits > 300, "{}", whole.report.hits);
        let parts = rays.chunks(77).enumerate().flat_map(|(n, part)| {
            let part = Rays::from(part).numbered_from(77 * n as u64);
            blocking::closest(&scene, part, &Query::default()).unwrap().records
        });
        assert_eq!(whole.records, parts.collect::<Vec<Hit>>(), "{}", device.name());
        let past = blocking::closest(&scene, Rays::from(&rays[..2]).numbered_from(999), &Query::default());
        assert!(matches!(past, Err(Error::LengthsDiffer { left: 1001, right: 1000, .. })), "{past:?}");
    }
}

#[test]
fn errors_name_rays_by_their_number_in_the_whole_list() {
    let (spheres, mut rays) = row(600);
    // Two bad ones in different tasks: the first is named, whoever finds it.
    rays[550].direction = [0.0; 3].into();
    rays[300].t_min = f32::NAN;
    for device in common::devices() {
        let scene = blocking::scene(device, &spheres, &Default::default()).unwrap();
        let refused = blocking::closest(&scene, Rays::from(&rays).numbered_from(1 << 40), &Query::default());
        let Err(Error::BadRecord { index, field, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((index, field), ((1 << 40) + 300, "t_min"), "{}", device.name());
    }
}

#[test]
fn a_watch_counts_and_stops() {
    let (spheres, rays) = row(2000);
    for device in common::devices() {
        let watch = Watch::new();
        let scene = blocking::scene(device, &spheres, &Default::default()).unwrap().watched(&watch);
        let _ = blocking::closest(&scene, &rays, &Query::default()).unwrap();
        let _ = blocking::occluded(&scene, &rays, &Query::default()).unwrap();
        assert_eq!(watch.done(), 4000, "{}", device.name());
        watch.cancel();
        let stopped = blocking::closest(&scene, &rays, &Query::default());
        assert_eq!(stopped, Err(Error::Cancelled { done: 4000 }), "{}", device.name());
        let stopped = blocking::occluded(&scene, &rays, &Query::default());
        assert_eq!(stopped, Err(Error::Cancelled { done: 4000 }), "{}", device.name());
    }
}

#[test]
fn long_work_stops_in_the_middle() {
    // Far more than any machine does in the time it takes to say stop.
    let (spheres, rays) = row(20_000);
    let rays = rays.repeat(100);
    for device in common::devices() {
        let watch = Watch::new();
        let scene = blocking::scene(device, &spheres, &Default::default()).unwrap().watched(&watch);
        let ended = Arc::new(AtomicBool::new(false));
        let stopper = std::thread::spawn({
            let (watch, ended) = (watch.clone(), ended.clone());
            move || {
                while watch.done() == 0 && !ended.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                watch.cancel();
            }
        });
        let stopped = blocking::closest(&scene, &rays, &Query::default());
        ended.store(true, Ordering::Relaxed);
        stopper.join().unwrap();
        let Err(Error::Cancelled { done }) = stopped else {
            panic!("{}: {:?}", device.name(), stopped.map(|h| h.report))
        };
        assert!(done > 0 && done < rays.len() as u64, "{done}");
    }
}
