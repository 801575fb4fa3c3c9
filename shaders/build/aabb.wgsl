// Axis-aligned bounding boxes (AABBs). Twin of `Bounds` in src/bvh/qbvh4/node.rs. Needs build/scene_frame.wgsl.

struct Bounds {
  low: vec3<f32>,
  high: vec3<f32>,
}

// Inverted box: the identity of `join`.
const EMPTY = Bounds(vec3<f32>(3.40282346e38), vec3<f32>(-3.40282346e38));

// The next f32 above x; TINY where |x| < TINY.
fn up(x: vec3<f32>) -> vec3<f32> {
  let bits = bitcast<vec3<u32>>(x);
  let next = bitcast<vec3<f32>>(select(bits - vec3<u32>(1u), bits + vec3<u32>(1u), x > vec3<f32>(0.0)));
  return select(next, vec3<f32>(TINY), abs(x) < vec3<f32>(TINY));
}

fn down(x: vec3<f32>) -> vec3<f32> {
  return -up(-x);
}

// Conservative bounds of center ± half in the scene's frame. The intersection code may treat subnormal coordinates as 0, so the bounds
// contain that position, too.
fn around(center: vec3<f32>, half: vec3<f32>) -> Bounds {
  let here = framed(center);
  let flushed = select(here, -plant.middle, subnormal(center));
  return Bounds(down(opaque3(min(here, flushed) - half)), up(opaque3(max(here, flushed) + half)));
}

// Conservative bounds of a sphere in the scene's frame.
fn reach(sphere: Sphere) -> Bounds {
  return around(sphere.center, scaled(vec3<f32>(sphere.radius)));
}

fn join(a: Bounds, b: Bounds) -> Bounds {
  return Bounds(min(a.low, b.low), max(a.high, b.high));
}

// The sum of the three edge lengths.
fn edges(b: Bounds) -> f32 {
  let e = opaque3(b.high - b.low);
  return opaque(e.x + e.y) + e.z;
}
