// Program: the number of spheres that each ray hits, by BVH traversal.

@group(0) @binding(0) var<uniform> params: Params;
// In leaf order.
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;

var<private> counted: CountState;

// A certain hit is counted without an intersection test.
fn accept_certain(high: f32, place: u32) -> bool {
  counted.count += 1u;
  return false;
}

// Intersects the deferred spheres.
fn test_deferred(ray: Ray) {
  var place = next_deferred();
  while (place != NONE) {
    steps += 1u;
    counted = count_hit(counted, classify(intersect_at(ray, place), ray, policies(), exact).hit_class);
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
  counted = state[i];
  let ray = rays[i];
  if (prepare_ray(ray, ray_attributes_of(i))) {
    begin_traversal(i);
    while (current != NONE) {
      walk();
      test_deferred(ray);
      count_steps();
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  counted.flags |= select(0u, COUNT_UNFINISHED, over_step_limit());
  state[i] = counted;
}
