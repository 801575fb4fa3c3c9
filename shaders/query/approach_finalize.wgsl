// Program: writes the results of `approach` as records. With `exact`, the host rounds the numbers or resolves the ray exactly.

// Set by the host: whether only comparisons that the error bounds prove are certain (precision `exact`).
override exact: bool = false;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read_write> state: array<ApproachState>;
@group(0) @binding(4) var<storage, read_write> approaches: array<Approach>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  // Only the dispatch of the first part writes records: they do not depend on the spheres of a part.
  if (i >= params.ray_count || params.fresh == 0u) {
    return;
  }
  let best = state[i];
  var found = Approach(reported(best.t), reported(best.clearance), best.id);
  if (best.low > best.high) {
    // The traversal was not finished.
    found.t = TAG_UNFINISHED;
  } else if (best.id == NO_SPHERE) {
    found = Approach(INFINITY_BITS, INFINITY_BITS, NO_SPHERE);
  } else if (exact) {
    // `best.rival` is FAR if there is no rival.
    let sure = best.high < FAR * 0.5 && (best.rival > best.high);
    found.t = select(TAG_UNDECIDED, TAG_UNROUNDED, sure);
  }
  approaches[i] = found;
}
