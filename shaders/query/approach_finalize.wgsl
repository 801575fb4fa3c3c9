// Program: what `approach` found, as records; with `exact` the host rounds or judges.

// Set by the host: whether the bounds decide.
override exact: bool = false;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read_write> state: array<Nearest>;
@group(0) @binding(4) var<storage, read_write> approaches: array<Approach>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  // The first part's turn: nothing here needs spheres.
  if (i >= params.ray_count || params.fresh == 0u) {
    return;
  }
  let best = state[i];
  var found = Approach(reported(best.t), reported(best.clearance), best.id);
  if (best.low > best.high) {
    // The walk was not finished.
    found.t = TAG_AGAIN;
  } else if (best.id == NO_SPHERE) {
    found = Approach(INFINITY_BITS, INFINITY_BITS, NO_SPHERE);
  } else if (exact) {
    // best.rival is FAR when there is none.
    let sure = best.high < FAR * 0.5 && (best.rival > best.high);
    found.t = select(TAG_JUDGE, TAG_ROUND, sure);
  }
  approaches[i] = found;
}
