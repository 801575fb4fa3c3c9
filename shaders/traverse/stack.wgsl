// Traversal stack: the children still to be visited, nearest first. Needs traverse/qnode.wgsl, traverse/lone_thread.wgsl,
// intersect/attributes.wgsl and traverse/deferred_hits.wgsl. The program defines `visit_node`, which tests the children of the node
// `current` and sets it to the next child to visit; `test_sphere`, which tests a sphere of a leaf; and `cutoff_key`, see
// traverse/deferred_hits.wgsl.
//
// A node pushes one stack entry for all its remaining children, not one per child (as Ylitie, Karras & Laine 2017, Efficient Incoherent Ray
// Traversal on GPUs Through Compressed Wide BVHs): a store to an address that only the thread itself knows is the most expensive operation
// on a software adapter (output/bench/README.md).

@group(0) @binding(6) var<storage, read> order: array<u32>;

// Replaces a child when the traversal is over, and a key where there is no child.
const NONE: u32 = 0xffffffffu;

// As many entries as a BVH has levels at most: `QBvh4::MAX_LEVELS`. src/gpu/programs.rs makes the variant with a short stack.
var<private> stack: array<Siblings, 96>;
var<private> top: u32;
// The next child to visit, and its siblings.
var<private> current: u32;
var<private> siblings: Siblings;
// Loop iterations so far. lavapipe silently stops a subgroup after 65,535 iterations, and each of its threads executes the iterations of
// all the others: call `count_steps` at the end of every code section with several loops.
var<private> steps: u32;

// The ray's attributes, and below whether they let it hit the sphere at a position in leaf order.
var<private> attributes: RayAttributes;

fn admits_leaf(place: u32) -> bool {
  return !has_filters || is_for(attributes, order[place]);
}

// Intersects the ray with the sphere at a position in leaf order.
fn intersect_at(ray: Ray, place: u32) -> SphereRoots {
  var at = 0u;
  if (has_motion_or_shape) {
    at = order[place];
  }
  return intersect_for(attributes, at, ray, spheres[place]);
}

fn begin_traversal(i: u32) {
  attributes = ray_attributes_of(i);
  top = 0u;
  current = 0u;
  siblings = Siblings(0u, NONE);
  steps = 0u;
  deferred_leaves = 0u;
}

fn end_traversal() {
  top = 0u;
  siblings.key = NONE;
}

// Loops of a traversal whose iterations are not counted one by one. They count because even a loop that never runs its body takes one
// iteration.
const LOOPS: u32 = 6u;

fn count_steps() {
  steps = max_in_group(steps + LOOPS);
}

fn over_step_limit() -> bool {
  return steps > params.steps;
}

// Sorts the entered children of a node by a nonnegative number each. Returns their keys in ascending order, followed by NONE. A key is the
// bits of the number, with the lowest two replaced by the child's position, 0 to 3.
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

// Children of a node that are still to be visited.
struct Siblings {
  node: u32,
  // Key of the nearest of them, or NONE if there are none. Its lowest eight bits are their count, in two bits, and three positions of two
  // bits each, the nearest lowest.
  key: u32,
}

// All entered children of a node but the first.
fn siblings_of(node: u32, keys: vec4<u32>) -> Siblings {
  let later = keys.yzw;
  let left = select(vec3<u32>(1u), vec3<u32>(0u), later == vec3<u32>(NONE));
  let places = (later & vec3<u32>(3u)) << vec3<u32>(2u, 4u, 6u);
  let key = (keys.y & 0xffffff00u) | places.x | places.y | places.z | (left.x + left.y + left.z);
  return Siblings(node, select(key, NONE, keys.y == NONE));
}

// Sets `current` to the nearest child that is not culled, from `siblings` or the stack; NONE if there is none.
fn pop() {
  let most = max_key();
  while (siblings.key > most && top > 0u) {
    top -= 1u;
    steps += 1u;
    siblings = stack[top];
  }
  current = NONE;
  if (siblings.key <= most) {
    current = child_at(siblings.node, (siblings.key >> 2u) & 3u);
    let left = (siblings.key & 3u) - 1u;
    siblings.key = select((siblings.key & 0xffffff00u) | ((siblings.key >> 2u) & 60u) | left, NONE, left == 0u);
  }
}

// Sets `current` to the nearest entered child of a node, or pops if there is none.
fn enter(keys: vec4<u32>, children: vec4<u32>) {
  steps += 1u;
  if (keys.x == NONE) {
    pop();
  } else {
    // Branchless: if `siblings` is NONE, the next push overwrites it.
    stack[top] = siblings;
    top += select(1u, 0u, siblings.key == NONE);
    siblings = siblings_of(current, keys);
    current = child_of(children, keys.x & 3u);
  }
  if (over_step_limit()) {
    current = NONE;
  }
}

// Tests the spheres of the current leaf.
fn test_leaf() {
  let first = current & 0x0fffffffu;
  let count = (current >> 28u) & 7u;
  begin_leaf();
  for (var j = 0u; j < count; j++) {
    steps += 1u;
    test_sphere(j, first + j);
  }
  end_leaf(first);
}

// Traverses until FULL leaves are deferred or the traversal is over.
fn collect_candidates() {
  while (current != NONE && deferred_leaves < FULL) {
    for (var n = 0u; n < NODES_PER_TURN && current < LEAF; n++) {
      visit_node();
    }
    if (current >= LEAF && current != NONE) {
      test_leaf();
      pop();
    }
    count_steps();
  }
}
