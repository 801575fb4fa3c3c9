// The closest hit of a ray. Twin of src/cpu/query/closest.rs. Needs `params` at module scope.

// Set by the host: whether to intersect in plain instead of compensated arithmetic, and whether only classifications that the error
// bounds prove are certain (precision `exact`).
override fast: bool = false;
override exact: bool = false;

fn policies() -> Policies {
  return Policies(params.inside, params.touch, params.ends);
}

fn intersect_scaled(scaled: ScaledPair) -> SphereRoots {
  if (fast) {
    return intersect_fast(scaled);
  }
  return intersect_compensated(scaled);
}

fn intersect(ray: Ray, sphere: Sphere) -> SphereRoots {
  return intersect_scaled(scale(ray, sphere));
}

fn empty_state() -> ClosestState {
  return ClosestState(FAR, FAR, FAR, FAR, NO_SPHERE, 0u);
}

// Updates the best hit with the classification of one more sphere. Of two hits with the same t the lower id wins. The tie is certain if
// both are hit exactly at the start.
fn update_best(best: ClosestState, id: u32, v: Classification) -> ClosestState {
  var b = best;
  if (v.hit_class == OVERFLOW) {
    b.flags |= STATE_OVERFLOW;
  } else if (v.hit_class == UNDECIDED) {
    b.rival = min(b.rival, v.low);
    b.flags |= STATE_HAS_RIVAL;
  } else if (v.hit_class == HIT) {
    let better = b.id == NO_SPHERE || v.t < b.t || (v.t == b.t && id < b.id);
    if (b.id != NO_SPHERE && !(v.low == v.high && b.low == b.high && v.t == b.t)) {
      b.rival = min(b.rival, select(v.low, b.low, better));
      b.flags |= STATE_HAS_RIVAL;
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

fn is_undecided(best: ClosestState) -> bool {
  return (best.flags & STATE_HAS_RIVAL) != 0u && best.rival <= best.high;
}
