// A caller's own kernel, to stand after `umbracast::wgsl::SOLVE`, which brings Ray, Sphere, Hit and the functions used here.

@group(0) @binding(0) var<storage, read> rays: array<Ray>;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> hits: array<Hit>;
// How many pairs, and a 0 that no compiler can know.
@group(0) @binding(3) var<uniform> settings: vec4<u32>;

// Ray i against sphere i.
@compute @workgroup_size(64)
fn my_kernel(@builtin(global_invocation_id) id: vec3<u32>) {
  // First of all, in every entry point: the error terms hang on it.
  zero = settings.y;
  if (id.x >= settings.x) {
    return;
  }
  let ray = rays[id.x];
  let solved = solve_standard(scale(ray, spheres[id.x]));
  let verdict = decide(solved, ray, Policies(INSIDE_ENTER, 0u, 0u), false);
  // A miss is the bits of an infinity, which no shader may compute with.
  var hit = Hit(INFINITY_BITS, NO_SPHERE);
  if (verdict.met == YES) {
    hit = Hit(bitcast<u32>(verdict.t), id.x);
  }
  hits[id.x] = hit;
}
