// Pieces of sky that are not round, and what they leave of a disc together with round ones. What they are is told in
// src/shadow/coverage/cones.rs, whose functions these are but for the sum over all directions: a thousandth is enough here, so
// that fixed nodes do, close to where an outline is touched; and what they see says how a cone lies to the disc.

// False in shadow/no_spheroids.wgsl, which takes the place of this file where all bodies are round.
const spheroids: bool = true;

// What makes an occluder a spheroid; kept in the place of an occluder: pole.xy, pole.z, stretch.
struct Shape {
  pole: vec3<f32>,
  stretch: f32,
}

// Forms are xx, xy, yy.
struct Cone {
  square: vec3<f32>,
  center: f32,
  reach: vec3<f32>,
  ahead: f32,
  middle: vec2<f32>,
  across: vec2<f32>,
}

fn shape_of(occluder: Occluder) -> Shape {
  return Shape(vec3<f32>(occluder.offset, occluder.along), occluder.radius);
}

fn form(f: vec3<f32>, turn: vec2<f32>) -> f32 {
  return f.x * turn.x * turn.x + 2.0 * f.y * turn.x * turn.y + f.z * turn.y * turn.y;
}

// Squared distance from the point to the occluder's centre, less its squared radius, where it is a sphere.
fn power_of(point: vec3<f32>, occluder: Occluder, shape: Shape) -> f32 {
  let center = vec3<f32>(occluder.offset, occluder.along);
  let pole = dot(shape.pole, center);
  let of_point = dot(shape.pole, point);
  return occluder.power - 2.0 * (dot(center, point) + shape.stretch * pole * of_point)
    + (dot(point, point) + shape.stretch * of_point * of_point);
}

// The cone of a spheroid, for a point outside it and before the light.
fn cone_of(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder, shape: Shape) -> Cone {
  let far = sqrt(dot(disc.toward, disc.toward));
  let center = vec3<f32>(occluder.offset, occluder.along) - point;
  let across = onto_disc(disc.toward, cross_of(point, light, disc, occluder)) / (far * occluder.radius);
  let along = dot(disc.toward, center) / (far * occluder.radius);
  let pole = onto_disc(disc.toward, cross(disc.toward, shape.pole)) / far;
  let upright = dot(disc.toward, shape.pole) / far;
  let power = max(power_of(point, occluder, shape), 0.0) / occluder.radius / occluder.radius;
  return cone(disc, vec3<f32>(across, along), power, vec3<f32>(pole, upright), shape.stretch);
}

// The cone of a cap.
fn cone_of_cap(disc: Disc, cap: Cap) -> Cone {
  let half_sky = cap.radius >= HALF_PI;
  let sine_b = sine(cap.radius);
  let tangent = select(1.0 - versine(cap.radius), 0.0, half_sky) / sine_b;
  let center = vec3<f32>(cap.azimuth * sine(cap.separation), 1.0 - versine(cap.separation)) / sine_b;
  var c = cone(disc, center, tangent * tangent, vec3<f32>(0.0, 0.0, 1.0), 0.0);
  // Its edge was computed by itself.
  let scale = (1.0 - versine(disc.radius)) / sine_b;
  c.center = -scale * scale * signed_sine(cap.edge) * sine(cap.separation + cap.radius);
  return c;
}

// The cone of a spheroid of radius 1 on the disc.
fn cone(disc: Disc, center: vec3<f32>, power: f32, pole: vec3<f32>, stretch: f32) -> Cone {
  let s = sine(disc.radius);
  let c = 1.0 - versine(disc.radius);
  let o = center.xy;
  let z = center.z;
  let n = pole.xy;
  let upright = pole.z;
  let whole = 1.0 + stretch;
  let forward = stretch * dot(pole, center);
  let ahead = z + forward * upright;
  let across = o + forward * n;
  var square = vec3<f32>(0.0, 0.0, 0.0);
  var middle = vec2<f32>(0.0, 0.0);
  var own = 0.0;
  if (power > 1.0) {
    let turn = cross2(o, n);
    let u = upright * o - z * n;
    let round = 1.0 - whole * z * z;
    square = vec3<f32>(
      round + stretch * (n.x * n.x + u.y * u.y) - whole * o.y * o.y,
      stretch * (n.x * n.y - u.x * u.y) + whole * o.x * o.y,
      round + stretch * (n.y * n.y + u.x * u.x) - whole * o.x * o.x,
    );
    middle = stretch * upright * n + whole * z * o + stretch * turn * vec2<f32>(u.y, -u.x);
    own = 1.0 + stretch * (upright * upright + turn * turn) - whole * dot(o, o);
  } else {
    let p = power * stretch;
    square = vec3<f32>(
      across.x * across.x - power - p * n.x * n.x,
      across.x * across.y - p * n.x * n.y,
      across.y * across.y - power - p * n.y * n.y,
    );
    middle = ahead * across - p * upright * n;
    own = ahead * ahead - power - p * upright * upright;
  }
  let reach = vec3<f32>(
    whole * (1.0 - o.y * o.y) - stretch * n.y * n.y,
    whole * o.x * o.y + stretch * n.x * n.y,
    whole * (1.0 - o.x * o.x) - stretch * n.x * n.x,
  );
  return Cone(s * s * square, c * c * own, power * s * s * c * c * reach, c * ahead, s * c * middle, s * across);
}

