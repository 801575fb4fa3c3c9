// Program: whether each ray meets any sphere, by the tree. Four bitsets, one after the other: met, in doubt, met only beyond f32,
// to be cast again. The host clears them before the first dispatch.

@group(0) @binding(0) var<uniform> params: Params;
// In the order of the tree.
@group(0) @binding(1) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(2) var<storage, read> rays: array<Ray>;
@group(0) @binding(3) var<storage, read_write> bits: array<atomic<u32>>;

const ANY: bool = true;

// What is known of the ray: one bit a bitset.
var<private> known: u32;
const MET: u32 = 1u;
const DOUBT: u32 = 2u;
const BEYOND_F32: u32 = 4u;
const AGAIN: u32 = 8u;

fn word_of(which: u32, i: u32) -> u32 {
  return which * ((params.ray_count + 31u) / 32u) + i / 32u;
}

// Solves what waits.
fn settle(ray: Ray) {
  for (var j = 0u; j < waiting && (known & MET) == 0u; j++) {
    steps += 1u;
    let found = decide(solve(ray, spheres[pending[j].x]), ray, policies(), exact).met;
    known |= select(0u, MET, found == YES) | select(0u, DOUBT, found == MAYBE) | select(0u, BEYOND_F32, found == BEYOND);
  }
  waiting = 0u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let i = invocation.x;
  if (i >= params.ray_count) {
    return;
  }
  zero = params.zero;
  let bit = 1u << (i % 32u);
  if ((atomicLoad(&bits[word_of(0u, i)]) & bit) != 0u) {
    return;
  }
  let ray = rays[i];
  if (walks(ray)) {
    set_out(ray);
    begin_walk();
    certain = false;
    while (current != NONE) {
      walk();
      known |= select(0u, MET, certain);
      settle(ray);
      take_turns();
      current = select(current, NONE, (known & MET) != 0u);
    }
  } else if (ray.t_min <= ray.t_max) {
    steps = params.steps + 1u;
  }
  known |= select(0u, AGAIN, too_long());
  for (var which = 0u; which < 4u; which++) {
    if ((known >> which & 1u) != 0u) {
      atomicOr(&bits[word_of(which, i)], bit);
    }
  }
}
