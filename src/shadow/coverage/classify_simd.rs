//! Classification of observers as fully lit, in full shadow or undecided, 256 at a time, without computing an angle.
//!
//! Few observers are in a penumbra. Let s be the vector from the observer to the light's centre (length D, radius of the light R), and o
//! the vector to the centre of the occluding sphere (length d, radius r). Light and occluder are caps of angular radii a and b, with
//! centres c apart. The caps touch if cos c > cos (a + b). The occluder covers the light if cos c > cos (b − a) and b > a. Multiplied by
//! D d, both conditions compare s·o ± R r with √(D² − R²) √(d² − r²). Squared, that takes some thirty products and no root. A case within a
//! margin of equality is undecided and is computed elsewhere. The margin is far wider than the rounding errors here and in `disc.rs`, so
//! both methods give the same result.

use bytemuck::Zeroable;
use glam::DVec3;

use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::shadow::ball::Ball;
use crate::shadow::rows::ShadowRow;
use crate::shadow::spheroid::{Spheroid, check_spheroid};
use crate::shadow::system::check_apart_from_light;
use crate::shadow::validate::LARGEST;

/// Observers per block: their columns fill half of the L1 cache.
pub(crate) const BLOCK: usize = 256;

/// Added to the flags for each occluder that may touch the light's disc.
pub(crate) const TOUCHES: u64 = 16;
/// The occluder certainly covers the whole disc, or the observer is inside the occluder.
pub(crate) const COVERS: u64 = 2;
/// The observer is inside the light or close to it.
pub(crate) const IN_LIGHT: u64 = 4;

/// Margin in units of D² d²; the rounding error is about 2⁻⁴⁹ of D² d².
const MARGIN: f64 = 1.0 / (1_u64 << 38) as f64;
/// Margin of powers, in units of squared distances.
const FRONT: f64 = 1.0 / (1_u64 << 40) as f64;
/// Squared depth below a surface, in units of r², up to which an observer is certainly [on it](crate::shadow::Lighting).
const ON: f64 = 1.0 / (1_u64 << 22) as f64;
/// Squared depth from which an observer is certainly inside.
const DEEP: f64 = 1.0 / (1_u64 << 20) as f64;
/// An observer is close to the light if its power with respect to the light is at most this times D².
const NEAR: f64 = 1.0 / (1_u64 << 16) as f64;

/// A block of observers in SoA layout: positions and vectors to the light's centre.
#[derive(Zeroable)]
pub(crate) struct Observers {
    /// Radius of the light that all observers have in common.
    light_radius: f64,
    at: [[f64; BLOCK]; 3],
    to_light: [[f64; BLOCK]; 3],
    /// Squared distance to the light's centre.
    square: [f64; BLOCK],
    /// Squared distance less the light's squared radius.
    power: [f64; BLOCK],
    /// Classification so far, per observer: [`TOUCHES`], [`COVERS`] and [`IN_LIGHT`].
    pub(crate) flags: [u64; BLOCK],
    /// Index of the last occluder that touched the disc, per observer.
    pub(crate) last: [u64; BLOCK],
}

multiversion! {
    /// Loads the first `BLOCK` observers of a list. If there are fewer, the remaining entries are at the light's centre. Returns false if
    /// a coordinate of an observer is NaN or exceeds `largest` in magnitude.
    load_observers, (block: &mut Observers, observers: &[DVec3], light: Ball, largest: f64) -> bool
}

#[inline(always)]
fn load_observers(_: impl Lanes, block: &mut Observers, observers: &[DVec3], light: Ball, largest: f64) -> bool {
    let Observers { light_radius, at, to_light, square, power, flags, .. } = block;
    let count = observers.len().min(BLOCK);
    *light_radius = light.radius;
    let [center_x, center_y, center_z] = light.center.to_array();
    let [at_x, at_y, at_z] = at;
    for (i, observer) in observers[..count].iter().enumerate() {
        at_x[i] = observer.x;
        at_y[i] = observer.y;
        at_z[i] = observer.z;
    }
    at_x[count..].fill(center_x);
    at_y[count..].fill(center_y);
    at_z[count..].fill(center_z);
    let mut bad = 0;
    for i in 0..BLOCK {
        let good = (at_x[i].abs() <= largest) & (at_y[i].abs() <= largest) & (at_z[i].abs() <= largest);
        bad |= u64::from(!good);
        let (x, y, z) = (center_x - at_x[i], center_y - at_y[i], center_z - at_z[i]);
        to_light[0][i] = x;
        to_light[1][i] = y;
        to_light[2][i] = z;
        square[i] = x * x + y * y + z * z;
        power[i] = square[i] - light.radius * light.radius;
        // NaN also counts as close to the light, and is computed elsewhere.
        flags[i] = if power[i] > NEAR * square[i] { 0 } else { IN_LIGHT };
    }
    bad == 0
}

