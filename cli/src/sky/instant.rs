//! The warning about an instant at which there is no eclipse.

use crate::error::Result;
use umbracast_sky::{Sky, Time};

use super::{Event, date_text};

/// Seconds in which there is always an eclipse: the seasons of eclipses are at most 178 days apart.
const SEASON_S: f64 = 200.0 * 86_400.0;

/// A warning that names the nearest eclipse, if no eclipse is in progress at `time`. `found` is the event of that day.
pub(super) fn no_eclipse_warning(sky: &Sky, time: Time, found: Option<&Event>) -> Result<Option<String>> {
    let delta_t = sky.options().delta_t;
    // Seconds from the eclipse to the instant: positive if it is over, and negative if it is still to come.
    let past = |event: &Event| {
        let (begins, ends) = event.span();
        time.seconds_since(ends).max(0.0) + time.seconds_since(begins).min(0.0)
    };
    if found.is_some_and(|event| past(event) == 0.0) {
        return Ok(None);
    }
    let (first, last) = sky.ephemeris().span();
    let limited = |time: Time| {
        if time < first {
            first
        } else if time > last {
            last
        } else {
            time
        }
    };
    // Near the ends of an SPK file, the search may need positions beyond it.
    let near = sky.eclipses(limited(time.plus(-SEASON_S)), limited(time.plus(SEASON_S)), None).unwrap_or_default();
    let near: Vec<Event> = near.into_iter().map(Event::Eclipse).collect();
    let nearest = near.iter().min_by(|a, b| past(a).abs().total_cmp(&past(b).abs()));
    let nearest = nearest.map_or(String::new(), |eclipse| {
        let (name, day, (begins, ends)) = (eclipse.name(), date_text(sky, eclipse.greatest()), eclipse.span());
        let clock = |time: Time| time.text(0, delta_t);
        let (verb, time) = if past(eclipse) > 0.0 { ("ended at", clock(ends)) } else { ("begins at", clock(begins)) };
        format!(": the nearest is the {name} of {day}, which {verb} {time}")
    });
    Ok(Some(format!("warning: no eclipse is in progress at {}{nearest}", time.text(0, delta_t))))
}
