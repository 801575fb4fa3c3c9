// For programs in which nothing moves.
const has_motion: bool = false;
