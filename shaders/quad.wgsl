// Nodes of four boxes in 64 bytes: src/lbvh/quad.rs tells the layout. Needs a ray's course (course.wgsl).

@group(0) @binding(5) var<storage, read> nodes: array<vec4<u32>>;

// Children: a node's number, or with this bit a leaf: then three bits of count, and where its spheres begin.
const LEAF: u32 = 0x80000000u;
// Where a sorted list of children ends: no distance is a NaN.
const NONE: u32 = 0xffffffffu;

// The boxes that a ray enters, nearest first: where it does, bits of a number from 0 up, with the place in the lowest two; then
// NONE. And all children.
struct Entered {
  order: vec4<u32>,
  children: vec4<u32>,
}

fn bytes_of(word: u32) -> vec4<f32> {
  return vec4<f32>((vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u));
}

// Where a ray meets four planes along an axis.
fn meet(word: u32, scale: f32, offset: f32) -> vec4<f32> {
  return bytes_of(word) * scale + vec4<f32>(offset);
}

fn enter_boxes(number: u32) -> Entered {
  let c = course;
  let head = nodes[4u * number];
  let faces = nodes[4u * number + 1u];
  let more = nodes[4u * number + 2u];
  let rest = nodes[4u * number + 3u];
  let units = vec3<f32>(
    bitcast<f32>((head.w & 255u) << 23u), bitcast<f32>((head.w >> 8u & 255u) << 23u), bitcast<f32>((head.w >> 16u & 255u) << 23u),
  );
  let low = faces.xyz;
  let high = vec3<u32>(faces.w, more.xy);
  let forward = c.inverse >= vec3<f32>(0.0);
  let near = select(high, low, forward);
  let far = select(low, high, forward);
  let origin = bitcast<vec3<f32>>(head.xyz) * c.inverse;
  let scale = units * c.inverse;
  let enter = origin + c.enter;
  let leave = origin + c.leave;
  let first = max(
    max(meet(near.x, scale.x, enter.x), meet(near.y, scale.y, enter.y)), max(meet(near.z, scale.z, enter.z), vec4<f32>(c.near)),
  );
  let last = min(
    min(meet(far.x, scale.x, leave.x), meet(far.y, scale.y, leave.y)), min(meet(far.z, scale.z, leave.z), vec4<f32>(c.far)),
  );
  let children = vec4<u32>(more.zw, rest.xy);
  // Distances from the start are not negative: their bits are in their order.
  let places = vec4<u32>(0u, 1u, 2u, 3u);
  let keys = bitcast<vec4<u32>>(first - vec4<f32>(c.near)) & vec4<u32>(0x7ffffffcu) | places;
  let entered = (first <= last) & (places < vec4<u32>(head.w >> 24u));
  return Entered(sorted(select(vec4<u32>(NONE), keys, entered)), children);
}

fn sorted(k: vec4<u32>) -> vec4<u32> {
  let a = vec4<u32>(min(k.x, k.y), max(k.x, k.y), min(k.z, k.w), max(k.z, k.w));
  let least = min(a.x, a.z);
  let most = max(a.y, a.w);
  let p = max(a.x, a.z);
  let q = min(a.y, a.w);
  return vec4<u32>(least, min(p, q), max(p, q), most);
}
