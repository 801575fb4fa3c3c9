//! Candidate search for a batch of rays: by the BVH if there is one, else by brute force over blocks of spheres, where culling marks the
//! spheres that a ray may hit and only these are intersected.

use super::accel::Index;
use super::collector::{Visitor, Wanted};
use super::cull::{self, BLOCK, Block, Line, Ruler};
use super::traverse::{best_first, stream};
use super::view::Spheres;
use crate::query::policy::Precision;
use crate::records::{Extra, Ray};

impl Spheres<'_> {
    /// Passes the candidates of every ray to its collector. `visitors` has one entry per ray. `extras` has one, too, or is empty.
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
            // Backwards: a finished ray is replaced by the last one, which has already had its turn.
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
                    // The last block may have unused lanes.
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
                        // An intersection test costs more than culling the whole block again.
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

/// A ray that still has candidates: the index of its collector, its record, and its `Ruler`.
struct Under<'a> {
    slot: usize,
    ray: &'a Ray,
    ruler: Ruler,
}

/// Updates the limits of a line: `counts` is the new limit of the collector.
fn narrow<V: Visitor>(line: &mut Line, ruler: &Ruler, counts: f32) {
    match V::WANTED {
        Wanted::Met => line.far = line.far.min(ruler.far(counts)),
        Wanted::Near => line.limit = ruler.limit(counts),
    }
}

/// Culls a block again with the new limits of a line. The result is only valid together with the mask before: for hits, only the segment is
/// tested.
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
