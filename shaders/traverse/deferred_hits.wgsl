// Deferred intersection tests: candidates of a ray from at most three leaves. Intersecting them where they are found would cost more: on a
// software adapter every thread of a subgroup would pay for each test. The program defines `cutoff_key`, the largest key of a sphere or
// child that is not culled. A key is a nonnegative number that grows with the position where a sphere or child begins.

// Largest number of deferred leaves, and their current number. They are three variables instead of an array because of the cost of stores;
// see traverse/stack.wgsl.
const FULL: u32 = 3u;
var<private> deferred_leaves: u32;
var<private> oldest: Leaf;
var<private> next: Leaf;
var<private> newest: Leaf;

// The deferred spheres of a leaf.
struct Leaf {
  first: u32,
  // Key of the nearest of them. Its lowest eight bits are the mask of the deferred spheres.
  key: u32,
}

// Keys of spheres 0 to 3 and 4 to 7 of the current leaf.
var<private> lows: vec4<f32>;
var<private> more_lows: vec4<f32>;
// Key of a sphere that is not deferred.
const NOT_DEFERRED: f32 = 3e38;

// Upper bound of the keys that are not culled, whatever their lowest eight bits.
fn max_key() -> u32 {
  return bitcast<u32>(max(cutoff_key(), 0.0)) | 255u;
}

// Call before testing a leaf's spheres.
fn begin_leaf() {
  lows = vec4<f32>(NOT_DEFERRED);
  more_lows = lows;
}

// Marks sphere j of the leaf, with key `low`, to be deferred.
fn defer(j: u32, low: f32) {
  lows = select(lows, vec4<f32>(low), vec4<u32>(j) == vec4<u32>(0u, 1u, 2u, 3u));
  more_lows = select(more_lows, vec4<f32>(low), vec4<u32>(j) == vec4<u32>(4u, 5u, 6u, 7u));
}

// Call after testing a leaf's spheres. Defers the marked spheres that are not culled by now.
fn end_leaf(first: u32) {
  let limit = vec4<f32>(cutoff_key());
  let bits = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), lows <= limit)
    | select(vec4<u32>(0u), vec4<u32>(16u, 32u, 64u, 128u), more_lows <= limit);
  let which = bits.x | bits.y | bits.z | bits.w;
  let pairs = min(lows, more_lows);
  let low = max(min(min(pairs.x, pairs.y), min(pairs.z, pairs.w)), 0.0);
  let leaf = Leaf(first, (bitcast<u32>(low) & 0xffffff00u) | which);
  if (deferred_leaves == 0u) {
    oldest = leaf;
  } else if (deferred_leaves == 1u) {
    next = leaf;
  } else {
    newest = leaf;
  }
  deferred_leaves += select(0u, 1u, which != 0u);
}

// Drops the oldest leaf if all of its deferred spheres are culled or taken.
fn drop_oldest(most: u32) {
  if (deferred_leaves > 0u && (oldest.key > most || (oldest.key & 255u) == 0u)) {
    oldest = next;
    next = newest;
    deferred_leaves -= 1u;
  }
}

// Removes a deferred sphere of the oldest leaf that is not culled, and returns its position in leaf order; NONE if there is none.
fn next_deferred() -> u32 {
  let most = max_key();
  drop_oldest(most);
  drop_oldest(most);
  drop_oldest(most);
  if (deferred_leaves == 0u) {
    return NONE;
  }
  let j = firstTrailingBit(oldest.key & 255u);
  oldest.key &= ~(1u << j);
  return oldest.first + j;
}
