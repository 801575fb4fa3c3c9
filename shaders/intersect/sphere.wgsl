// Intersection of one ray and one sphere: both roots, and error bounds of the roots and of the discriminant. Twin of
// src/intersect/sphere.rs: same functions, same order, same operations, except the corrections of quotients and roots. The sources and the
// bounds are given there. `has_motion_or_shape` is whether anything may move: intersect/no_motion.wgsl sets it to false,
// intersect/attributes.wgsl lets the host set it.

// Whether the device rounds quotients and square roots correctly; the host sets it. WGSL allows errors of 2.5 units in the last place of a
// quotient and 4.5 of a root, which the bounds below do not cover. If it is not set, the programs correct them. The CPU needs no correction.
override rounds_correctly: bool = false;

struct ScaledPair {
  eh: vec3<f32>,
  el: vec3<f32>,
  d: vec3<f32>,
  r: f32,
  // Low parts of direction and radius, and error bound of eh + el; read only if `has_motion_or_shape`.
  dl: vec3<f32>,
  rl: f32,
  position_error: f32,
  length: i32,
  direction: i32,
}

struct Foot {
  k: f32,
  dk: f32,
  p: vec3<f32>,
  disc: f32,
}

struct SphereRoots {
  disc: f32,
  disc_bound: f32,
  t_enter: f32,
  t_exit: f32,
  enter_bound: f32,
  exit_bound: f32,
  foot: f32,
  foot_bound: f32,
}

struct HighLow {
  high: vec3<f32>,
  low: vec3<f32>,
}

fn largest_of(v: vec3<f32>) -> f32 {
  return max(max(abs(v.x), abs(v.y)), abs(v.z));
}

// a / b, off by at most 0.51 units in the last place if `corrects`: one step with the exact remainder.
fn quotient(a: f32, b: f32, corrects: bool) -> f32 {
  let q = a / b;
  if (!corrects) {
    return q;
  }
  let p = two_product(q, b);
  return q + (opaque(a - p.x) - p.y) / b;
}

// The square root of x, likewise.
fn square_root(x: f32, corrects: bool) -> f32 {
  let w = sqrt(x);
  if (!corrects || w == 0.0) {
    return w;
  }
  let p = two_product(w, w);
  return w + (opaque(x - p.x) - p.y) / (w + w);
}

// Scales a pair; every factor is a power of two, so nothing is rounded.
fn scale(ray: Ray, sphere: Sphere) -> ScaledPair {
  let m = max(max(largest_of(ray.origin), largest_of(sphere.center)), sphere.radius);
  var before = 0;
  if (m >= power_of_two(125)) {
    // If the large coordinates are equal, the result depends on small ones: scaling must not flush them.
    let s = power_of_two(-3);
    let near = max(largest_of(sphere.center * s - ray.origin * s), sphere.radius * s);
    before = select(-3, 0, near < power_of_two(100));
  } else if (m < power_of_two(-60)) {
    before = 60;
  }
  let s = power_of_two(before);
  // A compiler may turn c s - o s into (c - o) s, which can exceed f32.
  let o = opaque3(ray.origin * s);
  let c = opaque3(sphere.center * s);
  let x = two_sum(c.x, -o.x);
  let y = two_sum(c.y, -o.y);
  let z = two_sum(c.z, -o.z);
  let eh = vec3<f32>(x.x, y.x, z.x);
  let el = vec3<f32>(x.y, y.y, z.y);
  return normalize_range(ScaledPair(eh, el, ray.direction, sphere.radius * s, vec3<f32>(0.0), 0.0, 0.0, -before, 0));
}

// Scales lengths and directions to near 1, by powers of two.
fn normalize_range(s: ScaledPair) -> ScaledPair {
  let e = clamp(max(largest_of(s.eh), s.r), power_of_two(-126), power_of_two(126));
  let se = power_of_two(-exponent(e));
  // A direction that may have subnormal components is multiplied by 2^24 first.
  let lift = select(0, 24, largest_of(s.d) < power_of_two(-100));
  let lifted = s.d * power_of_two(lift);
  let g = clamp(largest_of(lifted), power_of_two(-126), power_of_two(126));
  let sd = power_of_two(-exponent(g));
  return ScaledPair(
    s.eh * se,
    s.el * se,
    lifted * sd,
    s.r * se,
    (s.dl * power_of_two(lift)) * sd,
    s.rl * se,
    s.position_error * se,
    exponent(e) + s.length,
    exponent(g) - lift + s.direction,
  );
}

