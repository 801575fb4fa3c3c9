//! Prepared scenes: a system in camera space and in the light-aligned frames of its bodies. Computed once per picture, in f64, before any
//! pixel.

use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::cull::{self, SQUARES, may_shade};
use super::tiles::Grid;
use crate::batch::raygen::camera::View;
use crate::error::{Error, Result};
use crate::runtime::cpu_pool;
use crate::runtime::memory::{check_memory, try_reserve, try_with_capacity};
use crate::shadow::ball::Ball;
use crate::shadow::coverage::cones::SpheroidShape;
use crate::shadow::coverage::light::{Light, Occluder, ROUND};
use crate::shadow::light_frame::LightFrame;
use crate::shadow::spheroid::Spheroid;
use crate::shadow::system::System;

/// A sphere or spheroid, prepared for shading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    /// Rotates a direction from camera space into the light-aligned frame.
    pub(crate) light_from_view: DMat3,
    pub(crate) light: Light,
    /// Lists of its occluders, by position on its surface.
    pub(crate) grid: Grid,
    /// Index of its [`SurfacePattern`].
    pub(crate) pattern: u32,
}

/// A spheroid in camera space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenderedSpheroid {
    pub(crate) id: u32,
    pub(crate) center: DVec3,
    pub(crate) radius: f64,
    /// A unit vector.
    pub(crate) pole: DVec3,
    /// Factor by which space is stretched along the pole to turn the spheroid into a sphere.
    pub(crate) stretch: f64,
    /// Radius of its bounding sphere: the unit of its light-aligned frame.
    pub(crate) around: f64,
}

/// Appearance of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfacePattern {
    /// Rows: two unit vectors across the pole, and the pole itself, in camera space.
    pub(crate) axes: DMat3,
    pub(crate) swirl: f64,
    /// Its colours: index of the first, and their number.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// A system, prepared for rendering.
#[derive(Clone, Debug)]
pub(crate) struct PreparedPicture {
    pub(crate) view: View,
    /// All spheres in camera space, the light last; for a spheroid its bounding sphere.
    pub(crate) balls: Vec<Ball>,
    /// One per sphere, without the light.
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) occluders: Vec<Occluder>,
    /// Shapes of the occluders that are spheroids.
    pub(crate) shapes: Vec<SpheroidShape>,
    /// The bodies that are spheroids. They are in no tile: every ray is tested against them.
    pub(crate) spheroids: Vec<RenderedSpheroid>,
    pub(crate) patterns: Vec<SurfacePattern>,
    pub(crate) colors: Vec<[f64; 3]>,
    /// Lists of spheres, by pixel.
    pub(crate) tiles: Grid,
    /// The lists of all grids.
    pub(crate) words: Vec<u32>,
}

/// The finest tiles have 2³ pixels per side.
const FINEST_TILE: u32 = 3;
/// Maximum number of words for the tiles, 16 MiB, unless a single tile takes more.
const MAX_TILE_WORDS: usize = 1 << 22;
/// Words of a receiver's grid per occluder. With the maximum number of pairs, the grids take 64 MiB.
const WORDS_PER_PAIR: usize = 4;
/// Maximum number of receivers per group. Groups are culled first as a whole.
const GROUP: usize = 64;

/// Maximum number of pairs of receiver and occluder: 128 MiB on a device, the binding size that every device supports.
const MAX_PAIRS: usize = 1 << 22;

