//! The edge cases of `tests/data/degenerate.jsonl`: tangency, ends on roots, radius 0, huge and tiny numbers, and invalid
//! records. Every row is tested on every device, at every precision, in batches and as a single pair.

use serde_json::Value;
use umbracast::{Ends, Error, Hit, Inside, Interval, NO_SPHERE, OnBad, Precision, Query, Ray, Sphere, Touch};
use umbracast_testing::{byte_precisions, devices, with_and_without_tree};

const U: f64 = 1.0 / 16_777_216.0;

/// A row that can be cast, or one that must be refused (`refused`: the field that the error must name).
struct Row {
    id: String,
    ray: Ray,
    sphere: Sphere,
    refused: Option<&'static str>,
    /// The sign of the discriminant; and the sign of |o − c|² − r², if the row states it.
    crossing: i64,
    side: Option<i64>,
    roots: Option<[f64; 2]>,
    /// The exact `t` of the hit under `Inside::Enter` and under `Inside::Exit`; `None` for a miss.
    enter: Option<f64>,
    exit: Option<f64>,
    /// Whether the solid ball is hit according to the corpus, which states it for refused rows too.
    any_solid: bool,
}

fn vector(value: &Value) -> [f32; 3] {
    let list = value.as_array().expect("a vector");
    std::array::from_fn(|i| f32_input(&list[i]))
}

/// Reads an input as f32. Panics if the number is not representable, so that no input is rounded.
fn f32_input(value: &Value) -> f32 {
    let wide = value.as_f64().expect("a number");
    let narrow = wide as f32;
    assert_eq!(f64::from(narrow), wide, "an input is not representable in f32");
    narrow
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/degenerate.jsonl"))
        .expect("tests/data/degenerate.jsonl");
    let mut rows = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("row {i}: {error}"));
        let (id, inputs, recommended) = (value["id"].as_str().unwrap(), &value["inputs"], &value["recommended"]);
        if id == "non-finite" {
            // This row stands for all fields and all values that are not finite.
            rows.extend(non_finite_rows());
            continue;
        }
        let t_min = f32_input(&inputs["tmin"]);
        let t_max = inputs.get("tmax").map_or(f32::INFINITY, f32_input);
        let ray = Ray::new(vector(&inputs["o"]), vector(&inputs["d"])).between(t_min, t_max);
        let sphere = Sphere::new(vector(&inputs["c"]), f32_input(&inputs["r"]));
        let exact = &value["exact"];
        let roots = exact.get("t0").map(|t0| [t0.as_f64().unwrap(), exact["t1"].as_f64().unwrap()]);
        let refused = match (recommended["status"].as_str(), t_min > t_max) {
            (Some("zero_direction"), _) => Some("direction"),
            (Some("invalid"), _) => Some("r"),
            (None, true) => Some("t_min"),
            (None, false) => None,
            other => panic!("{id}: {other:?}"),
        };
        let (any_solid, any_surface) =
            (recommended["any_solid"].as_bool().unwrap(), recommended["any_surface"].as_bool().unwrap());
        let (mut enter, mut exit) = (None, None);
        if refused.is_none() {
            let first = f64::from(t_min);
            enter = any_solid.then(|| roots.unwrap()[0].max(first));
            exit = any_surface.then(|| roots.unwrap().into_iter().find(|t| *t >= first).unwrap());
            // If the corpus states the answer itself, it must be the same.
            for (key, ours) in [("first_clamp", enter), ("first_exit", exit)] {
                if let Some(stated) = recommended.get(key) {
                    assert_eq!(stated.as_f64(), ours, "{id} {key}");
                }
            }
            if let Some(both) = recommended.get("both") {
                assert_eq!(
                    both.as_array().unwrap().iter().map(Value::as_f64).collect::<Vec<_>>(),
                    roots.unwrap().map(Some)
                );
            }
        }
        let crossing = exact["sign_D"].as_i64().unwrap_or(0);
        let side = exact["sign_C"].as_i64();
        rows.push(Row { id: id.into(), ray, sphere, refused, crossing, side, roots, enter, exit, any_solid });
    }
    rows
}

