// Brute force: tests the spheres of one dispatch against the rays of a thread, each candidate pair that culling leaves once. Needs
// cull/blocks.wgsl, intersect/attributes.wgsl, and two functions: `test_pair` of the program, which tests ray `i` and the sphere at a
// position; and `prepare_query` of cull/block_hits.wgsl or of the program, which is called before each `mark`.

// Tests the candidates; `begin` is the position of the first sphere.
fn test_marked(first: u32, begin: u32) {
  while (marked != 0u) {
    let candidate = next_candidate();
    let i = first + candidate.ray * WORKGROUP;
    let at = select(begin + candidate.sphere, i, params.pairwise != 0u);
    if (admits(i, at)) {
      test_pair(i, at);
    }
  }
}

fn search(first: u32) {
  if (params.pairwise != 0u) {
    mark_own(first);
    test_marked(first, 0u);
    return;
  }
  prepare_rays(first);
  for (var begin = params.sphere_begin; begin < params.sphere_end; begin += BLOCKS * BLOCK) {
    prepare_query(first);
    mark(begin, params.sphere_end);
    test_marked(first, begin);
  }
}
