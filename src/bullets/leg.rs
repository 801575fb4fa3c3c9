//! One leg of a bullet's flight: from where it starts or glances off to where it is next met, or ends.

use glam::Vec3;

use crate::records::NO_SPHERE;

/// How a leg of a flight ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum LegStatus {
    /// On a sphere.
    Hit = 0,
    /// Nowhere: nothing is ahead; or, among spheres that move, nothing before their time range ends.
    #[default]
    Miss = 1,
    /// Where it begins: the bullet starts inside a sphere, or overlapping it, and is not asked about.
    StartedInside = 2,
}

impl LegStatus {
    /// All of them, by number.
    pub const ALL: [Self; 3] = [Self::Hit, Self::Miss, Self::StartedInside];

    /// The word used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::StartedInside => "started_inside",
        }
    }
}

/// A straight part of a bullet's flight: from its start, or from a sphere it glanced off, to what it meets. Computed in f64 and
/// rounded once; the bounds are those of [`Target::ricochet`](super::ricochet::Target::ricochet).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// How it ends.
    pub status: LegStatus,
    /// The sphere that is met; with [`LegStatus::StartedInside`] the lowest that holds the start, and [`NO_SPHERE`] on a miss.
    pub id: u32,
    /// How far the bullet has flown when it meets it, all its legs together; infinite unless it does.
    pub distance: f32,
    /// How many frames have passed since the start: among spheres at rest the distance over the speed; infinite unless it meets
    /// anything.
    pub frames: f32,
    /// Where the bullet then is, the centre of one with a radius; NaN unless anything is met, as all that follows.
    pub point: Vec3,
    /// Between the path, as the sphere sees it, and the tangent plane, in radians: 0 grazing, π/2 head on.
    pub angle: f32,
    /// Of the bullet afterwards, a frame: mirrored in the tangent plane, in the frame of the sphere. Its speed past the sphere stays;
    /// off one that moves, its own speed does not.
    pub velocity: Vec3,
}

impl Leg {
    /// A leg without end.
    pub const MISS: Self = Self {
        status: LegStatus::Miss,
        id: NO_SPHERE,
        distance: f32::INFINITY,
        frames: f32::INFINITY,
        point: Vec3::NAN,
        angle: f32::NAN,
        velocity: Vec3::NAN,
    };

    /// Of a bullet that starts inside a sphere.
    pub(crate) fn inside(id: u32) -> Self {
        Self { status: LegStatus::StartedInside, id, ..Self::MISS }
    }

    /// Whether a sphere was met.
    pub fn is_hit(&self) -> bool {
        self.status == LegStatus::Hit
    }
}

/// The legs of a round, each with the number of its bullet among those that were shot.
pub(crate) type Legs = Vec<(usize, Leg)>;
