// Bodies of a picture that are found through a BVH of bounding balls: the first body on the ray of a pixel, and the occluders in the cone
// from a point to the light. Twin of src/shadow/ball_bvh.rs, occluder_bvh.rs and picture/primary.rs; src/shadow/gpu/tree.rs has the
// records.
//
// All positions are in camera space. A ball is stored as the sum of a high and a low part (48 bits), so distances from a visible point to
// its occluders and to the light keep the precision of f32 however large the bodies are.

struct BallNode {
  // The centre and the radius of the bounding ball, enlarged by its rounding errors.
  bounds: vec4<f32>,
  // The balls of a leaf: the first, and their number. It is 0 for an inner node.
  first: u32,
  count: u32,
  // Number of nodes of the subtree. The children follow their parent, first the one nearer to the camera.
  size: u32,
  unused: u32,
}

// The high and the low parts of the centre and the radius.
struct TreeBall {
  high: vec4<f32>,
  low: vec4<f32>,
}

struct TreeBody {
  id: u32,
  pattern: u32,
  flags: u32,
  unused: u32,
}

const CASTS: u32 = 1u;
const RECEIVES: u32 = 2u;
const VISIBLE: u32 = 4u;

@group(0) @binding(1) var<storage, read> nodes: array<BallNode>;
// The balls in the order of the leaves, then the light.
@group(0) @binding(3) var<storage, read> balls: array<TreeBall>;
@group(0) @binding(4) var<storage, read> bodies: array<TreeBody>;

// Errors of a test of bounding balls, relative to the lengths. A vector to a ball has the error 2^-24 of its two ends, a direction of
// length 1 has 2^-21, and a component along or across it less than 2^-19 of the vector's length (the sum of its coordinates is at least as
// long).
const TREE_MARGIN: f32 = 0x1p-18;

// lavapipe silently stops an invocation after 65,535 loop iterations. The CPU computes pixels whose traversal needs more than this.
const MAX_STEPS: u32 = 16384u;

// A traversal: the next node, the next ball of the current leaf and the ball after its last, and the number of nodes and balls so far. It
// stops at each ball that passes the test, so that the threads of a subgroup compute their balls together.
var<private> next_node: u32;
var<private> next_ball: u32;
var<private> end_ball: u32;
var<private> steps: u32;
const NO_BALL: u32 = 0xffffffffu;

fn start_traversal() {
  next_node = 0u;
  next_ball = 0u;
  end_ball = 0u;
  steps = 0u;
}

fn has_next() -> bool {
  return (next_ball < end_ball || next_node < uniforms.nodes) && steps < MAX_STEPS;
}

// Continues below the next node if it `passes` the test, otherwise after its subtree.
fn pass_node(passes: bool) {
  let at = next_node;
  if (passes) {
    next_ball = nodes[at].first;
    end_ball = next_ball + nodes[at].count;
    next_node = at + 1u;
  } else {
    next_node = at + nodes[at].size;
  }
}

// Index in `balls` of the body that first_body() has found.
var<private> ball_seen: u32;
// The visible point, as high and low parts.
var<private> point_seen: HighLow;

// Lower bound of the distance at which a ray enters a ball; FAR for a miss.
fn entry_bound(ray: Ray, ball: vec4<f32>) -> f32 {
  let v = ball.xyz - ray.origin;
  let along = dot3(v, ray.direction);
  let across = v - along * ray.direction;
  let reach = ball.w + TREE_MARGIN * (norm1(ray.origin) + norm1(v) + ball.w);
  if (dot3(across, across) > reach * reach || along < -reach) {
    return FAR;
  }
  return along - reach;
}

// A ray and a ball with its low parts. Nothing is rounded but the low parts.
fn ball_pair(ray: Ray, ball: TreeBall) -> ScaledPair {
  var s = scale(ray, Sphere(ball.high.xyz, ball.high.w));
  let by = power_of_two(clamp(-s.length, -126, 126));
  s.el += ball.low.xyz * by;
  s.rl = ball.low.w * by;
  return s;
}

// Updates the best hit with a ball.
fn visit_ball(best: ClosestState, ray: Ray, i: u32) -> ClosestState {
  let hit = classify(intersect_scaled(ball_pair(ray, balls[i])), ray, policies(), exact);
  let next = update_best(best, bodies[i].id, hit);
  if (next.id != best.id) {
    ball_seen = i;
  }
  return next;
}

