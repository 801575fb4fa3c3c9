//! Comparison of hit lists: their spheres, the roots, and the order.

use umbracast::{HitLists, Interval, Ray};

use super::{Comparable, Comparison, Input};

impl<'a> Input<'a> {
    /// Compares lists of at most `most` spheres.
    pub(crate) fn compare_lists(&self, found: &HitLists, expected: &HitLists, most: Option<u32>) -> Comparison {
        let mut c = Comparison { rays: self.rays.len() as u64, ..Comparison::default() };
        for ((number, ray), (a, b)) in (self.first..).zip(self.rays).zip(found.iter().zip(expected.iter())) {
            if a != b {
                let before = c.not_identical;
                self.compare_list(&mut c, number, ray, a, b, most);
                // A list counts once, for any number of spheres that differ.
                c.not_identical = before + 1;
            }
        }
        c
    }

    pub(super) fn compare_list(
        &self,
        c: &mut Comparison,
        number: u64,
        ray: &'a Ray,
        a: &[Interval],
        b: &[Interval],
        most: Option<u32>,
    ) {
        let by_id = |list: &[Interval]| {
            let mut sorted = list.to_vec();
            sorted.sort_unstable_by_key(|hit| hit.id);
            sorted
        };
        let find = |list: &[Interval], id: u32| list.binary_search_by_key(&id, |hit| hit.id).ok().map(|i| list[i]);
        let (a_by_id, b_by_id) = (by_id(a), by_id(b));
        for &hit in &a_by_id {
            match find(&b_by_id, hit.id) {
                Some(other) => self.compare_one(c, number, ray, hit, other),
                None if self.may_be_beyond((number, ray), &hit, b, most) => c.ids_tied += 1,
                None => self.compare_one(c, number, ray, hit, Interval::MISS),
            }
        }
        for hit in b_by_id.iter().filter(|hit| find(&a_by_id, hit.id).is_none()) {
            if self.may_be_beyond((number, ray), hit, a, most) {
                c.ids_tied += 1;
            } else {
                self.compare_one(c, number, ray, Interval::MISS, *hit);
            }
        }
        // The order of the spheres in both lists: where it differs, they must be tied.
        let a = a.iter().filter(|hit| find(&b_by_id, hit.id).is_some());
        let b = b.iter().filter(|hit| find(&a_by_id, hit.id).is_some());
        for (p, q) in a.zip(b).filter(|(p, q)| p.id != q.id) {
            if self.tied((number, ray), p, q) { c.ids_tied += 1 } else { c.ids_differ += 1 }
        }
    }

    /// Whether a sphere may be missing from a list because the list is full, and its last sphere may come before that one.
    fn may_be_beyond(&self, ray: (u64, &'a Ray), hit: &Interval, list: &[Interval], most: Option<u32>) -> bool {
        let full = most.is_some_and(|most| list.len() >= most as usize);
        full && list.last().is_some_and(|last| self.may_precede(ray, last, hit))
    }

    /// Whether two spheres are tied: each may come before the other.
    fn tied(&self, ray: (u64, &'a Ray), p: &Interval, q: &Interval) -> bool {
        self.may_precede(ray, p, q) && self.may_precede(ray, q, p)
    }

    /// Whether `p` may come before `q`: its `t` exceeds that of `q` by at most the sum of both bounds.
    fn may_precede(&self, (number, ray): (u64, &'a Ray), p: &Interval, q: &Interval) -> bool {
        let (Some(a), Some(b)) = (self.pair(number, ray, p.id), self.pair(number, ray, q.id)) else {
            return false;
        };
        let (m, n) = (p.bounds(self, &a), q.bounds(self, &b));
        m.key - n.key <= m.key_may + n.key_may
    }
}
