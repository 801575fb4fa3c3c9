// Program: writes both roots of the sphere that `closest` found. With `exact`, they are computed as pairs of f32 and rounded once.

@group(0) @binding(3) var<storage, read_write> state: array<ClosestState>;
@group(0) @binding(4) var<storage, read_write> intervals: array<Interval>;

fn process_ray(i: u32) {
  let best = state[i];
  // Each part finishes the rays whose best sphere it contains. The first part also finishes the rays without a hit.
  if (best.id - params.first_id >= params.sphere_count && (best.id != NO_SPHERE || params.fresh == 0u)) {
    return;
  }
  var interval = Interval(INFINITY_BITS, INFINITY_BITS, NO_SPHERE);
  if ((best.flags & STATE_UNFINISHED) != 0u) {
    interval.t_enter = TAG_UNFINISHED;
  } else if (exact && is_undecided(best)) {
    interval.t_enter = TAG_UNDECIDED;
  } else if (best.id == NO_SPHERE) {
    interval.t_enter = select(INFINITY_BITS, TAG_OVERFLOW, (best.flags & STATE_OVERFLOW) != 0u);
  } else if (!exact) {
    let at = best.id - params.first_id;
    let solved = intersect_for(ray_attributes_of(i), at, rays[i], spheres[at]);
    interval = Interval(reported(solved.t_enter), reported(solved.t_exit), best.id);
  } else if (has_motion_or_shape) {
    interval = Interval(TAG_UNROUNDED, TAG_UNROUNDED, best.id);
  } else {
    let found = double_roots(scale(rays[i], spheres[best.id - params.first_id]));
    let enter = round_root(found.enter, found.enter_bound, found.shift);
    let exit = round_root(found.exit, found.exit_bound, found.shift);
    let open = fast || enter == TAG_UNROUNDED || exit == TAG_UNROUNDED;
    interval = Interval(select(enter, TAG_UNROUNDED, open), exit, best.id);
  }
  intervals[i] = interval;
}
