//! Instants, in TT, UTC and UT1.

use std::fmt;

use crate::calendar::{date_from_days, days_from_date, days_of_month, tai_minus_utc};
use crate::delta_t::{DeltaT, TABLE_YEARS};
use crate::error::quoted;
use crate::error::{Error, Result};

/// Seconds per day.
pub(crate) const DAY: f64 = 86_400.0;

/// TT − TAI in seconds.
const TT_MINUS_TAI: f64 = 32.184;

/// The years of texts: those of the canons of eclipses. Precession (IAU 2006) is within 6″ of the long-term model of Vondrák and others (2011).
pub(crate) const YEARS: std::ops::RangeInclusive<i64> = -1999..=3000;

/// Days before and after J2000 within which instants have dates.
const LAST_DAY: f64 = 1e12;

/// An instant: seconds of TT since J2000, which is 2000-01-01 12:00 TT.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Time(f64);

/// How much of an instant a text gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// A date without a time of day.
    Day,
    /// A date and a time of day.
    Instant,
}

impl Time {
    /// Days from 1970-01-01, the epoch of POSIX, to 2000-01-01, from which [`clock`](Self::clock) counts.
    pub const UNIX_DAYS: i64 = 10_957;

    /// The instant that many seconds of TT after J2000.
    pub fn from_tt_seconds(seconds: f64) -> Self {
        Self(seconds)
    }

    /// Seconds of TT since J2000.
    pub fn tt_seconds(self) -> f64 {
        self.0
    }

    /// The Julian date in TT.
    pub fn tt_julian_date(self) -> f64 {
        2_451_545.0 + self.0 / DAY
    }

    /// The instant with this Julian date in TT.
    pub fn from_tt_julian_date(date: f64) -> Self {
        Self((date - 2_451_545.0) * DAY)
    }

    /// The instant `seconds` later; earlier if negative.
    #[must_use]
    pub fn plus(self, seconds: f64) -> Self {
        Self(self.0 + seconds)
    }

