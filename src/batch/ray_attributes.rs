//! Ray attributes: optional columns in addition to the ray records, with one entry per ray.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::query::policy::same_length;
use crate::records::{Extra, Ray};
use crate::runtime::prefetch::fetch;

/// Borrowed attribute columns, each with one entry per ray.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extras<'a> {
    pub(crate) masks: Option<&'a [u32]>,
    pub(crate) skip_ids: Option<&'a [u32]>,
    pub(crate) times: Option<&'a [f32]>,
    pub(crate) radii: Option<&'a [f32]>,
    pub(crate) lows: Option<&'a [[f32; 3]]>,
    /// Whether spheres move while rays travel.
    pub(crate) relative: bool,
    /// Whether `t` then counts from the ray's own time instead of from 0. Times are then not checked against the time range; the caller
    /// keeps to it.
    pub(crate) launched: bool,
}

/// Applies an expression to each column that is present.
macro_rules! each_column {
    ($extras:expr, |$column:ident| $do:expr) => {{
        let extras = $extras;
        let masks = extras.masks.map(|$column| $do);
        let skip_ids = extras.skip_ids.map(|$column| $do);
        let times = extras.times.map(|$column| $do);
        let radii = extras.radii.map(|$column| $do);
        let lows = extras.lows.map(|$column| $do);
        (masks, skip_ids, times, radii, lows)
    }};
}

impl Extras<'_> {
    /// Whether masks or skipped ids restrict the spheres that a ray can hit.
    pub(crate) fn pick(&self) -> bool {
        self.masks.is_some() || self.skip_ids.is_some()
    }

    /// Whether radii or low parts of directions change the intersection even with spheres at rest.
    pub(crate) fn move_things(&self) -> bool {
        self.radii.is_some() || self.lows.is_some()
    }

    /// Prefetches the attributes of ray `i`. Called for every ray; most batches have no columns.
    #[inline(always)]
    pub(crate) fn fetch(&self, i: usize) {
        each_column!(self, |column| fetch(&column[i]));
    }

    /// Returns an error if a column's length differs from the number of rays.
    pub(crate) fn check(&self, rays: usize) -> Result<()> {
        let (masks, skip_ids, times, radii, lows) = each_column!(self, |column| column.len());
        let columns =
            [("masks", masks), ("skip_ids", skip_ids), ("times", times), ("radii", radii), ("segments", lows)];
        columns.into_iter().try_for_each(|(name, len)| same_length("rays", rays, name, len.unwrap_or(rays)))
    }

    /// Returns an error if the attributes of ray `i` are invalid. `number` is the ray's index in the whole input, for the message.
    /// `span` is the time range in which the motion of the spheres is known; None if they rest.
    pub(crate) fn check_one(&self, i: usize, number: u64, ray: &Ray, span: Option<[f32; 2]>) -> Result<()> {
        let bad = |field, value: f32, why: Cow<'static, str>| Err(Error::record("ray", number, field, value, why));
        let Extra { time, radius, .. } = self.of(i);
        if !radius.is_finite() || radius < 0.0 {
            return bad("radius", radius, "a radius must be finite and not negative".into());
        }
        if !time.is_finite() {
            return bad("time", time, "a time must be finite".into());
        }
        let Some([from, to]) = span else { return Ok(()) };
        if self.launched {
            return Ok(());
        }
        let (field, value) = match self.relative {
            false if !(from..=to).contains(&time) => ("time", time),
            true if ray.t_min < from => ("t_min", ray.t_min),
            true if ray.t_max > to => ("t_max", ray.t_max),
            _ => return Ok(()),
        };
        let outside =
            format!("outside the time range of the scene, {from} to {to}, in which its spheres are known to move");
        bad(field, value, outside.into())
    }

    /// Slices the columns. The range is clamped to their length.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let (masks, skip_ids, times, radii, lows) =
            each_column!(self, |column| { &column[range.start.min(column.len())..range.end.min(column.len())] });
        Self { masks, skip_ids, times, radii, lows, relative: self.relative, launched: self.launched }
    }

    /// The attributes of ray `i`, with defaults for missing columns.
    #[inline(always)]
    pub(crate) fn of(&self, i: usize) -> Extra {
        let (mask, skip_id, time, radius, low) = each_column!(self, |column| column[i]);
        let none = Extra::NONE;
        Extra {
            mask: mask.unwrap_or(none.mask),
            skip_id: skip_id.unwrap_or(none.skip_id),
            // If spheres move while the ray travels, `t` itself is the time.
            time: if self.relative && !self.launched { 0.0 } else { time.unwrap_or(none.time) },
            radius: radius.unwrap_or(none.radius),
            low: low.unwrap_or(none.low),
            relative: u32::from(self.relative),
        }
    }

    /// Gathers the attributes of the rays with these indices.
    pub(crate) fn some(&self, numbers: impl Iterator<Item = usize> + Clone) -> OwnExtras {
        let (masks, skip_ids, times, radii, lows) =
            each_column!(self, |column| numbers.clone().map(|i| column[i]).collect());
        OwnExtras { masks, skip_ids, times, radii, lows, relative: self.relative, launched: self.launched }
    }
}

/// Owned attribute columns, for tasks that outlive the caller's borrow.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnExtras {
    masks: Option<Vec<u32>>,
    skip_ids: Option<Vec<u32>>,
    times: Option<Vec<f32>>,
    radii: Option<Vec<f32>>,
    lows: Option<Vec<[f32; 3]>>,
    relative: bool,
    launched: bool,
}

impl OwnExtras {
    pub(crate) fn lend(&self) -> Extras<'_> {
        Extras {
            masks: self.masks.as_deref(),
            skip_ids: self.skip_ids.as_deref(),
            times: self.times.as_deref(),
            radii: self.radii.as_deref(),
            lows: self.lows.as_deref(),
            relative: self.relative,
            launched: self.launched,
        }
    }
}
