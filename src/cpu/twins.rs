//! Twins: spheres with equal records, velocities and shapes. A ray that starts on the surface of one starts on that of the others.

use crate::records::Sphere;

/// The spheres of a scene that have twins, in groups.
#[derive(Default)]
pub(crate) struct Twins {
    /// Ids, group after group, and within a group in order.
    ids: Vec<u32>,
    /// Each of these ids with the range of its group in `ids`, sorted by id.
    groups: Vec<(u32, [u32; 2])>,
}

impl Twins {
    /// Finds the twins among the spheres of a scene. Not in parallel: a thread of a pool that waits for its own pool may take up a task that waits for this
    /// result.
    pub(crate) fn of(spheres: &[Sphere], are_twins: impl Fn(u32, u32) -> bool) -> Self {
        let mut hashed: Vec<(u64, u32)> = spheres.iter().map(hash).zip(0..).collect();
        hashed.sort_unstable();
        let mut twins = Self::default();
        for alike in hashed.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            let mut left: Vec<u32> = alike.iter().map(|(_, id)| *id).collect();
            while let Some(&first) = left.first() {
                let (group, others): (Vec<_>, _) = left.into_iter().partition(|id| are_twins(first, *id));
                left = others;
                if group.len() > 1 {
                    let range = [twins.ids.len(), twins.ids.len() + group.len()].map(|at| at as u32);
                    twins.groups.extend(group.iter().map(|id| (*id, range)));
                    twins.ids.extend(group);
                }
            }
        }
        twins.groups.sort_unstable();
        twins
    }

    /// The twins of a sphere and the sphere itself, by id; `None` if it has none.
    pub(crate) fn get(&self, id: u32) -> Option<&[u32]> {
        let at = self.groups.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let [start, end] = self.groups[at].1;
        Some(&self.ids[start as usize..end as usize])
    }
}

/// A hash of the record. Equal numbers have equal hashes, also the two zeros.
fn hash(sphere: &Sphere) -> u64 {
    let Sphere { center, radius } = *sphere;
    [center.x, center.y, center.z, radius].iter().fold(0xcbf2_9ce4_8422_2325, |hash, number| {
        (hash ^ u64::from((number + 0.0).to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}