    /// Seconds from `earlier` to this instant.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        self.0 - earlier.0
    }

    /// Seconds of TDB since J2000 (USNO Circular 179, equation 2.6; accurate to 10 µs).
    pub fn tdb_seconds(self) -> f64 {
        let t = self.0 / (36_525.0 * DAY);
        self.0
            + 0.001_657 * (628.3076 * t + 6.2401).sin()
            + 0.000_022 * (575.3385 * t + 4.2970).sin()
            + 0.000_014 * (1256.6152 * t + 6.1969).sin()
            + 0.000_005 * (606.9777 * t + 4.0212).sin()
            + 0.000_005 * (52.9691 * t + 0.4444).sin()
            + 0.000_002 * (21.3299 * t + 5.5431).sin()
            + 0.000_010 * t * (628.3076 * t + 4.2490).sin()
    }

    /// The instant with these seconds of TDB since J2000: the inverse of [`tdb_seconds`](Self::tdb_seconds), to a nanosecond.
    pub fn from_tdb_seconds(seconds: f64) -> Self {
        // The difference of the scales, at most 2 ms, changes by less than a nanosecond in this time.
        let near = Self(seconds);
        near.plus(near.tt_seconds() - near.tdb_seconds())
    }

    /// Julian centuries of TT since J2000.
    pub(crate) fn centuries(self) -> f64 {
        self.0 / (36_525.0 * DAY)
    }

    /// The Julian year, such as 2024.27.
    pub fn year(self) -> f64 {
        2000.0 + (self.0 / DAY + 0.5) / 365.25
    }

    /// The instant of a day, counted from 2000-01-01, and a second of that day, in UTC (in UT1 before 1972): the inverse of
    /// [`clock`](Self::clock). The second may be 60 at the end of a day with a leap second.
    pub fn from_clock(day: i64, second_of_day: f64, delta_t: DeltaT) -> Self {
        let clock = (day as f64 - 0.5) * DAY + second_of_day;
        match tai_minus_utc(day) {
            Some(leap) => Self(clock + leap as f64 + TT_MINUS_TAI),
            None => Self(clock + delta_t.seconds_at(Self(clock + delta_t.seconds_at(Self(clock))))),
        }
    }

    /// The day, counted from 2000-01-01, and the seconds of that day, in UTC (in UT1 before 1972).
    pub fn clock(self, delta_t: DeltaT) -> (i64, f64) {
        // A rounding error before midnight is midnight.
        let rounding = f64::max(2e-6, 2.0 * f64::EPSILON * self.0.abs());
        let tai = self.0 - TT_MINUS_TAI + 0.5 * DAY;
        // The day in TAI, or the one before. Sums of days must not overflow, whatever the instant is.
        let day = (tai / DAY).floor().clamp(-LAST_DAY, LAST_DAY) as i64;
        for day in [day, day - 1] {
            if let Some(leap) = tai_minus_utc(day) {
                let second = tai - leap as f64 - day as f64 * DAY;
                if second >= -rounding {
                    return (day, second.max(0.0));
                }
            }
        }
        let ut1 = self.0 - delta_t.seconds_at(self) + 0.5 * DAY;
        let day = ((ut1 + rounding) / DAY).floor().clamp(-LAST_DAY, LAST_DAY);
        (day as i64, (ut1 - day * DAY).max(0.0))
    }

    /// Parses a date (`2024-04-08`) or an instant (`2024-04-08T18:17:20.5Z`; also with a blank instead of `T`, and without seconds) in UTC,
    /// which is UT1 before 1972. Instead of `Z`, an instant may have an offset from UTC (`-05:00`, `+0530`, `+02` or `-00:14:44`), `UTC` or
    /// nothing. A date alone is its first instant.
    ///
    /// Dates are of the Gregorian calendar, also before 1582 (ISO 8601). The year 0 is 1 BC, and −584, written `-0584`, is 585 BC.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the text is neither, if there is no such date or time, or if it is not in the years −1999 to 3000.
    pub fn parse(text: &str, delta_t: DeltaT) -> Result<(Self, Precision)> {
        let shown = quoted(text);
        let fault = |why: &str| Error::InvalidArgument(format!("'{shown}' is not a date or an instant: {why}"));
        let expected = "expected YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ (UTC), or an offset such as -05:00 instead of Z";
        let (date, clock) = match text.split_once(['T', 't', ' ']) {
            Some((date, clock)) => (date, Some(clock)),
            None => (text, None),
        };
        let whole = |part: &str, digits: usize| {
            let valid = part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
            if valid { part.parse::<i64>().ok() } else { None }
        };
        let (sign, date) = date.strip_prefix('-').map_or((1, date), |date| (-1, date));
        let parts: Vec<&str> = date.split('-').collect();
        let [year, month, day] = parts[..] else { return Err(fault(expected)) };
        let (Some(year), Some(month), Some(day)) = (whole(year, 4), whole(month, 2), whole(day, 2)) else {
            return Err(fault(expected));
        };
        let year = sign * year;
        if !(1..=12).contains(&month) {
            return Err(fault(&format!("there is no month {month}")));
        }
        let days = days_of_month(year, month);
        if !(1..=days).contains(&day) {
            return Err(fault(&format!("{}-{month:02} has {days} days", year_text(year))));
        }
        let day = days_from_date(year, month, day);
        let (clock, zone) = clock.map_or((None, ""), |clock| {
            let (clock, zone) =
                clock.split_at(clock.find(|c: char| !matches!(c, '0'..='9' | ':' | '.')).unwrap_or(clock.len()));
            (Some(clock), zone.trim_start())
        });
        // The suffix of results before 1972.
        let zone = zone.strip_prefix("UT1").filter(|_| tai_minus_utc(day).is_none()).unwrap_or(zone);
        // Seconds.
        let offset = match (zone, zone.split_at_checked(1)) {
            ("" | "Z" | "z" | "UTC", _) => Some(0),
            (_, Some((sign @ ("+" | "-"), offset))) => {
                let parts: Vec<&str> = match offset.split_at_checked(2) {
                    Some((hours, minutes)) if minutes.len() == 2 => vec![hours, minutes],
                    _ => offset.split(':').collect(),
                };
                let parts: Option<Vec<i64>> = parts.into_iter().map(|part| whole(part, 2)).collect();
                let parts = parts.filter(|p| p.len() <= 3 && p[0] < 24 && p[1..].iter().all(|part| *part < 60));
                let size =
                    parts.map(|parts| parts.iter().zip([3600, 60, 1]).map(|(part, unit)| part * unit).sum::<i64>());
                size.map(|size| if sign == "-" { -size } else { size })
            }
            _ => None,
        };
        let Some(offset) = offset else { return Err(fault(expected)) };
        let in_range = |day: i64| match YEARS.contains(&date_from_days(day).0) {
            true => Ok(()),
            false => {
                let (first, last) = (YEARS.start(), YEARS.end());
                Err(Error::InvalidArgument(format!("{shown} is outside the years {first} to {last}")))
            }
        };
        let Some(clock) = clock else {
            in_range(day)?;
            return Ok((Self::from_clock(day, 0.0, delta_t), Precision::Day));
        };
        let parts: Vec<&str> = clock.split(':').collect();
        let (hour, minute, second) = match parts[..] {
            [hour, minute] => (hour, minute, "00"),
            [hour, minute, second] => (hour, minute, second),
            _ => return Err(fault(expected)),
        };
        let (Some(hour), Some(minute)) = (whole(hour, 2), whole(minute, 2)) else { return Err(fault(expected)) };
        let plain = second.bytes().all(|b| b.is_ascii_digit() || b == b'.') && second.bytes().take(2).count() == 2;
        let Some(second) = second.parse::<f64>().ok().filter(|_| plain) else { return Err(fault(expected)) };
        // The minute of UTC, from the beginning of the day of the text.
        let minutes = 60 * hour + minute - offset.div_euclid(60);
        let day = day + minutes.div_euclid(1440);
        let minutes_of_day = minutes.rem_euclid(1440);
        in_range(day)?;
        let leap = minutes_of_day == 1439 && tai_minus_utc(day + 1) > tai_minus_utc(day);
        let most = if leap && tai_minus_utc(day).is_some() { 61.0 } else { 60.0 };
        if hour > 23 || minute > 59 || second >= most {
            return Err(fault("there is no such time of day"));
        }
        let seconds = (60 * minutes_of_day - offset.rem_euclid(60)) as f64 + second;
        Ok((Self::from_clock(day, seconds, delta_t), Precision::Instant))
    }

    /// The beginning of the UTC day (UT1 before 1972) of this instant, and that of the next day.
    pub fn day(self, delta_t: DeltaT) -> (Self, Self) {
        let (day, _) = self.clock(delta_t);
        (Self::from_clock(day, 0.0, delta_t), Self::from_clock(day + 1, 0.0, delta_t))
    }

    /// The beginning of a year.
    pub fn of_year(year: i32, delta_t: DeltaT) -> Self {
        Self::from_clock(days_from_date(i64::from(year), 1, 1), 0.0, delta_t)
    }

    /// The instant as text, with `decimals` decimals of a second: `2024-04-08T18:17:20.2Z`. Before 1972 the suffix is ` UT1` instead of `Z`.
    pub fn text(self, decimals: usize, delta_t: DeltaT) -> TimeText {
        TimeText { time: self, decimals, delta_t, date: true, offset_s: None }
    }

    /// The time of day as text: `18:17:20.2`.
    pub fn clock_text(self, decimals: usize, delta_t: DeltaT) -> TimeText {
        TimeText { time: self, decimals, delta_t, date: false, offset_s: None }
    }

    /// Name of the time scale of texts: `UTC`, or `UT1` before 1972.
    pub fn scale(self, delta_t: DeltaT) -> &'static str {
        if tai_minus_utc(self.clock(delta_t).0).is_some() { "UTC" } else { "UT1" }
    }
}

