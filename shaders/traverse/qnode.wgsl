// Quantised BVH nodes: four AABBs in 64 bytes. src/bvh/qbvh4/node.rs describes the layout.

@group(0) @binding(5) var<storage, read> nodes: array<vec4<u32>>;

// Flag of a leaf in a child reference. A node is its index; a leaf is this flag, three bits of count and 28 of the first sphere's position.
const LEAF: u32 = 0x80000000u;
// A node, unpacked as far as all rays need it.
struct QNode4 {
  origin: vec3<f32>,
  unit: vec3<f32>,
  // Child bounds: one word per axis, one byte per child.
  low: vec3<u32>,
  high: vec3<u32>,
  count: u32,
  children: vec4<u32>,
}

fn node_at(number: u32) -> QNode4 {
  let head = nodes[4u * number];
  let faces = nodes[4u * number + 1u];
  let more = nodes[4u * number + 2u];
  let siblings = nodes[4u * number + 3u];
  let units = vec3<u32>(head.w & 255u, (head.w >> 8u) & 255u, (head.w >> 16u) & 255u);
  return QNode4(
    bitcast<vec3<f32>>(head.xyz),
    bitcast<vec3<f32>>(units << vec3<u32>(23u)),
    faces.xyz,
    vec3<u32>(faces.w, more.xy),
    head.w >> 24u,
    vec4<u32>(more.zw, siblings.xy),
  );
}

// The four bytes of a word as f32.
fn bytes_of(word: u32) -> vec4<f32> {
  return vec4<f32>((vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u));
}

fn child_of(children: vec4<u32>, place: u32) -> u32 {
  let even = select(children.x, children.z, place > 1u);
  let odd = select(children.y, children.w, place > 1u);
  return select(even, odd, (place & 1u) != 0u);
}

// Child of a node that is not loaded: its children are words 10 to 13.
fn child_at(number: u32, place: u32) -> u32 {
  let word = 10u + place;
  return nodes[4u * number + (word >> 2u)][word & 3u];
}
