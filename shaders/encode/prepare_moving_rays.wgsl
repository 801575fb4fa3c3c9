// Program: validates and copies the caller's rays for a scene with moving spheres, and writes the attributes of each ray: its time.
// Twin of `check_one` and `of` in src/batch/ray_attributes.rs. Needs encode/validate_ray.wgsl.

@group(0) @binding(3) var<storage, read> times: array<u32>;
@group(0) @binding(4) var<storage, read_write> ray_attributes: array<u32>;

// Whether a time is a number within the time range of the scene.
fn is_known(time: u32) -> bool {
  return !is_nan(time) && order_of(time) >= order_of(task.time_from) && order_of(time) <= order_of(task.time_to);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= task.count) {
    return;
  }
  let moves_with_ray = task.moves_with_ray != 0u;
  let at = task.rays_at + 8u * i;
  // If spheres move while the ray travels, t is the time, and the ray has no time of its own.
  let time = select(times[task.times_at + min(i, task.last_time)], 0u, moves_with_ray);
  let ends = is_known(given[at + 3u]) && is_known(given[at + 7u]);
  let usable = load_ray(i, select(is_known(time), ends, moves_with_ray));
  let to = 8u * i;
  ray_attributes[to] = 0xffffffffu;
  ray_attributes[to + 1u] = NO_SPHERE;
  ray_attributes[to + 2u] = select(0u, time, usable);
  for (var k = 3u; k < 7u; k++) {
    ray_attributes[to + k] = 0u;
  }
  ray_attributes[to + 7u] = task.moves_with_ray;
}
