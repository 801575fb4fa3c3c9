// Program: the sum of the optical depths of the spheres that each ray hits, by BVH traversal.

@group(0) @binding(0) var<uniform> params: Params;
// In leaf order.
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;

var<private> sum: CountState;

// The depth of a certain hit is added without an intersection test. An opaque sphere ends the traversal.
fn accept_certain(high: f32, place: u32) -> bool {
  sum = add_hit(sum, HIT, order[place]);
  if (sum.count == OPAQUE) {
    end_traversal();
  }
  return false;
}

// Intersects the deferred spheres, until the ray is opaque.
fn test_deferred(ray: Ray) {
  var place = next_deferred();
  while (place != NONE && sum.count < OPAQUE) {
    steps += 1u;
    sum = add_hit(sum, classify(intersect_at(ray, place), ray, policies(), exact).hit_class, order[place]);
    place = next_deferred();
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= params.ray_count) {
    return;
  }
  zero = params.zero;
  sum = state[i];
  if (sum.count == OPAQUE) {
    return;
  }
  let ray = rays[i];
  if (prepare_ray(ray, ray_attributes_of(i))) {
    begin_traversal(i);
    while (current != NONE) {
      walk();
      test_deferred(ray);
      count_steps();
      current = select(current, NONE, sum.count == OPAQUE);
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  sum.flags |= select(0u, COUNT_UNFINISHED, sum.count < OPAQUE && over_step_limit());
  state[i] = sum;
}
