// A walk through the tree, front to back, a thread a ray: which spheres a ray has to be solved with. Needs course.wgsl and
// trail.wgsl, and of the program `take_certain`: it is told of a sphere that is met for certain, with a chord even if everything is as
// wrong as it can be, and begins before `high`; whether that has to be solved all the same. It may cut off what begins behind.

// Where a ray meets four planes along an axis.
fn meet(word: u32, scale: f32, offset: f32) -> vec4<f32> {
  return bytes_of(word) * scale + vec4<f32>(offset);
}

// How far what counts may begin: from the start, and a rounding more.
fn key_limit() -> f32 {
  return (course.far - course.near) * 1.000001;
}

// From node to node, until there is a leaf or nothing.
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

// The radius, scaled, of a ball that the sphere at a place is sure to hold: itself; of an ellipsoid the shortest semi-axis; or when it
// moves what it never leaves, which is as much less as the ball around its way is more.
fn sure_of(place: u32, ball: f32) -> f32 {
  if (!held) {
    return ball;
  }
  let at = order[place];
  return (1.0 + least_of(at)) * number_at(at, 3u) * params.scale - ball * 1.000002;
}

// Looks at a leaf's spheres.
fn meet_leaf() {
  let first = current & 0x0fffffffu;
  let count = (current >> 28u) & 7u;
  begin_leaf();
  for (var j = 0u; j < count; j++) {
    steps += 1u;
    let s = sphere_at(first + j);
    let across = dot3(s.xyz, line.u) - line.at.x;
    let over = dot3(s.xyz, line.v) - line.at.y;
    let square = across * across + over * over;
    let reach = s.w + line.slack;
    let room = reach * reach - square;
    let middle = dot3(s.xyz, course.d) - course.start;
    let half = sqrt(max(room, 0.0)) + course.along;
    let low = middle - half;
    if (room >= 0.0 && low <= course.far && middle + half >= course.near && admits_leaf(first + j)) {
      let least = max(sure_of(first + j, s.w) - 2.0 * line.slack, 0.0);
      let chord = least * least - square;
      let high = middle - sqrt(max(chord, 0.0)) + 2.0 * course.along;
      var wanted = true;
      if (chord > 0.0 && low >= course.begin && high <= min(course.far, course.end)) {
        wanted = take_certain(high);
      }
      wait_for(j, low - course.near, wanted);
    }
  }
  end_leaf(first);
}
