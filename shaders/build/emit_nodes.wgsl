// Program: emits the nodes of one level, each with up to four children. One thread per node. A node is a subtree of the radix tree
// (Karras 2012), that is a range of the sorted Morton codes. Its split is computed from the codes, so the radix tree is not stored.
// Twin of src/bvh/qbvh4/build_lbvh.rs.

@group(0) @binding(4) var<storage, read> items: array<Item>;
@group(0) @binding(5) var<storage, read> level_state: LevelState;
// First sphere and sphere count per node of this level. This program replaces the first sphere with the exclusive prefix sum, within
// the workgroup, of the children that are nodes.
@group(0) @binding(6) var<storage, read_write> parts: array<vec2<u32>>;
// Sphere count per child that is a node; 0 for the other children.
@group(0) @binding(7) var<storage, read_write> child_counts: array<vec4<u32>>;
// Number of children that are nodes, per workgroup.
@group(0) @binding(8) var<storage, read_write> group_counts: array<u32>;

// Nodes at a smaller depth open the child with the largest bounds first; all others open the child with the most spheres.
const SIZE_ORDER_DEPTH: u32 = 12u;

// Splits a range at the highest bit in which its codes differ; returns the count of spheres with that bit clear. If all codes are equal,
// the index takes their place.
fn split(first: u32, count: u32) -> u32 {
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

// Opens a range into node `number`; returns how many of its children are nodes.
fn open_children(number: u32, part: vec2<u32>, place: u32) -> u32 {
  var four: Four;
  var firsts: array<u32, 4>;
  var counts: array<u32, 4>;
  firsts[0] = part.x;
  counts[0] = part.y;
  var used = 1u;
  // Only a root can have so few spheres. Its only child is then a leaf.
  if (part.y <= MAX_LEAF_SPHERES) {
    four.bounds[0] = bounds_of(part.x, part.y);
  }
  for (var step = 1u; step < 4u; step++) {
    var chosen = 4u;
    var largest = 0u;
    for (var i = 0u; i < used; i++) {
      let size = select(counts[i], bitcast<u32>(edge_sum(four.bounds[i])), level_state.depth < SIZE_ORDER_DEPTH);
      if (counts[i] > MAX_LEAF_SPHERES && (chosen == 4u || size > largest)) {
        chosen = i;
        largest = size;
      }
    }
    if (chosen == 4u) {
      break;
    }
    let first = firsts[chosen];
    let count = counts[chosen];
    let left = split(first, count);
    counts[chosen] = left;
    four.bounds[chosen] = bounds_of(first, left);
    firsts[used] = first + left;
    counts[used] = count - left;
    four.bounds[used] = bounds_of(first + left, count - left);
    used++;
  }
  var below = 0u;
  // Arrays, because FXC refuses stores to a component of a vector at an index that only the run knows.
  var nodes_below: array<u32, 4>;
  var children: array<u32, 4>;
  for (var i = 0u; i < used; i++) {
    if (counts[i] > MAX_LEAF_SPHERES) {
      nodes_below[i] = counts[i];
      children[i] = firsts[i];
      below++;
    } else {
      children[i] = leaf(firsts[i], counts[i]);
    }
  }
  four.children = vec4<u32>(children[0], children[1], children[2], children[3]);
  four.count = used;
  four.range = part;
  child_counts[place] = vec4<u32>(nodes_below[0], nodes_below[1], nodes_below[2], nodes_below[3]);
  if (4u * number + 3u < arrayLength(&nodes)) {
    pack(number, &four);
  }
  return below;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  zero = build_params.zero;
  let place = group_number(group) * THREADS + thread;
  var below = 0u;
  if (place < level_state.next_count) {
    below = open_children(level_state.next + place, parts[place], place);
  }
  let before = exclusive_scan(thread, below);
  if (place < level_state.next_count) {
    parts[place].x = before;
  }
  // A dispatch may have more workgroups than there are sums.
  if (thread == THREADS - 1u && group_number(group) < arrayLength(&group_counts)) {
    group_counts[group_number(group)] = before + below;
  }
}
