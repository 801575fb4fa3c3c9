//! Ray attributes: optional columns in addition to the ray records, with one entry per ray.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::query::policy::check_same_length;
use crate::records::{Ray, RayAttributes};
use crate::runtime::prefetch::prefetch;

/// Borrowed attribute columns, each with one entry per ray.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RayAttributeColumns<'a> {
    pub(crate) masks: Option<&'a [u32]>,
    pub(crate) skip_ids: Option<&'a [u32]>,
    pub(crate) from_ids: Option<&'a [u32]>,
    pub(crate) times: Option<&'a [f32]>,
    pub(crate) radii: Option<&'a [f32]>,
    pub(crate) directions_low: Option<&'a [[f32; 3]]>,
    /// Whether spheres move while rays travel.
    pub(crate) moves_with_ray: bool,
    /// Whether `t` then counts from the ray's own time instead of from 0. Times are then not checked against the time range; the caller
    /// keeps to it.
    pub(crate) starts_at_own_time: bool,
}

/// Applies an expression to each column that is present.
macro_rules! each_column {
    ($ray_attributes:expr, |$column:ident| $do:expr) => {{
        let ray_attributes = $ray_attributes;
        let masks = ray_attributes.masks.map(|$column| $do);
        let skip_ids = ray_attributes.skip_ids.map(|$column| $do);
        let from_ids = ray_attributes.from_ids.map(|$column| $do);
        let times = ray_attributes.times.map(|$column| $do);
        let radii = ray_attributes.radii.map(|$column| $do);
        let lows = ray_attributes.directions_low.map(|$column| $do);
        (masks, skip_ids, from_ids, times, radii, lows)
    }};
}

impl RayAttributeColumns<'_> {
    /// Whether masks, skipped ids or spheres on which rays start restrict the spheres that a ray can hit.
    pub(crate) fn has_filters(&self) -> bool {
        self.masks.is_some() || self.skip_ids.is_some() || self.from_ids.is_some()
    }

    /// Whether radii or low parts of directions change the intersection even with spheres at rest.
    pub(crate) fn has_motion(&self) -> bool {
        self.radii.is_some() || self.directions_low.is_some()
    }

    /// Prefetches the attributes of ray `i`. Called for every ray; most batches have no columns.
    #[inline(always)]
    pub(crate) fn prefetch(&self, i: usize) {
        each_column!(self, |column| prefetch(&column[i]));
    }

    /// Returns an error if a column's length differs from the number of rays.
    pub(crate) fn check(&self, rays: usize) -> Result<()> {
        let (masks, skip_ids, from_ids, times, radii, lows) = each_column!(self, |column| column.len());
        let columns = [
            ("masks", masks),
            ("skip_ids", skip_ids),
            ("from_ids", from_ids),
            ("times", times),
            ("radii", radii),
            ("segments", lows),
        ];
        columns.into_iter().try_for_each(|(name, len)| check_same_length("rays", rays, name, len.unwrap_or(rays)))
    }

    /// Returns an error if the attributes of ray `i` are invalid. `number` is the ray's index in the whole input, for the message.
    /// `time_range` is the time range in which the motion of the spheres is known; None if they rest.
    pub(crate) fn check_one(&self, i: usize, number: u64, ray: &Ray, time_range: Option<[f32; 2]>) -> Result<()> {
        let bad = |field, value: f32, why: Cow<'static, str>| Err(Error::record("ray", number, field, value, why));
        let RayAttributes { time, radius, .. } = self.of(i);
        if !radius.is_finite() || radius < 0.0 {
            return bad("radius", radius, "a radius must be finite and not negative".into());
        }
        if !time.is_finite() {
            return bad("time", time, "a time must be finite".into());
        }
        let Some([from, to]) = time_range else { return Ok(()) };
        if self.starts_at_own_time {
            return Ok(());
        }
        let (field, value) = match self.moves_with_ray {
            false if !(from..=to).contains(&time) => ("time", time),
            true if ray.t_min < from => ("t_min", ray.t_min),
            true if ray.t_max > to => ("t_max", ray.t_max),
            _ => return Ok(()),
        };
        let outside = format!("outside the time range of the scene, {from} to {to}; widen the time range");
        bad(field, value, outside.into())
    }

    /// Slices the columns. The range is clamped to their length.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        let (masks, skip_ids, from_ids, times, radii, lows) =
            each_column!(self, |column| { &column[range.start.min(column.len())..range.end.min(column.len())] });
        Self {
            masks,
            skip_ids,
            from_ids,
            times,
            radii,
            directions_low: lows,
            moves_with_ray: self.moves_with_ray,
            starts_at_own_time: self.starts_at_own_time,
        }
    }

    /// The attributes of ray `i`, with defaults for missing columns.
    #[inline(always)]
    pub(crate) fn of(&self, i: usize) -> RayAttributes {
        let (mask, skip_id, from_id, time, radius, low) = each_column!(self, |column| column[i]);
        let none = RayAttributes::NONE;
        RayAttributes {
            mask: mask.unwrap_or(none.mask),
            skip_id: skip_id.unwrap_or(none.skip_id),
            from_id: from_id.unwrap_or(none.from_id),
            // If spheres move while the ray travels, `t` itself is the time.
            time: if self.moves_with_ray && !self.starts_at_own_time { 0.0 } else { time.unwrap_or(none.time) },
            radius: radius.unwrap_or(none.radius),
            direction_low: low.unwrap_or(none.direction_low),
            moves_with_ray: u32::from(self.moves_with_ray),
        }
    }

    /// Gathers the attributes of the rays with these indices.
    pub(crate) fn gather(&self, numbers: impl Iterator<Item = usize> + Clone) -> OwnedRayAttributes {
        let (masks, skip_ids, from_ids, times, radii, lows) =
            each_column!(self, |column| numbers.clone().map(|i| column[i]).collect());
        OwnedRayAttributes {
            masks,
            skip_ids,
            from_ids,
            times,
            radii,
            directions_low: lows,
            moves_with_ray: self.moves_with_ray,
            starts_at_own_time: self.starts_at_own_time,
        }
    }
}

/// Owned attribute columns, for tasks that outlive the caller's borrow.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnedRayAttributes {
    masks: Option<Vec<u32>>,
    skip_ids: Option<Vec<u32>>,
    from_ids: Option<Vec<u32>>,
    times: Option<Vec<f32>>,
    radii: Option<Vec<f32>>,
    directions_low: Option<Vec<[f32; 3]>>,
    moves_with_ray: bool,
    starts_at_own_time: bool,
}

impl OwnedRayAttributes {
    pub(crate) fn as_columns(&self) -> RayAttributeColumns<'_> {
        RayAttributeColumns {
            masks: self.masks.as_deref(),
            skip_ids: self.skip_ids.as_deref(),
            from_ids: self.from_ids.as_deref(),
            times: self.times.as_deref(),
            radii: self.radii.as_deref(),
            directions_low: self.directions_low.as_deref(),
            moves_with_ray: self.moves_with_ray,
            starts_at_own_time: self.starts_at_own_time,
        }
    }
}
