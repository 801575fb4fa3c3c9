//! Reads the test cases of other projects (`tests/data/peer_cases.jsonl`), with the policies that their semantics stand for.

use std::collections::BTreeMap;

use super::peers::U;
use serde_json::Value;
use umbracast::glam::DVec3;
use umbracast::{Ellipsoid, Ends, Inside, Precision, Query, Ray, Sphere, Touch};

/// The number of cases of each kind, so that no case is lost silently.
pub(super) const COVERED: [(&str, usize); 11] = [
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

/// Cases whose answer under their project's own policies changes when the inputs are rounded to f32, in addition to those that the
/// data marks as `flips`: a point 1e-12 inside a surface is rounded onto it.
const ROUNDED_ONTO_THE_SURFACE: [&str; 1] = ["billiards-025"];

pub(super) struct Case {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) ray: Ray,
    /// For an ellipsoid, its bounding ball.
    pub(super) sphere: Sphere,
    pub(super) ellipsoid: Option<Ellipsoid>,
    pub(super) query: Query,
    /// The rounding errors of the inputs: `moved` is the sum for origin, centre and radius, `turned` that of the direction relative
    /// to its length.
    pub(super) moved: f64,
    pub(super) turned: f64,
    /// The project's `t` is ours times this: 1, or |d| if the project's `t` is a distance.
    pub(super) scale: f64,
    pub(super) expected: Value,
    pub(super) verify: Value,
}

pub(super) fn vector(value: &Value) -> DVec3 {
    let list: Vec<f64> = value.as_array().expect("a vector").iter().map(|x| x.as_f64().unwrap()).collect();
    DVec3::from_slice(&list)
}

/// The policies that the `semantics` of a case stand for, and whether its times are distances. Unknown semantics are a failure.
pub(super) fn policies(semantics: &Value, kind: &str, repo: &str, on_surface: bool) -> (Query, bool) {
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
    pub(super) fn read(value: &Value) -> Self {
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
        let radius = || radius.unwrap_or_else(|| panic!("{id}: no radius"));
        // Origin, direction, centre, radius and ends in f64.
        let (o, d, c, r, ends) = match kind.as_str() {
            "ray_sphere" | "ray_ellipsoid" | "incidence" | "ricochet" => {
                (vector(&inputs["o"]), vector(&inputs["d"]), vector(&inputs["c"]), radius(), (t_min, t_max(infinity)))
            }
            "line_sphere" | "line_ellipsoid" => {
                (vector(&inputs["o"]), vector(&inputs["d"]), vector(&inputs["c"]), radius(), (-infinity, infinity))
            }
            "segment_sphere" | "segment_ellipsoid" => {
                let (p, q) = (vector(&inputs["p"]), vector(&inputs["q"]));
                (p, q - p, vector(&inputs["c"]), radius(), (0.0, 1.0))
            }
            "closest_approach" => {
                let ends = match inputs.get("domain").map(|word| word.as_str().unwrap()) {
                    Some("line") => (-infinity, infinity),
                    Some("segment") => (0.0, 1.0),
                    Some("ray") | None => (0.0, infinity),
                    other => panic!("{id}: {other:?}"),
                };
                (vector(&inputs["o"]), vector(&inputs["d"]), vector(&inputs["c"]), radius(), ends)
            }
            // The normal at a point: cast an oblique ray from outside that hits the sphere there.
            "normal" => {
                let (p, c) = (vector(&inputs["point"]), vector(&inputs["c"]));
                let n = p - c;
                let o = p + 3.0 * n + n.any_orthogonal_vector();
                (o, p - o, c, radius(), (0.0, infinity))
            }
            // In the rest frame of one ball: the sum of the radii, the difference of the velocities.
            "moving_spheres" => {
                let d = vector(&inputs["v1"]) - vector(&inputs["v2"]);
                assert_eq!(d.as_vec3().as_dvec3(), d, "{id}: the relative velocity is no f32");
                let r = inputs["r1"].as_f64().unwrap() + inputs["r2"].as_f64().unwrap();
                (vector(&inputs["p1"]), d, vector(&inputs["p2"]), r, (0.0, t_max(infinity)))
            }
            other => panic!("{id}: unknown kind {other}"),
        };
        let ray = if kind.starts_with("segment") {
            Ray::segment(o.as_vec3(), vector(&inputs["q"]).as_vec3())
        } else {
            Ray::new(o.as_vec3(), d.as_vec3()).between(ends.0 as f32, ends.1 as f32)
        };
        let sphere = Sphere::new(c.as_vec3(), r as f32);
        ray.check().unwrap();
        sphere.check().unwrap();
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
        Self {
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
        }
    }

    /// Upper bound on the change of a root `t` when the inputs are rounded to f32, given both true roots, in the project's unit.
    ///
    /// In the plane of the ray and the centre, the perpendicular foot moves along the ray by at most δ = `moved` + (|far root| + r) ·
    /// `turned`. The centre's distance b from the line and the radius together change by at most δ too. The half chord
    /// h = √(r² − b²) then changes by at most 2 r δ/h, and by at most 2 √(r δ) where the line grazes. The rounding of `t` itself is
    /// added. It is all that remains if the inputs are f32 numbers. For an ellipsoid the error bound of its roots is added, because
    /// they are not rounded from exact values.
    pub(super) fn root_bound(&self, t: f64, roots: [f64; 2]) -> f64 {
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
    pub(super) fn hit(&self) -> bool {
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
    pub(super) fn grazes(&self) -> bool {
        self.ellipsoid.is_some_and(|Ellipsoid { center, radii, .. }| {
            let e = (center.as_dvec3() - self.ray.origin.as_dvec3()) / radii.as_dvec3();
            let d = self.ray.direction.as_dvec3() / radii.as_dvec3();
            let p = e - e.dot(d) / d.length_squared() * d;
            let ends = [self.ray.t_min, self.ray.t_max].into_iter().filter(|t| t.is_finite());
            let points = ends.map(|t| e - f64::from(t) * d);
            points.chain([p]).any(|v| (v.length() - 1.0).abs() < 1e-12)
        })
    }

    pub(super) fn tolerance(&self) -> f64 {
        self.expected.get("tol").map_or(0.0, |tol| tol.as_f64().unwrap())
    }

    pub(super) fn roots(&self) -> Option<[f64; 2]> {
        let exact = &self.verify["exact"];
        Some([exact.get("t0")?.as_f64()?, exact["t1"].as_f64()?])
    }
}

/// All cases. Asserts that the counts are those of `COVERED`.
pub(super) fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/peer_cases.jsonl"))
        .expect("tests/data/peer_cases.jsonl");
    let mut covered = BTreeMap::<String, usize>::new();
    let mut cases = Vec::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let status = value["verify"]["status"].as_str().unwrap();
        assert!(["ok", "semantic"].contains(&status), "{}: {status}", value["id"]);
        let case = Case::read(&value);
        *covered.entry(case.kind.clone()).or_default() += 1;
        cases.push(case);
    }
    assert_eq!(covered.into_iter().collect::<Vec<_>>(), COVERED.map(|(kind, n)| (kind.to_owned(), n)));
    cases
}
