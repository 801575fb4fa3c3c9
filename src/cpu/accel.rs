//! The BVH of the CPU engine, and the data that its traversal needs.

use bytemuck::Zeroable;
use glam::Vec3;
use rayon::prelude::*;

use super::frame::CpuFrame;
use super::traverse::moving_leaf::MovingLeaf8;
use crate::batch::sphere_set::{SphereAttributes, SphereSet};
use crate::bvh::bvh8::build_sah::build_bytes;
use crate::bvh::bvh8::node::{BuildItem, Bvh8, Leaf8, MIN_PARALLEL, WIDTH, leaf_slots, tree_bytes};
use crate::error::Result;
use crate::intersect::motion::{half_span, midpoint};
use crate::math::float::U;
use crate::math::simd::level::SimdLevel;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;
use crate::runtime::memory::try_collect_parallel;

/// Minimum number of spheres for a BVH. Measured by `umbracast bench scenes` with 1 to 128 spheres in a cube, with and without a BVH in
/// turn: it is faster for every count, see `output/bench`. One sphere needs none.
pub(crate) const TREE_FROM: usize = 2;

/// A BVH, and the data that its traversal needs.
pub(crate) struct CpuBvh {
    pub(crate) tree: Bvh8,
    pub(crate) frame: CpuFrame,
    pub(crate) level: SimdLevel,
    /// Masks of the spheres per leaf, if spheres have masks: contiguous per leaf, not scattered over the list of spheres.
    pub(crate) masks: Option<Vec<[u32; WIDTH]>>,
    /// Per leaf the scaled radii of balls that the ellipsoids contain, at all times if they move; concentric with the leaf's balls.
    pub(crate) inner_radii: Option<Vec<[f32; WIDTH]>>,
    /// Motion of the spheres per leaf; None for ellipsoids.
    pub(crate) moving_leaves: Option<Vec<MovingLeaf8>>,
    /// Middle of the time range in which the motion is known.
    pub(crate) mid_time: f64,
    /// Cost of the tree when it was built.
    built_cost: f32,
}

/// Increase of the SAH cost of a BVH above which a rebuild pays off. Rays then took 1.4 times as long as with a new BVH (1.3 times at 0.2,
/// 1.7 at 0.5, 3 at 1.3, 9 at 3.5; 10⁵ drifting spheres, uniform and clustered).
pub(crate) const WORTH_REBUILDING: f32 = 0.25;

/// Upper bound of the memory that the BVH of `spheres` spheres takes, including its build.
pub(crate) fn bvh_bytes(spheres: u64) -> u64 {
    if spheres < TREE_FROM as u64 { 0 } else { tree_bytes(spheres).saturating_add(build_bytes(spheres)) }
}

/// Memory of the columns in leaf order, for spheres that have masks, move, or are ellipsoids.
pub(crate) fn leaf_attribute_bytes(spheres: u64, masked: bool, moving: bool, mapped: bool) -> u64 {
    if spheres < TREE_FROM as u64 {
        return 0;
    }
    let each = |counts: bool, bytes: usize| if counts { bytes } else { 0 };
    let place = each(masked, size_of::<u32>())
        + each(mapped, size_of::<f32>())
        + each(moving && !mapped, size_of::<MovingLeaf8>() / WIDTH);
    leaf_slots(spheres).saturating_mul(place as u64)
}

/// A sphere as the build of a BVH takes it.
#[inline(always)]
pub(crate) fn build_item(frame: &CpuFrame, id: usize, sphere: &Sphere) -> BuildItem {
    let (c, reach) = frame.sphere(sphere);
    BuildItem { center: c.as_vec3().to_array(), padded_radius: reach, id: id as u32 }
}

impl CpuBvh {
    /// Builds the BVH of spheres with their attributes.
    pub(crate) fn of(set: &SphereSet<'_>, level: SimdLevel) -> Result<Self> {
        let mut bvh = Self::new(set.swept_bounds(), level, set.cancel)?.with_attributes(set)?;
        bvh.built_cost = bvh.tree.cost();
        Ok(bvh)
    }

    /// The BVH of as many other spheres, and the increase of its cost since it was built: refitted, or built anew if that pays off.
    pub(crate) fn updated(&self, set: &SphereSet<'_>) -> Result<(Self, f32)> {
        let spheres = set.swept_bounds();
        let frame = CpuFrame::of(spheres);
        let leaf = |ids: &[u32; WIDTH]| {
            let items = ids.map(|id| spheres.get(id as usize).map(|sphere| build_item(&frame, id as usize, sphere)));
            // Unused lanes are last.
            let used = items.iter().take_while(|item| item.is_some()).count();
            Leaf8::new(&items.map(Option::unwrap_or_default)[..used]).0
        };
        let leaves = try_collect_parallel(self.tree.ids.par_iter().with_min_len(MIN_PARALLEL).map(leaf))?;
        let (nodes, ids) = (
            try_collect_parallel(self.tree.nodes.par_iter().with_min_len(8 * MIN_PARALLEL).copied())?,
            try_collect_parallel(self.tree.ids.par_iter().with_min_len(8 * MIN_PARALLEL).copied())?,
        );
        set.cancel.check()?;
        let mut tree = Bvh8 { nodes, ids, leaves: Vec::new(), depth: self.tree.depth };
        tree.refit(|number| leaves[number].corners());
        tree.leaves = leaves;
        // The attributes of moving spheres shrink boxes to the paths, which lie within the balls of the leaves.
        debug_assert_eq!(tree.check(spheres.len()), Ok(()));
        let bvh = Self::of_tree(tree, frame, self.level).with_attributes(set)?;
        let loss = bvh.tree.cost() / self.built_cost - 1.0;
        // The comparison is false for NaN, which a tree without area has.
        if loss > WORTH_REBUILDING {
            return Ok((Self::of(set, self.level)?, 0.0));
        }
        Ok((Self { built_cost: self.built_cost, ..bvh }, if loss.is_finite() { loss } else { 0.0 }))
    }

