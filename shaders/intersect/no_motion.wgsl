// For programs in which nothing moves.
const moving: bool = false;
