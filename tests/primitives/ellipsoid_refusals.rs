//! Ellipsoids: invalid ones are refused, queries for spheres only are refused, and a device that computes them wrongly is detected.

use super::ellipsoids::{cloud, rays_at};
use crate::support::{Numbers, both_searches, cpu, devices};
use umbracast::glam::{Quat, Vec3};
use umbracast::{Device, Ellipsoid, Ellipsoids, Error, Precision, Query, Ray, Rays, SceneOptions};

#[test]
fn queries_for_spheres_only_are_refused() {
    let ellipsoids = Ellipsoids::new([Ellipsoid::new([0.0; 3], [1.0, 2.0, 3.0])]);
    let rays = [Ray::new([-9.0, 0.0, 0.0], [1.0, 0.0, 0.0])];
    for device in devices() {
        let scene = device.scene(&ellipsoids, &SceneOptions::default()).unwrap();
        let usage = |error: Error| {
            assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
            error.to_string()
        };
        let exact = scene.closest(&rays, &Query::at(Precision::Exact)).unwrap_err();
        assert!(matches!(exact, Error::NoPrecision { .. }), "{exact:?}");
        let expected = format!(
            "{} cannot guarantee precision 'exact': the scene contains ellipsoids; use fast or standard",
            device.name()
        );
        assert_eq!(exact.to_string(), expected);
        let near = usage(scene.approach(&rays, &Query::default()).unwrap_err());
        assert_eq!(near, "approach queries do not support ellipsoids, which this scene contains");
        let thick = usage(scene.closest(Rays::from(&rays).radii(&[0.5]), &Query::default()).unwrap_err());
        assert_eq!(thick, "rays with a radius do not support ellipsoids, which this scene contains");
        let hits = scene.closest(&rays, &Query::default()).unwrap();
        let like = usage(scene.attributes(&rays, &hits, &Query::default()).unwrap_err());
        assert_eq!(like, "attributes of hits do not support ellipsoids, which this scene contains");
        let shots = [umbracast::Bullet::new([-9.0, 0.0, 0.0], [0.0; 3], 1.0)];
        let shot = usage(scene.bullets(&shots, 1, &Query::default()).unwrap_err());
        assert_eq!(shot, "bullets do not support ellipsoids, which this scene contains");
    }
}

#[test]
fn invalid_ellipsoids_are_refused_by_id_and_field() {
    let right = Ellipsoid::new([0.0; 3], [1.0, 2.0, 3.0]);
    let radii = |radii: [f32; 3]| Ellipsoid { radii: radii.into(), ..right };
    let turned = |x, y, z, w| right.turned(Quat::from_xyzw(x, y, z, w));
    let nan = f32::NAN;
    for (wrong, field, why) in [
        (radii([0.0, 1.0, 1.0]), "rx", "larger than 0"),
        (radii([1.0, -1.0, 1.0]), "ry", "larger than 0"),
        (radii([1.0, 1.0, nan]), "rz", "finite"),
        (radii([f32::INFINITY, 1.0, 1.0]), "rx", "finite"),
        (radii([1.0, 1e-7, 1.0]), "ry", "1048576 times"),
        (radii([1e30, 1e30, 1e20]), "rz", "1048576 times"),
        (turned(0.0, 0.0, 0.0, nan), "qw", "finite"),
        (turned(f32::INFINITY, 0.0, 0.0, 1.0), "qx", "finite"),
        (turned(0.0, nan, 0.0, 1.0), "qy", "finite"),
        (turned(0.0, 0.0, nan, 1.0), "qz", "finite"),
        (turned(0.0, 0.0, 0.0, 0.0), "qw", "not be zero"),
        (Ellipsoid { center: Vec3::new(0.0, nan, 0.0), ..right }, "y", "finite"),
    ] {
        let ellipsoids = Ellipsoids::new([right, wrong]);
        for device in devices() {
            let refused = device.scene(&ellipsoids, &SceneOptions::default()).err().unwrap();
            let Error::BadRecord { index, field: named, why: said, .. } = &refused else { panic!("{refused:?}") };
            assert_eq!((*index, *named), (1, field), "{refused}");
            assert!(said.contains(why), "{refused}");
        }
    }
    // The largest ratio of semi-axes that is allowed.
    let slim = Ellipsoids::new([radii([1048576.0, 1.0, 1.0])]);
    assert!(cpu().scene(&slim, &SceneOptions::default()).is_ok());
    assert!(Ellipsoids::default().is_empty() && slim.len() == 1);
}

#[test]
fn broken_ellipsoid_shaders_are_detected() {
    let n = &mut Numbers(2);
    let list = cloud(3000, 0.05, 20.0, n);
    let rays = rays_at(&list, 400, n);
    let ellipsoids = Ellipsoids::new(list);
    let [expected, _] = both_searches(&cpu(), (&ellipsoids).into(), &SceneOptions::default());
    let expected = expected.closest(&rays, &Query::default()).unwrap();
    for info in Device::list().into_iter().filter(|info| info.probe.is_some()) {
        for edit in [
            // The edits: the bounding ball instead of the ellipsoid; the map of another ellipsoid; no low parts of the map; a wrong last
            // row of the map; a constant radius; an inner ball as large as the bounding ball; an unmapped direction.
            (
                "  if (!has_ellipsoids) {\n    return scaled;",
                "  if (!has_ellipsoids || at < 9999999u) {\n    return scaled;",
            ),
            ("UnitBallMap(row_at(at, 0u)", "UnitBallMap(row_at(at ^ 1u, 0u)"),
            ("(dot3(row.high, v.low) + dot3(row.low, v.high))", "dot3(row.high, v.low)"),
            ("let z = row_dot(map.z, v);", "let z = row_dot(map.y, v);"),
            ("return number_at(at, 26u);", "return 1.0;"),
            ("- ball.w * 1.000002", "+ ball.w * 1.000002"),
            ("let d = apply(map, HighLow(s.d, s.dl));", "let d = HighLow(s.d, s.dl);"),
        ] {
            let broken = pollster::block_on(Device::open_edited(info.index, edit)).unwrap();
            let [scene, _] = both_searches(&broken, (&ellipsoids).into(), &SceneOptions::default());
            let found = scene.closest(&rays, &Query::default()).unwrap();
            assert!(*found != *expected, "{}: {edit:?}", info.name);
        }
    }
}
