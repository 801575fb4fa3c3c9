// Program: probes the arithmetic of the device. One thread per row of inputs; the host checks the results (src/gpu/probe.rs).

@group(0) @binding(3) var<storage, read_write> found: array<vec4<f32>>;

// The low 16 bits of a subnormal number, in a normal number, which no device flushes.
fn shown(subnormal: f32) -> f32 {
  return bitcast<f32>(0x3f800000u | (bitcast<u32>(subnormal) & 0xffffu));
}

// Writes seven rows of results per thread: sum and product of a pair; two forms of a*b+c, quotient and square root; subnormal numbers; both
// intersection tests; roots as pairs, with their bounds and their scale.
fn process_ray(i: u32) {
  let ray = rays[i];
  let a = ray.origin.x;
  let b = ray.direction.x;
  let sum = two_sum(a, b);
  let product = two_product(a, b);
  let c = -opaque(a * b);
  found[7u * i] = vec4<f32>(sum, product);
  found[7u * i + 1u] = vec4<f32>(a * b + c, fma(a, b, c), a / b, sqrt(abs(a)));
  // A subnormal number, doubled; its bits are reported, so that a flush shows.
  let subnormal = bitcast<f32>(0x00000100u | params.zero);
  // Subnormal numbers as input of the intersection test, here a radius, and as its output, here a root.
  let small = scale(Ray(vec3<f32>(0.0), 0.0, vec3<f32>(1.0, 0.0, 0.0), 0.0), Sphere(vec3<f32>(0.0), subnormal));
  let root = unscale(bitcast<f32>(0x3f800000u | params.zero), -141);
  found[7u * i + 2u] = vec4<f32>(shown(subnormal * 2.0), small.r, shown(root), 0.0);
  let scaled = scale(ray, spheres[i]);
  let standard = intersect_compensated(scaled);
  found[7u * i + 3u] = vec4<f32>(standard.disc, standard.t_enter, standard.t_exit, standard.disc_bound);
  let plain = intersect_fast(scaled);
  found[7u * i + 4u] = vec4<f32>(plain.disc, plain.t_enter, plain.t_exit, plain.disc_bound);
  let pairs = double_roots(scaled);
  found[7u * i + 5u] = vec4<f32>(pairs.enter, pairs.exit);
  found[7u * i + 6u] = vec4<f32>(pairs.enter_bound, pairs.exit_bound, f32(pairs.shift), 0.0);
}
