//! Rays in streams: many rays meet one node, or one leaf, in a row (Barringer & Akenine-Möller 2014, Dynamic ray stream
//! traversal). The node stays in registers, one ray does not wait for the other, and no branch depends on what a box says.
//!
//! Errors, with U, F, δ, ρ as in `src/cpu/cull.rs`. A ray is the line F + s · d in scaled units, and everything a box or a leaf computes
//! stays near the scene, wherever the ray starts. Each plane of a box is met at s = plane · (1/d) − (F ± δ')/d in one rounding of
//! each part: as if the plane were off by 4 U (|plane| + |F|). The rounding of d and F moves the line by as much again. On the
//! planes' side that is a part of the 128 U (|c| + r) in every sphere's reach; on the ray's side δ' = 2 δ + 64 U |F| is more. What
//! a solve gets wrong is as if the radius were off by 32 U (|c| + r) + δ: that is in reach and δ' too.
//!
//! In a leaf, h² = ρ² − b² bounds the chord: entry and exit lie within s = c·d ± h, with h from above (ρ + δ) and from below
//! (2 r − ρ − δ), and 32 U (|c| + ρ) for c·d. Whoever begins after the ray's start and before its end by more than the solve's own
//! error (`margin`), with a chord even from below, is met under every policy, and nothing that begins later by more than `margin`
//! matters: no solve is needed to know that.

use bytemuck::{Pod, Zeroable};

use crate::bvh::bvh8::node::{Leaf, Node, WIDTH};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{Level, dispatch};
use crate::runtime::prefetch::fetch;

pub(crate) const U: f32 = 1.0 / 16_777_216.0;

/// A ray as boxes and leaves want it: what boxes want in one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct StreamRay {
    /// 1/d, and what is to be added where the ray enters and leaves.
    pub(crate) inverse: [f32; 3],
    pub(crate) enter: [f32; 3],
    pub(crate) leave: [f32; 3],
    /// Where the stretch that counts begins, and where it ends as long as nothing has been met.
    pub(crate) near: f32,
    pub(crate) far: f32,
    /// What arithmetic can change in a root.
    pub(crate) margin: f32,
    /// Within these a ray's own ends lie for certain: `near` and `far` never cut beyond t = 0.
    pub(crate) begin: f32,
    pub(crate) end: f32,
    /// u, v, −α, −β, `spread`, `floor` and d of a [`Line`](crate::cpu::cull::Line). Of one that travels while spheres move the first three
    /// are where it is at `pivot`.
    pub(crate) line: [f32; 12],
    /// When it sees moving spheres, from the middle of the time for which they are known to move: of one that travels while they
    /// move the moment when it is at `pivot`. The rest is of those: see [`chase`](super::moving_leaf).
    pub(crate) moment: f32,
    pub(crate) pivot: f32,
    pub(crate) pace: f32,
    pub(crate) flag: f32,
    /// To the end of the cache line.
    rest: [f32; 2],
}

/// Eight spheres that move, as columns in scaled units: where they are in the middle of the time for which they are known to move, how
/// they move, the radius and what arithmetic can add to it, and the radius of a ball that they are sure to hold.
#[repr(C, align(64))]
#[derive(Clone, Copy, Zeroable)]
pub(crate) struct Ways {
    pub(crate) center: [[f32; WIDTH]; 3],
    pub(crate) velocity: [[f32; WIDTH]; 3],
    pub(crate) reach: [f32; WIDTH],
    pub(crate) inner: [f32; WIDTH],
}

impl Ways {
    /// Two corners of what its spheres reach within so much time of the middle.
    pub(crate) fn corners(&self, half: f64) -> [[f32; 3]; 2] {
        let [mut low, mut high] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for k in (0..WIDTH).filter(|&k| !self.center[0][k].is_nan()) {
            for (axis, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                let (center, velocity) = (f64::from(self.center[axis][k]), f64::from(self.velocity[axis][k]));
                let reach = f64::from(self.reach[k]) + velocity.abs() * half * (1.0 + 1e-6);
                *low = low.min(((center - reach) as f32).next_down());
                *high = high.max(((center + reach) as f32).next_up());
            }
        }
        [low, high]
    }

    /// Brings its four lines into the cache.
    pub(crate) fn fetch(&self) {
        [&self.center[0], &self.center[2], &self.velocity[1], &self.reach].into_iter().for_each(fetch);
    }
}

/// Spheres of a leaf that a ray may meet.
#[derive(Clone, Copy)]
pub(crate) struct Met {
    pub(crate) ray: u32,
    /// One bit a sphere: which, and which of them for certain, whatever the policies.
    pub(crate) maybe: u32,
    pub(crate) certain: u32,
    /// They are not met before; what begins after those that are met for certain does not matter.
    pub(crate) low: [f32; WIDTH],
    pub(crate) high: [f32; WIDTH],
}

impl Met {
    pub(crate) const NONE: Self = Self { ray: 0, maybe: 0, certain: 0, low: [0.0; WIDTH], high: [0.0; WIDTH] };
}

