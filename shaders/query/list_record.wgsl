// Lists of hits, one record per hit, one list after the other. `count` has computed the length of each list. Needs `params`.

// Per ray the index of its next record in `lists`, and the end of its list; both are 0 if the ray has no list here.
@group(0) @binding(3) var<storage, read_write> state: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> lists: array<Interval>;

// Both roots. With `exact`, they are computed as pairs of f32 and rounded once, or left to the host.
fn roots_of(scaled: ScaledPair, solved: SphereRoots, id: u32) -> Interval {
  if (!exact) {
    return Interval(reported(solved.t_enter), reported(solved.t_exit), id);
  }
  if (has_motion_or_shape) {
    return Interval(TAG_UNROUNDED, TAG_UNROUNDED, id);
  }
  let found = double_roots(scaled);
  let enter = round_root(found.enter, found.enter_bound, found.shift);
  let exit = round_root(found.exit, found.exit_bound, found.shift);
  let open = fast || enter == TAG_UNROUNDED || exit == TAG_UNROUNDED;
  return Interval(select(enter, TAG_UNROUNDED, open), exit, id);
}

// Writes the next record of a list if the sphere is hit, and returns the list's new state. Another program has counted the hits, and a
// driver may round differently there: a list with too many hits keeps counting them, so that the host notices, and writes none.
fn append_hit(list: vec2<u32>, ray: Ray, scaled: ScaledPair, id: u32) -> vec2<u32> {
  let solved = intersect_scaled(scaled);
  if (classify(solved, ray, policies(), exact).hit_class != HIT) {
    return list;
  }
  if (list.x < list.y) {
    lists[list.x] = roots_of(scaled, solved, id);
  }
  return vec2<u32>(list.x + 1u, list.y);
}
