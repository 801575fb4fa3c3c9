// Program: validates the caller's rays, finds their closest hits by BVH traversal, and writes them to the caller's buffers: 32 bytes are read
// and 8 written per ray. Not for moving spheres. Needs encode/usable_ray.wgsl, encode/status.wgsl and query/closest_traversal.wgsl. The
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

fn process_ray(i: u32) {
  let at = params.rays_at + 8u * i;
  var hit = Hit(INFINITY_BITS, NO_SPHERE);
  if (is_usable(at)) {
    let best = closest_of(i, ray_at(at), empty_state());
    let unfinished = (best.flags & STATE_UNFINISHED) != 0u;
    let hits = !unfinished && best.id != NO_SPHERE;
    if (unfinished) {
      hit.t = TAG_UNFINISHED;
    } else if (hits) {
      hit = Hit(bitcast<u32>(best.t), best.id);
    }
    count(UNFINISHED_RAYS, u32(unfinished));
    count(RAYS_HIT, u32(hits));
    count(OVERFLOWED_RAYS, u32(!unfinished && !hits && (best.flags & STATE_OVERFLOW) != 0u));
  } else {
    count(SKIPPED_RAYS, 1u);
  }
  answers[params.out_at + 2u * i] = hit.t;
  answers[params.out_at + 2u * i + 1u] = hit.id;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let local = invocation.x % 64u;
  clear_counts(local);
  if (invocation.x < params.ray_count) {
    zero = params.zero;
    process_ray(invocation.x);
  }
  add_counts(local, params.status_at);
}
