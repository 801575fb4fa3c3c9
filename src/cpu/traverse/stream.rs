//! Stream traversal of the BVH, front to back: every ray's collector receives the spheres that the leaf tests leave as candidates, except
//! those that lie behind certain hits.
//!
//! Certain hits are deferred to the end of the traversal: by then most of them lie behind something nearer, and the rest are intersected in
//! pair batches. An undecided candidate gives no information before it is intersected, so this is done as soon as there are enough of them
//! for a pair batch.

use std::cell::RefCell;

use bytemuck::Zeroable;

use super::kernels::{Entered, Met, StreamRay, Ways};
use super::moving_leaf;
use super::ray_setup::LANES;
use crate::bvh::bvh8::node::{Kind, Tree, WIDTH};
use crate::cpu::accel::Planted;
use crate::cpu::collector::{Known, Visitor};
use crate::cpu::view::Spheres;
use crate::intersect::sphere_soa::{LOT, Lot};
use crate::query::policy::Precision;
use crate::records::{Extra, NO_SPHERE, Ray, Sphere};
use crate::runtime::prefetch::fetch;

/// Rays per stream: together with a leaf and the lists they have to fit into the second-level cache. Measurements show no difference from
/// 256 to 2048.
pub(crate) const STREAM: usize = 1024;

/// Number of certain hits at which they are intersected early, so that memory is bounded if all spheres overlap.
const KEPT: usize = 4 * STREAM;

/// A candidate pair of a ray and a sphere, to be intersected.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) ray: u32,
    /// Eight times the index of the leaf, plus the lane in it.
    pub(crate) slot: u32,
    /// Position along the ray before which the sphere is not hit.
    pub(crate) low: f32,
}

/// Level scratch: the memory for visiting one node on each level of the BVH.
#[derive(Default)]
struct Floor {
    entered: Entered,
    /// The rays that enter the current child.
    list: Vec<u32>,
}

/// Scratch memory that a worker thread keeps from one stream to the next.
#[derive(Default)]
struct Scratch {
    rays: Vec<StreamRay>,
    octants: [Vec<u32>; 8],
    fars: Vec<f32>,
    floors: Vec<Floor>,
    met: Vec<Met>,
    certain: Vec<Pair>,
    doubtful: Vec<Pair>,
    solving: Solving,
}

/// Scratch memory for intersecting pairs.
#[derive(Default)]
pub(crate) struct Solving {
    pub(crate) ids: Vec<u32>,
    pub(crate) spheres: Vec<Sphere>,
    pub(crate) lot: Lot,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Traversal of one stream: the scene, and the rays with their collectors.
pub(crate) struct Walk<'a, V> {
    pub(crate) planted: &'a Planted,
    pub(crate) scene: Spheres<'a>,
    pub(crate) input: &'a [Ray],
    /// Attributes of the rays; empty if none affect the hits.
    pub(crate) extras: &'a [Extra],
    /// Whether all pairs are at rest: no motion, ellipsoids, ray radii, or low parts of directions.
    pub(crate) still: bool,
    /// Motion of the spheres per leaf, and whether they move while rays travel.
    ways: Option<&'a [Ways]>,
    passing: bool,
    pub(crate) visitors: &'a mut [V],
    pub(crate) precision: Precision,
    rays: &'a [StreamRay],
    /// End of each ray's segment: what begins later does not count.
    pub(crate) fars: &'a mut [f32],
    met: &'a mut [Met],
    pub(crate) certain: &'a mut Vec<Pair>,
    pub(crate) doubtful: &'a mut Vec<Pair>,
    pub(crate) solving: &'a mut Solving,
}

/// Passes the spheres that each ray may hit to its collector.
pub(crate) fn walk<V: Visitor>(
    planted: &Planted,
    scene: Spheres<'_>,
    rays: &[Ray],
    extras: &[Extra],
    visitors: &mut [V],
    precision: Precision,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        for (n, (rays, visitors)) in rays.chunks(STREAM).zip(visitors.chunks_mut(STREAM)).enumerate() {
            let extras = if extras.is_empty() { extras } else { &extras[n * STREAM..][..rays.len()] };
            stream(scratch, planted, scene, rays, extras, visitors, precision);
        }
    });
}

