// What a ray on its way through the tree keeps of nodes: children still to be entered, the nearest first. Needs traverse/qnode.wgsl, traverse/lone_thread.wgsl,
// intersect/attributes.wgsl and traverse/deferred_hits.wgsl, and of the program: `descend`, from node to node until there is a leaf or nothing; `meet_leaf`, which
// looks at a leaf's spheres; `key_limit`, see traverse/deferred_hits.wgsl.
//
// A node leaves one entry behind, not one a child (as Ylitie, Karras & Laine 2017, Efficient Incoherent Ray Traversal on GPUs Through
// Compressed Wide BVHs): what a thread stores where it alone says is what costs most on a software adapter
// (output/bench/README.md).

@group(0) @binding(6) var<storage, read> order: array<u32>;

// In place of a child when the walk is over, and of a key that no child has.
const NONE: u32 = 0xffffffffu;

// As many as a tree has levels at the most: `Lbvh::DEEPEST`.
var<private> stack: array<Rest, 96>;
var<private> top: u32;
// The child to go on with, and its siblings.
var<private> current: u32;
var<private> rest: Rest;
// Turns of all loops so far. lavapipe stops a subgroup without a word when it has made 65,535, and one of its threads makes every
// turn of all: so `take_turns` belongs at the end of whatever goes through several loops.
var<private> steps: u32;

// What the ray brings along, and whether it may meet the sphere at a place in the order of the tree.
var<private> brought: Extra;

fn admits_leaf(place: u32) -> bool {
  return !picky || is_for(brought, order[place]);
}

// Solves the ray with the sphere at a place.
fn solve_at(ray: Ray, place: u32) -> Solved {
  var at = 0u;
  if (moving) {
    at = order[place];
  }
  return solve_for(brought, at, ray, spheres[place]);
}

fn begin_walk(i: u32) {
  brought = extra_of(i);
  top = 0u;
  current = 0u;
  rest = Rest(0u, NONE);
  steps = 0u;
  waiting = 0u;
}

fn end_walk() {
  top = 0u;
  rest.key = NONE;
}

// The loops of a walk that are not counted where they turn, since an empty one turns once.
const LOOPS: u32 = 6u;

fn take_turns() {
  steps = most_of_group(steps + LOOPS);
}

fn too_long() -> bool {
  return steps > params.steps;
}

// The places 0 to 3 in the order of numbers that are not negative, for those that are entered; then NONE. The lowest two bits of
// a number give way to its place.
fn sorted(numbers: vec4<f32>, entered: vec4<bool>) -> vec4<u32> {
  let keys = (bitcast<vec4<u32>>(numbers) & vec4<u32>(0x7ffffffcu)) | vec4<u32>(0u, 1u, 2u, 3u);
  let k = select(vec4<u32>(NONE), keys, entered);
  let a = vec4<u32>(min(k.x, k.y), max(k.x, k.y), min(k.z, k.w), max(k.z, k.w));
  let least = min(a.x, a.z);
  let most = max(a.y, a.w);
  let p = max(a.x, a.z);
  let q = min(a.y, a.w);
  return vec4<u32>(least, min(p, q), max(p, q), most);
}

// A node's children that are still to be entered.
struct Rest {
  node: u32,
  // Of the nearest of them; its lowest eight bits are three places, the nearest first, and how many are left. NONE when none is.
  key: u32,
}

// All but the first of a node's children.
fn rest_of(node: u32, keys: vec4<u32>) -> Rest {
  let later = keys.yzw;
  let left = select(vec3<u32>(1u), vec3<u32>(0u), later == vec3<u32>(NONE));
  let places = (later & vec3<u32>(3u)) << vec3<u32>(2u, 4u, 6u);
  let key = (keys.y & 0xffffff00u) | places.x | places.y | places.z | (left.x + left.y + left.z);
  return Rest(node, select(key, NONE, keys.y == NONE));
}

// Goes on with the nearest child that counts, of those not at hand.
fn pop() {
  let most = most_key();
  while (rest.key > most && top > 0u) {
    top -= 1u;
    steps += 1u;
    rest = stack[top];
  }
  current = NONE;
  if (rest.key <= most) {
    current = child_at(rest.node, (rest.key >> 2u) & 3u);
    let left = (rest.key & 3u) - 1u;
    rest.key = select((rest.key & 0xffffff00u) | ((rest.key >> 2u) & 60u) | left, NONE, left == 0u);
  }
}

// Goes on with the nearest of a node's children, or with one from before.
fn enter(keys: vec4<u32>, children: vec4<u32>) {
  steps += 1u;
  if (keys.x == NONE) {
    pop();
  } else {
    // Without a branch: the next one overwrites what is NONE.
    stack[top] = rest;
    top += select(1u, 0u, rest.key == NONE);
    rest = rest_of(current, keys);
    current = child_of(children, keys.x & 3u);
  }
  if (too_long()) {
    current = NONE;
  }
}

// Goes on until spheres are to be solved, or the walk is over.
fn walk() {
  while (current != NONE && waiting < FULL) {
    descend();
    if (current != NONE) {
      meet_leaf();
      pop();
    }
    take_turns();
  }
}
