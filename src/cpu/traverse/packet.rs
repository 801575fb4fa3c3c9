//! A packet: 64 rays in SoA layout, and the bounds of their numbers.

use bytemuck::{Pod, Zeroable};

use super::prepared_ray::octant_of;

/// Rays per packet: one bit each in a word.
pub(crate) const PACKET_RAYS: usize = 64;

/// 64 rays: the first fields of [`PreparedRay`](super::prepared_ray::PreparedRay) as columns, and the bounds of each column.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Packet {
    pub(crate) inverse: [[f32; PACKET_RAYS]; 3],
    pub(crate) enter: [[f32; PACKET_RAYS]; 3],
    pub(crate) leave: [[f32; PACKET_RAYS]; 3],
    pub(crate) near: [f32; PACKET_RAYS],
    pub(crate) far: [f32; PACKET_RAYS],
    /// Corners of an AABB around each ray's segment, if the segments are short.
    pub(crate) low: [[f32; PACKET_RAYS]; 3],
    pub(crate) high: [[f32; PACKET_RAYS]; 3],
    /// Least and largest values of the columns above.
    pub(crate) least: [f32; COLUMNS],
    pub(crate) largest: [f32; COLUMNS],
    padding: [f32; 14],
}

/// Number of columns of a packet, without and with the AABBs.
pub(crate) const RAY_COLUMNS: usize = 11;
pub(crate) const COLUMNS: usize = 17;

/// The numbers of the active rays of a packet, the first of which has number `first`.
#[derive(Clone, Copy)]
pub(crate) struct ActiveRays {
    pub(crate) first: u32,
    /// One bit per ray.
    pub(crate) mask: u64,
}

impl Iterator for ActiveRays {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        let next = (self.mask != 0).then(|| self.first + self.mask.trailing_zeros());
        self.mask &= self.mask.wrapping_sub(1);
        next
    }
}

/// How a packet visits the children of a node.
#[derive(Clone, Copy)]
pub(crate) enum PacketKind {
    /// In the order of the octant of all rays.
    Octant(usize),
    /// By the distance from the middle of the short segments, whose directions differ.
    Distance,
}

impl Packet {
    /// Writes the numbers of eight rays, from number `first` on, to the columns from number `column` on.
    #[inline(always)]
    pub(crate) fn set(&mut self, column: usize, first: usize, numbers: &[[f32; 8]]) {
        for (to, numbers) in self.columns_mut()[column..].iter_mut().zip(numbers) {
            if let Some(to) = to[first..].first_chunk_mut() {
                *to = *numbers;
            }
        }
    }

    /// The columns, in the order of the fields.
    #[inline(always)]
    pub(crate) fn columns_mut(&mut self) -> &mut [[f32; PACKET_RAYS]; COLUMNS] {
        bytemuck::from_bytes_mut(&mut bytemuck::bytes_of_mut(self)[..4 * PACKET_RAYS * COLUMNS])
    }

    /// How the rays can be traversed as a packet, if they can: in one octant, or (`short`) near each other.
    pub(crate) fn kind(&self, short: bool) -> Option<PacketKind> {
        let octant = |[x, y, z, ..]: [f32; COLUMNS]| octant_of([x, y, z]);
        let least = octant(self.least);
        if least == octant(self.largest) {
            return Some(PacketKind::Octant(least));
        }
        // An unlimited segment has a distant corner. Positions in the scene lie within ±2 √3.
        let finite = (RAY_COLUMNS..RAY_COLUMNS + 3).all(|k| self.least[k] > -4.0 && self.largest[k + 3] < 4.0);
        (short && finite).then_some(PacketKind::Distance)
    }
}
