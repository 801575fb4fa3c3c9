//! Packed attributes of moving spheres and ellipsoids on a device, up to 108 bytes per sphere. `shaders/intersect/attributes.wgsl` reads
//! them as words. In the buffer, optical depths follow the attributes of all spheres, one word per sphere.

use crate::batch::sphere_set::SphereAttributes;
use crate::intersect::ellipsoid::UnitBallMap;
use crate::records::Sphere;

/// Words of a moving sphere: centre and radius as given, velocity and mask.
const MOTION_WORDS: usize = 8;

/// Words of an ellipsoid: those of a moving sphere, then its map.
const MAX_WORDS: usize = MOTION_WORDS + size_of::<UnitBallMap>() / 4;

/// Words per sphere; 0 if spheres neither move nor are ellipsoids. Masks alone have a buffer of their own.
pub(crate) fn attribute_words(columns: &SphereAttributes) -> usize {
    words_of(columns.velocities.is_some(), columns.maps.is_some())
}

fn words_of(moving: bool, mapped: bool) -> usize {
    match (moving, mapped) {
        (_, true) => MAX_WORDS,
        (true, false) => MOTION_WORDS,
        (false, false) => 0,
    }
}

/// Words per sphere in the buffer of attributes, with masks and optical depths.
pub(crate) fn buffer_words(columns: &SphereAttributes) -> usize {
    let masks = columns.masks.is_some() || columns.optical_depths.is_some();
    attribute_words(columns).max(usize::from(masks)) + usize::from(columns.optical_depths.is_some())
}

/// Bytes per sphere, for spheres that move (`moving`) and for ellipsoids (`mapped`).
pub(crate) fn attribute_bytes(moving: bool, mapped: bool) -> u64 {
    4 * words_of(moving, mapped) as u64
}

/// Packs the attributes of a sphere. The first [`attribute_words`] words are used.
pub(crate) fn pack_attributes(columns: &SphereAttributes, id: usize, sphere: &Sphere, mask: u32) -> [u32; MAX_WORDS] {
    let [x, y, z] = sphere.center.to_array();
    let velocity = columns.velocities.as_ref().map_or(glam::Vec3::ZERO, |velocities| velocities[id]);
    let [vx, vy, vz] = velocity.to_array();
    let mut all = [0; MAX_WORDS];
    all[..7].copy_from_slice(&[x, y, z, sphere.radius, vx, vy, vz].map(f32::to_bits));
    all[7] = mask;
    if let Some(maps) = &columns.maps {
        all[MOTION_WORDS..].copy_from_slice(bytemuck::cast_slice(bytemuck::bytes_of(&maps[id])));
    }
    all
}
