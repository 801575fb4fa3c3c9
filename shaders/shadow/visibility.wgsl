// Program: the visible fraction for many visibility queries, each with its own light and observer, or the visible flux if the light has
// limb darkening. Twin of `LocalVisibility::shadow` and `flux` in src/shadow/visibility.rs.

struct VisibilityQuery {
  light: Light,
  // Its occluders: index of the first, and their number.
  first: u32,
  count: u32,
}

struct Shade {
  // Visible fraction, or flux if the light has limb darkening.
  fraction: f32,
  // A kind of disc.wgsl; KIND_UNDONE if the CPU has to compute the result.
  kind: u32,
}

const KIND_LEFT_TO_CPU: u32 = 4u;

struct VisibilityParams {
  count: u32,
  zero: u32,
  // Limb darkening.
  limb: vec2<f32>,
}

@group(0) @binding(0) var<uniform> visibility_params: VisibilityParams;
@group(0) @binding(1) var<storage, read> queries: array<VisibilityQuery>;
@group(0) @binding(2) var<storage, read> occluders: array<Occluder>;
@group(0) @binding(3) var<storage, read_write> shades: array<Shade>;

fn shade(query: VisibilityQuery) -> Shade {
  let point = vec3<f32>(0.0, 0.0, 0.0);
  let disc = disc_from(point, query.light);
  var open = 1.0;
  clear();
  for (var i = 0u; i < query.count && !crowded; i++) {
    let occluder = occluders[query.first + i];
    if (spheroids && occluder.shape != 0u) {
      let shape = shape_of(occluders[occluder.shape]);
      if (contains_point(point, occluder, shape)) {
        return Shade(0.0, KIND_TOTAL);
      }
      open = min(open, add_spheroid(point, query.light, disc, occluder, shape));
      continue;
    }
    let cap = cap_of(point, query.light, disc, occluder);
    open = min(open, visible_point(cap));
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
    return Shade(0.0, KIND_LEFT_TO_CPU);
  }
  let rest = visible_light(disc, darkens);
  if (crowded) {
    return Shade(0.0, KIND_LEFT_TO_CPU);
  }
  return Shade(rest, kind(disc, rest));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= visibility_params.count) {
    return;
  }
  limb = visibility_params.limb;
  shades[i] = shade(queries[i]);
}
