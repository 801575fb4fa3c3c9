// Program: writes the child node indices into the nodes of a level, and lists the ranges of the next level. One thread per node.

@group(0) @binding(1) var<storage, read> level_state: LevelState;
@group(0) @binding(2) var<storage, read> group_counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> nodes: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> parts: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> child_counts: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> next_parts: array<vec2<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let place = group_number(group) * THREADS + thread;
  let node = 4u * (level_state.begin + place);
  if (place >= level_state.count || node + 3u >= arrayLength(&nodes)) {
    return;
  }
  let counts = child_counts[place];
  var at = group_counts[group_number(group)] + parts[place].x;
  // An array, because FXC refuses stores to a component of a vector at an index that only the run knows.
  var children = array<u32, 4>(nodes[node + 2u].z, nodes[node + 2u].w, nodes[node + 3u].x, nodes[node + 3u].y);
  for (var i = 0u; i < 4u; i++) {
    if (counts[i] > 0u) {
      next_parts[at] = vec2<u32>(children[i], counts[i]);
      children[i] = level_state.next + at;
      at++;
    }
  }
  nodes[node + 2u] = vec4<u32>(nodes[node + 2u].xy, children[0], children[1]);
  nodes[node + 3u] = vec4<u32>(children[2], children[3], nodes[node + 3u].zw);
}
