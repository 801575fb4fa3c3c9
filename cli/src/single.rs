//! `umbracast cast --sphere … --ray …`: roots, hit and nearest pass of one sphere and one ray, without files or a device.

use crate::error::{Error, Result};
use serde::Serialize;
use umbracast::glam::{DVec3, Vec3};
use umbracast::{NO_SPHERE, Query, Ray, Sphere};
use umbracast_files::{Heights, OriginFinder, Role, Rounding};

use super::args::{Given, Origin, numbers};
use super::coarse::{RAY, Rounded};
use super::{print, print_json, say};

/// Arguments of `cast` that require files.
pub(crate) const FILES_ONLY: &str = "spheres rays output toward parallel from_id segments motion time_range sensor \
    query k with pairwise on_bad device compare plot format input_format ignore_extra sphere_radius unknown_atoms \
    models keep";

/// A sphere in f32, and its numbers as given.
#[derive(Clone, Debug)]
pub(crate) struct GivenSphere(pub(super) Sphere, pub(super) Vec<Given>);

/// A valid ray: its numbers as given.
#[derive(Clone, Debug)]
pub(crate) struct GivenRay(Vec<Given>);

/// The first three numbers: a position.
fn position(given: &[Given]) -> DVec3 {
    DVec3::new(given[0].wide, given[1].wide, given[2].wide)
}

/// A position in f32.
pub(super) fn narrow(given: &[Given]) -> Vec3 {
    Vec3::new(given[0].narrow, given[1].narrow, given[2].narrow)
}

/// The point to subtract, for a start and a sphere as given.
pub(super) fn origin_of(asked: Option<Origin>, start: &[Given], sphere: &[Given]) -> Option<DVec3> {
    asked.map(|origin| match origin {
        Origin::At(origin) => origin,
        Origin::Auto => {
            let mut finder = OriginFinder::new(&[position(start)]);
            finder.add(position(sphere), sphere[3].wide);
            finder.origin()
        }
    })
}

/// Subtracts an origin from a position before it is rounded. Returns the numbers as they are then given.
pub(super) fn from_origin(given: &[Given], origin: DVec3) -> Vec<Given> {
    let mut given = given.to_vec();
    for (number, from) in given.iter_mut().zip(origin.to_array()).filter(|(_, from)| *from != 0.0) {
        let wide = number.wide - from;
        *number = Given { wide, narrow: wide as f32 };
    }
    given
}

/// Number of values that rounding changes.
pub(super) fn changed(given: &[Given]) -> u64 {
    given.iter().filter(|g| !g.wide.is_nan() && f64::from(g.narrow) != g.wide).count() as u64
}

/// The message of an error without the number of the record, since there is only one record.
pub(super) fn message_of(error: &umbracast::Error) -> String {
    match error {
        umbracast::Error::BadRecord { field, value, why, .. } => format!("{field} is {value}: {why}"),
        other => other.to_string(),
    }
}

/// Parser of `--sphere`.
pub(crate) fn sphere(text: &str) -> Result<GivenSphere, String> {
    let given = numbers(text, "x,y,z,r", &[4])?;
    let sphere = sphere_of(&given);
    sphere.check().map_err(|e| message_of(&e))?;
    Ok(GivenSphere(sphere, given))
}

pub(super) fn sphere_of(given: &[Given]) -> Sphere {
    let n = |i: usize| given[i].narrow;
    Sphere::new([n(0), n(1), n(2)], n(3))
}

/// Parser of `--ray`.
pub(crate) fn ray(text: &str) -> Result<GivenRay, String> {
    let given = numbers(text, "ox,oy,oz,dx,dy,dz[,t_min,t_max]", &[6, 8])?;
    ray_of(&given).check().map_err(|e| message_of(&e))?;
    Ok(GivenRay(given))
}

fn ray_of(given: &[Given]) -> Ray {
    let n = |i: usize| given[i].narrow;
    let ray = Ray::new([n(0), n(1), n(2)], [n(3), n(4), n(5)]);
    if given.len() == 8 { ray.between(n(6), n(7)) } else { ray }
}

