// Program: whether each ray hits any sphere, by BVH traversal. Results go into the bitsets of query/occluded_state.wgsl.

@group(0) @binding(0) var<uniform> params: Params;
// In leaf order.
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;

// Whether a sphere was certainly hit.
var<private> certain: bool;

// One certain hit is enough: ends the traversal.
fn take_certain(high: f32) -> bool {
  certain = true;
  end_walk();
  return true;
}

// The ray's result so far: bit n is for bitset n.
var<private> known: u32;
const IS_MET: u32 = 1u;

// Intersects the deferred spheres, until one is hit.
fn settle(ray: Ray) {
  var place = take_waiting();
  while (place != NONE && (known & IS_MET) == 0u) {
    steps += 1u;
    let found = decide(solve_at(ray, place), ray, policies(), exact).met;
    known |= select(0u, IS_MET, found == YES) | select(0u, 1u << DOUBT, found == MAYBE);
    known |= select(0u, 1u << BEYOND_F32, found == BEYOND);
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
  if (was_met(i) != 0u) {
    return;
  }
  let ray = rays[i];
  if (sets_out(ray, extra_of(i))) {
    begin_walk(i);
    certain = false;
    while (current != NONE) {
      walk();
      known |= select(0u, IS_MET, certain);
      settle(ray);
      take_turns();
      current = select(current, NONE, (known & IS_MET) != 0u);
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  known |= select(0u, 1u << AGAIN, too_long());
  for (var which = MET; which <= AGAIN; which++) {
    add(which, i, known >> which);
  }
}
