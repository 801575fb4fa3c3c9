// Nothing moves here, but a sphere may have low parts of its centre and radius, which intersect/sphere.wgsl reads for moving spheres.
const has_motion_or_shape: bool = true;
