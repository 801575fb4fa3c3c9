// A pass of the radix sort, by four bits of the key (reduce, then scan: Merrill & Grimshaw 2011, High Performance and Scalable
// Radix Sorting). What its two programs have in common.

@group(0) @binding(1) var<storage, read> items: array<Item>;

// Values of a digit.
const BINS: u32 = 16u;
// Items a thread, and a workgroup.
const EACH: u32 = 8u;
const TILE: u32 = 2048u;

fn digit(i: u32) -> u32 {
  if (plant.shift < 32u) {
    return (items[i].low >> plant.shift) & 15u;
  }
  return (items[i].high >> (plant.shift - 32u)) & 15u;
}
