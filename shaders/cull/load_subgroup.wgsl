// The same, where a load costs more than handing its result around (software adapters): each thread of a subgroup loads one.
// Threads of a subgroup must call these functions together.

// The thread's place in its subgroup, of eight threads or more.
var<private> lane: u32;

// To be called before `eight`, by all threads.
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
