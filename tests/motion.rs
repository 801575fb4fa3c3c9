//! Spheres that move, rays that are balls, and segments: against exact corpora, and against scenes at rest.

mod common;

use common::{Numbers, devices, nasty, with_and_without_tree};
use umbracast::glam::Vec3;
use umbracast::{
    Device, Error, Hit, Inside, Interval, Motion, NO_SPHERE, OnBad, Precision, Query, Ray, Rays, SceneOptions,
    Segments, Sphere, Spheres, bench, blocking,
};

/// A corpus of `tests/data`: see README.md there.
struct Corpus {
    bytes: Vec<u8>,
    size: usize,
}

impl Corpus {
    fn read(name: &str, size: usize, count: usize) -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let bytes = std::fs::read(path).unwrap();
        assert_eq!((&bytes[..8], bytes.len()), (&b"RSPHCOR1"[..], 32 + size * count), "{name}");
        Self { bytes, size }
    }

    fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes[32..].chunks_exact(self.size)
    }
}

fn f32_at(row: &[u8], i: usize) -> f32 {
    f32::from_le_bytes(row[4 * i..4 * i + 4].try_into().unwrap())
}

fn vec_at(row: &[u8], i: usize) -> Vec3 {
    Vec3::new(f32_at(row, i), f32_at(row, i + 1), f32_at(row, i + 2))
}

fn f64_at(row: &[u8], byte: usize) -> f64 {
    f64::from_le_bytes(row[byte..byte + 8].try_into().unwrap())
}

/// Steps of f32 between a number and the exact one.
fn steps(found: f32, exact: f64) -> f64 {
    let size = (exact.abs() as f32).max(f32::MIN_POSITIVE);
    (f64::from(found) - exact).abs() / f64::from(size.next_up() - size)
}

#[test]
fn moving_spheres_are_met_when_exact_arithmetic_says() {
    let corpus = Corpus::read("moving.bin", 96, 2000);
    let rows: Vec<&[u8]> = corpus.rows().collect();
    let rays: Vec<Ray> =
        rows.iter().map(|row| Ray::new(vec_at(row, 0), vec_at(row, 3)).between(0.0, f32_at(row, 13))).collect();
    let spheres: Vec<Sphere> = rows.iter().map(|row| Sphere::new(vec_at(row, 6), f32_at(row, 12))).collect();
    let velocities: Vec<Vec3> = rows.iter().map(|row| vec_at(row, 9)).collect();
    let last = rays.iter().map(|ray| ray.t_max).fold(0.0, f32::max);
    for device in devices() {
        let given = Spheres::from(&spheres).velocities(&velocities);
        let options = SceneOptions::default().over([0.0, last]);
        let pairs = blocking::pairwise_with(device, given, &options).unwrap();
        for precision in Precision::ALL {
            let query = Query { motion: Motion::WithRay, ..Query::at(precision) };
            let found = blocking::interval(&pairs, &rays, &query).unwrap();
            let hits = blocking::closest(&pairs, &rays, &query).unwrap();
            let (mut wrong, mut worst, mut met) = (0, 0.0f64, 0);
            for (i, row) in rows.iter().enumerate() {
                let (t, gap) = ([f64_at(row, 56), f64_at(row, 64)], f64_at(row, 72));
                let (hit, case) = (row[82] == 1, row[83]);
                assert_eq!(found[i].is_hit(), hits[i].is_hit(), "row {i}");
                if found[i].is_hit() != hit {
                    wrong += 1;
                    assert_eq!(precision, Precision::Fast, "row {i} (case {case}) on {}: gap {gap}", device.name());
                    continue;
                }
                if !hit || case == 3 {
                    continue;
                }
                met += 1;
                // Half a chord of a tenth of the radius at the least.
                if (1.0 - (1.0 + gap) * (1.0 + gap)).max(0.0).sqrt() < 0.1 && precision != Precision::Exact {
                    continue;
                }
                let roots = [found[i].t_enter, found[i].t_exit];
                for (root, t) in roots.into_iter().zip(t) {
                    let off = steps(root, t);
                    if precision == Precision::Exact {
                        assert!(root == t as f32, "row {i} on {}: {root}, {t}", device.name());
                    } else {
                        worst = worst.max(off);
                    }
                }
            }
            eprintln!("{} {precision:?}: {met} met, {wrong} flags wrong, worst {worst:.2} steps", device.name());
            assert!(met > 700 && wrong <= 20, "{met}, {wrong}");
            if precision == Precision::Standard {
                assert!(worst < 16.0, "{worst}");
            }
        }
    }
}

#[test]
fn segments_are_the_exact_difference_of_their_points() {
    let corpus = Corpus::read("segments.bin", 104, 1500);
    let rows: Vec<&[u8]> = corpus.rows().collect();
    let ends = rows.iter().map(|row| [vec_at(row, 0).to_array(), vec_at(row, 3).to_array()]);
    let segments = Segments::new(ends);
    let spheres: Vec<Sphere> = rows.iter().map(|row| Sphere::new(vec_at(row, 6), f32_at(row, 9))).collect();
    for device in devices() {
        let pairs = blocking::pairwise(device, &spheres).unwrap();
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let hits = blocking::closest(&pairs, &segments, &query).unwrap();
            let found = blocking::interval(&pairs, &segments, &query).unwrap();
            let near = blocking::approach(&pairs, &segments, &query).unwrap();
            let dark = blocking::occluded(&pairs, &segments, &query).unwrap();
            let (mut wrong, mut worst, mut met) = (0, [0.0f64; 2], 0);
            for (i, row) in rows.iter().enumerate() {
                let [t0, t1, s, distance, gap] = [40, 48, 56, 64, 72].map(|byte| f64_at(row, byte));
                let solid = row[84] == 1;
                assert_eq!((hits[i].is_hit(), dark.get(i)), (found[i].is_hit(), Some(hits[i].is_hit())), "row {i}");
                if hits[i].is_hit() != solid {
                    wrong += 1;
                    assert_eq!(precision, Precision::Fast, "row {i} on {}: gap {gap}", device.name());
                    continue;
                }
                let r = f64::from(spheres[i].radius);
                if precision == Precision::Exact {
                    assert_eq!(near[i].t, s as f32, "row {i} on {}", device.name());
                    assert_eq!(near[i].clearance, (distance - r) as f32, "row {i} on {}", device.name());
                }
                if !solid {
                    continue;
                }
                met += 1;
                let chord = (1.0 - (1.0 + gap) * (1.0 + gap)).max(0.0).sqrt();
                for (root, t) in [found[i].t_enter, found[i].t_exit].into_iter().zip([t0, t1]) {
                    if precision == Precision::Exact {
                        assert!(root == t as f32, "row {i} on {}: {root}, {t}", device.name());
                    } else if chord > 0.1 {
                        // Next to the surface the near root has the far one's error.
                        worst[0] = worst[0].max(steps(root, t).min(steps(root - t as f32, 0.0)));
                        worst[1] = worst[1].max((f64::from(root) - t).abs() / (t1 - t0));
                    }
                }
            }
            eprintln!("{} {precision:?}: {met} met, {wrong} wrong, worst {worst:?}", device.name());
            assert!(met > 500 && wrong <= 20, "{met}, {wrong}");
        }
    }
}
