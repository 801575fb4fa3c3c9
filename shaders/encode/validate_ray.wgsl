// Validates the caller's rays and copies them for a cast. Infinite ends become the largest finite numbers. An invalid ray is replaced
// by one that ends before it starts. Twin of `check_ray` in src/query/validate.rs and of `finite` in src/intersect/scalar.rs. Rays are
// read as bits, because no shader may compute with an infinity or a NaN.

@group(0) @binding(0) var<uniform> task: Task;
@group(0) @binding(1) var<storage, read> given: array<u32>;
@group(0) @binding(2) var<storage, read_write> rays: array<u32>;

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

// Copies ray i if it is valid and `otherwise` is true; if not, writes its replacement. Returns whether the ray is usable.
fn load_ray(i: u32, otherwise: bool) -> bool {
  let at = task.rays_at + 8u * i;
  let to = 8u * i;
  if (!(otherwise && is_usable(at))) {
    for (var k = 0u; k < 8u; k++) {
      rays[to + k] = 0u;
    }
    rays[to + 3u] = BAD_START;
    rays[to + 4u] = bitcast<u32>(1.0);
    rays[to + 7u] = BAD_END;
    return false;
  }
  for (var k = 0u; k < 8u; k++) {
    rays[to + k] = given[at + k];
  }
  rays[to + 3u] = select(given[at + 3u], bitcast<u32>(-FAR), given[at + 3u] == MINUS_INFINITY_BITS);
  rays[to + 7u] = select(given[at + 7u], bitcast<u32>(FAR), given[at + 7u] == INFINITY_BITS);
  return true;
}
