// Which spheres a ray may meet at all: by masks, and but for one that it skips. Needs `params`.

// Set by the host: whether anything is to be picked.
override picky: bool = false;

// What rays bring along, and masks by positions in the spheres' buffer; the last one stands for all that follow.
@group(0) @binding(7) var<storage, read> extras: array<Extra>;
@group(0) @binding(8) var<storage, read> sphere_masks: array<u32>;

// What ray i brings along.
fn extra_of(i: u32) -> Extra {
  return extras[min(i, arrayLength(&extras) - 1u)];
}

// Whether a ray may meet the sphere at a position.
fn is_for(extra: Extra, at: u32) -> bool {
  return (sphere_masks[min(at, arrayLength(&sphere_masks) - 1u)] & extra.mask) != 0u && params.first_id + at != extra.skip_id;
}

// The same of ray i.
fn admits(i: u32, at: u32) -> bool {
  return !picky || is_for(extra_of(i), at);
}
