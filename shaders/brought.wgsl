// What rays bring along, and what spheres have beside them: which of them a ray may meet at all, and how both move. Needs `params`,
// moving.wgsl and cast.wgsl.

// Set by the host: whether rays or spheres have masks, or rays spheres to skip; whether anything is not what it is at rest; whether
// spheres move: then `spheres` holds balls around all of their ways, and they themselves are beside them.
override picky: bool = false;
override moving: bool = false;
override swept: bool = false;

// By positions in the spheres' buffer: a mask; or where spheres move centre, radius, velocity and mask. Of extras and masks the last
// one stands for all that follow.
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

// Whether a ray may meet the sphere at a position.
fn is_for(extra: Extra, at: u32) -> bool {
  let place = select(at, 8u * at + 7u, swept);
  let mask = beside[min(place, arrayLength(&beside) - 1u)];
  return (mask & extra.mask) != 0u && params.first_id + at != extra.skip_id;
}

// The same of ray i.
fn admits(i: u32, at: u32) -> bool {
  return !picky || is_for(extra_of(i), at);
}

fn numbers_at(place: u32) -> vec3<f32> {
  return vec3<f32>(bitcast<f32>(beside[place]), bitcast<f32>(beside[place + 1u]), bitcast<f32>(beside[place + 2u]));
}

// The sphere at a position: a ball around its way is what it is found by.
fn scale_for(extra: Extra, at: u32, ray: Ray, found: Sphere) -> Scaled {
  if (!moving) {
    return scale(ray, found);
  }
  var sphere = found;
  var velocity = vec3<f32>(0.0);
  if (swept) {
    sphere = Sphere(numbers_at(8u * at), bitcast<f32>(beside[8u * at + 3u]));
    velocity = numbers_at(8u * at + 4u);
  }
  return scale_moving(ray, sphere, Moves(velocity, extra.time, extra.low, extra.radius, extra.relative != 0u));
}

fn solve_for(extra: Extra, at: u32, ray: Ray, found: Sphere) -> Solved {
  return solve_scaled(scale_for(extra, at, ray, found));
}
