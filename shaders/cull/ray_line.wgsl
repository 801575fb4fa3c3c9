// A ray prepared for culling: its line, and the slack that covers the errors of culling and of intersection tests. Needs `params` and
// `spheres`.
//
// In the plane perpendicular to the ray, with unit vectors u and v, the line is the point (o.u, o.v), and the distance of a centre from it
// is |(c.u - o.u, c.v - o.v)|: nine operations per pair. Centres and origins are relative to the middle of the scene and scaled by a power
// of two, so that |c|_1 + r is at most 2.
//
// Assume an accuracy of 2 u for sums and products, which is all that WGSL guarantees, 5 u for quotients and 9 u for square roots. Then the
// length of d is off by at most 17 u, which tilts u and v by 34 u together. Their own rounding adds 20 u; the sums and c and o add another
// 20 u. At `fast`, an intersection test may report a hit of a sphere that the line misses by 32 u (E + r). So no intersection test reports
// a hit of a sphere farther away than r + 112 u (|o|_1 + 2). The rays of a thread share the largest of their slacks; the larger slack adds
// candidates but no hits, so results do not depend on a ray's neighbours. Where a device flushes subnormal numbers, each sum may be off by
// another 2^-126, unscaled.

// A line as the point where it intersects the plane perpendicular to it, and its slack.
struct RayLine {
  u: vec3<f32>,
  v: vec3<f32>,
  at: vec2<f32>,
  slack: f32,
}

// A line that no sphere is near, and one that all spheres are near.
const NO_LINE = RayLine(vec3<f32>(0.0, 0.0, 0.0), vec3<f32>(0.0, 0.0, 0.0), vec2<f32>(1e18, 0.0), 0.0);
// Upper bound of the inflation of a ray. A ray that needs more counts as near every sphere.
const MAX_INFLATION: f32 = 1e6;
const ALWAYS = RayLine(vec3<f32>(0.0, 0.0, 0.0), vec3<f32>(0.0, 0.0, 0.0), vec2<f32>(0.0, 0.0), 3.6e16);

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

// The origin relative to the middle of the scene, scaled. Not for rays whose origin is beyond `far`.
fn to_scaled(origin: vec3<f32>) -> vec3<f32> {
  return origin * params.scale - params.middle;
}

fn line_of(ray: Ray) -> RayLine {
  if (largest_of(ray.origin) > params.far) {
    return ALWAYS;
  }
  return line_along(to_scaled(ray.origin), heading_of(ray.direction).d);
}

// The line through `o` along the unit vector `d`. The basis is that of Duff et al. (Building an Orthonormal Basis, Revisited, JCGT 6,
// 2017).
fn line_along(o: vec3<f32>, d: vec3<f32>) -> RayLine {
  let side = select(-1.0, 1.0, d.z >= 0.0);
  let a = -1.0 / (side + d.z);
  let b = d.x * d.y * a;
  let u = vec3<f32>(1.0 + side * d.x * d.x * a, side * b, -side * d.x);
  let v = vec3<f32>(b, side + d.y * d.y * a, -d.y);
  return RayLine(u, v, vec2<f32>(dot3(o, u), dot3(o, v)), 112.0 * U * (norm1(o) + 2.0) + power_of_two(-122) * params.scale);
}

// Centre, relative to the middle of the scene, and radius of the sphere at a position; scaled.
fn sphere_at(i: u32) -> vec4<f32> {
  let sphere = spheres[i];
  return vec4<f32>(sphere.center * params.scale - params.middle, sphere.radius * params.scale);
}

// Lateral inflation, in scaled units, for a ray's attributes and for ellipsoids. Twin of `inflation` in src/cpu/frame.rs. In the space where
// an ellipsoid is a ball, the errors of an intersection test are larger by its slimness: 2^-38 (E + r) for the hit flag, and 32 u (E + r)
// in plain arithmetic.
fn inflation(attributes: RayAttributes, o: vec3<f32>) -> f32 {
  if (attributes.radius > 0.0 && exponent(attributes.radius) + exponent(params.scale) > 60) {
    return 2.0 * MAX_INFLATION;
  }
  let turned = select(0.0, 2.1e-7, norm1(attributes.direction_low) != 0.0);
  let intersect = select(power_of_two(-36), 112.0 * U, fast);
  return attributes.radius * params.scale * 1.000001 + (turned + intersect * params.max_axis_ratio) * (norm1(o) + 4.0);
}

// Inflation along the ray, for ellipsoids. A root has only the digits of f32 at any precision.
fn axial_inflation(o: vec3<f32>) -> f32 {
  return 112.0 * U * params.max_axis_ratio * (norm1(o) + 4.0);
}
