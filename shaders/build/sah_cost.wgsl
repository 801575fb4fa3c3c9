// Program: half the surface area of each node's box, summed per workgroup, for the SAH cost of a tree. One thread per node.

@group(0) @binding(1) var<storage, read> nodes: array<vec4<u32>>;
// One sum per workgroup.
@group(0) @binding(2) var<storage, read_write> areas: array<f32>;

var<workgroup> sums: array<f32, 256>;

// The largest byte of a word.
fn most(word: u32) -> f32 {
  let bytes = vec4<u32>(word, word >> 8u, word >> 16u, word >> 24u) & vec4<u32>(255u);
  return f32(max(max(bytes.x, bytes.y), max(bytes.z, bytes.w)));
}

// Half the surface area of a node's box, from the upper faces of its children.
fn half_area(number: u32) -> f32 {
  let head = nodes[4u * number];
  let units = vec3<f32>(
    bitcast<f32>((head.w & 255u) << 23u), bitcast<f32>(((head.w >> 8u) & 255u) << 23u), bitcast<f32>(((head.w >> 16u) & 255u) << 23u),
  );
  let more = nodes[4u * number + 2u];
  let e = vec3<f32>(most(nodes[4u * number + 1u].w), most(more.x), most(more.y)) * units;
  return e.x * e.y + e.y * e.z + e.z * e.x;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let number = group_number(group) * THREADS + thread;
  sums[thread] = 0.0;
  if (number < build_params.jobs) {
    sums[thread] = half_area(number);
  }
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    if (thread < half) {
      sums[thread] += sums[thread + half];
    }
    workgroupBarrier();
  }
  // A dispatch may have more workgroups than there are sums.
  if (thread == 0u && group_number(group) < arrayLength(&areas)) {
    areas[group_number(group)] = sums[0];
  }
}