fn non_finite_rows() -> Vec<Row> {
    let (ray, sphere) = (Ray::new([-3.0, 0.0, 0.0], [1.0, 0.0, 0.0]), Sphere::new([0.0; 3], 1.0));
    let mut rows = Vec::new();
    let mut push = |id: String, ray: Ray, sphere: Sphere, field: &'static str| {
        let (roots, enter, exit, side) = (None, None, None, None);
        let refused = Some(field);
        rows.push(Row { id, ray, sphere, refused, crossing: 0, side, roots, enter, exit, any_solid: false });
    };
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for i in 0..3 {
            let (mut origin, mut direction, mut center) = (ray, ray, sphere);
            origin.origin[i] = bad;
            direction.direction[i] = bad;
            center.center[i] = bad;
            push(format!("origin {i} {bad}"), origin, sphere, ["ox", "oy", "oz"][i]);
            push(format!("direction {i} {bad}"), direction, sphere, ["dx", "dy", "dz"][i]);
            push(format!("center {i} {bad}"), ray, center, ["x", "y", "z"][i]);
        }
        push(format!("radius {bad}"), ray, Sphere { radius: bad, ..sphere }, "r");
    }
    push("t_min NaN".into(), ray.between(f32::NAN, 1.0), sphere, "t_min");
    push("t_max NaN".into(), ray.between(0.0, f32::NAN), sphere, "t_max");
    push("starts at +inf".into(), ray.between(f32::INFINITY, f32::INFINITY), sphere, "t_min");
    push("ends at -inf".into(), ray.between(f32::NEG_INFINITY, f32::NEG_INFINITY), sphere, "t_max");
    rows
}

/// The rows that can be cast.
fn castable() -> Vec<Row> {
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.refused.is_none()).collect();
    assert_eq!(rows.len(), 23);
    rows
}

fn parts(rows: &[Row]) -> (Vec<Ray>, Vec<Sphere>) {
    rows.iter().map(|row| (row.ray, row.sphere)).unzip()
}

/// The guarantee for a row at a precision: the error bounds of both roots, and whether the hit flag is guaranteed.
fn guarantee(row: &Row, precision: Precision) -> ([f64; 2], bool) {
    let (o, d, c) = (row.ray.origin.as_dvec3(), row.ray.direction.as_dvec3(), row.sphere.center.as_dvec3());
    let (e, r, length) = (c - o, f64::from(row.sphere.radius), d.length());
    let unit = d / length;
    let b = (e - e.dot(unit) * unit).length();
    let Some(roots) = row.roots.filter(|_| row.crossing > 0) else {
        // No chord: the flag is guaranteed unless the line passes within the tangency band.
        let band = if precision == Precision::Fast { 32.0 * U } else { 2f64.powi(-40) } * (r + e.length());
        return ([0.0; 2], (b - r).abs() > band);
    };
    let h = (roots[1] - roots[0]) / 2.0 * length;
    let bounds = roots.map(|t| match precision {
        Precision::Fast => 32.0 * U * (e.length() + r + e.length() * r / h) / length,
        _ => 8.0 * U * (t.abs() * length + r * r / h) / length,
    });
    let ends = [f64::from(row.ray.t_min), f64::from(row.ray.t_max)];
    let clear = roots.iter().zip(bounds).all(|(t, bound)| ends.iter().all(|end| (t - end).abs() > bound));
    (bounds, clear)
}

