// Intersection of a ray and an ellipsoid, in the space where the ellipsoid is a ball. Twin of src/intersect/ellipsoid.rs: same operations;
// the reasons are given there.

// The rows of a matrix.
struct Map {
  x: HighLow,
  y: HighLow,
  z: HighLow,
}

// Product of a row and a vector, both as high and low parts.
fn along_row(row: HighLow, v: HighLow) -> vec2<f32> {
  let x = two_product(row.high.x, v.high.x);
  let y = two_product(row.high.y, v.high.y);
  let z = two_product(row.high.z, v.high.z);
  let xy = two_sum(x.x, y.x);
  let all = two_sum(xy.x, z.x);
  let rest = ((x.y + y.y) + z.y) + (xy.y + all.y) + (dot3(row.high, v.low) + dot3(row.low, v.high));
  return two_sum(all.x, rest);
}

// Applies the map to a vector.
fn image(map: Map, v: HighLow) -> HighLow {
  let x = along_row(map.x, v);
  let y = along_row(map.y, v);
  let z = along_row(map.z, v);
  return HighLow(vec3<f32>(x.x, y.x, z.x), vec3<f32>(x.y, y.y, z.y));
}

// Transforms a pair, scaled with the ball around the ellipsoid, to the space where the ellipsoid is a ball.
fn map_scaled(s: Scaled, map: Map) -> Scaled {
  let e = image(map, HighLow(s.eh, s.el));
  let d = image(map, HighLow(s.d, s.dl));
  return ranged(Scaled(e.high, e.low, d.high, s.r, d.low, s.rl, s.noise, s.length, s.direction));
}
