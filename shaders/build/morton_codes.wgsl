// Program: computes the Morton code of each sphere's centre, 21 bits per axis. One thread per sphere.

@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read_write> items: array<Item>;

const LAST_CELL: f32 = 2097151.0;

// Spreads the bits of x, at most 11, with two zeros between neighbours.
fn spread_bits(x: u32) -> u32 {
  let a = (x | (x << 16u)) & 0x070000ffu;
  let b = (a | (a << 8u)) & 0x0700f00fu;
  let c = (b | (b << 4u)) & 0x430c30c3u;
  return (c | (c << 2u)) & 0x49249249u;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let i = group_number(group) * THREADS + thread;
  if (i >= build_params.count) {
    return;
  }
  zero = build_params.zero;
  let center = to_scaled(spheres[i].center);
  let plain = select(center, vec3<f32>(0.0), abs(center) < vec3<f32>(TINY));
  // Integers up to 2^22 are exact in f32.
  let c = vec3<u32>(min(opaque3(plain - build_params.low) * build_params.cells, vec3<f32>(LAST_CELL)));
  let low = (spread_bits(c.x & 0x3ffu) << 2u) | (spread_bits(c.y & 0x7ffu) << 1u) | spread_bits(c.z & 0x7ffu);
  let high = spread_bits(c.x >> 10u) | (spread_bits(c.y >> 11u) << 2u) | (spread_bits(c.z >> 11u) << 1u);
  items[i] = Item(low, high, i);
}
