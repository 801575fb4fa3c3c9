// Program: the closest hit of each ray, by BVH traversal. Needs query/closest_traversal.wgsl.

@group(0) @binding(3) var<storage, read_write> state: array<ClosestState>;

fn process_ray(i: u32) {
  var best = empty_state();
  if (params.fresh == 0u) {
    best = state[i];
  }
  state[i] = closest_of(i, rays[i], best);
}
