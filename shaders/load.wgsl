// Eight spheres for every thread alike, as the filter sees them: each thread loads all of them. Needs `params` and
// `spheres`.

struct Eight {
  a: vec4<f32>,
  b: vec4<f32>,
  c: vec4<f32>,
  d: vec4<f32>,
  e: vec4<f32>,
  f: vec4<f32>,
  g: vec4<f32>,
  h: vec4<f32>,
}

// Centre and radius, from the middle of the scene and scaled.
fn sphere_at(i: u32) -> vec4<f32> {
  let sphere = spheres[i];
  return vec4<f32>(sphere.center * params.scale - params.middle, sphere.radius * params.scale);
}

// To be called before `eight`.
fn prepare_load() {
}

// Spheres i to i + 7.
fn eight(i: u32) -> Eight {
  return Eight(
    sphere_at(i), sphere_at(i + 1u), sphere_at(i + 2u), sphere_at(i + 3u),
    sphere_at(i + 4u), sphere_at(i + 5u), sphere_at(i + 6u), sphere_at(i + 7u),
  );
}

// Whether x holds for any thread that must load together.
fn for_any(x: bool) -> bool {
  return x;
}
