// Elliptic cones: the fraction of a disc that spheroids cover, together with caps. Twin of src/shadow/coverage/cones.rs, which documents
// the functions, except for the integral over all directions: an accuracy of 10^-3 suffices here, so the nodes are fixed, and dense near
// the directions that touch an outline. The nodes also determine the position of the cones relative to the disc.

// False in shadow/no_spheroids.wgsl, which replaces this file if all bodies are spheres.
const spheroids: bool = true;

// The shape of a spheroid. It is stored as an Occluder: pole.xy in `offset`, pole.z in `along`, stretch in `radius`.
struct SpheroidShape {
  pole: vec3<f32>,
  stretch: f32,
}

// `square` and `reach` are quadratic forms: (xx, xy, yy).
struct Cone {
  square: vec3<f32>,
  center: f32,
  reach: vec3<f32>,
  ahead: f32,
  middle: vec2<f32>,
  across: vec2<f32>,
}

fn shape_of(occluder: Occluder) -> SpheroidShape {
  return SpheroidShape(vec3<f32>(occluder.offset, occluder.along), occluder.radius);
}

fn form(f: vec3<f32>, turn: vec2<f32>) -> f32 {
  return f.x * turn.x * turn.x + 2.0 * f.y * turn.x * turn.y + f.z * turn.y * turn.y;
}

// Squared distance from the point to the occluder's centre minus its squared radius, in the space in which the occluder is a sphere.
fn power_of(point: vec3<f32>, occluder: Occluder, shape: SpheroidShape) -> f32 {
  let center = vec3<f32>(occluder.offset, occluder.along);
  let pole = dot(shape.pole, center);
  let of_point = dot(shape.pole, point);
  return occluder.power - 2.0 * (dot(center, point) + shape.stretch * pole * of_point)
    + (dot(point, point) + shape.stretch * of_point * of_point);
}

// The cone of a spheroid, for a point outside it. The spheroid must be in front of the light.
fn cone_of(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder, shape: SpheroidShape) -> Cone {
  let far = sqrt(dot(disc.toward, disc.toward));
  let center = vec3<f32>(occluder.offset, occluder.along) - point;
  let across = onto_disc(disc.toward, cross_of(point, light, disc, occluder)) / (far * occluder.radius);
  let along = dot(disc.toward, center) / (far * occluder.radius);
  let pole = onto_disc(disc.toward, cross(disc.toward, shape.pole)) / far;
  let upright = dot(disc.toward, shape.pole) / far;
  let power = max(power_of(point, occluder, shape), 0.0) / occluder.radius / occluder.radius;
  return cone(disc, vec3<f32>(across, along), power, vec3<f32>(pole, upright), shape.stretch);
}

// Converts a spherical cap, the outline of a sphere, to a cone, so that caps and spheroids share one integral.
fn cone_of_cap(disc: Disc, cap: Cap) -> Cone {
  let sine_b = sine(cap.radius);
  let center = cap.azimuth * sine(cap.separation) / sine_b;
  // The cap's edge was computed without cancellation, so the coefficient `center` is derived from it.
  let scale = (1.0 - versine(disc.radius)) / sine_b;
  let both = cap.separation + cap.radius;
  if (cap.radius >= HALF_PI) {
    // Half of the sky: the quadratic, a square, would lose the sign of the linear function.
    let across = sine(disc.radius) * center;
    let middle = 0.5 * across;
    let level = -2.0 * scale * signed_sine(0.5 * cap.edge) * sine(0.5 * both);
    let reach = vec3<f32>(middle.x * middle.x, middle.x * middle.y, middle.y * middle.y);
    return Cone(vec3<f32>(0.0, 0.0, 0.0), level, reach, 1.0, middle, across);
  }
  let tangent = (1.0 - versine(cap.radius)) / sine_b;
  let toward = vec3<f32>(center, (1.0 - versine(cap.separation)) / sine_b);
  var c = cone(disc, toward, tangent * tangent, vec3<f32>(0.0, 0.0, 1.0), 0.0);
  c.center = -scale * scale * signed_sine(cap.edge) * sine(both);
  return c;
}

// The cone of a spheroid of equatorial radius 1 on the disc.
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

// part / whole, at most 1: only values below 1 matter.
fn below(part: f32, whole: f32) -> f32 {
  if (part >= whole) {
    return 1.0;
  }
  return part / max(whole, 1e-37);
}

// The interval of tau that a cone covers in a direction; it starts at 1 if nothing is covered.
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

// Part of the light between the centre of the disc and tau, in one direction: the fraction of the solid angle, unless shadow/flux.wgsl
// weighs it by brightness.
fn inner(disc: Disc, tau: f32) -> f32 {
  if (tau >= 1.0) {
    return 1.0;
  }
  let s = sine(disc.radius);
  let c = 1.0 - versine(disc.radius);
  let w = sqrt(c * c + tau * tau * s * s);
  return light_within(disc, tau * tau * (1.0 + c) / max(w * (w + c), 1e-37));
}

