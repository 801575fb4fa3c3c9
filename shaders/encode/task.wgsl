// What an encoded query is told of the caller's buffers. Twin of `Task` in src/gpu/encode/plan.rs.

struct Task {
  count: u32,
  // Where the caller's rays, answers and counts begin in what is bound of them, in words.
  rays_at: u32,
  out_at: u32,
  status_at: u32,
  // Words of an answer; 0 for one bit a ray.
  width: u32,
  // 1 for the nearest pass.
  approach: u32,
  // Where times begin, and which one stands for all that follow; the first and the last that may be asked about, in bits; 1 where
  // spheres move while rays travel.
  times_at: u32,
  last_time: u32,
  time_from: u32,
  time_to: u32,
  relative: u32,
}

// The ends of a ray that stands for one that cannot be used: no other starts so late, or ends so early.
const BAD_START: u32 = 0x7f7fffffu;
const BAD_END: u32 = 0xff7fffffu;
