//! Ray–sphere test cases from the test suites of 20 other projects (`tests/data/peer_cases.jsonl`). Every case of a supported kind
//! is tested under that project's own policies, on every device and as a single pair.
//!
//! The cases are f64; each input is rounded once to f32. Two bounds on the difference of a time follow: the tolerance that the
//! case itself states, and the effect of that rounding, derived at [`Case::reach`].

use std::collections::BTreeMap;
use std::f64::consts::PI;

use crate::support::devices;
use serde_json::Value;
use umbracast::exact::{ExactRoots, Root};
use umbracast::glam::DVec3;
use umbracast::{
    Approach, Ellipsoid, Ellipsoids, Ends, Hit, Inside, Interval, Precision, Query, Ray, Sphere, Spheres, Touch,
    blocking, check_ray, check_sphere,
};

const U: f64 = 1.0 / 16_777_216.0;

/// The number of cases of each kind that are tested, and of those that are not, so that no case is lost silently.
const COVERED: [(&str, usize); 11] = [
    ("closest_approach", 17),
    ("incidence", 6),
    ("line_ellipsoid", 103),
    ("line_sphere", 144),
    ("moving_spheres", 28),
    ("normal", 4),
    ("ray_ellipsoid", 152),
    ("ray_sphere", 253),
    ("ricochet", 4),
    ("segment_ellipsoid", 60),
    ("segment_sphere", 76),
];
const NOT_COVERED: [(&str, usize, &str); 1] = [("reflect", 2, "a vector and a normal, no ray and no sphere")];

/// Cases whose answer under their project's own policies changes when the inputs are rounded to f32, in addition to those that the
/// data marks as `flips`: a point 1e-12 inside a surface is rounded onto it.
const ROUNDED_ONTO_THE_SURFACE: [&str; 1] = ["billiards-025"];

struct Case {
    id: String,
    kind: String,
    ray: Ray,
    /// For an ellipsoid, its bounding ball.
    sphere: Sphere,
    ellipsoid: Option<Ellipsoid>,
    query: Query,
    /// The rounding errors of the inputs: `moved` is the sum for origin, centre and radius, `turned` that of the direction relative
    /// to its length.
    moved: f64,
    turned: f64,
    /// The project's `t` is ours times this: 1, or |d| if the project's `t` is a distance.
    scale: f64,
    expected: Value,
    verify: Value,
}

fn vector(value: &Value) -> DVec3 {
    let list: Vec<f64> = value.as_array().expect("a vector").iter().map(|x| x.as_f64().unwrap()).collect();
    DVec3::from_slice(&list)
}

/// The policies that the `semantics` of a case stand for, and whether its times are distances. Unknown semantics are a failure.
fn policies(semantics: &Value, kind: &str, repo: &str, on_surface: bool) -> (Query, bool) {
    let mut query = Query::at(Precision::Exact);
    let mut lengths = false;
    for (key, word) in semantics.as_object().expect("an object") {
        match (key.as_str(), word.as_str().expect("a string")) {
            ("inside", "exit" | "hit if the boundary is crossed" | "surface only") => query.inside = Inside::Exit,
            // Both roots, or the range inside the ball, are also compared with those of the `interval` query.
            ("inside", "start 0, stop at exit" | "both roots") => query.inside = Inside::Enter,
            ("inside", "miss") => query.inside = Inside::Ignore,
            ("tangent", "hit" | "hit, single point" | "hit, point repeated" | "hit, root repeated") => {}
            ("tangent", "miss") => query.touch = Touch::Miss,
            ("tangent", "miss when the origin is on the surface") => {
                if on_surface {
                    query.touch = Touch::Miss;
                }
            }
            // The ray as given, with `t` in units of the direction.
            ("direction", "un-normalised translation, fraction in [0,1]" | "un-normalised") => {}
            ("direction", "normalised" | "normalised by the test before the call") => lengths = true,
            ("direction", "end point; distances along the line") => lengths = true,
            ("t_unit", "distance") => lengths = true,
            ("interval", "surface roots inside [tmin,tmax]; a sphere that swallows the whole interval is a miss") => {
                // The text does not say whether the upper end belongs to the range. The fourth case shows that it does not.
                (query.inside, query.ends) = (Inside::Exit, Ends::HalfOpen);
            }
            ("interval", "t in [0,1]") => {}
            // These concern the format of the results, not hit or miss.
            ("on_surface", "with the flag \"on\" the zero root is dropped") => {}
            ("returns", "interval [start,stop] along the ray") => {}
            ("axes", "Right is taken as -X; Left as +X") => {}
            ("note", "planar" | "CGAL gives the squared radius; the sphere is a surface, not a ball") => {}
            other => panic!("{kind}: unknown semantics {other:?}"),
        }
    }
    // Not stated in the semantics, but an origin inside is a miss there.
    if repo == "godotengine/godot" {
        query.inside = Inside::Ignore;
    }
    (query, lengths)
}

