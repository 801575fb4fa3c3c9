// Entry point of the programs that process one ray per thread. The program defines `process_ray`.

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  if (invocation.x < params.ray_count) {
    zero = params.zero;
    process_ray(invocation.x);
  }
}
