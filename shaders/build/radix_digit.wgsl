// One pass of the radix sort, by a digit of four bits (reduce, then scan: Merrill & Grimshaw 2011, High Performance and Scalable
// Radix Sorting). Shared by radix_count.wgsl and radix_scatter.wgsl.

@group(0) @binding(1) var<storage, read> items: array<Item>;

// Number of values of a digit.
const BINS: u32 = 16u;
// Items per thread, and per workgroup.
const EACH: u32 = 8u;
const TILE: u32 = 2048u;

fn digit(i: u32) -> u32 {
  if (build_params.shift < 32u) {
    return (items[i].low >> build_params.shift) & 15u;
  }
  return (items[i].high >> (build_params.shift - 32u)) & 15u;
}
