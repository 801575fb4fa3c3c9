// What threads that go together, a subgroup, know of each other: software adapters count the turns of all their loops in common.

fn most_of_group(x: u32) -> u32 {
  return subgroupMax(x);
}

// Whether x holds for any thread of it.
fn for_any(x: bool) -> bool {
  return subgroupAny(x);
}
