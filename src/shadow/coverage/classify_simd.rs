//! Which observers a ball leaves in full light and which it leaves none, without an angle.
//!
//! Almost nobody stands in a penumbra. With the observer's vectors to the light's centre (s, length D, radius R) and to the
//! ball's (o, d, r), the caps of angular radii a and b, c apart, touch when cos c > cos (a + b), and the ball covers the
//! light when cos c > cos (b − a) and b > a. Multiplied by D d that is s·o ± R r against √(D² − R²) √(d² − r²): squared,
//! some thirty products and no root. What comes within a margin of equality, far wider than rounding here and in
//! `disc.rs`, is left to be computed, so that nobody can tell from an answer which way it came.

use glam::DVec3;

use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{Level, dispatch};
use crate::shadow::ball::Ball;

/// Observers looked at together: their columns fill half of the first cache.
pub(crate) const BLOCK: usize = 256;

/// Added for each ball that may touch the light's disc.
pub(crate) const TOUCHES: u64 = 16;
/// The ball certainly leaves nothing of it, or the observer is inside the ball.
pub(crate) const COVERS: u64 = 2;
/// The observer is in the light or next to it.
pub(crate) const IN_LIGHT: u64 = 4;

/// The margin, in units of D² d²: rounding is some 2⁻⁴⁹ of it.
const MARGIN: f64 = 1.0 / (1_u64 << 38) as f64;
/// The margin of powers, in units of squared distances.
const FRONT: f64 = 1.0 / (1_u64 << 40) as f64;
/// Squared depth below a surface, in units of r², up to which an observer certainly [stands on it](crate::shadow::Lighting)…
const ON: f64 = 1.0 / (1_u64 << 22) as f64;
/// … and from which on certainly not.
const DEEP: f64 = 1.0 / (1_u64 << 20) as f64;
/// Powers to the light below this many D² are next to it.
const NEAR: f64 = 1.0 / (1_u64 << 16) as f64;

/// Columns of observers: where they are, and how the light's centre lies from there.
pub(crate) struct Observers {
    light_radius: f64,
    at: [[f64; BLOCK]; 3],
    to_light: [[f64; BLOCK]; 3],
    /// Squared distance to the light's centre.
    square: [f64; BLOCK],
    /// Less its squared radius.
    power: [f64; BLOCK],
    /// What is known so far of each.
    pub(crate) flags: [u64; BLOCK],
    /// Which ball was the last to touch.
    pub(crate) last: [u64; BLOCK],
}

impl Observers {
    /// Room for a block.
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self {
            light_radius: 0.0,
            at: [[0.0; BLOCK]; 3],
            to_light: [[0.0; BLOCK]; 3],
            square: [0.0; BLOCK],
            power: [0.0; BLOCK],
            flags: [0; BLOCK],
            last: [0; BLOCK],
        })
    }
}

dispatch! {
    /// Takes the first observers of a list in; those that are missing stand where the light is. False when there is one with a
    /// coordinate that is no number up to `largest`.
    take_in, (block: &mut Observers, observers: &[DVec3], light: Ball, largest: f64) -> bool
}

#[inline(always)]
fn take_in(_: impl Lanes, block: &mut Observers, observers: &[DVec3], light: Ball, largest: f64) -> bool {
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
        // What is not comparable is next to the light, too: it is computed.
        flags[i] = if power[i] > NEAR * square[i] { 0 } else { IN_LIGHT };
    }
    bad == 0
}

dispatch! {
    /// Adds to the flags of all observers what one ball does to them, and its number; says whether it touches anybody's disc.
    sift, (observers: &mut Observers, ball: Ball, number: u64) -> bool
}

#[inline(always)]
fn sift(_: impl Lanes, observers: &mut Observers, ball: Ball, number: u64) -> bool {
    let mut any = 0;
    for i in 0..BLOCK {
        let flag = observers.flag(i, ball);
        observers.flags[i] = (observers.flags[i] | (flag & COVERS)) + (flag & TOUCHES);
        observers.last[i] = if flag == TOUCHES { number } else { observers.last[i] };
        any |= flag;
    }
    any & TOUCHES != 0
}

dispatch! {
    /// The same for a spheroid between two balls. Its touch counts twice: nobody computes it as if it were a ball.
    sift_between, (observers: &mut Observers, around: Ball, within: Ball) -> bool
}

#[inline(always)]
fn sift_between(_: impl Lanes, observers: &mut Observers, around: Ball, within: Ball) -> bool {
    let mut any = 0;
    for i in 0..BLOCK {
        let (apart, covers) = (observers.flag(i, around) == 0, observers.flag(i, within) == COVERS);
        let flag = if covers {
            COVERS
        } else if apart {
            0
        } else {
            2 * TOUCHES
        };
        observers.flags[i] = (observers.flags[i] | (flag & COVERS)) + (flag & (2 * TOUCHES));
        any |= flag;
    }
    any & (2 * TOUCHES) != 0
}

impl Observers {
    /// Whether a ball may touch the disc of observer `i`.
    pub(crate) fn is_touched(&self, i: usize, ball: Ball) -> bool {
        self.flag(i, ball) == TOUCHES
    }

    /// Whether anything in a ball may.
    pub(crate) fn is_touched_within(&self, i: usize, around: Ball) -> bool {
        self.flag(i, around) != 0
    }

    /// What one ball does to observer `i`: none of the flags, [`TOUCHES`] or [`COVERS`].
    #[inline(always)]
    fn flag(&self, i: usize, ball: Ball) -> u64 {
        let Self { light_radius, at, to_light, square, power, .. } = self;
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
        let swallowed = own_power < -DEEP * own;
        if swallowed | covered {
            COVERS
        } else if apart | behind {
            0
        } else {
            TOUCHES
        }
    }
}
