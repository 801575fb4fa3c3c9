// Attributes of rays and spheres: which spheres a ray may hit, and how ray and sphere move. Needs `params`, intersect/motion.wgsl,
// intersect/ellipsoid.wgsl and query/closest_state.wgsl.

// Set by the host. `has_filters`: rays or spheres have masks, or rays have ids to skip. `has_motion_or_shape`: spheres move or are
// ellipsoids, or rays have a radius or low parts of their direction. `has_sphere_attributes`: spheres move or are ellipsoids. Then
// `spheres` contains balls around them and their whole paths, and the spheres themselves are in `sphere_attributes`. `has_ellipsoids`:
// spheres are ellipsoids.
override has_filters: bool = false;
override has_motion_or_shape: bool = false;
override has_sphere_attributes: bool = false;
override has_ellipsoids: bool = false;

// Attributes of the rays by index, and of the spheres by position in the sphere buffer. A sphere's attributes are its mask alone; or, if
// `has_sphere_attributes`, its centre, radius, velocity and mask, and for ellipsoids the map. A query without attributes binds a buffer
// with one element: the last ray attributes, and the last mask of a buffer of masks alone, apply to all indices beyond. Optical depths, one
// word per sphere, follow the attributes of all spheres. See src/gpu/sphere_attributes.rs.
@group(0) @binding(7) var<storage, read> ray_attributes: array<RayAttributes>;
@group(0) @binding(8) var<storage, read> sphere_attributes: array<u32>;

const NO_ATTRIBUTES = RayAttributes(0xffffffffu, NO_SPHERE, 0.0, 0.0, vec3<f32>(0.0, 0.0, 0.0), 0u);

// Attributes of ray i.
fn ray_attributes_of(i: u32) -> RayAttributes {
  if (!has_filters && !has_motion_or_shape) {
    return NO_ATTRIBUTES;
  }
  return ray_attributes[min(i, arrayLength(&ray_attributes) - 1u)];
}

// Word k of the attributes of the sphere at a position.
fn word_at(at: u32, k: u32) -> u32 {
  return sphere_attributes[select(8u, 27u, has_ellipsoids) * at + k];
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
  if (!has_ellipsoids) {
    return 1.0;
  }
  return number_at(at, 26u);
}

fn mask_of(at: u32) -> u32 {
  if (has_sphere_attributes) {
    return word_at(at, 7u);
  }
  return sphere_attributes[min(at, arrayLength(&sphere_attributes) - 1u)];
}

// Optical depth of the sphere at a position. Only for scenes with transmittances: their depths follow the attributes of all spheres.
fn depth_at(at: u32) -> u32 {
  let words = select(1u, select(8u, 27u, has_ellipsoids), has_sphere_attributes);
  return sphere_attributes[words * params.sphere_count + at];
}

// Whether mask and skipped id of a ray let it hit the sphere at a position.
fn is_for(attributes: RayAttributes, at: u32) -> bool {
  return (mask_of(at) & attributes.mask) != 0u && params.first_id + at != attributes.skip_id;
}

// Whether ray i may hit the sphere at a position.
fn admits(i: u32, at: u32) -> bool {
  return !has_filters || is_for(ray_attributes_of(i), at);
}

// Scales the pair of a ray and the sphere at a position. `found` is the record of the sphere buffer: the sphere or, if
// `has_sphere_attributes`, the ball around its path.
fn scale_for(attributes: RayAttributes, at: u32, ray: Ray, found: Sphere) -> ScaledPair {
  if (!has_motion_or_shape) {
    return scale(ray, found);
  }
  var sphere = found;
  var velocity = vec3<f32>(0.0);
  if (has_sphere_attributes) {
    sphere = Sphere(numbers_at(at, 0u), number_at(at, 3u));
    velocity = numbers_at(at, 4u);
  }
  let moves_with_ray = attributes.moves_with_ray != 0u;
  let motion = RelativeMotion(velocity, attributes.time, attributes.direction_low, attributes.radius, moves_with_ray);
  let scaled = scale_moving(ray, sphere, motion);
  if (!has_ellipsoids) {
    return scaled;
  }
  return to_unit_ball(scaled, UnitBallMap(row_at(at, 0u), row_at(at, 1u), row_at(at, 2u)));
}

fn intersect_for(attributes: RayAttributes, at: u32, ray: Ray, found: Sphere) -> SphereRoots {
  return intersect_scaled(scale_for(attributes, at, ray, found));
}