/// Checks a result against the exact one. Returns whether the hit flag was right, which matters for rows without a guarantee.
fn check(row: &Row, precision: Precision, truth: Option<f64>, hit: Option<Hit>, what: &str) -> bool {
    let what = format!("{what} {} {precision:?}: {hit:?}, truth {truth:?}", row.id);
    let right = hit.is_some() == truth.is_some();
    let (bounds, guaranteed) = guarantee(row, precision);
    if precision == Precision::Exact {
        assert_eq!(hit.map(|hit| hit.t), truth.map(|t| t as f32), "{what}");
    } else {
        assert!(right || !guaranteed, "{what}");
        if let (Some(hit), Some(t)) = (hit, truth)
            && row.crossing > 0
        {
            // If a root lies within its error bound of the start, either root may be reported.
            let roots = row.roots.unwrap();
            let near = |t: f64, bound: f64| (f64::from(hit.t) - t).abs() <= bound;
            let other = !guaranteed && roots.into_iter().zip(bounds).any(|(root, bound)| near(root, bound));
            assert!(near(t, bounds[0].max(bounds[1])) || other, "{what}");
        }
    }
    if let Some(hit) = hit {
        assert!(hit.t >= row.ray.t_min && hit.t <= row.ray.t_max, "{what}");
    }
    right
}

#[test]
fn all_degenerate_rows_are_read() {
    let rows = rows();
    // 23 that can be cast, 3 zero directions, 1 empty range, 1 negative radius, and 34 variants of the last row.
    assert_eq!(rows.len(), 23 + 3 + 1 + 1 + 34);
    assert_eq!(rows.iter().filter(|row| row.crossing == 0 && row.refused.is_none()).count(), 6);
}

#[test]
fn every_castable_row_has_its_expected_hit() {
    let rows = castable();
    let (rays, spheres) = parts(&rows);
    for precision in Precision::ALL {
        for inside in [Inside::Enter, Inside::Exit] {
            let truth = |row: &Row| if inside == Inside::Enter { row.enter } else { row.exit };
            let query = Query::at(precision).inside(inside);
            for row in &rows {
                check(row, precision, truth(row), row.ray.hit(&row.sphere, &query), "alone");
            }
            for device in devices() {
                let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
                let hits = pairs.closest(&rays, &query).unwrap();
                let occluded = pairs.occluded(&rays, &query).unwrap();
                let (mut tangent, mut at_ends) = ([0, 0], [0, 0]);
                for (i, (row, hit)) in rows.iter().zip(hits.iter()).enumerate() {
                    let found = hit.is_hit().then_some(*hit);
                    assert_eq!(hit.id, if hit.is_hit() { i as u32 } else { NO_SPHERE });
                    assert!(hit.is_hit() || *hit == Hit::MISS, "{}: a miss is {hit:?}", row.id);
                    if byte_precisions(device).contains(&precision) {
                        assert_eq!(occluded.get(i), Some(hit.is_hit()), "{} {precision:?} {}", device.name(), row.id);
                    }
                    let right = check(row, precision, truth(row), found, device.name());
                    let tally = if row.crossing == 0 { &mut tangent } else { &mut at_ends };
                    if !guarantee(row, precision).1 {
                        tally[0] += usize::from(right);
                        tally[1] += 1;
                    }
                }
                if precision < Precision::Exact {
                    println!(
                        "{} {precision:?} {inside:?}: right without a guarantee: {} of {} tangent, {} of {} with a root at an end",
                        device.name(),
                        tangent[0],
                        tangent[1],
                        at_ends[0],
                        at_ends[1]
                    );
                }
            }
        }
    }
}

#[test]
fn touch_and_ends_policies_change_only_the_affected_rows() {
    let rows = castable();
    let (rays, spheres) = parts(&rows);
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        let exact = Query::at(Precision::Exact);
        let usual = pairs.closest(&rays, &exact).unwrap();
        for (query, changed) in [
            // One of the six tangent rows lies behind the start, and is a miss anyway.
            (exact.touch(Touch::Miss), 5),
            (exact.ends(Ends::HalfOpen), 2),
        ] {
            let found = pairs.closest(&rays, &query).unwrap();
            let mut count = 0;
            for ((row, usual), hit) in rows.iter().zip(usual.iter()).zip(found.iter()) {
                let named = match query.ends {
                    Ends::Closed => row.crossing == 0,
                    _ => ["end-on-entry", "point-interval"].contains(&row.id.as_str()),
                };
                let expected = if named { Hit::MISS } else { *usual };
                assert_eq!(*hit, expected, "{} {} {query:?}", device.name(), row.id);
                assert_eq!(row.ray.hit(&row.sphere, &query).is_some(), hit.is_hit(), "{} {query:?}", row.id);
                count += usize::from(named && usual.is_hit());
            }
            assert_eq!(count, changed);
        }
    }
}

