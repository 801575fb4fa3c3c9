// Shading of one ray of a picture. Twin of src/shadow/picture/shade.rs: same functions, same order, except that the nearest sphere comes
// from the intersection that all queries share. shadow/lists.wgsl or shadow/tree.wgsl finds the bodies: first_body, visible_point_of,
// light_at and pattern_of.

// Appearance of a body: the rows of the rotation that takes its pole to z, the strength of its swirl, and the range of its colours.
struct SurfacePattern {
  x: vec3<f32>,
  swirl: f32,
  y: vec3<f32>,
  first: u32,
  z: vec3<f32>,
  count: u32,
}

// Uniforms of a dispatch.
struct RenderUniforms {
  size: vec2<u32>,
  first_pixel: u32,
  pixels: u32,
  half: vec2<f32>,
  // Position of the sample in each pixel, 0...1 from its upper left corner.
  within: vec2<f32>,
  // The camera's axes, for the starfield.
  right: vec3<f32>,
  pixel: f32,
  up: vec3<f32>,
  stars: f32,
  forward: vec3<f32>,
  exposure: f32,
  light: vec3<f32>,
  ambient: f32,
  background: vec3<f32>,
  // The light's id.
  light_id: u32,
  // A `Projection` of the camera.
  projection: u32,
  // 1: this dispatch computes t, id and fraction at the pixels' centres; 0: it adds a sample to their colours.
  middle: u32,
  // 1 if the sums start here.
  fresh: u32,
  // The grid with the lists of spheres per tile of the picture. This and the number of spheroids are for shadow/lists.wgsl.
  first_list: u32,
  columns: u32,
  level: u32,
  // Number of spheroids.
  figures: u32,
  // Number of nodes of the BVH.
  nodes: u32,
  // Limb darkening.
  limb: vec2<f32>,
}

// Position of a pixel's sample in the picture, from (-1, -1) at the lower left to (1, 1).
fn place_of(pixel: u32) -> vec2<f32> {
  let corner = vec2<u32>(pixel % uniforms.size.x, pixel / uniforms.size.x);
  // Integers are subtracted first, so no precision is lost near the centre of the picture.
  let twice = vec2<f32>(vec2<i32>(2u * corner) - vec2<i32>(uniforms.size)) + 2.0 * uniforms.within;
  return vec2<f32>(twice.x, -twice.y) / vec2<f32>(uniforms.size);
}

// The ray through a position in the picture.
fn pixel_ray(place: vec2<f32>) -> Ray {
  return projection_ray(uniforms.projection, place * uniforms.half);
}

// Outward unit normal where a ray enters a sphere, from the foot of the perpendicular.
fn normal_at(s: ScaledPair) -> vec3<f32> {
  var foot = Foot(0.0, 0.0, vec3<f32>(0.0, 0.0, 1.0), 0.0);
  if (fast) {
    foot = foot_fast(s);
  } else {
    foot = foot_compensated(s);
  }
  let h = sqrt(max(foot.disc, 0.0));
  let n = -(foot.p + s.d * (h / sqrt(dot(s.d, s.d))));
  return n / sqrt(max(dot(n, n), 1e-30));
}

// A surface point: the outward unit normal, and the position relative to the body's centre in units of the radius of its bounding sphere.
// On a sphere both are equal.
struct VisiblePoint {
  normal: vec3<f32>,
  place: vec3<f32>,
}

// Whether the CPU has to compute the pixel: its ray would need too many tests.
var<private> too_many: bool;

// The light past the occluders that were added to the disc. `bare` is the light without them, and `open` the fraction (0 or 1) of a point
// light that is visible.
fn light_past(disc: Disc, bare: Illumination, open: f32) -> Illumination {
  if (disc.radius <= 0.0) {
    return Illumination(open, open * bare.irradiance);
  }
  if (bare.fraction <= 0.0) {
    return DARK;
  }
  // Samples need no fraction.
  let darkened = darkens && uniforms.middle == 0u;
  let rest = visible_light(disc, darkened);
  let share = rest / bare.fraction;
  return Illumination(rest, bare.irradiance * select(min(share, 1.0), share, darkened));
}

