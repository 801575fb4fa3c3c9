// State of `transmittance` per ray: in `count` the sum of the optical depths of the spheres hit so far, and the flags of a `CountState`.
// The host clears it before the first dispatch. Needs `params`, `sphere_attributes` and intersect/attributes.wgsl.

@group(0) @binding(3) var<storage, read_write> state: array<CountState>;

// Set by the host: spheres have transmittances. Otherwise all are opaque.
override has_transmittances: bool = false;

// Depth of an opaque sphere, and the largest sum: 150 * 2^24. Twin of `OPAQUE` in src/query/optical_depth.rs.
const OPAQUE: u32 = 2516582400u;

// Optical depth of the sphere at a position.
fn depth_of(at: u32) -> u32 {
  if (!has_transmittances) {
    return OPAQUE;
  }
  return depth_at(at);
}

// Sum of two depths, saturated at OPAQUE. Twin of `add_depths` in src/query/optical_depth.rs.
fn add_depth(a: u32, b: u32) -> u32 {
  return a + min(b, OPAQUE - a);
}

// Whether no further sphere matters: the sum is OPAQUE.
fn is_settled(sum: CountState) -> bool {
  return sum.count == OPAQUE;
}

// Updates the state with the classification of the sphere at a position. Once the ray is opaque, no other sphere matters.
fn add_hit(before: CountState, hit_class: u32, at: u32) -> CountState {
  var sum = before;
  if (hit_class == HIT) {
    sum.count = add_depth(sum.count, depth_of(at));
  }
  sum.flags |= select(0u, COUNT_UNDECIDED, hit_class == UNDECIDED) | select(0u, COUNT_OVERFLOW, hit_class == OVERFLOW);
  sum.flags = select(sum.flags, 0u, is_settled(sum));
  return sum;
}
