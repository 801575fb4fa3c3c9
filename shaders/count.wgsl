// Program: how many spheres each ray meets, of the spheres of one dispatch.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;

// Solves what is marked; `begin` is the position of the first sphere.
fn solve_marked(first: u32, begin: u32) {
  while (marked != 0u) {
    let candidate = next_candidate();
    let i = first + candidate.ray * WORKGROUP;
    let at = select(begin + candidate.sphere, i, params.pairwise != 0u);
    let ray = rays[i];
    state[i] = count_met(state[i], decide(solve(ray, spheres[at]), ray, policies(), exact).met);
  }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  zero = params.zero;
  let first = first_ray(workgroup.x, local);
  if (params.pairwise != 0u) {
    mark_own(first);
    solve_marked(first, 0u);
    return;
  }
  prepare_rays(first);
  for (var begin = params.sphere_begin; begin < params.sphere_end; begin += BLOCKS * BLOCK) {
    mark(begin, params.sphere_end);
    solve_marked(first, begin);
  }
}
