// Program: the closest hit of each ray by the naive algorithm: one thread per ray, a loop over all spheres, no culling.
// It is the baseline of `umbracast bench brute`. With `fast` it uses the textbook formula of the perpendicular foot, without scaling
// or error bounds; else the full compensated intersection of every pair.

@group(0) @binding(3) var<storage, read_write> state: array<ClosestState>;

fn process_ray(i: u32) {
  let ray = rays[i];
  var best = empty_state();
  if (params.fresh == 0u) {
    best = state[i];
  }
  let a = dot(ray.direction, ray.direction);
  for (var j = params.sphere_begin; j < params.sphere_end; j++) {
    let sphere = spheres[j];
    if (!fast) {
      best = update_best(best, params.first_id + j, classify(intersect_compensated(scale(ray, sphere)), ray, policies(), exact));
      continue;
    }
    let e = sphere.center - ray.origin;
    let k = dot(e, ray.direction) / a;
    let p = e - k * ray.direction;
    let disc = sphere.radius * sphere.radius - dot(p, p);
    if (disc >= 0.0) {
      let h = sqrt(disc / a);
      let t = max(k - h, ray.t_min);
      if (k + h >= ray.t_min && t <= ray.t_max && t < best.t) {
        best.t = t;
        best.id = params.first_id + j;
      }
    }
  }
  state[i] = best;
}
