// Uncovered fraction of the light's disc. Twin of src/shadow/coverage/light.rs and disc.rs: same functions, same order. disc.rs explains
// the light-aligned frame and the formulas.

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
  // Index of its Shape in the buffer of occluders; 0 for a sphere. src/shadow/coverage/light.rs documents the fields of a spheroid.
  shape: u32,
}

struct Disc {
  toward: vec3<f32>,
  power: f32,
  radius: f32,
}

// The light's disc, seen from `point`.
fn disc_from(point: vec3<f32>, light: Light) -> Disc {
  let toward = vec3<f32>(-point.xy * light.inverse_distance, 1.0 - point.z * light.inverse_distance);
  let far = sqrt(dot(toward, toward));
  let power = (far - light.ratio) * (far + light.ratio);
  return Disc(toward, power, arc(light.ratio, sqrt(max(power, 0.0))));
}

// Rotates a vector perpendicular to `toward` into the plane of the disc.
fn onto_disc(toward: vec3<f32>, across: vec3<f32>) -> vec2<f32> {
  let u = toward / sqrt(max(dot(toward, toward), 1e-30));
  let lift = (u.x * across.x + u.y * across.y) / (1.0 + max(u.z, 0.0));
  return across.xy - u.xy * (lift + across.z);
}

// Unit vector of a direction on the disc. The vector is scaled first, because squares of 1e-20 underflow to zero.
fn azimuth_of(v: vec2<f32>) -> vec2<f32> {
  let size = max(abs(v.x), abs(v.y));
  if (size < 1e-36) {
    return vec2<f32>(1.0, 0.0);
  }
  let w = v / size;
  return w / sqrt(dot(w, w));
}

// Positive if an occluder is in front of the light.
fn front_of(point: vec3<f32>, light: Light, occluder: Occluder) -> f32 {
  let nearer = point.z * occluder.beyond - light.inverse_distance * dot(point.xy, occluder.offset);
  return occluder.front - 2.0 * light.inverse_distance * nearer;
}

// Cross product of the directions to light and occluder, expanded.
fn cross_of(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder) -> vec3<f32> {
  let across = point.xy;
  let aside = across * occluder.beyond - occluder.offset * disc.toward.z;
  let twist = -light.inverse_distance * cross2(across, occluder.offset);
  return vec3<f32>(aside.y, -aside.x, twist);
}