// The next visible ball that a ray may enter before `limit`; NO_BALL at the end.
fn next_on_ray(ray: Ray, limit: f32) -> u32 {
  while (has_next()) {
    steps++;
    if (next_ball < end_ball) {
      let i = next_ball;
      next_ball++;
      if (entry_bound(ray, balls[i].high) < limit && (bodies[i].flags & VISIBLE) != 0u) {
        return i;
      }
      continue;
    }
    pass_node(entry_bound(ray, nodes[next_node].bounds) < limit);
  }
  return NO_BALL;
}

// The nearest body that the ray of a pixel hits.
fn first_body(pixel: u32, ray: Ray) -> ClosestState {
  var best = empty_state();
  start_traversal();
  // The first ball is the light.
  for (var i = arrayLength(&balls) - 1u; i != NO_BALL; i = next_on_ray(ray, best.t)) {
    best = visit_ball(best, ray, i);
  }
  too_many = steps >= MAX_STEPS;
  return best;
}

fn visible_point_of(ray: Ray, best: ClosestState) -> VisiblePoint {
  if (best.id == NO_SPHERE) {
    return VisiblePoint(vec3<f32>(0.0, 0.0, -1.0), vec3<f32>(0.0, 0.0, -1.0));
  }
  let x = add2(vec2<f32>(ray.origin.x, 0.0), two_product(best.t, ray.direction.x));
  let y = add2(vec2<f32>(ray.origin.y, 0.0), two_product(best.t, ray.direction.y));
  let z = add2(vec2<f32>(ray.origin.z, 0.0), two_product(best.t, ray.direction.z));
  point_seen = HighLow(vec3<f32>(x.x, y.x, z.x), vec3<f32>(x.y, y.y, z.y));
  let normal = normal_at(ball_pair(ray, balls[ball_seen]));
  return VisiblePoint(normal, normal);
}

// The vector from the visible point to the centre of a ball.
fn toward_ball(ball: TreeBall) -> HighLow {
  let p = point_seen;
  let x = add2(vec2<f32>(ball.high.x, ball.low.x), vec2<f32>(-p.high.x, -p.low.x));
  let y = add2(vec2<f32>(ball.high.y, ball.low.y), vec2<f32>(-p.high.y, -p.low.y));
  let z = add2(vec2<f32>(ball.high.z, ball.low.z), vec2<f32>(-p.high.z, -p.low.z));
  return HighLow(vec3<f32>(x.x, y.x, z.x), vec3<f32>(x.y, y.y, z.y));
}

// a b - c d, rounded once.
fn difference_of_products(a: vec2<f32>, b: vec2<f32>, c: vec2<f32>, d: vec2<f32>) -> f32 {
  return add2(mul2(a, b), -mul2(c, d)).x;
}

// The cone from the visible point to the light.
struct LightCone {
  apex: vec3<f32>,
  distance: f32,
  // Unit vector to the light.
  axis: vec3<f32>,
  sine: f32,
  cosine: f32,
}

// Whether a ball may cover a part of the light. Never wrongly false: src/shadow/occluder_bvh.rs explains the test.
fn may_cover(cone: LightCone, ball: vec4<f32>) -> bool {
  let v = ball.xyz - cone.apex;
  let along = dot3(v, cone.axis);
  let across = v - along * cone.axis;
  let reach = ball.w + TREE_MARGIN * (norm1(cone.apex) + norm1(v) + ball.w);
  let widest = reach + along * cone.sine;
  let outside = widest < 0.0 || dot3(across, across) * (cone.cosine * cone.cosine) > widest * widest;
  return !(outside || along < -reach || along - reach > cone.distance * (1.0 + TREE_MARGIN));
}

// The next ball, other than the visible one, that casts a shadow and may cover a part of the light; NO_BALL at the end.
fn next_in_cone(cone: LightCone) -> u32 {
  while (has_next()) {
    steps++;
    if (next_ball < end_ball) {
      let i = next_ball;
      next_ball++;
      if (i != ball_seen && may_cover(cone, balls[i].high) && (bodies[i].flags & CASTS) != 0u) {
        return i;
      }
      continue;
    }
    pass_node(may_cover(cone, nodes[next_node].bounds));
  }
  return NO_BALL;
}

// The plane of the light's disc: two unit vectors across the direction to the light.
struct DiscPlane {
  x: vec3<f32>,
  y: vec3<f32>,
}

