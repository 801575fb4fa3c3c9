// The best of the spheres that a ray meets. Twin of src/cpu/cast.rs. Needs `params` at module scope.

// Set by the host: the plain solve instead of the compensated one, and whether its bounds decide.
override fast: bool = false;
override exact: bool = false;

fn policies() -> Policies {
  return Policies(params.inside, params.touch, params.ends);
}

fn solve(ray: Ray, sphere: Sphere) -> Solved {
  let scaled = scale(ray, sphere);
  if (fast) {
    return solve_fast(scaled);
  }
  return solve_standard(scaled);
}

fn no_best() -> Best {
  return Best(FAR, FAR, FAR, FAR, NO_SPHERE, 0u);
}

// Takes a verdict in. Of two with the same t the lower id stays; they tie without doubt when both are met exactly at the start.
fn take(best: Best, id: u32, v: Verdict) -> Best {
  var b = best;
  if (v.met == BEYOND) {
    b.flags |= BEST_BEYOND;
  } else if (v.met == MAYBE) {
    b.rival = min(b.rival, v.low);
    b.flags |= BEST_RIVALED;
  } else if (v.met == YES) {
    let better = b.id == NO_SPHERE || v.t < b.t || (v.t == b.t && id < b.id);
    if (b.id != NO_SPHERE && !(v.low == v.high && b.low == b.high && v.t == b.t)) {
      b.rival = min(b.rival, select(v.low, b.low, better));
      b.flags |= BEST_RIVALED;
    }
    if (better) {
      b.t = v.t;
      b.low = v.low;
      b.high = v.high;
      b.id = id;
    }
  }
  return b;
}

fn in_doubt(best: Best) -> bool {
  return (best.flags & BEST_RIVALED) != 0u && best.rival <= best.high;
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

// The nearer of `before` and one more sphere: least clearance, then least t, then lowest id.
fn nearer(before: Nearest, id: u32, ray: Ray, sphere: Sphere) -> Nearest {
  var best = before;
  let found = solve_approach(scale(ray, sphere), ray.t_min, ray.t_max);
  var bound = 0.0;
  if (exact) {
    bound = clearance_bound(ray, sphere, found.x, found.y);
  }
  let around = widen(found.y, bound);
  let same = found.y == best.clearance;
  if (best.id == NO_SPHERE || found.y < best.clearance || (same && (found.x < best.t || (found.x == best.t && id < best.id)))) {
    if (best.id != NO_SPHERE) {
      best.rival = min(best.rival, best.low);
    }
    best.t = found.x;
    best.clearance = found.y;
    best.low = around.x;
    best.high = around.y;
    best.id = id;
  } else {
    best.rival = min(best.rival, around.x);
  }
  return best;
}
