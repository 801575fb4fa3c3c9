// A kernel of the caller, to be appended to `umbracast::wgsl::SOLVE`, which defines Ray, Sphere, Hit and the functions used here.

@group(0) @binding(0) var<storage, read> rays: array<Ray>;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> hits: array<Hit>;
// The number of pairs, and a 0 that the compiler cannot know.
@group(0) @binding(3) var<uniform> settings: vec4<u32>;

// Intersects ray i with sphere i.
@compute @workgroup_size(64)
fn my_kernel(@builtin(global_invocation_id) id: vec3<u32>) {
  // Required at the start of every entry point: the error-free transforms depend on it.
  zero = settings.y;
  if (id.x >= settings.x) {
    return;
  }
  let ray = rays[id.x];
  let roots = intersect_compensated(scale(ray, spheres[id.x]));
  let result = classify(roots, ray, Policies(INSIDE_ENTER, 0u, 0u), false);
  // A miss is the bits of an infinity, with which no shader may compute.
  var hit = Hit(INFINITY_BITS, NO_SPHERE);
  if (result.hit_class == HIT) {
    hit = Hit(bitcast<u32>(result.t), id.x);
  }
  hits[id.x] = hit;
}
