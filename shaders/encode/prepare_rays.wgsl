// Program: validates and copies the caller's rays. Needs encode/validate_ray.wgsl.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  if (invocation.x < task.count) {
    _ = load_ray(invocation.x, true);
  }
}
