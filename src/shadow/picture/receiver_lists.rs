//! Lists of occluders per receiver, for a GPU: a grid over each receiver, and for each cell the occluders whose penumbra can reach it.

use std::sync::atomic::{AtomicUsize, Ordering};

use glam::DMat3;
use rayon::prelude::*;

use super::cull::{self, SQUARES, may_shade};
use super::prepared::{Culling, PreparedBall, PreparedPicture};
use super::tiles::Grid;
use crate::batch::raygen::projection::Projection;
use crate::error::Result;
use crate::runtime::memory::{self, try_reserve, try_with_capacity};
use crate::shadow::ball::Ball;
use crate::shadow::ball_bvh::BallBvh;
use crate::shadow::coverage::cones::SpheroidShape;
use crate::shadow::coverage::light::{Light, Occluder, ROUND};
use crate::shadow::light_frame::LightFrame;

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

/// The receivers of a picture and their occluders.
#[derive(Clone, Debug)]
pub(crate) struct ReceiverLists {
    /// One per sphere, without the light.
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) occluders: Vec<Occluder>,
    /// Shapes of the occluders that are spheroids.
    pub(crate) shapes: Vec<SpheroidShape>,
    /// The tiles of the picture.
    pub(crate) tiles: Grid,
    /// The lists of the tiles, then those of the receivers' grids.
    pub(crate) words: Vec<u32>,
}

/// Words of a receiver's grid per occluder. With the maximum number of pairs, the grids take 64 MiB.
const WORDS_PER_PAIR: usize = 4;
/// Maximum number of receivers per group. Groups are culled first as a whole.
const GROUP: usize = 64;

/// Maximum number of spheres: their pairs are counted one by one.
const MAX_RECEIVERS: usize = 1 << 16;
/// Maximum number of pairs of receiver and occluder: 128 MiB on a device, the binding size that every device supports.
const MAX_PAIRS: usize = 1 << 22;

impl ReceiverLists {
    /// Finds the occluders of each receiver. `None` if the picture has a BVH instead of tiles, too many spheres or too many pairs.
    pub(crate) fn new(picture: &PreparedPicture) -> Result<Option<Self>> {
        let Culling::Tiles(tiles, words) = &picture.culling else { return Ok(None) };
        if picture.bodies.len() > MAX_RECEIVERS {
            return Ok(None);
        }
        let Some(prepared) = shadows(picture)? else { return Ok(None) };
        let pairs: usize = prepared.iter().map(|(_, occluders, _)| occluders.len()).sum();
        let (mut occluders, mut receivers) = (Vec::new(), Vec::new());
        try_reserve(PAIRS, &mut occluders, pairs as u64)?;
        try_reserve("bodies that receive shadows", &mut receivers, picture.bodies.len() as u64)?;
        let mut words = words.clone();
        let mut shapes: Vec<SpheroidShape> = Vec::new();
        for ((frame, own, own_shapes), body) in prepared.into_iter().zip(&picture.bodies) {
            let number = |k: usize| (occluders.len() + k) as u32;
            let around = |one: Occluder| match own_shapes.get(one.shape as usize) {
                // The bounding radius of a prolate spheroid is its polar radius.
                Some(shape) => Occluder { radius: one.radius / (1.0 + shape.stretch).min(1.0).sqrt(), ..one },
                None => one,
            };
            let reached = |(k, one)| cull::penumbra_patch(frame.light, around(one)).map(|patch| (number(k), patch));
            let items: Vec<_> = own.iter().copied().enumerate().filter_map(reached).collect();
            receivers.push(Receiver {
                light_from_view: frame.rotation() * picture.world_from_view,
                light: frame.light,
                grid: Grid::new(&mut words, [SQUARES; 2], 0, WORDS_PER_PAIR * items.len(), &items),
                pattern: body.pattern,
            });
            let first = shapes.len() as u32;
            occluders.extend(own.into_iter().map(|one| match one.shape {
                ROUND => one,
                shape => Occluder { shape: first + shape, ..one },
            }));
            shapes.extend(own_shapes);
        }
        Ok(Some(Self { receivers, occluders, shapes, tiles: *tiles, words }))
    }

