// Program: writes the sphere indices in leaf order. One thread per sphere.

@group(0) @binding(1) var<storage, read> items: array<Item>;
@group(0) @binding(2) var<storage, read_write> order: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let i = group_number(group) * THREADS + thread;
  if (i < build_params.count) {
    order[i] = items[i].place;
  }
}
