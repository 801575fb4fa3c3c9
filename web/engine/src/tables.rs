//! Tables of spheres and rays from the bytes of files, with the readers of the command line.

use std::path::Path;

use js_sys::{Float32Array, Uint32Array};
use umbracast_files::{OptionalColumns, read_rays_in_memory, read_spheres_in_memory};
use wasm_bindgen::prelude::*;

use crate::errors::{JsError, Result, record, set};

fn numbers(values: impl IntoIterator<Item = f32>) -> JsValue {
    Float32Array::from(&values.into_iter().collect::<Vec<_>>()[..]).into()
}

/// Adds the optional columns of a table, with the names that queries and scenes have for them.
fn add_columns(object: &JsValue, of: &OptionalColumns) {
    for (name, column) in [("masks", &of.masks), ("skip_ids", &of.skip_ids), ("from_ids", &of.from_ids)] {
        if let Some(values) = column {
            set(object, [(name, Uint32Array::from(&values[..]).into())]);
        }
    }
    for (name, column) in [("times", &of.times), ("ray_radius", &of.radii), ("transmittances", &of.transmittances)] {
        if let Some(values) = column {
            set(object, [(name, numbers(values.iter().copied()))]);
        }
    }
    if let Some(values) = &of.velocities {
        set(object, [("velocities", numbers(values.iter().flat_map(|one| one.to_array())))]);
    }
}

/// Reads spheres from a file with this name: `{ spheres, left_out }` and optional columns.
#[wasm_bindgen]
pub fn read_spheres(name: &str, bytes: Vec<u8>) -> Result<JsValue> {
    let table = read_spheres_in_memory(Path::new(name), bytes)?;
    if table.records.first().is_some_and(|first| table.optional.ellipsoid(0, first).is_some()) {
        return Err(JsError::new(
            "BadFile",
            &format!("{name}: it has ellipsoids, which the command line reads, but not this page"),
        ));
    }
    let spheres = table.records.iter().flat_map(|one| [one.center.x, one.center.y, one.center.z, one.radius]);
    let left = table.left_out;
    let left_out = record([
        ("alternate_locations", (left.alternate_locations as f64).into()),
        ("unknown_atoms", (left.unknown_atoms as f64).into()),
        ("first_unknown", left.first_unknown.into()),
        ("models", (left.models as f64).into()),
    ]);
    let object = record([("spheres", numbers(spheres)), ("left_out", left_out)]);
    add_columns(&object, &table.optional);
    Ok(object)
}

/// Reads rays from a file with this name: `{ origins, directions, t_min, t_max }` and optional columns.
#[wasm_bindgen]
pub fn read_rays(name: &str, bytes: Vec<u8>) -> Result<JsValue> {
    let rays = read_rays_in_memory(Path::new(name), bytes)?;
    let all = || rays.records.iter();
    let object = record([
        ("origins", numbers(all().flat_map(|ray| ray.origin.to_array()))),
        ("directions", numbers(all().flat_map(|ray| ray.direction.to_array()))),
        ("t_min", numbers(all().map(|ray| ray.t_min))),
        ("t_max", numbers(all().map(|ray| ray.t_max))),
    ]);
    add_columns(&object, &rays.optional);
    Ok(object)
}
