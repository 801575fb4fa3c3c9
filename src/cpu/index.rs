//! How a scene's spheres are found: by a tree, or few of them by a sweep over blocks.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::filter::{Columns, Frame, columns_bytes};
use super::level::Level;
use crate::error::Result;
use crate::held::Given;
use crate::memory::room;
use crate::records::Sphere;
use crate::tree::{Item, Tree, WIDTH, tree_bytes};

/// Up to so many spheres there is a sweep instead. Measured by `umbracast bench scenes` on 1 to 128 spheres in a cube, both ways in
/// turn: the tree is 1.1 to 2 times as quick on one sphere, 1.5 to 3 times on more, see `output/bench`. One sphere needs no tree.
pub(crate) const FEW: usize = 1;

/// What the spheres are found by.
pub(crate) enum Index {
    /// Every block in turn.
    Blocks(Columns),
    /// A tree.
    Tree(Planted),
}

/// A tree, and what it takes to walk it.
pub(crate) struct Planted {
    pub(crate) tree: Tree,
    pub(crate) frame: Frame,
    pub(crate) level: Level,
    /// The masks of each leaf's spheres, where spheres have masks: beside the leaf, not all over the list of spheres.
    pub(crate) masks: Option<Vec<[u32; WIDTH]>>,
    /// The radii, scaled, of balls around the same middles that spheres which move never leave and ellipsoids hold, beside each leaf.
    pub(crate) inner: Option<Vec<[f32; WIDTH]>>,
}

/// The memory that the index of so many spheres takes, at the most while it is made.
pub(crate) fn index_bytes(spheres: u64) -> u64 {
    if spheres <= FEW as u64 {
        columns_bytes(spheres)
    } else {
        tree_bytes(spheres).saturating_add(spheres.saturating_mul(size_of::<Item>() as u64))
    }
}

/// Set by [`crate::bench::use_tree`].
static SWEEP_ONLY: AtomicBool = AtomicBool::new(false);

/// Lets scenes created from now on sweep over all spheres, however many; answers do not depend on it.
pub(crate) fn sweep_only(yes: bool) {
    SWEEP_ONLY.store(yes, Ordering::Relaxed);
}

impl Index {
    pub(crate) fn new(spheres: &[Sphere], level: Level) -> Result<Self> {
        let few = spheres.len() <= FEW || SWEEP_ONLY.load(Ordering::Relaxed);
        if few { Self::blocks(spheres, level) } else { Ok(Self::Tree(Planted::new(spheres, level)?)) }
    }

    pub(crate) fn blocks(spheres: &[Sphere], level: Level) -> Result<Self> {
        Ok(Self::Blocks(Columns::new(spheres, level)?))
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        match self {
            Self::Blocks(columns) => &mut columns.frame,
            Self::Tree(planted) => &mut planted.frame,
        }
    }
}

impl Planted {
    pub(crate) fn new(spheres: &[Sphere], level: Level) -> Result<Self> {
        let frame = Frame::of(spheres);
        let item = |(id, sphere): (usize, &Sphere)| {
            let (c, _, reach) = frame.sphere(sphere);
            Item { center: c.as_vec3().to_array(), reach, id: id as u32 }
        };
        let mut items = room(spheres.len())?;
        spheres.par_iter().enumerate().map(item).collect_into_vec(&mut items);
        Ok(Self { tree: Tree::new(&mut items)?, frame, level, masks: None, inner: None })
    }

    /// Lays beside its leaves what is sure to be a part of spheres that move and of ellipsoids, in balls around them and their ways.
    pub(super) fn lay_inner(&mut self, given: &Given<'_>) -> Result<()> {
        let mut laid = room(self.tree.ids.len())?;
        let inner = |id: u32| match (given.spheres.get(id as usize), given.bounds().get(id as usize)) {
            // A ball has half of the way more than the sphere, and what is never left is by as much less than what the sphere holds.
            (Some(sphere), Some(ball)) => {
                let least = f64::from(given.columns.inner_radius(id, sphere));
                let inner = least + f64::from(sphere.radius) - f64::from(ball.radius);
                // Rounded down, and what the ball's middle was rounded by with it.
                ((inner - 1e-6 * f64::from(ball.radius)) * self.frame.scale()) as f32
            }
            _ => -1.0,
        };
        self.tree.ids.par_iter().map(|ids| ids.map(inner)).collect_into_vec(&mut laid);
        self.inner = Some(laid);
        Ok(())
    }

    /// Lays the masks of spheres beside its leaves.
    pub(super) fn lay_masks(&mut self, masks: &[u32]) -> Result<()> {
        let mut laid = room(self.tree.ids.len())?;
        // A leaf may have room for more spheres than there are.
        let mask = |id: u32| masks.get(id as usize).copied().unwrap_or(0);
        self.tree.ids.par_iter().map(|ids| ids.map(mask)).collect_into_vec(&mut laid);
        self.masks = Some(laid);
        Ok(())
    }
}
