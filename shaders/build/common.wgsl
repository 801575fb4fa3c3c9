// Parameters and types shared by the programs that build the LBVH. Twins: src/bvh/qbvh4 for the algorithm, src/gpu/bvh/build.rs for
// the parameters. No program waits for another workgroup, and no sum depends on the order of execution. So the tree is byte-identical
// to the tree that the CPU builds.

struct BuildParams {
  // Number of spheres.
  count: u32,
  // The lowest bit of the digit that this pass sorts by: a multiple of 4, at most 60.
  shift: u32,
  // Reduction of eight boxes to one: index of the first input box, and of the first output box.
  begin: u32,
  next: u32,
  // Grid of the Morton curve: its lower corner, and cells per unit length.
  low: vec3<f32>,
  cells: f32,
  // The scene's frame: see `GpuFrame` in src/bvh/gpu_frame.rs.
  middle: vec3<f32>,
  scale: f32,
  // Work items of this dispatch: output boxes, sort tiles or nodes.
  jobs: u32,
  // Always 0, but not known to the compiler; see math/error_free.wgsl.
  zero: u32,
  // The smallest subnormal f32, 2^-149, times `scale`.
  least: f32,
  // The motion of a sphere is stored only if no component of its velocity is larger; see build/leaf_motion.wgsl.
  fastest: f32,
  // Half the length of the time range in which spheres move, rounded up; negative if no motion is stored, as for spheres at rest.
  half: f32,
}

@group(0) @binding(0) var<uniform> build_params: BuildParams;

// Threads per workgroup.
const THREADS: u32 = 256u;
// Workgroups per row of a two-dimensional dispatch.
const WIDE: u32 = 64u;

fn group_number(group: vec3<u32>) -> u32 {
  return group.y * WIDE + group.x;
}

// Morton code of a sphere (63 bits), and its index in the sphere buffer.
struct Item {
  low: u32,
  high: u32,
  place: u32,
}