    /// Adds the columns in leaf order.
    fn with_attributes(mut self, set: &SphereSet<'_>) -> Result<Self> {
        let bvh = &mut self;
        bvh.frame.slimness = set.attributes.max_axis_ratio().into();
        if let Some(masks) = &set.attributes.masks {
            // A leaf may have unused lanes.
            let mask = |id: u32| masks.get(id as usize).copied().unwrap_or(0);
            bvh.masks = Some(bvh.per_leaf(|ids| ids.map(mask))?);
        }
        match &set.attributes {
            SphereAttributes { maps: Some(_), .. } => bvh.add_inner_radii(set)?,
            SphereAttributes { velocities: Some(velocities), .. } => bvh.add_motion(set, velocities, set.time_range)?,
            _ => {}
        }
        Ok(self)
    }

    /// Builds the BVH of spheres at rest, at least one.
    pub(crate) fn new(spheres: &[Sphere], level: SimdLevel, cancel: &CancelToken) -> Result<Self> {
        let frame = CpuFrame::of(spheres);
        let item = |(id, sphere)| build_item(&frame, id, sphere);
        let mut items = try_collect_parallel(spheres.par_iter().enumerate().with_min_len(32 * MIN_PARALLEL).map(item))?;
        Ok(Self::of_tree(Bvh8::new(&mut items, cancel)?, frame, level))
    }

    fn of_tree(tree: Bvh8, frame: CpuFrame, level: SimdLevel) -> Self {
        let (masks, inner_radii, moving_leaves) = (None, None, None);
        Self { tree, frame, level, masks, inner_radii, moving_leaves, mid_time: 0.0, built_cost: 0.0 }
    }

    /// Stores, per leaf, the radii of balls that the ellipsoids certainly contain, concentric with the balls around them and their paths.
    fn add_inner_radii(&mut self, set: &SphereSet<'_>) -> Result<()> {
        let inner = |id: u32| match (set.spheres.get(id as usize), set.swept_bounds().get(id as usize)) {
            // The radius of the ball around the path is that of the sphere plus half the path. The radius of the ball that is contained at
            // all times is smaller by the same amount than that of the ball contained at one time.
            (Some(sphere), Some(ball)) => {
                let least = f64::from(set.attributes.inner_radius(id, sphere));
                let inner = least + f64::from(sphere.radius) - f64::from(ball.radius);
                // Rounded down, with an allowance for the rounding of the ball's centre.
                ((inner - 1e-6 * f64::from(ball.radius)) * self.frame.scale) as f32
            }
            _ => -1.0,
        };
        self.inner_radii = Some(self.per_leaf(|ids| ids.map(inner))?);
        Ok(())
    }

    /// Stores the motion of the spheres per leaf, so that rays are tested against positions instead of whole paths, and refits the AABBs to
    /// the paths. Before, they contained the balls around the paths, which have 1.4 times the surface for a path as long as the radius.
    fn add_motion(&mut self, set: &SphereSet<'_>, velocities: &[Vec3], time_range: [f32; 2]) -> Result<()> {
        let middle = f64::from(midpoint(time_range));
        let one = |ids: &[u32; WIDTH]| {
            let mut moving_leaf = MovingLeaf8::zeroed();
            for (k, &id) in ids.iter().enumerate() {
                let id = id as usize;
                let (Some(sphere), Some(ball)) = (set.spheres.get(id), set.swept_bounds().get(id)) else {
                    moving_leaf.center[0][k] = f32::NAN;
                    continue;
                };
                let velocity = velocities[id].as_dvec3();
                let center = self.frame.scaled_point(sphere.center.as_dvec3() + velocity * middle);
                let [r, far] = [sphere.radius, ball.radius].map(|radius| f64::from(radius) * self.frame.scale);
                // The slack of a sphere at rest, and the slack for its motion: see `traverse/moving_leaf.rs`.
                let slack = 256.0 * f64::from(U) * (center.length() + far);
                for axis in 0..3 {
                    moving_leaf.center[axis][k] = center[axis] as f32;
                    moving_leaf.velocity[axis][k] = (velocity[axis] * self.frame.scale) as f32;
                }
                (moving_leaf.padded_radius[k], moving_leaf.inner_radius[k]) = ((r + slack) as f32, (r - slack) as f32);
            }
            moving_leaf
        };
        let laid = self.per_leaf(one)?;
        self.tree.refit(|leaf| laid[leaf].corners(half_span(time_range)));
        (self.moving_leaves, self.mid_time) = (Some(laid), middle);
        Ok(())
    }

    /// A record of each leaf, from the ids of its spheres.
    fn per_leaf<T: Send>(&self, record: impl Fn(&[u32; WIDTH]) -> T + Sync + Send) -> Result<Vec<T>> {
        try_collect_parallel(self.tree.ids.par_iter().with_min_len(MIN_PARALLEL).map(record))
    }
}
