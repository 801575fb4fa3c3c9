// Unit roundoff, and powers of two by their bits. Twin of src/math/float.rs.

// Unit roundoff of f32: 2^-24.
const U: f32 = 5.9604644775390625e-8;

// 2^n for n in -126..127.
fn power_of_two(n: i32) -> f32 {
  return bitcast<f32>(u32(n + 127) << 23u);
}

// The exponent of a normal f32.
fn exponent(x: f32) -> i32 {
  return i32((bitcast<u32>(x) >> 23u) & 0xffu) - 127;
}
