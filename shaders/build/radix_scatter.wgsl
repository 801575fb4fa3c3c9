// Program: moves items to where they belong by a digit, those alike in the order they have. One workgroup a tile, eight neighbours
// a thread.

@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted: array<Item>;

// Where the items of this tile with each digit begin.
var<workgroup> begins: array<u32, 16>;
// How many with each digit the threads before this one have: two digits a word, eight words a thread, word by word.
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
      begin += counts[BINS * plant.jobs + d];
    }
    begins[thread] = begin + counts[thread * plant.jobs + min(tile, plant.jobs - 1u)];
  }
  let first = tile * TILE + thread * EACH;
  let end = min(first + EACH, plant.count);
  // Four bits each.
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
  // From here on each thread looks at its own words only.
  for (var i = first; i < end; i++) {
    let d = (digits >> (4u * (i - first))) & 15u;
    let w = word_of(d, thread);
    sorted[begins[d] + ((before[w] >> (16u * (d & 1u))) & 0xffffu)] = items[i];
    before[w] += 1u << (16u * (d & 1u));
  }
}
