// For programs in which nothing moves.
const has_motion_or_shape: bool = false;
