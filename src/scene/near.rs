//! Surfaces before the start of a ray, and the policy that lets them block it.

use super::scene::Scene;
use crate::batch::input::Rays;
use crate::error::Result;
use crate::query::policy::{Ends, Inside, Near, Query};
use crate::query::results::HitLists;
use crate::query::validate::usage;
use crate::records::{Interval, Ray};

/// Rays whose way to the start is copied at once.
const CHUNK_RAYS: usize = 1 << 18;

impl Near {
    /// Whether surfaces before the start block these rays.
    pub(super) fn blocks(self, rays: &Rays<'_>) -> bool {
        match self {
            Near::Auto => rays.source.has_minimum_range(),
            Near::Pass => false,
            Near::Block => true,
        }
    }

    /// Returns an error if the policy is [`Near::Block`] and the query cannot obey it. `what` names such a query.
    pub(super) fn refuse_block(self, what: Option<&str>) -> Result<()> {
        let Some(what) = what.filter(|_| self == Near::Block) else { return Ok(()) };
        usage(format!("near: block is for closest, interval, all and nearest; {what} cannot obey it"))
    }
}

impl Ray {
    /// The way to the start of the ray, on which a surface blocks it: `t` from 0 to below `t_min`, with [`Query::before_start`].
    pub(super) fn to_start(self) -> Self {
        self.between(0.0, self.t_min.max(0.0))
    }
}

impl Query {
    /// The query of the surfaces before the start. A ray that starts inside a sphere meets its surface where it leaves.
    pub(super) fn before_start(&self) -> Self {
        Self { near: Near::Pass, inside: Inside::Exit, ends: Ends::HalfOpen, ..*self }
    }
}

impl Scene {
    /// Whether a surface blocks each ray before its start: one at a `t` from 0 to below `t_min`. Empty if the policy lets rays pass.
    pub(super) async fn blocked(&self, rays: &Rays<'_>, query: &Query) -> Result<Vec<bool>> {
        if !query.near.blocks(rays) {
            return Ok(Vec::new());
        }
        if self.with_motion(rays.ray_attributes, query).moves_with_ray {
            return usage(
                "near: block is not supported if spheres move while rays travel: use pass, or rays that begin at t_min 0",
            );
        }
        let (silent, before) = (self.with_cancel(&self.cancel.without_progress()), query.before_start());
        let mut blocked = Vec::with_capacity(rays.len());
        for start in (0..rays.len()).step_by(CHUNK_RAYS) {
            let part = rays.slice(start..rays.len().min(start + CHUNK_RAYS));
            let records: Vec<Ray> = (0..part.len()).map(|i| part.source.ray(i).to_start()).collect();
            let ahead = Rays { source: Rays::from(&records).source, ..part };
            blocked.extend(silent.cast_bits(ahead, &before).await?.iter());
        }
        Ok(blocked)
    }
}

/// Removes the hits of blocked rays.
pub(super) fn without_blocked(lists: HitLists, blocked: &[bool]) -> HitLists {
    if blocked.is_empty() {
        return lists;
    }
    let HitLists { offsets, records, mut report } = lists;
    let mut kept: Vec<Interval> = Vec::with_capacity(records.len());
    let mut ends = Vec::with_capacity(offsets.len());
    ends.push(0);
    for (range, blocked) in offsets.windows(2).zip(blocked) {
        let list = &records[range[0] as usize..range[1] as usize];
        match blocked {
            true => report.rays_hit -= u64::from(!list.is_empty()),
            false => kept.extend(list),
        }
        ends.push(kept.len() as u64);
    }
    HitLists { offsets: ends, records: kept, report }
}