impl PreparedPicture {
    pub(crate) fn new(system: &System) -> Result<Self> {
        let view = View::new(system.camera(), system.picture().size);
        let light = system.light().ball;
        let mut colors = Vec::new();
        let mut patterns = Vec::new();
        let mut all: Vec<(Ball, u32, bool, bool)> = Vec::new();
        let mut spheroids: Vec<(u32, Spheroid)> = Vec::new();
        for body in system.bodies() {
            let pole = view.turn(body.pole).normalize_or(DVec3::Z);
            let (x, y) = pole.any_orthonormal_pair();
            patterns.push(SurfacePattern {
                axes: DMat3::from_cols(x, y, pole).transpose(),
                swirl: body.swirl,
                first: colors.len() as u32,
                count: body.colors.len() as u32,
            });
            colors.extend(body.colors.iter().map(|color| color.0));
            let pattern = patterns.len() as u32 - 1;
            if let Some(spheroid) = body.spheroid() {
                spheroids.push((all.len() as u32, spheroid));
                all.push((spheroid.bounding_ball(), pattern, body.casts, body.receives));
                continue;
            }
            all.extend(body.balls.iter().map(|&ball| (ball, pattern, body.casts, body.receives)));
        }
        let world_from_view = DMat3::from_cols(view.axes[0], view.axes[1], view.axes[2]);
        let balls: Vec<Ball> = all.iter().map(|one| one.0).collect();
        let prepared = shadows(light, &balls, &spheroids, |i| all[i as usize].2, |i| all[i as usize].3)?;
        let pairs: usize = prepared.iter().map(|(_, occluders, _)| occluders.len()).sum();
        let (mut occluders, mut receivers) = (Vec::new(), Vec::new());
        try_reserve(PAIRS, &mut occluders, pairs as u64)?;
        try_reserve("bodies that receive shadows", &mut receivers, all.len() as u64)?;
        let mut words = Vec::new();
        let mut shapes: Vec<SpheroidShape> = Vec::new();
        for ((frame, own, own_shapes), (_, pattern, ..)) in prepared.into_iter().zip(&all) {
            let number = |k: usize| (occluders.len() + k) as u32;
            let around = |one: Occluder| match own_shapes.get(one.shape as usize) {
                // The bounding radius of a prolate spheroid is its polar radius.
                Some(shape) => Occluder { radius: one.radius / (1.0 + shape.stretch).min(1.0).sqrt(), ..one },
                None => one,
            };
            let reached = |(k, one)| cull::penumbra_patch(frame.light, around(one)).map(|patch| (number(k), patch));
            let items: Vec<_> = own.iter().copied().enumerate().filter_map(reached).collect();
            receivers.push(Receiver {
                light_from_view: frame.rotation() * world_from_view,
                light: frame.light,
                grid: Grid::new(&mut words, [SQUARES; 2], 0, WORDS_PER_PAIR * items.len(), &items),
                pattern: *pattern,
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
        let body = |&(id, spheroid): &(u32, Spheroid)| RenderedSpheroid {
            id,
            center: balls[id as usize].center,
            radius: spheroid.radius,
            pole: view.turn(spheroid.pole).normalize_or(DVec3::Z),
            stretch: spheroid.radius / spheroid.polar_radius,
            around: spheroid.bounding_ball().radius,
        };
        let figures: Vec<RenderedSpheroid> = spheroids.iter().map(body).collect();
        let size = system.picture().size;
        let outlined = |(i, &ball)| cull::outline(&view, size, ball).map(|patch| (i as u32, patch));
        let is_round = |i: usize| spheroids.binary_search_by_key(&(i as u32), |one| one.0).is_err();
        let items: Vec<_> = balls.iter().enumerate().filter(|(i, _)| is_round(*i)).filter_map(outlined).collect();
        let tiles = Grid::new(&mut words, size, FINEST_TILE, MAX_TILE_WORDS, &items);
        Ok(Self { view, balls, receivers, occluders, shapes, spheroids: figures, patterns, colors, tiles, words })
    }

    /// Upper bound on the tests of a pixel: spheres in its tile, spheroids, and occluders of the point that it shows.
    pub(crate) fn most_tests(&self, size: [u32; 2]) -> u64 {
        let shading = self.receivers.iter().map(|one| one.grid.longest(&self.words, [SQUARES; 2])).max();
        u64::from(self.tiles.longest(&self.words, size)) + self.spheroids.len() as u64 + u64::from(shading.unwrap_or(0))
    }
}

/// Name, in error messages, of what takes the most memory.
const PAIRS: &str = "pairs of spheres that could shadow one another";

/// Light-aligned frame of a receiver, its occluders, and the shapes of those that are spheroids.
type Shaded = (LightFrame, Vec<Occluder>, Vec<SpheroidShape>);

/// The frame of each receiver, and the occluders whose penumbra can reach it: usually a handful, even in a cloud of thousands of spheres.
/// As soon as there are too many pairs, returns an error with figures.
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
    // First only the ids of the occluders are collected, so that no further work is wasted on a system that is refused.
    let of_group = |group: &cull::Group| -> Vec<(u32, Vec<u32>)> {
        // Counting the remaining groups could take minutes.
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
    cpu_pool::ensure_pool();
    let mut found: Vec<_> = groups.par_iter().flat_map_iter(of_group).collect();
    let pairs = pairs.load(Ordering::Relaxed);
    if pairs > MAX_PAIRS {
        let bytes = |pairs: usize| pairs as u64 * 32;
        return Err(Error::TooLarge {
            what: "too many spheres could shadow one another; use fewer spheres, or set `casts = false` for some bodies",
            asked: bytes(pairs),
            allowed: bytes(MAX_PAIRS),
            device: "any device".into(),
        });
    }
    check_memory(PAIRS, (pairs * size_of::<Occluder>()) as u64)?;
    found.sort_unstable_by_key(|one| one.0);
    let shaded = |(i, own): (u32, Vec<u32>)| {
        let frame = LightFrame::new(ball(i).center, ball(i).radius, light);
        let (mut occluders, mut shapes) = (try_with_capacity(own.len())?, Vec::new());
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