impl DeltaT {
    /// ΔT in seconds.
    ///
    /// Beyond both ends of the table, ΔT is extrapolated: it changes as the integral of the length of day by Stephenson, Morrison and Hohenkerk
    /// (2016), 1.78 t − 4.0 sin(2π t / 15) ms, with t in centuries from 1825.
    pub fn seconds_at(self, time: Time) -> f64 {
        self.seconds_in(time.year())
    }

    /// Whether the value at `time` is an extrapolation: beyond −720 to 2027.
    pub fn is_extrapolated(self, time: Time) -> bool {
        self == Self::Table && !(TABLE_YEARS[0]..=TABLE_YEARS[1]).contains(&time.year())
    }

    /// The standard error of [`seconds_at`](Self::seconds_at) in seconds. `None` for a value of the caller.
    ///
    /// Until 1200, it is 0.8 ((year − 1820) / 100)² (Morrison and Stephenson 2004). It is 20 s from 1300 to 1600, 5 s in 1700 and 1 s in 1800
    /// (Stephenson and Houlden 1986). It is 1 s in 1900 and 0.4 s from 1915 to 1972, the differences between measured values and the splines. It
    /// is 0.01 s from 1973 on. Between these years it is linear. N years after the last measured value, of 2026, it is 0.25 N s, and from 24
    /// years on 0.36525 N √(0.058 N / 3) s, because the length of day changes at random (Huber 2006).
    pub fn error_s(self, time: Time) -> Option<f64> {
        (self == Self::Table).then(|| Self::error_in(time.year()))
    }
}

