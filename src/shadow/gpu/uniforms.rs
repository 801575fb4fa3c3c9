//! Records that the shadow shaders read and write: twins of those in `shaders/shadow/shade.wgsl`, `shadow/lists.wgsl`,
//! `shadow/disc.wgsl`, `shadow/visibility.wgsl` and `shadow/render.wgsl`. Each is converted from f64 by a single rounding.

use bytemuck::{Pod, Zeroable};

use crate::shadow::coverage::cones::SpheroidShape;
use crate::shadow::coverage::light;
use crate::shadow::picture::{prepared, receiver_lists};

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Light {
    pub(crate) inverse_distance: f32,
    pub(crate) ratio: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Occluder {
    pub(crate) offset: [f32; 2],
    pub(crate) along: f32,
    pub(crate) radius: f32,
    pub(crate) power: f32,
    pub(crate) beyond: f32,
    pub(crate) front: f32,
    pub(crate) shape: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Receiver {
    pub(crate) x: [f32; 3],
    pub(crate) inverse_distance: f32,
    pub(crate) y: [f32; 3],
    pub(crate) ratio: f32,
    pub(crate) z: [f32; 3],
    pub(crate) first_list: u32,
    pub(crate) columns: u32,
    pub(crate) level: u32,
    pub(crate) pattern: u32,
    pub(crate) unused: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct SurfacePattern {
    pub(crate) x: [f32; 3],
    pub(crate) swirl: f32,
    pub(crate) y: [f32; 3],
    pub(crate) first: u32,
    pub(crate) z: [f32; 3],
    pub(crate) count: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct RenderUniforms {
    pub(crate) size: [u32; 2],
    pub(crate) first_pixel: u32,
    pub(crate) pixels: u32,
    pub(crate) half: [f32; 2],
    pub(crate) within: [f32; 2],
    pub(crate) right: [f32; 3],
    pub(crate) pixel: f32,
    pub(crate) up: [f32; 3],
    pub(crate) stars: f32,
    pub(crate) forward: [f32; 3],
    pub(crate) exposure: f32,
    pub(crate) light: [f32; 3],
    pub(crate) ambient: f32,
    pub(crate) background: [f32; 3],
    pub(crate) light_id: u32,
    pub(crate) projection: u32,
    pub(crate) middle: u32,
    pub(crate) fresh: u32,
    pub(crate) first_list: u32,
    pub(crate) columns: u32,
    pub(crate) level: u32,
    pub(crate) figures: u32,
    pub(crate) nodes: u32,
    pub(crate) limb: [f32; 2],
    pub(crate) padding: [u32; 2],
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct CenterSample {
    pub(crate) t: u32,
    pub(crate) id: u32,
    pub(crate) fraction: f32,
    pub(crate) crowded: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct VisibilityQuery {
    pub(crate) light: Light,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Shade {
    /// Visible fraction, or flux if the light has limb darkening.
    pub(crate) fraction: f32,
    /// Number of the [`ShadowKind`](crate::shadow::ShadowKind); any other number if the CPU has to compute the result.
    pub(crate) kind: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default, Pod, Zeroable)]
pub(crate) struct VisibilityParams {
    pub(crate) count: u32,
    pub(crate) zero: u32,
    pub(crate) limb: [f32; 2],
}

impl Occluder {
    /// Converts an occluder. Shapes begin at index `shapes_at` of the same buffer.
    pub(crate) fn new(occluder: &light::Occluder, shapes_at: usize) -> Self {
        let shape = if occluder.shape == light::ROUND { 0 } else { shapes_at as u32 + occluder.shape };
        Self {
            offset: occluder.offset.as_vec2().to_array(),
            along: occluder.along as f32,
            radius: occluder.radius as f32,
            power: occluder.power as f32,
            beyond: occluder.beyond as f32,
            front: occluder.front as f32,
            shape,
        }
    }
}

impl From<&SpheroidShape> for Occluder {
    /// Stores a shape in the record of an occluder.
    fn from(shape: &SpheroidShape) -> Self {
        Self {
            offset: shape.pole.truncate().as_vec2().to_array(),
            along: shape.pole.z as f32,
            radius: shape.stretch as f32,
            ..Self::zeroed()
        }
    }
}

impl From<&receiver_lists::Receiver> for Receiver {
    fn from(receiver: &receiver_lists::Receiver) -> Self {
        let row = |i| receiver.light_from_view.row(i).as_vec3().to_array();
        Self {
            x: row(0),
            inverse_distance: receiver.light.inverse_distance as f32,
            y: row(1),
            ratio: receiver.light.ratio as f32,
            z: row(2),
            first_list: receiver.grid.first,
            columns: receiver.grid.columns,
            level: receiver.grid.level,
            pattern: receiver.pattern,
            unused: 0,
        }
    }
}

impl From<&prepared::SurfacePattern> for SurfacePattern {
    fn from(pattern: &prepared::SurfacePattern) -> Self {
        let row = |i| pattern.axes.row(i).as_vec3().to_array();
        Self {
            x: row(0),
            swirl: pattern.swirl as f32,
            y: row(1),
            first: pattern.first,
            z: row(2),
            count: pattern.count,
        }
    }
}