// x * 2^n. Overflow saturates to the largest f32, underflow becomes 0.
fn unscale(x: f32, n: i32) -> f32 {
  let bits = bitcast<u32>(x);
  let e = i32((bits >> 23u) & 0xffu) + n;
  if (x == 0.0 || e < -24) {
    return 0.0;
  }
  if (e >= 255) {
    return bitcast<f32>((bits & 0x80000000u) | 0x7f7fffffu);
  }
  if (e >= 1) {
    return bitcast<f32>((bits & 0x807fffffu) | (u32(e) << 23u));
  }
  return bitcast<f32>((bits & 0x807fffffu) | (u32(e + 100) << 23u)) * power_of_two(-100);
}

fn foot_fast(s: ScaledPair) -> Foot {
  let k = dot3(s.eh, s.d) / dot3(s.d, s.d);
  let p = s.eh - k * s.d;
  return Foot(k, 0.0, p, s.r * s.r - dot3(p, p));
}

// Vector from the point at parameter k to the centre, as high and low parts.
fn perpendicular(s: ScaledPair, k: f32) -> HighLow {
  let mx = two_product(k, s.d.x);
  let my = two_product(k, s.d.y);
  let mz = two_product(k, s.d.z);
  let hx = two_sum(s.eh.x, -mx.x);
  let hy = two_sum(s.eh.y, -my.x);
  let hz = two_sum(s.eh.z, -mz.x);
  let low = vec3<f32>((hx.y - mx.y) + s.el.x, (hy.y - my.y) + s.el.y, (hz.y - mz.y) + s.el.z);
  if (has_motion_or_shape) {
    return HighLow(vec3<f32>(hx.x, hy.x, hz.x), low - k * s.dl);
  }
  return HighLow(vec3<f32>(hx.x, hy.x, hz.x), low);
}

// r^2 as high and low parts.
fn square_of_radius(s: ScaledPair) -> vec2<f32> {
  let rr = two_product(s.r, s.r);
  if (has_motion_or_shape) {
    return vec2<f32>(rr.x, rr.y + (s.r + s.r) * s.rl);
  }
  return rr;
}

// r^2 - |h + l|^2, corrected for the errors of the squares, in .w; the rounded sum h + l in .xyz.
fn difference_of_squares(s: ScaledPair, v: HighLow) -> vec4<f32> {
  let rr = square_of_radius(s);
  let x = quick_two_sum(v.high.x, v.low.x);
  let y = quick_two_sum(v.high.y, v.low.y);
  let z = quick_two_sum(v.high.z, v.low.z);
  let mx = two_product(x.x, x.x);
  let tx = two_sum(rr.x, -mx.x);
  let my = two_product(y.x, y.x);
  let ty = two_sum(tx.x, -my.x);
  let mz = two_product(z.x, z.x);
  let tz = two_sum(ty.x, -mz.x);
  var rest = rr.y + (tx.y - ((x.x + x.x) * x.y + mx.y));
  rest = rest + (ty.y - ((y.x + y.x) * y.y + my.y));
  rest = rest + (tz.y - ((z.x + z.x) * z.y + mz.y));
  return vec4<f32>(x.x, y.x, z.x, tz.x + rest);
}

fn foot_compensated(s: ScaledPair) -> Foot {
  let a = dot3(s.d, s.d);
  let k = dot3(s.eh, s.d) / a;
  let v = perpendicular(s, k);
  var rest = dot3(v.high, s.d) + dot3(v.low, s.d);
  if (has_motion_or_shape) {
    rest = rest + dot3(v.high, s.dl);
  }
  let dk = rest / a;
  let q = difference_of_squares(s, HighLow(v.high, v.low - dk * s.d));
  return Foot(k, dk, q.xyz, q.w);
}

