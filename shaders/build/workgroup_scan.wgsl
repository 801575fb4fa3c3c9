// Sums along a workgroup.

var<workgroup> sums: array<u32, 256>;

// The sum of what the threads before this one bring; sums[255] is then that of all.
fn sum_before(thread: u32, value: u32) -> u32 {
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

// The same along a row of `length` numbers in a buffer, in place: each thread takes a stretch.
fn stretch(thread: u32, length: u32) -> vec2<u32> {
  let each = (length + THREADS - 1u) / THREADS;
  return min(vec2<u32>(thread * each, thread * each + each), vec2<u32>(length));
}
