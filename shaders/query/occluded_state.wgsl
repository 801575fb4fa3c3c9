// What `occluded` knows of each ray: four bitsets, one after the other. Needs `params`. The host clears them before the first
// dispatch.

@group(0) @binding(3) var<storage, read_write> bits: array<atomic<u32>>;

// Met; in doubt; met only beyond f32; to be cast again, by the tree's walk alone.
const MET: u32 = 0u;
const DOUBT: u32 = 1u;
const BEYOND_F32: u32 = 2u;
const AGAIN: u32 = 3u;

fn word_of(which: u32, i: u32) -> u32 {
  return which * ((params.ray_count + 31u) / 32u) + i / 32u;
}

// Whether ray i was met, 0 or 1.
fn was_met(i: u32) -> u32 {
  return (atomicLoad(&bits[word_of(MET, i)]) >> (i % 32u)) & 1u;
}

// Sets ray i's bit in one of the sets, when the lowest bit of `flag` is.
fn add(which: u32, i: u32, flag: u32) {
  if ((flag & 1u) != 0u) {
    atomicOr(&bits[word_of(which, i)], 1u << (i % 32u));
  }
}
