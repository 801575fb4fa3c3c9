//! Points, normals, angles and distances of hits: compared with the exact corpora, for single pairs and batches, and in files.

mod moving;

use std::f64::consts::{FRAC_PI_2, PI};

use umbracast::glam::{DVec3, Vec3};
use umbracast::{Attributes, Error, Hit, Inside, OnBad, Precision, Query, Ray, SceneOptions, Sphere};
use umbracast_testing::{REGIMES, Row, corpus, cpu, devices, steps};

const U: f64 = 1.0 / 16_777_216.0;

/// The bound on the error of the normal in the documentation of [`Attributes`], without the rounding of the result.
fn normal_bound(ray: &Ray, sphere: &Sphere, half: f64) -> f64 {
    let e = (sphere.center.as_dvec3() - ray.origin.as_dvec3()).length();
    let r = f64::from(sphere.radius);
    let unit = (-50.0_f64).exp2() * e.max(r);
    (unit / half).min((unit / r).sqrt())
}

/// For each attribute the largest error, relative to its bound.
#[derive(Debug, Default)]
struct Worst {
    point: f64,
    normal: f64,
    angle: f64,
    distance: f64,
    compared: usize,
}

impl Worst {
    /// Checks the attributes of a hit. `truth` is the exact vector from the centre to the point, and the half chord.
    fn check(
        &mut self,
        attributes: &Attributes,
        hit: &Hit,
        ray: &Ray,
        sphere: &Sphere,
        truth: (DVec3, f64),
        what: &str,
    ) {
        let (offset, half) = truth;
        let (center, d) = (sphere.center.as_dvec3(), ray.direction.as_dvec3());
        let normal = offset.normalize_or_zero();
        let mut normal_bound = normal_bound(ray, sphere, half);
        if hit.t == ray.t_min {
            // Adds one rounding of the distance: `t` may be the start of the ray.
            normal_bound += 1.01 * U * f64::from(hit.t).abs() * d.length() / f64::from(sphere.radius);
        }
        let angle = normal.cross(d).length().atan2(-normal.dot(d));
        let distance = f64::from(hit.t) * d.length();
        let tiny = f64::from(f32::MIN_POSITIVE) * U;
        let part = |found: f64, allowed: f64, name: &str| {
            assert!(found <= allowed, "{what}: {name} off by {found:e}, {allowed:e} allowed: {attributes:?}");
            found / allowed
        };
        let at = center + offset;
        let allowed = 1.01 * U * at.length() + normal_bound * offset.length() + tiny;
        self.point = self.point.max(part((attributes.point.as_dvec3() - at).length(), allowed, "point"));
        self.normal =
            self.normal.max(part((attributes.normal.as_dvec3() - normal).length(), 1.01 * U + normal_bound, "normal"));
        self.angle = self.angle.max(part(
            (f64::from(attributes.incidence_rad) - angle).abs(),
            1.01 * U * angle + normal_bound,
            "angle",
        ));
        if distance.abs() < f64::from(f32::MAX) {
            let allowed = 1.01 * U * distance.abs() + tiny;
            self.distance =
                self.distance.max(part((f64::from(attributes.distance) - distance).abs(), allowed, "distance"));
        }
        self.compared += 1;
    }
}

/// The exact hit point of a row under a policy, relative to the centre: the start inside the ball, or a root.
fn hit_offset(row: &Row, inside: Inside) -> DVec3 {
    let start = f64::from(row.ray.t_min);
    let t = match inside {
        _ if row.t[0] >= start => row.t[0],
        Inside::Enter => start,
        _ => row.t[1],
    };
    (row.ray.origin.as_dvec3() - row.sphere.center.as_dvec3()) + t * row.ray.direction.as_dvec3()
}

