// Loads of eight spheres: each thread loads all of them. Needs cull/blocks.wgsl.

// Call before `eight`.
fn prepare_load() {
}

// Spheres i to i + 7.
fn eight(i: u32) -> Eight {
  return Eight(
    sphere_at(i), sphere_at(i + 1u), sphere_at(i + 2u), sphere_at(i + 3u),
    sphere_at(i + 4u), sphere_at(i + 5u), sphere_at(i + 6u), sphere_at(i + 7u),
  );
}
