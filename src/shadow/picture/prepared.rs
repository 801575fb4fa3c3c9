//! The stage: a system as its camera and its bodies see it, in small numbers. All that is done once, in f64, before any
//! pixel is.

use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::cull::{self, SQUARES, may_shade};
use super::tiles::Grid;
use crate::batch::raygen::camera::View;
use crate::error::{Error, Result};
use crate::runtime::cpu_pool;
use crate::runtime::memory::{check_memory, grow, room};
use crate::shadow::ball::Ball;
use crate::shadow::coverage::cones::Shape;
use crate::shadow::coverage::light::{Light, Occluder, ROUND};
use crate::shadow::light_frame::Frame;
use crate::shadow::spheroid::Spheroid;
use crate::shadow::system::System;

/// One ball, ready to be painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    /// Turns a direction from the camera's space into the light-aligned frame.
    pub(crate) light_from_view: DMat3,
    pub(crate) light: Light,
    /// Lists of its occluders, by where on it one is.
    pub(crate) grid: Grid,
    /// Which look it has.
    pub(crate) look: u32,
}

/// A spheroid in the camera's space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) id: u32,
    pub(crate) center: DVec3,
    pub(crate) radius: f64,
    /// A unit vector.
    pub(crate) pole: DVec3,
    /// By how much it is stretched along the pole to become a sphere.
    pub(crate) stretch: f64,
    /// The radius of the ball around it: the unit of its frame.
    pub(crate) around: f64,
}

/// How bodies look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The pole, a unit vector in the camera's space, and the directions across it.
    pub(crate) axes: DMat3,
    pub(crate) swirl: f64,
    /// Its colours: the first, and how many.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// A system, prepared.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) view: View,
    /// All balls in the camera's space, the light last; for a spheroid the ball around it.
    pub(crate) balls: Vec<Ball>,
    /// One a ball, the light left out.
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) occluders: Vec<Occluder>,
    /// The shapes of those that are spheroids.
    pub(crate) shapes: Vec<Shape>,
    /// The bodies that are. They are in no tile: every ray is tested against them.
    pub(crate) figures: Vec<Figure>,
    pub(crate) looks: Vec<Look>,
    pub(crate) colors: Vec<[f64; 3]>,
    /// Lists of balls, by pixel.
    pub(crate) tiles: Grid,
    /// The lists of all grids.
    pub(crate) words: Vec<u32>,
}

/// The finest tiles have 2³ pixels each way.
const FINEST_TILE: u32 = 3;
/// The most words for the tiles, 16 MiB, unless a single tile takes more.
const MAX_TILE_WORDS: usize = 1 << 22;
/// Words of a receiver's grid for each of its occluders: with the pairs at their most, 64 MiB.
const WORDS_A_PAIR: usize = 4;
/// Receivers whose occluders are looked for together.
const GROUP: usize = 64;

/// The most pairs of receiver and occluder: 128 MiB on a device, the least that every one can bind.
const MAX_PAIRS: usize = 1 << 22;

impl Stage {
    pub(crate) fn new(system: &System) -> Result<Self> {
        let view = View::new(system.camera(), system.picture().size);
        let light = system.light().ball;
        let mut colors = Vec::new();
        let mut looks = Vec::new();
        let mut all: Vec<(Ball, u32, bool, bool)> = Vec::new();
        let mut spheroids: Vec<(u32, Spheroid)> = Vec::new();
        for body in system.bodies() {
            let pole = view.turn(body.pole).normalize_or(DVec3::Z);
            let (x, y) = pole.any_orthonormal_pair();
            looks.push(Look {
                axes: DMat3::from_cols(x, y, pole).transpose(),
                swirl: body.swirl,
                first: colors.len() as u32,
                count: body.colors.len() as u32,
            });
            colors.extend(body.colors.iter().map(|color| color.0));
            let look = looks.len() as u32 - 1;
            if let Some(spheroid) = body.spheroid() {
                spheroids.push((all.len() as u32, spheroid));
                all.push((spheroid.around(), look, body.casts, body.receives));
                continue;
            }
            all.extend(body.balls.iter().map(|&ball| (ball, look, body.casts, body.receives)));
        }
        let world_from_view = DMat3::from_cols(view.axes[0], view.axes[1], view.axes[2]);
        let balls: Vec<Ball> = all.iter().map(|one| one.0).collect();
        let prepared = shadows(light, &balls, &spheroids, |i| all[i as usize].2, |i| all[i as usize].3)?;
        let pairs: usize = prepared.iter().map(|(_, occluders, _)| occluders.len()).sum();
        let (mut occluders, mut receivers) = (Vec::new(), Vec::new());
        grow(PAIRS, &mut occluders, pairs as u64)?;
        grow("bodies that receive shadows", &mut receivers, all.len() as u64)?;
        let mut words = Vec::new();
        let mut shapes: Vec<Shape> = Vec::new();
        for ((frame, own, own_shapes), (_, look, ..)) in prepared.into_iter().zip(&all) {
            let number = |k: usize| (occluders.len() + k) as u32;
            let around = |one: Occluder| match own_shapes.get(one.shape as usize) {
                // Of a prolate one the pole is what reaches farthest.
                Some(shape) => Occluder { radius: one.radius / (1.0 + shape.stretch).min(1.0).sqrt(), ..one },
                None => one,
            };
            let reached = |(k, one)| cull::reach(frame.light, around(one)).map(|patch| (number(k), patch));
            let items: Vec<_> = own.iter().copied().enumerate().filter_map(reached).collect();
            receivers.push(Receiver {
                light_from_view: frame.rotation() * world_from_view,
                light: frame.light,
                grid: Grid::new(&mut words, [SQUARES; 2], 0, WORDS_A_PAIR * items.len(), &items),
                look: *look,
            });
            let first = shapes.len() as u32;
            occluders.extend(own.into_iter().map(|one| match one.shape {
                ROUND => one,
                shape => Occluder { shape: first + shape, ..one },
            }));
            shapes.extend(own_shapes);
        }
        let seen = |ball: Ball| Ball { center: view.turn(ball.center - view.position), radius: ball.radius };
        let balls: Vec<Ball> = balls.into_iter().chain([light]).map(seen).collect();
        let figure = |&(id, spheroid): &(u32, Spheroid)| Figure {
            id,
            center: balls[id as usize].center,
            radius: spheroid.radius,
            pole: view.turn(spheroid.pole).normalize_or(DVec3::Z),
            stretch: spheroid.radius / spheroid.polar_radius,
            around: spheroid.around().radius,
        };
        let figures: Vec<Figure> = spheroids.iter().map(figure).collect();
        let size = system.picture().size;
        let outlined = |(i, &ball)| cull::outline(&view, size, ball).map(|patch| (i as u32, patch));
        let is_round = |i: usize| spheroids.binary_search_by_key(&(i as u32), |one| one.0).is_err();
        let items: Vec<_> = balls.iter().enumerate().filter(|(i, _)| is_round(*i)).filter_map(outlined).collect();
        let tiles = Grid::new(&mut words, size, FINEST_TILE, MAX_TILE_WORDS, &items);
        Ok(Self { view, balls, receivers, occluders, shapes, figures, looks, colors, tiles, words })
    }

