// Program: writes all hits of each ray, by brute force over the spheres of one dispatch, in the order of their ids.

fn test_pair(i: u32, at: u32) {
  state[i] = append_hit(state[i], rays[i], scale_for(ray_attributes_of(i), at, rays[i], spheres[at]), params.first_id + at);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  zero = params.zero;
  search(first_ray(workgroup.x, local));
}
