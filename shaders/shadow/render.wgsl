// Program: one sample per pixel, for a band of a picture: nearest sphere, visible light, colour. Twin of src/shadow/picture/render_cpu.rs;
// each iteration of its loop over samples is a dispatch here.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<uniform> uniforms: RenderUniforms;
@group(0) @binding(5) var<storage, read> patterns: array<SurfacePattern>;
@group(0) @binding(6) var<storage, read> colors: array<vec4<f32>>;
// Sums of colours. w counts the samples that show a body or the light, and adds UNDONE for each sample that the CPU has to recompute.
@group(0) @binding(7) var<storage, read_write> sums: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> center_samples: array<CenterSample>;

// More than the maximum number of samples.
const UNDONE = 1024.0;

// What the centre sample of a pixel shows. `t` contains the bits of an f32; `crowded` is 1 if the CPU has to compute the pixel.
struct CenterSample {
  t: u32,
  id: u32,
  fraction: f32,
  crowded: u32,
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= uniforms.pixels) {
    return;
  }
  zero = params.zero;
  limb = uniforms.limb;
  let place = place_of(uniforms.first_pixel + i);
  let ray = pixel_ray(place);
  let best = first_body(uniforms.first_pixel + i, ray);
  let spot = visible_point_of(ray, best);
  // The only call, because compilers copy functions to each.
  let under = light_at(best.id, spot);
  if (uniforms.middle != 0u) {
    let t = select(bitcast<u32>(best.t), INFINITY_BITS, best.id == NO_SPHERE);
    center_samples[i] = CenterSample(t, best.id, under.fraction, u32(crowded || too_many));
    return;
  }
  var sum = vec4<f32>(0.0, 0.0, 0.0, 0.0);
  if (uniforms.fresh == 0u) {
    sum = sums[i];
  }
  // Colours are clipped before averaging: otherwise one very bright sample would make an edge look jagged.
  let color = min(paint(place, best.id, spot, under), vec3<f32>(1.0, 1.0, 1.0));
  let covered = f32(best.id != NO_SPHERE);
  sums[i] = sum + vec4<f32>(color, select(covered, UNDONE, crowded || too_many));
}