fn stream<V: Visitor>(
    scratch: &mut Scratch,
    planted: &Planted,
    scene: Spheres<'_>,
    input: &[Ray],
    extras: &[Extra],
    visitors: &mut [V],
    precision: Precision,
) {
    let Scratch { rays, octants, fars, floors, met, certain, doubtful, solving } = scratch;
    let whole = input.len().next_multiple_of(LANES);
    if rays.len() < whole {
        rays.resize(whole, StreamRay::zeroed());
        met.resize(whole, Met::NONE);
    }
    let (fours, left) = input.as_chunks();
    // The last group of four is padded with copies of its first ray.
    let last = left.first().map(|first| std::array::from_fn(|i| *left.get(i).unwrap_or(first)));
    for (four, aimed) in fours.iter().chain(&last).zip(rays.as_chunks_mut::<LANES>().0) {
        planted.level.aim_rays(&planted.frame, four, precision, aimed);
    }
    for ((aimed, ray), extra) in rays.iter_mut().zip(input).zip(extras) {
        let by = planted.frame.growth(ray, extra, precision);
        if by.along > 0.0 {
            aimed.grow(by.beside as f32, by.along as f32);
        }
        if extra.relative == 0 {
            aimed.moment = (f64::from(extra.time) - planted.middle) as f32;
        } else if planted.ways.is_some() {
            moving_leaf::aim(aimed, &planted.frame, ray, extra, precision, planted.middle);
        }
    }
    let still = !scene.columns.change() && !extras.iter().any(Extra::moves);
    let passing = extras.first().is_some_and(|extra| extra.relative != 0);
    let ways = planted.ways.as_deref();
    let rays = &rays[..input.len()];
    fars.clear();
    fars.extend(rays.iter().map(|ray| ray.far));
    octants.iter_mut().for_each(Vec::clear);
    for (number, aimed) in rays.iter().enumerate() {
        if aimed.margin == f32::INFINITY {
            // From so far away everything may be hit.
            scene.show_all(&input[number], extras.get(number), &mut visitors[number]);
        } else {
            octants[aimed.octant()].push(number as u32);
        }
    }
    if floors.len() < planted.tree.depth {
        floors.resize_with(planted.tree.depth, Floor::default);
    }
    let mut walk = Walk {
        planted,
        scene,
        input,
        extras,
        still,
        ways,
        passing,
        visitors,
        precision,
        rays,
        fars,
        met,
        certain,
        doubtful,
        solving,
    };
    for (octant, list) in octants.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        walk.node(0, octant, list, floors);
    }
    walk.solve_doubtful();
    walk.solve_certain();
}

