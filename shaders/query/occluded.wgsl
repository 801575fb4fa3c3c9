// Program: whether each ray hits any sphere, by brute force over the spheres of one dispatch. Results go into the bitsets of
// query/occluded_state.wgsl.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;

// One bit per ray of the thread. `met` is also set for rays beyond the end of the batch.
var<private> met: u32;
var<private> doubt: u32;
var<private> beyond: u32;
const ALL: u32 = 0xffu;
// Bit 0 of each byte. Multiplied by a ray's bit, it gives the bits of all masks of that ray in `marked`.
const EACH: u32 = 0x01010101u;

// Intersects the marked pairs, without those of rays that have hit a sphere.
fn solve_marked(first: u32, begin: u32) {
  marked &= ~(met * EACH);
  while (marked != 0u) {
    let candidate = next_candidate();
    let i = first + candidate.ray * WORKGROUP;
    let at = select(begin + candidate.sphere, i, params.pairwise != 0u);
    let ray = rays[i];
    let found = select(NO, decide(solve_for(extra_of(i), at, ray, spheres[at]), ray, policies(), exact).met, admits(i, at));
    let bit = 1u << candidate.ray;
    met |= select(0u, bit, found == YES);
    doubt |= select(0u, bit, found == MAYBE);
    beyond |= select(0u, bit, found == BEYOND);
    marked &= select(0xffffffffu, ~(bit * EACH), found == YES);
  }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  zero = params.zero;
  let first = first_ray(workgroup.x, local);
  for (var r = 0u; r < RAYS; r++) {
    let i = first + r * WORKGROUP;
    if (i >= params.ray_count) {
      met |= 1u << r;
    } else {
      met |= was_met(i) << r;
    }
  }
  let before = met;
  if (params.pairwise != 0u) {
    mark_own(first);
    solve_marked(first, 0u);
  } else {
    prepare_rays(first);
    for (var begin = params.sphere_begin; begin < params.sphere_end && for_any(met != ALL); begin += BLOCKS * BLOCK) {
      mark(begin, params.sphere_end);
      solve_marked(first, begin);
    }
  }
  for (var r = 0u; r < RAYS; r++) {
    let i = first + r * WORKGROUP;
    add(MET, i, (met & ~before) >> r);
    add(DOUBT, i, doubt >> r);
    add(BEYOND_F32, i, beyond >> r);
  }
}
