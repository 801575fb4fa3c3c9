// Program: the closest hit of each ray, by BVH traversal.

@group(0) @binding(0) var<uniform> params: Params;
// In leaf order.
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;
@group(0) @binding(3) var<storage, read_write> state: array<Best>;

// A certain hit culls everything that begins behind `high`, before it is intersected. It still has to be intersected itself.
fn take_certain(high: f32) -> bool {
  course.far = high;
  return true;
}

// Intersects the deferred spheres that are not culled by now.
fn settle(ray: Ray, before: Best) -> Best {
  var best = before;
  var place = take_waiting();
  while (place != NONE) {
    steps += 1u;
    let at = order[place];
    let solved = solve_for(brought, at, ray, spheres[place]);
    best = take(best, params.first_id + at, decide(solved, ray, policies(), exact));
    narrow(select(best.t, best.high, exact));
    place = take_waiting();
  }
  return best;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= params.ray_count) {
    return;
  }
  zero = params.zero;
  let ray = rays[i];
  var best = no_best();
  if (params.fresh == 0u) {
    best = state[i];
  }
  if (sets_out(ray, extra_of(i))) {
    narrow(select(best.t, best.high, exact));
    begin_walk(i);
    while (current != NONE) {
      walk();
      best = settle(ray, best);
      take_turns();
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  if (too_long()) {
    best.flags |= BEST_AGAIN;
  }
  state[i] = best;
}
