// Replaces shadow/cones.wgsl if all bodies are spheres, so that none of its code is compiled.
const spheroids: bool = false;

struct SpheroidShape {
  unused: f32,
}

const MAX_CONES: u32 = 0u;
const cone_count: u32 = 0u;
const cones_touch: bool = false;
const cones_reach_beyond: bool = false;

fn clear_cones() {
}

fn shape_of(occluder: Occluder) -> SpheroidShape {
  return SpheroidShape(0.0);
}

fn contains_point(point: vec3<f32>, occluder: Occluder, shape: SpheroidShape) -> bool {
  return false;
}

fn add_spheroid(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder, shape: SpheroidShape) -> f32 {
  return 1.0;
}

fn uncovered_by_cones(disc: Disc) -> f32 {
  return 1.0;
}