// Smooth noise in -1...1 on a grid of unit cells: hashed corner values, interpolated.
fn noise(p: vec3<f32>) -> f32 {
  let cell = floor(p);
  let f = p - cell;
  let s = f * f * (3.0 - 2.0 * f);
  let c = vec3<u32>(vec3<i32>(cell));
  var sum = 0.0;
  // Per corner: the far one has weight s, the near one the rest. Corners that share coordinates share hashes.
  for (var k = 0u; k < 2u; k++) {
    let hash_z = hash(c.z + k);
    let weight_z = select(1.0 - s.z, s.z, k == 1u);
    for (var j = 0u; j < 2u; j++) {
      let hash_yz = hash((c.y + j) ^ hash_z);
      let weight_y = select(1.0 - s.y, s.y, j == 1u);
      for (var i = 0u; i < 2u; i++) {
        let weight_x = select(1.0 - s.x, s.x, i == 1u);
        sum += weight_x * weight_y * weight_z * fraction(hash((c.x + i) ^ hash_yz), 8u);
      }
    }
  }
  return 2.0 * sum - 1.0;
}

// Colour of a body at a point with this outward normal: its bands, made to meander.
fn surface(pattern: SurfacePattern, normal: vec3<f32>) -> vec3<f32> {
  var n = vec3<f32>(dot(pattern.x, normal), dot(pattern.y, normal), dot(pattern.z, normal));
  var shade = 1.0;
  if (pattern.swirl > 0.0) {
    let wide = n * vec3<f32>(2.5, 2.5, 9.0);
    let a = noise(wide + 40.0);
    let b = noise(wide * 2.7 + 90.0 + a);
    let c = noise(n * vec3<f32>(12.0, 12.0, 60.0) + 150.0 + 2.0 * b);
    n.z = clamp(n.z + pattern.swirl * (0.06 * a + 0.05 * b + 0.014 * c), -1.0, 1.0);
    shade = 1.0 + pattern.swirl * 0.2 * (0.6 * c + 0.4 * b);
  }
  let side = sqrt(max((1.0 - n.z) * (1.0 + n.z), 0.0));
  let latitude = 1.0 - arc(side, n.z) / PI;
  let last = f32(pattern.count) - 1.0;
  let at = clamp(latitude * last, 0.0, last);
  let below = min(floor(at), max(last - 1.0, 0.0));
  let f = at - below;
  let blend = f * f * (3.0 - 2.0 * f);
  let lower = colors[pattern.first + u32(below)].xyz;
  let upper = colors[pattern.first + min(u32(below) + 1u, pattern.count - 1u)].xyz;
  return (lower + (upper - lower) * blend) * shade;
}

// Colour of the visible surface point `under` a light, as linear light: Lambert's law with the visible part of the light.
fn paint(place: vec2<f32>, id: u32, spot: VisiblePoint, under: Illumination) -> vec3<f32> {
  if (id == NO_SPHERE) {
    if (uniforms.stars <= 0.0) {
      return uniforms.background;
    }
    let scale = star_scale(uniforms.projection, uniforms.half);
    let ahead = place * uniforms.half / scale;
    let pixel = uniforms.pixel / scale;
    let direction = uniforms.right * ahead.x + uniforms.up * ahead.y + uniforms.forward;
    return uniforms.background + starlight(direction, pixel, uniforms.stars);
  }
  if (id >= uniforms.light_id) {
    if (!darkens) {
      return uniforms.light;
    }
    let direction = pixel_ray(place).direction;
    let mu = -dot(direction, spot.normal) / sqrt(max(dot(direction, direction), 1e-30));
    return uniforms.light * intensity(clamp(mu, 0.0, 1.0));
  }
  let ground = surface(patterns[pattern_of(id)], spot.normal);
  return ground * (uniforms.light * (under.irradiance * uniforms.exposure) + uniforms.ambient);
}
