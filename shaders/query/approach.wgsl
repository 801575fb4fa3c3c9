// Program: the closest approach of each ray to a sphere, by brute force over the spheres of one dispatch.

@group(0) @binding(3) var<storage, read_write> state: array<ApproachState>;

// Upper bound of the clearance with which a sphere can still replace the best so far; scaled, one per ray of the thread.
var<private> within: array<vec4<f32>, 2>;
// Larger than every distance. Its square is smaller than that of the distance in `NO_LINE`.
const MAX_DISTANCE: f32 = 7.2e16;

// `best.high` in scaled units, widened by the errors of culling and intersection. The error bounds of a clearance are far smaller than
// the slack.
fn reach_of(i: u32, slack: f32) -> f32 {
  if (i >= params.ray_count) {
    return 0.0;
  }
  let best = state[i];
  // A saturated bound may stand for a larger value.
  if (best.id == NO_SPHERE || best.high >= FAR * 0.25 || best.high > params.far) {
    return MAX_DISTANCE;
  }
  let high = best.high * params.scale;
  return high + abs(high) * 3.8e-6 + 2.0 * slack;
}

fn prepare_query(first: u32) {
  for (var half = 0u; half < 2u; half++) {
    let i = first + half * 4u * WORKGROUP;
    let s = slacks[half];
    let a = reach_of(i, s.x);
    let b = reach_of(i + WORKGROUP, s.y);
    let c = reach_of(i + 2u * WORKGROUP, s.z);
    let d = reach_of(i + 3u * WORKGROUP, s.w);
    within[half] = vec4<f32>(a, b, c, d);
  }
}

// Per line `bit` or 0: whether the surface of the sphere may be as near to the line as the best so far.
fn closer(l: Lines, s: vec4<f32>, reach: vec4<f32>, bit: u32) -> vec4<u32> {
  let a = reach + vec4<f32>(s.w);
  return select(vec4<u32>(0u), vec4<u32>(bit), apart(l, s.xyz) <= a * abs(a));
}

// Culls eight spheres against one half of the thread's rays: per ray a mask of candidates. Replaces cull/block_hits.wgsl.
fn is_candidate(half: u32, l: Lines, s: Eight) -> vec4<u32> {
  let reach = within[half];
  return closer(l, s.a, reach, 1u) | closer(l, s.b, reach, 2u) | closer(l, s.c, reach, 4u) | closer(l, s.d, reach, 8u)
    | closer(l, s.e, reach, 16u) | closer(l, s.f, reach, 32u) | closer(l, s.g, reach, 64u) | closer(l, s.h, reach, 128u);
}

fn test_pair(i: u32, at: u32) {
  state[i] = nearer(state[i], ray_attributes_of(i), at, rays[i], spheres[at]);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  zero = params.zero;
  let first = first_ray(workgroup.x, local);
  if (params.fresh != 0u) {
    for (var i = first; i < min(first + RAYS * WORKGROUP, params.ray_count); i += WORKGROUP) {
      state[i] = ApproachState(FAR, FAR, FAR, FAR, FAR, NO_SPHERE);
    }
  }
  search(first);
}
