// Spherical caps and the areas of their intersections. Twin of src/shadow/coverage/caps.rs, which documents them: same functions, same
// order.

struct Cap {
  separation: f32,
  radius: f32,
  // separation - radius, computed without cancellation.
  edge: f32,
  azimuth: vec2<f32>,
}

const NO_CAP: Cap = Cap(PI, -1.0, PI, vec2<f32>(1.0, 0.0));

// Half the solid angle between an arc of a small circle and its chord, which is an arc of a great circle.
fn segment(half_angle: f32, v: f32) -> f32 {
  let s = sine(half_angle);
  let c = 1.0 - versine(half_angle);
  let run = s * c * v;
  let rise = 1.0 - s * s * v;
  if (abs(run) <= 0.25 * rise) {
    let x = run / max(rise, 1e-30);
    return 0.5 * v * angle_minus_sine(2.0 * half_angle) - v * v * s * s * s * c / max(rise, 1e-30) + x_minus_arctangent(x);
  }
  return half_angle * v - signed_arc(run, rise);
}

// The half-angles that the common chord of two caps subtends at their centres: (at the first, at the second).
fn chord(a: f32, b: f32, c: f32, edge: f32) -> vec2<f32> {
  return chord_of(a, b, c, a + edge, a - edge);
}

// chord() with a - b + c and a + b - c in place of the edge.
fn chord_of(a: f32, b: f32, c: f32, twice_less_b: f32, twice_less_c: f32) -> vec2<f32> {
  let whole = sine(0.5 * (a + b + c));
  let less_a = sine(max(0.5 * ((b - a) + c), 0.0));
  let less_b = sine(max(0.5 * twice_less_b, 0.0));
  let less_c = sine(max(0.5 * twice_less_c, 0.0));
  // Half the sum of the sides exceeds pi only by rounding.
  return vec2<f32>(
    2.0 * arc(sqrt(max(less_a * less_c, 0.0)), sqrt(max(whole * less_b, 0.0))),
    2.0 * arc(sqrt(max(less_b * less_c, 0.0)), sqrt(max(whole * less_a, 0.0))),
  );
}

// The half-angle that the common chord of two caps subtends at the centre of the first.
fn common_chord(a: f32, b: f32, c: f32) -> f32 {
  return chord_of(a, b, c, (a - b) + c, (a + b) - c).x;
}

// Fraction of a disc of angular radius a that a cap covers, 0...1.
fn covered(a: f32, cap: Cap) -> f32 {
  let b = cap.radius;
  let c = cap.separation;
  if (b <= 0.0 || cap.edge >= a) {
    return 0.0;
  }
  if (cap.edge + a <= 0.0) {
    return 1.0;
  }
  let v_a = versine(a);
  let v_b = versine(b);
  if (c + b <= a) {
    return min(v_b / v_a, 1.0);
  }
  let half = chord(a, b, c, cap.edge);
  return clamp((segment(half.x, v_a) + segment(half.y, v_b)) / (PI * v_a), 0.0, 1.0);
}

// Angle between the centres of two caps.
fn are_apart(a: Cap, b: Cap) -> f32 {
  let near = sine(0.5 * abs(a.separation - b.separation));
  let turn = a.azimuth - b.azimuth;
  let h = near * near + 0.25 * sine(a.separation) * sine(b.separation) * dot(turn, turn);
  return 2.0 * arc(sqrt(clamp(h, 0.0, 1.0)), sqrt(max(1.0 - h, 0.0)));
}

fn cross2(a: vec2<f32>, b: vec2<f32>) -> f32 {
  return a.x * b.y - a.y * b.x;
}

// The sine of an angle in [-2 pi, 2 pi].
fn signed_sine(x: f32) -> f32 {
  let s = sine(abs(x));
  return select(s, -s, x < 0.0);
}

// The angle in [-pi, pi] of the vector (x, y).
fn signed_arc(y: f32, x: f32) -> f32 {
  let angle = arc(abs(y), x);
  return select(angle, -angle, y < 0.0);
}

// The bearing of the centre of `other`, seen from the centre of `origin`: the angle, counterclockwise, from the direction to the disc's
// centre.
fn bearing(origin: Cap, other: Cap) -> f32 {
  let turn = origin.azimuth - other.azimuth;
  let sine_to = sine(other.separation);
  let cosine = 1.0 - versine(origin.separation);
  let near = signed_sine(origin.separation - other.separation);
  let inward = near + 0.5 * cosine * sine_to * dot(turn, turn);
  return signed_arc(-sine_to * cross2(origin.azimuth, other.azimuth), inward);
}

// The point of a cap's edge at `angle` (a bearing), in stereographic projection about the disc's centre.
fn edge_point(cap: Cap, angle: f32) -> vec2<f32> {
  let sine_b = sine(cap.radius);
  let v = versine(abs(angle));
  let along = signed_sine(cap.edge) + (1.0 - versine(cap.separation)) * sine_b * v;
  let aside = -sine_b * signed_sine(angle);
  let height = 1.0 - versine(abs(cap.edge)) - sine_b * sine(cap.separation) * v;
  let side = vec2<f32>(-cap.azimuth.y, cap.azimuth.x);
  return (cap.azimuth * along + side * aside) / max(1.0 + height, 1e-6);
}

// Half the solid angle between the disc's centre and the arc of a cap's edge from `begin` to `end`.
fn swept(cap: Cap, begin: f32, end: f32) -> f32 {
  let p = edge_point(cap, begin);
  let q = edge_point(cap, end);
  return segment(0.5 * (end - begin), versine(cap.radius)) + signed_arc(cross2(p, q), 1.0 + dot(p, q));
}

// The arc `center` +- `half` as a span of angles counted from `start`. The span begins in [0, 2 pi).
fn span(center: f32, half: f32, start: f32) -> vec2<f32> {
  let first = center - half - start;
  let begin = first - TAU * floor(first / TAU);
  return vec2<f32>(begin, begin + 2.0 * half);
}

// Maximum number of overlapping caps on one disc; the CPU computes discs with more.
const MAX_CAPS: u32 = 16u;
var<private> spans: array<vec2<f32>, 16>;
var<private> span_count: u32;

// Advances along a circle from the angle `cursor`. Returns (farthest end of the spans that contain `cursor`, or `cursor` itself if none
// does; start of the next span, 2 pi if there is none).
fn advance(cursor: f32) -> vec2<f32> {
  var covered_to = cursor;
  var next = TAU;
  for (var i = 0u; i < span_count; i++) {
    let s = spans[i];
    if (s.x <= cursor) {
      covered_to = max(covered_to, s.y);
    } else {
      next = min(next, s.x);
    }
    covered_to = max(covered_to, s.y - TAU);
  }
  return vec2<f32>(covered_to, next);
}