#[test]
fn both_roots_of_every_row_are_within_bounds() {
    let rows = castable();
    let (rays, spheres) = parts(&rows);
    let lines: Vec<Ray> = rays.iter().map(|ray| ray.line()).collect();
    for row in &rows {
        let rounded = row.roots.map(|[t0, t1]| (t0 as f32, t1 as f32));
        assert_eq!(row.ray.roots(&row.sphere), rounded, "{}", row.id);
    }
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        for precision in Precision::ALL {
            let query = Query::at(precision);
            // For the whole line and for the ray as given. The roots are not clipped to the ray's ends.
            for clipped in [false, true] {
                let batch_rays = if clipped { &rays } else { &lines };
                let found = pairs.interval(batch_rays, &query).unwrap();
                for (row, interval) in rows.iter().zip(found.iter()) {
                    let what = format!("{} {precision:?} {}: {interval:?}", device.name(), row.id);
                    let met = if clipped { row.enter.is_some() } else { row.roots.is_some() };
                    let (bounds, guaranteed) = guarantee(row, precision);
                    if precision == Precision::Exact || guaranteed {
                        assert_eq!(interval.is_hit(), met, "{what}");
                    }
                    if !interval.is_hit() {
                        assert_eq!(*interval, Interval::MISS, "{what}");
                        continue;
                    }
                    let Some(roots) = row.roots else { continue };
                    for ((t, truth), bound) in [interval.t_enter, interval.t_exit].into_iter().zip(roots).zip(bounds) {
                        if precision == Precision::Exact {
                            assert_eq!(t, truth as f32, "{what}");
                        } else if row.crossing > 0 {
                            assert!((f64::from(t) - truth).abs() <= bound, "{what} {truth} ± {bound}");
                        }
                    }
                }
            }
        }
    }
}

/// Whether the closed ball contains the start. For rays with a zero direction this is the answer that the corpus states.
#[test]
fn starts_inside_on_and_outside_are_classified() {
    let mut count = 0;
    for row in rows() {
        let Some(side) = row.side else { continue };
        assert_eq!(row.sphere.contains(row.ray.origin), side <= 0, "{}", row.id);
        if row.refused == Some("direction") {
            assert_eq!(row.sphere.contains(row.ray.origin), row.any_solid, "{}", row.id);
        }
        count += 1;
    }
    assert_eq!(count, 27);
}

fn refusal(error: &Error) -> (&'static str, u64, &'static str) {
    match error {
        Error::BadRecord { what, index, field, value, why } => {
            assert!(!value.is_empty() && !why.is_empty());
            (what, *index, field)
        }
        other => panic!("{other}"),
    }
}

#[test]
fn bad_records_are_refused_by_field() {
    let rows = rows();
    let good = rows.iter().find(|row| row.id == "inside-away").unwrap();
    let bad: Vec<&Row> = rows.iter().filter(|row| row.refused.is_some()).collect();
    assert_eq!(bad.len(), 39);
    let (mut rays, mut spheres) = (0, 0);
    for row in bad {
        let field = row.refused.unwrap();
        let of_sphere = ["x", "y", "z", "r"].contains(&field);
        let what = if of_sphere { "sphere" } else { "ray" };
        let alone = if of_sphere { row.sphere.check() } else { row.ray.check() };
        assert_eq!(refusal(&alone.unwrap_err()), (what, 0, field), "{}", row.id);
        for precision in Precision::ALL {
            assert_eq!(row.ray.hit(&row.sphere, &Query::at(precision)), None, "{}", row.id);
        }
        assert_eq!(row.ray.roots(&row.sphere), None, "{}", row.id);
        assert_eq!(row.ray.approach(&row.sphere), None, "{}", row.id);
        if of_sphere {
            assert!(!row.sphere.contains(row.ray.origin), "{}", row.id);
        }
        for device in devices() {
            let scene = device.pairwise(&[good.sphere, row.sphere], &Default::default());
            if of_sphere {
                assert_eq!(refusal(&scene.err().unwrap()), ("sphere", 1, field), "{} {}", device.name(), row.id);
                spheres += 1;
                continue;
            }
            rays += 1;
            let scene = scene.unwrap();
            let batch = [good.ray, row.ray];
            let query = Query::at(Precision::Exact);
            let errors = [
                scene.closest(&batch, &query).unwrap_err(),
                scene.occluded(&batch, &query).unwrap_err(),
                scene.interval(&batch, &query).unwrap_err(),
                scene.approach(&batch, &query).unwrap_err(),
            ];
            for error in errors {
                assert_eq!(refusal(&error), ("ray", 1, field), "{} {}", device.name(), row.id);
            }
        }
    }
    // 13 spheres and 26 rays.
    assert_eq!((spheres, rays), (13 * devices().len(), 26 * devices().len()));
}