/// One sphere and one ray, relative to an origin.
struct Pair {
    sphere: Sphere,
    ray: Ray,
    origin: Option<DVec3>,
    warning: Option<String>,
    /// Number of values that rounding changed.
    rounded: u64,
}

impl Pair {
    fn new(sphere: &GivenSphere, ray: &GivenRay, asked: Option<Origin>) -> Result<Self> {
        let origin = origin_of(asked, &ray.0, &sphere.1);
        let from = |given| from_origin(given, origin.unwrap_or_default());
        let given = (from(&sphere.1), from(&ray.0));
        let (sphere, ray) = (sphere_of(&given.0), ray_of(&given.1));
        // A distant origin can move a position beyond the largest f32.
        let bad =
            |error: &umbracast::Error| Error::Usage(format!("after --origin is subtracted, {}", message_of(error)));
        sphere.check().and_then(|()| ray.check()).map_err(|error| bad(&error))?;
        let warning = coarse((&sphere, &given.0), &[&given.1], RAY, (asked, origin));
        Ok(Self { sphere, ray, origin, warning, rounded: changed(&given.0) + changed(&given.1) })
    }

    fn describe(&self, v: Vec3) -> String {
        describe_from(self.origin, v)
    }

    fn position(&self, v: Vec3) -> [Number; 3] {
        position_from(self.origin, v)
    }
}

/// A position in the coordinates of the arguments, as text.
pub(super) fn describe_from(origin: Option<DVec3>, v: Vec3) -> String {
    match origin {
        None => describe(v),
        Some(origin) => (v.as_dvec3() + origin).to_array().map(|x| (x + 0.0).to_string()).join(" "),
    }
}

/// A position in the coordinates of the arguments, for JSON.
pub(super) fn position_from(origin: Option<DVec3>, v: Vec3) -> [Number; 3] {
    origin.map_or_else(|| vector(v), |origin| (v.as_dvec3() + origin).to_array().map(Number::Finite))
}

/// A number of JSON: the shortest decimal. Infinities, which JSON does not have, are text.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum Number {
    Finite(f64),
    Infinite(String),
}