// The cones in front of one disc: first the spheroids, then the caps. The CPU computes discs with more.
const MAX_CONES: u32 = 3u;
var<private> cones: array<Cone, 3>;
var<private> cone_count: u32;
// Position of the spheroids relative to the disc, as found by left_by(): whether one touches the disc, and whether one crosses the rim.
var<private> cones_touch: bool;
var<private> cones_reach_beyond: bool;

// The interval that cone i covers in a direction. For the first `own` cones, the spheroids, also updates cones_touch and
// cones_reach_beyond.
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

// Uncovered fraction of the disc, in one direction. Without a loop, because iterations are limited (see MOST_EFFORT).
fn open_along(disc: Disc, turn: vec2<f32>, own: u32) -> f32 {
  let first = noted_span(0u, turn, own);
  let second = noted_span(1u, turn, own);
  let third = noted_span(2u, turn, own);
  // Sort the intervals by their starts.
  let swap = second.x < first.x;
  let a = select(first, second, swap);
  let b = select(second, first, swap);
  let low = select(a, third, third.x < a.x);
  let rest = select(third, a, third.x < a.x);
  let middle = select(b, rest, rest.x < b.x);
  let high = select(rest, b, rest.x < b.x);
  var open = inner(disc, low.x);
  var reached = max(low.x, low.y);
  if (cone_count > 1u) {
    open += max(inner(disc, middle.x) - inner(disc, reached), 0.0);
    reached = max(reached, middle.y);
    open += max(inner(disc, high.x) - inner(disc, reached), 0.0);
    reached = max(reached, high.y);
  }
  return open + (1.0 - inner(disc, reached));
}

// Directions that touch an outline or pass through a crossing of an outline with the rim. Per cone, at most two touch the outline; they
// count with their opposites. At most four cross the rim. One more entry closes the turn.
const MAX_ENDS: u32 = 24u;
var<private> ends: array<f32, MAX_ENDS + 1u>;
var<private> end_count: u32;

// Rounding may find more crossings than there are. Then the CPU computes the result.
fn add_end(angle: f32) {
  if (end_count == MAX_ENDS) {
    crowded = true;
    return;
  }
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

// Adds the directions in which a cone crosses the rim. Two crossings between neighbouring samples are missed, but the area between them is
// small.
fn add_crossings(cone: Cone) {
  var from_angle = 0.0;
  var was = is_beyond(cone, from_angle);
  for (var i = 1u; i <= RIM_STEPS; i++) {
    let to_angle = TAU * f32(i) / f32(RIM_STEPS);
    // The first and the last sample are the same direction; both use angle 0 to avoid different rounding.
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
      add_end(high);
    }
    from_angle = to_angle;
    was = is;
  }
}

// Whether the rim in a direction is covered, or would be by the part of the cone behind the observer.
fn is_beyond(cone: Cone, angle: f32) -> bool {
  let turn = turn_of(angle);
  return form(cone.square, turn) + 2.0 * dot(cone.middle, turn) + cone.center >= 0.0;
}

const RIM_STEPS: u32 = 32u;
const NODES: u32 = 160u;
const MIN_NODES: u32 = 16u;

// Fraction of the disc that no cone or cap covers, 0...1.
fn uncovered_by_cones(disc: Disc) -> f32 {
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
      for (var k = 0u; k < 4u; k++) {
        add_end(0.5 * (middle + select(half, -half, k % 2u == 0u)) + select(0.0, PI, k >= 2u));
      }
    }
  }
  cones_touch = false;
  cones_reach_beyond = false;
  if (end_count == 0u) {
    ends[0] = 0.0;
    end_count = 1u;
  }
  ends[end_count] = ends[0] + TAU;
  let nodes = max(NODES / end_count, MIN_NODES);
  var sum = 0.0;
  var most = 0.0;
  var least = 1.0;
  for (var panel = 0u; panel < end_count; panel++) {
    let middle = 0.5 * (ends[panel] + ends[panel + 1u]);
    let half = 0.5 * (ends[panel + 1u] - ends[panel]);
    var reached = -1.0;
    for (var node = 1u; node <= nodes; node++) {
      // Nodes are dense at both ends, where the covered part may behave like a square root.
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
  // Clamped to the range of the samples, so that 0 and 1 are exact.
  return clamp(sum / TAU, least, most);
}

fn clear_cones() {
  cone_count = 0u;
}

// Whether a point is inside a spheroid.
fn contains_point(point: vec3<f32>, occluder: Occluder, shape: SpheroidShape) -> bool {
  return power_of(point, occluder, shape) < 0.0;
}

// Adds a spheroid. Returns the fraction (0 or 1) of a point light that is visible past it.
fn add_spheroid(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder, shape: SpheroidShape) -> f32 {
  if (contains_point(point, occluder, shape)) {
    total = true;
    return 0.0;
  }
  if (front_of(point, light, occluder) <= 0.0) {
    return 1.0;
  }
  if (cone_count == MAX_CONES) {
    crowded = true;
    return 1.0;
  }
  let cone = cone_of(point, light, disc, occluder, shape);
  cones[cone_count] = cone;
  cone_count++;
  return select(1.0, 0.0, covers_center(cone));
}
