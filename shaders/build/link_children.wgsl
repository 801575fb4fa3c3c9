// Program: writes the child node indices into the nodes of a level, and lists the ranges of the next level. One thread per node.

@group(0) @binding(1) var<storage, read> control: Control;
@group(0) @binding(2) var<storage, read> found: array<u32>;
@group(0) @binding(3) var<storage, read_write> nodes: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> parts: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> kids: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> next_parts: array<vec2<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let place = group_number(group) * THREADS + thread;
  let node = 4u * (control.begin + place);
  if (place >= control.count || node + 3u >= arrayLength(&nodes)) {
    return;
  }
  let counts = kids[place];
  var at = found[group_number(group)] + parts[place].x;
  var children = vec4<u32>(nodes[node + 2u].zw, nodes[node + 3u].xy);
  for (var i = 0u; i < 4u; i++) {
    if (counts[i] > 0u) {
      next_parts[at] = vec2<u32>(children[i], counts[i]);
      children[i] = control.next + at;
      at++;
    }
  }
  nodes[node + 2u] = vec4<u32>(nodes[node + 2u].xy, children.xy);
  nodes[node + 3u] = vec4<u32>(children.zw, nodes[node + 3u].zw);
}
