// Program: gathers the spheres into leaf order and computes the bounds of each group of eight. The motion records have been written
// before. One thread per group.

@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> leaves: array<Sphere>;
@group(0) @binding(4) var<storage, read_write> boxes: array<Bounds>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  zero = build_params.zero;
  let number = group_number(group) * THREADS + thread;
  let begin = 8u * number;
  let end = min(begin + 8u, build_params.count);
  var all = EMPTY;
  for (var i = begin; i < end; i++) {
    leaves[i] = spheres[order[i]];
    all = join(all, leaf_bounds(i));
  }
  // The bounds of an incomplete group at the end are never read.
  if (begin + 8u <= build_params.count) {
    boxes[number] = all;
  }
}