fn covers_center(cone: Cone) -> bool {
  return cone.center >= 0.0 && cone.ahead > 0.0;
}

// A quotient of which only what is below 1 matters.
fn below(part: f32, whole: f32) -> f32 {
  if (part >= whole) {
    return 1.0;
  }
  return part / max(whole, 1e-37);
}

// From where to where a cone covers the disc in a direction; from 1 on where it does not.
fn span_of(cone: Cone, turn: vec2<f32>) -> vec2<f32> {
  let a = form(cone.square, turn);
  let b = dot(cone.middle, turn);
  let c = cone.center;
  let reach = form(cone.reach, turn);
  let h = sqrt(max(reach, 0.0));
  var far = 1.0;
  if (a < 0.0) {
    far = below(b + h, -a);
  }
  if (covers_center(cone)) {
    if (b < 0.0) {
      far = below(c, h - b);
    }
    return vec2<f32>(0.0, far);
  }
  if (reach < 0.0 || (a < 0.0 && (b <= 0.0 || c >= 0.0))) {
    return vec2<f32>(1.0, 1.0);
  }
  var near = 0.0;
  if (b > 0.0) {
    near = below(-c, b + h);
  } else {
    near = below(h - b, a);
  }
  var before = dot(cone.across, turn) > 0.0;
  if (a < 0.0) {
    before = cone.ahead + near * dot(cone.across, turn) > 0.0;
  }
  return select(vec2<f32>(1.0, 1.0), vec2<f32>(max(near, 0.0), far), before);
}

// The part of the disc between its centre and tau, in one direction.
fn inner(disc: Disc, tau: f32) -> f32 {
  if (tau >= 1.0) {
    return 1.0;
  }
  let s = sine(disc.radius);
  let c = 1.0 - versine(disc.radius);
  let w = sqrt(c * c + tau * tau * s * s);
  return tau * tau * (1.0 + c) / max(w * (w + c), 1e-37);
}

// The spheroids before one disc, and then the caps; more are the host's.
const MOST_CONES: u32 = 3u;
var<private> cones: array<Cone, 3>;
var<private> cone_count: u32;
// How the spheroids lie to the disc, as left_by() has found.
var<private> cones_touch: bool;
var<private> cones_reach_beyond: bool;

// What cone i covers in a direction; of the first `own` cones, which are spheroids, notes how they lie.
fn noted_span(i: u32, turn: vec2<f32>, own: u32) -> vec2<f32> {
  if (i >= cone_count) {
    return vec2<f32>(1.0, 1.0);
  }
  let s = span_of(cones[i], turn);
  if (i < own && s.x < s.y) {
    cones_touch = true;
    cones_reach_beyond = cones_reach_beyond || s.y >= 1.0;
  }
  return s;
}

// The part of the disc that is left in one direction: without a loop, for iterations are counted (see MOST_EFFORT).
fn open_along(disc: Disc, turn: vec2<f32>, own: u32) -> f32 {
  let first = noted_span(0u, turn, own);
  if (cone_count == 1u) {
    return 1.0 - max(inner(disc, first.y) - inner(disc, first.x), 0.0);
  }
  let second = noted_span(1u, turn, own);
  let third = noted_span(2u, turn, own);
  // Sorted by where they begin.
  let swap = second.x < first.x;
  let a = select(first, second, swap);
  let b = select(second, first, swap);
  let low = select(a, third, third.x < a.x);
  let rest = select(third, a, third.x < a.x);
  let middle = select(b, rest, rest.x < b.x);
  let high = select(rest, b, rest.x < b.x);
  var open = inner(disc, low.x);
  var reached = max(low.x, low.y);
  open += max(inner(disc, middle.x) - inner(disc, reached), 0.0);
  reached = max(reached, middle.y);
  open += max(inner(disc, high.x) - inner(disc, reached), 0.0);
  reached = max(reached, high.y);
  return open + (1.0 - inner(disc, reached));
}

// Directions in which an outline is touched or crosses the rim: each cone has up to two and four; those opposite to the two count,
// too.
var<private> ends: array<f32, 25>;
var<private> end_count: u32;

fn add_end(angle: f32) {
  let end = angle - TAU * floor(angle / TAU);
  var at = end_count;
  while (at > 0u && ends[at - 1u] > end) {
    ends[at] = ends[at - 1u];
    at--;
  }
  ends[at] = end;
  end_count++;
}

