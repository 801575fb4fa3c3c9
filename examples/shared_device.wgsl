// The application's own passes: they generate rays, generate shadow rays at the hits, and shade.

struct Ray {
  origin: vec3<f32>,
  t_min: f32,
  direction: vec3<f32>,
  t_max: f32,
}

struct Hit {
  t: f32,
  id: u32,
}

const SIZE = vec2<u32>(960u, 600u);
const EYE = vec3<f32>(0.0, -13.0, 7.0);
const SUN = vec3<f32>(-0.55, -0.45, 0.7);
// The largest f32, for rays without an end.
const FAR = 3.4028234e38;

@group(0) @binding(0) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> rays: array<Ray>;
@group(0) @binding(2) var<storage, read_write> hits: array<Hit>;
@group(0) @binding(3) var<storage, read_write> shadow_rays: array<Ray>;
@group(0) @binding(4) var<storage, read_write> shadows: array<u32>;
@group(0) @binding(5) var<storage, read_write> pixels: array<u32>;

// Generates one ray per pixel.
@compute @workgroup_size(8, 8)
fn look(@builtin(global_invocation_id) pixel: vec3<u32>) {
  let across = (vec2<f32>(pixel.xy) + 0.5 - 0.5 * vec2<f32>(SIZE)) / f32(SIZE.y);
  let forward = normalize(-EYE);
  let right = normalize(cross(forward, vec3<f32>(0.0, 0.0, 1.0)));
  let direction = forward + across.x * right - across.y * cross(right, forward);
  rays[pixel.y * SIZE.x + pixel.x] = Ray(EYE, 0.0, direction, FAR);
}

// Generates a ray from each hit point towards the sun. For a miss, the ray starts at the eye, and its result is not used.
@compute @workgroup_size(64)
fn aim(@builtin(global_invocation_id) id: vec3<u32>) {
  let hit = hits[id.x];
  var at = EYE;
  if (hit.id != 0xffffffffu) {
    at += hit.t * rays[id.x].direction;
  }
  shadow_rays[id.x] = Ray(at, 0.001, SUN, FAR);
}

@compute @workgroup_size(64)
fn shade(@builtin(global_invocation_id) id: vec3<u32>) {
  let hit = hits[id.x];
  var color = mix(vec3<f32>(0.75, 0.84, 0.95), vec3<f32>(0.35, 0.55, 0.85), f32(id.x / SIZE.x) / f32(SIZE.y));
  if (hit.id != 0xffffffffu) {
    let sphere = spheres[hit.id];
    let normal = normalize(EYE + hit.t * rays[id.x].direction - sphere.xyz);
    let dark = (shadows[id.x / 32u] >> (id.x % 32u) & 1u) == 1u;
    let sun = select(max(dot(normal, normalize(SUN)), 0.0), 0.0, dark);
    let turn = f32(hit.id) * 2.399963;
    var paint = 0.55 + 0.4 * cos(vec3<f32>(turn, turn + 2.1, turn + 4.2));
    // The first sphere is the ground.
    paint = select(paint, vec3<f32>(0.62, 0.6, 0.55), hit.id == 0u);
    color = paint * (0.22 + 0.12 * normal.z + 0.8 * sun);
  }
  pixels[id.x] = pack4x8unorm(vec4<f32>(pow(clamp(color, vec3<f32>(0.0), vec3<f32>(1.0)), vec3<f32>(1.0 / 2.2)), 1.0));
}
