// Packs nodes of four quantised boxes in 64 bytes. Twin of `Quad::new` in src/bvh/qbvh4/node.rs. Needs build/aabb.wgsl.

@group(0) @binding(3) var<storage, read_write> nodes: array<vec4<u32>>;

// Maximum number of spheres per leaf.
const MAX_LEAF_SPHERES: u32 = 4u;

// Packs a leaf into a child word.
fn leaf(first: u32, count: u32) -> u32 {
  return 0x80000000u | (count << 28u) | first;
}

// 2^n for each n in -126..128.
fn powers_of_two(n: vec3<i32>) -> vec3<f32> {
  return bitcast<vec3<f32>>(vec3<u32>(n + vec3<i32>(127)) << vec3<u32>(23u));
}

// Per axis, the exponent of the smallest power of two of which 255 cover `width`. `width` is at least TINY.
fn unit_exponent(width: vec3<f32>) -> vec3<i32> {
  let unit = vec3<i32>(bitcast<vec3<u32>>(width) >> vec3<u32>(23u)) - vec3<i32>(134);
  return select(unit, unit + vec3<i32>(1), width > 255.0 * powers_of_two(unit));
}

// A node before quantisation: the bounds of its first `count` children, and the words that are stored unchanged.
struct Four {
  bounds: array<Bounds, 4>,
  count: u32,
  children: vec4<u32>,
  range: vec2<u32>,
}

fn pack(number: u32, four: ptr<function, Four>) {
  var all = EMPTY;
  for (var i = 0u; i < (*four).count; i++) {
    all = join(all, (*four).bounds[i]);
  }
  let unit = unit_exponent(next_above(opaque3(all.high - all.low)));
  let scale = powers_of_two(-unit);
  var low = vec3<u32>(0u);
  var high = vec3<u32>(0u);
  for (var i = 0u; i < (*four).count; i++) {
    let own = (*four).bounds[i];
    let l = max(floor(next_below(opaque3(own.low - all.low)) * scale), vec3<f32>(0.0));
    let h = ceil(next_above(opaque3(own.high - all.low)) * scale);
    low |= vec3<u32>(l) << vec3<u32>(8u * i);
    high |= vec3<u32>(h) << vec3<u32>(8u * i);
  }
  let biased = vec3<u32>(unit + vec3<i32>(127));
  let units = biased.x | (biased.y << 8u) | (biased.z << 16u) | ((*four).count << 24u);
  nodes[4u * number] = vec4<u32>(bitcast<vec3<u32>>(all.low), units);
  nodes[4u * number + 1u] = vec4<u32>(low, high.x);
  nodes[4u * number + 2u] = vec4<u32>(high.yz, (*four).children.xy);
  nodes[4u * number + 3u] = vec4<u32>((*four).children.zw, (*four).range);
}