impl Case {
    /// Reads a case; `None` if its kind is not supported.
    fn read(value: &Value) -> Option<Self> {
        let (id, kind) = (value["id"].as_str().unwrap().to_owned(), value["kind"].as_str().unwrap().to_owned());
        let repo = value["source"]["repo"].as_str().unwrap();
        let (inputs, expected) = (&value["inputs"], value["expected"].clone());
        let t_max = |default: f64| inputs.get("tmax").map_or(default, |t| t.as_f64().unwrap());
        let t_min = inputs.get("tmin").map_or(0.0, |t| t.as_f64().unwrap());
        let infinity = f64::INFINITY;
        let mut radius = inputs.get("r").and_then(Value::as_f64);
        if let Some(square) = inputs.get("r2") {
            radius = Some(square.as_f64().unwrap().sqrt());
        }
        let radii = inputs.get("radii").map(vector);
        if let Some(radii) = radii {
            radius = Some(radii.max_element());
        }
        // Origin, direction, centre, radius and ends in f64.
        let (o, d, c, r, ends) = match kind.as_str() {
            "ray_sphere" | "ray_ellipsoid" | "incidence" | "ricochet" => {
                (vector(&inputs["o"]), vector(&inputs["d"]), vector(&inputs["c"]), radius?, (t_min, t_max(infinity)))
            }
            "line_sphere" | "line_ellipsoid" => {
                (vector(&inputs["o"]), vector(&inputs["d"]), vector(&inputs["c"]), radius?, (-infinity, infinity))
            }
            "segment_sphere" | "segment_ellipsoid" => {
                let (p, q) = (vector(&inputs["p"]), vector(&inputs["q"]));
                (p, q - p, vector(&inputs["c"]), radius?, (0.0, 1.0))
            }
            "closest_approach" => {
                let ends = match inputs.get("domain").map(|word| word.as_str().unwrap()) {
                    Some("line") => (-infinity, infinity),
                    Some("segment") => (0.0, 1.0),
                    Some("ray") | None => (0.0, infinity),
                    other => panic!("{id}: {other:?}"),
                };
                (vector(&inputs["o"]), vector(&inputs["d"]), vector(&inputs["c"]), radius?, ends)
            }
            // The normal at a point: cast an oblique ray from outside that hits the sphere there.
            "normal" => {
                let (p, c) = (vector(&inputs["point"]), vector(&inputs["c"]));
                let n = p - c;
                let o = p + 3.0 * n + n.any_orthogonal_vector();
                (o, p - o, c, radius?, (0.0, infinity))
            }
            // In the rest frame of one ball: the sum of the radii, the difference of the velocities.
            "moving_spheres" => {
                let d = vector(&inputs["v1"]) - vector(&inputs["v2"]);
                assert_eq!(d.as_vec3().as_dvec3(), d, "{id}: the relative velocity is no f32");
                let r = inputs["r1"].as_f64().unwrap() + inputs["r2"].as_f64().unwrap();
                (vector(&inputs["p1"]), d, vector(&inputs["p2"]), r, (0.0, t_max(infinity)))
            }
            _ => return None,
        };
        let ray = if kind.starts_with("segment") {
            Ray::segment(o.as_vec3(), vector(&inputs["q"]).as_vec3())
        } else {
            Ray::new(o.as_vec3(), d.as_vec3()).between(ends.0 as f32, ends.1 as f32)
        };
        let sphere = Sphere::new(c.as_vec3(), r as f32);
        check_ray(0, &ray).unwrap();
        check_sphere(0, &sphere).unwrap();
        let ellipsoid = radii.map(|radii| Ellipsoid::new(sphere.center, radii.as_vec3()));
        let sizes = radii.map_or(DVec3::X * r, |radii| radii);
        let rounded = ellipsoid.map_or(DVec3::X * f64::from(sphere.radius), |ellipsoid| ellipsoid.radii.as_dvec3());
        let moved = (ray.origin.as_dvec3() - o).length()
            + (sphere.center.as_dvec3() - c).length()
            + (rounded - sizes).abs().element_sum();
        let turned = (ray.direction.as_dvec3() - d).length() / d.length();
        let on_surface = radii.map_or((o - c).length() == r, |radii| ((o - c) / radii).length() == 1.0);
        let (mut query, lengths) = policies(&value["semantics"], &kind, repo, on_surface);
        if ellipsoid.is_some() {
            // `exact` is not available for ellipsoids.
            query.precision = Precision::Standard;
        }
        let scale = if lengths { d.length() } else { 1.0 };
        Some(Self {
            id,
            kind,
            ray,
            sphere,
            ellipsoid,
            query,
            moved,
            turned,
            scale,
            expected,
            verify: value["verify"].clone(),
        })
    }

