// The closest approach of a ray to any of several spheres. Twin of src/cpu/query/approach.rs. Needs intersect/attributes.wgsl and
// query/closest_state.wgsl.

// Error bound of a computed clearance: its own rounding and that of the perpendicular foot.
fn clearance_bound(attributes: RayAttributes, at: u32, ray: Ray, sphere: Sphere, t: f32, clearance: f32) -> f32 {
  let s = power_of_two(-8);
  var size = norm1(ray.origin * s) + norm1(sphere.center * s) + sphere.radius * s;
  var direction = norm1(ray.direction * s);
  if (has_motion_or_shape) {
    size = size + attributes.radius * s;
  }
  if (has_sphere_attributes) {
    let velocity = numbers_at(at, 4u) * s;
    size = size + norm1(numbers_at(at, 0u) * s) + norm1(velocity) * abs(attributes.time);
    direction = direction + select(0.0, norm1(velocity), attributes.moves_with_ray != 0u);
  }
  // A value that exceeds f32 or may be saturated proves nothing: the clearance is undecided.
  if (exponent(direction) + exponent(t) > 120 || abs(t) >= FAR || abs(clearance) >= FAR) {
    return FAR * 0.25;
  }
  let along = direction * abs(t);
  // The ray's ends are compared with all digits of the foot's t. Only a subnormal t is rounded before: `step` allows for a difference of
  // 2^-149 in t.
  let step = direction * power_of_two(-70) * power_of_two(-71);
  return min(abs(clearance) * 9.54e-7 + (size + along) * (1.5e-11 * 256.0) + step, FAR * 0.25);
}

// Updates the best with one more sphere: least clearance first, then least t, then lowest id.
fn nearer(before: ApproachState, attributes: RayAttributes, at: u32, ray: Ray, sphere: Sphere) -> ApproachState {
  let id = params.first_id + at;
  var best = before;
  let found = closest_approach(scale_for(attributes, at, ray, sphere), ray.t_min, ray.t_max);
  var bound = 0.0;
  if (exact) {
    bound = clearance_bound(attributes, at, ray, sphere, found.x, found.y);
  }
  let around = widen(found.y, bound);
  let same = found.y == best.clearance;
  if (best.id == NO_SPHERE || found.y < best.clearance || (same && (found.x < best.t || (found.x == best.t && id < best.id)))) {
    if (best.id != NO_SPHERE) {
      best.rival = min(best.rival, best.low);
    }
    best.t = found.x;
    best.clearance = found.y;
    best.low = around.x;
    best.high = around.y;
    best.id = id;
  } else {
    best.rival = min(best.rival, around.x);
  }
  return best;
}
