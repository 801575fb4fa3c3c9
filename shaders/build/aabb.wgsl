// Axis-aligned bounding boxes (AABBs). Twin of `QBounds` in src/bvh/qbvh4/node.rs. Needs build/scene_frame.wgsl.

struct Bounds {
  low: vec3<f32>,
  high: vec3<f32>,
}

// Inverted box: the identity of `join`.
const EMPTY = Bounds(vec3<f32>(3.40282346e38), vec3<f32>(-3.40282346e38));

// The next f32 above x; TINY where |x| < TINY.
fn next_above(x: vec3<f32>) -> vec3<f32> {
  let bits = bitcast<vec3<u32>>(x);
  let next = bitcast<vec3<f32>>(select(bits - vec3<u32>(1u), bits + vec3<u32>(1u), x > vec3<f32>(0.0)));
  return select(next, vec3<f32>(TINY), abs(x) < vec3<f32>(TINY));
}

fn next_below(x: vec3<f32>) -> vec3<f32> {
  return -next_above(-x);
}

// Conservative bounds of center ± half in the scene's frame. The intersection code may treat subnormal coordinates as 0, so the bounds
// contain that position, too.
fn conservative_bounds(center: vec3<f32>, half: vec3<f32>) -> Bounds {
  let here = to_scaled(center);
  let flushed = select(here, -build_params.middle, subnormal(center));
  return Bounds(next_below(opaque3(min(here, flushed) - half)), next_above(opaque3(max(here, flushed) + half)));
}

// Conservative bounds of a sphere in the scene's frame.
fn sphere_bounds(sphere: Sphere) -> Bounds {
  return conservative_bounds(sphere.center, scaled(vec3<f32>(sphere.radius)));
}

fn join(a: Bounds, b: Bounds) -> Bounds {
  return Bounds(min(a.low, b.low), max(a.high, b.high));
}

// The sum of the three edge lengths.
fn edge_sum(b: Bounds) -> f32 {
  let e = opaque3(b.high - b.low);
  return opaque(e.x + e.y) + e.z;
}
