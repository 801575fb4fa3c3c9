// Conservative culling of single pairs in plain f32, for pictures, whose rays test short lists of spheres. (Queries cull blocks of spheres:
// cull/blocks.wgsl.) A culled pair misses under any rounding that WGSL allows. Scene and ray share one scale, so tiny spheres in a vast
// scene may be kept needlessly.

const BLOCK: u32 = 32u;

struct Prepared {
  scale: f32,
  origin: vec3<f32>,
  direction: vec3<f32>,
  inverse_square: f32,
}

// Power of two that scales m to [1, 2).
fn normalizer(m: f32) -> f32 {
  let e = bitcast<u32>(clamp(m, power_of_two(-126), power_of_two(126))) & 0x7f800000u;
  return bitcast<f32>(0x7f000000u - e);
}

// Prepares a ray. `largest` is the largest coordinate or radius of the scene.
fn prepare(ray: Ray, largest: f32) -> Prepared {
  let scale = normalizer(max(largest_of(ray.origin), largest));
  let lift = select(1.0, 16777216.0, largest_of(ray.direction) < power_of_two(-100));
  let lifted = ray.direction * lift;
  let direction = lifted * normalizer(largest_of(lifted));
  return Prepared(scale, ray.origin * scale, direction, 1.0 / dot3(direction, direction));
}

// Negative if the line through the ray certainly misses the sphere.
fn margin(ray: Prepared, center: vec3<f32>, radius: f32) -> f32 {
  let e = center * ray.scale - ray.origin;
  let r = radius * ray.scale;
  let k = dot3(e, ray.direction) * ray.inverse_square;
  let p = e - k * ray.direction;
  let size = norm1(e) + r;
  let slack = 32.0 * U * size * (norm1(p) + r) + size * size * 7.275958e-12 + 1e-30;
  return r * r - dot3(p, p) + slack;
}
