// The closest hit of a ray, by BVH traversal.

// A certain hit culls everything that begins behind `high`, before it is intersected. It still has to be intersected itself.
fn accept_certain(high: f32, place: u32) -> bool {
  prepared_ray.far = high;
  return true;
}

// Intersects the deferred spheres that are not culled by now.
fn test_deferred(ray: Ray, before: ClosestState) -> ClosestState {
  var best = before;
  var place = next_deferred();
  while (place != NONE) {
    steps += 1u;
    let at = order[place];
    let solved = intersect_for(attributes, at, ray, spheres[place]);
    best = update_best(best, params.first_id + at, classify(solved, ray, policies(), exact));
    shorten(select(best.t, best.high, exact));
    place = next_deferred();
  }
  return best;
}

// The closest hit of ray i and the spheres that the best one so far does not cull.
fn closest_of(i: u32, ray: Ray, before: ClosestState) -> ClosestState {
  var best = before;
  if (prepare_ray(ray, ray_attributes_of(i))) {
    shorten(select(best.t, best.high, exact));
    begin_traversal(i);
    while (current != NONE) {
      collect_candidates();
      best = test_deferred(ray, best);
      count_steps();
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  if (over_step_limit()) {
    best.flags |= STATE_UNFINISHED;
  }
  return best;
}
