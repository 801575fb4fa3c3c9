// Ray setup for BVH traversal. Needs cull/ray_line.wgsl and intersect/attributes.wgsl.
//
// A ray is the line o + s d with |d| = 1, in scaled units relative to the middle of the scene; t is s / step. AABBs are in the same units
// and contain their spheres exactly. The errors of the arithmetic here and of an intersection test are at most `slack` across the line
// (cull/ray_line.wgsl). So AABBs are inflated by `slack` on every side; this also covers the few roundings of |plane| + |o| in the slab
// test. Along the line, the same slack and the error of t (src/cpu/frame.rs, `RayParameter`) add up to `along`.

struct PreparedRay {
  inverse: vec3<f32>,
  enter: vec3<f32>,
  leave: vec3<f32>,
  // Segment in which spheres are not culled.
  near: f32,
  far: f32,
  // s for t = 1, and the error of a root.
  step: f32,
  along: f32,
  // A chord from `begin` to `end` certainly lies between the ray's own ends. `near` and `far` do not imply that: they are never moved past
  // t = 0.
  begin: f32,
  end: f32,
  d: vec3<f32>,
  start: f32,
  // Only for moving spheres. `time`: time, relative to the middle of their time range, at which the ray sees them; if they move while the
  // ray travels, the time at which the ray is at `pivot`. `t_per_length`: t for s = 1, or 0 if they do not move while the ray travels.
  // `flag`: error of the hit flag of an intersection test, per |w|. See traverse/leaf.wgsl.
  time: f32,
  pivot: f32,
  t_per_length: f32,
  flag: f32,
  // The ray's point at `pivot`.
  place: vec3<f32>,
}

// The ray of this thread.
var<private> line: RayLine;
var<private> prepared_ray: PreparedRay;

// Larger than the distance of any sphere from any ray that traverses the BVH.
const DISTANT: f32 = 1e18;

// s at t, clamped to -+DISTANT.
fn at(t: f32, step: f32) -> f32 {
  let most = DISTANT / step;
  return clamp(t, -most, most) * step;
}

// Position error of moving spheres, in addition to the slack. Rounding: of the ball's centre, and of a sum, a product and a difference of
// times, for a path no longer than 2. Flushed velocities: their error is multiplied by the time. If spheres move while the ray travels, the
// error of a line (cull/ray_line.wgsl) counts again, times (|w| + 1) / |w|, which is at most 3.
fn motion_error(o: vec3<f32>, moves_with_ray: bool) -> f32 {
  let rounded = 2.0 * U * params.largest * params.scale + 32.0 * U + power_of_two(-106) * params.scale;
  return rounded + select(0.0, 280.0 * U * (norm1(o) + 2.0), moves_with_ray);
}

// Prepares the ray; call before anything else here. Returns false if the ray cannot be represented in these units: its origin is beyond
// `far`, the exponent of `step` is outside -60..60, or its inflation is too large.
fn prepare_ray(ray: Ray, attributes: RayAttributes) -> bool {
  let direction = heading_of(ray.direction);
  let power = direction.power + exponent(params.scale);
  if (largest_of(ray.origin) > params.far || abs(power) > 60) {
    return false;
  }
  let o = to_scaled(ray.origin);
  let d = direction.d;
  line = line_along(o, d);
  let step = direction.length * power_of_two(power);
  let start = dot3(o, d);
  var longer = 0.0;
  var time = attributes.time - params.mid_time;
  var pivot = 0.0;
  var t_per_length = 0.0;
  var flag = 0.0;
  if (has_motion_or_shape) {
    let more = inflation(attributes, o);
    if (!(more < MAX_INFLATION)) {
      return false;
    }
    line.slack += more;
    longer = axial_inflation(o);
  }
  if (has_sphere_attributes && !has_ellipsoids) {
    let moves_with_ray = attributes.moves_with_ray != 0u;
    line.slack += motion_error(o, moves_with_ray);
    if (moves_with_ray) {
      // The point nearest to the middle of the scene, clamped to the ray's ends.
      pivot = min(max(-start, at(ray.t_min, step)), at(ray.t_max, step));
      time += pivot / step;
      t_per_length = 1.0 / step;
      flag = select(0.0, 64.0 * U * at(max(abs(ray.t_min), abs(ray.t_max)), step), fast);
      // Along the ray every error counts up to twice, because |w| is at least 1/2.
      longer += line.slack;
    }
  }
  let slack = line.slack;
  // A direction parallel to a face never intersects it. Turned by less than the slack, it does.
  let side = select(vec3<f32>(-1.0), vec3<f32>(1.0), d >= vec3<f32>(0.0));
  let inverse = side / max(abs(d), vec3<f32>(power_of_two(-30)));
  // 256 u (|o|_1 + 2), and the error of flushed numbers.
  let along = 2.3 * (slack + longer);
  // No sphere is farther than 2 from the middle, so `near` need not be lower than this.
  let near = max(at(min(ray.t_min, 0.0), step), -start - 2.01) - along;
  prepared_ray = PreparedRay(
    inverse,
    -(o + side * slack) * inverse,
    -(o - side * slack) * inverse,
    near,
    at(max(ray.t_max, 0.0), step) + along,
    step,
    along,
    at(ray.t_min, step) + 2.0 * along,
    at(ray.t_max, step) - 2.0 * along,
    d,
    start,
    time,
    pivot,
    t_per_length,
    flag,
    o + d * pivot,
  );
  return true;
}

// Culls all spheres that begin after t. The computed t is free of cancellation only ahead of the origin: therefore t is clamped to at least
// 0.
fn shorten(t: f32) {
  prepared_ray.far = min(prepared_ray.far, at(max(t, 0.0), prepared_ray.step) + prepared_ray.along);
}
