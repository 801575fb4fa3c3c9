// Program: the closest approach of each ray to a sphere, by BVH traversal, nearest child first.
//
// The ball around an AABB contains the AABB and its spheres. The clearances of the spheres are therefore at least that of the ball
// (src/cpu/traverse/best_first.rs).

@group(0) @binding(3) var<storage, read_write> state: array<ApproachState>;

// Upper bound of the clearances that can still replace the best; scaled, widened by the errors of culling and intersection.
var<private> limit: f32;
// No clearance is less than -ABOVE, because no sphere and no ball around an AABB has a larger radius.
const ABOVE: f32 = 4.0;
// Larger than every distance: the segment of a ray may begin as far as DISTANT from the scene.
const MAX_DISTANCE: f32 = 1e37;

fn apply_cutoff(clearance: f32) {
  limit = min(limit, clearance + abs(clearance) * 3.8e-6 + 2.0 * line.slack);
}

fn apply_best_cutoff(best: ApproachState) {
  // A saturated bound may stand for a larger value.
  if (best.id != NO_SPHERE && best.high < FAR * 0.25 && best.high <= params.far) {
    apply_cutoff(best.high * params.scale);
  }
}

fn cutoff_key() -> f32 {
  return limit + ABOVE + 2e-6;
}

// How far positions along the ray lie outside the segment between its ends; 0 within it. The distance of a ball is measured from this
// segment. The ends are moved outwards by `slack`, or inwards if it is negative, to allow for their error.
fn outside(along: vec4<f32>, slack: f32) -> vec4<f32> {
  let begin = prepared_ray.begin - 2.0 * prepared_ray.along - slack;
  let end = prepared_ray.end + 2.0 * prepared_ray.along + slack;
  return max(max(vec4<f32>(begin) - along, along - vec4<f32>(end)), vec4<f32>(0.0));
}

// Tests the children of the current node, and sets `current` to the next child to visit.
fn visit_node() {
  let quad = node_at(current);
  let lx = bytes_of(quad.low.x);
  let ly = bytes_of(quad.low.y);
  let lz = bytes_of(quad.low.z);
  let hx = bytes_of(quad.high.x);
  let hy = bytes_of(quad.high.y);
  let hz = bytes_of(quad.high.z);
  let half = quad.unit * 0.5;
  let x = (lx + hx) * half.x + vec4<f32>(quad.origin.x);
  let y = (ly + hy) * half.y + vec4<f32>(quad.origin.y);
  let z = (lz + hz) * half.z + vec4<f32>(quad.origin.z);
  let dx = (hx - lx) * half.x;
  let dy = (hy - ly) * half.y;
  let dz = (hz - lz) * half.z;
  let radius = sqrt(dx * dx + dy * dy + dz * dz) * 1.000004;
  let across = x * line.u.x + y * line.u.y + z * line.u.z - vec4<f32>(line.at.x);
  let over = x * line.v.x + y * line.v.y + z * line.v.z - vec4<f32>(line.at.y);
  let along = x * prepared_ray.d.x + y * prepared_ray.d.y + z * prepared_ray.d.z - vec4<f32>(prepared_ray.start);
  let past = outside(along, prepared_ray.along);
  let distance = sqrt(across * across + over * over + past * past);
  let least = distance * 0.999998 - radius - vec4<f32>(line.slack);
  let entered = (least <= vec4<f32>(limit)) & (vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(quad.count));
  enter(sorted(max(least + vec4<f32>(ABOVE), vec4<f32>(0.0)), entered), quad.children);
}

// Culls sphere j of a leaf, or defers it if it may replace the best.
fn test_sphere(j: u32, place: u32) {
  let s = sphere_at(place);
  let across = dot3(s.xyz, line.u) - line.at.x;
  let over = dot3(s.xyz, line.v) - line.at.y;
  let square = across * across + over * over;
  let along = vec4<f32>(dot3(s.xyz, prepared_ray.d) - prepared_ray.start);
  let past = outside(along, prepared_ray.along).x;
  let least = sqrt(square + past * past) * 0.999998 - s.w * 1.000002 - line.slack;
  if (least <= limit && admits_leaf(place)) {
    // The ball around the path of a moving sphere gives no upper bound of the clearance.
    if (!has_sphere_attributes) {
      let before = outside(along, -prepared_ray.along).x;
      apply_cutoff(sqrt(square + before * before) * 1.000002 - s.w * 0.999998 + line.slack);
    }
    defer(j, least + ABOVE);
  }
}

fn process_ray(i: u32) {
  let ray = rays[i];
  var best = ApproachState(FAR, FAR, FAR, FAR, FAR, NO_SPHERE);
  if (params.fresh == 0u) {
    best = state[i];
    if (best.low > best.high) {
      // The traversal of an earlier part was not finished.
      return;
    }
  }
  if (prepare_ray(ray, ray_attributes_of(i))) {
    limit = MAX_DISTANCE;
    apply_best_cutoff(best);
    begin_traversal(i);
    while (current != NONE) {
      collect_candidates();
      var place = next_deferred();
      while (place != NONE) {
        steps += 1u;
        best = nearer(best, attributes, order[place], ray, spheres[place]);
        apply_best_cutoff(best);
        place = next_deferred();
      }
      count_steps();
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  if (over_step_limit()) {
    // Marks the ray as unfinished: in no other case does `low` exceed `high`.
    best.low = FAR;
    best.high = -FAR;
  }
  state[i] = best;
}
