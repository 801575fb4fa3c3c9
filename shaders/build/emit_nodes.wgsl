// Program: opens the parts of the radix tree (Karras 2012) that are the nodes of one level into four each. One thread a node. A part
// is a stretch of the sorted keys, so what lies in it and where it is cut is found, not stored. Twin of src/bvh/qbvh4/build_lbvh.rs.

@group(0) @binding(4) var<storage, read> items: array<Item>;
@group(0) @binding(5) var<storage, read> control: Control;
// First sphere and count of each node of this level; then, in the first, how many children before its own the workgroup has.
@group(0) @binding(6) var<storage, read_write> parts: array<vec2<u32>>;
// How many spheres each child has that is a node.
@group(0) @binding(7) var<storage, read_write> kids: array<vec4<u32>>;
// How many such children each workgroup has.
@group(0) @binding(8) var<storage, read_write> found: array<u32>;

// Nodes above this are opened by size, below by count.
const DEEP: u32 = 12u;

// How many spheres of a part lie on the near side of the highest bit in which their keys differ.
fn cut(first: u32, count: u32) -> u32 {
  let last = first + count - 1u;
  let low = items[first].low ^ items[last].low;
  let high = items[first].high ^ items[last].high;
  if ((low | high) == 0u) {
    let bit = firstLeadingBit(first ^ last);
    return ((last >> bit) << bit) - first;
  }
  let bit = firstLeadingBit(select(low, high, high != 0u));
  // The bit is clear at `near`, and set at `far`.
  var near = first;
  var far = last;
  while (far - near > 1u) {
    let middle = near + (far - near) / 2u;
    var word = items[middle].low;
    if (high != 0u) {
      word = items[middle].high;
    }
    if (((word >> bit) & 1u) == 0u) {
      near = middle;
    } else {
      far = middle;
    }
  }
  return far - first;
}

// Opens a part into a node; says how many nodes are below.
fn open(number: u32, part: vec2<u32>, place: u32) -> u32 {
  var four: Four;
  var firsts: array<u32, 4>;
  var counts: array<u32, 4>;
  firsts[0] = part.x;
  counts[0] = part.y;
  var used = 1u;
  // The root of a few spheres is a leaf.
  if (part.y <= LEAF_MOST) {
    four.bounds[0] = bounds_of(part.x, part.y);
  }
  for (var step = 1u; step < 4u; step++) {
    var chosen = 4u;
    var largest = 0u;
    for (var i = 0u; i < used; i++) {
      let size = select(counts[i], bitcast<u32>(edges(four.bounds[i])), control.depth < DEEP);
      if (counts[i] > LEAF_MOST && (chosen == 4u || size > largest)) {
        chosen = i;
        largest = size;
      }
    }
    if (chosen == 4u) {
      break;
    }
    let first = firsts[chosen];
    let count = counts[chosen];
    let left = cut(first, count);
    counts[chosen] = left;
    four.bounds[chosen] = bounds_of(first, left);
    firsts[used] = first + left;
    counts[used] = count - left;
    four.bounds[used] = bounds_of(first + left, count - left);
    used++;
  }
  var below = 0u;
  var nodes_below = vec4<u32>(0u);
  for (var i = 0u; i < used; i++) {
    if (counts[i] > LEAF_MOST) {
      nodes_below[i] = counts[i];
      four.children[i] = firsts[i];
      below++;
    } else {
      four.children[i] = leaf(firsts[i], counts[i]);
    }
  }
  four.count = used;
  four.range = part;
  kids[place] = nodes_below;
  if (4u * number + 3u < arrayLength(&nodes)) {
    pack(number, &four);
  }
  return below;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  zero = plant.zero;
  let place = group_number(group) * THREADS + thread;
  var below = 0u;
  if (place < control.next_count) {
    below = open(control.next + place, parts[place], place);
  }
  let before = sum_before(thread, below);
  if (place < control.next_count) {
    parts[place].x = before;
  }
  if (thread == THREADS - 1u) {
    found[group_number(group)] = before + below;
  }
}