// The cap that a sphere covers, seen from `point`; NO_CAP if the sphere is behind the light.
fn cap_of(point: vec3<f32>, light: Light, disc: Disc, occluder: Occluder) -> Cap {
  let across = point.xy;
  let power = occluder.power - 2.0 * (dot(occluder.offset, across) + occluder.along * point.z) + dot(point, point);
  // Power < 0: the point is inside. (On the surface, power 0, the cap is half the sky.)
  if (power < 0.0) {
    return Cap(0.0, PI, -PI, vec2<f32>(1.0, 0.0));
  }
  if (front_of(point, light, occluder) <= 0.0) {
    return NO_CAP;
  }
  let cross = cross_of(point, light, disc, occluder);
  let center = vec3<f32>(occluder.offset - across, occluder.along - point.z);
  // Scaled, because the squares of the offset of a small and distant occluder may underflow to zero.
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

// The cap of the ground itself, of radius pi/2 around the downward direction.
fn horizon_cap(point: vec3<f32>, light: Light, disc: Disc, normal: vec3<f32>) -> Cap {
  // On a sphere, point and normal are equal, and the subtracted term is 0.
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

// The occluders in front of one disc: the caps that touch it, none of them inside another.
var<private> total: bool;
var<private> caps: array<Cap, 16>;
var<private> cap_count: u32;
// Set if there are more caps or cones than fit, or if a dispatch would need too many iterations: the CPU computes the result.
var<private> crowded: bool;
// Loop iterations of add() so far.
var<private> effort: u32;

// Maximum of `effort`. lavapipe silently stops a subgroup after 65,535 loop iterations, summed over eight lanes that may diverge.
const MAX_EFFORT: u32 = 1000u;

// Removes all occluders.
fn clear() {
  total = false;
  cap_count = 0u;
  clear_cones();
  crowded = false;
  effort = 0u;
}

// Whether cap and disc have the same centre, up to rounding.
fn concentric(disc: Disc, cap: Cap) -> bool {
  return cap.separation <= CONCENTRIC * disc.radius;
}

// 2^-40, in units of the disc's radius.
const CONCENTRIC: f32 = 0x1p-40;

// 2^-18: caps whose edges differ by less, in units of the disc's radius, count as equal. (In f64 the limit is 2^-40.)
const ALIKE: f32 = 0x1p-18;

// Adds a cap, unless it does not touch the disc or is inside another cap. Removes the caps inside it.
fn add(disc: Disc, cap: Cap) {
  if (cap.radius <= 0.0 || cap.edge >= disc.radius) {
    return;
  }
  if (cap.edge + disc.radius <= 0.0 || (concentric(disc, cap) && cap.radius >= disc.radius)) {
    total = true;
    return;
  }
  effort += 2u * cap_count;
  if (effort > MAX_EFFORT) {
    crowded = true;
    return;
  }
  // Two caps that differ only by rounding have no well-defined chord, so one of them counts as inside the other.
  let slack = ALIKE * disc.radius;
  var inside = 0u;
  for (var i = 0u; i < cap_count; i++) {
    let gap = are_apart(caps[i], cap);
    if (gap + cap.radius <= caps[i].radius + slack) {
      return;
    }
    inside |= u32(gap + caps[i].radius <= cap.radius + slack) << i;
  }
  var kept = 0u;
  for (var i = 0u; i < cap_count; i++) {
    if ((inside >> i & 1u) == 0u) {
      caps[kept] = caps[i];
      kept++;
    }
  }
  cap_count = kept;
  if (cap_count == MAX_CAPS) {
    crowded = true;
    return;
  }
  caps[cap_count] = cap;
  cap_count++;
}

// Total angle of the disc's rim that no cap covers.
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

// Half the solid angle swept by those arcs of the edge of cap i that are on the disc and in no other cap.
fn open_edge(disc: Disc, i: u32) -> f32 {
  let cap = caps[i];
  var half = PI;
  if (cap.separation + cap.radius > disc.radius) {
    half = chord(disc.radius, cap.radius, cap.separation, cap.edge).y;
  }
  span_count = 0u;
  for (var j = 0u; j < cap_count; j++) {
    let other = caps[j];
    let gap = are_apart(cap, other);
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

// Uncovered fraction of the disc, 0...1.
fn uncovered_fraction(disc: Disc) -> f32 {
  if (total) {
    return 0.0;
  }
  if (spheroids && cone_count > 0u) {
    if (cone_count + cap_count > MAX_CONES) {
      crowded = true;
      return 0.0;
    }
    return uncovered_by_cones(disc);
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
      meet = meet || are_apart(cap, caps[j]) < cap.radius + caps[j].radius;
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

// Kinds of coverage: the numbers of ShadowKind in src/shadow/ball.rs.
const KIND_NONE: u32 = 0u;
const KIND_PARTIAL: u32 = 1u;
const KIND_ANNULAR: u32 = 2u;
const KIND_TOTAL: u32 = 3u;
// Kind of coverage; `rest` is the uncovered fraction. If it is 0 the shadow is total, whatever the edges indicate.
fn kind(disc: Disc, rest: f32) -> u32 {
  // For cones that cover the whole disc, left_by() returns exactly 0.
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

// Visible fraction of a point light: 0 or 1.
fn visible_point(cap: Cap) -> f32 {
  return select(1.0, 0.0, cap.edge <= 0.0);
}

// Visible fraction of the light's disc, and the irradiance of horizontal ground, relative to that by the whole light at the zenith.
struct Illumination {
  fraction: f32,
  irradiance: f32,
}

const DARK: Illumination = Illumination(0.0, 0.0);
const FULL: Illumination = Illumination(1.0, 1.0);

// The light of the part of an unoccluded disc that is above the horizon. On the CPU, `irradiance` and `covered` compute it.
fn risen_light(disc: Disc, ground: Cap) -> Illumination {
  let a = disc.radius;
  let height = signed_sine(ground.edge);
  if (ground.edge >= a) {
    return Illumination(1.0, height);
  }
  if (ground.edge + a <= 0.0) {
    return DARK;
  }
  let half = chord(a, ground.radius, ground.separation, ground.edge);
  let v = versine(a);
  // The edge of the ground is a great circle: it has no segment of its own.
  let sunk = clamp(segment(half.x, v) / (PI * v), 0.0, 1.0);
  let area = sine(a);
  let ellipse = area * area * height * angle_minus_sine(2.0 * (PI - half.x));
  let irradiance = (ellipse + angle_minus_sine(2.0 * half.y)) / (TAU * area * area);
  return Illumination(1.0 - sunk, max(irradiance, 0.0));
}
