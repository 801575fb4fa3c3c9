//! Prepared scenes: a system in camera space, and a BVH of its occluders. Computed once per picture, in f64, before any pixel.

use std::collections::HashMap;

use glam::{DMat3, DVec3};

use super::cull;
use super::tiles::Grid;
use crate::batch::raygen::camera::View;
use crate::error::Result;
use crate::runtime::memory;
use crate::shadow::ball::Ball;
use crate::shadow::ball_bvh::BallBvh;
use crate::shadow::limb_darkening::LimbDarkening;
use crate::shadow::occluder_bvh::OccluderBvh;
use crate::shadow::spheroid::Spheroid;
use crate::shadow::surface::Surface;
use crate::shadow::system::{Body, System};

/// A sphere of a body, or a spheroid, in the coordinates of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreparedBall {
    /// For a spheroid its bounding sphere.
    pub(crate) ball: Ball,
    /// Index of its [`SurfacePattern`].
    pub(crate) pattern: u32,
    pub(crate) casts: bool,
    pub(crate) receives: bool,
    pub(crate) visible: bool,
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
    /// Index of its [`Surface`]; [`NO_SURFACE`] for bands.
    pub(crate) surface: u32,
}

/// Surface index of a body with bands only.
pub(crate) const NO_SURFACE: u32 = u32::MAX;

/// A system, prepared for rendering.
#[derive(Clone, Debug)]
pub(crate) struct PreparedPicture {
    pub(crate) view: View,
    pub(crate) world_from_view: DMat3,
    /// The light, in the coordinates of the system.
    pub(crate) light: Ball,
    pub(crate) limb_darkening: Option<LimbDarkening>,
    /// One per sphere, without the light.
    pub(crate) bodies: Vec<PreparedBall>,
    /// The bodies that are spheroids, with their ids, ascending.
    pub(crate) shapes: Vec<(u32, Spheroid)>,
    /// The bodies that cast shadows.
    pub(crate) occluders: OccluderBvh,
    /// All spheres in camera space, the light last; for a spheroid its bounding sphere.
    pub(crate) balls: Vec<Ball>,
    /// The visible spheroids in camera space, with their ids, ascending; poles are unit vectors. They are in no tile: every ray is tested
    /// against them.
    pub(crate) spheroids: Vec<(u32, Spheroid)>,
    pub(crate) patterns: Vec<SurfacePattern>,
    pub(crate) colors: Vec<[f64; 3]>,
    /// Maps and graticules of bodies.
    pub(crate) surfaces: Vec<Surface>,
    /// The round bodies and the light in camera space, as the ray of a pixel finds them.
    pub(crate) culling: Culling,
}

/// How the ray of a pixel finds the spheres that it may hit.
#[derive(Clone, Debug)]
pub(crate) enum Culling {
    /// Lists of spheres, by pixel, and the words that hold them.
    Tiles(Grid, Vec<u32>),
    Bvh(BallBvh),
}

/// The finest tiles have 2³ pixels per side.
const FINEST_TILE: u32 = 3;
/// Maximum number of words for the tiles, 16 MiB, unless a single tile takes more.
const MAX_TILE_WORDS: usize = 1 << 22;

/// If the lists of the tiles are longer than this on average, a BVH is traversed instead.
const MOST_TESTS: usize = 128;

/// Bytes per sphere of a prepared picture, roughly.
const BALL_BYTES: u64 = 256;

impl PreparedPicture {
    /// Prepares a system.
    pub(crate) fn new(system: &System) -> Result<Self> {
        memory::check("the spheres of a picture", system.ball_count() as u64 * BALL_BYTES)?;
        let view = View::new(system.camera(), system.picture().size);
        let light = system.light().ball;
        let mut colors = Vec::new();
        let mut patterns = Vec::new();
        let mut surfaces = Vec::new();
        let mut bodies: Vec<PreparedBall> = Vec::new();
        let mut shapes: Vec<(u32, Spheroid)> = Vec::new();
        for body in system.bodies() {
            let pole = view.turn(body.pole).normalize_or(DVec3::Z);
            let is_mapped = body.map.is_some() || body.graticule.is_some();
            let (x, y) = match body.meridian {
                None if !is_mapped => pole.any_orthonormal_pair(),
                meridian => {
                    let pole = body.pole.normalize_or(DVec3::Z);
                    let along_x = pole.cross(DVec3::X).length() < 1e-9;
                    let meridian = meridian.unwrap_or(if along_x { DVec3::Y } else { DVec3::X });
                    let x = (meridian - meridian.dot(pole) * pole).normalize_or(pole.any_orthonormal_vector());
                    // Camera space is left-handed, so the cross product is computed before the rotation.
                    (view.turn(x), view.turn(pole.cross(x)))
                }
            };
            let surface = if is_mapped { surfaces.len() as u32 } else { NO_SURFACE };
            if is_mapped {
                surfaces.push(Surface { map: body.map.clone(), graticule: body.graticule });
            }
            patterns.push(SurfacePattern {
                axes: DMat3::from_cols(x, y, pole).transpose(),
                swirl: body.swirl,
                first: colors.len() as u32,
                count: body.colors.len() as u32,
                surface,
            });
            colors.extend(body.colors.iter().map(|color| color.0));
            let pattern = patterns.len() as u32 - 1;
            let Body { casts, receives, visible, .. } = *body;
            let prepared = |ball| PreparedBall { ball, pattern, casts, receives, visible };
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
        let is_visible = |i: u32| bodies.get(i as usize).is_none_or(|one| one.visible);
        let shown = shapes.iter().filter(|one| is_visible(one.0));
        let spheroids = shown.map(|&(id, one)| {
            let (center, pole) = (view.turn(one.center - view.position), view.turn(one.pole).normalize_or(DVec3::Z));
            (id, Spheroid { center, pole, ..one })
        });
        let spheroids = spheroids.collect();
        let size = system.picture().size;
        let is_round = |i: u32| shapes.binary_search_by_key(&i, |one| one.0).is_err() && is_visible(i);
        let round = || balls.iter().copied().zip(0..).filter(|(_, i)| is_round(*i));
        let outlined = |(ball, i)| cull::outline(&view, size, ball).map(|patch| (i, patch));
        let items: Vec<_> = round().filter_map(outlined).collect();
        let mut words = Vec::new();
        let tiles = Grid::new(&mut words, size, FINEST_TILE, MAX_TILE_WORDS, &items);
        let mean = words.len() / tiles.cells(size);
        let culling =
            if mean > MOST_TESTS { Culling::Bvh(BallBvh::new(round())?) } else { Culling::Tiles(tiles, words) };
        let world_from_view = DMat3::from_cols(view.axes[0], view.axes[1], view.axes[2]);
        Ok(Self {
            view,
            world_from_view,
            light,
            limb_darkening: system.light().limb_darkening,
            bodies,
            shapes,
            occluders,
            balls,
            spheroids,
            patterns,
            colors,
            surfaces,
            culling,
        })
    }
}
