// Counts of an encoded query. The program declares `status`, the caller's counts.

// The status counts of this workgroup, in the order of the status.
var<workgroup> counts: array<atomic<u32>, 4>;
const SKIPPED_RAYS: u32 = 0u;
const UNFINISHED_RAYS: u32 = 1u;
const OVERFLOWED_RAYS: u32 = 2u;
const RAYS_HIT: u32 = 3u;

fn count(which: u32, more: u32) {
  if (more != 0u) {
    atomicAdd(&counts[which], more);
  }
}

// Call first, in every thread.
fn clear_counts(local: u32) {
  if (local < 4u) {
    atomicStore(&counts[local], 0u);
  }
  workgroupBarrier();
}

// Adds the counts to those of the caller, from word `at` on. Call last, in every thread.
fn add_counts(local: u32, at: u32) {
  workgroupBarrier();
  if (local < 4u) {
    let sum = atomicLoad(&counts[local]);
    if (sum != 0u) {
      atomicAdd(&status[at + local], sum);
    }
  }
}
