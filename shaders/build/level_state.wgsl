// How far the nodes have come: level by level.

struct Control {
  // The level that gets its numbers: its first node, and how many it has.
  begin: u32,
  count: u32,
  // The level below, which is opened.
  next: u32,
  next_count: u32,
  // How many levels are done.
  depth: u32,
  unused: u32,
  // Workgroups that number, and that open: three words each, as a dispatch reads them.
  number_groups: array<u32, 3>,
  open_groups: array<u32, 3>,
  // Where each level ends.
  levels: array<u32, 114>,
}
