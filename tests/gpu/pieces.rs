//! Batches in parts: ids of rays across parts, progress counts and cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Body, Camera, Color, Lens, LightSource, Lighting, PictureOptions, System};
use umbracast::{CancelToken, Error, Hit, Limits, Near, Precision, Query, Ray, Rays, Sphere};

/// Spheres in a row along x, and a downward ray for each: at its centre, at its edge, or next to it.
fn row(count: usize) -> (Vec<Sphere>, Vec<Ray>) {
    let sphere = |i: usize| Sphere::new([3.0 * i as f32, 0.0, 0.0], 1.0);
    let ray = |i: usize| Ray::new([3.0 * i as f32 + (i % 3) as f32, 0.0, 5.0], [0.0, 0.0, -1.0]);
    ((0..count).map(sphere).collect(), (0..count).map(ray).collect())
}

#[test]
fn parts_of_a_pairwise_batch_use_the_ids_of_the_whole_batch() {
    let (spheres, rays) = row(1000);
    for device in umbracast_testing::devices() {
        let scene = device.pairwise(&spheres, &Default::default()).unwrap();
        let whole = scene.closest(&rays, &Query::at(Precision::Standard)).unwrap();
        assert!(whole.report.rays_hit > 300, "{}", whole.report.rays_hit);
        let parts = rays.chunks(77).enumerate().flat_map(|(n, part)| {
            let part = Rays::from(part).numbered_from(77 * n as u64);
            scene.closest(part, &Query::at(Precision::Standard)).unwrap().records
        });
        assert_eq!(whole.records, parts.collect::<Vec<Hit>>(), "{}", device.name());
        let past = scene.closest(Rays::from(&rays[..2]).numbered_from(999), &Query::at(Precision::Standard));
        let Err(Error::InvalidArgument(why)) = past else { panic!("{past:?}") };
        assert_eq!(why, "2 rays numbered from 999, and 1000 spheres: the numbers must be below 1000");
    }
}

