// How a ray passes a sphere of a leaf, where that is when the ray sees it. Needs cull/ray_line.wgsl, traverse/ray_setup.wgsl and intersect/attributes.wgsl. Twin of
// src/cpu/traverse/moving_leaf.rs, which tells why; what is off here is in `unsteady`, traverse/ray_setup.wgsl.
//
// Behind the spheres in the order of the tree, one each, is how they move: the velocity and the radius, scaled; a radius below 0
// where a velocity is too large for that.

struct Pass {
  // Squares of half the chord, with everything wrong that can be, as long and as short as that makes it; below 0 there is none.
  room: f32,
  chord: f32,
  // Where the ray is nearest, and by how much longer a chord is along it than across.
  middle: f32,
  stretch: f32,
}

// Of a line that passes a middle at the square of a distance: a sphere of radius `reach`, which holds a ball of radius `least`.
fn pass_of(square: f32, reach: f32, least: f32, middle: f32, stretch: f32) -> Pass {
  let far = reach + line.slack;
  let near = max(least - 2.0 * line.slack, 0.0);
  return Pass(far * far - square, near * near - square, middle, stretch);
}

// Of a ball that rests.
fn pass_ball(ball: vec4<f32>, least: f32) -> Pass {
  let across = dot3(ball.xyz, line.u) - line.at.x;
  let over = dot3(ball.xyz, line.v) - line.at.y;
  return pass_of(across * across + over * over, ball.w, least, dot3(ball.xyz, course.d) - course.start, 1.0);
}

// Squares of |w| between which a ray is told to meet a sphere or not: what goes along with it may be anywhere.
const TAME_LEAST: f32 = 0.25;
const TAME_MOST: f32 = 1048576.0;
// More than |w| may be.
const WILD: f32 = 4096.0;
const ANYWHERE: f32 = 1e9;

// Without a branch: software adapters would go all ways anyhow.
fn pass_moving(ball: vec4<f32>, way: Sphere) -> Pass {
  let heading = course.d - clamp(way.center * course.pace, vec3<f32>(-WILD), vec3<f32>(WILD));
  let speed = dot3(heading, heading);
  let tame = way.radius >= 0.0 && speed >= TAME_LEAST && speed <= TAME_MOST;
  let w = select(course.d, heading, tame);
  let e = select(ball.xyz, ball.xyz + way.center * course.moment, tame) - course.place;
  let x = vec3<f32>(e.y * w.z - e.z * w.y, e.z * w.x - e.x * w.z, e.x * w.y - e.y * w.x);
  let square = dot3(w, w);
  let length = sqrt(square);
  let flag = course.flag * length;
  let reach = select(ANYWHERE, way.radius + flag, tame);
  let least = select(0.0, way.radius - 2.0 * flag, tame);
  return pass_of(dot3(x, x) / square, reach, least, course.pivot + dot3(e, w) / square, 1.0 / length);
}

// The sphere at a place in the order of the tree.
fn pass_at(place: u32) -> Pass {
  let ball = sphere_at(place);
  if (!held) {
    return pass_ball(ball, ball.w);
  }
  if (!mapped) {
    return pass_moving(ball, spheres[arrayLength(&spheres) / 2u + place]);
  }
  // Of an ellipsoid the shortest semi-axis; when it moves what it never leaves, which is as much less as the ball around its way is
  // more.
  let at = order[place];
  return pass_ball(ball, (1.0 + least_of(at)) * number_at(at, 3u) * params.scale - ball.w * 1.000002);
}
