// Program: writes the results of `closest` as records. With `exact`, roots are computed as pairs of f32 and rounded once.

@group(0) @binding(3) var<storage, read_write> state: array<ClosestState>;
@group(0) @binding(4) var<storage, read_write> hits: array<Hit>;

// The rounded root if it lies within the bounds that `closest` has proved, else TAG_UNROUNDED: the host rounds it.
fn within(t: u32, best: ClosestState) -> u32 {
  if (t == TAG_UNROUNDED) {
    return TAG_UNROUNDED;
  }
  let value = bitcast<f32>(t);
  return select(TAG_UNROUNDED, t, value >= best.low && value <= best.high);
}

// The t of the hit, in [t_min, t_max], rounded once. `closest` has proved which root it is.
fn rounded(ray: Ray, best: ClosestState) -> u32 {
  if (best.low == best.high) {
    return bitcast<u32>(best.t);
  }
  if (has_motion_or_shape) {
    return TAG_UNROUNDED;
  }
  let scaled = scale(ray, spheres[best.id - params.first_id]);
  let found = double_roots(scaled);
  if (params.inside == INSIDE_EXIT) {
    // The same test as in `classify`: the exit root is the result if the entry root lies before the start.
    let solved = intersect_compensated(scaled);
    if (widen(solved.t_enter, solved.enter_bound).x < ray.t_min) {
      return within(round_root(found.exit, found.exit_bound, found.shift), best);
    }
  }
  let enter = round_root(found.enter, found.enter_bound, found.shift);
  if (enter == TAG_UNROUNDED) {
    return TAG_UNROUNDED;
  }
  return within(bitcast<u32>(max(bitcast<f32>(enter), ray.t_min)), best);
}

fn process_ray(i: u32) {
  let best = state[i];
  // Each part finishes the rays whose best sphere it contains. The first part also finishes the rays without a hit.
  if (best.id - params.first_id >= params.sphere_count && (best.id != NO_SPHERE || params.fresh == 0u)) {
    return;
  }
  var hit = Hit(bitcast<u32>(best.t), best.id);
  if ((best.flags & STATE_UNFINISHED) != 0u) {
    hit = Hit(TAG_UNFINISHED, NO_SPHERE);
  } else if (exact && is_undecided(best)) {
    hit = Hit(TAG_UNDECIDED, NO_SPHERE);
  } else if (best.id == NO_SPHERE) {
    hit = Hit(select(INFINITY_BITS, TAG_OVERFLOW, (best.flags & STATE_OVERFLOW) != 0u), NO_SPHERE);
  } else if (exact) {
    hit.t = select(rounded(rays[i], best), TAG_UNROUNDED, fast);
  }
  hits[i] = hit;
}
