//! Prepared scenes: a system in camera space, and a BVH of its occluders. Computed once per picture, in f64, before any pixel.

use std::collections::HashMap;

use glam::{DMat3, DVec3};

use super::cull;
use super::tiles::Grid;
use crate::batch::raygen::camera::View;
use crate::error::Result;
use crate::runtime::memory::check_memory;
use crate::shadow::ball::Ball;
use crate::shadow::ball_bvh::BallBvh;
use crate::shadow::occluder_bvh::OccluderBvh;
use crate::shadow::spheroid::Spheroid;
use crate::shadow::system::System;

/// A sphere of a body, or a spheroid, in the coordinates of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreparedBall {
    /// For a spheroid its bounding sphere.
    pub(crate) ball: Ball,
    /// Index of its [`SurfacePattern`].
    pub(crate) pattern: u32,
    pub(crate) casts: bool,
    pub(crate) receives: bool,
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

impl RenderedSpheroid {
    pub(crate) fn new(view: &View, id: u32, spheroid: &Spheroid) -> Self {
        Self {
            id,
            center: view.turn(spheroid.center - view.position),
            radius: spheroid.radius,
            pole: view.turn(spheroid.pole).normalize_or(DVec3::Z),
            stretch: spheroid.radius / spheroid.polar_radius,
            around: spheroid.bounding_ball().radius,
        }
    }
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
    pub(crate) world_from_view: DMat3,
    /// The light, in the coordinates of the system.
    pub(crate) light: Ball,
    /// One per sphere, without the light.
    pub(crate) bodies: Vec<PreparedBall>,
    /// The bodies that are spheroids, with their ids, ascending.
    pub(crate) shapes: Vec<(u32, Spheroid)>,
    /// The bodies that cast shadows.
    pub(crate) occluders: OccluderBvh,
    /// All spheres in camera space, the light last; for a spheroid its bounding sphere.
    pub(crate) balls: Vec<Ball>,
    /// The spheroids in camera space. They are in no tile: every ray is tested against them.
    pub(crate) spheroids: Vec<RenderedSpheroid>,
    pub(crate) patterns: Vec<SurfacePattern>,
    pub(crate) colors: Vec<[f64; 3]>,
    /// Lists of spheres, by pixel.
    pub(crate) tiles: Grid,
    /// The lists of the tiles.
    pub(crate) words: Vec<u32>,
    /// The round bodies and the light in camera space, if there are so many that the CPU finds the first of them faster by traversal than in
    /// the lists of the tiles.
    pub(crate) bvh: Option<BallBvh>,
}

/// The finest tiles have 2³ pixels per side.
const FINEST_TILE: u32 = 3;
/// Maximum number of words for the tiles, 16 MiB, unless a single tile takes more.
const MAX_TILE_WORDS: usize = 1 << 22;

/// From this number of spheres on, the CPU traverses a BVH.
const MIN_BVH_BALLS: usize = 1024;

/// Bytes per sphere of a prepared picture, roughly.
const BALL_BYTES: u64 = 256;

impl PreparedPicture {
    pub(crate) fn new(system: &System) -> Result<Self> {
        check_memory("the spheres of a picture", system.ball_count() as u64 * BALL_BYTES)?;
        let view = View::new(system.camera(), system.picture().size);
        let light = system.light().ball;
        let mut colors = Vec::new();
        let mut patterns = Vec::new();
        let mut bodies: Vec<PreparedBall> = Vec::new();
        let mut shapes: Vec<(u32, Spheroid)> = Vec::new();
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
            let prepared = |ball| PreparedBall { ball, pattern, casts: body.casts, receives: body.receives };
            if !body.sphere_colors.is_empty() {
                // A pattern for each different colour.
                let mut pattern_of = HashMap::new();
                for (&ball, color) in body.balls.iter().zip(&body.sphere_colors) {
                    let pattern = *pattern_of.entry(color.0.map(f64::to_bits)).or_insert_with(|| {
                        patterns.push(SurfacePattern {
                            first: colors.len() as u32,
                            count: 1,
                            ..patterns[pattern as usize]
                        });
                        colors.push(color.0);
                        patterns.len() as u32 - 1
                    });
                    bodies.push(PreparedBall { pattern, ..prepared(ball) });
                }
                continue;
            }
            match body.spheroid() {
                Some(spheroid) => {
                    shapes.push((bodies.len() as u32, spheroid));
                    bodies.push(prepared(spheroid.bounding_ball()));
                }
                None => bodies.extend(body.balls.iter().copied().map(prepared)),
            }
        }
        let casting = bodies.iter().zip(0..).filter(|(one, _)| one.casts).map(|(one, id)| (one.ball, id));
        let occluders = OccluderBvh::new(casting, light)?;
        let seen = |ball: Ball| Ball { center: view.turn(ball.center - view.position), radius: ball.radius };
        let balls: Vec<Ball> = bodies.iter().map(|one| one.ball).chain([light]).map(seen).collect();
        let spheroids = shapes.iter().map(|(id, spheroid)| RenderedSpheroid::new(&view, *id, spheroid)).collect();
        let size = system.picture().size;
        let outlined = |(i, &ball)| cull::outline(&view, size, ball).map(|patch| (i as u32, patch));
        let is_round = |i: usize| shapes.binary_search_by_key(&(i as u32), |one| one.0).is_err();
        let items: Vec<_> = balls.iter().enumerate().filter(|(i, _)| is_round(*i)).filter_map(outlined).collect();
        let round = || balls.iter().copied().zip(0..).filter(|(_, i)| is_round(*i as usize));
        let bvh = if balls.len() < MIN_BVH_BALLS { None } else { Some(BallBvh::new(round())?) };
        let mut words = Vec::new();
        let tiles = Grid::new(&mut words, size, FINEST_TILE, MAX_TILE_WORDS, &items);
        let world_from_view = DMat3::from_cols(view.axes[0], view.axes[1], view.axes[2]);
        Ok(Self {
            view,
            world_from_view,
            light,
            bodies,
            shapes,
            occluders,
            balls,
            spheroids,
            patterns,
            colors,
            tiles,
            words,
            bvh,
        })
    }
}
