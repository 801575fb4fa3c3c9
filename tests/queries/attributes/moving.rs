//! Attributes of hits on moving spheres and by thick rays, compared with the exact corpus, with f64 and with values by hand.

use std::f64::consts::FRAC_PI_2;

use umbracast::glam::{DVec3, Vec3};
use umbracast::{
    Attributes, Error, Inside, Motion, Precision, Query, Ray, Rays, SceneOptions, Segments, Sphere, Spheres,
};
use umbracast_testing::{Numbers, cpu, devices, quarters, scaled};

const U: f64 = 1.0 / 16_777_216.0;

const WITH_RAY: Query = Query::new()
    .motion(Motion::WithRay)
    .precision(Precision::Exact)
    .inside(Inside::Enter)
    .touch(umbracast::Touch::Hit)
    .ends(umbracast::Ends::Closed)
    .on_bad(umbracast::OnBad::Refuse);

/// The documented error bounds: that of the normal, and the part of the point's that comes from the motion.
fn error_bounds(e: DVec3, w: DVec3, v: DVec3, reach: f64, half: f64) -> (f64, f64) {
    let (unit, far) = ((-50.0_f64).exp2(), e.length().max(reach));
    ((unit * far / half).min((unit * far / reach).sqrt()), unit * v.length() / w.length() * (far + far * reach / half))
}

/// The 298 cases of `ricochet.bin` with a moving sphere (case 2).
#[test]
fn attributes_agree_with_the_moving_ricochet_corpus() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ricochet.bin")).unwrap();
    let (mut rays, mut spheres, mut velocities, mut truths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for record in bytes[32..].chunks(160).filter(|record| record[144] == 2) {
        let f32s: Vec<f32> = bytemuck::pod_collect_to_vec(&record[..56]);
        let f64s: Vec<f64> = bytemuck::pod_collect_to_vec(&record[56..144]);
        let at = |i: usize| Vec3::from_slice(&f32s[i..i + 3]);
        rays.push(Ray::new(at(0), at(3)).between(0.0, 2.0 * f64s[0] as f32 + 1.0));
        spheres.push(Sphere::new(at(6), f32s[12]));
        velocities.push(at(9));
        truths.push((DVec3::from_slice(&f64s[1..4]), DVec3::from_slice(&f64s[4..7]), f64s[10]));
    }
    let last = rays.iter().map(|ray| ray.t_max).fold(0.0, f32::max);
    let given = Spheres::from(&spheres).velocities(&velocities);
    let options = SceneOptions::default().time_range([0.0, last]);
    for device in devices() {
        let pairs = device.pairwise(given, &options).unwrap();
        let hits = pairs.closest(&rays, &WITH_RAY).unwrap();
        let all_attributes = pairs.attributes(&rays, &hits, &WITH_RAY).unwrap();
        let mut worst = [0.0f64; 3];
        for (i, (point, normal, angle)) in truths.iter().enumerate() {
            let (ray, sphere, v, attributes) = (&rays[i], &spheres[i], velocities[i].as_dvec3(), &all_attributes[i]);
            let e = sphere.center.as_dvec3() - ray.origin.as_dvec3();
            let (w, r) = (ray.direction.as_dvec3() - v, f64::from(sphere.radius));
            let (turned, moved) = error_bounds(e, w, v, r, r * angle.sin());
            let off = [
                (attributes.point.as_dvec3() - *point).length() / (1.01 * U * point.length() + r * turned + moved),
                (attributes.normal.as_dvec3() - *normal).length() / (1.01 * U + turned),
                (f64::from(attributes.incidence_rad) - (FRAC_PI_2 - angle)).abs()
                    / (1.01 * U * (FRAC_PI_2 - angle).abs() + turned),
            ];
            assert!(off.iter().all(|part| *part <= 1.0), "record {i} on {}: {off:?} of what is allowed", device.name());
            worst = std::array::from_fn(|k| worst[k].max(off[k]));
        }
        println!("{}: {} records, at most {worst:.3?} of what is allowed", device.name(), truths.len());
        assert_eq!(truths.len(), 298);
    }
}

/// The time at which two balls first touch, in f64, from the quadratic formula. Accurate enough because nothing here is far away.
fn first_contact(e: DVec3, w: DVec3, reach: f64) -> f64 {
    let (a, b, c) = (w.length_squared(), e.dot(w), e.length_squared() - reach * reach);
    c / (b + (b * b - a * c).max(0.0).sqrt())
}