/// The text of an instant: see [`Time::text`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeText {
    time: Time,
    decimals: usize,
    delta_t: DeltaT,
    date: bool,
    /// The offset of a time zone; `None` for UTC.
    offset_s: Option<i32>,
}

impl TimeText {
    /// The instant.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The same in a time zone that is so many seconds ahead of UTC (of UT1 before 1972): `2024-04-08T13:17:20.2-05:00`, before 1972 with
    /// ` UT1` before the offset. An offset of a part of a minute has seconds.
    #[must_use]
    pub fn with_offset(self, seconds: i32) -> Self {
        Self { offset_s: Some(seconds), ..self }
    }
}

impl fmt::Display for TimeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !(-LAST_DAY * DAY..LAST_DAY * DAY).contains(&self.time.0) {
            return write!(f, "{:e} s from J2000", self.time.0);
        }
        let decimals = self.decimals.min(6);
        let step = 10_f64.powi(-(decimals as i32));
        // Rounded before it is split, so that no second is 60.0 without a leap second.
        let (day, second) = self.time.clock(self.delta_t);
        let rounded = (second / step).round() * step;
        let length = match (tai_minus_utc(day), tai_minus_utc(day + 1)) {
            (Some(today), Some(next)) => DAY + (next - today) as f64,
            _ => DAY,
        };
        let (day, second) = if rounded > length - 0.5 * step { (day + 1, 0.0) } else { (day, rounded) };
        let minutes = ((second + 0.5 * step).min(DAY - 1.0) / 60.0).floor();
        let rest = (second - 60.0 * minutes).max(0.0);
        let width = if decimals > 0 { decimals + 3 } else { 2 };
        let scale = if tai_minus_utc(day).is_some() { "" } else { " UT1" };
        // A leap second is the last of a minute in every time zone; offsets have had no seconds since it exists.
        let offset = i64::from(self.offset_s.unwrap_or(0));
        let carry = offset.rem_euclid(60) as f64 + rest;
        let (carried, rest) = if offset % 60 != 0 { ((carry / 60.0).floor(), carry % 60.0) } else { (0.0, rest) };
        let minutes = minutes as i64 + offset.div_euclid(60) + carried as i64;
        let (day, minutes) = (day + minutes.div_euclid(1440), minutes.rem_euclid(1440));
        let (hour, minute) = (minutes / 60, minutes % 60);
        if !self.date {
            return write!(f, "{hour:02}:{minute:02}:{rest:0width$.decimals$}");
        }
        let (year, month, date) = date_from_days(day);
        write!(f, "{}-{month:02}-{date:02}T{hour:02}:{minute:02}:{rest:0width$.decimals$}{scale}", year_text(year))?;
        let Some(offset) = self.offset_s else { return f.write_str(if scale.is_empty() { "Z" } else { "" }) };
        let (sign, size) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs());
        write!(f, "{sign}{:02}:{:02}", size / 3600, size / 60 % 60)?;
        if size % 60 == 0 { Ok(()) } else { write!(f, ":{:02}", size % 60) }
    }
}

