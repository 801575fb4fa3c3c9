// Program: the number of spheres that each ray hits, by BVH traversal.

@group(0) @binding(0) var<uniform> params: Params;
// In leaf order.
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;

var<private> counted: Counted;

// A certain hit is counted without an intersection test.
fn take_certain(high: f32) -> bool {
  counted.count += 1u;
  return false;
}

// Intersects the deferred spheres.
fn settle(ray: Ray) {
  var place = take_waiting();
  while (place != NONE) {
    steps += 1u;
    counted = count_met(counted, decide(solve_at(ray, place), ray, policies(), exact).met);
    place = take_waiting();
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= params.ray_count) {
    return;
  }
  zero = params.zero;
  counted = state[i];
  let ray = rays[i];
  if (sets_out(ray, extra_of(i))) {
    begin_walk(i);
    while (current != NONE) {
      walk();
      settle(ray);
      take_turns();
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  counted.flags |= select(0u, COUNTED_AGAIN, too_long());
  state[i] = counted;
}
