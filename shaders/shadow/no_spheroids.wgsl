// Replaces shadow/cones.wgsl if all bodies are spheres, so that none of its code is compiled.
const spheroids: bool = false;

struct Shape {
  unused: f32,
}

const MOST_CONES: u32 = 0u;
const cone_count: u32 = 0u;
const cones_touch: bool = false;
const cones_reach_beyond: bool = false;

fn clear_cones() {
}

fn shape_of(occluder: Occluder) -> Shape {
  return Shape(0.0);
}

fn swallows(point: vec3<f32>, occluder: Occluder, shape: Shape) -> bool {
  return false;
}

fn add_spheroid(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder, shape: Shape) -> f32 {
  return 1.0;
}

fn left_by(disc: Disc) -> f32 {
  return 1.0;
}
