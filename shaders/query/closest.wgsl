// Program: the closest hit of each ray, by brute force over the spheres of one dispatch.

@group(0) @binding(3) var<storage, read_write> state: array<ClosestState>;

fn test_pair(i: u32, at: u32) {
  let ray = rays[i];
  let roots = intersect_for(ray_attributes_of(i), at, ray, spheres[at]);
  state[i] = update_best(state[i], params.first_id + at, classify(roots, ray, policies(), exact));
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