impl<V: Visitor> Walk<'_, V> {
    /// Visits a node. The recursion is as deep as the BVH, which is the length of `floors`.
    fn node(&mut self, node: usize, octant: usize, list: &[u32], floors: &mut [Floor]) {
        let Some((Floor { entered, list: through }, floors)) = floors.split_first_mut() else { return };
        let node = &self.planted.tree.nodes[node];
        self.planted.level.enter_boxes(node, octant, self.rays, self.fars, list, entered);
        if through.len() < list.len() {
            through.resize(list.len(), 0);
        }
        // Prefetches the children, which arrive while the first of them is visited. For a node these are its faces: three of its four cache
        // lines.
        let Tree { nodes, leaves, .. } = &self.planted.tree;
        for (_, child) in node.children.iter().enumerate().filter(|(place, _)| entered.any >> place & 1 == 1) {
            match child.kind() {
                Kind::Node(number) => nodes[number].faces.as_flattened().iter().step_by(2).for_each(fetch),
                Kind::Leaf(number) => {
                    match self.ways {
                        Some(ways) => ways[number].fetch(),
                        None => [&leaves[number].x, &leaves[number].z].into_iter().for_each(fetch),
                    }
                    self.fetch_picks(number);
                }
                Kind::Nothing => {}
            }
        }
        let mut order = node.order[octant];
        for _ in 0..WIDTH {
            let place = (order & 7) as usize;
            order >>= 3;
            if entered.any >> place & 1 == 0 {
                continue;
            }
            let count = self.planted.level.pass(entered, place, list, self.fars, through);
            if count == 0 {
                continue;
            }
            let list = &through[..count];
            match node.children[place].kind() {
                Kind::Node(number) => self.node(number, octant, list, floors),
                Kind::Leaf(number) => self.leaf(number, list),
                Kind::Nothing => {}
            }
        }
    }

    /// Prefetches the ids and masks of a leaf, if rays have attributes.
    fn fetch_picks(&self, leaf: usize) {
        if !self.extras.is_empty() {
            fetch(&self.planted.tree.ids[leaf]);
            if let Some(masks) = &self.planted.masks {
                fetch(&masks[leaf]);
            }
        }
    }

    fn leaf(&mut self, number: usize, list: &[u32]) {
        let leaf = &self.planted.tree.leaves[number];
        let Planted { level, inner, .. } = self.planted;
        let count = match (self.ways, inner) {
            (Some(ways), _) if self.passing => {
                level.meet_passing_leaf(&ways[number], self.rays, self.fars, list, self.met)
            }
            (Some(ways), _) => level.meet_moved_leaf(&ways[number], self.rays, self.fars, list, self.met),
            (_, Some(inner)) => level.meet_swept_leaf(leaf, &inner[number], self.rays, self.fars, list, self.met),
            _ => level.meet_leaf(leaf, self.rays, self.fars, list, self.met),
        };
        for i in 0..count {
            let Met { ray, maybe, certain, low, high } = &self.met[i];
            let number_of = |k: u32| (number * WIDTH) as u32 + k;
            let (mut left, mut certain) = (*maybe, *certain);
            if let Some(extra) = self.extras.get(*ray as usize) {
                left &= self.admitted(extra, number);
                certain &= left;
            }
            let (visitor, far) = (&mut self.visitors[*ray as usize], &mut self.fars[*ray as usize]);
            if certain != 0 {
                match visitor.certain(certain.count_ones()) {
                    Known::Nothing => {}
                    Known::These => left &= !certain,
                    Known::Everything => {
                        *far = f32::NEG_INFINITY;
                        continue;
                    }
                }
            }
            while left != 0 {
                let k = left.trailing_zeros();
                left &= left - 1;
                let pair = Pair { ray: *ray, slot: number_of(k), low: low[k as usize % WIDTH] };
                if certain >> k & 1 == 0 {
                    self.doubtful.push(pair);
                } else if pair.low <= *far {
                    *far = visitor.cut(*far, high[k as usize % WIDTH]);
                    self.certain.push(pair);
                }
            }
        }
        if self.doubtful.len() >= LOT {
            self.solve_doubtful();
        }
        if self.certain.len() >= KEPT {
            self.solve_certain();
        }
    }

    /// Mask of a leaf's spheres that the ray may hit according to its attributes.
    fn admitted(&self, extra: &Extra, leaf: usize) -> u32 {
        let mut admitted = u32::MAX;
        if let Some(masks) = &self.planted.masks {
            admitted = bits_of(&masks[leaf], |mask| mask & extra.mask != 0);
        } else if extra.mask == 0 {
            return 0;
        }
        if extra.skip_id != NO_SPHERE {
            admitted &= bits_of(&self.planted.tree.ids[leaf], |id| id != extra.skip_id);
        }
        admitted
    }
}

/// Mask of the words for which `holds` is true. The compiler makes a few vector instructions of it.
#[inline(always)]
fn bits_of(words: &[u32; WIDTH], holds: impl Fn(u32) -> bool) -> u32 {
    let bits: [u32; WIDTH] = std::array::from_fn(|k| if holds(words[k]) { 1 << k } else { 0 });
    bits.iter().fold(0, |all, bit| all | bit)
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
