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
