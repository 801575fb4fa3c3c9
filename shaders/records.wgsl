// The records that host, device and files share: 4-byte words, no padding. Twins of src/records.rs and src/gpu/uniforms.rs;
// tests/shaders.rs compares every offset.

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

// Results are words: a miss is the bits of infinity, which no shader may compute with.
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

// What a ray brings along.
struct Extra {
  mask: u32,
  skip_id: u32,
  time: f32,
  radius: f32,
  low: vec3<f32>,
  relative: u32,
}

// What a cast keeps of a ray between two dispatches: the best sphere so far, and what could still beat it.
struct Best {
  t: f32,
  low: f32,
  high: f32,
  rival: f32,
  id: u32,
  flags: u32,
}

// Flags of a Best: a sphere was met only beyond f32; `rival` is somebody's; the walk was not finished.
const BEST_BEYOND: u32 = 1u;
const BEST_RIVALED: u32 = 2u;
const BEST_AGAIN: u32 = 4u;

// The same for the nearest pass.
struct Nearest {
  t: f32,
  clearance: f32,
  low: f32,
  high: f32,
  rival: f32,
  id: u32,
}

// The same for how many are met.
struct Counted {
  count: u32,
  flags: u32,
}

// Flags of a Counted: a sphere is in doubt; one was met only beyond f32; the walk was not finished.
const COUNTED_DOUBT: u32 = 1u;
const COUNTED_BEYOND: u32 = 2u;
const COUNTED_AGAIN: u32 = 4u;

struct Params {
  ray_count: u32,
  // The spheres of this dispatch, as positions in their buffer, and the id of the first one there.
  sphere_begin: u32,
  sphere_end: u32,
  first_id: u32,
  // Policies: the order of the values in src/query/policy.rs.
  inside: u32,
  touch: u32,
  ends: u32,
  pairwise: u32,
  // 1 when this dispatch is the first for these rays.
  fresh: u32,
  // Always 0, unknown to any compiler; see math/error_free.wgsl.
  zero: u32,
  // The largest coordinate or radius of the scene.
  largest: f32,
  // For the filter over blocks: a power of two; origins beyond `far` are beyond it; the middle of the scene, scaled.
  scale: f32,
  middle: vec3<f32>,
  far: f32,
  // Spheres in their buffer: those a program that ends a query may finish.
  sphere_count: u32,
  // What a ray may do in the tree.
  steps: u32,
  // How many times as long as wide the slimmest ellipsoid is; 0 where all are round.
  slimness: f32,
  // The middle of the time for which spheres are known to move.
  midway: f32,
}

const NO_SPHERE: u32 = 0xffffffffu;
const FAR: f32 = 3.40282346e38;
const INFINITY_BITS: u32 = 0x7f800000u;
// In the place of t, for the host: cast this ray again exactly; round this one's roots; its only roots exceed f32;
// cast it without the tree.
const TAG_JUDGE: u32 = 0x7fc00001u;
const TAG_ROUND: u32 = 0x7fc00002u;
const TAG_BEYOND: u32 = 0x7fc00003u;
const TAG_AGAIN: u32 = 0x7fc00004u;

// The bits of x, or of the infinity that a saturated one stands for.
fn reported(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return select(bits, (bits & 0x80000000u) | INFINITY_BITS, abs(x) >= FAR);
}
