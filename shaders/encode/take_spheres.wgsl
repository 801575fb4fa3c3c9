// Program: validates and copies the caller's spheres, and counts the bad ones. A bad sphere is replaced by a point. Twin of `check_sphere`
// in src/query/validate.rs, and of `SphereTask` in src/gpu/encode/resident.rs. Spheres are read as bits, because no shader may compute
// with an infinity or a NaN.

struct SphereTask {
  // Corners of the box in which the spheres lie.
  low: vec3<f32>,
  count: u32,
  high: vec3<f32>,
  // Offset of the spheres within their binding, in words.
  spheres_at: u32,
}

@group(0) @binding(0) var<uniform> task: SphereTask;
@group(0) @binding(1) var<storage, read> given: array<u32>;
@group(0) @binding(2) var<storage, read_write> spheres: array<u32>;
@group(0) @binding(3) var<storage, read_write> bad: array<atomic<u32>>;

const INFINITY_BITS: u32 = 0x7f800000u;
const SIGN: u32 = 0x80000000u;

fn is_usable(words: vec4<u32>) -> bool {
  let sizes = words & vec4<u32>(~SIGN);
  // A radius of -0 is a point.
  if (any(sizes >= vec4<u32>(INFINITY_BITS)) || words.w > SIGN) {
    return false;
  }
  let center = bitcast<vec3<f32>>(words.xyz);
  let radius = vec3<f32>(bitcast<f32>(sizes.w));
  return all(center - radius >= task.low) && all(center + radius <= task.high);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  // As in build/common.wgsl.
  let i = (group.y * 64u + group.x) * 256u + thread;
  if (i >= task.count) {
    return;
  }
  let at = task.spheres_at + 4u * i;
  let words = vec4<u32>(given[at], given[at + 1u], given[at + 2u], given[at + 3u]);
  let usable = is_usable(words);
  let taken = select(vec4<u32>(bitcast<vec3<u32>>(task.low), 0u), words, usable);
  let to = 4u * i;
  spheres[to] = taken.x;
  spheres[to + 1u] = taken.y;
  spheres[to + 2u] = taken.z;
  spheres[to + 3u] = taken.w;
  if (!usable) {
    atomicAdd(&bad[0], 1u);
  }
}
