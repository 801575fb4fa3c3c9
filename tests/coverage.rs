//! The visible fraction against 50-digit truth, and unions against Monte Carlo.

use glam::DVec3;
use umbracast::glam;
use umbracast::shadow::{Ball, visible_fraction};

struct Row {
    category: String,
    observer: DVec3,
    occluder: Ball,
    light: Ball,
    fraction: f64,
}

fn rows() -> Vec<Row> {
    let text = include_str!("data/sphere_overlap.csv");
    text.lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let v = |i: usize| cells[i].parse::<f64>().unwrap();
            Row {
                category: cells[0].to_owned(),
                observer: DVec3::new(v(2), v(3), v(4)),
                occluder: Ball::new([v(5), v(6), v(7)], v(8)),
                light: Ball::new([v(9), v(10), v(11)], v(12)),
                fraction: v(13),
            }
        })
        .collect()
}

#[test]
fn every_row_of_the_table_in_f64() {
    let mut worst = std::collections::BTreeMap::<String, f64>::new();
    let mut misses = Vec::new();
    let rows = rows();
    for (i, row) in rows.iter().enumerate() {
        let got = visible_fraction(row.observer, row.light, &[row.occluder]).unwrap();
        let error = (got - row.fraction).abs();
        let slot = worst.entry(row.category.clone()).or_default();
        *slot = slot.max(error);
        if error.is_nan() || error > 1e-9 {
            misses.push((i, got, row.fraction, row.category.clone()));
        }
    }
    for (category, error) in &worst {
        println!("{category:16} {error:.1e}");
    }
    assert_eq!(rows.len(), 2010);
    assert!(misses.is_empty(), "{} misses: {misses:#?}", misses.len());
}

/// Several occluders against a million well-spread points of the disc, each tested by itself.
#[test]
fn unions_against_points_on_the_disc() {
    const POINTS: u32 = 200_000;
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 * 2f64.powi(-53)
    };
    let mut worst = 0.0_f64;
    let mut mean = 0.0;
    let cases = 300;
    for case in 0..cases {
        // A light of 0.5 to 40 degrees, and spheres before it that overlap each other.
        let angle = [0.0047, 0.05, 0.35][case % 3];
        let light = Ball::new([0.0, 0.0, 100.0], 100.0 * f64::sin(angle));
        let count = 2 + case % 6;
        let occluders: Vec<Ball> = (0..count)
            .map(|i| {
                let distance = 10.0 + 5.0 * i as f64;
                let size = angle * (0.2 + 1.3 * random());
                let (away, turn) = (angle * 1.5 * random(), std::f64::consts::TAU * random());
                let direction = DVec3::new(away.sin() * turn.cos(), away.sin() * turn.sin(), away.cos());
                Ball { center: direction * distance, radius: distance * size.sin() }
            })
            .collect();
        let mut open = 0;
        for i in 0..POINTS {
            // Equal solid angles: 1 − cos is uniform. Additive recurrence of the plastic number.
            let u = (0.5 + f64::from(i) * 0.754_877_666_246_692_7).fract();
            let v = (0.5 + f64::from(i) * 0.569_840_290_998_053_3).fract();
            let z = 1.0 - u * 2.0 * f64::sin(0.5 * angle).powi(2);
            let r = (1.0 - z * z).sqrt();
            let point = DVec3::new(r * f64::cos(std::f64::consts::TAU * v), r * f64::sin(std::f64::consts::TAU * v), z);
            open += u32::from(occluders.iter().all(|ball| {
                let along = ball.center.dot(point);
                along <= 0.0 || (ball.center - along * point).length() > ball.radius
            }));
        }
        let truth = f64::from(open) / f64::from(POINTS);
        let got = visible_fraction(DVec3::ZERO, light, &occluders).unwrap();
        worst = worst.max((got - truth).abs());
        mean += (got - truth).abs() / cases as f64;
    }
    println!("worst {worst:.1e}, mean {mean:.1e}");
    assert!(worst < 1e-3, "{worst}");
}
