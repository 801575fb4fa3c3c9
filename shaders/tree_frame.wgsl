// Spheres in the scene's frame. Needs records.wgsl, pairs.wgsl and tree.wgsl.

// Less than this is taken for it, so that no subnormal number ever decides.
const TINY: f32 = 8.67361738e-19;

fn opaque3(x: vec3<f32>) -> vec3<f32> {
  return bitcast<vec3<f32>>(bitcast<vec3<u32>>(x) ^ vec3<u32>(zero));
}

// A power of two multiplies without rounding: fused or not, the same comes out.
fn framed(sphere: Sphere) -> vec4<f32> {
  return vec4<f32>(opaque3(sphere.center * plant.scale - plant.middle), opaque(sphere.radius * plant.scale));
}
