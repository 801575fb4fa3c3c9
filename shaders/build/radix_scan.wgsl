// Program: exclusive prefix sum of each digit's counts over the tiles. One workgroup per digit. The total per digit is written behind
// the rows.

@group(0) @binding(1) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = group.x * build_params.jobs;
  let own = stretch(thread, build_params.jobs);
  var sum = 0u;
  for (var i = own.x; i < own.y; i++) {
    sum += counts[row + i];
  }
  var before = exclusive_scan(thread, sum);
  for (var i = own.x; i < own.y; i++) {
    let value = counts[row + i];
    counts[row + i] = before;
    before += value;
  }
  if (thread == THREADS - 1u) {
    counts[16u * build_params.jobs + group.x] = before;
  }
}
