// Reductions over a subgroup, for software adapters, where its threads share loads (cull/load_subgroup.wgsl) and loop counts. Replaces
// traverse/lone_thread.wgsl.
//
// Maximum over the group.

fn max_in_group(x: u32) -> u32 {
  return subgroupMax(x);
}

// Whether x is true for any thread of the group.
fn any_in_group(x: bool) -> bool {
  return subgroupAny(x);
}

// Nodes that a thread visits at most before a leaf.
const NODES_PER_TURN: u32 = 0xffffffffu;
