// Spheres in the scene's frame. Needs records.wgsl, math/error_free.wgsl and build/common.wgsl.

// Less than this is taken for it, so that no subnormal number ever decides.
const TINY: f32 = 8.67361738e-19;

fn opaque3(x: vec3<f32>) -> vec3<f32> {
  return bitcast<vec3<f32>>(bitcast<vec3<u32>>(x) ^ vec3<u32>(zero));
}

// Where numbers are subnormal, or 0.
fn subnormal(x: vec3<f32>) -> vec3<bool> {
  return (bitcast<vec3<u32>>(x) & vec3<u32>(0x7f800000u)) == vec3<u32>(0u);
}

// A power of two multiplies without rounding. Subnormal numbers are read bit by bit: devices may flush them.
fn scaled(x: vec3<f32>) -> vec3<f32> {
  let bits = bitcast<vec3<u32>>(x);
  let small = vec3<f32>(bits & vec3<u32>(0x7fffffu)) * plant.least;
  return select(x * plant.scale, select(small, -small, (bits >> vec3<u32>(31u)) == vec3<u32>(1u)), subnormal(x));
}

// Fused or not, the same comes out.
fn framed(center: vec3<f32>) -> vec3<f32> {
  return opaque3(scaled(center) - plant.middle);
}
