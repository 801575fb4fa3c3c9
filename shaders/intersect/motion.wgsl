// Intersection of a ray and a sphere that move relative to each other, of a ray with a radius, or of one with low parts of its direction.
// Twin of src/intersect/motion.rs: same operations; the reasons are given there.

struct RelativeMotion {
  velocity: vec3<f32>,
  time: f32,
  direction_low: vec3<f32>,
  radius: f32,
  moves_with_ray: bool,
}

fn two_sum3(a: vec3<f32>, b: vec3<f32>) -> HighLow {
  let x = two_sum(a.x, b.x);
  let y = two_sum(a.y, b.y);
  let z = two_sum(a.z, b.z);
  return HighLow(vec3<f32>(x.x, y.x, z.x), vec3<f32>(x.y, y.y, z.y));
}

fn two_product3(a: vec3<f32>, b: f32) -> HighLow {
  let x = two_product(a.x, b);
  let y = two_product(a.y, b);
  let z = two_product(a.z, b);
  return HighLow(vec3<f32>(x.x, y.x, z.x), vec3<f32>(x.y, y.y, z.y));
}

// Scales a moving pair, as `scale` does for a pair at rest. If nothing moves, the results are identical to the bit.
fn scale_moving(ray: Ray, sphere: Sphere, moves: RelativeMotion) -> ScaledPair {
  let displacement = moves.velocity * moves.time;
  let stays = displacement.x == 0.0 && displacement.y == 0.0 && displacement.z == 0.0;
  let places = max(max(largest_of(ray.origin), largest_of(sphere.center)), largest_of(displacement));
  let m = max(max(places, sphere.radius), moves.radius);
  var before = 0;
  if (m >= power_of_two(125)) {
    let s = power_of_two(-3);
    let away = largest_of((sphere.center * s + displacement * s) - ray.origin * s);
    let near = max(max(away, sphere.radius * s), moves.radius * s);
    before = select(-3, 0, near < power_of_two(100) && stays);
  } else if (m < power_of_two(-60)) {
    before = 60;
  }
  let s = power_of_two(before);
  let o = opaque3(ray.origin * s);
  let c = opaque3(sphere.center * s);
  // Of a small displacement the time or the velocity is below 1, and can be enlarged.
  let scales_time = before > 0 && abs(moves.time) < 1.0;
  let p = two_product3(moves.velocity * select(s, 1.0, scales_time), moves.time * select(1.0, s, scales_time));
  let h = two_sum3(c, p.high);
  let first = two_sum3(h.high, -o);
  let ends = two_sum3(first.high, first.low + (h.low + p.low));
  let r = two_sum(sphere.radius * s, moves.radius * s);
  let position_error = select(power_of_two(-45) * (norm1(o) + norm1(c) + norm1(p.high)), 0.0, stays);
  let v = select(vec3<f32>(0.0), moves.velocity, moves.moves_with_ray);
  let quarter = select(0, -2, max(largest_of(ray.direction), largest_of(v)) >= power_of_two(125));
  let q = power_of_two(quarter);
  let first_d = two_sum3(opaque3(ray.direction * q), -opaque3(v * q));
  let d = two_sum3(first_d.high, first_d.low + moves.direction_low * q);
  return normalize_range(ScaledPair(ends.high, ends.low, d.high, r.x, d.low, r.y, position_error, -before, -quarter));
}
