// Loads of eight spheres, for software adapters, where a load costs more than a broadcast: each thread of a subgroup loads one sphere and
// broadcasts it. Replaces cull/load.wgsl. All threads of a subgroup must call these functions together.

// Index of the thread in its subgroup, which has at least eight threads.
var<private> lane: u32;

// Call before `eight`, from all threads.
fn prepare_load() {
  lane = subgroupExclusiveAdd(1u);
}

// Spheres i to i + 7.
fn eight(i: u32) -> Eight {
  let own = sphere_at(i + (lane & 7u));
  return Eight(
    subgroupBroadcast(own, 0u), subgroupBroadcast(own, 1u), subgroupBroadcast(own, 2u), subgroupBroadcast(own, 3u),
    subgroupBroadcast(own, 4u), subgroupBroadcast(own, 5u), subgroupBroadcast(own, 6u), subgroupBroadcast(own, 7u),
  );
}
