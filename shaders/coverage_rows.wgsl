// Program: the visible fraction of many lights, each from its own place.

struct Sight {
  light: Light,
  // Its occluders: the first, and how many.
  first: u32,
  count: u32,
}

struct SightParams {
  count: u32,
  zero: u32,
  unused: vec2<u32>,
}

@group(0) @binding(0) var<uniform> sight_params: SightParams;
@group(0) @binding(1) var<storage, read> sights: array<Sight>;
@group(0) @binding(2) var<storage, read> occluders: array<Occluder>;
// The fraction; -1 where the host has to do it.
@group(0) @binding(3) var<storage, read_write> fractions: array<f32>;

fn fraction_left(sight: Sight) -> f32 {
  let point = vec3<f32>(0.0, 0.0, 0.0);
  let disc = disc_from(point, sight.light);
  var open = 1.0;
  clear();
  for (var i = 0u; i < sight.count && !crowded; i++) {
    let cap = cap_of(point, sight.light, disc, occluders[sight.first + i]);
    open = min(open, left_of_point(cap));
    if (cap.radius > 3.0) {
      return 0.0;
    }
    add(disc, cap);
  }
  if (disc.power <= 0.0) {
    return 1.0;
  }
  if (disc.radius <= 0.0) {
    return open;
  }
  if (crowded && !total) {
    return -1.0;
  }
  return left(disc);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= sight_params.count) {
    return;
  }
  fractions[i] = fraction_left(sights[i]);
}