// |e|^2 - r^2, corrected for the errors of the squares.
fn constant_compensated(s: ScaledPair) -> f32 {
  let mx = two_product(s.eh.x, s.eh.x);
  let my = two_product(s.eh.y, s.eh.y);
  let mz = two_product(s.eh.z, s.eh.z);
  let rr = square_of_radius(s);
  let ty = two_sum(mx.x, my.x);
  let tz = two_sum(ty.x, mz.x);
  let tr = two_sum(tz.x, -rr.x);
  var rest = mx.y + (my.y + ty.y);
  rest = rest + (mz.y + tz.y);
  rest = rest + (tr.y - rr.y);
  rest = rest + 2.0 * dot3(s.eh, s.el);
  return tr.x + rest;
}

// Both roots from the foot and the constant term, by the quotients that avoid cancellation; `corrects` them or not.
fn roots(s: ScaledPair, foot: Foot, constant: f32, corrects: bool) -> vec2<f32> {
  let square = dot3(s.d, s.d);
  var a = square;
  var more = 0.0;
  if (has_motion_or_shape) {
    more = 2.0 * dot3(s.d, s.dl);
    a = a + more;
  }
  let w = square_root(max(a * foot.disc, 0.0), corrects);
  var along = dot3(s.eh, s.d);
  if (corrects) {
    // `dk` corrects the product of `k` and the square. If `k` is an inexact quotient, or the dot product is fused in another way, they differ.
    along = foot.k * square;
  }
  var b = along + foot.dk * a;
  if (has_motion_or_shape) {
    b = b + foot.k * more;
  }
  let q = b + select(w, -w, b < 0.0);
  if (q == 0.0) {
    return vec2<f32>(0.0, 0.0);
  }
  let t0 = quotient(constant, q, corrects);
  let t1 = quotient(q, a, corrects);
  return vec2<f32>(min(t0, t1), max(t0, t1));
}

fn finish(s: ScaledPair, foot: Foot, t: vec2<f32>, disc_bound: f32, bounds: vec2<f32>, foot_bound: f32) -> SphereRoots {
  let shift = s.length - s.direction;
  let tiny = power_of_two(-125);
  return SphereRoots(
    foot.disc,
    disc_bound,
    unscale(t.x, shift),
    unscale(t.y, shift),
    unscale(bounds.x, shift) + tiny,
    unscale(bounds.y, shift) + tiny,
    unscale(foot.k + foot.dk, shift),
    unscale(foot_bound, shift) + tiny,
  );
}

// Largest distance of a root of an undecided pair from the foot, in units of the scaled t: half the longest chord that the discriminant
// allows, plus the error of the foot.
fn half_chord_bound(s: ScaledPair, foot: Foot, disc_bound: f32) -> f32 {
  var half = sqrt(abs(foot.disc) + disc_bound) * 1.01;
  if (has_motion_or_shape) {
    half = half + 4.0 * s.position_error;
  }
  return (half + 32.0 * U * (norm1(s.eh) + s.r)) / sqrt(dot3(s.d, s.d));
}

// Whether ray and sphere do not move relative to each other.
fn has_no_relative_direction(s: ScaledPair) -> bool {
  return s.d.x == 0.0 && s.d.y == 0.0 && s.d.z == 0.0;
}

// Roots of such a pair. A ray inside the sphere is inside at all times: the roots are -+FAR.
fn roots_without_direction(s: ScaledPair) -> SphereRoots {
  let q = difference_of_squares(s, HighLow(s.eh, s.el));
  let e = norm1(s.eh) + s.r;
  let bound = power_of_two(-39) * e * e + 8.0 * s.position_error * e + 4.0 * s.position_error * s.position_error;
  return SphereRoots(q.w, bound, -FAR, FAR, 0.0, 0.0, 0.0, FAR);
}

// Errors that follow from the position error of a moving pair: here of the discriminant, below of a root.
fn position_error_bounds(s: ScaledPair, foot: Foot) -> f32 {
  return 4.0 * s.position_error * (norm1(foot.p) + s.r) + 4.0 * s.position_error * s.position_error;
}

fn position_error_along(s: ScaledPair, h: f32) -> f32 {
  return 4.0 * s.position_error * (1.0 + s.r / h) / sqrt(dot3(s.d, s.d));
}

