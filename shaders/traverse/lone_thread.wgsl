// Reductions over a subgroup, for devices where its threads share neither loads nor loop counts: a group is a single thread. On software
// adapters, traverse/subgroup.wgsl replaces this file.
//
// Maximum over the group.

fn max_in_group(x: u32) -> u32 {
  return x;
}

// Whether x is true for any thread of the group.
fn any_in_group(x: bool) -> bool {
  return x;
}

// Nodes that a thread visits at most before the leaves that its neighbours found are tested. Threads at leaves wait for those at nodes: on an
// H200, 4 instead of any number takes 0.78 of the time of random rays, and 2 or 8 take 0.81 and 0.88.
const NODES_PER_TURN: u32 = 4u;