fn plane_across(u: vec3<f32>) -> DiscPlane {
  let side = select(1.0, -1.0, u.z < 0.0);
  let a = -1.0 / (side + u.z);
  let b = u.x * u.y * a;
  return DiscPlane(vec3<f32>(1.0 + side * u.x * u.x * a, side * b, -side * u.x), vec3<f32>(b, side + u.y * u.y * a, -u.y));
}

// The cap that a ball covers; NO_CAP if it is behind the light. Like cap_of() of shadow/disc.wgsl, but the direction to the light is
// `light`, and all lengths have the same unit.
fn cap_of_ball(light: HighLow, disc: Disc, plane: DiscPlane, ball: TreeBall) -> Cap {
  let v = toward_ball(ball);
  let radius = vec2<f32>(ball.high.w, ball.low.w);
  let power = add2(square2(v.high, v.low), -mul2(radius, radius)).x;
  // Power < 0: the point is inside.
  if (power < 0.0) {
    return Cap(0.0, PI, -PI, vec2<f32>(1.0, 0.0));
  }
  if (disc.power <= power) {
    return NO_CAP;
  }
  let vx = vec2<f32>(v.high.x, v.low.x);
  let vy = vec2<f32>(v.high.y, v.low.y);
  let vz = vec2<f32>(v.high.z, v.low.z);
  let wx = vec2<f32>(light.high.x, light.low.x);
  let wy = vec2<f32>(light.high.y, light.low.y);
  let wz = vec2<f32>(light.high.z, light.low.z);
  let far = sqrt(dot3(light.high, light.high));
  let cross = vec3<f32>(
    difference_of_products(wy, vz, wz, vy),
    difference_of_products(wz, vx, wx, vz),
    difference_of_products(wx, vy, wy, vx),
  ) / far;
  let length = sqrt(dot3(cross, cross));
  let ahead = dot3(disc.toward, v.high);
  let tangent = sqrt(power);
  let sine_edge = length * tangent - ahead * ball.high.w;
  let cosine_edge = ahead * tangent + length * ball.high.w;
  return Cap(
    arc(length, ahead),
    arc(ball.high.w, tangent),
    signed_arc(sine_edge, cosine_edge),
    azimuth_of(vec2<f32>(dot3(plane.x, cross), dot3(plane.y, cross))),
  );
}

// The cap of the ground itself: like horizon_cap() of shadow/disc.wgsl.
fn horizon_of(disc: Disc, plane: DiscPlane, normal: vec3<f32>) -> Cap {
  let cross = cross(normal, disc.toward);
  let length = sqrt(dot3(cross, cross));
  let height = dot3(disc.toward, normal);
  return Cap(
    arc(length, -height),
    HALF_PI,
    signed_arc(height, length),
    azimuth_of(vec2<f32>(dot3(plane.x, cross), dot3(plane.y, cross))),
  );
}

// The light at the visible surface point: full on the light itself and where the ray hits nothing.
fn light_at(id: u32, spot: VisiblePoint) -> Illumination {
  clear();
  if (id >= uniforms.light_id) {
    return FULL;
  }
  let light_ball = balls[arrayLength(&balls) - 1u];
  let light = toward_ball(light_ball);
  let far = sqrt(dot3(light.high, light.high));
  let power = (far - light_ball.high.w) * (far + light_ball.high.w);
  let disc = Disc(light.high / far, power, arc(light_ball.high.w, sqrt(max(power, 0.0))));
  if (power <= 0.0) {
    return FULL;
  }
  let plane = plane_across(disc.toward);
  let ground = horizon_of(disc, plane, spot.normal);
  if (ground.edge + disc.radius <= 0.0) {
    return DARK;
  }
  let bare = risen_light(disc, ground);
  var open = 1.0;
  let sine = light_ball.high.w / far;
  let cone = LightCone(point_seen.high, far, disc.toward, sine, sqrt(max((1.0 - sine) * (1.0 + sine), 0.0)));
  start_traversal();
  if ((bodies[ball_seen].flags & RECEIVES) == 0u) {
    next_node = uniforms.nodes;
  }
  // The first cap is the ground.
  var cap = ground;
  loop {
    open = min(open, visible_point(cap));
    add(disc, cap);
    let i = next_in_cone(cone);
    if (i == NO_BALL || total || crowded) {
      break;
    }
    cap = cap_of_ball(light, disc, plane, balls[i]);
  }
  crowded = crowded || steps >= MAX_STEPS;
  return light_past(disc, bare, open);
}

// Index of the pattern of the body that first_body() has found.
fn pattern_of(id: u32) -> u32 {
  return bodies[ball_seen].pattern;
}