multiversion! {
    /// Classifies all observers against one sphere, adds the result to their flags, and stores `number` (its index) in `last`. Returns
    /// whether the sphere may touch the disc of any observer.
    classify_ball, (observers: &mut Observers, ball: Ball, number: u64) -> bool
}

#[inline(always)]
fn classify_ball(_: impl Lanes, observers: &mut Observers, ball: Ball, number: u64) -> bool {
    let mut any = 0;
    for i in 0..BLOCK {
        let flag = observers.flag(i, observers.light_radius, ball);
        observers.flags[i] = (observers.flags[i] | (flag & COVERS)) + (flag & TOUCHES);
        observers.last[i] = if flag == TOUCHES { number } else { observers.last[i] };
        any |= flag;
    }
    any & TOUCHES != 0
}

multiversion! {
    /// Classifies all observers against a spheroid, given its bounding sphere and its largest inscribed sphere. A touch adds
    /// `2 * TOUCHES`: flags equal to `TOUCHES` mean a single sphere, for which `two_caps_simd.rs` computes the shadow.
    classify_group, (observers: &mut Observers, around: Ball, within: Ball) -> bool
}

#[inline(always)]
fn classify_group(_: impl Lanes, observers: &mut Observers, around: Ball, within: Ball) -> bool {
    let mut any = 0;
    for i in 0..BLOCK {
        let flag = observers.flag_between(i, observers.light_radius, around, within, 2 * TOUCHES);
        observers.flags[i] = (observers.flags[i] | (flag & COVERS)) + (flag & (2 * TOUCHES));
        any |= flag;
    }
    any & (2 * TOUCHES) != 0
}

/// A block of rows in SoA layout: observers that each have a light and bodies of their own.
#[derive(Zeroable)]
pub(crate) struct RowBlock {
    pub(crate) observers: Observers,
    /// The light of each row: centre and radius.
    light: [[f64; BLOCK]; 4],
    /// One body of each row: centre, radius of the bounding sphere, and radius of the largest inscribed sphere.
    body: [[f64; BLOCK]; 5],
    /// All bits, or none if the row has no such body.
    present: [u64; BLOCK],
}

impl RowBlock {
    /// Loads the observers and lights of at most `BLOCK` rows. Returns whether a number may be invalid.
    pub(crate) fn load(&mut self, level: SimdLevel, rows: &[ShadowRow]) -> bool {
        for (i, row) in rows.iter().enumerate() {
            for k in 0..3 {
                self.observers.at[k][i] = row.observer[k];
                self.light[k][i] = row.light.center[k];
            }
            self.light[3][i] = row.light.radius;
        }
        // The remaining rows are valid. Their results are not read.
        self.light[3][rows.len()..].fill(1.0);
        self.present.fill(0);
        level.load_rows(self)
    }

    /// Classifies all rows against the body `number` of each of them. Returns whether a number may be invalid, or an observer inside a body.
    pub(crate) fn classify(&mut self, level: SimdLevel, rows: &[ShadowRow], number: usize) -> bool {
        let mut bad = false;
        for (i, row) in rows.iter().enumerate() {
            self.present[i] = 0;
            if let Some(body) = row.bodies.get(number) {
                bad |= !body.is_sphere()
                    && (check_spheroid(0, body).is_err() || check_apart_from_light(0, body, row.light).is_err());
                for k in 0..3 {
                    self.body[k][i] = body.center[k];
                }
                self.body[3][i] = body.radius.max(body.polar_radius);
                self.body[4][i] = body.radius.min(body.polar_radius);
                self.present[i] = u64::MAX;
            }
        }
        level.classify_rows(self, number as u64) || bad
    }

    /// Whether a body of row `i` may touch the light's disc.
    pub(crate) fn is_touched(&self, i: usize, body: &Spheroid) -> bool {
        self.observers.flag(i, self.light[3][i], body.bounding_ball()) != 0
    }
}

multiversion! {
    /// Computes the vectors to the lights of a block. Returns whether a number may be invalid.
    load_rows, (block: &mut RowBlock) -> bool
}