/// A year in texts: `2024`, `0999` or `-0584`.
fn year_text(year: i64) -> String {
    format!("{}{:04}", if year < 0 { "-" } else { "" }, year.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Time, Precision)> {
        Time::parse(text, DeltaT::Table)
    }

    #[test]
    fn instants_are_read_and_written() {
        for text in
            ["2024-04-08T18:17:20.2Z", "1972-01-01T00:00:00.0Z", "2016-12-31T23:59:60.5Z", "2050-12-31T23:59:59.9Z"]
        {
            let (time, precision) = parse(text).unwrap();
            assert_eq!((time.text(1, DeltaT::Table).to_string(), precision), (text.into(), Precision::Instant));
        }
        let (old, _) = parse("1919-05-29T13:08:34Z").unwrap();
        assert_eq!(old.text(0, DeltaT::Table).to_string(), "1919-05-29T13:08:34 UT1");
        let (time, _) = parse("2024-04-08 18:17").unwrap();
        assert!((time.tt_julian_date() - (2_460_409.0 + 0.262_606_3)).abs() < 1e-5, "{}", time.tt_julian_date());
        assert_eq!(parse("2024-04-08").unwrap().1, Precision::Day);
        let late = parse("2024-04-08T23:59:59.96").unwrap().0;
        assert_eq!(late.text(1, DeltaT::Table).to_string(), "2024-04-09T00:00:00.0Z");
        assert_eq!(late.clock_text(2, DeltaT::Table).to_string(), "23:59:59.96");
        // In time zones: over midnight, a leap second, and the local mean time of Madrid.
        for (text, offset, shown) in [
            ("2024-04-08T18:17:20.2Z", -18_000, "2024-04-08T13:17:20.2-05:00"),
            ("2024-04-08T18:45:00.0Z", 20_700, "2024-04-09T00:30:00.0+05:45"),
            ("2024-03-01T01:00:00.0Z", -34_200, "2024-02-29T15:30:00.0-09:30"),
            ("2016-12-31T23:59:60.5Z", 3600, "2017-01-01T00:59:60.5+01:00"),
            ("1900-05-28T14:00:00.0Z", -884, "1900-05-28T13:45:16.0 UT1-00:14:44"),
            ("1900-05-28T14:14:30.4Z", 0, "1900-05-28T14:14:30.4 UT1+00:00"),
        ] {
            let time = parse(text).unwrap().0;
            assert_eq!(time.text(1, DeltaT::Table).with_offset(offset).to_string(), shown);
            assert_eq!(time.clock_text(1, DeltaT::Table).with_offset(offset).to_string(), shown[11..21]);
            assert!((parse(shown).unwrap().0.seconds_since(time)).abs() < 1e-4, "{shown}");
        }
        // Offsets (RFC 3339, section 5.6; ISO 8601; `str` of Python's datetime), and the suffix of results before 1972.
        for (text, utc) in [
            ("2024-04-08T13:17:20-05:00", "2024-04-08T18:17:20Z"),
            ("2024-04-08T13:17:20-0500", "2024-04-08T18:17:20Z"),
            ("2024-04-08 23:47:20.0+05:30", "2024-04-08T18:17:20Z"),
            ("2024-04-08t20:17:20+02", "2024-04-08T18:17:20Z"),
            ("2024-04-08T18:17:20+00:00", "2024-04-08T18:17:20Z"),
            ("2024-04-08T18:17:20-00:00", "2024-04-08T18:17:20Z"),
            ("2024-04-08 18:17:20 UTC", "2024-04-08T18:17:20Z"),
            ("2024-01-01T01:00+02:00", "2023-12-31T23:00:00Z"),
            ("2023-12-31T20:00-04:30", "2024-01-01T00:30:00Z"),
            ("2016-12-31T18:59:60-05:00", "2016-12-31T23:59:60Z"),
            ("1899-12-31T23:00-05:00", "1900-01-01T04:00:00 UT1"),
            ("-0584-05-22T15:00", "-0584-05-22T15:00:00 UT1"),
            ("-1999-01-01T00:00", "-1999-01-01T00:00:00 UT1"),
            ("0000-02-29T23:30-01:00", "0000-03-01T00:30:00 UT1"),
            ("3000-12-31T23:59:59", "3000-12-31T23:59:59Z"),
            ("1919-05-29T13:08:34 UT1", "1919-05-29T13:08:34 UT1"),
        ] {
            let (time, precision) = parse(text).unwrap();
            assert_eq!(
                (time.text(0, DeltaT::Table).to_string(), precision),
                (utc.into(), Precision::Instant),
                "{text}"
            );
        }
        let leap = parse("2016-12-31T23:59:60").unwrap().0;
        assert!((parse("2017-01-01T00:00:00").unwrap().0.seconds_since(leap) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn instants_without_a_date_are_given_in_seconds() {
        for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
            let time = Time::from_tt_seconds(seconds);
            assert_eq!(time.text(0, DeltaT::Table).to_string(), format!("{seconds:e} s from J2000"));
            let (start, end) = time.day(DeltaT::Table);
            assert!(seconds.is_nan() || end > start, "{start:?} {end:?}");
            assert!(["UTC", "UT1"].contains(&time.scale(DeltaT::Table)));
        }
    }

    #[test]
    fn every_day_begins_at_midnight() {
        let old = (days_from_date(-1999, 1, 1)..days_from_date(1900, 1, 1)).step_by(97);
        for day in old.chain(days_from_date(1900, 1, 1)..days_from_date(2051, 1, 1)) {
            let time = Time::from_clock(day, 0.0, DeltaT::Table);
            let (found, second) = time.clock(DeltaT::Table);
            assert!(found == day && second < 1e-4, "{day}: {found} {second}");
            assert_eq!(time.day(DeltaT::Table), (time, Time::from_clock(day + 1, 0.0, DeltaT::Table)));
        }
    }

    #[test]
    fn invalid_dates_are_refused() {
        for (text, why) in [
            ("2024-13-01", "no month 13"),
            ("2023-02-29", "has 28 days"),
            ("2024-4-8", "expected YYYY-MM-DD"),
            ("yesterday", "expected YYYY-MM-DD"),
            ("", "expected YYYY-MM-DD"),
            ("2024-04-08T25:00", "no such time"),
            ("2024-04-08T23:59:60", "no such time"),
            ("2024-04-08T12:00:-1", "expected YYYY-MM-DD"),
            ("2024-04-08T12", "expected YYYY-MM-DD"),
            ("2024-04-08T12:00:NaN", "expected YYYY-MM-DD"),
            ("2024-04-08T12:00+24:00", "an offset such as -05:00"),
            ("2024-04-08T12:00+01:60", "an offset such as -05:00"),
            ("2024-04-08T12:00+5:30", "an offset such as -05:00"),
            ("2024-04-08T12:00-", "an offset such as -05:00"),
            ("2024-04-08T12:00 EST", "an offset such as -05:00"),
            ("2024-04-08T12:00 UT1", "an offset such as -05:00"),
            ("2024-04-08-05:00", "expected YYYY-MM-DD"),
            ("2016-12-31T23:59:60-05:00", "no such time"),
            ("3000-12-31T23:00-05:00", "-1999 to 3000"),
            ("-1999-01-01T00:30+01:00", "-1999 to 3000"),
            ("-2000-12-31", "-1999 to 3000"),
            ("3001-01-01", "-1999 to 3000"),
            ("-584-05-22", "expected YYYY-MM-DD"),
            ("-0584-02-30", "-0584-02 has 29 days"),
            ("--0584-02-20", "expected YYYY-MM-DD"),
            ("12024-04-08", "expected YYYY-MM-DD"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