#[test]
fn attributes_of_the_corpus_are_within_bounds() {
    let rows = corpus();
    let (rays, spheres): (Vec<Ray>, Vec<Sphere>) = rows.iter().map(|row| (row.ray, row.sphere)).unzip();
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        for (precision, inside) in [
            (Precision::Exact, Inside::Enter),
            (Precision::Exact, Inside::Exit),
            (Precision::Standard, Inside::Enter),
            (Precision::Standard, Inside::Exit),
        ] {
            let query = Query::default().inside(inside).precision(precision);
            let hits = pairs.closest(&rays, &query).unwrap();
            let all_attributes = pairs.attributes(&rays, &hits, &query).unwrap();
            let mut worst = Worst::default();
            for (i, ((row, hit), attributes)) in rows.iter().zip(hits.iter()).zip(&all_attributes).enumerate() {
                // Leaves out rows with a wrong hit flag and rows whose ends are near a root, which `queries::corpus` tests, and
                // tangent rows, which have no chord.
                let doubtful = precision != Precision::Exact
                    && row
                        .t
                        .iter()
                        .any(|t| [row.ray.t_min, row.ray.t_max].iter().any(|end| steps(*end, *t as f32) <= 32));
                if !hit.is_hit() || row.crossing <= 0 || doubtful {
                    assert!(hit.is_hit() || attributes.point.x.is_nan());
                    continue;
                }
                let half = 0.5 * (row.t[1] - row.t[0]) * row.ray.direction.as_dvec3().length();
                let what = format!("{} {query:?} row {i} ({}) {hit:?}", device.name(), REGIMES[row.regime as usize]);
                worst.check(attributes, hit, &row.ray, &row.sphere, (hit_offset(row, inside), half), &what);
            }
            println!("{} {precision:?} {inside:?}: {worst:.3?}", device.name());
            assert!(worst.compared > 4000);
        }
    }
}

/// The 286 cases of `ricochet.bin` with a sphere at rest (case 1): exact points, normals and angles to the tangent plane.
#[test]
fn normals_and_angles_agree_with_the_ricochet_corpus() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ricochet.bin")).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (count, size) = (word(12), word(16));
    assert_eq!((size, bytes.len()), (160, 32 + 160 * count));
    let (mut rays, mut spheres, mut truths) = (Vec::new(), Vec::new(), Vec::new());
    // Case 1 has a velocity and a sphere at rest. The other cases are for bullets and for moving spheres.
    for record in bytes[32..].chunks(size).filter(|record| record[144] == 1) {
        let f32s: Vec<f32> = bytemuck::pod_collect_to_vec(&record[..56]);
        let f64s: Vec<f64> = bytemuck::pod_collect_to_vec(&record[56..144]);
        rays.push(Ray::new(Vec3::from_slice(&f32s[..3]), Vec3::from_slice(&f32s[3..6])));
        spheres.push(Sphere::new(Vec3::from_slice(&f32s[6..9]), f32s[12]));
        truths.push((DVec3::from_slice(&f64s[4..7]), f64s[10]));
    }
    let pairs = cpu().pairwise(&spheres, &Default::default()).unwrap();
    let query = Query::at(Precision::Exact);
    let hits = pairs.closest(&rays, &query).unwrap();
    let all_attributes = pairs.attributes(&rays, &hits, &query).unwrap();
    let mut worst = Worst::default();
    for (i, (normal, angle)) in truths.iter().enumerate() {
        let (ray, sphere) = (&rays[i], &spheres[i]);
        let r = f64::from(sphere.radius);
        let half = r * angle.sin();
        worst.check(&all_attributes[i], &hits[i], ray, sphere, (r * *normal, half), &format!("record {i}"));
        let allowed = 1.01 * U * FRAC_PI_2 + normal_bound(ray, sphere, half);
        assert!(
            (FRAC_PI_2 - f64::from(all_attributes[i].incidence_rad) - angle).abs() <= allowed,
            "record {i}: {angle}"
        );
    }
    println!("{worst:.3?}");
    assert_eq!((worst.compared, count), (286, 1000));
}

