// The application's passes: particles in a box, and the rays of a sensor in its middle.

struct Ray {
  origin: vec3<f32>,
  t_min: f32,
  direction: vec3<f32>,
  t_max: f32,
}

// Centre and radius.
@group(0) @binding(0) var<storage, read_write> spheres: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> velocities: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> rays: array<Ray>;

// The box reaches from -1 to 1, and is slightly larger than what the particles may reach.
const WALL = 0.999;
const RADIUS = 0.005;
const STEP = 0.02;
const FAR = 3.4028234e38;

// Three numbers from 0 to 1 (Jarzynski and Olano, 2020, Hash Functions for GPU Rendering: pcg3d).
fn random(seed: vec3<u32>) -> vec3<f32> {
  var v = seed * 1664525u + 1013904223u;
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v ^= v >> vec3<u32>(16u);
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  return vec3<f32>(v >> vec3<u32>(8u)) / 16777216.0;
}

@compute @workgroup_size(64)
fn place(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&spheres)) {
    spheres[id.x] = vec4<f32>((2.0 * random(vec3<u32>(id.x, 1u, 2u)) - 1.0) * (WALL - RADIUS), RADIUS);
    velocities[id.x] = vec4<f32>(2.0 * random(vec3<u32>(id.x, 3u, 4u)) - 1.0, 0.0);
  }
}

@compute @workgroup_size(64)
fn aim(@builtin(global_invocation_id) id: vec3<u32>) {
  let count = arrayLength(&rays);
  if (id.x < count) {
    // Directions spread evenly over the sphere: a spiral with the golden angle.
    let z = 1.0 - (2.0 * f32(id.x) + 1.0) / f32(count);
    let across = sqrt(1.0 - z * z);
    let turn = 2.3999632 * f32(id.x);
    rays[id.x] = Ray(vec3<f32>(0.0), 0.0, vec3<f32>(across * cos(turn), across * sin(turn), z), FAR);
  }
}

// Moves the particles. The walls reflect them.
@compute @workgroup_size(64)
fn advance(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&spheres)) {
    let limit = vec3<f32>(WALL - RADIUS);
    let moved = spheres[id.x].xyz + STEP * velocities[id.x].xyz;
    let outside = abs(moved) > limit;
    velocities[id.x] = vec4<f32>(select(velocities[id.x].xyz, -velocities[id.x].xyz, outside), 0.0);
    spheres[id.x] = vec4<f32>(clamp(moved, -limit, limit), RADIUS);
  }
}
