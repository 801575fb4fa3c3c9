//! Decimal numbers, dates and times of Parquet as text: `12.34`, `2024-04-08`, `18:17:20`, `2024-04-08T18:17:20Z`.

use umbracast_sky::date_from_days;

/// Days from 1970-01-01 to 2000-01-01.
const DAYS_TO_2000: i64 = 10_957;
const SECONDS_PER_DAY: i64 = 86_400;

/// A decimal number: an integer in two's complement, most significant byte first, divided by a power of ten.
pub(crate) fn decimal_text(integer: &[u8], scale: usize) -> String {
    let is_negative = integer.first().is_some_and(|byte| *byte >= 0x80);
    let mut magnitude = integer.to_vec();
    if is_negative {
        let mut carry = true;
        for byte in magnitude.iter_mut().rev() {
            (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
        }
    }
    // Digits, the last one first.
    let mut digits = Vec::new();
    while digits.len() <= scale || magnitude.iter().any(|byte| *byte != 0) {
        let mut rest = 0;
        for byte in &mut magnitude {
            let number = 256 * rest + u32::from(*byte);
            (*byte, rest) = ((number / 10) as u8, number % 10);
        }
        digits.push(b'0' + rest as u8);
    }
    let mut text = if is_negative { "-".to_owned() } else { String::new() };
    for (place, digit) in digits.iter().enumerate().rev() {
        text.push(char::from(*digit));
        if place == scale && scale > 0 {
            text.push('.');
        }
    }
    text
}

/// A date: days since 1970-01-01. Years before 0 and after 9999 have a sign, as in ISO 8601.
pub(crate) fn date_text(days: i64) -> String {
    let (year, month, day) = date_from_days(days - DAYS_TO_2000);
    let year = if (0..10_000).contains(&year) { format!("{year:04}") } else { format!("{year:+05}") };
    format!("{year}-{month:02}-{day:02}")
}

/// A time of day in seconds divided by `per_second`. `None` if it is not within a day.
pub(crate) fn time_text(time: i64, per_second: i64) -> Option<String> {
    let (seconds, part) = (time.div_euclid(per_second), time.rem_euclid(per_second));
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    // As many digits as are needed.
    let digits = per_second.ilog10() as usize;
    let part = if part == 0 { String::new() } else { format!(".{part:0digits$}") };
    (0..SECONDS_PER_DAY).contains(&seconds).then(|| text + part.trim_end_matches('0'))
}

/// An instant: seconds since 1970-01-01 divided by `per_second`. Local times have no `Z`.
pub(crate) fn timestamp_text(time: i64, per_second: i64, utc: bool) -> String {
    let day = per_second * SECONDS_PER_DAY;
    let clock = time_text(time.rem_euclid(day), per_second).unwrap_or_default();
    format!("{}T{clock}{}", date_text(time.div_euclid(day)), if utc { "Z" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_all_digits() {
        for (integer, scale, text) in [
            (1234_i128, 2, "12.34"),
            (-1234, 2, "-12.34"),
            (5, 3, "0.005"),
            (-5, 3, "-0.005"),
            (0, 2, "0.00"),
            (0, 0, "0"),
            (700, 0, "700"),
            (i128::MAX, 38, "1.70141183460469231731687303715884105727"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
        ] {
            assert_eq!(decimal_text(&integer.to_be_bytes(), scale), text);
        }
        assert_eq!(decimal_text(&[0xfb, 0x2e], 2), "-12.34");
        assert_eq!(decimal_text(&[], 1), "0.0");
    }

    #[test]
    fn dates_and_times_are_those_of_the_calendar() {
        for (days, text) in [
            (0, "1970-01-01"),
            (19_821, "2024-04-08"),
            (-1, "1969-12-31"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_897, "+10000-01-01"),
        ] {
            assert_eq!(date_text(days), text);
        }
        assert_eq!(time_text(65_840_000, 1000).unwrap(), "18:17:20");
        assert_eq!(time_text(1, 1_000_000_000).unwrap(), "00:00:00.000000001");
        assert_eq!(time_text(86_399_500, 1000).unwrap(), "23:59:59.5");
        assert_eq!((time_text(86_400_000, 1000), time_text(-1, 1000)), (None, None));
        assert_eq!(timestamp_text(1_712_600_240_000_000, 1_000_000, true), "2024-04-08T18:17:20Z");
        assert_eq!(timestamp_text(-1, 1_000_000_000, false), "1969-12-31T23:59:59.999999999");
        assert_eq!(timestamp_text(i64::MIN, 1000, false), "-292275055-05-16T16:47:04.192");
    }
}
