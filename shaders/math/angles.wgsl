// Trigonometric functions with errors of about 1e-7: WGSL guarantees only 2^-11 for sin and 4096 ulp for atan2. Twin of src/math/angles.rs.
//
// The polynomials are those of sinf, cosf and atanf in Cephes (S. Moshier).

const PI: f32 = 3.14159265358979;
const TAU: f32 = 6.28318530717959;
const HALF_PI: f32 = 1.57079632679490;
const QUARTER_PI: f32 = 0.785398163397448;
// pi minus its f32 value above.
const PI_REST: f32 = -8.74227766e-8;

// The sine of an angle in [0, 2 pi].
fn sine(x: f32) -> f32 {
  var y = x;
  var sign = 1.0;
  if (y > PI) {
    y = (TAU - y) + 2.0 * PI_REST;
    sign = -1.0;
  }
  if (y > HALF_PI) {
    y = (PI - y) + PI_REST;
  }
  if (y > QUARTER_PI) {
    let z = (HALF_PI - y) + 0.5 * PI_REST;
    let s = z * z;
    let tail = (2.443315711809948e-5 * s - 1.388731625493765e-3) * s + 4.166664568298827e-2;
    return sign * (1.0 - 0.5 * s + s * s * tail);
  }
  let s = y * y;
  let tail = (-1.9515295891e-4 * s + 8.3321608736e-3) * s - 1.6666654611e-1;
  return sign * (y + y * s * tail);
}

// The angle in [0, pi] of the vector (x, y), for y >= 0; 0 for the vector of length 0.
fn arc(y: f32, x: f32) -> f32 {
  let a = abs(x);
  let low = min(y, a);
  let high = max(y, a);
  if (high <= 0.0) {
    return 0.0;
  }
  var z = low / high;
  var base = 0.0;
  if (z > 0.414213562) {
    // atan(z) = pi/4 + atan((z - 1) / (z + 1)); the quotient is computed from `low` and `high`, not from the rounded z.
    z = (low - high) / (low + high);
    base = QUARTER_PI;
  }
  let s = z * z;
  let tail = ((8.05374449538e-2 * s - 1.38776856032e-1) * s + 1.99777106478e-1) * s - 3.33329491539e-1;
  var angle = base + (z + z * s * tail);
  if (y > a) {
    angle = (HALF_PI - angle) + 0.5 * PI_REST;
  }
  if (x < 0.0) {
    angle = (PI - angle) + PI_REST;
  }
  return angle;
}

// 1 - cos x, without cancellation.
fn versine(x: f32) -> f32 {
  let half = sine(0.5 * x);
  return 2.0 * half * half;
}

// x - sin x for x in [0, 2 pi], to full relative accuracy near 0.
fn angle_minus_sine(x: f32) -> f32 {
  if (x < 1.0) {
    let s = x * x;
    let tail = 1.0 - s / 72.0 * (1.0 - s / 110.0);
    return x * s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * tail));
  }
  return x - sine(x);
}

// x - atan x for |x| <= 1/4, to full relative accuracy near 0.
fn x_minus_arctangent(x: f32) -> f32 {
  let s = x * x;
  let tail = 1.0 / 9.0 - s * (1.0 / 11.0 - s * (1.0 / 13.0 - s / 15.0));
  return x * s * (1.0 / 3.0 - s * (1.0 / 5.0 - s * (1.0 / 7.0 - s * tail)));
}