#[test]
fn skipped_rays_miss_are_counted_and_do_not_affect_others() {
    let all = rows();
    let rows: Vec<&Row> = all.iter().filter(|row| row.sphere.check().is_ok()).collect();
    let rays: Vec<Ray> = rows.iter().map(|row| row.ray).collect();
    let spheres: Vec<Sphere> = rows.iter().map(|row| row.sphere).collect();
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        for inside in [Inside::Enter, Inside::Exit] {
            let query = Query::at(Precision::Exact).inside(inside).on_bad(OnBad::Skip);
            let hits = pairs.closest(&rays, &query).unwrap();
            let occluded = pairs.occluded(&rays, &query).unwrap();
            let both = pairs.interval(&rays, &query).unwrap();
            for report in [&hits.report, &occluded.report, &both.report] {
                assert_eq!((report.rays, report.skipped), (49, 26), "{}", device.name());
            }
            for (i, row) in rows.iter().enumerate() {
                let truth = if inside == Inside::Enter { row.enter } else { row.exit };
                let t = truth.map_or(f32::INFINITY, |t| t as f32);
                assert_eq!(hits[i].t, t, "{} {}", device.name(), row.id);
                assert_eq!(occluded.get(i), Some(truth.is_some()), "{} {}", device.name(), row.id);
                assert_eq!(both[i].is_hit(), truth.is_some(), "{} {}", device.name(), row.id);
                if row.refused.is_some() {
                    assert_eq!((hits[i], both[i]), (Hit::MISS, Interval::MISS), "{} {}", device.name(), row.id);
                }
            }
        }
    }
}

/// Bounds of roots that exceed f32 decide nothing: exact arithmetic does.
#[test]
fn roots_whose_bounds_exceed_f32_are_resolved_exactly() {
    let behind = [Sphere::new([1e25, 1e25, -3e38], 3e38)];
    let around = [
        Sphere::new([1.0, 1.0, 0.0], 3e38),
        Sphere::new([-1e-40, 1e30, -1e-40], 0.0),
        Sphere::new([1e30, -1e-40, -3e38], 3e38),
    ];
    let inside = Ray::new([1e19, 1e-45, 1e-45], [0.0, -1e-40, -1e-40]).between(0.0, 1.0);
    for (spheres, ray, ids) in
        [(&behind[..], Ray::new([1.0, 1e30, 0.0], [0.0, 0.0, 1e-30]), &[][..]), (&around, inside, &[0])]
    {
        for device in devices() {
            for scene in with_and_without_tree(device, spheres) {
                let (query, rays) = (Query::at(Precision::Exact), [ray]);
                let all: Vec<u32> = scene.all(&rays, &query).unwrap().records.iter().map(|found| found.id).collect();
                assert_eq!(all, ids, "{ray:?} on {}", device.name());
                let hit = ids.first().map_or(Hit::MISS, |&id| Hit { t: 0.0, id });
                assert_eq!(scene.closest(&rays, &query).unwrap().records, [hit], "{ray:?} on {}", device.name());
                assert_eq!(scene.occluded(&rays, &query).unwrap().get(0), Some(hit.is_hit()));
            }
        }
    }
}
