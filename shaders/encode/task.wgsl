// Uniform of an encoded query: offsets in the caller's buffers, and parameters. Twin of `Task` in src/gpu/encode/plan.rs.

struct Task {
  count: u32,
  // Offsets of the caller's rays, results and status counts within their bindings, in words.
  rays_at: u32,
  out_at: u32,
  status_at: u32,
  // Words per result; 0 for one bit per ray.
  width: u32,
  // 1 if the query is `approach`.
  approach: u32,
  // Offset of the times within their binding, in words; the index of the last time, which also serves all later rays; the bits of the
  // first and the last time of the scene's time range; 1 if spheres move while rays travel.
  times_at: u32,
  last_time: u32,
  time_from: u32,
  time_to: u32,
  moves_with_ray: u32,
  // 1 if the status has a list of open rays.
  lists_open: u32,
  // Bits of the least magnitude but 0 of a ray's numbers, and of the largest component of its direction: rays beyond these are open.
  smallest: u32,
  longest: u32,
}

// Places of the counts in the caller's status.
const SKIPPED_RAYS: u32 = 0u;
const UNFINISHED_RAYS: u32 = 1u;
const OVERFLOWED_RAYS: u32 = 2u;
const RAYS_HIT: u32 = 3u;
// The number of open rays, whose indices follow.
const OPEN_RAYS: u32 = 4u;

// The ends of the ray that replaces an invalid one. No valid ray has both, because it does not start after its end.
const BAD_START: u32 = 0x7f7fffffu;
const BAD_END: u32 = 0xff7fffffu;
