// One ray against many spheres. Twin of src/cpu/cast.rs. Needs `spheres` and `params` at module scope.
//
// An `if` saves nothing on a software adapter, so the inner loop only marks candidates in a mask, and the solve runs in a
// loop over the marked ones, as long as the busiest lane needs.

// Set by the host: the plain solve instead of the compensated one, and whether its bounds decide.
override fast: bool = false;
override exact: bool = false;

fn policies() -> Policies {
  return Policies(params.inside, params.touch, params.ends);
}

// The spheres that ray number i is cast against: all of this dispatch's, or its own.
fn range_of(i: u32) -> vec2<u32> {
  if (params.pairwise != 0u) {
    return vec2<u32>(i, i + 1u);
  }
  return vec2<u32>(params.sphere_begin, params.sphere_end);
}

fn solve(ray: Ray, sphere: Sphere) -> Solved {
  let scaled = scale(ray, sphere);
  if (fast) {
    return solve_fast(scaled);
  }
  return solve_standard(scaled);
}

// The spheres of one block that the line may meet, as a mask.
fn may_meet(prepared: Prepared, begin: u32, end: u32) -> u32 {
  var mask = 0u;
  let count = min(end - begin, BLOCK);
  for (var j = 0u; j < count; j++) {
    let sphere = spheres[begin + j];
    mask |= select(1u, 0u, margin(prepared, sphere.center, sphere.radius) < 0.0) << j;
  }
  return mask;
}

fn no_best() -> Best {
  return Best(FAR, FAR, FAR, FAR, NO_SPHERE, 0u);
}

// Takes a verdict in; ids come in ascending order.
fn take(best: Best, id: u32, v: Verdict) -> Best {
  var b = best;
  if (v.met == BEYOND) {
    b.flags |= BEST_BEYOND;
  } else if (v.met == MAYBE) {
    b.rival = min(b.rival, v.low);
    b.flags |= BEST_RIVALED;
  } else if (v.met == YES) {
    if (b.id == NO_SPHERE || v.t < b.t) {
      if (b.id != NO_SPHERE) {
        b.rival = min(b.rival, b.low);
        b.flags |= BEST_RIVALED;
      }
      b.t = v.t;
      b.low = v.low;
      b.high = v.high;
      b.id = id;
    } else if (!(v.low == v.high && b.low == b.high && v.t == b.t)) {
      // Two that are met exactly at the start tie without doubt: the lower id stays.
      b.rival = min(b.rival, v.low);
      b.flags |= BEST_RIVALED;
    }
  }
  return b;
}

fn in_doubt(best: Best) -> bool {
  return (best.flags & BEST_RIVALED) != 0u && best.rival <= best.high;
}

// The best of `best` and the spheres in `range`.
fn closest(ray: Ray, range: vec2<u32>, before: Best) -> Best {
  var best = before;
  let prepared = prepare(ray, params.largest);
  for (var begin = range.x; begin < range.y; begin += BLOCK) {
    var mask = may_meet(prepared, begin, range.y);
    while (mask != 0u) {
      let i = begin + firstTrailingBit(mask);
      mask &= mask - 1u;
      best = take(best, params.first_id + i, decide(solve(ray, spheres[i]), ray, policies(), exact));
    }
  }
  return best;
}

// YES, NO, MAYBE or BEYOND: whether any sphere in `range` is met.
fn occluded(ray: Ray, range: vec2<u32>) -> u32 {
  var answer = NO;
  let prepared = prepare(ray, params.largest);
  for (var begin = range.x; begin < range.y && answer != YES; begin += BLOCK) {
    var mask = may_meet(prepared, begin, range.y);
    while (mask != 0u) {
      let i = begin + firstTrailingBit(mask);
      mask &= mask - 1u;
      let met = decide(solve(ray, spheres[i]), ray, policies(), exact).met;
      if (met == YES) {
        answer = YES;
        mask = 0u;
      } else if (met == MAYBE || (met == BEYOND && answer == NO)) {
        answer = met;
      }
    }
  }
  return answer;
}

// How far a solved clearance can be off: its own rounding, and the foot's.
fn clearance_bound(ray: Ray, sphere: Sphere, t: f32, clearance: f32) -> f32 {
  let s = power_of_two(-8);
  let size = norm1(ray.origin * s) + norm1(sphere.center * s) + sphere.radius * s;
  let direction = norm1(ray.direction * s);
  // What exceeds f32, or may stand for more than it shows, is in doubt altogether.
  if (exponent(direction) + exponent(t) > 120 || abs(t) >= FAR || abs(clearance) >= FAR) {
    return FAR * 0.25;
  }
  let along = direction * abs(t);
  return min(abs(clearance) * 9.54e-7 + (size + along) * (1.5e-11 * 256.0), FAR * 0.25);
}

// The nearest of `before` and the spheres in `range`: least clearance, then least t, then lowest id.
fn nearest(ray: Ray, range: vec2<u32>, before: Nearest) -> Nearest {
  var best = before;
  for (var i = range.x; i < range.y; i++) {
    let sphere = spheres[i];
    let found = solve_approach(scale(ray, sphere), ray.t_min, ray.t_max);
    var bound = 0.0;
    if (exact) {
      bound = clearance_bound(ray, sphere, found.x, found.y);
    }
    let around = widen(found.y, bound);
    if (best.id == NO_SPHERE || found.y < best.clearance || (found.y == best.clearance && found.x < best.t)) {
      if (best.id != NO_SPHERE) {
        best.rival = min(best.rival, best.low);
      }
      best.t = found.x;
      best.clearance = found.y;
      best.low = around.x;
      best.high = around.y;
      best.id = params.first_id + i;
    } else {
      best.rival = min(best.rival, around.x);
    }
  }
  return best;
}