    /// Upper bound on the change of a root `t` when the inputs are rounded to f32, given both true roots, in the project's unit.
    ///
    /// In the plane of the ray and the centre, the perpendicular foot moves along the ray by at most δ = `moved` + (|far root| + r) ·
    /// `turned`. The centre's distance b from the line and the radius together change by at most δ too. The half chord
    /// h = √(r² − b²) then changes by at most 2 r δ/h, and by at most 2 √(r δ) where the line grazes. The rounding of `t` itself is
    /// added. It is all that remains if the inputs are f32 numbers. For an ellipsoid the error bound of its roots is added, because
    /// they are not rounded from exact values.
    fn root_bound(&self, t: f64, roots: [f64; 2]) -> f64 {
        let length = self.ray.direction.as_dvec3().length();
        let (mut r, mut solve) = (f64::from(self.sphere.radius), 0.0);
        if let Some(Ellipsoid { radii, .. }) = self.ellipsoid {
            // In the space where the ellipsoid is a ball of this radius, no length is greater.
            r *= f64::from(radii.max_element() / radii.min_element());
            let (half, most) = ((roots[1] - roots[0]) / 2.0, r / length);
            solve = 8.0 * U * (t.abs() + most * most / half.max(f64::MIN_POSITIVE)).min(1e4 * most) * self.scale;
        }
        let far = roots[0].abs().max(roots[1].abs()) * length;
        let delta = self.moved + (far + r) * self.turned;
        let half = (roots[1] - roots[0]) / 2.0 * length;
        let chord = (2.0 * r * delta / half.max(f64::MIN_POSITIVE)).min(2.0 * (r * delta).sqrt());
        1.01 * (2.0 * delta + chord) / length * self.scale + U * (t * self.scale).abs() + solve
    }

    /// The expected hit flag: the stated one or, if rounding the inputs to f32 changes the answer, that of the rounded inputs.
    fn hit(&self) -> bool {
        let stated = self.expected["hit"].as_bool().expect("a boolean hit");
        let flips = &self.verify["f32"];
        if flips["flips"].as_bool() == Some(true) {
            let key = if self.query.inside == Inside::Exit { "hit_surface" } else { "hit_solid" };
            assert_eq!((self.query.touch, self.query.ends, stated), (Touch::Hit, Ends::Closed, false), "{}", self.id);
            return flips[key].as_bool().unwrap();
        }
        stated != ROUNDED_ONTO_THE_SURFACE.contains(&self.id.as_str())
    }

    /// Whether the ray is tangent to an ellipsoid, or starts or ends on it, so that rounding decides between hit and miss. (Spheres are
    /// decided exactly.)
    fn grazes(&self) -> bool {
        self.ellipsoid.is_some_and(|Ellipsoid { center, radii, .. }| {
            let e = (center.as_dvec3() - self.ray.origin.as_dvec3()) / radii.as_dvec3();
            let d = self.ray.direction.as_dvec3() / radii.as_dvec3();
            let p = e - e.dot(d) / d.length_squared() * d;
            let ends = [self.ray.t_min, self.ray.t_max].into_iter().filter(|t| t.is_finite());
            let points = ends.map(|t| e - f64::from(t) * d);
            points.chain([p]).any(|v| (v.length() - 1.0).abs() < 1e-12)
        })
    }

    fn tolerance(&self) -> f64 {
        self.expected.get("tol").map_or(0.0, |tol| tol.as_f64().unwrap())
    }

    fn roots(&self) -> Option<[f64; 2]> {
        let exact = &self.verify["exact"];
        Some([exact.get("t0")?.as_f64()?, exact["t1"].as_f64()?])
    }
}