impl StreamRay {
    /// Comes so much nearer to everything, in scaled units, beside itself and along itself. What is met for certain is so with that
    /// much to spare.
    pub(crate) fn grow(&mut self, beside: f32, along: f32) {
        let [beside, along] = [beside, along].map(|by| by * 1.000_001);
        if along > 0.0 {
            (self.near, self.far) = ((self.near - along).next_down(), (self.far + along).next_up());
            (self.begin, self.end) = ((self.begin + along).next_up(), (self.end - along).next_down());
            self.margin = (self.margin + along).next_up();
        }
        if beside > 0.0 {
            for k in 0..3 {
                let more = (beside * self.inverse[k].abs()) * 1.000_001;
                self.enter[k] -= more;
                self.leave[k] += more;
            }
            let [.., spread, floor, _, _, _] = &mut self.line;
            let delta = (floor.sqrt() + beside) * 1.000_001;
            (*spread, *floor) = ((*spread + 2.0 * beside) * 1.000_001, delta * delta * 1.000_001);
        }
    }

    /// All rays of an octant meet the same faces first.
    pub(crate) fn octant(&self) -> usize {
        (0..3).fold(0, |octant, i| octant | usize::from(self.inverse[i] < 0.0) << i)
    }
}

/// Where rays of a list enter the boxes of a node.
#[derive(Default)]
pub(crate) struct Entered {
    /// For each ray of the list, and each box.
    at: Vec<[f32; WIDTH]>,
    /// For eight rays of the list a byte each, for each box a bit.
    masks: Vec<u64>,
    /// The boxes that any ray enters.
    pub(crate) any: u64,
}

impl Entered {
    /// Puts those of `list` that enter box `place`, no farther than what counts for them, at the beginning of `out`; how many.
    /// A step a ray that enters, none for the others, and no branch that depends on a ray.
    #[inline(always)]
    fn pass(&self, place: usize, list: &[u32], fars: &[f32], out: &mut [u32]) -> usize {
        let mut count = 0;
        let masks = &self.masks[..list.len().div_ceil(8)];
        let out = &mut out[..list.len()];
        for ((masks, list), at) in masks.chunks(8).zip(list.chunks(64)).zip(self.at.chunks(64)) {
            let at = &at[..list.len()];
            // Eight times a bit of eight bytes, by a product that brings them together.
            let bits = |mask: u64| (mask >> place & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            let mut word = masks.iter().rev().fold(0, |word, &mask| word << 8 | bits(mask));
            while word != 0 {
                let i = word.trailing_zeros() as usize;
                word &= word - 1;
                let ray = list[i];
                out[count] = ray;
                count += usize::from(at[i][place % WIDTH] <= fars[ray as usize]);
            }
        }
        count
    }
}

dispatch! {
    /// See [`Entered::pass`].
    pass, (entered: &Entered, place: usize, list: &[u32], fars: &[f32], out: &mut [u32]) -> usize
}

// The lanes are for the instructions that find bits.
#[inline(always)]
fn pass(_: impl Lanes, entered: &Entered, place: usize, list: &[u32], fars: &[f32], out: &mut [u32]) -> usize {
    entered.pass(place, list, fars, out)
}

dispatch! {
    /// Which of a node's boxes each ray of a list enters.
    enter_boxes, (node: &Node, octant: usize, rays: &[StreamRay], fars: &[f32], list: &[u32], entered: &mut Entered)
}
dispatch! {
    /// Which spheres of a leaf each ray of a list may meet: so many of `met`.
    meet_leaf, (leaf: &Leaf, rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]) -> usize
}
dispatch! {
    /// The same of spheres that move: `inner` are the radii of balls that they never leave, less than nothing where there are none.
    meet_swept_leaf, (
        leaf: &Leaf, inner: &[f32; WIDTH], rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]
    ) -> usize
}

dispatch! {
    /// The same of spheres that move, each where it is at a ray's own time.
    meet_moved_leaf, (ways: &Ways, rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]) -> usize
}

#[inline(always)]
fn enter_boxes<L: Lanes>(
    lanes: L,
    node: &Node,
    octant: usize,
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    entered: &mut Entered,
) {
    let lanes = lanes.narrow();
    let first: [&[f32; WIDTH]; 3] = std::array::from_fn(|k| &node.faces[octant >> k & 1][k]);
    let last: [&[f32; WIDTH]; 3] = std::array::from_fn(|k| &node.faces[1 - (octant >> k & 1)][k]);
    if entered.at.len() < list.len() {
        entered.at.resize(list.len(), [0.0; WIDTH]);
        entered.masks.resize(list.len().div_ceil(8), 0);
    }
    let mut any = 0;
    for ((list, at), masks) in list.chunks(8).zip(entered.at.chunks_mut(8)).zip(&mut entered.masks) {
        let mut eight = 0;
        for (i, (&number, at)) in list.iter().zip(at).enumerate() {
            let (ray, far) = (&rays[number as usize], fars[number as usize]);
            let mut mask = 0;
            for i in (0..WIDTH).step_by(L::Narrow::COUNT) {
                let plane = |faces: &[&[f32; WIDTH]; 3], k: usize, add: &[f32; 3]| {
                    let face = lanes.load(&faces[k][i..]);
                    face.mul_add(lanes.splat(ray.inverse[k]), lanes.splat(add[k]))
                };
                let enter = |k| plane(&first, k, &ray.enter);
                let leave = |k| plane(&last, k, &ray.leave);
                let enter = enter(0).max(enter(1)).max(enter(2).max(lanes.splat(ray.near)));
                let leave = leave(0).min(leave(1)).min(leave(2).min(lanes.splat(far)));
                enter.store(&mut at[i..]);
                mask |= enter.at_most(leave) << i;
            }
            eight |= mask << (8 * i);
            any |= mask;
        }
        *masks = eight;
    }
    entered.any = any;
}