/// If both roots round to the same f32, attributes are those of the first root: from a million radii away the near side is hit.
#[test]
fn distant_spheres_are_hit_on_their_near_side() {
    let query = Query::default();
    for far in [1e3_f32, 1e5, 1e7, 3e8] {
        for aside in [0.0, 0.5, 0.99] {
            let (ray, sphere) = (Ray::new([-far, aside, 0.0], [1.0, 0.0, 0.0]), Sphere::new([0.0; 3], 1.0));
            let attributes = ray.hit(&sphere, &query).unwrap().attributes(&ray, &sphere);
            let across = (1.0 - aside * aside).sqrt();
            assert!(
                (attributes.normal - Vec3::new(-across, aside, 0.0)).length() < 1e-6,
                "{far} {aside}: {attributes:?}"
            );
            assert!((attributes.incidence_rad - aside.asin()).abs() < 1e-6, "{far} {aside}: {attributes:?}");
        }
    }
}

#[test]
fn attributes_from_outside_inside_and_tangent_rays() {
    let sphere = Sphere::new([4.0, 0.0, 0.0], 2.0);
    let of =
        |ray: &Ray, inside| ray.hit(&sphere, &Query::default().inside(inside)).map(|hit| hit.attributes(ray, &sphere));
    let attributes = |point: [f32; 3], normal: [f32; 3], incidence_rad: f32, distance: f32| {
        Some(Attributes { point: point.into(), normal: normal.into(), incidence_rad, distance })
    };
    let outside = Ray::new([0.0; 3], [0.5, 0.0, 0.0]);
    assert_eq!(of(&outside, Inside::Enter), attributes([2.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 0.0, 2.0));
    let within = Ray::new([5.0, 0.0, 0.0], [0.5, 0.0, 0.0]);
    assert_eq!(of(&within, Inside::Enter), attributes([5.0, 0.0, 0.0], [1.0, 0.0, 0.0], PI as f32, 0.0));
    assert_eq!(of(&within, Inside::Exit), attributes([6.0, 0.0, 0.0], [1.0, 0.0, 0.0], PI as f32, 1.0));
    let center = Ray::new([4.0, 0.0, 0.0], [0.0, 3.0, 0.0]);
    assert_eq!(of(&center, Inside::Enter), attributes([4.0, 0.0, 0.0], [0.0; 3], 0.0, 0.0));
    let tangent = Ray::new([0.0, 2.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(of(&tangent, Inside::Enter), attributes([4.0, 2.0, 0.0], [0.0, 1.0, 0.0], FRAC_PI_2 as f32, 4.0));
    let behind = Ray::new([8.0, 0.0, 0.0], [1.0, 0.0, 0.0]).line();
    assert_eq!(of(&behind, Inside::Enter), attributes([2.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 0.0, -6.0));
    let point = Sphere::new([4.0, 0.0, 0.0], 0.0);
    let hit = outside.hit(&point, &Query::default()).unwrap().attributes(&outside, &point);
    assert_eq!(Some(hit), attributes([4.0, 0.0, 0.0], [0.0; 3], 0.0, 4.0));
}

#[test]
fn mismatched_hits_and_rays_are_refused() {
    let spheres = [Sphere::new([4.0, 0.0, 0.0], 1.0)];
    let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]), Ray::new([0.0; 3], [0.0; 3])];
    let scene = cpu().scene(&spheres, &SceneOptions::default()).unwrap();
    let query = Query::default().on_bad(OnBad::Skip);
    let hits = scene.closest(&rays, &query).unwrap();
    let all_attributes = scene.attributes(&rays, &hits, &query).unwrap();
    assert_eq!(all_attributes[0].point, Vec3::new(3.0, 0.0, 0.0));
    assert!(
        all_attributes[1].point.is_nan()
            && all_attributes[1].normal.is_nan()
            && all_attributes[1].incidence_rad.is_nan(),
        "an invalid ray is a miss"
    );
    assert_eq!(all_attributes[1].distance, f32::INFINITY);
    assert_eq!(
        scene.attributes(&rays[..1], &hits, &query).unwrap_err(),
        Error::LengthsDiffer { left_name: "rays", left: 1, right_name: "hits", right: 2 }
    );
    let error = scene.attributes(&rays, &[hits[0], Hit { t: 1.0, id: 1 }], &query).unwrap_err();
    assert_eq!(error.to_string(), "hit 1: id is 1: the scene has no such sphere");
}
