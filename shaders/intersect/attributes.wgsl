// Attributes of rays and spheres: which spheres a ray may hit, and how ray and sphere move. Needs `params`, intersect/motion.wgsl,
// intersect/ellipsoid.wgsl and query/closest_state.wgsl.

// Set by the host. `picky`: rays or spheres have masks, or rays have ids to skip.
// `moving`: spheres move or are ellipsoids, or rays have a radius or low parts of their direction.
// `held`: spheres move or are ellipsoids. Then `spheres` contains balls around them and their whole paths, and the spheres themselves are
// in `beside`.
// `mapped`: spheres are ellipsoids.
override picky: bool = false;
override moving: bool = false;
override held: bool = false;
override mapped: bool = false;

// Attributes of the rays by index, and of the spheres by position in the sphere buffer. A sphere's attributes are its mask alone; or, if
// `held`, its centre, radius, velocity and mask, and for ellipsoids the map. The last ray attributes, and the last mask of a buffer of
// masks alone, stand for all that follow. See src/gpu/sphere_attributes.rs.
@group(0) @binding(7) var<storage, read> extras: array<Extra>;
@group(0) @binding(8) var<storage, read> beside: array<u32>;

const NO_EXTRA = Extra(0xffffffffu, NO_SPHERE, 0.0, 0.0, vec3<f32>(0.0, 0.0, 0.0), 0u);

// Attributes of ray i.
fn extra_of(i: u32) -> Extra {
  if (!picky && !moving) {
    return NO_EXTRA;
  }
  return extras[min(i, arrayLength(&extras) - 1u)];
}

// Word k of the attributes of the sphere at a position.
fn word_at(at: u32, k: u32) -> u32 {
  return beside[select(8u, 27u, mapped) * at + k];
}

fn number_at(at: u32, k: u32) -> f32 {
  return bitcast<f32>(word_at(at, k));
}

fn numbers_at(at: u32, k: u32) -> vec3<f32> {
  return vec3<f32>(number_at(at, k), number_at(at, k + 1u), number_at(at, k + 2u));
}

// A row of an ellipsoid's map.
fn row_at(at: u32, row: u32) -> HighLow {
  return HighLow(numbers_at(at, 8u + 3u * row), numbers_at(at, 17u + 3u * row));
}

// Ratio of the shortest to the longest semi-axis.
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

// Whether mask and skipped id of a ray let it hit the sphere at a position.
fn is_for(extra: Extra, at: u32) -> bool {
  return (mask_of(at) & extra.mask) != 0u && params.first_id + at != extra.skip_id;
}

// Whether ray i may hit the sphere at a position.
fn admits(i: u32, at: u32) -> bool {
  return !picky || is_for(extra_of(i), at);
}

// Scales the pair of a ray and the sphere at a position. `found` is the record of the sphere buffer: the sphere or, if `held`, the ball
// around its path.
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
