// Bounds of the sphere at a position in leaf order. Needs build/aabb.wgsl, and the binding `leaves` of the program.

fn leaf_bounds(place: u32) -> Bounds {
  let all = sphere_bounds(leaves[place]);
  if (build_params.half < 0.0) {
    return all;
  }
  // The motion record of the sphere, see traverse/leaf.wgsl; its radius is negative if no motion is stored. `all` bounds the ball around
  // the sphere's whole path. The centre of that ball was rounded; `unsteady` in traverse/ray_setup.wgsl allows for it.
  let motion = leaves[build_params.count + place];
  if (motion.radius < 0.0) {
    return all;
  }
  let half = opaque3((vec3<f32>(motion.radius) + abs(motion.center) * build_params.half) * 1.000001);
  let own = conservative_bounds(leaves[place].center, half);
  return Bounds(max(all.low, own.low), min(all.high, own.high));
}
