// Spheres that a ray has to be solved with, leaf by leaf. They are not solved where they are found: on a software adapter every thread
// of a subgroup would pay for each. Needs of the program: `key_limit`, the most a key may be to count, of spheres and of children: a
// number that is not negative and tells how far what has it begins.

// Leaves at most, and how many there are. They are told one by one, and not in an array: see traverse/stack.wgsl.
const FULL: u32 = 3u;
var<private> waiting: u32;
var<private> oldest: Leaf;
var<private> next: Leaf;
var<private> newest: Leaf;

// Spheres of a leaf.
struct Leaf {
  first: u32,
  // Of the nearest of them; its lowest eight bits say which wait.
  key: u32,
}

// Of the spheres of the leaf in hand: where they begin.
var<private> lows: vec4<f32>;
var<private> more_lows: vec4<f32>;
// Where one that is not to be solved does.
const NOWHERE_NEAR: f32 = 3e38;

// More than any key that counts.
fn most_key() -> u32 {
  return bitcast<u32>(max(key_limit(), 0.0)) | 255u;
}

// To be called before a leaf's spheres.
fn begin_leaf() {
  lows = vec4<f32>(NOWHERE_NEAR);
  more_lows = lows;
}

// Sphere j of the leaf is to be solved.
fn wait_for(j: u32, low: f32) {
  lows = select(lows, vec4<f32>(low), vec4<u32>(j) == vec4<u32>(0u, 1u, 2u, 3u));
  more_lows = select(more_lows, vec4<f32>(low), vec4<u32>(j) == vec4<u32>(4u, 5u, 6u, 7u));
}

// To be called after them: those that still count wait, from now on.
fn end_leaf(first: u32) {
  let limit = vec4<f32>(key_limit());
  let bits = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), lows <= limit)
    | select(vec4<u32>(0u), vec4<u32>(16u, 32u, 64u, 128u), more_lows <= limit);
  let which = bits.x | bits.y | bits.z | bits.w;
  let pairs = min(lows, more_lows);
  let low = max(min(min(pairs.x, pairs.y), min(pairs.z, pairs.w)), 0.0);
  let leaf = Leaf(first, (bitcast<u32>(low) & 0xffffff00u) | which);
  if (waiting == 0u) {
    oldest = leaf;
  } else if (waiting == 1u) {
    next = leaf;
  } else {
    newest = leaf;
  }
  waiting += select(0u, 1u, which != 0u);
}

// Forgets the oldest leaf, where nothing of it counts any more.
fn drop_oldest(most: u32) {
  if (waiting > 0u && (oldest.key > most || (oldest.key & 255u) == 0u)) {
    oldest = next;
    next = newest;
    waiting -= 1u;
  }
}

// The place of a sphere that counts, which waits no longer; NONE when there is none.
fn take_waiting() -> u32 {
  let most = most_key();
  drop_oldest(most);
  drop_oldest(most);
  drop_oldest(most);
  if (waiting == 0u) {
    return NONE;
  }
  let j = firstTrailingBit(oldest.key & 255u);
  oldest.key &= ~(1u << j);
  return oldest.first + j;
}