/// The object that `cast --sphere --ray --json` prints. Its `rounded` is the number of values that rounding to f32 changed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SingleSummary {
    precision: &'static str,
    sphere: GivenBall,
    ray: GivenLine,
    /// Both roots of the line; null if it misses the sphere.
    roots: Option<Roots>,
    /// Whether the ray starts inside the sphere.
    inside: bool,
    hit: Option<SingleHit>,
    /// Whether the ray misses only because its root exceeds the largest f32.
    overflowed: bool,
    approach: Option<Pass>,
    rounded: u64,
    /// The point that was subtracted before rounding.
    origin: Option<[f64; 3]>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GivenBall {
    center: [Number; 3],
    radius: Number,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GivenLine {
    origin: [Number; 3],
    direction: [Number; 3],
    t_min: Number,
    t_max: Number,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Roots {
    t_enter: Number,
    t_exit: Number,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SingleHit {
    t: Number,
    point: [Number; 3],
    normal: [Number; 3],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Pass {
    t: Number,
    clearance: Number,
}

/// The warning about rounding for one sphere and some points, the first of which is the start: `what`.
pub(super) fn coarse(
    (sphere, ball): (&Sphere, &[Given]),
    points: &[&[Given]],
    what: &'static str,
    origin: (Option<Origin>, Option<DVec3>),
) -> Option<String> {
    let noted = |given: &[Given]| {
        let mut rounding = Rounding::default();
        (0..3).for_each(|k| rounding.note("position", Role::Position(k), given[k].wide, given[k].narrow));
        rounding
    };
    let (mut rounding, start) = (noted(ball), points[0]);
    rounding.note("r", Role::Radius, ball[3].wide, ball[3].narrow);
    let at = narrow(start);
    let mut heights = Heights::default();
    heights.add((&[*sphere]).into(), &rounding, 1, |_| Some((at, noted(start).change_of(at), NO_SPHERE)));
    points.iter().for_each(|point| rounding += noted(point));
    Rounded { rounding, heights: &heights, what, origin, files: &[] }.warning(&[*sphere])
}

pub(crate) fn run(
    sphere: &GivenSphere,
    ray: &GivenRay,
    origin: Option<Origin>,
    query: &Query,
    as_json: bool,
    quiet: bool,
) -> Result<()> {
    let pair = Pair::new(sphere, ray, origin)?;
    let (sphere, ray, rounded) = (&pair.sphere, &pair.ray, pair.rounded);
    let (roots, hit, approach) = (ray.roots(sphere), ray.hit(sphere, query), ray.approach(sphere));
    // A start on the surface is not inside: a solid ball is hit there in either case.
    let inside = roots.is_some_and(|(enter, exit)| enter < ray.t_min && ray.t_min < exit);
    let overflowed = ray.exceeds_f32(sphere, query);
    let say_rounding = |quiet| say_rounding(pair.warning.as_deref(), pair.origin, rounded, quiet);
    if as_json {
        say_rounding(true);
        return print_json(&SingleSummary {
            precision: query.precision.resolved(false).word(),
            sphere: GivenBall { center: pair.position(sphere.center), radius: number(sphere.radius) },
            ray: GivenLine {
                origin: pair.position(ray.origin),
                direction: vector(ray.direction),
                t_min: number(ray.t_min),
                t_max: number(ray.t_max),
            },
            roots: roots.map(|(enter, exit)| Roots { t_enter: number(enter), t_exit: number(exit) }),
            inside,
            hit: hit.map(|hit| SingleHit {
                t: number(hit.t),
                point: pair.position(hit.point(ray, sphere)),
                normal: vector(hit.normal(ray, sphere)),
            }),
            overflowed,
            approach: approach.map(|pass| Pass { t: number(pass.t), clearance: number(pass.clearance) }),
            rounded,
            origin: pair.origin.map(|origin| origin.to_array()),
        });
    }
    let mut text = format!(
        "sphere    center {}, radius {}\nray       origin {}, direction {}, t from {} to {}\n",
        pair.describe(sphere.center),
        sphere.radius,
        pair.describe(ray.origin),
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
            pair.describe(hit.point(ray, sphere)),
            describe(hit.normal(ray, sphere))
        ),
        None => "hit       none\n".into(),
    };
    // Always `Some`: both records were checked when they were parsed.
    if let Some(pass) = approach {
        text += &format!("approach  t {}, clearance {}\n", short(pass.t), short(pass.clearance));
    }
    print(&text)?;
    if overflowed && !quiet {
        say("the ray misses only because t exceeds f32: use a longer direction, which makes t smaller");
    }
    say_rounding(quiet);
    Ok(())
}

/// Prints the warning about rounding, and unless `quiet` the origin and the number of rounded numbers.
pub(super) fn say_rounding(warning: Option<&str>, origin: Option<DVec3>, rounded: u64, quiet: bool) {
    warning.into_iter().for_each(say);
    if quiet {
        return;
    }
    if let Some(DVec3 { x, y, z }) = origin {
        say(&format!("--origin {x},{y},{z} was subtracted before rounding"));
    }
    if rounded > 0 {
        say(&format!("{rounded} numbers were rounded to f32"));
    }
}

/// The shortest text that parses to the same f32, except for the sign of zero.
pub(super) fn short(x: f32) -> String {
    let text = format!("{:?}", x + 0.0);
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

pub(super) fn describe(v: Vec3) -> String {
    v.to_array().map(short).join(" ")
}

/// A number for JSON, from the shortest decimal of the f32.
pub(super) fn number(x: f32) -> Number {
    let text = format!("{:?}", x + 0.0);
    match text.parse::<f64>() {
        Ok(wide) if wide.is_finite() => Number::Finite(wide),
        _ => Number::Infinite(text),
    }
}

pub(super) fn vector(v: Vec3) -> [Number; 3] {
    v.to_array().map(number)
}
