// Program: the visible fraction for many visibility queries, each with its own light and observer. Twin of `Prepared::shadow` in
// src/shadow/visibility.rs.

struct Sight {
  light: Light,
  // Its occluders: index of the first, and their number.
  first: u32,
  count: u32,
}

struct Shade {
  fraction: f32,
  // A kind of disc.wgsl; KIND_UNDONE if the CPU has to compute the result.
  kind: u32,
}

const KIND_UNDONE: u32 = 4u;

struct SightParams {
  count: u32,
  zero: u32,
  unused: vec2<u32>,
}

@group(0) @binding(0) var<uniform> sight_params: SightParams;
@group(0) @binding(1) var<storage, read> sights: array<Sight>;
@group(0) @binding(2) var<storage, read> occluders: array<Occluder>;
@group(0) @binding(3) var<storage, read_write> shades: array<Shade>;

fn shade(sight: Sight) -> Shade {
  let point = vec3<f32>(0.0, 0.0, 0.0);
  let disc = disc_from(point, sight.light);
  var open = 1.0;
  clear();
  for (var i = 0u; i < sight.count && !crowded; i++) {
    let occluder = occluders[sight.first + i];
    if (spheroids && occluder.shape != 0u) {
      let shape = shape_of(occluders[occluder.shape]);
      if (swallows(point, occluder, shape)) {
        return Shade(0.0, KIND_TOTAL);
      }
      open = min(open, add_spheroid(point, sight.light, disc, occluder, shape));
      continue;
    }
    let cap = cap_of(point, sight.light, disc, occluder);
    open = min(open, left_of_point(cap));
    if (cap.radius > 3.0) {
      return Shade(0.0, KIND_TOTAL);
    }
    add(disc, cap);
  }
  if (disc.power <= 0.0) {
    return Shade(1.0, KIND_NONE);
  }
  if (disc.radius <= 0.0) {
    return Shade(open, select(KIND_TOTAL, KIND_NONE, open > 0.0));
  }
  if (crowded && !total) {
    return Shade(0.0, KIND_UNDONE);
  }
  let rest = left(disc);
  if (crowded) {
    return Shade(0.0, KIND_UNDONE);
  }
  return Shade(rest, kind(disc, rest));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= sight_params.count) {
    return;
  }
  shades[i] = shade(sights[i]);
}
