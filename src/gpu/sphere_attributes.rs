//! What is beside spheres on a device that are not just where, and what, their records say. `shaders/intersect/attributes.wgsl` reads it as words.

use crate::batch::sphere_set::Columns;
use crate::intersect::ellipsoid::Map;
use crate::records::Sphere;

/// The sphere as it was given, its velocity and its mask.
const MOVING: usize = 8;

/// What is beside an ellipsoid: all of that, and its map.
const MOST: usize = MOVING + size_of::<Map>() / 4;

/// Words beside each sphere; 0 where spheres are what they are, though they may have masks.
pub(crate) fn words(columns: &Columns) -> usize {
    words_of(columns.velocities.is_some(), columns.maps.is_some())
}

fn words_of(moving: bool, mapped: bool) -> usize {
    match (moving, mapped) {
        (_, true) => MOST,
        (true, false) => MOVING,
        (false, false) => 0,
    }
}

/// The same in bytes, of spheres that move and of ellipsoids.
pub(crate) fn bytes(moving: bool, mapped: bool) -> u64 {
    4 * words_of(moving, mapped) as u64
}

/// What is beside a sphere, in as many words as [`words`] says.
pub(crate) fn beside(columns: &Columns, id: usize, sphere: &Sphere, mask: u32) -> [u32; MOST] {
    let [x, y, z] = sphere.center.to_array();
    let velocity = columns.velocities.as_ref().map_or(glam::Vec3::ZERO, |velocities| velocities[id]);
    let [vx, vy, vz] = velocity.to_array();
    let mut all = [0; MOST];
    all[..7].copy_from_slice(&[x, y, z, sphere.radius, vx, vy, vz].map(f32::to_bits));
    all[7] = mask;
    if let Some(maps) = &columns.maps {
        all[MOVING..].copy_from_slice(bytemuck::cast_slice(bytemuck::bytes_of(&maps[id])));
    }
    all
}
