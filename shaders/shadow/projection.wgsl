// Projections of cameras: the ray of a picture position, and the directions of the starfield. Twin of src/batch/raygen/projection.rs.

const ORTHOGRAPHIC: u32 = 1u;

// The ray through a position in the picture plane, in camera space.
fn projection_ray(projection: u32, at: vec2<f32>) -> Ray {
  if (projection == ORTHOGRAPHIC) {
    return Ray(vec3<f32>(at, 0.0), 0.0, vec3<f32>(0.0, 0.0, 1.0), FAR);
  }
  let v = vec3<f32>(at, 1.0);
  return Ray(vec3<f32>(0.0, 0.0, 0.0), 0.0, v / sqrt(dot(v, v)), FAR);
}

// Divisor that turns picture positions, and widths of pixels, into those of the starfield. An orthographic camera looks in one direction
// only: its stars are those of a perspective camera whose field of view is 2 atan 1 = 90 degrees wide.
fn star_scale(projection: u32, half: vec2<f32>) -> f32 {
  return select(1.0, half.x, projection == ORTHOGRAPHIC);
}
