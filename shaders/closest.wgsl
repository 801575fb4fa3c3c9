// Program: the closest sphere of each ray, over the spheres of one dispatch.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;
@group(0) @binding(3) var<storage, read_write> state: array<Best>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= params.ray_count) {
    return;
  }
  zero = params.zero;
  var best = no_best();
  if (params.fresh == 0u) {
    best = state[i];
  }
  state[i] = closest(rays[i], range_of(i), best);
}