/// All cases of supported kinds. Asserts that the counts are those of `COVERED` and `NOT_COVERED`.
fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/peer_cases.jsonl"))
        .expect("tests/data/peer_cases.jsonl");
    let (mut covered, mut left_out) = (BTreeMap::<String, usize>::new(), BTreeMap::<String, usize>::new());
    let mut cases = Vec::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let status = value["verify"]["status"].as_str().unwrap();
        assert!(["ok", "semantic"].contains(&status), "{}: {status}", value["id"]);
        let kind = value["kind"].as_str().unwrap().to_owned();
        match Case::read(&value) {
            Some(case) => {
                cases.push(case);
                *covered.entry(kind).or_default() += 1;
            }
            None => *left_out.entry(kind).or_default() += 1,
        }
    }
    assert_eq!(covered.into_iter().collect::<Vec<_>>(), COVERED.map(|(kind, n)| (kind.to_owned(), n)));
    assert_eq!(left_out.into_iter().collect::<Vec<_>>(), NOT_COVERED.map(|(kind, n, _)| (kind.to_owned(), n)));
    cases
}

#[derive(Default, Debug, PartialEq)]
struct Tally {
    flags: usize,
    /// Rays that are tangent to an ellipsoid, or start or end on it.
    grazing: usize,
    /// The number of those whose hit flag is nevertheless the stated one.
    agreed: usize,
    /// Compared values that the project states: times, points, normals and angles.
    stated: usize,
    /// Compared roots of the equation in f64, which most projects do not state.
    roots: usize,
}

/// Checks the results for a case of a kind that has hits and misses.
fn check_case(case: &Case, hit: Option<Hit>, interval: Option<Interval>, tally: &mut Tally, who: &str) {
    let what = format!("{who} {} {:?}: {hit:?} {interval:?}", case.id, case.query);
    assert_eq!(interval.is_some(), hit.is_some(), "{what}");
    if case.kind == "normal" || case.kind == "incidence" || case.kind == "ricochet" {
        check_geometry(case, hit.unwrap_or_else(|| panic!("{what}")), tally, &what);
        return;
    }
    if case.grazes() {
        tally.grazing += 1;
        tally.agreed += usize::from(hit.is_some() == case.hit());
        return;
    }
    assert_eq!(hit.is_some(), case.hit(), "{what}");
    tally.flags += 1;
    let (Some(hit), Some(interval)) = (hit, interval) else { return };
    let found = [f64::from(interval.t_enter), f64::from(interval.t_exit)];
    let Some(roots) = case.roots() else {
        // The rounded inputs hit the sphere and the given ones do not: compare with exact integer arithmetic.
        let exact = ExactRoots::new(&case.ray, &case.sphere);
        assert_eq!(found, [Root::Enter, Root::Exit].map(|root| f64::from(exact.round_f64(root) as f32)), "{what}");
        return;
    };
    let near = |t: f64, truth: f64, tolerance: f64| {
        assert!((t - truth).abs() <= tolerance, "{what}: {t} for {truth} ± {tolerance}");
    };
    // The bounds of both roots in our unit.
    let root_bound = roots.map(|t| case.root_bound(t, roots) / case.scale);
    for i in 0..2 {
        near(found[i], roots[i], root_bound[i]);
        tally.roots += 1;
    }
    // The time of the hit is the start or one of the roots.
    let t = f64::from(hit.t);
    let start = f64::from(case.ray.t_min);
    assert!(t == start || t == found[0] || t == found[1], "{what}");
    // Compare with the values that the project states.
    let (tolerance, scale) = (case.tolerance(), case.scale);
    for (key, value) in case.expected.as_object().unwrap() {
        let truth = value.as_f64();
        match key.as_str() {
            "hit" | "tol" => continue,
            // This is the time of the hit, whichever root it is.
            "t" => near(t * scale, truth.unwrap(), tolerance.max(root_bound[0].max(root_bound[1]) * scale)),
            "t0" => near(found[0] * scale, truth.unwrap(), tolerance.max(root_bound[0] * scale)),
            "t1" => near(found[1] * scale, truth.unwrap(), tolerance.max(root_bound[1] * scale)),
            "start" => near(t, truth.unwrap(), 0.0),
            "t0_sign" => assert_eq!(found[0].signum(), truth.unwrap(), "{what}"),
            "t1_sign" => assert_eq!(found[1].signum(), truth.unwrap(), "{what}"),
            "ts" => {
                let end = f64::from(case.ray.t_max);
                let inside: Vec<f64> = found.into_iter().filter(|t| start <= *t && *t < end).collect();
                let list: Vec<f64> = value.as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
                assert_eq!(inside.len(), list.len(), "{what}");
                assert_eq!(t, inside[0], "{what}");
                for (t, truth) in inside.into_iter().zip(list) {
                    near(t, truth, tolerance.max(root_bound[0].max(root_bound[1])));
                }
            }
            "point" => {
                let length = case.ray.direction.as_dvec3().length();
                let off = (hit.point(&case.ray, &case.sphere).as_dvec3() - vector(value)).length();
                assert!(off <= tolerance.max(root_bound[0].max(root_bound[1]) * length), "{what}: {off}");
            }
            "points" => {
                for ((t, point), root_bound) in found.into_iter().zip(value.as_array().unwrap()).zip(root_bound) {
                    let hit = Hit { t: t as f32, id: 0 };
                    let off = (hit.point(&case.ray, &case.sphere).as_dvec3() - vector(point)).length();
                    let length = case.ray.direction.as_dvec3().length();
                    assert!(off <= tolerance.max(root_bound * length), "{what}: {off}");
                }
            }
            "normal" | "normal_towards_target" => {
                let outward = hit.normal(&case.ray, &case.sphere).as_dvec3();
                let normal = if key == "normal" { outward } else { -outward };
                assert!((normal - vector(value)).length() <= tolerance.min(1e-6), "{what}: {normal}");
            }
            other => panic!("{what}: unknown expected value {other}"),
        }
        tally.stated += 1;
    }
}

