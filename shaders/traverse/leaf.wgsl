// Leaf test: bounds of the chord of a ray in a sphere, at the sphere's position at the time of the ray. Needs cull/ray_line.wgsl,
// traverse/ray_setup.wgsl and intersect/attributes.wgsl. Twin of src/cpu/traverse/moving_leaf.rs, which has the derivation; the errors of
// this version are bounded by `motion_error` in traverse/ray_setup.wgsl.
//
// If spheres move, the second half of `spheres` describes their motion, in leaf order: velocity and radius, scaled. The radius is negative
// if the velocity is too large for this test.

struct ChordBounds {
  // Squares of half the chord: upper bound (`outer`) and lower bound (`inner`) under all errors. Negative means that there is no chord.
  outer: f32,
  inner: f32,
  // Position along the ray nearest to the centre, and ratio of the chord along the ray to the chord in the sphere's frame.
  middle: f32,
  stretch: f32,
}

// Chord bounds for a line at squared distance `square` from a centre. The sphere has at most radius `reach` and contains a concentric ball
// of radius `least`.
fn chord_bounds(square: f32, reach: f32, least: f32, middle: f32, stretch: f32) -> ChordBounds {
  let far = reach + line.slack;
  let near = max(least - 2.0 * line.slack, 0.0);
  return ChordBounds(far * far - square, near * near - square, middle, stretch);
}

// Chord bounds for a ball at rest.
fn bounds_of_ball(ball: vec4<f32>, least: f32) -> ChordBounds {
  let across = dot3(ball.xyz, line.u) - line.at.x;
  let over = dot3(ball.xyz, line.v) - line.at.y;
  return chord_bounds(across * across + over * over, ball.w, least, dot3(ball.xyz, prepared_ray.d) - prepared_ray.start, 1.0);
}

// Range of |w|^2 in which spheres are tested. Outside of it, as for a sphere that moves almost with the ray, a sphere may be anywhere.
const MIN_SAFE_SPEED: f32 = 0.25;
const MAX_SAFE_SPEED: f32 = 1048576.0;
// Larger than every |w| in that range.
const MAX_VELOCITY: f32 = 4096.0;
const MAX_REACH: f32 = 1e9;

// Chord bounds for a moving sphere. Branchless, because software adapters execute both sides of a branch anyway.
fn bounds_of_moving(ball: vec4<f32>, motion: Sphere) -> ChordBounds {
  let largest = vec3<f32>(MAX_VELOCITY);
  let relative_direction = prepared_ray.d - clamp(motion.center * prepared_ray.t_per_length, -largest, largest);
  let speed = dot3(relative_direction, relative_direction);
  let is_safe = motion.radius >= 0.0 && speed >= MIN_SAFE_SPEED && speed <= MAX_SAFE_SPEED;
  let w = select(prepared_ray.d, relative_direction, is_safe);
  let e = select(ball.xyz, ball.xyz + motion.center * prepared_ray.time, is_safe) - prepared_ray.place;
  let x = vec3<f32>(e.y * w.z - e.z * w.y, e.z * w.x - e.x * w.z, e.x * w.y - e.y * w.x);
  let square = dot3(w, w);
  let length = sqrt(square);
  let flag = prepared_ray.flag * length;
  let reach = select(MAX_REACH, motion.radius + flag, is_safe);
  let least = select(0.0, motion.radius - 2.0 * flag, is_safe);
  return chord_bounds(dot3(x, x) / square, reach, least, prepared_ray.pivot + dot3(e, w) / square, 1.0 / length);
}

// Chord bounds for the sphere at a position in leaf order.
fn bounds_at(place: u32) -> ChordBounds {
  let ball = sphere_at(place);
  if (!has_sphere_attributes) {
    return bounds_of_ball(ball, ball.w);
  }
  if (!has_ellipsoids) {
    return bounds_of_moving(ball, spheres[arrayLength(&spheres) / 2u + place]);
  }
  // For an ellipsoid the inner ball has the shortest semi-axis as its radius. If the ellipsoid moves, the inner ball must lie in it at all
  // times: its radius is smaller by as much as the ball around the path is larger than the ball around the ellipsoid.
  let at = order[place];
  return bounds_of_ball(ball, (1.0 + least_of(at)) * number_at(at, 3u) * params.scale - ball.w * 1.000002);
}
