// Which spheres a ray wants that asks what it meets: those its line comes near. Needs cull/blocks.wgsl.

// One bit for each of four lines: whether it comes near.
fn close(l: Lines, s: vec4<f32>, bit: u32) -> vec4<u32> {
  let reach = s.w + slack;
  return select(vec4<u32>(0u), vec4<u32>(bit), apart(l, s.xyz) <= vec4<f32>(reach * reach));
}

// The bits of eight spheres, for one half of the thread's rays.
fn wanted(half: u32, l: Lines, s: Eight) -> vec4<u32> {
  return close(l, s.a, 1u) | close(l, s.b, 2u) | close(l, s.c, 4u) | close(l, s.d, 8u) | close(l, s.e, 16u)
    | close(l, s.f, 32u) | close(l, s.g, 64u) | close(l, s.h, 128u);
}

// Nothing that has been met yet changes what comes near.
fn get_ready(first: u32) {
}
