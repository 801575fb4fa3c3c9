// What threads that go together, a subgroup, know of each other: here each goes alone.

fn most_of_group(x: u32) -> u32 {
  return x;
}

// Whether x holds for any thread of it.
fn for_any(x: bool) -> bool {
  return x;
}
