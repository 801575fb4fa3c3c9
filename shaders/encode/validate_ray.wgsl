// Validates the caller's rays and copies them for a cast. An invalid ray is replaced by one that ends before it starts. Needs
// encode/usable_ray.wgsl.

@group(0) @binding(0) var<uniform> task: Task;
@group(0) @binding(1) var<storage, read> given: array<u32>;
@group(0) @binding(2) var<storage, read_write> rays: array<u32>;

// Copies ray i if it is valid and `otherwise` is true; if not, writes its replacement. Returns whether the ray is usable.
fn load_ray(i: u32, otherwise: bool) -> bool {
  let at = task.rays_at + 8u * i;
  let to = 8u * i;
  if (!(otherwise && is_usable(at))) {
    for (var k = 0u; k < 8u; k++) {
      rays[to + k] = 0u;
    }
    rays[to + 3u] = BAD_START;
    rays[to + 4u] = bitcast<u32>(1.0);
    rays[to + 7u] = BAD_END;
    return false;
  }
  for (var k = 0u; k < 8u; k++) {
    rays[to + k] = given[at + k];
  }
  rays[to + 3u] = finite_start(given[at + 3u]);
  rays[to + 7u] = finite_end(given[at + 7u]);
  return true;
}
