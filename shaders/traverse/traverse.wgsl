// BVH traversal for hits, front to back, one thread per ray. Finds the spheres that have to be intersected with the ray. Needs
// traverse/ray_setup.wgsl, traverse/leaf.wgsl and traverse/stack.wgsl. The program defines `accept_certain`, which receives each certain
// hit: a sphere, by its position in leaf order, that has a chord under all errors and begins before `high`. It returns whether the sphere
// still has to be intersected, and may cull what begins behind.

// Positions where a ray intersects four planes of one axis.
fn plane_distances(word: u32, scale: f32, offset: f32) -> vec4<f32> {
  return bytes_of(word) * scale + vec4<f32>(offset);
}

// Largest key that is not culled: the length of the segment, plus one rounding.
fn cutoff_key() -> f32 {
  return (prepared_ray.far - prepared_ray.near) * 1.000001;
}

// Tests the children of the current node, and sets `current` to the next child to visit.
fn visit_node() {
  let c = prepared_ray;
  let forward = c.inverse >= vec3<f32>(0.0);
  let quad = node_at(current);
  let near = select(quad.high, quad.low, forward);
  let far = select(quad.low, quad.high, forward);
  let origin = quad.origin * c.inverse;
  let scale = quad.unit * c.inverse;
  let a = origin + c.enter;
  let b = origin + c.leave;
  let first = max(
    max(plane_distances(near.x, scale.x, a.x), plane_distances(near.y, scale.y, a.y)),
    max(plane_distances(near.z, scale.z, a.z), vec4<f32>(c.near)),
  );
  let last = min(
    min(plane_distances(far.x, scale.x, b.x), plane_distances(far.y, scale.y, b.y)),
    min(plane_distances(far.z, scale.z, b.z), vec4<f32>(c.far)),
  );
  let entered = (first <= last) & (vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(quad.count));
  enter(sorted(first - vec4<f32>(c.near), entered), quad.children);
}

// Tests sphere j of a leaf: reports a certain hit, and defers a sphere that has to be intersected.
fn test_sphere(j: u32, place: u32) {
  let seen = bounds_at(place);
  if (seen.outer < 0.0) {
    return;
  }
  let half = sqrt(seen.outer) * seen.stretch + prepared_ray.along;
  let low = seen.middle - half;
  if (low <= prepared_ray.far && seen.middle + half >= prepared_ray.near && admits_leaf(place)) {
    let high = seen.middle - sqrt(max(seen.inner, 0.0)) * seen.stretch + 2.0 * prepared_ray.along;
    var is_candidate = true;
    if (seen.inner > 0.0 && low >= prepared_ray.begin && high <= min(prepared_ray.far, prepared_ray.end)) {
      is_candidate = accept_certain(high, place);
    }
    if (is_candidate) {
      defer(j, low - prepared_ray.near);
    }
  }
}
