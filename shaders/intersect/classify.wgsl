// Classification of one ray and one sphere, from the roots and the policies. Twin of `classify` in src/intersect/classify.rs.

const MISS: u32 = 0u;
const HIT: u32 = 1u;
const UNDECIDED: u32 = 2u;
const OVERFLOW: u32 = 3u;

const INSIDE_ENTER: u32 = 0u;
const INSIDE_EXIT: u32 = 1u;
const INSIDE_IGNORE: u32 = 2u;
const TOUCH_MISS: u32 = 1u;
const ENDS_HALF_OPEN: u32 = 1u;

struct Policies {
  inside: u32,
  touch: u32,
  ends: u32,
}

struct Classification {
  hit_class: u32,
  t: f32,
  low: f32,
  high: f32,
}

fn classification_without(hit_class: u32) -> Classification {
  return Classification(hit_class, FAR, FAR, FAR);
}

fn undecided(low: f32) -> Classification {
  return Classification(UNDECIDED, low, low, FAR);
}

// t -+ bound, clamped to finite f32.
fn widen(t: f32, bound: f32) -> vec2<f32> {
  // A bound that exceeds f32 says nothing about `t`.
  let around = vec2<f32>(max(t, bound - FAR) - bound, min(t, FAR - bound) + bound);
  return select(around, vec2<f32>(-FAR, FAR), bound >= FAR);
}

// Classifies a pair. With `use_bounds`, HIT and MISS are proved by the error bounds of the intersection test. The ray's ends must be finite.
fn classify(solved: SphereRoots, ray: Ray, policies: Policies, use_bounds: bool) -> Classification {
  var enter = vec2<f32>(solved.t_enter, solved.t_enter);
  var exit = vec2<f32>(solved.t_exit, solved.t_exit);
  if (use_bounds) {
    if (solved.disc < -solved.disc_bound) {
      return classification_without(MISS);
    }
    if (solved.disc <= solved.disc_bound) {
      let around = widen(solved.foot, solved.foot_bound);
      if (around.y < ray.t_min || around.x > ray.t_max) {
        return classification_without(MISS);
      }
      return undecided(max(around.x, ray.t_min));
    }
    enter = widen(solved.t_enter, solved.enter_bound);
    exit = widen(solved.t_exit, solved.exit_bound);
  } else if (solved.disc < 0.0 || (solved.disc == 0.0 && policies.touch == TOUCH_MISS)) {
    return classification_without(MISS);
  }
  var t = solved.t_enter;
  var low = enter.x;
  var high = enter.y;
  if (policies.inside == INSIDE_ENTER) {
    if (exit.y < ray.t_min) {
      return classification_without(MISS);
    }
    if (exit.x < ray.t_min) {
      return undecided(ray.t_min);
    }
    t = max(t, ray.t_min);
    low = max(low, ray.t_min);
    high = max(high, ray.t_min);
  } else if (enter.x < ray.t_min) {
    if (enter.y >= ray.t_min) {
      return undecided(ray.t_min);
    }
    if (policies.inside == INSIDE_IGNORE || exit.y < ray.t_min) {
      return classification_without(MISS);
    }
    if (exit.x < ray.t_min) {
      return undecided(ray.t_min);
    }
    t = solved.t_exit;
    low = exit.x;
    high = exit.y;
  }
  let half_open = policies.ends == ENDS_HALF_OPEN;
  if (use_bounds && t <= -FAR) {
    return undecided(low);
  }
  if (low > ray.t_max || (half_open && low >= ray.t_max)) {
    return classification_without(select(MISS, OVERFLOW, ray.t_max >= FAR && t >= FAR && !use_bounds));
  }
  if (high > ray.t_max || (half_open && high >= ray.t_max)) {
    return undecided(low);
  }
  if (low <= -FAR || high >= FAR || abs(t) >= FAR) {
    if (use_bounds) {
      return undecided(low);
    }
    return classification_without(OVERFLOW);
  }
  return Classification(HIT, t, low, high);
}
