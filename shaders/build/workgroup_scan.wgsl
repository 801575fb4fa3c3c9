// Exclusive prefix sum over a workgroup.

var<workgroup> sums: array<u32, 256>;

// Returns the sum of `value` over the threads before this one. Afterwards sums[255] is the sum over all threads.
fn exclusive_scan(thread: u32, value: u32) -> u32 {
  sums[thread] = value;
  workgroupBarrier();
  for (var step = 1u; step < THREADS; step *= 2u) {
    let other = select(0u, sums[thread - min(step, thread)], thread >= step);
    workgroupBarrier();
    sums[thread] += other;
    workgroupBarrier();
  }
  return sums[thread] - value;
}

// Range of a thread, begin and end, in a row of `length` numbers. With it the prefix sum extends to a row in a buffer: each thread adds up
// its range, and `exclusive_scan` adds up the threads.
fn stretch(thread: u32, length: u32) -> vec2<u32> {
  let each = (length + THREADS - 1u) / THREADS;
  return min(vec2<u32>(thread * each, thread * each + each), vec2<u32>(length));
}
