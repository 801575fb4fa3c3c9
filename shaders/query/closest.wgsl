// Program: the closest hit of each ray, by brute force over the spheres of one dispatch.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;
@group(0) @binding(3) var<storage, read_write> state: array<ClosestState>;

fn test_pair(i: u32, at: u32) {
  let ray = rays[i];
  state[i] = update_best(state[i], params.first_id + at, classify(intersect_for(ray_attributes_of(i), at, ray, spheres[at]), ray, policies(), exact));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  zero = params.zero;
  let first = first_ray(workgroup.x, local);
  if (params.fresh != 0u) {
    for (var i = first; i < min(first + RAYS * WORKGROUP, params.ray_count); i += WORKGROUP) {
      state[i] = empty_state();
    }
  }
  search(first);
}