    /// Whether f32 is precise enough for all pairs and for the pixels: no small occluder is near the surface of a large receiver, and the camera
    /// is not near that of a large body, where distances are differences of numbers of the size of its radius.
    pub(crate) fn are_precise(&self, picture: &PreparedPicture) -> bool {
        let near_camera = |(body, ball): (&PreparedBall, &Ball)| {
            let apart = match picture.view.projection {
                Projection::Perspective => ball.center.length(),
                Projection::Orthographic => ball.center.z.abs(),
            };
            body.visible && apart - ball.radius < LEAST_REACH * ball.radius
        };
        !self.occluders.iter().any(is_near_surface) && !picture.bodies.iter().zip(&picture.balls).any(near_camera)
    }

    /// Upper bound on the tests of a pixel: spheres in its tile, spheroids, and occluders of the point that it shows.
    pub(crate) fn most_tests(&self, picture: &PreparedPicture, size: [u32; 2]) -> u64 {
        let shading = self.receivers.iter().map(|one| one.grid.longest(&self.words, [SQUARES; 2])).max();
        let tile = self.tiles.longest(&self.words, size);
        u64::from(tile) + picture.spheroids.len() as u64 + u64::from(shading.unwrap_or(0))
    }
}

/// Whether f32 is not precise enough in the frame of the receiver, whose unit is the receiver's radius R. The power of a surface point is
/// rounded to 2⁻²² R². Its square root, the length of the tangent, has a relative error below 10⁻⁴ only if it is not shorter than about R /
/// 30.
fn is_near_surface(occluder: &Occluder) -> bool {
    let gap = occluder.offset.extend(occluder.along).length() - 1.0;
    gap.max(occluder.radius) < LEAST_REACH
}

/// Distances from the surface, and radii, of occluders that f32 can represent in the frame of a receiver.
const LEAST_REACH: f64 = 1.0 / 30.0;

/// Name of the largest list in error messages.
const PAIRS: &str = "pairs of spheres that could shadow one another";

/// Light-aligned frame of a receiver, its occluders, and the shapes of those that are spheroids.
type Shaded = (LightFrame, Vec<Occluder>, Vec<SpheroidShape>);

/// The frame of each receiver, and the occluders whose penumbra can reach it: usually a handful, even in a cloud of thousands of spheres.
/// `None` if there are too many pairs.
fn shadows(picture: &PreparedPicture) -> Result<Option<Vec<Shaded>>> {
    let PreparedPicture { light, bodies, shapes: spheroids, .. } = picture;
    let casting: Vec<u32> = (0..).zip(bodies).filter(|(_, one)| one.casts).map(|(i, _)| i).collect();
    let ball = |i: u32| bodies[i as usize].ball;
    let pairs = AtomicUsize::new(0);
    let too_many = || pairs.load(Ordering::Relaxed) > MAX_PAIRS;
    // First only the ids of the occluders are collected, so that no further work is wasted on a system that is refused.
    let of_group = |&(around, members): &(Ball, &[(Ball, u32)])| -> Vec<(u32, Vec<u32>)> {
        // Counting the remaining groups could take minutes.
        if too_many() {
            return Vec::new();
        }
        let near: Vec<u32> = casting.iter().copied().filter(|&j| may_shade(*light, ball(j), around)).collect();
        let of = |&(_, i): &(Ball, u32)| {
            let shades = |&j: &u32| j != i && bodies[i as usize].receives && may_shade(*light, ball(j), ball(i));
            let own: Vec<u32> = near.iter().copied().filter(shades).collect();
            pairs.fetch_add(own.len(), Ordering::Relaxed);
            (i, own)
        };
        members.iter().take_while(|_| !too_many()).map(of).collect()
    };
    let bvh = BallBvh::new(bodies.iter().map(|one| one.ball).zip(0..))?;
    let mut found: Vec<_> = bvh.subtrees(GROUP).par_iter().flat_map_iter(of_group).collect();
    let pairs = pairs.load(Ordering::Relaxed);
    if pairs > MAX_PAIRS {
        return Ok(None);
    }
    memory::check(PAIRS, (pairs * size_of::<Occluder>()) as u64)?;
    found.sort_unstable_by_key(|one| one.0);
    let shaded = |(i, own): (u32, Vec<u32>)| {
        let frame = LightFrame::new(ball(i).center, ball(i).radius, *light);
        let (mut occluders, mut shapes) = (try_with_capacity(own.len())?, Vec::new());
        occluders.extend(own.into_iter().map(|j| frame.body(j, ball(j), spheroids, &mut shapes)));
        Ok((frame, occluders, shapes))
    };
    found.into_par_iter().map(shaded).collect::<Result<_>>().map(Some)
}
