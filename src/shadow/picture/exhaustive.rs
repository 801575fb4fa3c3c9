//! Prepared scenes without culling: the reference for pictures rendered with it.

use super::prepared::PreparedPicture;
use super::tiles::{Grid, Patch};

/// The prepared scene without culling: a single tile lists every sphere, and the BVH of the occluders returns all of them.
pub(crate) fn whole(prepared_picture: &PreparedPicture) -> PreparedPicture {
    let mut whole = prepared_picture.clone();
    whole.occluders = prepared_picture.occluders.exhaustive();
    whole.bvh = None;
    let patch = Patch { low: [0; 2], high: [0; 2] };
    // Spheroids are in no tile: every ray is tested against them.
    let is_round = |i: &u32| prepared_picture.shapes.iter().all(|one| one.0 != *i);
    let items: Vec<_> = (0..prepared_picture.balls.len() as u32).filter(is_round).map(|i| (i, patch)).collect();
    whole.words = Vec::new();
    let grid = Grid::new(&mut whole.words, [1, 1], 0, 0, &items);
    whole.tiles = Grid { level: 31, ..grid };
    whole
}
