// Program: reads the number of rays from the caller's buffer, and computes the workgroups of the dispatches that process them.

// Uniform. Twin of `RayCount` in src/gpu/encode/pass.rs.
struct RayCount {
  // Offset of the number within its binding, in words.
  count_at: u32,
  // The largest number.
  most: u32,
  // Rays per thread of the search, and rays per word of the results.
  rays_per_thread: u32,
  rays_per_word: u32,
}

@group(0) @binding(0) var<uniform> ray_count: RayCount;
@group(0) @binding(1) var<storage, read> given: array<u32>;
// The number, and from words 4, 8 and 12 on the workgroups of a thread per ray, of the search, and of a thread per result word.
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

fn store_groups(at: u32, rays: u32, rays_per_thread: u32) {
  let threads = (rays + rays_per_thread - 1u) / rays_per_thread;
  counts[at] = (threads + 63u) / 64u;
  counts[at + 1u] = 1u;
  counts[at + 2u] = 1u;
}

@compute @workgroup_size(1)
fn main() {
  let rays = min(given[ray_count.count_at], ray_count.most);
  counts[0] = rays;
  store_groups(4u, rays, 1u);
  store_groups(8u, rays, ray_count.rays_per_thread);
  store_groups(12u, rays, ray_count.rays_per_word);
}
