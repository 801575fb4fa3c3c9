// State of `count` per ray: the number of spheres hit so far, and flags for undecided results. The host clears it before the first
// dispatch. Needs `params`.

@group(0) @binding(3) var<storage, read_write> state: array<CountState>;

// Updates the state with the classification of one more sphere.
fn count_hit(before: CountState, hit_class: u32) -> CountState {
  var counted = before;
  counted.count += select(0u, 1u, hit_class == HIT);
  counted.flags |= select(0u, COUNT_UNDECIDED, hit_class == UNDECIDED) | select(0u, COUNT_OVERFLOW, hit_class == OVERFLOW);
  return counted;
}
