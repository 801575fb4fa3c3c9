// Whether a ray of the caller's is valid. Twin of `check_ray` in src/query/validate.rs. Rays are read as bits, because no shader may compute
// with an infinity or a NaN. The program declares `given`, the words of the rays.

const MAGNITUDE: u32 = 0x7fffffffu;
const MINUS_INFINITY_BITS: u32 = 0xff800000u;

// Whether the three numbers from word `at` on are finite.
fn are_finite(at: u32) -> bool {
  let largest = max(max(given[at] & MAGNITUDE, given[at + 1u] & MAGNITUDE), given[at + 2u] & MAGNITUDE);
  return largest < INFINITY_BITS;
}

fn is_nan(bits: u32) -> bool {
  return (bits & MAGNITUDE) > INFINITY_BITS;
}

// Maps the bits of a number to an integer, in the same order as the numbers. Both zeros map to 0.
fn order_of(bits: u32) -> i32 {
  let magnitude = i32(bits & MAGNITUDE);
  return select(magnitude, -magnitude, bits > MAGNITUDE);
}

fn is_usable(at: u32) -> bool {
  let start = given[at + 3u];
  let end = given[at + 7u];
  let direction = (given[at + 4u] | given[at + 5u] | given[at + 6u]) & MAGNITUDE;
  return are_finite(at) && are_finite(at + 4u) && direction != 0u && !is_nan(start) && !is_nan(end)
    && order_of(start) <= order_of(end) && start != INFINITY_BITS && end != MINUS_INFINITY_BITS;
}

// The ends of a ray as bits: infinite ends become the largest finite numbers. Twin of `with_finite_ends` in src/intersect/resolve.rs.
fn finite_start(bits: u32) -> u32 {
  return select(bits, bitcast<u32>(-FAR), bits == MINUS_INFINITY_BITS);
}

fn finite_end(bits: u32) -> u32 {
  return select(bits, bitcast<u32>(FAR), bits == INFINITY_BITS);
}
