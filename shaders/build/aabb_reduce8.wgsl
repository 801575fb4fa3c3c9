// Program: joins each group of eight boxes into one box. One thread per group.

@group(0) @binding(1) var<storage, read_write> boxes: array<Bounds>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let number = group_number(group) * THREADS + thread;
  if (number >= build_params.jobs) {
    return;
  }
  var all = EMPTY;
  for (var i = 0u; i < 8u; i++) {
    all = join(all, boxes[build_params.begin + 8u * number + i]);
  }
  boxes[build_params.next + number] = all;
}
