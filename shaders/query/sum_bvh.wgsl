// Program: a sum over the spheres that each ray hits, by BVH traversal. Needs query/count_state.wgsl or query/transmittance_state.wgsl.

var<private> sum: CountState;

// A certain hit is added without an intersection test. The traversal ends once the sum is settled.
fn accept_certain(high: f32, place: u32) -> bool {
  sum = add_hit(sum, HIT, order[place]);
  if (is_settled(sum)) {
    end_traversal();
  }
  return false;
}

// Intersects the deferred spheres, until the sum is settled.
fn test_deferred(ray: Ray) {
  var place = next_deferred();
  while (place != NONE && !is_settled(sum)) {
    steps += 1u;
    sum = add_hit(sum, classify(intersect_at(ray, place), ray, policies(), exact).hit_class, order[place]);
    place = next_deferred();
  }
}

fn process_ray(i: u32) {
  sum = state[i];
  if (is_settled(sum)) {
    return;
  }
  let ray = rays[i];
  if (prepare_ray(ray, ray_attributes_of(i))) {
    begin_traversal(i);
    while (current != NONE) {
      collect_candidates();
      test_deferred(ray);
      count_steps();
      current = select(current, NONE, is_settled(sum));
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  sum.flags |= select(0u, COUNT_UNFINISHED, !is_settled(sum) && over_step_limit());
  state[i] = sum;
}
