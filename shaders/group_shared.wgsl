// What threads that go together, a subgroup, know of each other: software adapters count the turns of all their loops in common.

fn most_of_group(x: u32) -> u32 {
  return subgroupMax(x);
}
