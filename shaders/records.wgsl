// The records that host, device and files share: 4-byte words, no padding. Twins of src/records.rs and src/gpu/uniforms.rs;
// src/gpu/shader_tests.rs compares every offset.

struct Sphere {
  center: vec3<f32>,
  radius: f32,
}

struct Ray {
  origin: vec3<f32>,
  t_min: f32,
  direction: vec3<f32>,
  t_max: f32,
}

// Results are stored as bits (u32), because a miss is an infinity, with which no shader may compute.
struct Hit {
  t: u32,
  id: u32,
}

struct Interval {
  t_enter: u32,
  t_exit: u32,
  id: u32,
}

struct Approach {
  t: u32,
  clearance: u32,
  id: u32,
}

// Attributes of a ray.
struct RayAttributes {
  mask: u32,
  skip_id: u32,
  time: f32,
  radius: f32,
  direction_low: vec3<f32>,
  moves_with_ray: u32,
}

// State of `closest` and `interval` per ray, kept between dispatches: the best hit so far, and the least t that a rival may have.
struct ClosestState {
  t: f32,
  low: f32,
  high: f32,
  rival: f32,
  id: u32,
  flags: u32,
}

// Flags of a `ClosestState`: a sphere was hit only beyond f32 (overflow); `rival` is set; the traversal was not finished.
const STATE_OVERFLOW: u32 = 1u;
const STATE_HAS_RIVAL: u32 = 2u;
const STATE_UNFINISHED: u32 = 4u;

// State of `approach` per ray, kept between dispatches: the best sphere so far, and the least clearance that a rival may have.
struct ApproachState {
  t: f32,
  clearance: f32,
  low: f32,
  high: f32,
  rival: f32,
  id: u32,
}

// State of `count` per ray, kept between dispatches.
struct CountState {
  count: u32,
  flags: u32,
}

// Flags of a `CountState`: a sphere is undecided; one was hit only beyond f32 (overflow); the traversal was not finished.
const COUNT_UNDECIDED: u32 = 1u;
const COUNT_OVERFLOW: u32 = 2u;
const COUNT_UNFINISHED: u32 = 4u;

struct Params {
  ray_count: u32,
  // The spheres of this dispatch, as positions in their buffer, and the id of the first sphere of the buffer.
  sphere_begin: u32,
  sphere_end: u32,
  first_id: u32,
  // Policies, numbered in the order of src/query/policy.rs.
  inside: u32,
  touch: u32,
  ends: u32,
  pairwise: u32,
  // 1 if this dispatch is the first for these rays.
  fresh: u32,
  // Always 0, but no compiler knows that; see math/error_free.wgsl.
  zero: u32,
  // The largest coordinate or radius of the scene.
  largest: f32,
  // The scene frame, for culling: its scale, a power of two; the centre of the scene, scaled; the largest coordinate, not scaled, that
  // the origin of a ray may have in it.
  scale: f32,
  middle: vec3<f32>,
  far: f32,
  // Number of spheres in the buffer. A finalize program finishes the rays whose best sphere is among them.
  sphere_count: u32,
  // Maximum number of loop iterations per ray in the BVH traversal.
  steps: u32,
  // Largest ratio of longest to shortest semi-axis of an ellipsoid; 0 if all are spheres.
  max_axis_ratio: f32,
  // Middle of the scene's time range.
  mid_time: f32,
  // Only for encode/closest.wgsl: offsets of the caller's rays, results and status counts within their bindings, in words.
  rays_at: u32,
  out_at: u32,
  status_at: u32,
}

const NO_SPHERE: u32 = 0xffffffffu;
const FAR: f32 = 3.40282346e38;
const INFINITY_BITS: u32 = 0x7f800000u;
// Tags in place of t, for the host: resolve this ray exactly; round the roots of this hit; overflow, the only roots exceed f32;
// unfinished, cast this ray again without the BVH.
const TAG_UNDECIDED: u32 = 0x7fc00001u;
const TAG_UNROUNDED: u32 = 0x7fc00002u;
const TAG_OVERFLOW: u32 = 0x7fc00003u;
const TAG_UNFINISHED: u32 = 0x7fc00004u;

// The bits of x, or those of an infinity if x is saturated.
fn reported(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return select(bits, (bits & 0x80000000u) | INFINITY_BITS, abs(x) >= FAR);
}