/// Moving spheres, thick rays and segments in one batch.
#[test]
fn contact_points_agree_with_f64() {
    let n = &mut Numbers(31);
    let count = scaled(4000);
    let spheres: Vec<Sphere> = (0..count).map(|_| Sphere::new(quarters(n), 0.5 + n.unit().abs())).collect();
    let velocities: Vec<Vec3> = (0..count).map(|_| quarters(n) * 0.25).collect();
    let radii: Vec<f32> = (0..count).map(|i| if i % 3 == 0 { 0.0 } else { n.unit().abs() }).collect();
    let times: Vec<f32> = (0..count).map(|_| (4.0 * n.unit().abs()).floor()).collect();
    // Segments towards the sphere's position at about the ray's time. Their ends do not subtract exactly in f32.
    let ends: Vec<[[f32; 3]; 2]> = (0..count)
        .map(|i| {
            let from = Vec3::from(n.vector()) * 12.0;
            let to = spheres[i].center + velocities[i] * times[i] + Vec3::from(n.vector());
            [from.to_array(), (to + (to - from) * 0.37).to_array()]
        })
        .collect();
    let segments = Segments::new(ends.iter().copied());
    let given = Spheres::from(&spheres).velocities(&velocities);
    let options = SceneOptions::default().time_range([0.0, 4.0]);
    for device in devices() {
        let pairs = device.pairwise(given, &options).unwrap();
        for motion in [Motion::AtTime, Motion::WithRay] {
            let query = WITH_RAY.motion(motion);
            let rays = Rays::from(&segments).times(&times).radii(&radii);
            let hits = pairs.closest(rays, &query).unwrap();
            let all_attributes = pairs.attributes(rays, &hits, &query).unwrap();
            let (mut compared, mut worst) = (0, [0.0f64; 4]);
            for i in (0..count).filter(|i| hits[*i].is_hit() && hits[*i].t > 0.0) {
                let [from, to] = ends[i].map(|end| Vec3::from(end).as_dvec3());
                let (v, d, attributes) = (velocities[i].as_dvec3(), to - from, &all_attributes[i]);
                let relative = motion == Motion::WithRay;
                let start = spheres[i].center.as_dvec3() + if relative { DVec3::ZERO } else { f64::from(times[i]) * v };
                let v = if relative { v } else { DVec3::ZERO };
                let (own, reach) = (f64::from(spheres[i].radius), f64::from(spheres[i].radius) + f64::from(radii[i]));
                let (e, w) = (start - from, d - v);
                let t = first_contact(e, w, reach);
                let (center, at) = (start + t * v, from + t * d);
                let (normal, point) = ((at - center) / reach, center + (at - center) * (own / reach));
                let angle = normal.cross(w).length().atan2(-normal.dot(w));
                // The f64 quadratic itself loses digits where the ray grazes.
                let loss = 1e-11 * (e.length() / (reach * angle.cos().abs())).max(1.0);
                let distance = t * d.length();
                let off = [
                    (attributes.point.as_dvec3() - point).length() / (1.01 * U * point.length() + loss),
                    (attributes.normal.as_dvec3() - normal).length() / (1.01 * U + loss),
                    (f64::from(attributes.incidence_rad) - angle).abs() / (1.01 * U * angle + loss),
                    // `t` is the exact value, rounded once.
                    (f64::from(attributes.distance) - distance).abs() / (2.01 * U * distance + loss),
                ];
                assert!(off.iter().all(|part| *part <= 1.0), "pair {i} on {}, {motion:?}: {off:?}", device.name());
                worst = std::array::from_fn(|k| worst[k].max(off[k]));
                compared += 1;
            }
            println!("{} {motion:?}: {compared} hits, at most {worst:.3?} of what is allowed", device.name());
            assert!(compared > 1000, "{compared}");
        }
    }
}

