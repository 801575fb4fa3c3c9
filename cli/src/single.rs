//! `umbracast cast --sphere … --ray …`: roots, hit and nearest pass of one sphere and one ray, without files or a device.

use serde_json::{Value, json};
use umbracast::glam::Vec3;
use umbracast::{Error, Query, Ray, Result, Sphere, check_ray, check_sphere};

use super::args::{Given, numbers};
use super::{print, print_json, say};

/// Arguments of `cast` that require files.
pub(crate) const FILES_ONLY: [&str; 27] = [
    "spheres",
    "rays",
    "output",
    "toward",
    "parallel",
    "from_id",
    "segments",
    "motion",
    "time_range",
    "sensor",
    "query",
    "k",
    "with",
    "pairwise",
    "origin",
    "on_bad",
    "device",
    "builder",
    "compare",
    "plot",
    "format",
    "input_format",
    "ignore_extra",
    "sphere_radius",
    "unknown_atoms",
    "models",
    "keep",
];

/// A sphere in f32, and how many of its numbers rounding changed.
#[derive(Clone, Debug)]
pub(crate) struct GivenSphere(pub(super) Sphere, pub(super) u64);

/// A ray in f32, and how many of its numbers rounding changed.
#[derive(Clone, Debug)]
pub(crate) struct GivenRay(Ray, u64);

pub(super) fn changed(given: &[Given]) -> u64 {
    given.iter().filter(|g| !g.wide.is_nan() && f64::from(g.narrow) != g.wide).count() as u64
}

/// The message of an error without the number of the record, since there is only one record.
pub(super) fn message_of(error: &Error) -> String {
    match error {
        Error::BadRecord { field, value, why, .. } => format!("{field} is {value}: {why}"),
        other => other.to_string(),
    }
}

/// Parser of `--sphere`.
pub(crate) fn sphere(text: &str) -> Result<GivenSphere, String> {
    let given = numbers(text, "x,y,z,r", &[4])?;
    let n = |i: usize| given[i].narrow;
    let sphere = Sphere::new([n(0), n(1), n(2)], n(3));
    check_sphere(0, &sphere).map_err(|e| message_of(&e))?;
    Ok(GivenSphere(sphere, changed(&given)))
}

/// Parser of `--ray`.
pub(crate) fn ray(text: &str) -> Result<GivenRay, String> {
    let given = numbers(text, "ox,oy,oz,dx,dy,dz[,t_min,t_max]", &[6, 8])?;
    let n = |i: usize| given[i].narrow;
    let mut ray = Ray::new([n(0), n(1), n(2)], [n(3), n(4), n(5)]);
    if given.len() == 8 {
        ray = ray.between(n(6), n(7));
    }
    check_ray(0, &ray).map_err(|e| message_of(&e))?;
    Ok(GivenRay(ray, changed(&given)))
}

pub(crate) fn run(sphere: &GivenSphere, ray: &GivenRay, query: &Query, as_json: bool, quiet: bool) -> Result<()> {
    let rounded = sphere.1 + ray.1;
    let (sphere, ray) = (&sphere.0, &ray.0);
    let (roots, hit, approach) = (ray.roots(sphere), ray.hit(sphere, query), ray.approach(sphere));
    // A start on the surface is not inside: a solid ball is hit there in either case.
    let inside = roots.is_some_and(|(enter, exit)| enter < ray.t_min && ray.t_min < exit);
    let beyond = ray.exceeds_f32(sphere, query);
    if as_json {
        let hit = hit.map(|hit| {
            json!({"t": number(hit.t), "point": vector(hit.point(ray, sphere)), "normal": vector(hit.normal(ray, sphere))})
        });
        return print_json(&json!({
            "sphere": {"center": vector(sphere.center), "radius": number(sphere.radius)},
            "ray": {"origin": vector(ray.origin), "direction": vector(ray.direction),
                    "t_min": number(ray.t_min), "t_max": number(ray.t_max)},
            "roots": roots.map(|(enter, exit)| json!({"t_enter": number(enter), "t_exit": number(exit)})),
            "inside": inside,
            "hit": hit,
            "beyond": beyond,
            "approach": approach.map(|pass| json!({"t": number(pass.t), "clearance": number(pass.clearance)})),
            "rounded": rounded,
        }));
    }
    let mut text = format!(
        "sphere    center {}, radius {}\nray       origin {}, direction {}, t from {} to {}\n",
        describe(sphere.center),
        sphere.radius,
        describe(ray.origin),
        describe(ray.direction),
        short(ray.t_min),
        short(ray.t_max)
    );
    text += &match roots {
        Some((enter, exit)) => format!("roots     t_enter {}, t_exit {}\n", short(enter), short(exit)),
        None => "roots     none: the line misses the sphere\n".into(),
    };
    text += if inside { "start     inside\n" } else { "start     not inside\n" };
    text += &match hit {
        Some(hit) => format!(
            "hit       t {} at {}, normal {}\n",
            short(hit.t),
            describe(hit.point(ray, sphere)),
            describe(hit.normal(ray, sphere))
        ),
        None => "hit       none\n".into(),
    };
    // Always `Some`: both records were checked when they were parsed.
    if let Some(pass) = approach {
        text += &format!("approach  t {}, clearance {}\n", short(pass.t), short(pass.clearance));
    }
    print(&text)?;
    if beyond && !quiet {
        say("the ray misses only because t exceeds f32: use a longer direction, which makes t smaller");
    }
    if rounded > 0 && !quiet {
        say(&format!("{rounded} numbers were rounded to f32"));
    }
    Ok(())
}

/// The shortest text that parses to the same f32, except for the sign of zero.
pub(super) fn short(x: f32) -> String {
    let text = format!("{:?}", x + 0.0);
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

pub(super) fn describe(v: Vec3) -> String {
    v.to_array().map(short).join(" ")
}

/// A number as JSON: the shortest decimal. Infinities, which JSON does not have, become strings.
pub(super) fn number(x: f32) -> Value {
    let text = format!("{:?}", x + 0.0);
    match text.parse::<f64>() {
        Ok(wide) if wide.is_finite() => json!(wide),
        _ => json!(text),
    }
}

pub(super) fn vector(v: Vec3) -> Value {
    json!(v.to_array().map(number))
}
