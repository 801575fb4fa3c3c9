// A ray on its way through the tree. Needs cull/ray_line.wgsl and intersect/attributes.wgsl.
//
// It is the line o + s d with d of length 1, in scaled units from the middle of the scene; t is s / step. A box is told in the
// same units and holds its spheres exactly; what arithmetic, here and in a solve, may get wrong is at most `slack` across the
// line (cull/ray_line.wgsl): so boxes are wider by it on every side, which also covers that planes are met with a few roundings of
// |plane| + |o|. Along the line the same slack and what t itself may be off (src/cpu/cull.rs, `Ruler`) make `along`.

struct Course {
  inverse: vec3<f32>,
  enter: vec3<f32>,
  leave: vec3<f32>,
  // The stretch that counts.
  near: f32,
  far: f32,
  // s for t = 1, and what may be off in a root.
  step: f32,
  along: f32,
  // What begins and ends within these is within the ray's own ends for certain: `near` and `far` never cut beyond t = 0.
  begin: f32,
  end: f32,
  d: vec3<f32>,
  start: f32,
  // Where spheres move: the time from the middle of theirs at which the ray sees them, or, where they do while it travels, at which it
  // is at `pivot`, and t for s = 1, 0 for the others; and what a solve may get wrong of the flag, as a share of |w|: see traverse/leaf.wgsl.
  moment: f32,
  pivot: f32,
  pace: f32,
  flag: f32,
  // Where the ray is at `pivot`.
  place: vec3<f32>,
}

// The ray's own.
var<private> line: Line;
var<private> course: Course;

// Farther than any sphere from any ray that walks.
const DISTANT: f32 = 1e18;

// s at t, as far as that matters.
fn at(t: f32, step: f32) -> f32 {
  let most = DISTANT / step;
  return clamp(t, -most, most) * step;
}

// What may be off besides where a sphere moves, as a distance: the middle of its ball was rounded, and a sum, a product and a difference of
// times are, on a way no longer than 2; and what a device flushes of a velocity counts as often as there are units of time. When it
// moves while the ray travels, all of a line's error (cull/ray_line.wgsl) once more, times |w| + 1 over |w|, which is 3 at most.
fn unsteady(o: vec3<f32>, relative: bool) -> f32 {
  let rounded = 2.0 * U * params.largest * params.scale + 32.0 * U + power_of_two(-106) * params.scale;
  return rounded + select(0.0, 280.0 * U * (norm1(o) + 2.0), relative);
}

// To be called before anything else here. Whether the ray can be told in these units: not from beyond `far`, and not when the
// exponent of `step` is outside -60..60.
fn sets_out(ray: Ray, extra: Extra) -> bool {
  let heading = heading_of(ray.direction);
  let power = heading.power + exponent(params.scale);
  if (largest_of(ray.origin) > params.far || abs(power) > 60) {
    return false;
  }
  let o = framed(ray.origin);
  let d = heading.d;
  line = line_along(o, d);
  let step = heading.length * power_of_two(power);
  let start = dot3(o, d);
  var longer = 0.0;
  var moment = extra.time - params.midway;
  var pivot = 0.0;
  var pace = 0.0;
  var flag = 0.0;
  if (moving) {
    let more = growth(extra, o);
    if (!(more < GROWN)) {
      return false;
    }
    line.slack += more;
    longer = lengthened(o);
  }
  if (held && !mapped) {
    let relative = extra.relative != 0u;
    line.slack += unsteady(o, relative);
    if (relative) {
      // Nearest to the middle of the scene, as far as its ends let it.
      pivot = min(max(-start, at(ray.t_min, step)), at(ray.t_max, step));
      moment += pivot / step;
      pace = 1.0 / step;
      flag = select(0.0, 64.0 * U * at(max(abs(ray.t_min), abs(ray.t_max)), step), fast);
      // Along the ray everything counts up to twice, since |w| is ½ at least.
      longer += line.slack;
    }
  }
  let slack = line.slack;
  // A direction along a face meets it nowhere: turned by less than the slack, it does.
  let side = select(vec3<f32>(-1.0), vec3<f32>(1.0), d >= vec3<f32>(0.0));
  let inverse = side / max(abs(d), vec3<f32>(power_of_two(-30)));
  // 256 u (|o|_1 + 2), and what may be flushed.
  let along = 2.3 * (slack + longer);
  // No sphere is farther than 2 from the middle: so numbers along the line need not be large.
  let near = max(at(min(ray.t_min, 0.0), step), -start - 2.01) - along;
  course = Course(
    inverse,
    -(o + side * slack) * inverse,
    -(o - side * slack) * inverse,
    near,
    at(max(ray.t_max, 0.0), step) + along,
    step,
    along,
    at(ray.t_min, step) + 2.0 * along,
    at(ray.t_max, step) - 2.0 * along,
    d,
    start,
    moment,
    pivot,
    pace,
    flag,
    o + d * pivot,
  );
  return true;
}

// What begins after t does not count any more. Only ahead is a solve's t free of cancellation: hence the 0.
fn narrow(t: f32) {
  course.far = min(course.far, at(max(t, 0.0), course.step) + course.along);
}
