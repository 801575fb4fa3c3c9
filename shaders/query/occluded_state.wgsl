// State of `occluded`: four bitsets with one bit per ray, one bitset after the other. Needs `params`. The host clears them before the
// first dispatch.

@group(0) @binding(3) var<storage, read_write> bits: array<atomic<u32>>;

// Hit; undecided; hit only beyond f32 (overflow); unfinished, which only the BVH traversal sets.
const HIT_BITS: u32 = 0u;
const UNDECIDED_BITS: u32 = 1u;
const OVERFLOW_BITS: u32 = 2u;
const UNFINISHED_BITS: u32 = 3u;

fn word_of(which: u32, i: u32) -> u32 {
  return which * ((params.ray_count + 31u) / 32u) + i / 32u;
}

// 1 if ray i is known to hit a sphere, else 0.
fn was_hit(i: u32) -> u32 {
  return (atomicLoad(&bits[word_of(HIT_BITS, i)]) >> (i % 32u)) & 1u;
}

// Sets the bit of ray i in a bitset if the lowest bit of `flag` is set.
fn add(which: u32, i: u32, flag: u32) {
  if ((flag & 1u) != 0u) {
    atomicOr(&bits[word_of(which, i)], 1u << (i % 32u));
  }
}
