//! `umbracast bullets` for one bullet and one sphere, from options or from prompts on a terminal.

use std::io::{BufRead, Write};

use crate::error::{Error, Result};
use serde::Serialize;
use umbracast::glam::{DVec3, Vec3};
use umbracast::{Bullet, Bullets, DeviceOptions, Leg, LegStatus, Precision, Query, SceneOptions, Sphere};
use umbracast::{Device, MovingSphere};

use super::args::{Given, Origin, numbers};
use super::coarse::BULLET;
use super::single::{
    GivenSphere, Number, changed, coarse, describe, describe_from, from_origin, message_of, narrow, number, origin_of,
    position_from, say_rounding, short, sphere, sphere_of, vector,
};
use super::{print, print_json};

/// A valid point or velocity: its numbers as given.
#[derive(Clone, Debug)]
pub(crate) struct GivenPoint(Vec<Given>);

impl GivenPoint {
    fn narrow(&self) -> Vec3 {
        narrow(&self.0)
    }
}

/// A speed or a radius in f32, and 1 if rounding changed it, else 0.
#[derive(Clone, Debug)]
pub(crate) struct GivenNumber(f32, u64);

/// Parser of `--from` and `--to`.
pub(crate) fn point(text: &str) -> Result<GivenPoint, String> {
    let given = numbers(text, "x,y,z", &[3])?;
    let point = narrow(&given);
    // Checks the point as the start of a bullet, which needs a second, different point.
    let other = if point == Vec3::X { Vec3::Y } else { Vec3::X };
    Bullet::new(point, other, 1.0).check().map_err(|e| without_number(&message_of(&e)))?;
    Ok(GivenPoint(given))
}

/// Parser of `--speed`.
pub(crate) fn speed(text: &str) -> Result<GivenNumber, String> {
    let given = numbers(text, "speed", &[1])?;
    Bullet::new(Vec3::ZERO, Vec3::X, given[0].narrow).check().map_err(|e| message_of(&e))?;
    Ok(GivenNumber(given[0].narrow, changed(&given)))
}

/// Parser of `--radius`.
pub(crate) fn radius(text: &str) -> Result<GivenNumber, String> {
    let given = numbers(text, "radius", &[1])?;
    let radius = given[0].narrow;
    if radius.is_finite() && radius >= 0.0 {
        return Ok(GivenNumber(radius, changed(&given)));
    }
    Err(format!("radius is {radius}: a radius must be finite and not negative"))
}

/// Parser of `--velocity`.
pub(crate) fn velocity(text: &str) -> Result<GivenPoint, String> {
    let given = numbers(text, "vx,vy,vz", &[3])?;
    match ["vx", "vy", "vz"].into_iter().zip(narrow(&given).to_array()).find(|(_, value)| !value.is_finite()) {
        Some((field, value)) => Err(format!("{field} is {value}: a velocity must be finite")),
        None => Ok(GivenPoint(given)),
    }
}

/// Parser of `--sphere`. The radius must be above 0.
pub(crate) fn ball(text: &str) -> Result<GivenSphere, String> {
    let ball = sphere(text)?;
    if ball.0.radius == 0.0 { Err(FLAT.into()) } else { Ok(ball) }
}

const FLAT: &str = "r is 0: a bullet cannot ricochet off a point: the radius must be above 0";

/// Removes the number of the point from a message: `x1` becomes `x`.
fn without_number(message_of: &str) -> String {
    message_of.replacen('1', "", 1)
}

