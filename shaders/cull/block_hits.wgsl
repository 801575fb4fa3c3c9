// Culling for hit queries: the candidates of a ray are the spheres that its line comes near. Needs cull/blocks.wgsl.

// Per line `bit` or 0: whether the line comes near the sphere.
fn close(l: Lines, s: vec4<f32>, bit: u32) -> vec4<u32> {
  let reach = s.w + slack;
  return select(vec4<u32>(0u), vec4<u32>(bit), apart(l, s.xyz) <= vec4<f32>(reach * reach));
}

// Culls eight spheres against one half of the thread's rays: per ray a mask of candidates.
fn is_candidate(half: u32, l: Lines, s: Eight) -> vec4<u32> {
  return close(l, s.a, 1u) | close(l, s.b, 2u) | close(l, s.c, 4u) | close(l, s.d, 8u) | close(l, s.e, 16u)
    | close(l, s.f, 32u) | close(l, s.g, 64u) | close(l, s.h, 128u);
}

// Nothing to prepare: earlier hits do not change which spheres a line comes near.
fn prepare_query(first: u32) {
}
