// Program: exclusive prefix sum of the child node counts of all workgroups; then advances `Control` to the next level. One workgroup.

@group(0) @binding(1) var<storage, read_write> control: Control;
@group(0) @binding(2) var<storage, read_write> found: array<u32>;

// Indirect dispatch arguments for `jobs` threads.
fn groups_of(jobs: u32) -> array<u32, 3> {
  let groups = (jobs + THREADS - 1u) / THREADS;
  return array<u32, 3>(min(groups, WIDE), (groups + WIDE - 1u) / WIDE, 1u);
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
  let opened = control.next_count;
  let own = stretch(thread, (opened + THREADS - 1u) / THREADS);
  var sum = 0u;
  for (var i = own.x; i < own.y; i++) {
    sum += found[i];
  }
  var before = sum_before(thread, sum);
  for (var i = own.x; i < own.y; i++) {
    let value = found[i];
    found[i] = before;
    before += value;
  }
  // If no node was opened, the level before was the last one.
  if (thread == THREADS - 1u) {
    control.begin = control.next;
    control.count = opened;
    control.next += opened;
    control.next_count = before;
    if (opened > 0u) {
      control.levels[control.depth] = control.next;
      control.depth++;
    }
    control.number_groups = groups_of(opened);
    control.open_groups = groups_of(before);
  }
}
