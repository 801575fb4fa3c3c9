//! Prepared scenes with another culling: none, the reference for pictures rendered with it, or a BVH, which else only large scenes have.

use super::prepared::{Culling, PreparedPicture};
use super::tiles::{Grid, Patch};
use crate::shadow::ball_bvh::BallBvh;

/// The prepared scene without culling: a single tile lists every sphere, and the BVH of the occluders returns all of them.
pub(crate) fn whole(prepared_picture: &PreparedPicture) -> PreparedPicture {
    let mut whole = prepared_picture.clone();
    whole.occluders = prepared_picture.occluders.exhaustive();
    let patch = Patch { low: [0; 2], high: [0; 2] };
    // Spheroids are in no tile: every ray is tested against them.
    let is_visible = |i: u32| prepared_picture.bodies.get(i as usize).is_none_or(|one| one.visible);
    let is_round = |i: &u32| prepared_picture.shapes.iter().all(|one| one.0 != *i) && is_visible(*i);
    let items: Vec<_> = (0..prepared_picture.balls.len() as u32).filter(is_round).map(|i| (i, patch)).collect();
    let mut words = Vec::new();
    let grid = Grid::new(&mut words, [1, 1], 0, 0, &items);
    whole.culling = Culling::Tiles(Grid { level: 31, ..grid }, words);
    whole
}

/// The prepared scene with a BVH instead of tiles.
pub(crate) fn with_bvh(prepared_picture: &PreparedPicture) -> PreparedPicture {
    let is_visible = |i: u32| prepared_picture.bodies.get(i as usize).is_none_or(|one| one.visible);
    let is_round = |i: u32| prepared_picture.shapes.iter().all(|one| one.0 != i) && is_visible(i);
    let round = prepared_picture.balls.iter().copied().zip(0..).filter(|(_, i)| is_round(*i));
    let bvh = BallBvh::new(round).expect("so few fit");
    PreparedPicture { culling: Culling::Bvh(bvh), ..prepared_picture.clone() }
}