/// The object that `bullets --from --json` prints. What a bullet without a hit does not have is null.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BulletSummary {
    bullet: GivenBullet,
    sphere: GivenBall,
    status: &'static str,
    distance: Option<Number>,
    frames: Option<Number>,
    point: Option<[Number; 3]>,
    grazing_rad: Option<Number>,
    velocity: Option<[Number; 3]>,
    /// Number of values that rounding to f32 changed.
    rounded: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GivenBullet {
    from: [Number; 3],
    to: [Number; 3],
    speed: Number,
    radius: Number,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MovingBall"))]
struct GivenBall {
    center: [Number; 3],
    radius: Number,
    velocity: [Number; 3],
}

/// One bullet and one sphere.
#[derive(Clone, Debug)]
pub(crate) struct One {
    bullet: Bullet,
    sphere: Sphere,
    /// Radius of the bullet; `None` for a point.
    radius: Option<f32>,
    /// Velocity of the sphere; `None` if it is at rest.
    velocity: Option<Vec3>,
    /// Number of values that rounding to f32 changed.
    rounded: u64,
    /// The point that was subtracted before.
    origin: Option<DVec3>,
    /// The warning about rounding.
    warning: Option<String>,
}

impl One {
    pub(crate) fn new(
        from: &GivenPoint,
        to: &GivenPoint,
        speed: &GivenNumber,
        sphere: &GivenSphere,
        (radius, velocity): (Option<&GivenNumber>, Option<&GivenPoint>),
        asked: Option<Origin>,
    ) -> Result<Self> {
        let origin = origin_of(asked, &from.0, &sphere.1);
        let [from, to, ball] = [&from.0, &to.0, &sphere.1].map(|given| from_origin(given, origin.unwrap_or_default()));
        let (bullet, sphere) = (Bullet::new(narrow(&from), narrow(&to), speed.0), sphere_of(&ball));
        let after = if origin.is_some() { "after --origin is subtracted, " } else { "" };
        // The parsers of the options have checked everything else.
        bullet.check().and_then(|()| sphere.check()).map_err(|error| {
            let apart = from.iter().zip(&to).any(|(from, to)| from.wide != to.wide);
            let equal = if apart { "the start point after rounding to f32" } else { "the start point" };
            let why = message_of(&error).replacen("x2,y2,z2 is the start point", &format!("--to is {equal}"), 1);
            Error::Usage(format!("{after}{why}"))
        })?;
        let warning = coarse((&sphere, &ball), &[&from, &to], BULLET, (asked, origin));
        let rounded = changed(&from) + changed(&to) + changed(&ball) + speed.1;
        let rounded = rounded + radius.map_or(0, |r| r.1) + velocity.map_or(0, |v| changed(&v.0));
        let (radius, velocity) = (radius.map(|r| r.0), velocity.map(GivenPoint::narrow));
        Ok(Self { bullet, sphere, radius, velocity, rounded, origin, warning })
    }

    /// The flight of the bullet up to its first hit. A sphere at rest is intersected by the CPU engine at `exact`; a moving sphere is
    /// intersected in f64, without a time limit.
    fn leg(&self) -> Result<Leg> {
        let Self { bullet, sphere, .. } = self;
        let radius = self.radius.unwrap_or(0.0);
        let Some(velocity) = self.velocity.filter(|v| *v != Vec3::ZERO) else {
            let cpu = Device::open(&DeviceOptions::new("cpu"))?;
            let scene = cpu.scene(&[*sphere], &SceneOptions::default())?;
            let shot = [*bullet];
            let shot = Bullets::from(&shot).radii(std::slice::from_ref(&radius));
            return Ok(scene.bullets(shot, 1, &Query::at(Precision::Exact))?.records[0]);
        };
        let (from, speed) = (bullet.from.as_dvec3(), f64::from(bullet.speed));
        let way = (bullet.to.as_dvec3() - from).normalize() * speed;
        let reach = f64::from(sphere.radius) + f64::from(radius);
        let target = MovingSphere { radius: reach, velocity: velocity.as_dvec3(), ..MovingSphere::from(sphere) };
        Ok(match target.ricochet(from, way) {
            Some(turned) => Leg {
                status: LegStatus::Hit,
                id: 0,
                distance: (turned.time * speed) as f32,
                frames: turned.time as f32,
                point: turned.point.as_vec3(),
                grazing_rad: turned.grazing_rad as f32,
                velocity: turned.velocity.as_vec3(),
            },
            None if (target.center - from).length() < reach => Leg { status: LegStatus::StartedInside, ..Leg::MISS },
            None => Leg::MISS,
        })
    }

    /// Prints the flight of the bullet, as text or as JSON.
    pub(crate) fn show(&self, as_json: bool, quiet: bool) -> Result<()> {
        let Self { bullet, sphere, radius, velocity, rounded, origin, warning } = self;
        let (place, position) = (|v| describe_from(*origin, v), |v| position_from(*origin, v));
        let leg = self.leg()?;
        let say_rounding = |quiet| say_rounding(warning.as_deref(), *origin, *rounded, quiet);
        if as_json {
            say_rounding(true);
            let hit = leg.is_hit().then_some(&leg);
            return print_json(&BulletSummary {
                bullet: GivenBullet {
                    from: position(bullet.from),
                    to: position(bullet.to),
                    speed: number(bullet.speed),
                    radius: number(radius.unwrap_or(0.0)),
                },
                sphere: GivenBall {
                    center: position(sphere.center),
                    radius: number(sphere.radius),
                    velocity: vector(velocity.unwrap_or_default()),
                },
                status: leg.status.word(),
                distance: hit.map(|leg| number(leg.distance)),
                frames: hit.map(|leg| number(leg.frames)),
                point: hit.map(|leg| position(leg.point)),
                grazing_rad: hit.map(|leg| number(leg.grazing_rad)),
                velocity: hit.map(|leg| vector(leg.velocity)),
                rounded: *rounded,
            });
        }
        let mut text = format!(
            "bullet    from {} towards {}, speed {}{}\nsphere    center {}, radius {}{}\n",
            place(bullet.from),
            place(bullet.to),
            short(bullet.speed),
            radius.map(|radius| format!(", radius {}", short(radius))).unwrap_or_default(),
            place(sphere.center),
            short(sphere.radius),
            velocity.map(|velocity| format!(", velocity {}", describe(velocity))).unwrap_or_default()
        );
        text += &match leg.status {
            LegStatus::Hit => format!(
                "hit       after a distance of {}, {} frames, at {}\n\
                 ricochet  {:.4}° to the tangent plane ({} rad), velocity {}\n",
                short(leg.distance),
                short(leg.frames),
                place(leg.point),
                f64::from(leg.grazing_rad).to_degrees(),
                short(leg.grazing_rad),
                describe(leg.velocity)
            ),
            LegStatus::Miss => "hit       none: the bullet passes the sphere, or flies away from it\n".into(),
            LegStatus::StartedInside => "hit       none: the bullet starts inside the sphere\n".into(),
        };
        print(&text)?;
        say_rounding(quiet);
        Ok(())
    }
}

/// Prompts for a bullet and a sphere and calls `show`, and repeats this until the answer to "Another one?" is no. An empty line selects
/// the value in brackets. Returns false if the input ends before all values are given.
pub(crate) fn ask(
    input: &mut impl BufRead,
    out: &mut impl Write,
    origin: Option<Origin>,
    mut show: impl FnMut(&One) -> Result<()>,
) -> Result<bool> {
    loop {
        let Some(one) = ask_one(input, out, origin) else { return Ok(false) };
        show(&one)?;
        let again = asked(input, out, "Another bullet? y or n", "n", |text| match text {
            "y" | "Y" | "yes" => Ok(true),
            "n" | "N" | "no" => Ok(false),
            _ => Err("expected y or n".into()),
        });
        if again != Some(true) {
            return Ok(true);
        }
    }
}

fn ask_one(input: &mut impl BufRead, out: &mut impl Write, origin: Option<Origin>) -> Option<One> {
    let from = asked(input, out, "Bullet's start point x,y,z", "0,0,0", point)?;
    let to = asked(input, out, "Bullet's target point x,y,z", "4,4,4", |text| {
        let to = point(text)?;
        Bullet::new(from.narrow(), to.narrow(), 1.0)
            .check()
            .map_err(|e| message_of(&e).replacen("x2,y2,z2", "x,y,z", 1))?;
        Ok(to)
    })?;
    let speed = asked(input, out, "Bullet's speed, per frame", "3", speed)?;
    let wide = asked(input, out, "Bullet's radius, 0 for a point", "0", radius)?;
    let center = asked(input, out, "Sphere's center x,y,z", "4,4,0", point)?;
    let sphere = asked(input, out, "Sphere's radius", "4", |text| {
        let given: Vec<Given> = numbers(text, "r", &[1])?;
        let ball = [&center.0[..], &given].concat();
        let sphere = sphere_of(&ball);
        sphere.check().map_err(|e| message_of(&e))?;
        if sphere.radius == 0.0 { Err(FLAT.into()) } else { Ok(GivenSphere(sphere, ball)) }
    })?;
    let velocity = asked(input, out, "Sphere's velocity vx,vy,vz, per frame", "0,0,0", velocity)?;
    // A radius of 0 is a point, and a velocity of 0 is a sphere at rest.
    let (wide, velocity) = (Some(&wide).filter(|r| r.0 > 0.0), Some(&velocity).filter(|v| v.narrow() != Vec3::ZERO));
    // The prompts have checked every value.
    One::new(&from, &to, &speed, &sphere, (wide, velocity), origin).ok()
}

/// Prompts until `parse` accepts the line. `None` at the end of the input. Numbers may be separated by commas or spaces.
fn asked<T>(
    input: &mut impl BufRead,
    out: &mut impl Write,
    prompt: &str,
    otherwise: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    loop {
        // The answer is read even if the prompt cannot be written.
        let _ = write!(out, "{prompt} [{otherwise}]: ").and_then(|()| out.flush());
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            let _ = writeln!(out);
            return None;
        }
        let words: Vec<&str> = line.split([',', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()).collect();
        let answer = if words.is_empty() { otherwise.into() } else { words.join(",") };
        match parse(&answer) {
            Ok(value) => return Some(value),
            Err(why) => {
                let _ = writeln!(out, "  {why}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(answers: &str) -> (Vec<One>, String, bool) {
        let (mut out, mut list) = (Vec::new(), Vec::new());
        let whole = ask(&mut answers.as_bytes(), &mut out, None, |one| {
            list.push(one.clone());
            Ok(())
        });
        (list, String::from_utf8(out).unwrap(), whole.unwrap())
    }

    #[test]
    fn empty_answers_keep_the_shown_defaults() {
        let (list, message_of, whole) = told("\n\n\n\n\n\n\n\n");
        assert!(whole);
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].bullet, Bullet::new([0.0; 3], [4.0; 3], 3.0));
        assert_eq!(list[0].sphere, Sphere::new([4.0, 4.0, 0.0], 4.0));
        assert_eq!((list[0].radius, list[0].velocity), (None, None));
        for words in [
            "x,y,z [0,0,0]: ",
            "target point x,y,z [4,4,4]: ",
            "frame [3]: ",
            "0 for a point [0]: ",
            "x,y,z [4,4,0]: ",
            "Sphere's radius [4]: ",
            "vx,vy,vz, per frame [0,0,0]: ",
        ] {
            assert!(message_of.contains(words), "{words}: {message_of}");
        }
    }

    #[test]
    fn prompts_accept_a_bullet_radius_and_a_sphere_velocity() {
        let (list, _, whole) = told("0 0 0\n1 0 0\n2\n0.5\n10 0 0\n1\n-1 0 0\n\n");
        assert!(whole);
        assert_eq!((list[0].radius, list[0].velocity), (Some(0.5), Some(Vec3::new(-1.0, 0.0, 0.0))));
        // The gap between the surfaces shrinks by 3 per frame, from 8.5.
        assert_eq!(list[0].leg().unwrap().frames, (8.5_f64 / 3.0) as f32);
    }

    #[test]
    fn invalid_answers_are_prompted_again() {
        let answers = "1 2\n1 2 x\n1 2 nan\n1 2 3\n1,2,3\n7, 2 3\n0\n-1\n2\nwide\n-2\ninf\n0.25\n9 2 3\n-1\n0\ninf\n1\n1 2\n\
                       1 nan 1\n0 1 0\nperhaps\ny\n1,1,1\n";
        let (list, message_of, whole) = told(answers);
        assert!(!whole, "the input ended within the second bullet");
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].bullet, Bullet::new([1.0, 2.0, 3.0], [7.0, 2.0, 3.0], 2.0));
        assert_eq!(list[0].sphere, Sphere::new([9.0, 2.0, 3.0], 1.0));
        assert_eq!((list[0].radius, list[0].velocity), (Some(0.25), Some(Vec3::Y)));
        for words in [
            "radius is 'wide': expected a number",
            "radius is -2: a radius must be finite and not negative",
            "radius is inf: a radius must be finite",
            "found 2 numbers, expected 3: vx,vy,vz",
            "vy is NaN: a velocity must be finite",
            "found 2 numbers, expected 3: x,y,z",
            "z is 'x': expected a number",
            "z is NaN: a start point must be finite",
            "x,y,z is the start point: the target point must differ from it",
            "speed is 0: a speed must be above 0",
            "speed is -1: a speed must be above 0",
            "r is -1: a radius must not be negative",
            "r is 0: a bullet cannot ricochet off a point",
            "r is inf: a radius must be finite",
            "expected y or n",
        ] {
            assert!(message_of.contains(words), "{words}: {message_of}");
        }
    }
}
