// What a ray on its way through the tree keeps: children still to be entered, and spheres still to be solved, each with where it
// begins to count. Needs quad.wgsl, group.wgsl and brought.wgsl, and of the program: `descend`, from node to node until there is a leaf or nothing;
// `meet_leaf`, which looks at a leaf's spheres; `limit_of_spheres` and `limit_of_children`, beyond which neither counts any more.
//
// Spheres are not solved where they are found: on a software adapter every thread of a subgroup would pay for each.

@group(0) @binding(6) var<storage, read> order: array<u32>;

// After all places that a ray enters, and in place of a child when the walk is over.
const NONE: u32 = 0xffffffffu;

// Deep trees may ask for more: such a ray is left to the host, as is one that takes too many steps.
const DEEPEST: u32 = 96u;
var<private> stack: array<vec2<u32>, 96>;
var<private> top: u32;
// The child to go on with.
var<private> current: u32;
// Turns of all loops so far. lavapipe stops a subgroup without a word when it has made 65,535, and one of its threads makes every
// turn of all: so `take_turns` belongs at the end of whatever goes through several loops.
var<private> steps: u32;

// A leaf may bring seven more when it is not full.
const FULL: u32 = 9u;
var<private> pending: array<vec2<u32>, 16>;
var<private> waiting: u32;

// What the ray brings along, and whether it may meet the sphere at a place in the order of the tree.
var<private> brought: Extra;

fn admits_leaf(place: u32) -> bool {
  return !picky || is_for(brought, order[place]);
}

// Solves the ray with what waits at a place.
fn solve_waiting(ray: Ray, j: u32) -> Solved {
  let place = pending[j].x;
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
  steps = 0u;
  waiting = 0u;
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
  let keys = bitcast<vec4<u32>>(numbers) & vec4<u32>(0x7ffffffcu) | vec4<u32>(0u, 1u, 2u, 3u);
  let k = select(vec4<u32>(NONE), keys, entered);
  let a = vec4<u32>(min(k.x, k.y), max(k.x, k.y), min(k.z, k.w), max(k.z, k.w));
  let least = min(a.x, a.z);
  let most = max(a.y, a.w);
  let p = max(a.x, a.z);
  let q = min(a.y, a.w);
  return vec4<u32>(least, min(p, q), max(p, q), most);
}

// Without a branch: the next one overwrites what is NONE.
fn push(key: u32, children: vec4<u32>) {
  stack[top] = vec2<u32>(child_of(children, key & 3u), key & 0xfffffffcu);
  top += select(1u, 0u, key == NONE);
}

// Takes the nearest child that counts.
fn pop(limit: f32) {
  current = NONE;
  while (top > 0u) {
    top -= 1u;
    steps += 1u;
    let entry = stack[top];
    if (bitcast<f32>(entry.y) <= limit) {
      current = entry.x;
      break;
    }
  }
}

// Goes on with the nearest of a node's children, or with one from before.
fn enter(keys: vec4<u32>, children: vec4<u32>, limit: f32) {
  steps += 1u;
  if (keys.x == NONE) {
    pop(limit);
  } else {
    push(keys.w, children);
    push(keys.z, children);
    push(keys.y, children);
    current = child_of(children, keys.x & 3u);
  }
  if (top > DEEPEST - 3u || too_long()) {
    steps = params.steps + 1u;
    current = NONE;
  }
}

fn wait_for(sphere: u32, low: f32) {
  pending[waiting] = vec2<u32>(sphere, bitcast<u32>(low));
  waiting += 1u;
}

// Drops what does not count any more: a solve costs as much as all of the rest.
fn drop_distant(limit: f32) {
  var kept = 0u;
  for (var j = 0u; j < waiting; j++) {
    steps += 1u;
    let found = pending[j];
    pending[kept] = found;
    kept += select(0u, 1u, bitcast<f32>(found.y) <= limit);
  }
  waiting = kept;
}

// Goes on until spheres are to be solved, or the walk is over.
fn walk() {
  while (current != NONE && waiting < FULL) {
    descend();
    if (current != NONE) {
      meet_leaf();
      pop(limit_of_children());
      if (waiting >= FULL) {
        drop_distant(limit_of_spheres());
      }
    }
    take_turns();
  }
}
