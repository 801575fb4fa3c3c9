// Progress of the top-down node construction. Twin of `LevelState` in src/gpu/bvh/build.rs.

struct LevelState {
  // The level whose children are linked (link_children): its first node and its node count.
  begin: u32,
  count: u32,
  // The next level, which is opened (emit_nodes): its first node and its node count.
  next: u32,
  next_count: u32,
  // Number of levels that have been opened.
  depth: u32,
  unused: u32,
  // Indirect dispatch arguments of link_children and of emit_nodes.
  link_dispatch: array<u32, 3>,
  emit_dispatch: array<u32, 3>,
  // End of each level, as a node index.
  levels: array<u32, 114>,
}
