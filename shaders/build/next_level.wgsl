// Program: exclusive prefix sum of the child node counts of all workgroups; then advances `LevelState` to the next level. One workgroup.

@group(0) @binding(1) var<storage, read_write> level_state: LevelState;
@group(0) @binding(2) var<storage, read_write> group_counts: array<u32>;

// Indirect dispatch arguments for `jobs` threads.
fn groups_of(jobs: u32) -> array<u32, 3> {
  let groups = (jobs + THREADS - 1u) / THREADS;
  return array<u32, 3>(min(groups, WIDE), (groups + WIDE - 1u) / WIDE, 1u);
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
  let opened = level_state.next_count;
  let own = stretch(thread, (opened + THREADS - 1u) / THREADS);
  var sum = 0u;
  for (var i = own.x; i < own.y; i++) {
    sum += group_counts[i];
  }
  var before = exclusive_scan(thread, sum);
  for (var i = own.x; i < own.y; i++) {
    let value = group_counts[i];
    group_counts[i] = before;
    before += value;
  }
  // If no node was opened, the level before was the last one.
  if (thread == THREADS - 1u) {
    level_state.begin = level_state.next;
    level_state.count = opened;
    level_state.next += opened;
    level_state.next_count = before;
    if (opened > 0u) {
      level_state.levels[level_state.depth] = level_state.next;
      level_state.depth++;
    }
    level_state.link_dispatch = groups_of(opened);
    level_state.emit_dispatch = groups_of(before);
  }
}
