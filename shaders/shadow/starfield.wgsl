// A procedural starfield, the same on every device. Twin of src/shadow/picture/starfield.rs: same functions, same order.

const CELLS: f32 = 192.0;

// Mixes the bits of a word (PCG's output function, as in Jarzynski and Olano 2020).
fn hash(x: u32) -> u32 {
  let state = x * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

// 16 bits of a word, scaled to 0...1.
fn fraction(word: u32, shift: u32) -> f32 {
  return f32((word >> shift) & 0xffffu) / 65536.0;
}

// Light of the stars in a direction. `pixel` is the angle that a pixel spans; `many` is the density of stars, 0...1.
fn starlight(direction: vec3<f32>, pixel: f32, many: f32) -> vec3<f32> {
  let size = abs(direction);
  var face = 0u;
  var on_face = direction.yzx;
  if (size.y >= size.x && size.y >= size.z) {
    face = 1u;
    on_face = direction.zxy;
  } else if (size.z >= size.x) {
    face = 2u;
    on_face = direction;
  }
  if (on_face.z < 0.0) {
    face += 3u;
  }
  let place = on_face.xy / max(abs(on_face.z), 1e-30);
  let scaled = (place * 0.5 + 0.5) * CELLS;
  let cell = floor(scaled);
  let a = hash(face + 6u * (u32(cell.x) + 1024u * u32(cell.y)));
  let b = hash(a);
  if (fraction(a, 0u) >= 0.25 * many) {
    return vec3<f32>(0.0, 0.0, 0.0);
  }
  let center = vec2<f32>(fraction(a, 16u), fraction(b, 0u)) * 0.5 + 0.25;
  let offset = (scaled - cell - center) * (2.0 / CELLS) / pixel;
  let inside = max(1.0 - min(dot(offset, offset), 1e6) / 2.2, 0.0);
  let draw = fraction(b, 16u);
  let bright = 0.02 + 0.75 * draw * draw * draw * draw * draw * draw;
  let tint = fraction(hash(b), 0u);
  return vec3<f32>(0.75 + 0.25 * tint, 0.88, 1.0 - 0.25 * tint) * (bright * inside * inside);
}
