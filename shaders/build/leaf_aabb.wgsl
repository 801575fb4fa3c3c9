// What the sphere at a place in the order of the leaves reaches. Needs build/aabb.wgsl, and of the program `leaves`.

fn reach_at(place: u32) -> Bounds {
  let all = reach(leaves[place]);
  if (plant.half < 0.0) {
    return all;
  }
  // What traverse/leaf.wgsl tells of how it moves. `all` is what the ball around its way reaches; that its middle was rounded is for a walk to
  // allow for.
  let way = leaves[plant.count + place];
  if (way.radius < 0.0) {
    return all;
  }
  let half = opaque3((vec3<f32>(way.radius) + abs(way.center) * plant.half) * 1.000001);
  let own = around(leaves[place].center, half);
  return Bounds(max(all.low, own.low), min(all.high, own.high));
}
