// How much of the light's disc is left. Twin of src/shadow/coverage/disc.rs: same functions, same order; the light-aligned frame
// and the formulas are told there.

struct Light {
  inverse_distance: f32,
  ratio: f32,
}

struct Occluder {
  offset: vec2<f32>,
  along: f32,
  radius: f32,
  power: f32,
  beyond: f32,
  front: f32,
  // Where among the occluders its Shape is; 0 for a sphere. A spheroid's numbers are as in src/shadow/coverage/disc.rs.
  shape: u32,
}

struct Disc {
  toward: vec3<f32>,
  power: f32,
  radius: f32,
}

// The light's disc from `point`.
fn disc_from(point: vec3<f32>, light: Light) -> Disc {
  let toward = vec3<f32>(-point.xy * light.inverse_distance, 1.0 - point.z * light.inverse_distance);
  let far = sqrt(dot(toward, toward));
  let power = (far - light.ratio) * (far + light.ratio);
  return Disc(toward, power, arc(light.ratio, sqrt(max(power, 0.0))));
}

// Turns a vector across `toward` into the plane of the disc.
fn onto_disc(toward: vec3<f32>, across: vec3<f32>) -> vec2<f32> {
  let u = toward / sqrt(max(dot(toward, toward), 1e-30));
  let lift = (u.x * across.x + u.y * across.y) / (1.0 + max(u.z, 0.0));
  return across.xy - u.xy * (lift + across.z);
}

// A direction on the disc, of unit length; scaled first, since squares of 1e-20 are zero.
fn azimuth_of(v: vec2<f32>) -> vec2<f32> {
  let size = max(abs(v.x), abs(v.y));
  if (size < 1e-36) {
    return vec2<f32>(1.0, 0.0);
  }
  let w = v / size;
  return w / sqrt(dot(w, w));
}

// Whether an occluder is before the light: positive then.
fn front_of(point: vec3<f32>, light: Light, occluder: Occluder) -> f32 {
  let nearer = point.z * occluder.beyond - light.inverse_distance * dot(point.xy, occluder.offset);
  return occluder.front - 2.0 * light.inverse_distance * nearer;
}

// The cross product of the directions to light and occluder, multiplied out.
fn cross_of(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder) -> vec3<f32> {
  let across = point.xy;
  let aside = across * occluder.beyond - occluder.offset * disc.toward.z;
  let twist = -light.inverse_distance * cross2(across, occluder.offset);
  return vec3<f32>(aside.y, -aside.x, twist);
}

// The cap that a sphere puts on the sky at `point`; NO_CAP behind the light.
fn cap_of(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder) -> Cap {
  let across = point.xy;
  let power = occluder.power - 2.0 * (dot(occluder.offset, across) + occluder.along * point.z) + dot(point, point);
  // On the surface it is half the sky.
  if (power < 0.0) {
    return Cap(0.0, PI, -PI, vec2<f32>(1.0, 0.0));
  }
  if (front_of(point, light, occluder) <= 0.0) {
    return NO_CAP;
  }
  let cross = cross_of(point, light, disc, occluder);
  let center = vec3<f32>(occluder.offset - across, occluder.along - point.z);
  // Scaled: an occluder may be so small and far that the squares of its offset are zero.
  let size = max(max(abs(cross.x), abs(cross.y)), max(abs(cross.z), 1e-36));
  let scaled = cross / size;
  let length = size * sqrt(dot(scaled, scaled));
  let ahead = dot(disc.toward, center);
  let tangent = sqrt(power);
  let sine_edge = length * tangent - ahead * occluder.radius;
  let cosine_edge = ahead * tangent + length * occluder.radius;
  return Cap(
    arc(length, ahead),
    arc(occluder.radius, tangent),
    signed_arc(sine_edge, cosine_edge),
    azimuth_of(onto_disc(disc.toward, cross)),
  );
}

