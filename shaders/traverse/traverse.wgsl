// BVH traversal for hits, front to back, one thread per ray. Finds the spheres that have to be intersected with the ray. Needs
// traverse/ray_setup.wgsl, traverse/leaf.wgsl and traverse/stack.wgsl. The program defines `take_certain`, which receives each certain hit:
// a sphere that has a chord under all errors and begins before `high`. It returns whether the sphere still has to be intersected, and may
// cull what begins behind.

// Positions where a ray intersects four planes of one axis.
fn meet(word: u32, scale: f32, offset: f32) -> vec4<f32> {
  return bytes_of(word) * scale + vec4<f32>(offset);
}

// Largest key that is not culled: the length of the segment, plus one rounding.
fn key_limit() -> f32 {
  return (course.far - course.near) * 1.000001;
}

// Descends from node to node, until `current` is a leaf or NONE.
fn descend() {
  let c = course;
  let forward = c.inverse >= vec3<f32>(0.0);
  while (current < LEAF) {
    let quad = quad_at(current);
    let near = select(quad.high, quad.low, forward);
    let far = select(quad.low, quad.high, forward);
    let origin = quad.origin * c.inverse;
    let scale = quad.unit * c.inverse;
    let a = origin + c.enter;
    let b = origin + c.leave;
    let first = max(
      max(meet(near.x, scale.x, a.x), meet(near.y, scale.y, a.y)), max(meet(near.z, scale.z, a.z), vec4<f32>(c.near)),
    );
    let last = min(
      min(meet(far.x, scale.x, b.x), meet(far.y, scale.y, b.y)), min(meet(far.z, scale.z, b.z), vec4<f32>(c.far)),
    );
    let entered = (first <= last) & (vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(quad.count));
    enter(sorted(first - vec4<f32>(c.near), entered), quad.children);
  }
}

// Tests the spheres of a leaf: reports certain hits, and defers the spheres that have to be intersected.
fn meet_leaf() {
  let first = current & 0x0fffffffu;
  let count = (current >> 28u) & 7u;
  begin_leaf();
  for (var j = 0u; j < count; j++) {
    steps += 1u;
    let seen = pass_at(first + j);
    let half = sqrt(max(seen.room, 0.0)) * seen.stretch + course.along;
    let low = seen.middle - half;
    if (seen.room >= 0.0 && low <= course.far && seen.middle + half >= course.near && admits_leaf(first + j)) {
      let high = seen.middle - sqrt(max(seen.chord, 0.0)) * seen.stretch + 2.0 * course.along;
      var wanted = true;
      if (seen.chord > 0.0 && low >= course.begin && high <= min(course.far, course.end)) {
        wanted = take_certain(high);
      }
      if (wanted) {
        wait_for(j, low - course.near);
      }
    }
  }
  end_leaf(first);
}
