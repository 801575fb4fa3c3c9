// Program: writes the motion records of the spheres, in leaf order, behind the spheres; see traverse/leaf.wgsl. One thread per sphere.

@group(0) @binding(1) var<storage, read> order: array<u32>;
// Sphere attributes, eight words per sphere: word 3 is the radius, words 4 to 6 are the velocity.
@group(0) @binding(2) var<storage, read> sphere_attributes: array<u32>;
@group(0) @binding(3) var<storage, read_write> leaves: array<Sphere>;

fn number_at(at: u32, k: u32) -> f32 {
  return bitcast<f32>(sphere_attributes[8u * at + k]);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let i = group_number(group) * THREADS + thread;
  if (i >= build_params.count) {
    return;
  }
  let at = order[i];
  let velocity = vec3<f32>(number_at(at, 4u), number_at(at, 5u), number_at(at, 6u));
  let is_safe = max(max(abs(velocity.x), abs(velocity.y)), abs(velocity.z)) <= build_params.fastest;
  let motion = Sphere(velocity * build_params.scale, number_at(at, 3u) * build_params.scale);
  if (is_safe) {
    leaves[build_params.count + i] = motion;
  } else {
    leaves[build_params.count + i] = Sphere(vec3<f32>(0.0, 0.0, 0.0), -1.0);
  }
}
