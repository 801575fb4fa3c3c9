// Nothing moves.
const moving: bool = false;
