//! Invalid spheres, rays and pairs: refused with index, field and value, or skipped and counted.

use super::contract::{X, random_rays, random_spheres, scene};
use crate::support::devices;
use umbracast::{Approach, Error, Hit, OnBad, Precision, Query, Ray, SceneOptions, Sphere};

#[test]
fn bad_spheres_are_refused_with_index_field_and_value() {
    let good = Sphere::new([0.0; 3], 1.0);
    let cases = [
        (Sphere::new([f32::NAN, 0.0, 0.0], 1.0), "sphere 2: x is NaN"),
        (Sphere::new([0.0, f32::INFINITY, 0.0], 1.0), "sphere 2: y is inf"),
        (Sphere::new([0.0, 0.0, f32::NEG_INFINITY], 1.0), "sphere 2: z is -inf"),
        (Sphere::new([0.0; 3], f32::NAN), "sphere 2: r is NaN"),
        (Sphere::new([0.0; 3], f32::INFINITY), "sphere 2: r is inf"),
        (Sphere::new([0.0; 3], -1.0), "sphere 2: r is -1: a radius must not be negative"),
    ];
    for device in devices() {
        for (bad, words) in &cases {
            let error = device.scene(&[good, good, *bad], &SceneOptions::default()).err().unwrap();
            assert!(error.to_string().contains(words), "{error}");
            assert!(matches!(error, Error::BadRecord { .. }), "{error}");
            assert_eq!(Ray::new([0.0; 3], X).hit(bad, &Query::default()), None);
        }
    }
}

#[test]
fn bad_rays_are_refused_or_skipped_and_counted() {
    let ray = Ray::new([-3.0, 0.0, 0.0], X);
    let nan = f32::NAN;
    let cases = [
        (Ray { origin: [nan, 0.0, 0.0].into(), ..ray }, "ox is NaN"),
        (Ray { origin: [0.0, f32::INFINITY, 0.0].into(), ..ray }, "oy is inf"),
        (Ray { direction: [0.0, 0.0, nan].into(), ..ray }, "dz is NaN"),
        (Ray { direction: [f32::NEG_INFINITY, 0.0, 0.0].into(), ..ray }, "dx is -inf"),
        (Ray { direction: [0.0; 3].into(), ..ray }, "direction is 0,0,0: a direction must not be zero"),
        (Ray { direction: [-0.0, 0.0, -0.0].into(), ..ray }, "direction is 0,0,0"),
        (ray.between(nan, 1.0), "t_min is NaN"),
        (ray.between(0.0, nan), "t_max is NaN"),
        (ray.between(2.0, 1.0), "t_min is 2 with t_max 1: t_min must not exceed t_max"),
        (ray.between(f32::INFINITY, f32::INFINITY), "t_min is inf"),
        (ray.between(f32::NEG_INFINITY, f32::NEG_INFINITY), "t_max is -inf"),
    ];
    for device in devices() {
        let scene = scene(device, &[Sphere::new([0.0; 3], 1.0)]);
        for precision in Precision::ALL {
            for (bad, words) in &cases {
                let rays = [ray, *bad, ray];
                let query = Query::at(precision);
                let error = scene.closest(&rays, &query).unwrap_err();
                assert!(error.to_string().starts_with("ray 1: ") && error.to_string().contains(words), "{error}");
                assert!(scene.occluded(&rays, &query).is_err());
                let query = query.on_bad(OnBad::Skip);
                let hits = scene.closest(&rays, &query).unwrap();
                assert_eq!(hits.records, [Hit { t: 2.0, id: 0 }, Hit::MISS, Hit { t: 2.0, id: 0 }]);
                assert_eq!((hits.report.skipped, hits.report.rays_hit), (1, 2));
                let bits = scene.occluded(&rays, &query).unwrap();
                assert_eq!((bits.words, bits.report.skipped), (vec![0b101], 1));
                let nearest = scene.approach(&rays, &query).unwrap();
                assert_eq!(nearest.records[1], Approach::NONE);
            }
        }
    }
}

#[test]
fn pairwise_needs_as_many_rays_as_spheres() {
    let spheres = random_spheres(20, 5000);
    let rays = random_rays(21, 5000);
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        let query = Query::at(Precision::Exact);
        for (i, hit) in pairs.closest(&rays, &query).unwrap().iter().enumerate() {
            let alone = rays[i].hit(&spheres[i], &query).map(|hit| (hit.t, i as u32));
            assert_eq!(hit.is_hit().then_some((hit.t, hit.id)), alone, "{} pair {i}", device.name());
        }
        let error = pairs.closest(&rays[1..], &query).unwrap_err();
        assert_eq!(error.to_string(), "4999 rays and 5000 spheres: the counts must be equal");
    }
}
