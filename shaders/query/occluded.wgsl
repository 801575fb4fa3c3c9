// Program: whether each ray hits any sphere, by brute force over the spheres of one dispatch. Results go into the bitsets of
// query/occluded_state.wgsl.

// One bit per ray of the thread. `hit_mask` is also set for rays beyond the end of the batch.
var<private> hit_mask: u32;
var<private> undecided_mask: u32;
var<private> overflow_mask: u32;
const ALL: u32 = 0xffu;
// Bit 0 of each byte. Multiplied by a ray's bit, it gives the bits of all masks of that ray in `marked`.
const EACH: u32 = 0x01010101u;

// Intersects the marked pairs, without those of rays that have hit a sphere.
fn intersect_marked(first: u32, begin: u32) {
  marked &= ~(hit_mask * EACH);
  while (marked != 0u) {
    let candidate = next_candidate();
    let i = first + candidate.ray * WORKGROUP;
    let at = select(begin + candidate.sphere, i, params.pairwise != 0u);
    let ray = rays[i];
    let roots = intersect_for(ray_attributes_of(i), at, ray, spheres[at]);
    let found = select(MISS, classify(roots, ray, policies(), exact).hit_class, admits(i, at));
    let bit = 1u << candidate.ray;
    hit_mask |= select(0u, bit, found == HIT);
    undecided_mask |= select(0u, bit, found == UNDECIDED);
    overflow_mask |= select(0u, bit, found == OVERFLOW);
    marked &= select(0xffffffffu, ~(bit * EACH), found == HIT);
  }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  zero = params.zero;
  let first = first_ray(workgroup.x, local);
  for (var r = 0u; r < RAYS; r++) {
    let i = first + r * WORKGROUP;
    if (i >= params.ray_count) {
      hit_mask |= 1u << r;
    } else {
      hit_mask |= was_hit(i) << r;
    }
  }
  let before = hit_mask;
  if (params.pairwise != 0u) {
    mark_own(first);
    intersect_marked(first, 0u);
  } else {
    prepare_rays(first);
    for (var begin = params.sphere_begin; begin < params.sphere_end && any_in_group(hit_mask != ALL); begin += BLOCKS * BLOCK) {
      mark(begin, params.sphere_end);
      intersect_marked(first, begin);
    }
  }
  for (var r = 0u; r < RAYS; r++) {
    let i = first + r * WORKGROUP;
    add(HIT_BITS, i, (hit_mask & ~before) >> r);
    add(UNDECIDED_BITS, i, undecided_mask >> r);
    add(OVERFLOW_BITS, i, overflow_mask >> r);
  }
}
