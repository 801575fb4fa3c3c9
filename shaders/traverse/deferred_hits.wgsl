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

// Least key and mask of the deferred spheres of the current leaf.
var<private> leaf_low: f32;
var<private> leaf_mask: u32;
// Larger than every key.
const NOT_DEFERRED: f32 = 3e38;

// Upper bound of the keys that are not culled, whatever their lowest eight bits.
fn max_key() -> u32 {
  return bitcast<u32>(max(cutoff_key(), 0.0)) | 255u;
}

// Call before testing a leaf's spheres.
fn begin_leaf() {
  leaf_low = NOT_DEFERRED;
  leaf_mask = 0u;
}

// Marks sphere j of the leaf, with key `low`, to be deferred.
fn defer(j: u32, low: f32) {
  leaf_low = min(leaf_low, low);
  leaf_mask |= 1u << j;
}

// Call after testing a leaf's spheres. Defers the marked spheres unless all are culled by now.
fn end_leaf(first: u32) {
  let which = select(0u, leaf_mask, leaf_low <= cutoff_key());
  let leaf = Leaf(first, (bitcast<u32>(max(leaf_low, 0.0)) & 0xffffff00u) | which);
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
