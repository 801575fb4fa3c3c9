// Bounds of any range of spheres, from the bounds of aligned groups of 8, 64, 512, ... spheres: a segment tree with eight children per
// node. It replaces the bounds of the binary tree, whose threads would have to synchronise on the way up. Needs build/leaf_aabb.wgsl.

@group(0) @binding(1) var<storage, read> leaves: array<Sphere>;
@group(0) @binding(2) var<storage, read> boxes: array<Bounds>;

fn bounds_of(first: u32, count: u32) -> Bounds {
  var all = EMPTY;
  var begin = first;
  var end = first + count;
  while (begin < end && (begin & 7u) != 0u) {
    all = join(all, leaf_bounds(begin));
    begin++;
  }
  while (begin < end && (end & 7u) != 0u) {
    end--;
    all = join(all, leaf_bounds(end));
  }
  begin = begin >> 3u;
  end = end >> 3u;
  var level = 0u;
  var length = build_params.count >> 3u;
  while (begin < end) {
    while (begin < end && (begin & 7u) != 0u) {
      all = join(all, boxes[level + begin]);
      begin++;
    }
    while (begin < end && (end & 7u) != 0u) {
      end--;
      all = join(all, boxes[level + end]);
    }
    begin = begin >> 3u;
    end = end >> 3u;
    level += length;
    length = length >> 3u;
  }
  return all;
}
