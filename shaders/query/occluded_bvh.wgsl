// Program: whether each ray hits any sphere, by BVH traversal. Results go into the bitsets of query/occluded_state.wgsl.

// Whether a sphere was certainly hit.
var<private> certain: bool;

// One certain hit is enough: ends the traversal.
fn accept_certain(high: f32, place: u32) -> bool {
  certain = true;
  end_traversal();
  return true;
}

// The ray's result so far: bit n is for bitset n.
var<private> known: u32;
const IS_HIT: u32 = 1u;

// Intersects the deferred spheres, until one is hit.
fn test_deferred(ray: Ray) {
  var place = next_deferred();
  while (place != NONE && (known & IS_HIT) == 0u) {
    steps += 1u;
    let found = classify(intersect_at(ray, place), ray, policies(), exact).hit_class;
    known |= select(0u, IS_HIT, found == HIT) | select(0u, 1u << UNDECIDED_BITS, found == UNDECIDED);
    known |= select(0u, 1u << OVERFLOW_BITS, found == OVERFLOW);
    place = next_deferred();
  }
}

fn process_ray(i: u32) {
  if (was_hit(i) != 0u) {
    return;
  }
  let ray = rays[i];
  if (prepare_ray(ray, ray_attributes_of(i))) {
    begin_traversal(i);
    certain = false;
    while (current != NONE) {
      collect_candidates();
      known |= select(0u, IS_HIT, certain);
      test_deferred(ray);
      count_steps();
      current = select(current, NONE, (known & IS_HIT) != 0u);
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  known |= select(0u, 1u << UNFINISHED_BITS, over_step_limit());
  for (var which = HIT_BITS; which <= UNFINISHED_BITS; which++) {
    add(which, i, known >> which);
  }
}
