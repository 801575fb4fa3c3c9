//! Prepared scenes without culling lists: the reference for pictures rendered with them.

use glam::DMat3;

use super::prepared::{PreparedPicture, Receiver};
use super::tiles::{Grid, Patch};
use crate::shadow::ball::Ball;
use crate::shadow::coverage::light::Occluder;
use crate::shadow::light_frame::LightFrame;
use crate::shadow::spheroid::Spheroid;
use crate::shadow::system::System;

/// A sphere of a system, or a spheroid.
struct SystemBall {
    /// The bounding sphere of a spheroid.
    ball: Ball,
    spheroid: Option<Spheroid>,
    casts: bool,
    receives: bool,
}

/// The prepared scene without culling: a single tile lists every sphere, and the single cell of each receiver lists every occluder.
pub(crate) fn whole(system: &System, prepared_picture: &PreparedPicture) -> PreparedPicture {
    let (light, view) = (system.light().ball, prepared_picture.view);
    let mut all: Vec<SystemBall> = Vec::new();
    for body in system.bodies() {
        let spheroid = body.spheroid();
        let ball = |&ball: &Ball| SystemBall {
            ball: spheroid.map_or(ball, |one| one.bounding_ball()),
            spheroid,
            casts: body.casts,
            receives: body.receives,
        };
        all.extend(body.balls.iter().map(ball));
    }
    let mut whole = prepared_picture.clone();
    (whole.words, whole.occluders, whole.shapes) = (Vec::new(), Vec::new(), Vec::new());
    let one = |words: &mut Vec<u32>, items: Vec<u32>| {
        let patch = Patch { low: [0; 2], high: [0; 2] };
        let items: Vec<_> = items.into_iter().map(|i| (i, patch)).collect();
        let grid = Grid::new(words, [1, 1], 0, 0, &items);
        Grid { level: 31, ..grid }
    };
    // Spheroids are in no tile: every ray is tested against them.
    let round = (0..prepared_picture.balls.len()).filter(|&i| all.get(i).is_none_or(|one| one.spheroid.is_none()));
    whole.tiles = one(&mut whole.words, round.map(|i| i as u32).collect());
    for i in 0..all.len() {
        let frame = LightFrame::new(all[i].ball.center, all[i].ball.radius, light);
        let first = whole.occluders.len() as u32;
        for other in (0..all.len()).filter(|&j| j != i && all[j].casts && all[i].receives) {
            let occluder: Occluder = match all[other].spheroid {
                None => frame.occluder(all[other].ball),
                Some(spheroid) => {
                    let (occluder, shape) = frame.spheroid(&spheroid, whole.shapes.len() as u32);
                    whole.shapes.push(shape);
                    occluder
                }
            };
            whole.occluders.push(occluder);
        }
        let grid = one(&mut whole.words, (first..whole.occluders.len() as u32).collect());
        let turn = DMat3::from_cols(view.axes[0], view.axes[1], view.axes[2]);
        whole.receivers[i] = Receiver {
            light_from_view: frame.rotation() * turn,
            light: frame.light,
            grid,
            ..prepared_picture.receivers[i]
        };
    }
    whole
}