#[test]
fn errors_name_rays_by_their_id_in_the_whole_batch() {
    let (spheres, mut rays) = row(600);
    // Two invalid rays in different tasks: the error names the first one, in whatever order the tasks run.
    rays[550].direction = [0.0; 3].into();
    rays[300].t_min = f32::NAN;
    for device in umbracast_testing::devices() {
        let scene = device.scene(&spheres, &Default::default()).unwrap();
        let refused = scene.closest(Rays::from(&rays).numbered_from(1 << 40), &Query::at(Precision::Standard));
        let Err(Error::BadRecord { index, field, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((index, field), ((1 << 40) + 300, "t_min"), "{}", device.name());
    }
}

#[test]
fn a_token_counts_rays_and_cancels() {
    let (spheres, rays) = row(2000);
    for device in umbracast_testing::devices() {
        let watch = CancelToken::new();
        let scene = device.scene(&spheres, &Default::default()).unwrap().with_cancel(&watch);
        let _ = scene.closest(&rays, &Query::at(Precision::Standard)).unwrap();
        let _ = scene.occluded(&rays, &Query::at(Precision::Standard)).unwrap();
        assert_eq!(watch.done(), 4000, "{}", device.name());
        // Second passes over the same points and rays are not counted.
        let centers: Vec<[f32; 3]> = spheres.iter().map(|sphere| sphere.center.to_array()).collect();
        let found = scene.contains(&centers, &Query::default()).unwrap();
        assert_eq!(found.report.rays_hit, centers.len() as u64);
        let _ = scene.closest(&rays, &Query::default().near(Near::Block)).unwrap();
        let done = 6000 + centers.len() as u64;
        assert_eq!(watch.done(), done, "{}", device.name());
        watch.cancel();
        let stopped = scene.closest(&rays, &Query::at(Precision::Standard));
        assert_eq!(stopped, Err(Error::Cancelled { done }), "{}", device.name());
        let stopped = scene.occluded(&rays, &Query::at(Precision::Standard));
        assert_eq!(stopped, Err(Error::Cancelled { done }), "{}", device.name());
    }
}

#[test]
fn a_running_query_can_be_cancelled() {
    // Enough rays that the query cannot end before it is cancelled.
    let (spheres, rays) = row(20_000);
    let rays = rays.repeat(100);
    let mut limits = Limits::default();
    limits.rays = 1000;
    for device in umbracast_testing::limited(limits) {
        let watch = CancelToken::new();
        let scene = device.scene(&spheres, &Default::default()).unwrap().with_cancel(&watch);
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
        let stopped = scene.closest(&rays, &Query::at(Precision::Standard));
        ended.store(true, Ordering::Relaxed);
        stopper.join().unwrap();
        let Err(Error::Cancelled { done }) = stopped else {
            panic!("{}: {:?}", device.name(), stopped.map(|h| h.report))
        };
        assert!(done > 0 && done < rays.len() as u64, "{done}");
    }
}

/// A white ball in front of a light.
fn ball() -> System {
    let body = Body::new("ball", vec![Ball::new([0.0; 3], 1.0)], vec![Color::WHITE]);
    let light = LightSource::new("light", Ball::new([0.0, 0.0, 1000.0], 10.0));
    let lens = Lens::Orthographic { width: 4.0 };
    let camera = Camera { position: DVec3::new(0.0, -10.0, 5.0), target: DVec3::ZERO, up: DVec3::Z, lens };
    let picture = PictureOptions { size: [64, 48], samples: 1, ..PictureOptions::default() };
    System::new(light, vec![body], camera, picture).unwrap()
}

#[test]
fn a_token_of_a_device_cancels_builds_and_pictures() {
    let (spheres, rays) = row(3000);
    let (system, observers) = (ball(), vec![DVec3::new(5.0, 0.0, 0.0); 5000]);
    let lighting = Lighting::new(system.light().ball, [Ball::new([0.0; 3], 1.0)]).unwrap();
    for device in umbracast_testing::devices() {
        let watch = CancelToken::new();
        let watched = device.with_cancel(&watch);
        let scene = watched.scene(&spheres, &Default::default()).unwrap();
        let expected = scene.closest(&rays, &Query::at(Precision::Standard)).unwrap().records;
        let _ = watched.render(&system, None).unwrap();
        assert_eq!(watch.done(), 0, "{}", device.name());
        let _ = watched.shadows(&lighting, &observers).unwrap();
        assert_eq!(watch.done(), 5000, "{}", device.name());

        watch.cancel();
        let cancelled = Error::Cancelled { done: 5000 };
        let built = watched.scene(&spheres, &Default::default()).map(drop);
        assert_eq!(built, Err(cancelled.clone()), "{}", device.name());
        assert_eq!(
            watched.pairwise(&spheres, &Default::default()).map(drop),
            Err(cancelled.clone()),
            "{}",
            device.name()
        );
        assert_eq!(watched.render(&system, None).map(drop), Err(cancelled.clone()), "{}", device.name());
        assert_eq!(watched.shadows(&lighting, &observers).map(drop), Err(cancelled.clone()), "{}", device.name());

        // Scenes that exist already are not cancelled: a scene is cancelled by its own token only.
        assert_eq!(scene.closest(&rays, &Query::at(Precision::Standard)).unwrap().records, expected);
        let again = scene.device().scene(&spheres, &Default::default()).unwrap();
        assert_eq!(again.closest(&rays, &Query::at(Precision::Standard)).unwrap().records, expected);
        let mut stopped = scene.with_cancel(&watch);
        assert_eq!(stopped.update(&spheres[..]).map(drop), Err(cancelled.clone()));
        assert_eq!(stopped.rebuild(), Err(cancelled), "{}", device.name());
        let after = stopped.with_cancel(&CancelToken::new()).closest(&rays, &Query::at(Precision::Standard)).unwrap();
        assert_eq!(after.records, expected, "{}", device.name());
    }
}
