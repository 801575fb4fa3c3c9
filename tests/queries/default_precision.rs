//! The default precision, held in the library: `exact` for spheres, `standard` for ellipsoids. The report names it.

use umbracast::{
    Bullet, Device, Ellipsoid, Ellipsoids, Error, Precision, Query, Ray, Scene, SceneOptions, Sphere, Spheres,
};
use umbracast_testing::{devices, scaled};

use super::contract::{random_rays, random_spheres, scene};

/// The reports of all queries, in a fixed order.
fn reports(scene: &Scene, rays: &[Ray], points: &[[f32; 3]], query: &Query) -> [Precision; 8] {
    [
        scene.closest(rays, query).unwrap().report,
        scene.interval(rays, query).unwrap().report,
        scene.occluded(rays, query).unwrap().report,
        scene.count(rays, query).unwrap().report,
        scene.transmittance(rays, query).unwrap().report,
        scene.all(rays, query).unwrap().report,
        scene.nearest(rays, 2, query).unwrap().report,
        scene.contains(points, query).unwrap().report,
    ]
    .map(|report| report.precision)
}

fn ellipsoids(device: &Device) -> Scene {
    let shapes = Ellipsoids::new([Ellipsoid::new([5.0, 0.0, 0.0], [1.0, 2.0, 3.0])]);
    device.scene(Spheres::from(&shapes), &SceneOptions::default()).unwrap()
}

#[test]
fn spheres_are_resolved_exactly_unless_another_precision_is_asked_for() {
    let (spheres, mut rays) = (random_spheres(11, 500), random_rays(12, scaled(400)));
    // Tangent rays, which `standard` leaves to rounding.
    rays.extend(
        spheres.iter().map(|s| Ray::new([s.center.x - 9.0, s.center.y + s.radius, s.center.z], [1.0, 0.0, 0.0])),
    );
    let points = [[0.0; 3], [0.5; 3]];
    for device in devices() {
        let scene = scene(device, &spheres);
        let (plain, exact) = (Query::default(), Query::at(Precision::Exact));
        let (found, expected) = (scene.all(&rays, &plain).unwrap(), scene.all(&rays, &exact).unwrap());
        assert!((&found.offsets, &found.records) == (&expected.offsets, &expected.records), "{device:?}: other lists");
        assert!(found.report.resolved_exactly > 0, "{:?}", found.report);
        let bullet = Bullet::new([-9.0, 0.0, 0.0], [0.0; 3], 1.0);
        for (query, precision) in
            [(plain, Precision::Exact), (exact, Precision::Exact), (Query::at(Precision::Fast), Precision::Fast)]
        {
            assert_eq!(reports(&scene, &rays, &points, &query), [precision; 8], "{device:?}");
            assert_eq!(scene.approach(&rays, &query).unwrap().report.precision, precision);
            assert_eq!(scene.bullets(&[bullet], 3, &query).unwrap().report.precision, precision);
        }
    }
    // One ray and one sphere, without a device.
    let (ray, sphere) = (Ray::new([-5.0, 2.0, 0.0], [1.0, 0.0, 0.0]), Sphere::new([0.0; 3], 2.0));
    assert_eq!(ray.hit(&sphere, &Query::default()), ray.hit(&sphere, &Query::at(Precision::Exact)));
}

#[test]
fn ellipsoids_have_standard_by_default_and_exact_stays_an_error() {
    for device in devices() {
        let scene = ellipsoids(device);
        let (rays, points) = ([Ray::new([0.0; 3], [1.0, 0.0, 0.0])], [[5.0, 0.0, 0.0]]);
        assert_eq!(reports(&scene, &rays, &points, &Query::default()), [Precision::Standard; 8]);
        let refused = scene.closest(&rays, &Query::at(Precision::Exact)).unwrap_err();
        assert!(matches!(refused, Error::NoPrecision { asked: "exact", .. }), "{refused:?}");
    }
}