/// Checks angles, normals and reflected directions. The cases allow up to half a degree; here errors of a few f32 roundings are
/// allowed.
fn check_geometry(case: &Case, hit: Hit, tally: &mut Tally, what: &str) {
    let attributes = hit.attributes(&case.ray, &case.sphere);
    let (normal, direction) = (attributes.normal.as_dvec3(), case.ray.direction.as_dvec3().normalize());
    for (key, value) in case.expected.as_object().unwrap() {
        let (found, truth, tolerance) = match key.as_str() {
            "hit" | "tol" => continue,
            "normal" => (normal, vector(value), 1e-6),
            "point" => (attributes.point.as_dvec3(), vector(value), 1e-5),
            "dir_out" => (direction - 2.0 * direction.dot(normal) * normal, vector(value), 1e-6),
            "angle_to_normal_deg" => {
                (DVec3::X * f64::from(attributes.angle), DVec3::X * value.as_f64().unwrap() * (PI / 180.0), 1e-6)
            }
            other => panic!("{what}: unknown expected value {other}"),
        };
        assert!((found - truth).length() <= tolerance, "{what} {key}: {found} for {truth}");
        assert!(tolerance <= case.tolerance(), "{what}: the project's tolerance is smaller than ours");
        tally.stated += 1;
    }
}

/// Checks the closest approach: gap, point or squared distance, as the project states it.
fn check_approach(case: &Case, found: Approach, tally: &mut Tally, who: &str) {
    let what = format!("{who} {}: {found:?}", case.id);
    let r = f64::from(case.sphere.radius);
    let exact = &case.verify["exact"];
    let (t, distance) = (exact["t"].as_f64().unwrap(), exact["dist"].as_f64().unwrap());
    let length = case.ray.direction.as_dvec3().length();
    let e = (case.sphere.center - case.ray.origin).as_dvec3().length();
    // The distance is a difference of the inputs: it changes by at most as much as they do, and is rounded once.
    let off = 1.01 * (case.moved + (t.abs() * length + e) * case.turned);
    assert!((f64::from(found.t) - t).abs() * length <= off + U * t.abs() * length, "{what} t {t}");
    let clearance = f64::from(found.clearance);
    assert!((clearance - (distance - r)).abs() <= off + U * (distance - r).abs(), "{what} distance {distance}");
    tally.roots += 2;
    let tolerance = case.tolerance().max(off + U * (distance + r));
    for (key, value) in case.expected.as_object().unwrap() {
        let wrong = match key.as_str() {
            "tol" => continue,
            "gap_to_ball" => (clearance.max(0.0) - value.as_f64().unwrap()).abs(),
            "dist2" => ((clearance + r).powi(2) - value.as_f64().unwrap()).abs() / (2.0 * distance).max(1.0),
            "point" => (case.ray.point_at(found.t).as_dvec3() - vector(value)).length(),
            other => panic!("{what}: unknown expected value {other}"),
        };
        assert!(wrong <= tolerance, "{what} {key}: off by {wrong}, {tolerance} allowed");
        tally.stated += 1;
    }
}

