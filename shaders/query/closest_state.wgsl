// The closest hit of a ray. Twin of src/cpu/query/closest.rs. Needs `params` at module scope.

// Set by the host: whether to intersect in plain instead of compensated arithmetic, and whether only classifications that the error
// bounds prove are certain (precision `exact`).
override fast: bool = false;
override exact: bool = false;

fn policies() -> Policies {
  return Policies(params.inside, params.touch, params.ends);
}

fn solve_scaled(scaled: Scaled) -> Solved {
  if (fast) {
    return solve_fast(scaled);
  }
  return solve_standard(scaled);
}

fn solve(ray: Ray, sphere: Sphere) -> Solved {
  return solve_scaled(scale(ray, sphere));
}

fn no_best() -> Best {
  return Best(FAR, FAR, FAR, FAR, NO_SPHERE, 0u);
}

// Updates the best hit with the classification of one more sphere. Of two hits with the same t the lower id wins. The tie is certain if
// both are hit exactly at the start.
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
