// A walk through the tree, front to back, a thread a ray: which spheres a ray has to be solved with. Needs quad.wgsl, and of the
// program whether ANY sphere is enough.
//
// Spheres are not solved where they are found: on a software adapter every thread of a subgroup would pay for each. They are kept
// with where they begin, and what is met for certain, with a chord even if everything is as wrong as it can be, cuts off what
// begins behind it. Few are left to be solved when the list is full or the walk is over.

@group(0) @binding(6) var<storage, read> order: array<u32>;

// Children still to be entered. Deep trees may ask for more: such a ray is left to the host, as is one that takes too long.
const DEEPEST: u32 = 96u;
var<private> stack: array<vec2<u32>, 96>;
var<private> top: u32;
// The child to go on with; NONE when the walk is over.
var<private> current: u32;
// What was done so far; lavapipe stops a subgroup that has gone 65,535 times through its loops without a word.
var<private> steps: u32;

// Spheres to be solved, and where they begin. A leaf may bring seven more when it is not full.
const FULL: u32 = 9u;
var<private> pending: array<vec2<u32>, 16>;
var<private> waiting: u32;

// Whether a sphere was met for certain, when ANY is enough.
var<private> certain: bool;

fn begin_walk() {
  top = 0u;
  current = 0u;
  steps = 0u;
  waiting = 0u;
  certain = false;
}

// The nearest child that is left.
fn pop() {
  let far = (course.far - course.near) * 1.000001;
  current = NONE;
  while (top > 0u) {
    top -= 1u;
    steps += 1u;
    let entry = stack[top];
    // A rounding more than the distance has.
    if (bitcast<f32>(entry.y) <= far) {
      current = entry.x;
      break;
    }
  }
}

fn push(key: u32, children: vec4<u32>) {
  {
    let k = key & 3u;
    stack[top] = vec2<u32>(select(select(children.x, children.y, k == 1u), select(children.z, children.w, k == 3u), k > 1u), key & 0xfffffffcu);
    top += select(1u, 0u, key == NONE);
  }
}

// From node to node, until there is a leaf or nothing.
fn descend() {
  while (current < LEAF) {
    steps += 1u;
    let entered = enter_boxes(current);
    if (entered.order.x == NONE) {
      pop();
    } else {
      push(entered.order.w, entered.children);
      push(entered.order.z, entered.children);
      push(entered.order.y, entered.children);
      let k = entered.order.x & 3u;
      let ch = entered.children;
      current = select(select(ch.x, ch.y, k == 1u), select(ch.z, ch.w, k == 3u), k > 1u);
    }
    if (top > DEEPEST - 3u || steps > params.steps) {
      steps = params.steps + 1u;
      current = NONE;
    }
  }
}

// Looks at a leaf's spheres.
fn meet_leaf() {
  let first = current & 0x0fffffffu;
  let count = current >> 28u & 7u;
  for (var j = 0u; j < count; j++) {
    steps += 1u;
    let s = sphere_at(first + j);
    let across = dot3(s.xyz, line.u) - line.at.x;
    let over = dot3(s.xyz, line.v) - line.at.y;
    let square = across * across + over * over;
    let reach = s.w + line.slack;
    let room = reach * reach - square;
    let middle = dot3(s.xyz, course.d) - course.start;
    let half = sqrt(max(room, 0.0)) + course.along;
    let low = middle - half;
    if (room >= 0.0 && low <= course.far && middle + half >= course.near) {
      let least = max(s.w - 2.0 * line.slack, 0.0);
      let chord = least * least - square;
      let high = middle - sqrt(max(chord, 0.0)) + 2.0 * course.along;
      if (chord > 0.0 && low >= course.begin && high <= min(course.far, course.end)) {
        certain = true;
        course.far = select(high, course.far, ANY);
      }
      pending[waiting] = vec2<u32>(first + j, bitcast<u32>(low));
      waiting += 1u;
    }
  }
}

// Goes on until spheres are to be solved, or the walk is over.
fn walk() {
  while (current != NONE && waiting < FULL) {
    descend();
    if (current != NONE) {
      meet_leaf();
      pop();
      if (waiting >= FULL) {
        drop_distant();
      }
      if (ANY && certain) {
        current = NONE;
      }
    }
  }
}

fn too_long() -> bool {
  return steps > params.steps;
}

// Drops what does not count any more: a solve costs as much as all of the rest.
fn drop_distant() {
  var kept = 0u;
  for (var j = 0u; j < waiting; j++) {
    let found = pending[j];
    pending[kept] = found;
    kept += select(0u, 1u, bitcast<f32>(found.y) <= course.far);
  }
  waiting = kept;
}
