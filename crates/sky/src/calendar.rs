//! The Gregorian calendar, and leap seconds.

/// Days from 2000-01-01 to a day of the Gregorian calendar. Month 1 to 12; the day may be any number.
pub(crate) fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that a leap day is the last day of its year; 400 years have 146,097 days.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 730_425
}

/// Year, month and day of the day that many days after 2000-01-01, at most 10¹⁵.
pub fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 730_425;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (year + 400 * era, month, day)
}

/// Days of a month.
pub(crate) fn days_of_month(year: i64, month: i64) -> i64 {
    let next = if month == 12 { days_from_date(year + 1, 1, 1) } else { days_from_date(year, month + 1, 1) };
    next - days_from_date(year, month, 1)
}

/// UTC days (year, month; the first of the month) from which TAI − UTC has the value 10 + index in seconds (IERS Bulletin C).
const LEAP_SECONDS: [(i64, i64); 28] = [
    (1972, 1),
    (1972, 7),
    (1973, 1),
    (1974, 1),
    (1975, 1),
    (1976, 1),
    (1977, 1),
    (1978, 1),
    (1979, 1),
    (1980, 1),
    (1981, 7),
    (1982, 7),
    (1983, 7),
    (1985, 7),
    (1988, 1),
    (1990, 1),
    (1991, 1),
    (1992, 7),
    (1993, 7),
    (1994, 7),
    (1996, 1),
    (1997, 7),
    (1999, 1),
    (2006, 1),
    (2009, 1),
    (2012, 7),
    (2015, 7),
    (2017, 1),
];

/// TAI − UTC in seconds on a day (days since 2000-01-01); `None` before 1972, when seconds of UTC differed from those of TAI. After the last
/// leap second, the value stays.
pub(crate) fn tai_minus_utc(day: i64) -> Option<i64> {
    let passed = LEAP_SECONDS.iter().filter(|(year, month)| days_from_date(*year, *month, 1) <= day).count();
    (passed > 0).then(|| 9 + passed as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_one_date() {
        assert_eq!(days_from_date(2000, 1, 1), 0);
        assert_eq!(days_from_date(2024, 4, 8), 8864);
        let mut last = (1895, 12, 31);
        for days in days_from_date(1896, 1, 1)..days_from_date(2056, 1, 1) {
            let (year, month, day) = date_from_days(days);
            assert_eq!(days_from_date(year, month, day), days);
            let next = if last.2 < days_of_month(last.0, last.1) {
                (last.0, last.1, last.2 + 1)
            } else if last.1 < 12 {
                (last.0, last.1 + 1, 1)
            } else {
                (last.0 + 1, 1, 1)
            };
            assert_eq!((year, month, day), next);
            last = next;
        }
    }

    #[test]
    fn leap_seconds_begin_on_their_days() {
        assert_eq!(tai_minus_utc(days_from_date(1971, 12, 31)), None);
        for (year, month, day, seconds) in [
            (1972, 1, 1, 10),
            (1972, 6, 30, 10),
            (1972, 7, 1, 11),
            (1999, 8, 11, 32),
            (2016, 12, 31, 36),
            (2050, 1, 1, 37),
        ] {
            assert_eq!(tai_minus_utc(days_from_date(year, month, day)), Some(seconds), "{year}-{month}-{day}");
        }
    }
}