// The ground itself: a cap of radius pi/2 around the downward direction.
fn horizon_cap(point: vec3<f32>, light: Light, disc: Disc, normal: vec3<f32>) -> Cap {
  // On a sphere point and normal are the same, and what is subtracted is 0.
  let cross = vec3<f32>(normal.y, -normal.x, 0.0) - light.inverse_distance * cross(normal, point);
  let length = sqrt(dot(cross, cross));
  let height = dot(disc.toward, normal);
  return Cap(
    arc(length, -height),
    HALF_PI,
    signed_arc(height, length),
    azimuth_of(onto_disc(disc.toward, cross)),
  );
}

// What stands before one disc: the caps that touch it, none of them inside another.
var<private> total: bool;
var<private> caps: array<Cap, 16>;
var<private> cap_count: u32;
// More caps than there is room for, or too many for one dispatch: the host does it again.
var<private> crowded: bool;
var<private> effort: u32;

// Lavapipe stops an invocation after 65,535 loop iterations, summed over eight lanes that may each loop for themselves.
const MOST_EFFORT: u32 = 1000u;

// Starts with an open sky.
fn clear() {
  total = false;
  cap_count = 0u;
  clear_cones();
  crowded = false;
  effort = 0u;
}

// Whether a cap has the disc's centre, as far as rounding can tell.
fn concentric(disc: Disc, cap: Cap) -> bool {
  return cap.separation <= CONCENTRIC * disc.radius;
}

// 2^-40.
const CONCENTRIC: f32 = 0x1p-40;

// 2^-18: caps whose edges differ by less, in units of the disc's radius, count as one. In f64 it is 2^-40.
const ALIKE: f32 = 0x1p-18;

// Adds a cap, unless it does not touch the disc or hides behind another.
fn add(disc: Disc, cap: Cap) {
  if (cap.radius <= 0.0 || cap.edge >= disc.radius) {
    return;
  }
  if (cap.edge + disc.radius <= 0.0 || (concentric(disc, cap) && cap.radius >= disc.radius)) {
    total = true;
    return;
  }
  effort += 2u * cap_count;
  if (effort > MOST_EFFORT) {
    crowded = true;
    return;
  }
  // Two caps that only rounding tells apart have no chord.
  let slack = ALIKE * disc.radius;
  for (var i = 0u; i < cap_count; i++) {
    if (apart(caps[i], cap) + cap.radius <= caps[i].radius + slack) {
      return;
    }
  }
  var kept = 0u;
  for (var i = 0u; i < cap_count; i++) {
    let other = caps[i];
    if (apart(other, cap) + other.radius > cap.radius + slack) {
      caps[kept] = other;
      kept++;
    }
  }
  cap_count = kept;
  if (cap_count == MOST_CAPS) {
    crowded = true;
    return;
  }
  caps[cap_count] = cap;
  cap_count++;
}

// The angle of the disc's own rim that no cap covers.
fn open_rim(disc: Disc) -> f32 {
  span_count = 0u;
  for (var i = 0u; i < cap_count; i++) {
    let cap = caps[i];
    if (cap.separation + cap.radius > disc.radius) {
      let half = chord(disc.radius, cap.radius, cap.separation, cap.edge).x;
      spans[span_count] = span(signed_arc(cap.azimuth.y, cap.azimuth.x), half, 0.0);
      span_count++;
    }
  }
  var open = 0.0;
  var cursor = 0.0;
  for (var i = 0u; i < 2u * span_count + 2u && cursor < TAU; i++) {
    let step = advance(cursor);
    if (step.x > cursor) {
      cursor = step.x;
    } else {
      open += step.y - cursor;
      cursor = step.y;
    }
  }
  return open;
}

