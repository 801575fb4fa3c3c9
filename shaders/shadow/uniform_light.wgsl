// Replaces shadow/flux.wgsl for a light of uniform brightness, so that none of its code is compiled.
const darkens: bool = false;
var<private> limb: vec2<f32>;

fn intensity(mu: f32) -> f32 {
  return 1.0;
}

fn light_within(disc: Disc, y: f32) -> f32 {
  return y;
}

fn visible_light(disc: Disc, darkened: bool) -> f32 {
  return uncovered_fraction(disc);
}
