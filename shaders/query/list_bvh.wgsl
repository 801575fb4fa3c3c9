// Program: writes all hits of each ray, by BVH traversal, in the order in which they are found.

@group(0) @binding(0) var<uniform> params: Params;
// In leaf order.
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;

// A certain hit is intersected too: its record needs the roots.
fn accept_certain(high: f32, place: u32) -> bool {
  return true;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= params.ray_count || state[i] == NOWHERE) {
    return;
  }
  zero = params.zero;
  var at = state[i];
  let ray = rays[i];
  if (prepare_ray(ray, ray_attributes_of(i))) {
    begin_traversal(i);
    while (current != NONE) {
      walk();
      var place = next_deferred();
      while (place != NONE) {
        steps += 1u;
        let number = order[place];
        at = append_hit(at, ray, scale_for(attributes, number, ray, spheres[place]), params.first_id + number);
        place = next_deferred();
      }
      count_steps();
    }
  }
  state[i] = at;
}
