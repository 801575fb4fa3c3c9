// State of `count` per ray: the number of spheres hit so far, and flags for undecided results. The host clears it before the first
// dispatch. Needs `params`.

@group(0) @binding(3) var<storage, read_write> state: array<CountState>;

// Whether no further sphere matters: a count can always grow.
fn is_settled(sum: CountState) -> bool {
  return false;
}

// Updates the state with the classification of the sphere at a position.
fn add_hit(before: CountState, hit_class: u32, at: u32) -> CountState {
  var sum = before;
  sum.count += select(0u, 1u, hit_class == HIT);
  sum.flags |= select(0u, COUNT_UNDECIDED, hit_class == UNDECIDED) | select(0u, COUNT_OVERFLOW, hit_class == OVERFLOW);
  return sum;
}
