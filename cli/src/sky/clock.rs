//! Instants as they are printed: in UTC, or in the time zone of `--tz`.

use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use umbracast_files::escape::quoted;
use umbracast_sky::{Cell, Conventions, DeltaT, Field, Record, Time, TimeText};

use super::day_text;

/// Where the instants of a result are printed.
pub(super) struct Clock<'a> {
    pub(super) delta_t: DeltaT,
    /// `None` is UTC, which is UT1 before 1972.
    pub(super) zone: Option<&'a TimeZone>,
    /// An instant of the day whose times need no mark.
    pub(super) greatest: Time,
}

/// Offsets, as those of instants, are shorter than a day, in seconds.
const DAY_S: i32 = 86_400;

/// Parser of `--tz`.
pub(super) fn time_zone(text: &str) -> Result<TimeZone, String> {
    // The parser also reads POSIX strings, where UTC+2 is two hours behind UTC.
    let is_known = |zone: &TimeZone| match zone.to_fixed_offset() {
        Ok(offset) => offset.seconds().abs() < DAY_S && !zone.is_unknown(),
        Err(_) => zone.iana_name().is_some(),
    };
    DateTimeParser::new().parse_time_zone(text).ok().filter(is_known).ok_or_else(|| {
        format!(
            "'{}' is no time zone: expected an offset such as +02:00, or a name such as Europe/Madrid",
            quoted(text)
        )
    })
}

impl Clock<'_> {
    /// The time of day with one decimal, and a mark if it is of another day than the eclipse: `00:32:01.4+1d`.
    pub(super) fn time(&self, time: Time) -> String {
        let mark = match self.date(time) == self.date(self.greatest) {
            true => "",
            false if time > self.greatest => "+1d",
            false => "-1d",
        };
        format!("{}{mark}", self.local(time.clock_text(1, self.delta_t)))
    }

    /// The date of an instant, rounded as its time is.
    pub(super) fn date(&self, time: Time) -> String {
        day_text(&self.local(time.text(1, self.delta_t)).to_string()).into()
    }

    /// An instant with its offset in this zone.
    fn local(&self, text: TimeText) -> TimeText {
        let Some(zone) = self.zone else { return text };
        let (day, second) = text.time().clock(self.delta_t);
        let timestamp = jiff::Timestamp::from_second((day + Time::UNIX_DAYS) * 86_400 + second as i64);
        // Years from -1999 to 3000 are in range.
        text.with_offset(zone.to_offset(timestamp.unwrap_or_default()).seconds())
    }

    /// A record with its instants in this zone.
    pub(super) fn record(&self, record: Box<dyn Record>) -> Box<dyn Record> {
        let Some(_) = self.zone else { return record };
        let text = |cell: Cell<'_>| match cell {
            Cell::Time(time) => Some(self.local(time)),
            _ => None,
        };
        let times = record.cells().into_iter().map(text).collect();
        Box::new(Local { record, times })
    }

    /// The line about conventions, with the zone.
    pub(super) fn conventions_line(&self, line: String, of: &Conventions) -> String {
        let Some(zone) = self.zone else { return line };
        let offset = || zone.to_fixed_offset().map_or_else(|_| "UTC".into(), |offset| offset.to_string());
        let name = zone.iana_name().map_or_else(offset, String::from);
        let scale = of.time_scale;
        line.replacen(&format!("times in {scale}"), &format!("times in {scale} with the offset of {name}"), 1)
    }
}

/// A record whose instants have an offset.
struct Local {
    record: Box<dyn Record>,
    /// A text in place of each cell with an instant.
    times: Vec<Option<TimeText>>,
}

impl Record for Local {
    fn fields(&self) -> &'static [Field] {
        self.record.fields()
    }

    fn cells(&self) -> Vec<Cell<'_>> {
        let own = self.record.cells().into_iter();
        own.zip(&self.times).map(|(cell, time)| time.map_or(cell, Cell::Time)).collect()
    }
}
