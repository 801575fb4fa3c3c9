//! WGSL sources of the shaders, for the caller's pipelines, and the memory layouts of their records.

use std::mem::{offset_of, size_of};

pub use crate::gpu::programs::{PROGRAMS, Program, SOLVE, with_shared_loads, without_spheroids};

use crate::gpu::bvh::build::{Control, Plant};
use crate::gpu::cast::raygen::Emission;
use crate::gpu::encode::plan::Task;
use crate::gpu::uniforms::{Best, Counted, Nearest, Params};
use crate::records::{Approach, Extra, Hit, Interval, Ray, Sphere};
use crate::shadow::gpu::uniforms::{Light, Look, Middle, Occluder, Receiver, Shade, Shot, Sight, SightParams};

/// Memory layout of a record in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Its name in WGSL.
    pub name: &'static str,
    /// Size of a record in bytes, which is also the stride of an array.
    pub size: usize,
    /// Fields and their offsets in bytes.
    pub fields: Vec<(&'static str, usize)>,
}

macro_rules! layout {
    ($type:ident: $($field:ident),+) => {
        Layout {
            name: stringify!($type),
            size: size_of::<$type>(),
            fields: vec![$((stringify!($field), offset_of!($type, $field))),+],
        }
    };
}

/// Memory layouts of all records that are uploaded or read back.
pub fn layouts() -> Vec<Layout> {
    vec![
        layout!(Sphere: center, radius),
        layout!(Ray: origin, t_min, direction, t_max),
        layout!(Hit: t, id),
        layout!(Interval: t_enter, t_exit, id),
        layout!(Approach: t, clearance, id),
        layout!(Best: t, low, high, rival, id, flags),
        layout!(Nearest: t, clearance, low, high, rival, id),
        layout!(Counted: count, flags),
        layout!(Extra: mask, skip_id, time, radius, low, relative),
        layout!(Params: ray_count, sphere_begin, sphere_end, first_id, inside, touch, ends, pairwise, fresh, zero, largest,
            scale, middle, far, sphere_count, steps, slimness, midway),
        layout!(Light: inverse_distance, ratio),
        layout!(Occluder: offset, along, radius, power, beyond, front, shape),
        layout!(Receiver: x, inverse_distance, y, ratio, z, first_list, columns, level, look, unused),
        layout!(Look: x, swirl, y, first, z, count),
        layout!(Shot: size, first_pixel, pixels, half, within, right, pixel, up, stars, forward, exposure, light, ambient,
            background, light_id, orthographic, middle, fresh, first_list, columns, level, figures, unused),
        layout!(Middle: t, id, fraction, crowded),
        layout!(Sight: light, first, count),
        layout!(Shade: fraction, kind),
        layout!(SightParams: count, zero, unused),
        layout!(Plant: count, shift, begin, next, low, cells, middle, scale, jobs, zero, least, fastest, half),
        layout!(Control: begin, count, next, next_count, depth, unused, number_groups, open_groups, levels),
        layout!(Emission: kind, count, zero, columns, first_column, rows, first_row, rows_at, frames_at, radius, t_min, t_max,
            aim, unused),
        layout!(Task: count, rays_at, out_at, status_at, width, approach, times_at, last_time, time_from, time_to, relative),
    ]
}
