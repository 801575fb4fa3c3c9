//! Ray attributes: optional columns in addition to the ray records, with one entry per ray.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::query::policy::check_same_length;
use crate::records::{Ray, RayAttributes};
use crate::runtime::prefetch::prefetch;

/// Attribute columns, each with one entry per ray: `U` holds u32, `F` holds f32, and `D` holds low parts of directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Columns<U, F, D> {
    pub(crate) masks: Option<U>,
    pub(crate) skip_ids: Option<U>,
    pub(crate) from_ids: Option<U>,
    pub(crate) times: Option<F>,
    pub(crate) radii: Option<F>,
    pub(crate) directions_low: Option<D>,
    /// Whether spheres move while rays travel.
    pub(crate) moves_with_ray: bool,
    /// Whether `t` then counts from the ray's own time instead of from 0. Times are then not checked against the time range; the caller
    /// keeps to it.
    pub(crate) starts_at_own_time: bool,
}

/// Columns of the caller.
pub(crate) type RayAttributeColumns<'a> = Columns<&'a [u32], &'a [f32], &'a [[f32; 3]]>;

/// Columns of gathered rays.
pub(crate) type OwnedRayAttributes = Columns<Vec<u32>, Vec<f32>, Vec<[f32; 3]>>;

/// Applies an expression to each column that is present.
macro_rules! each_column {
    ($columns:expr, |$column:ident| $do:expr) => {{
        let columns = $columns;
        Columns {
            masks: columns.masks.as_ref().map(|$column| $do),
            skip_ids: columns.skip_ids.as_ref().map(|$column| $do),
            from_ids: columns.from_ids.as_ref().map(|$column| $do),
            times: columns.times.as_ref().map(|$column| $do),
            radii: columns.radii.as_ref().map(|$column| $do),
            directions_low: columns.directions_low.as_ref().map(|$column| $do),
            moves_with_ray: columns.moves_with_ray,
            starts_at_own_time: columns.starts_at_own_time,
        }
    }};
}

impl RayAttributeColumns<'_> {
    /// Whether masks, skipped ids or spheres on which rays start restrict the spheres that a ray can hit.
    #[inline]
    pub(crate) fn has_filters(&self) -> bool {
        self.masks.is_some() || self.skip_ids.is_some() || self.from_ids.is_some()
    }

    /// Whether there is any column.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.has_filters() || self.has_motion() || self.times.is_some()
    }

    /// Whether radii or low parts of directions change the intersection even with spheres at rest.
    #[inline]
    pub(crate) fn has_motion(&self) -> bool {
        self.radii.is_some() || self.directions_low.is_some()
    }

    /// Prefetches the attributes of ray `i`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, i: usize) {
        each_column!(self, |column| prefetch(&column[i]));
    }

    /// Returns an error if a column's length differs from the number of rays, which messages call `name`.
    pub(crate) fn check(&self, name: &'static str, rays: usize) -> Result<()> {
        let lengths = each_column!(self, |column| column.len());
        let columns = [
            ("masks", lengths.masks),
            ("skip_ids", lengths.skip_ids),
            ("from_ids", lengths.from_ids),
            ("times", lengths.times),
            ("radii", lengths.radii),
            ("segments", lengths.directions_low),
        ];
        columns.into_iter().try_for_each(|(column, len)| check_same_length(name, rays, column, len.unwrap_or(rays)))
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
        let remedy =
            if value.is_finite() { "widen the time range" } else { "it must be finite where spheres move with rays" };
        let outside = format!("outside the time range of the scene, {from} to {to}; {remedy}");
        bad(field, value, outside.into())
    }

    /// Slices the columns. The range is clamped to their length.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        each_column!(self, |column| &column[range.start.min(column.len())..range.end.min(column.len())])
    }

    /// The attributes of ray `i`, with defaults for missing columns.
    #[inline(always)]
    pub(crate) fn of(&self, i: usize) -> RayAttributes {
        let own = each_column!(self, |column| column[i]);
        let none = RayAttributes::NONE;
        RayAttributes {
            mask: own.masks.unwrap_or(none.mask),
            skip_id: own.skip_ids.unwrap_or(none.skip_id),
            from_id: own.from_ids.unwrap_or(none.from_id),
            // If spheres move while the ray travels, `t` itself is the time.
            time: if self.moves_with_ray && !self.starts_at_own_time { 0.0 } else { own.times.unwrap_or(none.time) },
            radius: own.radii.unwrap_or(none.radius),
            direction_low: own.directions_low.unwrap_or(none.direction_low),
            moves_with_ray: u32::from(self.moves_with_ray),
        }
    }

    /// Gathers the attributes of the rays with these indices.
    pub(crate) fn gather(&self, numbers: impl Iterator<Item = usize> + Clone) -> OwnedRayAttributes {
        each_column!(self, |column| numbers.clone().map(|i| column[i]).collect())
    }
}

impl OwnedRayAttributes {
    pub(crate) fn as_columns(&self) -> RayAttributeColumns<'_> {
        each_column!(self, |column| &column[..])
    }
}
