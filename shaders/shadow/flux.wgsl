// Visible flux of a light with limb darkening. Twin of src/shadow/coverage/flux.rs, which explains the integral over rings, with two
// differences, because an accuracy of 10^-3 suffices. A ring is numbered by the fraction y of the disc's solid angle inside it, so that no
// ring needs a weight besides its brightness. The nodes between two limits are fixed.

// False in shadow/uniform_light.wgsl, which replaces this file for a light of uniform brightness.
const darkens: bool = true;

// The coefficients u1 and u2.
var<private> limb: vec2<f32>;

// Brightness at `mu`, 0...1, relative to the centre of the disc.
fn intensity(mu: f32) -> f32 {
  let aside = 1.0 - mu;
  return max(1.0 - aside * (limb.x + limb.y * aside), 0.0);
}

// For a disc of angular radius a, mu^2 = (1 - y) (1 - y tan^2(a/2)). This is tan^2(a/2).
fn half_tangent_squared(disc: Disc) -> f32 {
  let v = versine(disc.radius);
  return v / (2.0 - v);
}

// mu at a ring; `rest` is the square root of 1 - y.
fn mu_at(half_tangent_squared: f32, rest: f32) -> f32 {
  return rest * sqrt(max(1.0 - half_tangent_squared + half_tangent_squared * rest * rest, 0.0));
}

// Integral of the brightness over the rings up to y. In the square root of 1 - y, three nodes of Gauss are exact for a small disc.
fn brightness_within(disc: Disc, y: f32) -> f32 {
  let k = half_tangent_squared(disc);
  let rest = sqrt(max(1.0 - y, 0.0));
  let half = 0.5 * (1.0 - rest);
  let middle = 0.5 * (1.0 + rest);
  let aside = 0.774596669 * half;
  let low = (middle - aside) * intensity(mu_at(k, middle - aside));
  let high = (middle + aside) * intensity(mu_at(k, middle + aside));
  return half * (8.0 * middle * intensity(mu_at(k, middle)) + 5.0 * (low + high)) * (2.0 / 9.0);
}

// Whether shadow/cones.wgsl weighs a disc by its brightness; `whole` is then that of the whole disc.
var<private> weighs: bool;
var<private> whole: f32;

// The part of the light that comes from the fraction y of the solid angle around the centre.
fn light_within(disc: Disc, y: f32) -> f32 {
  if (!weighs) {
    return y;
  }
  return brightness_within(disc, y) / whole;
}

// Rings at which the share is not analytic, ascending. A cap has two, and two caps intersect in two points. The CPU computes discs with
// more caps.
const MAX_RINGED_CAPS: u32 = 4u;
const MAX_LIMITS: u32 = 20u;
var<private> limits: array<f32, MAX_LIMITS>;
var<private> limit_count: u32;

fn add_limit(y: f32) {
  if (y <= 0.0 || y >= 1.0 || limit_count == MAX_LIMITS) {
    return;
  }
  var at = limit_count;
  while (at > 0u && limits[at - 1u] > y) {
    limits[at] = limits[at - 1u];
    at--;
  }
  limits[at] = y;
  limit_count++;
}

fn find_limits(disc: Disc) {
  limit_count = 0u;
  // Squares are computed from quotients, because the square of the radius of a small disc may underflow to zero.
  let half_disc = sine(0.5 * disc.radius);
  // Two caps intersect in two points, of which each cap adds the one to the left of the other's centre. One loop: the compiler of
  // SwiftShader does not come to an end if there are two.
  let columns = cap_count + 1u;
  for (var pair = 0u; pair < cap_count * columns; pair++) {
    let i = pair / columns;
    let j = pair % columns;
    let cap = caps[i];
    var ring = 0.0;
    if (j == i || j == cap_count) {
      // The nearest and the farthest point of the cap's own edge.
      let edge = select(min(cap.separation + cap.radius, disc.radius), abs(cap.edge), j == i);
      let half = sine(0.5 * edge) / half_disc;
      ring = half * half;
    } else {
      let other = caps[j];
      let gap = are_apart(cap, other);
      if (gap < cap.radius + other.radius) {
        let p = edge_point(cap, bearing(cap, other) - common_chord(cap.radius, other.radius, gap));
        // The length of p is the tangent of half the ring's radius.
        ring = dot(p / half_disc, p / half_disc) / (1.0 + dot(p, p));
      }
    }
    add_limit(ring);
  }
}

// Share of a ring that no cap covers. A ring is the rim of a smaller disc.
fn open_share(disc: Disc, y: f32) -> f32 {
  let half = sine(0.5 * disc.radius) * sqrt(y);
  let ring = 2.0 * arc(half, sqrt(max((1.0 - half) * (1.0 + half), 0.0)));
  return open_rim(Disc(disc.toward, disc.power, ring)) / TAU;
}

const RING_NODES: u32 = 10u;
// Rounding changes a share by less than this.
const SHARE_ROUNDING: f32 = 1e-5;

// The part of a disc with a positive radius that is visible past the occluders, 0...1: of its flux if `darkened`, else of its area.
fn visible_light(disc: Disc, darkened: bool) -> f32 {
  if (total) {
    return 0.0;
  }
  whole = brightness_within(disc, 1.0);
  if (darkened && whole <= 0.0) {
    return 0.0;
  }
  weighs = darkened && spheroids && cone_count > 0u;
  if (weighs || !darkened) {
    return uncovered_fraction(disc);
  }
  if (cap_count > MAX_RINGED_CAPS) {
    crowded = true;
    return 0.0;
  }
  find_limits(disc);
  let k = half_tangent_squared(disc);
  var sum = 0.0;
  var before = 0.0;
  var within_before = 0.0;
  for (var i = 0u; i <= limit_count; i++) {
    var after = 1.0;
    if (i < limit_count) {
      after = limits[i];
    }
    let width = after - before;
    let within = brightness_within(disc, after);
    // The first node is in the middle. The others are dense at both ends, where the share may behave like a square root.
    for (var node = 0u; node <= RING_NODES; node++) {
      let at = select((f32(node) - 0.5) / f32(RING_NODES), 0.5, node == 0u);
      let y = before + width * clamp(at - sine(TAU * at) / TAU, 0.0, 1.0);
      let share = open_share(disc, y);
      if (node > 0u) {
        let weight = versine(TAU * at) / f32(RING_NODES);
        sum += width * weight * intensity(mu_at(k, sqrt(max(1.0 - y, 0.0)))) * share;
        continue;
      }
      // Between two limits, caps cover some of each ring, or all of each, or nothing of any.
      if (share >= 1.0 - SHARE_ROUNDING) {
        sum += within - within_before;
      }
      if (share <= SHARE_ROUNDING || share >= 1.0 - SHARE_ROUNDING) {
        break;
      }
    }
    before = after;
    within_before = within;
  }
  return clamp(sum / whole, 0.0, 1.0);
}
