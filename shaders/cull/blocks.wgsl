// Culling of blocks of 32 spheres against the eight rays of a thread. The result is a bitmask of candidates per ray and block. Needs
// cull/ray_line.wgsl, and a function `is_candidate` that culls eight spheres against four of the rays: cull/block_hits.wgsl or the program
// has it.
//
// All eight rays share each load, because on a software adapter a load costs as much as three square roots. Candidates are taken out of the
// masks only once per 1,024 tests (8 rays, 128 spheres), because on such an adapter an `if` saves nothing and every loop runs at least
// once. All threads of a subgroup must call these functions together; see cull/load_subgroup.wgsl.

// Rays per thread, spheres per mask, masks per ray between two passes over the candidates, and threads per workgroup.
const RAYS: u32 = 8u;
const BLOCK: u32 = 32u;
const BLOCKS: u32 = 4u;
const WORKGROUP: u32 = 64u;

// Four lines in SoA layout.
struct Lines {
  ux: vec4<f32>,
  uy: vec4<f32>,
  uz: vec4<f32>,
  u: vec4<f32>,
  vx: vec4<f32>,
  vy: vec4<f32>,
  vz: vec4<f32>,
  v: vec4<f32>,
}

// The thread's rays; the slack of each; the largest of these slacks, which hit queries use for all of them.
var<private> lines: array<Lines, 2>;
var<private> slacks: array<vec4<f32>, 2>;
var<private> slack: f32;
// The masks of a ray are RAYS elements apart. Bit w of `marked` is set if masks[w] is not 0.
var<private> masks: array<u32, 32>;
var<private> marked: u32;

fn lines_of(a: RayLine, b: RayLine, c: RayLine, d: RayLine) -> Lines {
  return Lines(
    vec4<f32>(a.u.x, b.u.x, c.u.x, d.u.x),
    vec4<f32>(a.u.y, b.u.y, c.u.y, d.u.y),
    vec4<f32>(a.u.z, b.u.z, c.u.z, d.u.z),
    vec4<f32>(a.at.x, b.at.x, c.at.x, d.at.x),
    vec4<f32>(a.v.x, b.v.x, c.v.x, d.v.x),
    vec4<f32>(a.v.y, b.v.y, c.v.y, d.v.y),
    vec4<f32>(a.v.z, b.v.z, c.v.z, d.v.z),
    vec4<f32>(a.at.y, b.at.y, c.at.y, d.at.y),
  );
}

// Index of the thread's first ray. The others follow at strides of WORKGROUP.
fn first_ray(workgroup: u32, local: u32) -> u32 {
  return workgroup * WORKGROUP * RAYS + local;
}

fn line_at(i: u32) -> RayLine {
  if (i >= params.ray_count) {
    return NO_LINE;
  }
  var line = line_of(rays[i]);
  if (has_motion_or_shape) {
    let more = inflation(ray_attributes_of(i), to_scaled(rays[i].origin));
    if (!(more < MAX_INFLATION)) {
      return ALWAYS;
    }
    line.slack += more;
  }
  return line;
}

// Prepares the thread's rays.
fn prepare_rays(first: u32) {
  prepare_load();
  slack = 0.0;
  for (var half = 0u; half < 2u; half++) {
    let i = first + half * 4u * WORKGROUP;
    let a = line_at(i);
    let b = line_at(i + WORKGROUP);
    let c = line_at(i + 2u * WORKGROUP);
    let d = line_at(i + 3u * WORKGROUP);
    lines[half] = lines_of(a, b, c, d);
    slacks[half] = vec4<f32>(a.slack, b.slack, c.slack, d.slack);
    slack = max(max(max(slack, a.slack), max(b.slack, c.slack)), d.slack);
  }
}

// Eight spheres for culling: centre and radius in scaled units.
struct Eight {
  a: vec4<f32>,
  b: vec4<f32>,
  c: vec4<f32>,
  d: vec4<f32>,
  e: vec4<f32>,
  f: vec4<f32>,
  g: vec4<f32>,
  h: vec4<f32>,
}

// Squared distances of a centre from four lines.
fn apart(l: Lines, c: vec3<f32>) -> vec4<f32> {
  let x = l.ux * c.x + l.uy * c.y + l.uz * c.z - l.u;
  let y = l.vx * c.x + l.vy * c.y + l.vz * c.z - l.v;
  return x * x + y * y;
}

// Fills the masks: culls the spheres from `begin` on, up to BLOCKS * BLOCK of them and before `end`, against each ray.
fn mark(begin: u32, end: u32) {
  // Copied out of the loop here, because no compiler of a software adapter does it.
  let p = lines[0];
  let q = lines[1];
  marked = 0u;
  for (var block = 0u; block < BLOCKS; block++) {
    let start = begin + block * BLOCK;
    var m = vec4<u32>(0u);
    var n = vec4<u32>(0u);
    // The buffer is padded to whole blocks.
    for (var j = 0u; j < BLOCK; j += 8u) {
      let loaded = eight(start + j);
      m |= is_candidate(0u, p, loaded) << vec4<u32>(j);
      n |= is_candidate(1u, q, loaded) << vec4<u32>(j);
    }
    let valid = valid_of(start, end);
    set_masks(block * RAYS, m & vec4<u32>(valid));
    set_masks(block * RAYS + 4u, n & vec4<u32>(valid));
  }
}

// Mask of the spheres of a block that are before `end`.
fn valid_of(start: u32, end: u32) -> u32 {
  let count = end - min(start, end);
  return select(0xffffffffu, (1u << (count & 31u)) - 1u, count < BLOCK);
}

fn set_masks(w: u32, m: vec4<u32>) {
  masks[w] = m.x;
  masks[w + 1u] = m.y;
  masks[w + 2u] = m.z;
  masks[w + 3u] = m.w;
  let some = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), m != vec4<u32>(0u));
  marked |= (some.x | some.y | some.z | some.w) << w;
}

// A candidate pair: the index of the ray within the thread, and the sphere's offset from `begin`.
struct Candidate {
  ray: u32,
  sphere: u32,
}

// Removes the next candidate from the masks and returns it. The candidates of a ray come in ascending order. Must not be called if `marked`
// is 0.
fn next_candidate() -> Candidate {
  let w = firstTrailingBit(marked);
  let mask = masks[w];
  let siblings = mask & (mask - 1u);
  masks[w] = siblings;
  marked &= select(0xffffffffu, marked - 1u, siblings == 0u);
  return Candidate(w % RAYS, w / RAYS * BLOCK + firstTrailingBit(mask));
}

// Replaces `mark` in pairwise scenes: the only candidate of each ray is the sphere with the ray's index.
fn mark_own(first: u32) {
  marked = 0u;
  for (var r = 0u; r < RAYS; r++) {
    let there = first + r * WORKGROUP < params.ray_count;
    masks[r] = select(0u, 1u, there);
    marked |= select(0u, 1u << r, there);
  }
}
