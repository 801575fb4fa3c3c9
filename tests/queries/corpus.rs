//! The corpus `tests/data/rays.bin`: ten thousand pairs with exact answers, on every device at every precision.

use std::cmp::Ordering;

use umbracast::exact::{ExactRoots, Root, Roots};
use umbracast::{Ends, Inside, Precision, Query, Ray, Sphere, Touch};
use umbracast_testing::{REGIMES, Row, byte_precisions, corpus, devices, steps};

const U: f64 = 1.0 / 16_777_216.0;

fn parts(rows: &[Row]) -> (Vec<Ray>, Vec<Sphere>) {
    rows.iter().map(|row| (row.ray, row.sphere)).unzip()
}

#[test]
fn integer_arithmetic_reproduces_the_corpus() {
    for (i, row) in corpus().iter().enumerate() {
        let exact = ExactRoots::new(&row.ray, &row.sphere);
        assert_eq!(exact.crossing as i8, row.crossing, "row {i}");
        assert_eq!(exact.origin_side() as i8, row.origin_side, "row {i}");
        if row.crossing >= 0 {
            assert_eq!(exact.round_f64(Root::Enter), row.t[0], "row {i} enter");
            assert_eq!(exact.round_f64(Root::Exit), row.t[1], "row {i} exit");
        }
    }
}

/// The expected hit flag of a row under a policy, from the flags of the record.
fn expected_hit(row: &Row, inside: Inside, touch: Touch) -> bool {
    let flag = match inside {
        Inside::Exit => row.flags[0],
        Inside::Enter => row.flags[1],
        _ => row.flags[2],
    };
    flag && row.crossing >= 0 && (touch == Touch::Hit || row.crossing > 0)
}

/// Whether an end lies within 32 f32 steps of a root, where rounded roots cannot decide.
fn near_an_end(row: &Row) -> bool {
    row.t.iter().any(|t| [row.ray.t_min, row.ray.t_max].iter().any(|end| steps(*end, *t as f32) <= 32))
}

/// Returns the number of wrong flags, and the rows with a wrong flag whose ends are not near a root.
fn wrong_flags(rows: &[Row], found: &[bool], inside: Inside, touch: Touch) -> (usize, Vec<usize>) {
    let wrong: Vec<usize> = (0..rows.len()).filter(|i| found[*i] != expected_hit(&rows[*i], inside, touch)).collect();
    let away = wrong.iter().copied().filter(|i| !near_an_end(&rows[*i])).collect();
    (wrong.len(), away)
}

#[test]
fn hit_flags_of_the_corpus_under_every_policy() {
    let rows = corpus();
    let (rays, spheres) = parts(&rows);
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        for precision in Precision::ALL {
            for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
                for touch in [Touch::Hit, Touch::Miss] {
                    let query = Query::default().inside(inside).touch(touch).precision(precision);
                    let hits = pairs.closest(&rays, &query).unwrap();
                    let found: Vec<bool> = hits.iter().map(|hit| hit.is_hit()).collect();
                    let occluded: Vec<bool> = pairs.occluded(&rays, &query).unwrap().iter().collect();
                    if byte_precisions(device).contains(&precision) {
                        assert_eq!(found, occluded, "{} {query:?}", device.name());
                    }
                    let (wrong, away) = wrong_flags(&rows, &found, inside, touch);
                    println!(
                        "{} {precision:?} {inside:?} {touch:?}: {wrong} wrong, {} away from ends, {} resolved exactly",
                        device.name(),
                        away.len(),
                        hits.report.resolved_exactly
                    );
                    match precision {
                        Precision::Fast | Precision::Standard => {
                            let limit = if precision == Precision::Fast { 32.0 * U } else { 2f64.powi(-40) };
                            for i in away {
                                let row = &rows[i];
                                let (far, reach) = bound(row);
                                let near = reach && precision == Precision::Fast;
                                assert!(row.gap.abs() <= limit * (1.0 + far) || near, "row {i} {row:?}");
                            }
                        }
                        _ => assert_eq!(wrong, 0, "{} {query:?}", device.name()),
                    }
                }
            }
        }
    }
}

/// The distance of the origin from the centre in radii, and whether an end lies within the bound of `fast` from a root.
fn bound(row: &Row) -> (f64, bool) {
    let e = (row.sphere.center.as_dvec3() - row.ray.origin.as_dvec3()).length();
    let (r, length) = (f64::from(row.sphere.radius), row.ray.direction.as_dvec3().length());
    let h = (row.t[1] - row.t[0]) / 2.0 * length;
    let allowed = 32.0 * U * (e + r + e * r / h) / length;
    let ends = [f64::from(row.ray.t_min), f64::from(row.ray.t_max)];
    (e / r, row.t.iter().any(|t| ends.iter().any(|end| (t - end).abs() <= allowed)))
}

#[test]
fn exact_gives_rounded_roots_with_closed_and_half_open_ends() {
    let rows = corpus();
    let (rays, spheres) = parts(&rows);
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        for inside in [Inside::Enter, Inside::Exit, Inside::Ignore] {
            for ends in [Ends::Closed, Ends::HalfOpen] {
                let query = Query::default().inside(inside).ends(ends).precision(Precision::Exact);
                let hits = pairs.closest(&rays, &query).unwrap();
                for (i, (row, hit)) in rows.iter().zip(hits.iter()).enumerate() {
                    let expected = truth(row, inside, ends);
                    assert_eq!(hit.is_hit().then_some(hit.t), expected, "{} row {i} {query:?} {row:?}", device.name());
                }
            }
        }
    }
}

