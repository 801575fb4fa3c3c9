//! A procedural starfield, the same on every device: twin of `shaders/shadow/starfield.wgsl`.
//!
//! The sky is a cube, and each of its faces a grid of cells. An integer hash determines whether a cell contains a star, and its position,
//! brightness and tint. Devices differ only by the rounding of a position.

use glam::{DVec2, DVec3};

/// Cells along the edge of a face.
const CELLS: f64 = 192.0;

/// Mixes the bits of a word (PCG's output function, as in Jarzynski and Olano 2020).
pub(crate) fn hash(x: u32) -> u32 {
    let state = x.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (word >> 22) ^ word
}

/// 16 bits of a word, scaled to 0…1.
pub(crate) fn fraction(word: u32, shift: u32) -> f64 {
    f64::from((word >> shift) & 0xffff) / 65536.0
}

/// Light of the stars in a direction. `pixel` is the angle that a pixel spans; `many` is the density of stars, 0…1.
pub(crate) fn starlight(direction: DVec3, pixel: f64, many: f64) -> DVec3 {
    let size = direction.abs();
    let mut face = 0;
    let mut on_face = DVec3::new(direction.y, direction.z, direction.x);
    if size.y >= size.x && size.y >= size.z {
        face = 1;
        on_face = DVec3::new(direction.z, direction.x, direction.y);
    } else if size.z >= size.x {
        face = 2;
        on_face = direction;
    }
    if on_face.z < 0.0 {
        face += 3;
    }
    let place = DVec2::new(on_face.x, on_face.y) / on_face.z.abs();
    let scaled = (place * 0.5 + 0.5) * CELLS;
    let cell = scaled.floor();
    let a = hash(face + 6 * (cell.x as u32 + 1024 * cell.y as u32));
    let b = hash(a);
    if fraction(a, 0) >= 0.25 * many {
        return DVec3::ZERO;
    }
    // The centre is at least a quarter cell away from the cell's edge, so that neighbouring cells need not be tested.
    let center = DVec2::new(fraction(a, 16), fraction(b, 0)) * 0.5 + 0.25;
    let offset = (scaled - cell - center) * (2.0 / CELLS) / pixel;
    // A round spot, 1.6 pixels wide at half maximum; (1 − r² / 2.2)² is a polynomial approximation of a Gaussian.
    let inside = (1.0 - offset.dot(offset) / 2.2).max(0.0);
    // Few stars are bright: the sixth power of a uniform random number.
    let draw = fraction(b, 16);
    let bright = 0.02 + 0.75 * draw * draw * draw * draw * draw * draw;
    let tint = fraction(hash(b), 0);
    DVec3::new(0.75 + 0.25 * tint, 0.88, 1.0 - 0.25 * tint) * (bright * inside * inside)
}
