// Program: writes the results of a cast to the caller's buffers. On the host, src/gpu/cast/readback.rs and src/gpu/cast/resolve.rs do
// the same. All numbers are handled as bits.

@group(0) @binding(0) var<uniform> task: Task;
@group(0) @binding(1) var<storage, read> given: array<u32>;
@group(0) @binding(2) var<storage, read> rays: array<u32>;
@group(0) @binding(3) var<storage, read> found: array<u32>;
@group(0) @binding(4) var<storage, read_write> answers: array<u32>;
@group(0) @binding(5) var<storage, read_write> status: array<atomic<u32>>;

// The status counts of this workgroup, in the order of the status.
var<workgroup> counts: array<atomic<u32>, 4>;

fn count(which: u32, more: u32) {
  if (more != 0u) {
    atomicAdd(&counts[which], more);
  }
}

// Adds ray i to the list of those that the host has to cast.
fn list_open(i: u32) {
  if (task.lists_open != 0u) {
    let at = atomicAdd(&status[task.status_at + OPEN_RAYS], 1u);
    atomicStore(&status[task.status_at + OPEN_RAYS + 1u + at], i);
  }
}

fn is_bad(i: u32) -> bool {
  return rays[8u * i + 3u] == BAD_START && rays[8u * i + 7u] == BAD_END;
}

// Whether the device may have flushed a number of ray i to 0. Twin of `ray_needs_subnormals` in src/cpu/subnormal.rs.
fn needs_subnormals(i: u32) -> bool {
  if (task.smallest == 0u) {
    return false;
  }
  var small = false;
  var longest = 0u;
  for (var k = 0u; k < 8u; k++) {
    let magnitude = given[task.rays_at + 8u * i + k] & 0x7fffffffu;
    small = small || (magnitude != 0u && magnitude < task.smallest);
    longest = select(longest, max(longest, magnitude), k >= 4u && k < 7u);
  }
  return small || longest > task.longest;
}

// The t of a closest approach. The cast uses finite ends and reports the largest f32 as an infinity; this function puts the ray's own
// end in its place, which may be finite or infinite.
fn between_ends(t: u32, i: u32) -> u32 {
  let at = task.rays_at + 8u * i;
  let end = select(t, given[at + 7u], t == INFINITY_BITS);
  return select(end, given[at + 3u], t == (INFINITY_BITS | 0x80000000u));
}

fn deliver_record(i: u32) {
  let source = i * task.width;
  let to = task.out_at + source;
  let last = task.width - 1u;
  let tag = found[source];
  let bad = is_bad(i);
  let unfinished = !bad && tag == TAG_UNFINISHED;
  let undecided = !bad && (tag == TAG_UNDECIDED || tag == TAG_UNROUNDED || needs_subnormals(i));
  let overflow = !bad && !undecided && tag == TAG_OVERFLOW;
  let open = unfinished || undecided;
  count(SKIPPED_RAYS, u32(bad));
  count(UNFINISHED_RAYS, u32(unfinished));
  count(OVERFLOWED_RAYS, u32(overflow));
  if (bad || open || overflow) {
    for (var k = 0u; k < last; k++) {
      answers[to + k] = select(INFINITY_BITS, TAG_UNFINISHED, open);
    }
    answers[to + last] = NO_SPHERE;
    if (open) {
      list_open(i);
    }
    return;
  }
  for (var k = 0u; k < task.width; k++) {
    answers[to + k] = found[source + k];
  }
  let hits = found[source + last] != NO_SPHERE;
  if (task.approach == 0u) {
    count(RAYS_HIT, u32(hits));
  } else if (hits) {
    answers[to] = between_ends(tag, i);
    // The clearance is at most zero: the ray touches or enters the sphere.
    count(RAYS_HIT, u32(found[source + 1u] == 0u || found[source + 1u] >= 0x80000000u));
  }
}

// Writes result word w: the bits of 32 rays.
fn deliver_word(w: u32) {
  let words = (task.count + 31u) / 32u;
  var usable = 0u;
  var uncertain = 0u;
  for (var bit = 0u; bit < min(32u, task.count - 32u * w); bit++) {
    usable |= select(1u << bit, 0u, is_bad(32u * w + bit));
    uncertain |= select(0u, 1u << bit, needs_subnormals(32u * w + bit));
  }
  let there = select(0xffffffffu, (1u << (task.count % 32u)) - 1u, task.count - 32u * w < 32u);
  let hits = found[w] & usable & ~uncertain;
  let unfinished = found[3u * words + w] & usable & ~hits;
  let undecided = (found[words + w] | uncertain) & usable & ~hits;
  let overflow = found[2u * words + w] & usable & ~hits & ~unfinished & ~undecided;
  for (var open = unfinished | undecided; open != 0u; open &= open - 1u) {
    list_open(32u * w + countTrailingZeros(open));
  }
  answers[task.out_at + w] = hits;
  count(SKIPPED_RAYS, countOneBits(there & ~usable));
  count(UNFINISHED_RAYS, countOneBits(unfinished));
  count(OVERFLOWED_RAYS, countOneBits(overflow));
  count(RAYS_HIT, countOneBits(hits));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  if (local < 4u) {
    atomicStore(&counts[local], 0u);
  }
  workgroupBarrier();
  let i = invocation.x;
  if (task.width > 0u && i < task.count) {
    deliver_record(i);
  }
  if (task.width == 0u && i < (task.count + 31u) / 32u) {
    deliver_word(i);
  }
  workgroupBarrier();
  if (local < 4u) {
    let sum = atomicLoad(&counts[local]);
    if (sum != 0u) {
      atomicAdd(&status[task.status_at + local], sum);
    }
  }
}