#[test]
fn attributes_of_moving_hits_computed_by_hand() {
    let sphere = [Sphere::new([10.0, 0.0, 0.0], 1.0)];
    let along = [Vec3::new(-2.0, 0.0, 0.0)];
    let given = Spheres::from(&sphere).velocities(&along);
    let scene = cpu().scene(given, &SceneOptions::default().time_range([0.0, 10.0])).unwrap();
    let of = |ray: Ray, radius: f32, time: f32, query: &Query| {
        let (rays, radii, times) = ([ray.between(ray.t_min, 10.0)], [radius], [time]);
        let rays = Rays::from(&rays).radii(&radii).times(&times);
        let hits = scene.closest(rays, query).unwrap();
        scene.attributes(rays, &hits, query).unwrap()[0]
    };
    let attributes = |point: [f32; 3], normal: [f32; 3], incidence_rad: f32, distance: f32| Attributes {
        point: point.into(),
        normal: normal.into(),
        incidence_rad,
        distance,
    };
    let (back, at_time) = ([-1.0, 0.0, 0.0], WITH_RAY.motion(Motion::AtTime));
    let ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
    // The sphere and the ray approach each other by 3 per unit of time; the ray travels 1 of these.
    assert_eq!(of(ray, 0.0, 0.0, &WITH_RAY), attributes([3.0, 0.0, 0.0], back, 0.0, 3.0));
    assert_eq!(of(ray, 1.5, 0.0, &WITH_RAY), attributes([4.0, 0.0, 0.0], back, 0.0, 2.5));
    assert_eq!(of(ray, 0.0, 2.0, &at_time), attributes([5.0, 0.0, 0.0], back, 0.0, 5.0));
    assert_eq!(of(ray, 1.0, 2.0, &at_time), attributes([5.0, 0.0, 0.0], back, 0.0, 4.0));
    // The sphere overtakes the ray from behind. In the sphere's rest frame the ray approaches.
    let slow = Ray::new([0.0; 3], [-1.0, 0.0, 0.0]);
    assert_eq!(of(slow, 0.0, 0.0, &WITH_RAY), attributes([-9.0, 0.0, 0.0], back, 0.0, 9.0));
    // A thick ray that overlaps the sphere at its start. The contact point is on the line between the centres, at the fraction
    // (sphere's radius) / (sum of the radii) = 1/3.
    let near = Ray::new([8.5, 0.0, 0.0], [0.0, 1.0, 0.0]);
    let right = FRAC_PI_2 as f32;
    assert_eq!(of(near, 2.0, 0.0, &at_time), attributes([9.5, 0.0, 0.0], back, right, 0.0));
    assert_eq!(of(near, 2.0, 0.5, &at_time.inside(Inside::Exit)).point.x, 9.0 - 0.5 / 3.0);
    // No relative motion, touching from the start: there is no relative path, so the angle is 0.
    let beside = Ray::new([8.5, 0.0, 0.0], [-2.0, 0.0, 0.0]);
    assert_eq!(of(beside, 0.5, 0.0, &WITH_RAY), attributes([9.0, 0.0, 0.0], back, 0.0, 0.0));
    // A sphere of radius 0, hit by a thick ray.
    let point = [Sphere::new([4.0, 0.0, 0.0], 0.0)];
    let scene = cpu().scene(&point, &SceneOptions::default()).unwrap();
    let rays = Rays::from(std::slice::from_ref(&ray)).radii(&[1.0]);
    let hits = scene.closest(rays, &at_time).unwrap();
    assert_eq!(scene.attributes(rays, &hits, &at_time).unwrap()[0], attributes([4.0, 0.0, 0.0], back, 0.0, 3.0));
    assert_eq!(
        scene.attributes(Rays::from(&[ray, ray]).radii(&[1.0]), &[hits[0]; 2], &at_time).unwrap_err(),
        Error::LengthsDiffer { left_name: "rays", left: 2, right_name: "radii", right: 1 }
    );
}

/// Catastrophic cancellation: the sphere travels 2⁴⁰ and the ray's origin is 2⁴⁰ away. Attributes keep the digits of the difference.
#[test]
fn attributes_keep_their_digits_after_cancellation() {
    let (far, query) = ((20.0_f32).exp2(), Query::at(Precision::Exact));
    let sphere = Sphere::new([0.1, 0.015, 0.07], 0.03);
    let near = Ray::new([0.0; 3], [1.0, 0.2, 0.6]);
    let there = [Ray { origin: Vec3::new(far * far, 0.0, 0.0), ..near }];
    let velocities = [Vec3::new(far, 0.0, 0.0)];
    let given = Spheres::from(std::slice::from_ref(&sphere)).velocities(&velocities);
    let scene = cpu().scene(given, &SceneOptions::default().time_range([0.0, far])).unwrap();
    let rays = Rays::from(&there).times(std::slice::from_ref(&far));
    let hits = scene.closest(rays, &query).unwrap();
    let attributes = scene.attributes(rays, &hits, &query).unwrap()[0];
    let expected = near.hit(&sphere, &query).unwrap().attributes(&near, &sphere);
    assert_eq!(
        (attributes.normal, attributes.incidence_rad, attributes.distance),
        (expected.normal, expected.incidence_rad, expected.distance)
    );
}
