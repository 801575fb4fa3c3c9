//! What rays bring along besides themselves: columns beside the records, each as long as they are or left out.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::records::NO_SPHERE;
use crate::scene::same_length;

/// What one ray brings along. Twin of `Extra` in `shaders/records.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Extra {
    /// It meets only spheres whose masks share a bit with this one.
    pub(crate) mask: u32,
    /// The one sphere that it does not meet.
    pub(crate) skip_id: u32,
}

impl Extra {
    /// What a ray has that brings nothing along.
    pub(crate) const NONE: Self = Self { mask: u32::MAX, skip_id: NO_SPHERE };

    /// Whether it may meet a sphere with this mask and id.
    #[inline(always)]
    pub(crate) fn admits(&self, mask: u32, id: u32) -> bool {
        (self.mask & mask != 0) & (id != self.skip_id)
    }
}

/// The columns; one that is empty was left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extras<'a> {
    pub(crate) masks: Option<&'a [u32]>,
    pub(crate) skip_ids: Option<&'a [u32]>,
}

impl<'a> Extras<'a> {
    /// Whether nothing is brought along.
    pub(crate) fn are_none(&self) -> bool {
        self.masks.is_none() && self.skip_ids.is_none()
    }

    /// All columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = Option<&'a [u32]>> {
        [self.masks, self.skip_ids].into_iter()
    }

    /// Refuses columns that are not as long as there are rays.
    pub(crate) fn check(&self, rays: usize) -> Result<()> {
        for (name, column) in [("masks", self.masks), ("skip_ids", self.skip_ids)] {
            if let Some(column) = column {
                same_length("rays", rays, name, column.len())?;
            }
        }
        Ok(())
    }

    /// Those of some of the rays, as far as they go.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Self {
        let part = |column: Option<&'a [u32]>| {
            column.map(|column| &column[range.start.min(column.len())..range.end.min(column.len())])
        };
        Self { masks: part(self.masks), skip_ids: part(self.skip_ids) }
    }

    /// Ray `i`'s.
    #[inline(always)]
    pub(crate) fn of(&self, i: usize) -> Extra {
        Extra {
            mask: self.masks.map_or(u32::MAX, |masks| masks[i]),
            skip_id: self.skip_ids.map_or(NO_SPHERE, |ids| ids[i]),
        }
    }

    /// Those of the rays with these numbers, written down.
    pub(crate) fn some(&self, numbers: impl Iterator<Item = usize> + Clone) -> OwnExtras {
        let some = |column: Option<&[u32]>| column.map(|column| numbers.clone().map(|i| column[i]).collect());
        OwnExtras { masks: some(self.masks), skip_ids: some(self.skip_ids) }
    }
}

/// The same for who outlives the caller's borrow.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnExtras {
    masks: Option<Vec<u32>>,
    skip_ids: Option<Vec<u32>>,
}

impl OwnExtras {
    pub(crate) fn lend(&self) -> Extras<'_> {
        Extras { masks: self.masks.as_deref(), skip_ids: self.skip_ids.as_deref() }
    }
}
