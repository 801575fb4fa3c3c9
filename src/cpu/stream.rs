//! Rays in streams: many rays meet one node, or one leaf, in a row (Barringer & Akenine-Möller 2014, Dynamic ray stream
//! traversal). The node stays in registers, one ray does not wait for the other, and no branch depends on what a box says.
//!
//! Errors, with U, F, δ, ρ as in `filter.rs`. A ray is the line F + s · d in scaled units, and everything a box or a leaf computes
//! stays near the scene, wherever the ray starts. Each plane of a box is met at s = plane · (1/d) − (F ± δ')/d in one rounding of
//! each part: as if the plane were off by 4 U (|plane| + |F|). The rounding of d and F moves the line by as much again. On the
//! planes' side that is a part of the 128 U (|c| + r) in every sphere's reach; on the ray's side δ' = 2 δ + 64 U |F| is more. What
//! a solve gets wrong is as if the radius were off by 32 U (|c| + r) + δ: that is in reach and δ' too.
//!
//! In a leaf, h² = ρ² − b² bounds the chord: entry and exit lie within s = c·d ± h, with h from above (ρ + δ) and from below
//! (2 r − ρ − δ), and 32 U (|c| + ρ) for c·d. Whoever begins after the ray's start and before its end by more than the solve's own
//! error (`margin`), with a chord even from below, is met under every policy, and nothing that begins later by more than `margin`
//! matters: no solve is needed to know that.

use super::lanes::Lanes;
use super::level::Level;
use crate::tree::{Leaf, Node, WIDTH};

const U: f32 = 1.0 / 16_777_216.0;

/// A ray as boxes and leaves want it.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct StreamRay {
    /// 1/d, and what is to be added where the ray enters and leaves.
    pub(crate) inverse: [f32; 3],
    pub(crate) enter: [f32; 3],
    pub(crate) leave: [f32; 3],
    /// The stretch that counts.
    pub(crate) near: f32,
    pub(crate) far: f32,
    /// What arithmetic can change in a root.
    pub(crate) margin: f32,
    /// Within these a ray's own ends lie for certain: `near` and `far` never cut beyond t = 0.
    pub(crate) begin: f32,
    pub(crate) end: f32,
    /// u, v, −α, −β, `spread`, `floor` and d of a [`Line`](super::filter::Line).
    pub(crate) line: [f32; 12],
}

/// A sphere that a ray may meet.
#[derive(Clone, Copy)]
pub(crate) struct Survivor {
    pub(crate) ray: u32,
    /// Eight times the leaf, plus the place in it.
    pub(crate) slot: u32,
    /// It is not met before.
    pub(crate) low: f32,
    /// It is met, whatever the policies, and what begins later does not matter; ∞ when that is not certain.
    pub(crate) high: f32,
}

/// A ray's number, and above it where it enters a box.
pub(crate) type Entry = u64;

pub(crate) fn ray_of(entry: Entry) -> usize {
    entry as u32 as usize
}

fn entry(ray: usize, at: f32) -> Entry {
    u64::from(at.to_bits()) << 32 | ray as u64
}

impl StreamRay {
    /// One that is still to be aimed.
    pub(crate) const NONE: Self = Self {
        inverse: [0.0; 3],
        enter: [0.0; 3],
        leave: [0.0; 3],
        near: 0.0,
        far: 0.0,
        margin: 0.0,
        begin: 0.0,
        end: 0.0,
        line: [0.0; 12],
    };

    /// All rays of an octant meet the same faces first.
    pub(crate) fn octant(&self) -> usize {
        (0..3).fold(0, |octant, i| octant | usize::from(self.inverse[i] < 0.0) << i)
    }

    /// Nothing counts any more.
    pub(crate) fn settle(&mut self) {
        self.far = f32::NEG_INFINITY;
    }

    /// The entry of a ray under way.
    pub(crate) fn start(number: usize) -> Entry {
        entry(number, f32::NEG_INFINITY)
    }

    /// What begins later than `far` does not count.
    pub(crate) fn narrow(&mut self, far: f32) {
        self.far = self.far.min(far);
    }
}

dispatch! {
    /// Which of a node's boxes each ray enters: list k begins at k · `list.len()` of `out`, and is as long as `lengths` says.
    enter_boxes, (node: &Node, octant: usize, rays: &[StreamRay], list: &[Entry], out: &mut [Entry], lengths: &mut [usize; WIDTH])
}
dispatch! {
    /// Which spheres of a leaf each ray may meet.
    meet_leaf, (leaf: &Leaf, number: usize, rays: &[StreamRay], list: &[Entry], survivors: &mut Vec<Survivor>)
}

