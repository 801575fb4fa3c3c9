//! Rays swept over the spheres of a scene, block by block: the filter marks what a ray may want, and only that is looked at.

use super::accel::Index;
use super::cull::{self, BLOCK, Block, Line, Ruler};
use super::traverse::{best_first, stream};
use crate::batch::sphere_set::Columns;
use crate::intersect::motion::Target;
use crate::intersect::sphere::Solved;
use crate::query::policy::Precision;
use crate::records::{Extra, Ray, Sphere};
use crate::runtime::prefetch::fetch;

/// A scene as a sweep needs it.
#[derive(Clone, Copy)]
pub(crate) struct Spheres<'a> {
    pub(crate) spheres: &'a [Sphere],
    pub(crate) columns: &'a Columns,
    pub(crate) index: &'a Index,
}

/// Which spheres a ray wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those it may meet, at a `t` that still counts.
    Met,
    /// Those that may be as near as still counts.
    Near,
}

impl Wanted {
    /// So many spheres are looked at sooner than filtered.
    fn few(self) -> usize {
        match self {
            Wanted::Met => 1,
            Wanted::Near => 4,
        }
    }
}

/// What somebody knows who is told that spheres are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing yet.
    Nothing,
    /// All that is asked of these spheres.
    These,
    /// All that is asked.
    Everything,
}

/// Someone who is shown spheres.
pub(crate) trait Visitor {
    /// What is wanted.
    const WANTED: Wanted;
    /// Sees one sphere; the order does not matter.
    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>);
    /// Whether all that it makes of a sphere comes from the solve at the query's precision. Those of a batch are alike in this.
    fn solves(&self) -> bool {
        false
    }
    /// Sees one sphere that was solved, if it [`solves`](Self::solves).
    fn take(&mut self, _ray: &Ray, _id: u32, _target: Target<'_>, _solved: &Solved) {}
    /// The `t` (or clearance) above which nothing counts any more; `None` when nothing does at all.
    fn counts(&self, ray: &Ray) -> Option<f32>;
    /// Is told of so many spheres that are met for certain, unsolved; what it then knows.
    fn certain(&mut self, _count: u32) -> Known {
        Known::Nothing
    }
    /// Where along the ray the stretch ends that counts, when it has ended at `far` and a sphere is met for certain that begins
    /// before `high`.
    fn cut(&mut self, far: f32, high: f32) -> f32 {
        far.min(high)
    }
}

/// A ray under way: the visitor's number, its ray, and its measures.
struct Under<'a> {
    slot: usize,
    ray: &'a Ray,
    ruler: Ruler,
}

