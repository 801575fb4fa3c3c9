// Bodies of a picture that are found through lists: the spheres in the tile of a pixel, and the occluders of a cell of the ground. Twin of
// src/shadow/picture/tiles.rs and receiver_lists.rs.

@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(3) var<storage, read> receivers: array<Receiver>;
@group(0) @binding(4) var<storage, read> occluders: array<Occluder>;
// The lists of all grids.
@group(0) @binding(9) var<storage, read> words: array<u32>;

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

// lavapipe silently stops an invocation after 65,535 loop iterations. A sphere costs up to three, as an occluder does. The CPU
// computes pixels with longer lists.
const MAX_SPHERES: u32 = 16384u;
const MAX_OCCLUDERS: u32 = 4096u;

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

// Index of the spheroid that first_body() has found.
var<private> spheroid_seen: u32;
const NO_SPHEROID: u32 = 0xffffffffu;

fn visible_point_of(ray: Ray, best: ClosestState) -> VisiblePoint {
  if (best.id == NO_SPHERE) {
    return VisiblePoint(vec3<f32>(0.0, 0.0, -1.0), vec3<f32>(0.0, 0.0, -1.0));
  }
  let is_spheroid = spheroids && spheroid_seen != NO_SPHEROID;
  var own = ray;
  var body: RenderedSpheroid;
  if (is_spheroid) {
    body = spheroid_of(spheroid_seen);
    own = stretched(body, ray);
  } else {
    body.sphere = spheres[best.id];
  }
  let n = normal_at(scale(own, body.sphere));
  if (!is_spheroid) {
    return VisiblePoint(n, n);
  }
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
  var block = list.x;
  var end = list.x;
  var mask = 0u;
  var figure = 0u;
  // One loop for spheres and spheroids, so that the intersection is compiled once.
  loop {
    while (mask == 0u && end < list.y) {
      block = end;
      end = min(block + BLOCK, list.y);
      for (var i = 0u; i < end - block; i++) {
        let sphere = spheres[words[block + i]];
        mask |= u32(margin(prepared, sphere.center, sphere.radius) >= 0.0) << i;
      }
    }
    var own = ray;
    var body: RenderedSpheroid;
    var seen = NO_SPHEROID;
    if (mask != 0u) {
      body.id = words[block + firstTrailingBit(mask)];
      body.sphere = spheres[body.id];
      mask &= mask - 1u;
    } else if (spheroids && figure < uniforms.figures) {
      seen = figure;
      body = spheroid_of(figure);
      own = stretched(body, ray);
      figure++;
    } else {
      break;
    }
    let other = best.id;
    best = update_best(best, body.id, classify(intersect(own, body.sphere), own, policies(), exact));
    if (best.id != other) {
      spheroid_seen = seen;
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
  let bare = risen_light(disc, ground);
  var open = 1.0;
  let list = list_of(receiver.first_list, receiver.columns, receiver.level, square(point));
  crowded = list.y - list.x > MAX_OCCLUDERS;
  // The first cap is the ground.
  var cap = ground;
  for (var i = list.x; ; i++) {
    open = min(open, visible_point(cap));
    add(disc, cap);
    if (i >= list.y || total || crowded) {
      break;
    }
    let occluder = occluders[words[i]];
    if (spheroids && occluder.shape != 0u) {
      open = min(open, add_spheroid(point, light, disc, occluder, shape_of(occluders[occluder.shape])));
      cap = NO_CAP;
    } else {
      cap = cap_of(point, light, disc, occluder);
    }
  }
  return light_past(disc, bare, open);
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
  var point = n;
  if (spheroids && spheroid_seen != NO_SPHEROID) {
    let place = spot.place;
    point = vec3<f32>(dot(receiver.x, place), dot(receiver.y, place), dot(receiver.z, place));
  }
  return illumination(point, n, receiver);
}

// Index of the pattern of a body.
fn pattern_of(id: u32) -> u32 {
  return receivers[id].pattern;
}
