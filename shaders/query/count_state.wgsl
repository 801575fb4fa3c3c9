// What `count` knows of a ray: the spheres met so far, and what is left open. The host clears it before the first dispatch. Needs
// `params`.

@group(0) @binding(3) var<storage, read_write> state: array<Counted>;

// Takes what became of one more sphere in.
fn count_met(before: Counted, met: u32) -> Counted {
  var counted = before;
  counted.count += select(0u, 1u, met == YES);
  counted.flags |= select(0u, COUNTED_DOUBT, met == MAYBE) | select(0u, COUNTED_BEYOND, met == BEYOND);
  return counted;
}