#[inline(always)]
fn enter_boxes<L: Lanes>(
    node: &Node,
    octant: usize,
    rays: &[StreamRay],
    list: &[Entry],
    out: &mut [Entry],
    lengths: &mut [usize; WIDTH],
) {
    let first: [&[f32; WIDTH]; 3] = std::array::from_fn(|k| &node.faces[octant >> k & 1][k]);
    let last: [&[f32; WIDTH]; 3] = std::array::from_fn(|k| &node.faces[1 - (octant >> k & 1)][k]);
    let count = list.len();
    let out = &mut out[..WIDTH * count];
    let mut ends: [usize; WIDTH] = std::array::from_fn(|k| k * count);
    for &old in list {
        let number = ray_of(old);
        let ray = &rays[number];
        if f32::from_bits((old >> 32) as u32) > ray.far {
            continue;
        }
        let mut at = [0.0; WIDTH];
        let mut mask = 0;
        for i in (0..WIDTH).step_by(L::Narrow::COUNT) {
            let plane = |faces: &[&[f32; WIDTH]; 3], k: usize, add: &[f32; 3]| {
                let face = L::Narrow::load(&faces[k][i..]);
                face.mul_add(L::Narrow::splat(ray.inverse[k]), L::Narrow::splat(add[k]))
            };
            let enter = |k| plane(&first, k, &ray.enter);
            let leave = |k| plane(&last, k, &ray.leave);
            let enter = enter(0).max(enter(1)).max(enter(2).max(L::Narrow::splat(ray.near)));
            let leave = leave(0).min(leave(1)).min(leave(2).min(L::Narrow::splat(ray.far)));
            enter.store(&mut at[i..]);
            mask |= enter.at_most(leave) << i;
        }
        for k in 0..WIDTH {
            out[ends[k]] = entry(number, at[k]);
            ends[k] += (mask >> k & 1) as usize;
        }
    }
    *lengths = std::array::from_fn(|k| ends[k] - k * count);
}

#[inline(always)]
fn meet_leaf<L: Lanes>(leaf: &Leaf, number: usize, rays: &[StreamRay], list: &[Entry], survivors: &mut Vec<Survivor>) {
    let splat = L::Narrow::splat;
    for i in (0..WIDTH).step_by(L::Narrow::COUNT) {
        let load = |column: &[f32; WIDTH]| L::Narrow::load(&column[i..]);
        let (x, y, z, reach) = (load(&leaf.x), load(&leaf.y), load(&leaf.z), load(&leaf.reach));
        let zero = splat(0.0);
        let size = x.max(zero.sub(x)).add(y.max(zero.sub(y))).add(z.max(zero.sub(z))).add(reach);
        let slack = size.mul(splat(32.0 * U));
        let minus_w = zero.sub(reach.mul(reach).mul(splat(1.0 + 64.0 * U)));
        // The radius less what it has been given, and once more.
        let least = reach.sub(size.mul(splat(320.0 * U))).max(zero);
        let least = least.mul(least).mul(splat(1.0 - 64.0 * U)).add(minus_w);
        for &old in list {
            let index = ray_of(old);
            let ray = &rays[index];
            if f32::from_bits((old >> 32) as u32) > ray.far {
                continue;
            }
            let [ux, uy, vx, vy, vz, minus_alpha, minus_beta, spread, floor, dx, dy, dz] = ray.line;
            let across = y.mul_add(splat(uy), x.mul_add(splat(ux), splat(minus_alpha)));
            let over = z.mul_add(splat(vz), y.mul_add(splat(vy), x.mul_add(splat(vx), splat(minus_beta))));
            let square = over.mul_add(over, across.mul_add(across, minus_w));
            let room = reach.mul_add(splat(spread), splat(floor));
            if square.at_most(room) == 0 {
                continue;
            }
            let along = z.mul_add(splat(dz), y.mul_add(splat(dy), x.mul(splat(dx))));
            let half = room.sub(square).max(zero).sqrt().add(slack);
            let (low, exit) = (along.sub(half), along.add(half));
            let (near, far) = (splat(ray.near), splat(ray.far));
            let mut mask = square.at_most(room) & low.at_most(far) & near.at_most(exit);
            if mask == 0 {
                continue;
            }
            let chord = least.sub(square).sub(room);
            let margin = splat(ray.margin);
            let high = along.sub(chord.max(zero).sqrt()).add(slack).add(margin);
            let certain = splat(f32::MIN_POSITIVE).at_most(chord)
                & splat(ray.begin).at_most(low)
                & high.at_most(far)
                & high.at_most(splat(ray.end));
            let (mut lows, mut highs) = ([0.0; WIDTH], [0.0; WIDTH]);
            low.store(&mut lows);
            high.store(&mut highs);
            while mask != 0 {
                let k = mask.trailing_zeros() as usize % WIDTH;
                mask &= mask - 1;
                let high = if certain >> k & 1 == 1 { highs[k] } else { f32::INFINITY };
                survivors.push(Survivor {
                    ray: index as u32,
                    slot: (number * WIDTH + i + k) as u32,
                    low: lows[k],
                    high,
                });
            }
        }
    }
}