/// The expected `t`: from the f64 roots of the corpus, or from integers if a rounded root equals an end.
fn truth(row: &Row, inside: Inside, ends: Ends) -> Option<f32> {
    if row.crossing < 0 {
        return None;
    }
    let exact = ExactRoots::new(&row.ray, &row.sphere);
    let [enter, exit] = row.t;
    let side = |root, t: f64, end: f32| {
        if t == f64::from(end) { exact.compare(root, end).unwrap() } else { t.total_cmp(&f64::from(end)) }
    };
    let starts_inside = side(Root::Enter, enter, row.ray.t_min) == Ordering::Less;
    if starts_inside && side(Root::Exit, exit, row.ray.t_min) == Ordering::Less {
        return None;
    }
    let (t, past) = match (starts_inside, inside) {
        (false, _) => (enter as f32, side(Root::Enter, enter, row.ray.t_max)),
        (true, Inside::Ignore) => return None,
        (true, Inside::Exit) => (exit as f32, side(Root::Exit, exit, row.ray.t_max)),
        (true, _) => (row.ray.t_min, row.ray.t_min.total_cmp(&row.ray.t_max)),
    };
    let expected_hit = past == Ordering::Less || (past == Ordering::Equal && ends == Ends::Closed);
    expected_hit.then_some(t + 0.0)
}

#[test]
fn roots_are_within_their_error_bounds() {
    let rows: Vec<Row> = corpus().into_iter().filter(|row| row.crossing > 0).collect();
    let (rays, spheres) = parts(&rows);
    let lines: Vec<Ray> = rays.iter().map(|ray| ray.line()).collect();
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let found = pairs.interval(&lines, &query).unwrap();
            let (mut worst, mut worst_step, mut missed) = (0f64, 0, [0usize; 11]);
            for (i, (row, interval)) in rows.iter().zip(found.iter()).enumerate() {
                if !interval.is_hit() {
                    assert_ne!(precision, Precision::Exact, "row {i}");
                    missed[usize::from(row.regime)] += 1;
                    continue;
                }
                assert_eq!(interval.id, i as u32);
                let length = row.ray.direction.as_dvec3().length();
                let e = (row.sphere.center.as_dvec3() - row.ray.origin.as_dvec3()).length();
                let r = f64::from(row.sphere.radius);
                let half = (row.t[1] - row.t[0]) / 2.0 * length;
                for (t, truth) in [interval.t_enter, interval.t_exit].into_iter().zip(row.t) {
                    if precision == Precision::Exact {
                        assert_eq!(t, truth as f32 + 0.0, "{} row {i} {row:?}", device.name());
                        continue;
                    }
                    let allowed = match precision {
                        Precision::Fast => 32.0 * U * (e + r + e * r / half),
                        _ => 8.0 * U * (truth.abs() * length + r * r / half),
                    };
                    // The smallest normal f32 is the allowance for underflow.
                    let share = (f64::from(t) - truth).abs() / (allowed / length + f64::from(f32::MIN_POSITIVE));
                    worst = worst.max(share);
                    assert!(
                        share <= 1.0,
                        "{} {precision:?} row {i}: {t} for {truth}, {share} of its bound; {row:?}",
                        device.name()
                    );
                    if precision == Precision::Standard && e >= 2.0 * r && half >= r / 10.0 {
                        worst_step = worst_step.max(steps(t, truth as f32));
                    }
                }
            }
            println!(
                "{} {precision:?}: worst root {worst:.3} of its bound, {worst_step} ulp from outside with h ≥ r/10; missed {:?}",
                device.name(),
                REGIMES.iter().zip(missed).filter(|(_, n)| *n > 0).collect::<Vec<_>>()
            );
            assert!(worst_step <= 16);
            let missed: usize = missed.iter().sum();
            assert!(precision != Precision::Standard || missed <= 3, "{missed} missed");
        }
    }
}

#[test]
fn approaches_of_whole_lines_are_within_their_error_bounds() {
    let rows = corpus();
    let (rays, spheres) = parts(&rows);
    let lines: Vec<Ray> = rays.iter().map(|ray| ray.line()).collect();
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        for precision in Precision::ALL {
            let found = pairs.approach(&lines, &Query::at(precision)).unwrap();
            let (mut worst_t, mut worst_clearance) = (0f64, 0f64);
            for (i, (row, approach)) in rows.iter().zip(found.iter()).enumerate() {
                let length = row.ray.direction.as_dvec3().length();
                let e = (row.sphere.center.as_dvec3() - row.ray.origin.as_dvec3()).length();
                let r = f64::from(row.sphere.radius);
                if precision == Precision::Exact {
                    assert_eq!(approach.t, row.tca as f32 + 0.0, "{} row {i}", device.name());
                    // `dist` is itself rounded to f64, hence an interval for the clearance.
                    let clearance = row.dist - r;
                    let blur = (row.dist + r) * 2f64.powi(-52);
                    let (low, high) = ((clearance - blur) as f32, (clearance + blur) as f32);
                    assert!(
                        low <= approach.clearance && approach.clearance <= high,
                        "{} row {i} {row:?} {approach:?}",
                        device.name()
                    );
                    continue;
                }
                let allowed = 8.0 * U * (e + (row.tca * length).abs()) + 8.0 * f64::from(f32::MIN_POSITIVE) * length;
                worst_t = worst_t.max((f64::from(approach.t) - row.tca).abs() * length / allowed);
                let allowed = 8.0 * U * (e + r) + 8.0 * f64::from(f32::MIN_POSITIVE);
                worst_clearance = worst_clearance.max((f64::from(approach.clearance) - (row.dist - r)).abs() / allowed);
            }
            println!(
                "{} {precision:?}: approach t {worst_t:.4}, clearance {worst_clearance:.4} of their bounds",
                device.name()
            );
            assert!(worst_t <= 1.0 && worst_clearance <= 1.0);
        }
    }
}
