// Error-free transforms: a sum or product as a pair of f32 whose value is exact. Twin of src/math/error_free.rs.
//
// WGSL allows compilers to reorder and cancel floating-point terms, and Mesa does: a plain TwoSum returns an error of 0.
// An integer XOR of each result with a 0 that only the host knows prevents that. No fma: WGSL does not require it to fuse.

// Every entry point sets this to a 0 from a buffer.
var<private> zero: u32;

fn opaque(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ zero);
}

fn opaque3(x: vec3<f32>) -> vec3<f32> {
  return bitcast<vec3<f32>>(bitcast<vec3<u32>>(x) ^ vec3<u32>(zero));
}

// s + e = a + b exactly, where s is the rounded sum.
fn two_sum(a: f32, b: f32) -> vec2<f32> {
  let s = opaque(a + b);
  let bb = opaque(s - a);
  let aa = opaque(s - bb);
  return vec2<f32>(s, opaque(a - aa) + opaque(b - bb));
}

// s + e = a + b exactly, where s is the rounded sum, for |a| >= |b|.
fn quick_two_sum(a: f32, b: f32) -> vec2<f32> {
  let s = opaque(a + b);
  return vec2<f32>(s, b - opaque(s - a));
}

// p + e = a * b exactly, where p is the rounded product, unless e underflows.
fn two_product(a: f32, b: f32) -> vec2<f32> {
  let p = opaque(a * b);
  let ah = high_half(a);
  let bh = high_half(b);
  let al = a - ah;
  let bl = b - bh;
  let e1 = opaque(ah * bh - p);
  let e2 = opaque(e1 + ah * bl);
  let e3 = opaque(e2 + al * bh);
  return vec2<f32>(p, e3 + al * bl);
}

// The upper 12 bits of the significand.
fn high_half(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
}

// x . y, summed from left to right: the built-in dot() may use any order.
fn dot3(x: vec3<f32>, y: vec3<f32>) -> f32 {
  return x.x * y.x + x.y * y.y + x.z * y.z;
}

// Sum of the components' magnitudes.
fn norm1(x: vec3<f32>) -> f32 {
  return abs(x.x) + abs(x.y) + abs(x.z);
}
