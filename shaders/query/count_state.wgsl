// State of `count` per ray: the number of spheres hit so far, and flags for undecided results. The host clears it before the first
// dispatch. Needs `params`.

@group(0) @binding(3) var<storage, read_write> state: array<Counted>;

// Updates the state with the classification of one more sphere.
fn count_met(before: Counted, met: u32) -> Counted {
  var counted = before;
  counted.count += select(0u, 1u, met == YES);
  counted.flags |= select(0u, COUNTED_DOUBT, met == MAYBE) | select(0u, COUNTED_BEYOND, met == BEYOND);
  return counted;
}