#[inline(always)]
fn meet_leaf(lanes: impl Lanes, leaf: &Leaf, rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]) -> usize {
    meet_swept_leaf(lanes, leaf, &leaf.reach, rays, fars, list, met)
}

#[inline(always)]
fn meet_swept_leaf(
    lanes: impl Lanes,
    leaf: &Leaf,
    inner: &[f32; WIDTH],
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    met: &mut [Met],
) -> usize {
    let lanes = lanes.narrow();
    let load = |column: &[f32; WIDTH], i: usize| lanes.load(&column[i..]);
    // Not `map`, which the compiler calls as a function, with vectors through memory.
    let spheres = |_: &StreamRay, i: usize| {
        [load(&leaf.x, i), load(&leaf.y, i), load(&leaf.z, i), load(&leaf.reach, i), load(inner, i)]
    };
    meet_spheres(lanes, spheres, rays, fars, list, met)
}

#[inline(always)]
fn meet_moved_leaf(
    lanes: impl Lanes,
    ways: &Ways,
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    met: &mut [Met],
) -> usize {
    let lanes = lanes.narrow();
    let load = |column: &[f32; WIDTH], i: usize| lanes.load(&column[i..]);
    let spheres = |ray: &StreamRay, i: usize| {
        let moment = lanes.splat(ray.moment);
        let at = |k: usize| load(&ways.velocity[k], i).mul_add(moment, load(&ways.center[k], i));
        [at(0), at(1), at(2), load(&ways.reach, i), load(&ways.inner, i)]
    };
    meet_spheres(lanes, spheres, rays, fars, list, met)
}

/// `spheres` are centres, reaches, and radii of balls that are met for certain, less what rounding may take.
#[inline(always)]
fn meet_spheres<L: Lanes>(
    lanes: L,
    spheres: impl Fn(&StreamRay, usize) -> [L; 5],
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    met: &mut [Met],
) -> usize {
    let splat = |value| lanes.splat(value);
    let zero = splat(0.0);
    let mut count = 0;
    for &number in list {
        let (ray, far) = (&rays[number as usize], splat(fars[number as usize]));
        let Some(Met { ray: name, maybe, certain, low: lows, high: highs }) = met.get_mut(count) else { break };
        (*name, *maybe, *certain) = (number, 0, 0);
        let [ux, uy, vx, vy, vz, minus_alpha, minus_beta, spread, floor, dx, dy, dz] = ray.line;
        for i in (0..WIDTH).step_by(L::COUNT) {
            let [x, y, z, reach, inner] = spheres(ray, i);
            let size = x.abs().add(y.abs()).add(z.abs()).add(reach);
            let slack = size.mul(splat(32.0 * U));
            let minus_w = zero.sub(reach.mul(reach).mul(splat(1.0 + 64.0 * U)));
            // The radius less what it has been given, and once more.
            let least = inner.sub(size.mul(splat(320.0 * U))).max(zero);
            let least = least.mul(least).mul(splat(1.0 - 64.0 * U)).add(minus_w);
            let across = y.mul_add(splat(uy), x.mul_add(splat(ux), splat(minus_alpha)));
            let over = z.mul_add(splat(vz), y.mul_add(splat(vy), x.mul_add(splat(vx), splat(minus_beta))));
            let square = over.mul_add(over, across.mul_add(across, minus_w));
            let room = reach.mul_add(splat(spread), splat(floor));
            let along = z.mul_add(splat(dz), y.mul_add(splat(dy), x.mul(splat(dx))));
            let half = room.sub(square).max(zero).sqrt().add(slack);
            let (low, exit) = (along.sub(half), along.add(half));
            let mask = square.at_most(room) & low.at_most(far) & splat(ray.near).at_most(exit);
            let chord = least.sub(square).sub(room);
            let high = along.sub(chord.max(zero).sqrt()).add(slack).add(splat(ray.margin));
            let sure = splat(f32::MIN_POSITIVE).at_most(chord)
                & splat(ray.begin).at_most(low)
                & high.at_most(far)
                & high.at_most(splat(ray.end));
            low.store(&mut lows[i..]);
            high.store(&mut highs[i..]);
            *maybe |= (mask as u32) << i;
            *certain |= ((mask & sure) as u32) << i;
        }
        // Without a branch: half of the rays meet something.
        count += usize::from(*maybe != 0);
    }
    count
}
