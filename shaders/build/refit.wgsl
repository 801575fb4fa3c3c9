// Program: refits the child bounds of a tree whose spheres have moved. One thread per node. Each node stores its range of spheres, so
// no thread waits for the nodes below.

fn child_bounds(child: u32) -> Bounds {
  if (child >> 31u == 1u) {
    return bounds_of(child & 0x0fffffffu, (child >> 28u) & 7u);
  }
  // The range does not change: `pack` rewrites it with the same value.
  let range = nodes[4u * child + 3u].zw;
  return bounds_of(range.x, range.y);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let number = group_number(group) * THREADS + thread;
  if (number >= build_params.jobs) {
    return;
  }
  zero = build_params.zero;
  let rest = nodes[4u * number + 3u];
  var four: Four;
  four.count = nodes[4u * number].w >> 24u;
  four.children = vec4<u32>(nodes[4u * number + 2u].zw, rest.xy);
  four.range = rest.zw;
  for (var i = 0u; i < four.count; i++) {
    four.bounds[i] = child_bounds(four.children[i]);
  }
  pack(number, &four);
}
