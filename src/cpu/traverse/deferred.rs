//! Deferred intersection tests of a stream traversal: pairs of a ray and a sphere, intersected in pair batches.

use super::ellipsoid_reject::passes_by;
use super::stream::{Pair, Solving, Walk};
use crate::cpu::collector::Visitor;
use crate::intersect::motion::Target;
use crate::intersect::sphere_soa::LOT;

impl<V: Visitor> Walk<'_, V> {
    /// Intersects the undecided pairs. The results may shorten the segments of their rays for the rest of the traversal.
    pub(crate) fn solve_doubtful(&mut self) {
        let mut pairs = std::mem::take(self.doubtful);
        self.drop_passed(&mut pairs);
        self.solve(&mut pairs);
        for &Pair { ray, .. } in &pairs {
            let number = ray as usize;
            let ray = &self.input[number];
            let counts = self.visitors[number].counts(ray);
            if counts.is_some_and(|counts| counts >= f32::MAX) {
                continue;
            }
            // So few pairs are undecided that rays do not keep their `Ruler`.
            let far = counts.map_or(f32::NEG_INFINITY, |counts| self.far(number, counts));
            self.fars[number] = self.fars[number].min(far);
        }
        pairs.clear();
        *self.doubtful = pairs;
    }

    /// Removes the pairs whose ray certainly misses the ellipsoid, though not the ball around it.
    fn drop_passed(&self, pairs: &mut Vec<Pair>) {
        if self.scene.columns.maps.is_none() {
            return;
        }
        let slots = self.planted.tree.ids.as_flattened();
        pairs.iter().for_each(|pair| self.scene.fetch(slots[pair.slot as usize]));
        pairs.retain(|pair| {
            let number = pair.ray as usize;
            let target = self.scene.target(slots[pair.slot as usize], self.extras.get(number));
            pair.low <= self.fars[number]
                && !target.is_some_and(|target| passes_by(&self.input[number], &target, self.precision))
        });
    }

    /// End of the segment if hits later than `t` do not count.
    fn far(&self, number: usize, t: f32) -> f32 {
        let (ray, frame) = (&self.input[number], &self.planted.frame);
        let mut ruler = frame.prepare(ray, self.precision).1;
        ruler.grow(self.extras.get(number).map_or(0.0, |extra| frame.growth(ray, extra, self.precision).along));
        ruler.far(t)
    }

    pub(crate) fn solve_certain(&mut self) {
        let mut pairs = std::mem::take(self.certain);
        self.solve(&mut pairs);
        pairs.clear();
        *self.certain = pairs;
    }

    /// Intersects moving pairs.
    fn solve_moving(&mut self, pairs: &[Pair]) {
        let Solving { ids, lot, .. } = &mut *self.solving;
        ids.iter().for_each(|&id| self.scene.fetch(id));
        let target = |pair: &Pair, id: u32| self.scene.target(id, self.extras.get(pair.ray as usize));
        for (pairs, ids) in pairs.chunks(LOT).zip(ids.chunks(LOT)) {
            for (i, (pair, &id)) in pairs.iter().zip(ids).enumerate() {
                if let Some(target) = target(pair, id) {
                    lot.set_moving(i, &self.input[pair.ray as usize], &target);
                }
            }
            lot.solve_moving(self.planted.level, self.precision, self.scene.columns.maps.is_some());
            for (i, (pair, &id)) in pairs.iter().zip(ids).enumerate() {
                let Some(target) = target(pair, id) else { continue };
                let (ray, visitor) = (&self.input[pair.ray as usize], &mut self.visitors[pair.ray as usize]);
                if target.keeps_distance(ray) {
                    visitor.see(ray, id, target);
                } else {
                    visitor.take(ray, id, target, &lot.solved(i));
                }
            }
        }
    }

    /// Intersects the pairs that are not culled by now, and passes the roots to the collectors. All ids are gathered first, then all
    /// spheres, so that their cache misses overlap.
    fn solve(&mut self, pairs: &mut Vec<Pair>) {
        pairs.retain(|pair| pair.low <= self.fars[pair.ray as usize]);
        let Solving { ids, spheres, lot } = &mut *self.solving;
        let slots = self.planted.tree.ids.as_flattened();
        ids.clear();
        ids.extend(pairs.iter().map(|pair| slots[pair.slot as usize]));
        if !self.still && pairs.first().is_some_and(|pair| self.visitors[pair.ray as usize].solves()) {
            return self.solve_moving(pairs);
        }
        spheres.clear();
        spheres.extend(ids.iter().map(|&id| self.scene.spheres[id as usize]));
        let lots = pairs.chunks(LOT).zip(ids.chunks(LOT)).zip(spheres.chunks(LOT));
        for ((pairs, ids), spheres) in lots {
            let solves = self.visitors[pairs[0].ray as usize].solves();
            if solves {
                for (i, (pair, sphere)) in pairs.iter().zip(spheres).enumerate() {
                    lot.set(i, &self.input[pair.ray as usize], sphere);
                }
                lot.solve(self.planted.level, self.precision);
            }
            for (i, ((pair, &id), sphere)) in pairs.iter().zip(ids).zip(spheres).enumerate() {
                let number = pair.ray as usize;
                let (ray, visitor) = (&self.input[number], &mut self.visitors[number]);
                if solves {
                    visitor.take(ray, id, Target::at_rest(sphere), &lot.solved(i));
                } else if let Some(target) = self.scene.target(id, self.extras.get(number)) {
                    visitor.see(ray, id, target);
                }
            }
        }
    }
}
