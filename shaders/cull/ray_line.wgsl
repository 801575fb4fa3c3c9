// A ray as filters see it: a line, and how far what a solve makes of it may be off. Needs `params` and `spheres`.
//
// In the plane perpendicular to a ray, with the unit vectors u and v, the line is the point (o.u, o.v) and the distance of a
// centre from it is |(c.u - o.u, c.v - o.v)|: nine operations a pair. Centres and origins are taken from the middle of the
// scene and scaled by a power of two, so that |c|_1 + r is at most 2.
//
// With sums and products within 2 u, which is all that WGSL promises, quotients within 5 u and roots within 9 u, d's length
// is off by 17 u at most, which tilts u and v by 34 u together; their own rounding adds 20 u, the sums and c and o another 20.
// `fast` may call met what misses by 32 u (E + r). So what is farther than r + 112 u (|o|_1 + 2) is met by no solve, whatever
// the other rays of a thread add to the slack that they share: an answer must not depend on a ray's neighbours.
// Where a device flushes subnormal numbers, each sum may be off by 2^-126 besides, unscaled.

// A ray as the point where it pierces the plane perpendicular to it.
struct Line {
  u: vec3<f32>,
  v: vec3<f32>,
  at: vec2<f32>,
  slack: f32,
}

// A line that no sphere is near, and one that all are near.
const NEVER = Line(vec3<f32>(0.0, 0.0, 0.0), vec3<f32>(0.0, 0.0, 0.0), vec2<f32>(1e18, 0.0), 0.0);
// More than this a ray may not grow: it comes near everything.
const GROWN: f32 = 1e6;
const ALWAYS = Line(vec3<f32>(0.0, 0.0, 0.0), vec3<f32>(0.0, 0.0, 0.0), vec2<f32>(0.0, 0.0), 3.6e16);

// A direction as a unit vector, and its length: `length`, from 1 to 1.8, times 2^`power`.
struct Heading {
  d: vec3<f32>,
  length: f32,
  power: i32,
}

fn heading_of(direction: vec3<f32>) -> Heading {
  let lift = select(0, 24, largest_of(direction) < power_of_two(-100));
  let lifted = direction * power_of_two(lift);
  let e = exponent(clamp(largest_of(lifted), power_of_two(-126), power_of_two(126)));
  let scaled = lifted * power_of_two(-e);
  let length = sqrt(dot3(scaled, scaled));
  return Heading(scaled / length, length, e - lift);
}

// The origin from the middle of the scene and scaled; not of rays from beyond `far`.
fn framed(origin: vec3<f32>) -> vec3<f32> {
  return origin * params.scale - params.middle;
}

fn line_of(ray: Ray) -> Line {
  if (largest_of(ray.origin) > params.far) {
    return ALWAYS;
  }
  return line_along(framed(ray.origin), heading_of(ray.direction).d);
}

// The basis is Duff and others' (Building an Orthonormal Basis, Revisited, JCGT 6, 2017).
fn line_along(o: vec3<f32>, d: vec3<f32>) -> Line {
  let side = select(-1.0, 1.0, d.z >= 0.0);
  let a = -1.0 / (side + d.z);
  let b = d.x * d.y * a;
  let u = vec3<f32>(1.0 + side * d.x * d.x * a, side * b, -side * d.x);
  let v = vec3<f32>(b, side + d.y * d.y * a, -d.y);
  return Line(u, v, vec2<f32>(dot3(o, u), dot3(o, v)), 112.0 * U * (norm1(o) + 2.0) + power_of_two(-122) * params.scale);
}

// Centre and radius, from the middle of the scene and scaled.
fn sphere_at(i: u32) -> vec4<f32> {
  let sphere = spheres[i];
  return vec4<f32>(sphere.center * params.scale - params.middle, sphere.radius * params.scale);
}

// By how much more, in scaled units, a sphere may be off a ray that brings something along: twin of `growth` in src/cpu/cull.rs.
// Where an ellipsoid is a ball, what a solve gets wrong grows with its slimness: 2^-38 (E + r) of the flag, and 32 u of the plain one.
fn growth(extra: Extra, o: vec3<f32>) -> f32 {
  if (extra.radius > 0.0 && exponent(extra.radius) + exponent(params.scale) > 60) {
    return 2.0 * GROWN;
  }
  let turned = select(0.0, 2.1e-7, norm1(extra.low) != 0.0);
  let solve = select(power_of_two(-36), 112.0 * U, fast);
  return extra.radius * params.scale * 1.000001 + (turned + solve * params.slimness) * (norm1(o) + 4.0);
}

// The same along the ray: a root has f32's digits, whatever solves it.
fn lengthened(o: vec3<f32>) -> f32 {
  return 112.0 * U * params.slimness * (norm1(o) + 4.0);
}
