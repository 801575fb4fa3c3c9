// Program: a sum over the spheres that each ray hits, by brute force over the spheres of one dispatch. Needs query/count_state.wgsl or
// query/transmittance_state.wgsl.

fn test_pair(i: u32, at: u32) {
  let before = state[i];
  if (is_settled(before)) {
    return;
  }
  let ray = rays[i];
  state[i] = add_hit(before, classify(intersect_for(ray_attributes_of(i), at, ray, spheres[at]), ray, policies(), exact).hit_class, at);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  zero = params.zero;
  search(first_ray(workgroup.x, local));
}