impl<'a> Spheres<'a> {
    /// A sphere as a ray sees it that brings something along.
    #[inline(always)]
    pub(crate) fn target(&self, id: u32, extra: Option<&Extra>) -> Option<Target<'a>> {
        let sphere = self.spheres.get(id as usize)?;
        let Columns { velocities, maps, .. } = self.columns;
        let velocity = velocities.as_ref().map(|velocities| velocities[id as usize]);
        let map = maps.as_ref().map(|maps| &maps[id as usize]);
        Some(extra.map_or(Target::at_rest(sphere), |extra| Target::new(sphere, velocity, map, extra)))
    }

    /// Brings a sphere into the cache, and what is beside it.
    pub(crate) fn fetch(&self, id: u32) {
        let (id, Columns { velocities, maps, .. }) = (id as usize, self.columns);
        self.spheres.get(id).into_iter().for_each(fetch);
        velocities.iter().filter_map(|velocities| velocities.get(id)).for_each(fetch);
        maps.iter().filter_map(|maps| maps.get(id)).for_each(fetch);
    }

    /// Whether a ray that brings this along may meet a sphere.
    #[inline(always)]
    pub(crate) fn admits(&self, extra: &Extra, id: u32) -> bool {
        extra.admits(self.columns.masks.as_ref().map_or(u32::MAX, |masks| masks[id as usize]), id)
    }

    /// Shows one visitor every sphere that is for its ray.
    pub(crate) fn show_all<V: Visitor>(&self, ray: &Ray, extra: Option<&Extra>, visitor: &mut V) {
        for id in 0..self.spheres.len() as u32 {
            if let Some(target) = self.target(id, extra)
                && extra.is_none_or(|extra| self.admits(extra, id))
            {
                visitor.see(ray, id, target);
            }
        }
    }

    /// Shows every ray's visitor the spheres it wants. `rays` go with `visitors` one by one, and with what they bring along, unless
    /// there is none of that.
    pub(crate) fn sweep<V: Visitor>(&self, rays: &[Ray], extras: &[Extra], visitors: &mut [V], precision: Precision) {
        let Self { spheres, index, .. } = *self;
        let columns = match index {
            Index::Blocks(columns) => columns,
            Index::Tree(planted) if V::WANTED == Wanted::Met => {
                return stream::walk(planted, *self, rays, extras, visitors, precision);
            }
            Index::Tree(planted) => {
                for (i, (ray, visitor)) in rays.iter().zip(visitors).enumerate() {
                    if spheres.len() <= V::WANTED.few() {
                        self.show_all(ray, extras.get(i), visitor);
                    } else {
                        best_first::search(planted, *self, ray, extras.get(i), visitor, precision);
                    }
                }
                return;
            }
        };
        let (mut lines, mut under) = (Vec::with_capacity(rays.len()), Vec::with_capacity(rays.len()));
        for (slot, ray) in rays.iter().enumerate() {
            let visitor = &mut visitors[slot];
            if spheres.len() <= V::WANTED.few() {
                self.show_all(ray, extras.get(slot), visitor);
                continue;
            }
            let Some(counts) = visitor.counts(ray) else { continue };
            let (mut line, mut ruler) = columns.frame.prepare(ray, precision);
            if let Some(extra) = extras.get(slot) {
                let by = columns.frame.growth(ray, extra, precision);
                line.grow(by.beside);
                ruler.grow(by.along);
            }
            match V::WANTED {
                Wanted::Met => (line.near, line.far) = (ruler.near(ray.t_min), ruler.far(ray.t_max)),
                Wanted::Near => (line.near, line.far) = ruler.ends(ray),
            }
            narrow::<V>(&mut line, &ruler, counts);
            lines.push(line);
            under.push(Under { slot, ray, ruler });
        }
        let mut masks = vec![0; lines.len()];
        for (block, first) in columns.blocks.iter().zip((0..).step_by(BLOCK)) {
            match V::WANTED {
                Wanted::Met => columns.level.may_meet(block, &lines, &mut masks),
                Wanted::Near => columns.level.may_near(block, &lines, &mut masks),
            }
            // From the end: a ray that wants no more makes way for the last one, which has had its turn.
            for i in (0..lines.len()).rev() {
                let mut mask = masks[i];
                if mask == 0 {
                    continue;
                }
                if V::WANTED == Wanted::Met {
                    mask &= columns.level.on_stretch(block, &lines[i]);
                    if mask == 0 {
                        continue;
                    }
                }
                let (line, Under { slot, ray, ruler }) = (&mut lines[i], &under[i]);
                let visitor = &mut visitors[*slot];
                let mut counts = visitor.counts(ray);
                while mask != 0 {
                    let id = first + mask.trailing_zeros();
                    mask &= mask - 1;
                    // The last block has room for more spheres than there are.
                    let Some(target) = self.target(id, extras.get(*slot)) else { break };
                    if extras.get(*slot).is_some_and(|extra| !self.admits(extra, id)) {
                        continue;
                    }
                    visitor.see(ray, id, target);
                    let before = std::mem::replace(&mut counts, visitor.counts(ray));
                    if counts == before {
                        continue;
                    }
                    let Some(counts) = counts else { break };
                    narrow::<V>(line, ruler, counts);
                    if mask != 0 {
                        // A solve costs more than another look at the whole block.
                        mask &= again::<V>(columns, block, line);
                    }
                }
                if counts.is_none() {
                    lines.swap_remove(i);
                    under.swap_remove(i);
                }
            }
            if lines.is_empty() {
                break;
            }
        }
    }
}

/// Tells the filter what still counts.
fn narrow<V: Visitor>(line: &mut Line, ruler: &Ruler, counts: f32) {
    match V::WANTED {
        Wanted::Met => line.far = line.far.min(ruler.far(counts)),
        Wanted::Near => line.limit = ruler.limit(counts),
    }
}

/// Which spheres of a block a line still wants, of those it wanted before.
fn again<V: Visitor>(columns: &cull::Columns, block: &Block, line: &Line) -> u64 {
    match V::WANTED {
        Wanted::Met => columns.level.on_stretch(block, line),
        Wanted::Near => {
            let mut mask = [0];
            columns.level.may_near(block, std::slice::from_ref(line), &mut mask);
            mask[0]
        }
    }
}

#[cfg(test)]
#[path = "brute_force_tests.rs"]
mod tests;
