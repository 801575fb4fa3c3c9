//! Bullets keep their speed, never enter spheres, and have the same first leg for every limit on the number of legs.

use arbitrary::{Result, Unstructured};
use umbracast::glam::{DVec3, Vec3};
use umbracast::{Bullet, Bullets, Flights, Leg, LegStatus, NO_SPHERE, Precision, Query, SceneOptions, Sphere};

use crate::{Style, below, cpu, number, vector};

/// Relative tolerance, 2⁻²¹, for the rounding of points, directions and their sums to f32.
const SLACK: f64 = 1.0 / (1_u64 << 21) as f64;

/// The input encodes spheres at rest and bullets with or without radii.
pub(crate) fn ricochet(u: &mut Unstructured<'_>) -> Result<()> {
    let style = *u.choose(&[Style::Lattice, Style::Tame])?;
    let precision = *u.choose(&[Precision::Standard, Precision::Exact])?;
    let (count, most, wide) = (1 + below(u, 12)?, 2 + below(u, 20)? as u32, u.arbitrary::<u8>()? % 4 == 1);
    let mut spheres = Vec::new();
    for _ in 0..count {
        spheres.push(Sphere::new(vector(u, style)?, number(u, style)?.abs().max(0.125)));
    }
    let (mut bullets, mut radii) = (Vec::new(), Vec::new());
    while !u.is_empty() && bullets.len() < 8 {
        let speed = number(u, style)?.abs().max(0.01);
        let bullet = Bullet::new(vector(u, style)?, vector(u, style)?, speed);
        let radius = if wide { number(u, style)?.abs() / 16.0 } else { 0.0 };
        if bullet.check().is_ok() {
            bullets.push(bullet);
            radii.push(radius);
        }
    }
    let scene = cpu().scene(&spheres, &SceneOptions::default()).expect("they can be used");
    let shot = |most: u32| -> Flights {
        let bullets = Bullets::from(&bullets);
        let bullets = if wide { bullets.radii(&radii) } else { bullets };
        scene.bullets(bullets, most, &Query::at(precision)).expect("they can be used")
    };
    let (one, all) = (shot(1), shot(most));
    assert_eq!(all.len(), bullets.len());
    for (i, legs) in all.iter().enumerate() {
        let what = || format!("bullet {i}, {:?}, radius {}, {legs:?}, {spheres:?}", bullets[i], radii[i]);
        let first = one.get(i).expect("as many");
        assert!(first.len() == 1 && same(&first[0], &legs[0]), "{first:?} is the first leg of {}", what());
        assert!(legs.len() <= most as usize && !legs.is_empty(), "{}", what());
        assert!(legs[..legs.len() - 1].iter().all(Leg::is_hit), "{}", what());
        if legs[0].status == LegStatus::StartedInside {
            continue;
        }
        let flight = Flight { bullet: bullets[i], radius: radii[i], spheres: &spheres };
        if let Err(why) = flight.check(legs) {
            panic!("{why}: {}", what());
        }
    }
    Ok(())
}

/// Whether two legs are equal bit by bit: the points of a miss are NaN.
fn same(a: &Leg, b: &Leg) -> bool {
    let bits = |leg: &Leg| {
        let vectors = [leg.point, leg.velocity].map(|v| v.to_array().map(f32::to_bits));
        (leg.status, leg.id, [leg.distance, leg.frames, leg.grazing_rad].map(f32::to_bits), vectors)
    };
    bits(a) == bits(b)
}

struct Flight<'a> {
    bullet: Bullet,
    radius: f32,
    spheres: &'a [Sphere],
}

impl Flight<'_> {
    fn check(&self, legs: &[Leg]) -> std::result::Result<(), String> {
        let speed = f64::from(self.bullet.speed);
        let (mut at, mut along) = (self.bullet.from, self.bullet.to.as_dvec3() - self.bullet.from.as_dvec3());
        let mut flown = 0.0;
        for (number, leg) in legs.iter().enumerate() {
            if !leg.is_hit() {
                if leg.id != NO_SPHERE {
                    return Err(format!("leg {number} misses a sphere"));
                }
                return self.clear(at, along, None).map_err(|why| format!("leg {number}, without end, {why}"));
            }
            self.clear(at, along, Some(leg.point)).map_err(|why| format!("leg {number} {why}"))?;
            let sphere = self.spheres.get(leg.id as usize).ok_or_else(|| format!("leg {number} hits no sphere"))?;
            let (away, reach) = self.from(sphere, leg.point);
            if (away - reach).abs() > self.slack(sphere, leg.point) {
                return Err(format!("leg {number} ends {away} from a centre, the radius is {reach}"));
            }
            if (leg.velocity.as_dvec3().length() - speed).abs() > SLACK * speed {
                return Err(format!("after leg {number} the speed is {}", leg.velocity.length()));
            }
            let normal = (leg.point.as_dvec3() - sphere.center.as_dvec3()) / reach;
            let (before, after) = (along.normalize(), leg.velocity.as_dvec3().normalize());
            let off = (before - 2.0 * before.dot(normal) * normal - after).length();
            if off > 8.0 * SLACK + 8.0 * self.slack(sphere, leg.point) / reach + 8.0 * self.slack(sphere, at) / reach {
                return Err(format!("after leg {number} the direction is off by {off}"));
            }
            let (length, told) = ((leg.point.as_dvec3() - at.as_dvec3()).length(), f64::from(leg.distance) - flown);
            let slack = self.slack(sphere, leg.point) + self.slack(sphere, at) + SLACK * f64::from(leg.distance);
            if (length - told).abs() > slack {
                return Err(format!("leg {number} is {length} long, not {told}"));
            }
            (at, along, flown) = (leg.point, leg.velocity.as_dvec3(), f64::from(leg.distance));
        }
        Ok(())
    }

    /// Distance of a point from a sphere's centre, and the smallest distance allowed: the sum of both radii.
    fn from(&self, sphere: &Sphere, point: Vec3) -> (f64, f64) {
        let away = (point.as_dvec3() - sphere.center.as_dvec3()).length();
        (away, f64::from(sphere.radius) + f64::from(self.radius))
    }

    fn slack(&self, sphere: &Sphere, point: Vec3) -> f64 {
        let (away, reach) = self.from(sphere, point);
        SLACK * (point.as_dvec3().length() + sphere.center.as_dvec3().length() + away + reach)
    }

    /// Checks that the segment from `from` to `to`, or the half-line along `along`, is outside all spheres.
    fn clear(&self, from: Vec3, along: DVec3, to: Option<Vec3>) -> std::result::Result<(), String> {
        for (id, sphere) in self.spheres.iter().enumerate() {
            let (start, unit) = (from.as_dvec3() - sphere.center.as_dvec3(), along.normalize());
            let end = to.map_or(f64::INFINITY, |to| (to.as_dvec3() - from.as_dvec3()).length());
            let foot = (-start.dot(unit)).clamp(0.0, end);
            let least = (start + foot * unit).length();
            let (_, reach) = self.from(sphere, from);
            let slack = self.slack(sphere, from) + to.map_or(0.0, |to| self.slack(sphere, to)) + SLACK * foot;
            if least < reach - slack {
                return Err(format!("passes {least} from the centre of sphere {id}, the radius is {reach}"));
            }
        }
        Ok(())
    }
}
