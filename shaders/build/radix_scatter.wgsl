// Program: stable scatter of the items by digit. One workgroup per tile, eight consecutive items per thread.

@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted: array<Item>;

// First output position per digit for the items of this tile.
var<workgroup> begins: array<u32, 16>;
// Count per digit in the threads before this one: two digits per word, eight words per thread. All threads' first words come first,
// then all second words, and so on.
var<workgroup> before: array<u32, 2048>;

fn word_of(digit: u32, thread: u32) -> u32 {
  return (digit >> 1u) * THREADS + thread;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let tile = group_number(group);
  if (thread < BINS) {
    var begin = 0u;
    for (var d = 0u; d < thread; d++) {
      begin += counts[BINS * build_params.jobs + d];
    }
    begins[thread] = begin + counts[thread * build_params.jobs + min(tile, build_params.jobs - 1u)];
  }
  for (var w = 0u; w < 8u; w++) {
    before[w * THREADS + thread] = 0u;
  }
  let first = tile * TILE + thread * EACH;
  let end = min(first + EACH, build_params.count);
  // The digits of this thread's items, four bits each.
  var digits = 0u;
  for (var i = first; i < end; i++) {
    let d = digit(i);
    digits |= d << (4u * (i - first));
    before[word_of(d, thread)] += 1u << (16u * (d & 1u));
  }
  var own: array<u32, 8>;
  for (var w = 0u; w < 8u; w++) {
    own[w] = before[w * THREADS + thread];
  }
  workgroupBarrier();
  for (var step = 1u; step < THREADS; step *= 2u) {
    var others: array<u32, 8>;
    for (var w = 0u; w < 8u; w++) {
      others[w] = select(0u, before[w * THREADS + thread - min(step, thread)], thread >= step);
    }
    workgroupBarrier();
    for (var w = 0u; w < 8u; w++) {
      before[w * THREADS + thread] += others[w];
    }
    workgroupBarrier();
  }
  for (var w = 0u; w < 8u; w++) {
    before[w * THREADS + thread] -= own[w];
  }
  // From here on each thread accesses only its own words.
  for (var i = first; i < end; i++) {
    let d = (digits >> (4u * (i - first))) & 15u;
    let w = word_of(d, thread);
    sorted[begins[d] + ((before[w] >> (16u * (d & 1u))) & 0xffffu)] = items[i];
    before[w] += 1u << (16u * (d & 1u));
  }
}