/// The number of comparisons in one pass over all cases.
const COMPARED: Tally = Tally { flags: 501, grazing: 0, agreed: 0, stated: 164, roots: 566 };
const COMPARED_WITH_ELLIPSOIDS: Tally = Tally { flags: 732, grazing: 84, agreed: 82, stated: 194, roots: 730 };

#[test]
fn peer_cases_agree_as_single_pairs() {
    let mut tally = Tally::default();
    for case in cases().into_iter().filter(|case| case.ellipsoid.is_none()) {
        if case.kind == "closest_approach" {
            check_approach(&case, case.ray.approach(&case.sphere).unwrap(), &mut tally, "alone");
            continue;
        }
        let hit = case.ray.hit(&case.sphere, &case.query);
        let interval = hit.map(|hit| {
            let (t_enter, t_exit) = case.ray.roots(&case.sphere).expect("a hit has roots");
            Interval { t_enter, t_exit, id: hit.id }
        });
        check_case(&case, hit, interval, &mut tally, "alone");
    }
    assert_eq!(tally, COMPARED);
}

#[test]
fn peer_cases_agree_in_batches_on_every_device() {
    let cases = cases();
    for device in devices() {
        let mut tally = Tally::default();
        let mut groups: Vec<(Query, &str, Vec<&Case>)> = Vec::new();
        for case in &cases {
            let group_kind = match case.kind.as_str() {
                "closest_approach" => "nearest",
                _ if case.ellipsoid.is_some() => "ellipsoids",
                _ => "spheres",
            };
            match groups.iter_mut().find(|(query, other, _)| *query == case.query && *other == group_kind) {
                Some((_, _, group)) => group.push(case),
                None => groups.push((case.query, group_kind, vec![case])),
            }
        }
        for (query, group_kind, group) in &groups {
            let spheres: Vec<Sphere> = group.iter().map(|case| case.sphere).collect();
            let rays: Vec<Ray> = group.iter().map(|case| case.ray).collect();
            let ellipsoids = Ellipsoids::new(group.iter().filter_map(|case| case.ellipsoid));
            let given = if ellipsoids.is_empty() { Spheres::from(&spheres) } else { (&ellipsoids).into() };
            let pairs = blocking::pairwise(device, given).unwrap();
            if *group_kind == "nearest" {
                let found = blocking::approach(&pairs, &rays, query).unwrap();
                for (case, approach) in group.iter().zip(found.iter()) {
                    check_approach(case, *approach, &mut tally, device.name());
                }
                continue;
            }
            let hits = blocking::closest(&pairs, &rays, query).unwrap();
            let both = blocking::interval(&pairs, &rays, query).unwrap();
            let occluded = blocking::occluded(&pairs, &rays, query).unwrap();
            let attributes = (*group_kind == "spheres").then(|| pairs.attributes(&rays, &hits, query).unwrap());
            for (i, case) in group.iter().enumerate() {
                if let Some(attributes) = &attributes {
                    // NaN of a miss is itself here.
                    let alone = hits[i].attributes(&case.ray, &case.sphere);
                    assert_eq!(format!("{:?}", attributes[i]), format!("{alone:?}"), "{} {}", device.name(), case.id);
                }
                assert_eq!(occluded.get(i), Some(hits[i].is_hit()), "{} {}", device.name(), case.id);
                let interval = both[i].is_hit().then_some(both[i]);
                check_case(case, hits[i].is_hit().then_some(hits[i]), interval, &mut tally, device.name());
            }
        }
        println!("{}: {} groups of equal policies, {tally:?}", device.name(), groups.len());
        assert_eq!(tally, COMPARED_WITH_ELLIPSOIDS);
    }
    for (kind, count) in COVERED {
        println!("{kind}: {count} cases");
    }
    for (kind, count, why) in NOT_COVERED {
        println!("{kind}: {count} cases not tested: {why}");
    }
    println!("{} of {} cases", cases.len(), cases.len() + NOT_COVERED.iter().map(|row| row.1).sum::<usize>());
}
