// Program: counts how often each digit occurs in each tile. One workgroup per tile.

@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

var<workgroup> own: array<atomic<u32>, 16>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let tile = group_number(group);
  if (thread < BINS) {
    atomicStore(&own[thread], 0u);
  }
  workgroupBarrier();
  for (var k = 0u; k < EACH; k++) {
    let i = tile * TILE + k * THREADS + thread;
    if (i < build_params.count) {
      atomicAdd(&own[digit(i)], 1u);
    }
  }
  workgroupBarrier();
  if (thread < BINS && tile < build_params.jobs) {
    counts[thread * build_params.jobs + tile] = atomicLoad(&own[thread]);
  }
}
