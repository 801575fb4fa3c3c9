// Intersection of a ray and an ellipsoid, in the space where the ellipsoid is a ball. Twin of src/intersect/ellipsoid.rs: same operations;
// the reasons are given there.

// The rows of a matrix.
struct UnitBallMap {
  x: HighLow,
  y: HighLow,
  z: HighLow,
}

// Product of a row and a vector, both as high and low parts.
fn row_dot(row: HighLow, v: HighLow) -> vec2<f32> {
  let x = two_product(row.high.x, v.high.x);
  let y = two_product(row.high.y, v.high.y);
  let z = two_product(row.high.z, v.high.z);
  let xy = two_sum(x.x, y.x);
  let all = two_sum(xy.x, z.x);
  let rest = ((x.y + y.y) + z.y) + (xy.y + all.y) + (dot3(row.high, v.low) + dot3(row.low, v.high));
  return two_sum(all.x, rest);
}

// Applies the map to a vector.
fn apply(map: UnitBallMap, v: HighLow) -> HighLow {
  let x = row_dot(map.x, v);
  let y = row_dot(map.y, v);
  let z = row_dot(map.z, v);
  return HighLow(vec3<f32>(x.x, y.x, z.x), vec3<f32>(x.y, y.y, z.y));
}

// Transforms a pair, scaled with the ball around the ellipsoid, to the space where the ellipsoid is a ball.
fn to_unit_ball(s: ScaledPair, map: UnitBallMap) -> ScaledPair {
  let e = apply(map, HighLow(s.eh, s.el));
  let d = apply(map, HighLow(s.d, s.dl));
  return normalize_range(ScaledPair(e.high, e.low, d.high, s.r, d.low, s.rl, s.position_error, s.length, s.direction));
}
