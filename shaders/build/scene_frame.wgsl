// Transforms spheres into the scene's frame: scaled, and relative to the middle of the scene. Needs records.wgsl, math/error_free.wgsl
// and build/common.wgsl.

// 2^-60. Rounding of bounds replaces smaller magnitudes by it, so that no result depends on subnormal numbers.
const TINY: f32 = 8.67361738e-19;

// True where x is subnormal or 0.
fn subnormal(x: vec3<f32>) -> vec3<bool> {
  return (bitcast<vec3<u32>>(x) & vec3<u32>(0x7f800000u)) == vec3<u32>(0u);
}

// Lengths times the scale. The scale is a power of two, so the product is not rounded. Subnormal numbers are decoded from their bits,
// because devices may flush them.
fn scaled(x: vec3<f32>) -> vec3<f32> {
  let bits = bitcast<vec3<u32>>(x);
  let small = vec3<f32>(bits & vec3<u32>(0x7fffffu)) * build_params.least;
  return select(x * build_params.scale, select(small, -small, (bits >> vec3<u32>(31u)) == vec3<u32>(1u)), subnormal(x));
}

// A point in the frame. The result is the same whether or not the compiler fuses the operations.
fn to_scaled(center: vec3<f32>) -> vec3<f32> {
  return opaque3(scaled(center) - build_params.middle);
}