// Half the solid angle swept by those arcs of cap i's edge that are on the disc and in no other cap.
fn open_edge(disc: Disc, i: u32) -> f32 {
  let cap = caps[i];
  var half = PI;
  if (cap.separation + cap.radius > disc.radius) {
    half = chord(disc.radius, cap.radius, cap.separation, cap.edge).y;
  }
  span_count = 0u;
  for (var j = 0u; j < cap_count; j++) {
    let other = caps[j];
    let gap = apart(cap, other);
    if (j != i && gap < cap.radius + other.radius) {
      spans[span_count] = span(bearing(cap, other), common_chord(cap.radius, other.radius, gap), -half);
      span_count++;
    }
  }
  var sum = 0.0;
  var cursor = 0.0;
  for (var k = 0u; k < 2u * span_count + 2u && cursor < 2.0 * half; k++) {
    let step = advance(cursor);
    if (step.x > cursor) {
      cursor = step.x;
    } else {
      let end = min(step.y, 2.0 * half);
      sum += swept(cap, cursor - half, end - half);
      cursor = step.y;
    }
  }
  return sum;
}

// The part of the disc that is left, 0...1.
fn left(disc: Disc) -> f32 {
  if (total) {
    return 0.0;
  }
  if (spheroids && cone_count > 0u) {
    if (cone_count + cap_count > MOST_CONES) {
      crowded = true;
      return 0.0;
    }
    return left_by(disc);
  }
  var sum = 0.0;
  var largest = 0.0;
  var meet = false;
  for (var i = 0u; i < cap_count; i++) {
    let cap = caps[i];
    let part = covered(disc.radius, cap);
    sum += part;
    largest = max(largest, part);
    for (var j = 0u; j < i; j++) {
      meet = meet || apart(cap, caps[j]) < cap.radius + caps[j].radius;
    }
  }
  if (meet) {
    var edges = 0.0;
    for (var i = 0u; i < cap_count; i++) {
      edges += open_edge(disc, i);
    }
    let rest = (0.5 * open_rim(disc) - edges / versine(disc.radius)) / PI;
    return clamp(rest, max(1.0 - sum, 0.0), 1.0 - largest);
  }
  return clamp(1.0 - sum, 0.0, 1.0);
}

// How the disc is covered, `rest` of it being left. Where nothing is left it is total, whatever the edges say.
const KIND_NONE: u32 = 0u;
const KIND_PARTIAL: u32 = 1u;
const KIND_ANNULAR: u32 = 2u;
const KIND_TOTAL: u32 = 3u;
fn kind(disc: Disc, rest: f32) -> u32 {
  // What fixed directions find of a cone that covers all is nothing at all.
  if (total || ((cap_count > 0u || (spheroids && cone_count > 0u)) && rest <= 0.0)) {
    return KIND_TOTAL;
  }
  let touched = spheroids && cone_count > 0u && cones_touch;
  if (cap_count == 0u && !touched) {
    return KIND_NONE;
  }
  if (touched && cones_reach_beyond) {
    return KIND_PARTIAL;
  }
  for (var i = 0u; i < cap_count; i++) {
    if (caps[i].separation + caps[i].radius > disc.radius && !concentric(disc, caps[i])) {
      return KIND_PARTIAL;
    }
  }
  return KIND_ANNULAR;
}

// What of a light of no size gets past: all or nothing.
fn left_of_point(cap: Cap) -> f32 {
  return select(1.0, 0.0, cap.edge <= 0.0);
}

// The irradiance of level ground by the risen part of a bare disc, in units of that under a light overhead.
fn irradiance(disc: Disc, ground: Cap) -> f32 {
  let a = disc.radius;
  let height = signed_sine(ground.edge);
  if (ground.edge >= a) {
    return height;
  }
  if (ground.edge + a <= 0.0) {
    return 0.0;
  }
  let half = chord(a, ground.radius, ground.separation, ground.edge);
  let risen = PI - half.x;
  let area = sine(a);
  let ellipse = area * area * height * less_sine(2.0 * risen);
  return max((ellipse + less_sine(2.0 * half.y)) / (TAU * area * area), 0.0);
}
