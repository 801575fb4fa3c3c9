// Program: validates the caller's rays, finds their closest hits by BVH traversal, and writes them to the caller's buffers: 32 bytes are read
// and 8 written per ray. Not for moving spheres. Needs encode/task.wgsl, encode/usable_ray.wgsl and query/closest_traversal.wgsl. The
// results are those of encode/prepare_rays.wgsl, query/closest_bvh.wgsl, query/closest_finalize.wgsl and encode/write_results.wgsl.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> given: array<u32>;
@group(0) @binding(3) var<storage, read_write> answers: array<u32>;
@group(0) @binding(4) var<storage, read_write> status: array<atomic<u32>>;

// A valid ray of the caller's, from word `at` on.
fn ray_at(at: u32) -> Ray {
  return Ray(
    bitcast<vec3<f32>>(vec3<u32>(given[at], given[at + 1u], given[at + 2u])),
    bitcast<f32>(finite_start(given[at + 3u])),
    bitcast<vec3<f32>>(vec3<u32>(given[at + 4u], given[at + 5u], given[at + 6u])),
    bitcast<f32>(finite_end(given[at + 7u])),
  );
}

// Rays with these results are few.
fn count(which: u32) {
  atomicAdd(&status[params.status_at + which], 1u);
}

// Writes the closest hit of ray i. Returns whether there is one.
fn process_ray(i: u32) -> bool {
  let at = params.rays_at + 8u * i;
  var hit = Hit(INFINITY_BITS, NO_SPHERE);
  if (is_usable(at)) {
    let best = closest_of(i, ray_at(at), empty_state());
    if ((best.flags & STATE_UNFINISHED) != 0u) {
      hit.t = TAG_UNFINISHED;
      count(UNFINISHED_RAYS);
    } else if (best.id != NO_SPHERE) {
      hit = Hit(bitcast<u32>(best.t), best.id);
    } else if ((best.flags & STATE_OVERFLOW) != 0u) {
      count(OVERFLOWED_RAYS);
    }
  } else {
    count(SKIPPED_RAYS);
  }
  answers[params.out_at + 2u * i] = hit.t;
  answers[params.out_at + 2u * i + 1u] = hit.id;
  return hit.id != NO_SPHERE;
}

// Hits of the workgroup, and above them the number of threads that are done. The last one adds the hits to the status: at a barrier, the
// subgroups that are done first would wait.
var<workgroup> done: atomic<u32>;
const ONE_THREAD: u32 = 0x10000u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  if (invocation.x % 64u == 0u) {
    atomicStore(&done, 0u);
  }
  workgroupBarrier();
  var own = ONE_THREAD;
  if (invocation.x < params.ray_count) {
    zero = params.zero;
    own += u32(process_ray(invocation.x));
  }
  let sum = atomicAdd(&done, own) + own;
  if (sum > 64u * ONE_THREAD) {
    atomicAdd(&status[params.status_at + RAYS_HIT], sum - 64u * ONE_THREAD);
  }
}