#[inline(always)]
fn load_rows(_: impl Lanes, block: &mut RowBlock) -> bool {
    let RowBlock { observers: Observers { at, to_light, square, power, flags, .. }, light, .. } = block;
    let mut bad = 0;
    for i in 0..BLOCK {
        let radius = light[3][i];
        let mut good = (radius > 0.0) & (radius <= LARGEST);
        for k in 0..3 {
            good &= (at[k][i].abs() <= LARGEST) & (light[k][i].abs() <= LARGEST);
            to_light[k][i] = light[k][i] - at[k][i];
        }
        bad |= u64::from(!good);
        square[i] = to_light[0][i] * to_light[0][i] + to_light[1][i] * to_light[1][i] + to_light[2][i] * to_light[2][i];
        power[i] = square[i] - radius * radius;
        flags[i] = if power[i] > NEAR * square[i] { 0 } else { IN_LIGHT };
    }
    bad != 0
}

multiversion! {
    /// Classifies the rows of a block against one body each, whose index is `number`. A sphere adds [`TOUCHES`], a spheroid twice that, as
    /// `classify_group` does. Returns whether a number may be invalid, or an observer inside a body.
    classify_rows, (block: &mut RowBlock, number: u64) -> bool
}

#[inline(always)]
fn classify_rows(_: impl Lanes, block: &mut RowBlock, number: u64) -> bool {
    let RowBlock { observers, light, body, present } = block;
    let mut bad = 0;
    for i in 0..BLOCK {
        let center = DVec3::new(body[0][i], body[1][i], body[2][i]);
        let (around, within) = (Ball { center, radius: body[3][i] }, Ball { center, radius: body[4][i] });
        let (x, y, z) = (center.x - observers.at[0][i], center.y - observers.at[1][i], center.z - observers.at[2][i]);
        let own = around.radius * around.radius;
        let good = (center.x.abs() <= LARGEST)
            & (center.y.abs() <= LARGEST)
            & (center.z.abs() <= LARGEST)
            & (within.radius >= 0.0)
            & (around.radius <= LARGEST)
            & (x * x + y * y + z * z - own >= -ON * own);
        bad |= u64::from(!good) & present[i];
        let touches = if within.radius < around.radius { 2 * TOUCHES } else { TOUCHES };
        let flag = observers.flag_between(i, light[3][i], around, within, touches) & present[i];
        observers.flags[i] = (observers.flags[i] | (flag & COVERS)) + (flag & (3 * TOUCHES));
        observers.last[i] = if flag == TOUCHES { number } else { observers.last[i] };
    }
    bad != 0
}

impl Observers {
    /// Whether a sphere may touch the disc of observer `i`.
    pub(crate) fn is_touched(&self, i: usize, ball: Ball) -> bool {
        self.flag(i, self.light_radius, ball) == TOUCHES
    }

    /// Whether a body inside this bounding sphere may touch the disc of observer `i`.
    pub(crate) fn is_touched_within(&self, i: usize, around: Ball) -> bool {
        self.flag(i, self.light_radius, around) != 0
    }

    /// Classification of observer `i` against a body between two spheres: 0, `touches` or [`COVERS`].
    #[inline(always)]
    fn flag_between(&self, i: usize, light_radius: f64, around: Ball, within: Ball, touches: u64) -> u64 {
        let apart = self.flag(i, light_radius, around) == 0;
        if self.flag(i, light_radius, within) == COVERS {
            COVERS
        } else if apart {
            0
        } else {
            touches
        }
    }

    /// Classification of observer `i` against one sphere: 0, [`TOUCHES`] or [`COVERS`].
    #[inline(always)]
    fn flag(&self, i: usize, light_radius: f64, ball: Ball) -> u64 {
        let Self { at, to_light, square, power, .. } = self;
        let [cx, cy, cz] = ball.center.to_array();
        let (light, own, product) =
            (light_radius * light_radius, ball.radius * ball.radius, light_radius * ball.radius);
        let (ox, oy, oz) = (cx - at[0][i], cy - at[1][i], cz - at[2][i]);
        let ahead = ox * to_light[0][i] + oy * to_light[1][i] + oz * to_light[2][i];
        let near = ox * ox + oy * oy + oz * oz;
        let own_power = near - own;
        let tangents = power[i] * own_power.max(0.0);
        let margin = square[i] * near * MARGIN;
        let (outer, inner) = (ahead + product, ahead - product);
        let outside = own_power >= -ON * own;
        let front = (square[i] + near) * FRONT;
        let apart = outside & (tangents - outer * outer.abs() > margin);
        let behind = own_power - power[i] > front;
        let before = outside & (power[i] - own_power > front);
        let covered = before & (inner * inner.abs() - tangents > margin) & (own * power[i] > light * own_power);
        let inside = own_power < -DEEP * own;
        if inside | covered {
            COVERS
        } else if apart | behind {
            0
        } else {
            TOUCHES
        }
    }
}
