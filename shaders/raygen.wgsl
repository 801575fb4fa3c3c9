// Program: generates rays on the device, from points or from tables. Twin of src/batch/raygen/points.rs and src/batch/raygen/grid.rs:
// the same operations in the same order. `opaque` keeps compilers from fusing or cancelling them, so that every device generates the
// same rays, bit for bit.

struct RayGenParams {
  kind: u32,
  count: u32,
  // Always 0, but no compiler knows that; see math/error_free.wgsl.
  zero: u32,
  // For a grid: the number of columns, the column of the first ray, the same for rows, and where the tables of rows and frames begin in
  // `numbers`. The table of columns begins at 0. Each table begins with the entry of the first ray; columns and rows wrap around.
  columns: u32,
  first_column: u32,
  rows: u32,
  first_row: u32,
  rows_at: u32,
  frames_at: u32,
  // Radius of a target sphere.
  radius: f32,
  t_min: f32,
  t_max: f32,
  // The direction of parallel rays, or the target.
  toward: vec3<f32>,
  unused: u32,
}

struct Seeds {
  head: RayGenParams,
  numbers: array<f32>,
}

@group(0) @binding(0) var<storage, read> seeds: Seeds;
@group(0) @binding(1) var<storage, read_write> rays: array<Ray>;

const PARALLEL: u32 = 0u;
const TOWARD: u32 = 1u;
const ORTHOGRAPHIC: u32 = 3u;

// How far before a target sphere a ray ends, in units of t: 2^-17.
const MARGIN: f32 = 0.00000762939453125;

fn pair_at(at: u32) -> vec2<f32> {
  return vec2<f32>(seeds.numbers[at], seeds.numbers[at + 1u]);
}

fn vector_at(at: u32) -> vec3<f32> {
  return vec3<f32>(seeds.numbers[at], seeds.numbers[at + 1u], seeds.numbers[at + 2u]);
}

// The t at which a ray towards the centre of a target sphere ends.
fn end(direction: vec3<f32>, radius: f32) -> f32 {
  if (radius == 0.0) {
    return 1.0;
  }
  let longest = max(max(abs(direction.x), abs(direction.y)), abs(direction.z));
  let e = clamp(exponent(longest), -126, 126);
  // The radius exceeds the distance to the centre.
  if (exponent(radius) > e + 3) {
    return 0.0;
  }
  let s = power_of_two(-e);
  let d = opaque3(direction * s);
  let square = opaque(opaque(opaque(d.x * d.x) + opaque(d.y * d.y)) + opaque(d.z * d.z));
  let half = opaque(0.5 * square);
  var y = bitcast<f32>(0x5f3759dfu - (bitcast<u32>(square) >> 1u));
  for (var i = 0; i < 3; i++) {
    y = opaque(y * opaque(1.5 - opaque(opaque(half * y) * y)));
  }
  let t = opaque(opaque(1.0 - opaque(opaque(radius * s) * y)) - MARGIN);
  return select(0.0, t, t > 0.0);
}

fn from_point(i: u32) -> Ray {
  let origin = vector_at(3u * i);
  if (seeds.head.kind == PARALLEL) {
    return Ray(origin, 0.0, seeds.head.toward, seeds.head.t_max);
  }
  let direction = opaque3(seeds.head.toward - origin);
  return Ray(origin, 0.0, direction, end(direction, seeds.head.radius));
}

fn from_grid(i: u32) -> Ray {
  let head = seeds.head;
  let below = (head.first_column + i) / head.columns;
  let column = pair_at(2u * (i % head.columns));
  let row = pair_at(head.rows_at + 2u * (below % head.rows));
  let frame = head.frames_at + 12u * ((head.first_row + below) / head.rows);
  let position = vector_at(frame);
  let forward = vector_at(frame + 3u);
  let along = opaque(row.x * column.x);
  let across = opaque(row.x * column.y);
  let turned = opaque3(opaque3(opaque3(forward * along) + opaque3(vector_at(frame + 6u) * across))
    + opaque3(vector_at(frame + 9u) * row.y));
  if (head.kind == ORTHOGRAPHIC) {
    return Ray(opaque3(position + turned), head.t_min, forward, head.t_max);
  }
  return Ray(position, head.t_min, turned, head.t_max);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  zero = seeds.head.zero;
  if (id.x >= seeds.head.count) {
    return;
  }
  if (seeds.head.kind <= TOWARD) {
    rays[id.x] = from_point(id.x);
  } else {
    rays[id.x] = from_grid(id.x);
  }
}
