// What the programs that build a tree have in common. Twins: src/lbvh for what they compute, src/gpu/bvh/build.rs for what they are
// told. No program waits for another workgroup, and none adds numbers in an order that could change: the tree's bytes are those
// that the CPU makes.

struct Plant {
  // Spheres.
  count: u32,
  // The lowest bit of the digit that a pass sorts by, from 0 to 62.
  shift: u32,
  // Boxes of eight: where those begin that are joined, and where those that are made.
  begin: u32,
  next: u32,
  // The cells of the Morton curve.
  low: vec3<f32>,
  cells: f32,
  // The scene's frame: see Frame in src/gpu/scene.rs.
  middle: vec3<f32>,
  scale: f32,
  // What is to be done: boxes to be made, tiles to be sorted, nodes.
  jobs: u32,
  // Always 0, unknown to any compiler; see math/error_free.wgsl.
  zero: u32,
  // The least number there is, 2^-149, in the scene's frame.
  least: f32,
  // A velocity with a larger component is not told.
  fastest: f32,
  // Half of the time for which spheres move; below 0 where they rest.
  half: f32,
}

@group(0) @binding(0) var<uniform> plant: Plant;

// Threads a workgroup.
const THREADS: u32 = 256u;
// Workgroups in a row of a dispatch of two dimensions.
const WIDE: u32 = 64u;

fn group_number(group: vec3<u32>) -> u32 {
  return group.y * WIDE + group.x;
}

// A sphere's place on the curve, 63 bits, and in its buffer.
struct Item {
  low: u32,
  high: u32,
  place: u32,
}