fn intersect_fast(s: ScaledPair) -> SphereRoots {
  if (has_motion_or_shape && has_no_relative_direction(s)) {
    return roots_without_direction(s);
  }
  let foot = foot_fast(s);
  let constant = dot3(s.eh, s.eh) - s.r * s.r;
  let e = norm1(s.eh) + s.r;
  var disc_bound = 24.0 * U * e * (norm1(foot.p) + s.r) + power_of_two(-38) * e * e;
  let h = sqrt(max(foot.disc, power_of_two(-80)));
  var bound = 33.0 * U * (e + e * s.r / h) / sqrt(dot3(s.d, s.d));
  if (has_motion_or_shape) {
    disc_bound = disc_bound + position_error_bounds(s, foot);
    bound = bound + position_error_along(s, h);
  }
  return finish(s, foot, roots(s, foot, constant, false), disc_bound, vec2<f32>(bound, bound), half_chord_bound(s, foot, disc_bound));
}

fn intersect_compensated(s: ScaledPair) -> SphereRoots {
  if (has_motion_or_shape && has_no_relative_direction(s)) {
    return roots_without_direction(s);
  }
  let foot = foot_compensated(s);
  let e = norm1(s.eh) + s.r;
  var disc_bound = power_of_two(-39) * e * (norm1(foot.p) + s.r) + power_of_two(-80) * e * e;
  let t = roots(s, foot, constant_compensated(s), !rounds_correctly);
  let h = sqrt(max(foot.disc, power_of_two(-80)));
  var grazing = 10.0 * U * s.r * s.r / (h * sqrt(dot3(s.d, s.d)));
  if (has_motion_or_shape) {
    disc_bound = disc_bound + position_error_bounds(s, foot);
    grazing = grazing + position_error_along(s, h);
  }
  let bounds = vec2<f32>(10.0 * U * abs(t.x) + grazing, 10.0 * U * abs(t.y) + grazing);
  return finish(s, foot, t, disc_bound, bounds, half_chord_bound(s, foot, disc_bound));
}

// Distance to the centre minus radius at parameter t, from compensated differences. t is finite; t and the result are not scaled.
fn clearance_at(s: ScaledPair, t: f32) -> f32 {
  let lift = select(0, 24, abs(t) < power_of_two(-100));
  let lifted = t * power_of_two(lift);
  let k = unscale(lifted, s.direction - s.length - lift);
  if (abs(k) > power_of_two(30)) {
    // So far away that the sphere is a point: k * d may exceed f32, and so may its square.
    let length = sqrt(dot3(s.d, s.d));
    let along = dot3(s.eh, s.d) / length;
    // 2^-127 is not a normal f32.
    let e = min(exponent(lifted), 126);
    let far = unscale(abs(lifted) * power_of_two(-e) * length, e - lift + s.direction);
    let near = unscale(s.r + select(along, -along, k < 0.0), s.length);
    return select(far - near, far, far >= FAR);
  }
  let q = difference_of_squares(s, perpendicular(s, k));
  return clearance(s, q.w, q.xyz);
}

// |p| - r, computed as -disc / (|p| + r), which is accurate near the surface; not scaled.
fn clearance(s: ScaledPair, disc: f32, p: vec3<f32>) -> f32 {
  let sum = sqrt(dot3(p, p)) + s.r;
  if (sum == 0.0) {
    return 0.0;
  }
  return unscale(-disc / sum, s.length);
}

// Parameter of the point of the ray, between its ends, that is nearest to the sphere's centre, and the clearance there.
fn closest_approach(s: ScaledPair, t_min: f32, t_max: f32) -> vec2<f32> {
  if (has_motion_or_shape && has_no_relative_direction(s)) {
    let q = difference_of_squares(s, HighLow(s.eh, s.el));
    return vec2<f32>(t_min, clearance(s, q.w, q.xyz));
  }
  let foot = foot_compensated(s);
  let sum = two_sum(foot.k, foot.dk);
  let t = unscale(sum.x, s.length - s.direction);
  // A foot whose t rounds to an end may still be outside: its rest decides. A saturated t may stand for any larger one.
  let rest = select(0.0, sum.y, abs(t) < FAR);
  if (t < t_min || (t == t_min && rest < 0.0)) {
    return vec2<f32>(t_min, clearance_at(s, t_min));
  }
  if (t > t_max || (t == t_max && rest > 0.0)) {
    return vec2<f32>(t_max, clearance_at(s, t_max));
  }
  return vec2<f32>(t, clearance(s, foot.disc, foot.p));
}
