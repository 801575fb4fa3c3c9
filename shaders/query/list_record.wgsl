// Lists of hits, one record per hit, one list after the other. `count` has computed the length of each list. Needs `params`.

// Per ray the index of its next record in `lists`.
@group(0) @binding(3) var<storage, read_write> state: array<u32>;
@group(0) @binding(4) var<storage, read_write> lists: array<Interval>;

// In place of an index: the ray has no list here.
const NO_LIST: u32 = 0xffffffffu;

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

// Writes the record of a sphere to index `at` of `lists` if it is hit. Returns the index of the next record.
fn append_hit(at: u32, ray: Ray, scaled: ScaledPair, id: u32) -> u32 {
  let solved = intersect_scaled(scaled);
  if (classify(solved, ray, policies(), exact).hit_class != HIT || at >= arrayLength(&lists)) {
    return at;
  }
  lists[at] = roots_of(scaled, solved, id);
  return at + 1u;
}