    /// The most that any pixel has to test: balls in its tile, and occluders of what it sees.
    pub(crate) fn most_tests(&self, size: [u32; 2]) -> u64 {
        let shading = self.receivers.iter().map(|one| one.grid.longest(&self.words, [SQUARES; 2])).max();
        u64::from(self.tiles.longest(&self.words, size)) + self.figures.len() as u64 + u64::from(shading.unwrap_or(0))
    }
}

/// What takes the most memory.
const PAIRS: &str = "pairs of a body and one that may shade it";

/// The frame of a ball, its occluders, and the shapes of those that are spheroids.
type Shaded = (Frame, Vec<Occluder>, Vec<Shape>);

/// The frame of each ball, and those of the others whose penumbra can fall on it: mostly a handful, even in a cloud of
/// thousands. Refused, with figures, as soon as they are too many.
fn shadows(
    light: Ball,
    balls: &[Ball],
    spheroids: &[(u32, Spheroid)],
    casts: impl Fn(u32) -> bool + Sync,
    receives: impl Fn(u32) -> bool + Sync,
) -> Result<Vec<Shaded>> {
    let casting: Vec<u32> = (0..balls.len() as u32).filter(|&i| casts(i)).collect();
    let ball = |i: u32| balls[i as usize];
    let pairs = AtomicUsize::new(0);
    let too_many = || pairs.load(Ordering::Relaxed) > MAX_PAIRS;
    // First only the numbers of the occluders: what is refused need not be computed.
    let of_group = |group: &cull::Group| -> Vec<(u32, Vec<u32>)> {
        // The other groups would take minutes to count.
        if too_many() {
            return Vec::new();
        }
        let near: Vec<u32> = casting.iter().copied().filter(|&j| may_shade(light, ball(j), group.around)).collect();
        let of = |&i: &u32| {
            let shades = |&j: &u32| j != i && receives(i) && may_shade(light, ball(j), ball(i));
            let own: Vec<u32> = near.iter().copied().filter(shades).collect();
            pairs.fetch_add(own.len(), Ordering::Relaxed);
            (i, own)
        };
        group.members.iter().take_while(|_| !too_many()).map(of).collect()
    };
    let groups = cull::groups(balls, GROUP);
    cpu_pool::ready();
    let mut found: Vec<_> = groups.par_iter().flat_map_iter(of_group).collect();
    let pairs = pairs.load(Ordering::Relaxed);
    if pairs > MAX_PAIRS {
        let bytes = |pairs: usize| pairs as u64 * 32;
        return Err(Error::TooLarge {
            what: "pairs of a body and one that may shade it, at the least",
            asked: bytes(pairs),
            allowed: bytes(MAX_PAIRS),
            device: "any device".into(),
        });
    }
    check_memory(PAIRS, (pairs * size_of::<Occluder>()) as u64)?;
    found.sort_unstable_by_key(|one| one.0);
    let shaded = |(i, own): (u32, Vec<u32>)| {
        let frame = Frame::new(ball(i).center, ball(i).radius, light);
        let (mut occluders, mut shapes) = (room(own.len())?, Vec::new());
        occluders.extend(own.into_iter().map(|j| match spheroids.binary_search_by_key(&j, |one| one.0) {
            Ok(at) => {
                let (occluder, shape) = frame.spheroid(&spheroids[at].1, shapes.len() as u32);
                shapes.push(shape);
                occluder
            }
            Err(_) => frame.occluder(ball(j)),
        }));
        Ok((frame, occluders, shapes))
    };
    found.into_par_iter().map(shaded).collect()
}
