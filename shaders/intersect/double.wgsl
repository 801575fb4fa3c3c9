// Double-length roots with error bounds: pairs of f32 here, f64 in the twin src/intersect/double.rs. The bounds are those measured for this
// order of operations, doubled.

struct DoubleRoots {
  // The roots as pairs of f32, scaled: t is 2^shift times the root.
  enter: vec2<f32>,
  exit: vec2<f32>,
  enter_bound: f32,
  exit_bound: f32,
  shift: i32,
}

fn add2(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let s = two_sum(a.x, b.x);
  let t = two_sum(a.y, b.y);
  let q = quick_two_sum(s.x, s.y + t.x);
  return quick_two_sum(q.x, q.y + t.y);
}

fn mul2(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let p = two_product(a.x, b.x);
  return quick_two_sum(p.x, p.y + (a.x * b.y + a.y * b.x));
}

fn mul2f(a: vec2<f32>, f: f32) -> vec2<f32> {
  let p = two_product(a.x, f);
  return quick_two_sum(p.x, p.y + a.y * f);
}

// b.x must not be 0.
fn div2(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let q1 = a.x / b.x;
  let r1 = add2(a, -mul2f(b, q1));
  let q2 = r1.x / b.x;
  let r2 = add2(r1, -mul2f(b, q2));
  return add2(quick_two_sum(q1, q2), vec2<f32>(r2.x / b.x, 0.0));
}

fn sqrt2(a: vec2<f32>) -> vec2<f32> {
  if (a.x <= 0.0) {
    return vec2<f32>(0.0, 0.0);
  }
  let x = square_root(a.x, !rounds_correctly);
  let r = add2(a, -two_product(x, x));
  return quick_two_sum(x, quotient(r.x, x + x, !rounds_correctly));
}

// Dot product of a vector with itself; the vector is given as high and low parts.
fn square2(high: vec3<f32>, low: vec3<f32>) -> vec2<f32> {
  let x = vec2<f32>(high.x, low.x);
  let y = vec2<f32>(high.y, low.y);
  let z = vec2<f32>(high.z, low.z);
  return add2(add2(mul2(x, x), mul2(y, y)), mul2(z, z));
}

fn double_roots(s: ScaledPair) -> DoubleRoots {
  let zero3 = vec3<f32>(0.0, 0.0, 0.0);
  let a = square2(s.d, zero3);
  let ex = vec2<f32>(s.eh.x, s.el.x);
  let ey = vec2<f32>(s.eh.y, s.el.y);
  let ez = vec2<f32>(s.eh.z, s.el.z);
  let b = add2(add2(mul2f(ex, s.d.x), mul2f(ey, s.d.y)), mul2f(ez, s.d.z));
  let k = div2(b, a);
  let px = add2(ex, -mul2f(k, s.d.x));
  let py = add2(ey, -mul2f(k, s.d.y));
  let pz = add2(ez, -mul2f(k, s.d.z));
  let rr = two_product(s.r, s.r);
  let disc = add2(rr, -square2(vec3<f32>(px.x, py.x, pz.x), vec3<f32>(px.y, py.y, pz.y)));
  let constant = add2(square2(s.eh, s.el), -rr);
  let w = sqrt2(mul2(a, disc));
  let q = add2(b, select(w, -w, b.x < 0.0));
  let shift = s.length - s.direction;
  if (q.x == 0.0 || constant.x == 0.0 || disc.x <= 0.0) {
    // A root at the origin, or a tangent: the sign is indistinguishable from rounding errors.
    let unknown = vec2<f32>(0.0, 0.0);
    return DoubleRoots(unknown, unknown, 1.0, 1.0, shift);
  }
  let near = div2(constant, q);
  let far = div2(q, a);
  // Error bound: |δt/t| <= 2 V, V = 2^-46 ((E + r) r / (h Q) + (E + r) / Q + g), with g only for the root nearer to the origin.
  let e = norm1(s.eh) + s.r;
  let h = sqrt(disc.x);
  let reach_q = abs(k.x) * sqrt(a.x) + h;
  let v = power_of_two(-46) * (e * s.r / (h * reach_q) + e / reach_q);
  let g = power_of_two(-46) * (e * e / abs(constant.x));
  let far_bound = 4.0 * v * abs(far.x);
  let near_bound = 4.0 * (v + g) * abs(near.x);
  if (near.x <= far.x) {
    return DoubleRoots(near, far, near_bound, far_bound, shift);
  }
  return DoubleRoots(far, near, far_bound, near_bound, shift);
}

// Bits of a root rounded once to f32, or TAG_ROUND if the bound does not prove the rounding.
fn round_root(root: vec2<f32>, bound: f32, shift: i32) -> u32 {
  let v = quick_two_sum(root.x, root.y);
  let bits = bitcast<u32>(v.x);
  let biased = i32((bits >> 23u) & 0xffu) + shift;
  if (v.x == 0.0 || biased <= 1 || biased >= 254) {
    return TAG_UNROUNDED;
  }
  // Half the gap to the next f32 towards 0, which is never more than half the gap on the other side.
  let half = abs(v.x - bitcast<f32>(bits - 1u)) * 0.5;
  if (abs(v.y) + bound >= half * 0.9999) {
    return TAG_UNROUNDED;
  }
  return (bits & 0x807fffffu) | (u32(biased) << 23u);
}