// The unit vector of an angle in [0, 4 pi).
fn turn_of(angle: f32) -> vec2<f32> {
  let x = select(angle, angle - TAU, angle >= TAU);
  let y = x + HALF_PI;
  return vec2<f32>(sine(select(y, y - TAU, y >= TAU)), sine(x));
}

// Adds where a cone crosses the rim, but for crossings that are so close together that little lies between them.
fn add_crossings(cone: Cone) {
  var from_angle = 0.0;
  var was = is_beyond(cone, from_angle);
  for (var i = 1u; i <= RIM_STEPS; i++) {
    let to_angle = TAU * f32(i) / f32(RIM_STEPS);
    // The first and the last are the same direction, but for rounding.
    let is = is_beyond(cone, select(to_angle, 0.0, i == RIM_STEPS));
    if (is != was) {
      var low = from_angle;
      var high = to_angle;
      for (var k = 0u; k < 18u; k++) {
        let angle = 0.5 * (low + high);
        if (is_beyond(cone, angle) == was) {
          low = angle;
        } else {
          high = angle;
        }
      }
      if (end_count < 24u) {
        add_end(high);
      }
    }
    from_angle = to_angle;
    was = is;
  }
}

// Whether the rim is covered in a direction, or is behind.
fn is_beyond(cone: Cone, angle: f32) -> bool {
  let turn = turn_of(angle);
  return form(cone.square, turn) + 2.0 * dot(cone.middle, turn) + cone.center >= 0.0;
}

const RIM_STEPS: u32 = 32u;
const NODES: u32 = 160u;
const LEAST_NODES: u32 = 16u;

// The part of the disc that no cone nor cap covers, 0...1.
fn left_by(disc: Disc) -> f32 {
  let own = cone_count;
  for (var i = 0u; i < cap_count; i++) {
    cones[cone_count] = cone_of_cap(disc, caps[i]);
    cone_count++;
  }
  end_count = 0u;
  for (var i = 0u; i < cone_count; i++) {
    add_crossings(cones[i]);
    if (covers_center(cones[i])) {
      continue;
    }
    let reach = cones[i].reach;
    let size = max(max(abs(reach.x), abs(reach.y)), max(abs(reach.z), 1e-37));
    let wave = vec2<f32>(0.5 * (reach.x - reach.z), reach.y) / size;
    let amount = sqrt(dot(wave, wave));
    let level = 0.5 * (reach.x + reach.z) / size;
    if (abs(level) < amount) {
      let middle = signed_arc(wave.y, wave.x);
      let half = arc(sqrt(max((amount - level) * (amount + level), 0.0)), -level);
      add_end(0.5 * (middle - half));
      add_end(0.5 * (middle + half));
      add_end(0.5 * (middle - half) + PI);
      add_end(0.5 * (middle + half) + PI);
    }
  }
  cones_touch = false;
  cones_reach_beyond = false;
  if (end_count == 0u) {
    add_end(0.0);
  }
  ends[end_count] = ends[0] + TAU;
  let nodes = max(NODES / end_count, LEAST_NODES);
  var sum = 0.0;
  var most = 0.0;
  var least = 1.0;
  for (var panel = 0u; panel < end_count; panel++) {
    let middle = 0.5 * (ends[panel] + ends[panel + 1u]);
    let half = 0.5 * (ends[panel + 1u] - ends[panel]);
    var reached = -1.0;
    for (var node = 1u; node <= nodes; node++) {
      // Dense at both ends, where the covered part may grow like a root.
      let to = 2.0 * f32(node) / f32(nodes) - 1.0;
      let at = to - 1.0 / f32(nodes);
      let next = 0.5 * to * (3.0 - to * to);
      let angle = middle + half * 0.5 * at * (3.0 - at * at);
      let open = open_along(disc, turn_of(angle), own);
      sum += half * (next - reached) * open;
      most = max(most, open);
      least = min(least, open);
      reached = next;
    }
  }
  cone_count = own;
  // No more than the most, so that nothing and all are exact.
  return clamp(sum / TAU, least, most);
}

fn clear_cones() {
  cone_count = 0u;
}

// Whether a point is in a spheroid.
fn swallows(point: vec3<f32>, occluder: Occluder, shape: Shape) -> bool {
  return power_of(point, occluder, shape) < 0.0;
}

// Adds a spheroid; says what of a light of no size gets past it.
fn add_spheroid(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder, shape: Shape) -> f32 {
  if (swallows(point, occluder, shape)) {
    total = true;
    return 0.0;
  }
  if (front_of(point, light, occluder) <= 0.0) {
    return 1.0;
  }
  if (cone_count == MOST_CONES) {
    crowded = true;
    return 1.0;
  }
  let cone = cone_of(point, light, disc, occluder, shape);
  cones[cone_count] = cone;
  cone_count++;
  return select(1.0, 0.0, covers_center(cone));
}
