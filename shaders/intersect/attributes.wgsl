// What rays bring along, and what spheres have beside them: which of them a ray may meet at all, and how both move. Needs `params`,
// intersect/motion.wgsl, intersect/ellipsoid.wgsl and query/closest_state.wgsl.

// Set by the host: whether rays or spheres have masks, or rays spheres to skip; whether anything is not what it is at rest; whether
// spheres move or are ellipsoids: then `spheres` holds balls around them and all of their ways, and they themselves are beside them;
// whether they are ellipsoids.
override picky: bool = false;
override moving: bool = false;
override held: bool = false;
override mapped: bool = false;

// By positions in the spheres' buffer: a mask; or where spheres are held beside centre, radius, velocity and mask, and of ellipsoids
// the map. Of extras and masks the last one stands for all that follow. See src/gpu/sphere_attributes.rs.
@group(0) @binding(7) var<storage, read> extras: array<Extra>;
@group(0) @binding(8) var<storage, read> beside: array<u32>;

const NO_EXTRA = Extra(0xffffffffu, NO_SPHERE, 0.0, 0.0, vec3<f32>(0.0, 0.0, 0.0), 0u);

// What ray i brings along.
fn extra_of(i: u32) -> Extra {
  if (!picky && !moving) {
    return NO_EXTRA;
  }
  return extras[min(i, arrayLength(&extras) - 1u)];
}

// Word k of what is beside the sphere at a position.
fn word_at(at: u32, k: u32) -> u32 {
  return beside[select(8u, 27u, mapped) * at + k];
}

fn number_at(at: u32, k: u32) -> f32 {
  return bitcast<f32>(word_at(at, k));
}

fn numbers_at(at: u32, k: u32) -> vec3<f32> {
  return vec3<f32>(number_at(at, k), number_at(at, k + 1u), number_at(at, k + 2u));
}

// A row of a map.
fn row_at(at: u32, row: u32) -> HighLow {
  return HighLow(numbers_at(at, 8u + 3u * row), numbers_at(at, 17u + 3u * row));
}

// The shortest semi-axis as a share of the longest.
fn least_of(at: u32) -> f32 {
  if (!mapped) {
    return 1.0;
  }
  return number_at(at, 26u);
}

fn mask_of(at: u32) -> u32 {
  if (held) {
    return word_at(at, 7u);
  }
  return beside[min(at, arrayLength(&beside) - 1u)];
}

// Whether a ray may meet the sphere at a position.
fn is_for(extra: Extra, at: u32) -> bool {
  return (mask_of(at) & extra.mask) != 0u && params.first_id + at != extra.skip_id;
}

// The same of ray i.
fn admits(i: u32, at: u32) -> bool {
  return !picky || is_for(extra_of(i), at);
}

// The sphere at a position: a ball around it and its way is what it is found by.
fn scale_for(extra: Extra, at: u32, ray: Ray, found: Sphere) -> Scaled {
  if (!moving) {
    return scale(ray, found);
  }
  var sphere = found;
  var velocity = vec3<f32>(0.0);
  if (held) {
    sphere = Sphere(numbers_at(at, 0u), number_at(at, 3u));
    velocity = numbers_at(at, 4u);
  }
  let scaled = scale_moving(ray, sphere, Moves(velocity, extra.time, extra.low, extra.radius, extra.relative != 0u));
  if (!mapped) {
    return scaled;
  }
  return map_scaled(scaled, Map(row_at(at, 0u), row_at(at, 1u), row_at(at, 2u)));
}

fn solve_for(extra: Extra, at: u32, ray: Ray, found: Sphere) -> Solved {
  return solve_scaled(scale_for(extra, at, ray, found));
}
