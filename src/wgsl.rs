//! WGSL sources of the shaders, for the caller's pipelines, and the memory layouts of their records.

use std::mem::{offset_of, size_of};

pub use crate::gpu::programs::{
    PROGRAMS, Program, SOLVE, with_shared_loads, without_limb_darkening, without_spheroids,
};

use crate::gpu::bvh::build::{BuildParams, LevelState};
use crate::gpu::cast::raygen::RayGenParams;
use crate::gpu::encode::plan::Task;
use crate::gpu::uniforms::{ApproachState, ClosestState, CountState, Params};
use crate::records::{Approach, Hit, Interval, Ray, RayAttributes, Sphere};
use crate::shadow::gpu::tree::{BallNode, TreeBall, TreeBody};
use crate::shadow::gpu::uniforms::{
    CenterSample, Light, Occluder, Receiver, RenderUniforms, Shade, SurfacePattern, VisibilityParams, VisibilityQuery,
};

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
        layout!(ClosestState: t, low, high, rival, id, flags),
        layout!(ApproachState: t, clearance, low, high, rival, id),
        layout!(CountState: count, flags),
        Layout {
            size: RayAttributes::UPLOADED_BYTES,
            ..layout!(RayAttributes: mask, skip_id, time, radius, direction_low, moves_with_ray)
        },
        layout!(Params: ray_count, sphere_begin, sphere_end, first_id, inside, touch, ends, pairwise, fresh, zero, largest,
            scale, middle, far, sphere_count, steps, max_axis_ratio, mid_time),
        layout!(Light: inverse_distance, ratio),
        layout!(Occluder: offset, along, radius, power, beyond, front, shape),
        layout!(Receiver: x, inverse_distance, y, ratio, z, first_list, columns, level, pattern, unused),
        layout!(SurfacePattern: x, swirl, y, first, z, count),
        layout!(RenderUniforms: size, first_pixel, pixels, half, within, right, pixel, up, stars, forward, exposure, light, ambient,
            background, light_id, projection, middle, fresh, first_list, columns, level, figures, nodes, limb),
        layout!(BallNode: bounds, first, count, size, unused),
        layout!(TreeBall: high, low),
        layout!(TreeBody: id, pattern, flags, unused),
        layout!(CenterSample: t, id, fraction, crowded),
        layout!(VisibilityQuery: light, first, count),
        layout!(Shade: fraction, kind),
        layout!(VisibilityParams: count, zero, limb),
        layout!(BuildParams: count, shift, begin, next, low, cells, middle, scale, jobs, zero, least, fastest, half),
        layout!(LevelState: begin, count, next, next_count, depth, unused, link_dispatch, emit_dispatch, levels),
        layout!(RayGenParams: kind, count, zero, columns, first_column, rows, first_row, rows_at, frames_at, radius, t_min, t_max,
            toward, unused),
        layout!(Task: count, rays_at, out_at, status_at, width, approach, times_at, last_time, time_from, time_to, moves_with_ray),
    ]
}
