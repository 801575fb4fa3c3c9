// Program: whether each ray meets any sphere of one dispatch. Three bitsets, one after the other: met, in doubt, met only
// beyond f32. The host clears them before the first dispatch.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;
@group(0) @binding(3) var<storage, read_write> bits: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= params.ray_count) {
    return;
  }
  zero = params.zero;
  let answer = occluded(rays[i], range_of(i));
  if (answer != NO) {
    let words = (params.ray_count + 31u) / 32u;
    atomicOr(&bits[(answer - 1u) * words + i / 32u], 1u << (i % 32u));
  }
}
