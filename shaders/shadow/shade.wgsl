// Shading of one ray of a picture. Twin of src/shadow/picture/shade.rs: same functions, same order, except that the nearest sphere comes
// from the intersection that all queries share. Needs `spheres`, `words` and the buffers named below at module scope.

// A sphere or spheroid, prepared for shading: the rows of the rotation from camera space into its light-aligned frame, the light, and the
// grid with the lists of its occluders.
struct Receiver {
  x: vec3<f32>,
  inverse_distance: f32,
  y: vec3<f32>,
  ratio: f32,
  z: vec3<f32>,
  first_list: u32,
  columns: u32,
  level: u32,
  pattern: u32,
  unused: u32,
}

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
  // The grid with the lists of spheres per tile of the picture.
  first_list: u32,
  columns: u32,
  level: u32,
  // Number of spheroids.
  figures: u32,
  unused: u32,
  // Limb darkening.
  limb: vec2<f32>,
}

struct Illumination {
  fraction: f32,
  irradiance: f32,
}

const DARK: Illumination = Illumination(0.0, 0.0);
const FULL: Illumination = Illumination(1.0, 1.0);

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
fn normal_at(ray: Ray, sphere: Sphere) -> vec3<f32> {
  let s = scale(ray, sphere);
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

// Range in `words` of the list of the cell that contains a unit square: first word, and the word after the last.
fn list_of(first: u32, columns: u32, level: u32, place: vec2<u32>) -> vec2<u32> {
  let cell = first + (place.y >> level) * columns + (place.x >> level);
  return vec2<u32>(words[cell], words[cell + 1u]);
}

// The square of a receiver's grid that contains a point of its surface.
fn square(place: vec3<f32>) -> vec2<u32> {
  return vec2<u32>(clamp((place.xy + 1.0) * (0.5 * SQUARES), vec2<f32>(0.0, 0.0), vec2<f32>(SQUARES - 1.0, SQUARES - 1.0)));
}

const SQUARES: f32 = 256.0;

// lavapipe silently stops an invocation after 65,535 loop iterations. A sphere costs up to two and an occluder up to three. The CPU
// computes pixels with longer lists.
const MAX_SPHERES: u32 = 16384u;
const MAX_OCCLUDERS: u32 = 4096u;
var<private> too_many: bool;

// A spheroid: three records after the light in `spheres`. They contain the sphere that it becomes in the stretched space; its pole and
// stretch factor; the radius of its bounding sphere, and its id.
struct RenderedSpheroid {
  sphere: Sphere,
  pole: vec3<f32>,
  stretch: f32,
  around: f32,
  id: u32,
}

fn spheroid_of(i: u32) -> RenderedSpheroid {
  let at = uniforms.light_id + 1u + 3u * i;
  let turned = spheres[at + 1u];
  let more = spheres[at + 2u];
  return RenderedSpheroid(spheres[at], turned.center, turned.radius, more.center.x, u32(more.radius));
}

fn along_pole(body: RenderedSpheroid, v: vec3<f32>, by: f32) -> vec3<f32> {
  return v + (by - 1.0) * dot(v, body.pole) * body.pole;
}

fn stretched(body: RenderedSpheroid, ray: Ray) -> Ray {
  return Ray(
    along_pole(body, ray.origin, body.stretch),
    ray.t_min,
    along_pole(body, ray.direction, body.stretch),
    ray.t_max,
  );
}

// A surface point: the outward unit normal, and the position relative to the body's centre in units of the radius of its bounding sphere.
// On a sphere both are equal.
struct VisiblePoint {
  normal: vec3<f32>,
  place: vec3<f32>,
}

// Index of the spheroid that first_body() has found.
var<private> spheroid_seen: u32;
const NO_SPHEROID: u32 = 0xffffffffu;

fn visible_point_of(ray: Ray, best: ClosestState) -> VisiblePoint {
  if (best.id == NO_SPHERE) {
    return VisiblePoint(vec3<f32>(0.0, 0.0, -1.0), vec3<f32>(0.0, 0.0, -1.0));
  }
  if (!spheroids || spheroid_seen == NO_SPHEROID) {
    let normal = normal_at(ray, spheres[best.id]);
    return VisiblePoint(normal, normal);
  }
  let body = spheroid_of(spheroid_seen);
  let n = normal_at(stretched(body, ray), body.sphere);
  let normal = along_pole(body, n, body.stretch);
  let place = along_pole(body, n, 1.0 / body.stretch) * (body.sphere.radius / body.around);
  return VisiblePoint(normal / sqrt(max(dot(normal, normal), 1e-30)), place);
}

// The nearest body that the ray of a pixel hits. The spheres of the pixel's tile are culled in blocks (cull/pair.wgsl).
fn first_body(pixel: u32, ray: Ray) -> ClosestState {
  let list = list_of(uniforms.first_list, uniforms.columns, uniforms.level, vec2<u32>(pixel % uniforms.size.x, pixel / uniforms.size.x));
  var best = empty_state();
  spheroid_seen = NO_SPHEROID;
  too_many = list.y - list.x + uniforms.figures > MAX_SPHERES;
  if (too_many) {
    return best;
  }
  let prepared = prepare(ray, params.largest);
  for (var begin = list.x; begin < list.y; begin += BLOCK) {
    let count = min(list.y - begin, BLOCK);
    var mask = 0u;
    for (var i = 0u; i < count; i++) {
      let sphere = spheres[words[begin + i]];
      mask |= u32(margin(prepared, sphere.center, sphere.radius) >= 0.0) << i;
    }
    while (mask != 0u) {
      let id = words[begin + firstTrailingBit(mask)];
      mask &= mask - 1u;
      best = update_best(best, id, classify(intersect(ray, spheres[id]), ray, policies(), exact));
    }
  }
  for (var i = 0u; spheroids && i < uniforms.figures; i++) {
    let body = spheroid_of(i);
    let own = stretched(body, ray);
    let other = best.id;
    best = update_best(best, body.id, classify(intersect(own, body.sphere), own, policies(), exact));
    if (best.id != other) {
      spheroid_seen = i;
    }
  }
  return best;
}

// The light at a `point` of a body whose outward normal there is `normal`.
fn illumination(point: vec3<f32>, normal: vec3<f32>, receiver: Receiver) -> Illumination {
  let light = Light(receiver.inverse_distance, receiver.ratio);
  let disc = disc_from(point, light);
  clear();
  if (disc.power <= 0.0) {
    return FULL;
  }
  let ground = horizon_cap(point, light, disc, normal);
  if (ground.edge + disc.radius <= 0.0) {
    return DARK;
  }
  let bare = irradiance(disc, ground);
  add(disc, ground);
  var open = 1.0;
  let list = list_of(receiver.first_list, receiver.columns, receiver.level, square(point));
  crowded = list.y - list.x > MAX_OCCLUDERS;
  for (var i = list.x; i < list.y && !total && !crowded; i++) {
    let occluder = occluders[words[i]];
    if (spheroids && occluder.shape != 0u) {
      open = min(open, add_spheroid(point, light, disc, occluder, shape_of(occluders[occluder.shape])));
      continue;
    }
    let cap = cap_of(point, light, disc, occluder);
    if (disc.radius <= 0.0) {
      open = min(open, visible_point(cap));
    } else {
      add(disc, cap);
    }
  }
  if (disc.radius <= 0.0) {
    return Illumination(open, open * bare);
  }
  let risen = 1.0 - covered(disc.radius, ground);
  if (risen <= 0.0) {
    return DARK;
  }
  if (darkens && uniforms.middle == 0u) {
    // Samples need no fraction.
    let flux = visible_flux(disc);
    return Illumination(flux, bare * flux / risen);
  }
  let fraction = uncovered_fraction(disc);
  return Illumination(fraction, bare * min(fraction / risen, 1.0));
}

// The light at the visible surface point: full on the light itself and where the ray hits nothing.
fn light_at(id: u32, spot: VisiblePoint) -> Illumination {
  if (id >= uniforms.light_id) {
    clear();
    return FULL;
  }
  let receiver = receivers[id];
  let normal = spot.normal;
  let turned = vec3<f32>(dot(receiver.x, normal), dot(receiver.y, normal), dot(receiver.z, normal));
  let n = turned / sqrt(max(dot(turned, turned), 1e-30));
  if (!spheroids || spheroid_seen == NO_SPHEROID) {
    return illumination(n, n, receiver);
  }
  let place = spot.place;
  return illumination(vec3<f32>(dot(receiver.x, place), dot(receiver.y, place), dot(receiver.z, place)), n, receiver);
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

// Colour of the visible surface point, as linear light: Lambert's law with the visible part of the light.
fn paint(place: vec2<f32>, id: u32, spot: VisiblePoint) -> vec3<f32> {
  clear();
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
  let under = light_at(id, spot);
  let ground = surface(patterns[receivers[id].pattern], spot.normal);
  return ground * (uniforms.light * (under.irradiance * uniforms.exposure) + uniforms.ambient);
}
