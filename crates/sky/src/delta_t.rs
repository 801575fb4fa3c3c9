//! ΔT = TT − UT1: a table, an extrapolation, or a value from the caller.

use std::sync::OnceLock;

/// Where ΔT = TT − UT1 comes from. A second of ΔT moves a shadow by up to 0.46 km towards the west.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DeltaT {
    /// The built-in table: from −720 to 1973 from the splines of Morrison, Stephenson, Hohenkerk and Zawilski (2020), then from the IERS
    /// (finals2000A) to 2027. Beyond its ends, the extrapolation of [`DeltaT::seconds_at`].
    #[default]
    Table,
    /// This many seconds at all times.
    Seconds(f64),
}

/// The first and the last year of the table.
pub(crate) const TABLE_YEARS: [f64; 2] = [-720.0, 2027.0];

/// The year of the last measured value of the table. The values after it are predictions of the IERS.
const MEASURED_TO: f64 = 2026.1;

/// Years and values of the table.
fn table() -> &'static [(f64, f64)] {
    static TABLE: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = include_str!("data/delta_t.csv").lines().filter_map(|line| line.split_once(','));
        rows.filter_map(|(year, value)| Some((year.parse().ok()?, value.parse().ok()?))).collect()
    })
}

impl DeltaT {
    /// Seconds that users may give: the built-in values from −1999 to 3000 are among them, with their errors.
    pub const LIMITS: std::ops::RangeInclusive<f64> = -10_000.0..=100_000.0;

    /// ΔT in seconds in a Julian year: see [`DeltaT::seconds_at`].
    pub(crate) fn seconds_in(self, year: f64) -> f64 {
        let table = match self {
            Self::Seconds(seconds) => return seconds,
            Self::Table => table(),
        };
        let after = table.partition_point(|row| row.0 <= year);
        match (table.get(after.wrapping_sub(1)), table.get(after)) {
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (year - a.0) / (b.0 - a.0),
            (Some(end), None) | (None, Some(end)) => end.1 + long_term(year) - long_term(end.0),
            (None, None) => f64::NAN,
        }
    }

    /// The standard error of the table and its extrapolation in a Julian year: see [`DeltaT::error_s`].
    pub(crate) fn error_in(year: f64) -> f64 {
        const KNOWN: [(f64, f64); 9] = [
            (1200.0, 31.0),
            (1300.0, 20.0),
            (1600.0, 20.0),
            (1700.0, 5.0),
            (1800.0, 1.0),
            (1900.0, 1.0),
            // The splines are smoother than the rotation of the Earth.
            (1915.0, 0.4),
            (1972.0, 0.4),
            (1973.0, 0.01),
        ];
        let after = KNOWN.partition_point(|row| row.0 <= year);
        let beyond = (year - MEASURED_TO).max(0.0);
        match (KNOWN.get(after.wrapping_sub(1)), KNOWN.get(after)) {
            (None, _) => 0.8 * ((year - 1820.0) / 100.0).powi(2),
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (year - a.0) / (b.0 - a.0),
            (Some(last), None) => last.1.max(beyond * 0.25_f64.max(0.365_25 * (0.058 * beyond / 3.0).sqrt())),
        }
    }
}

/// ΔT in a Julian year, but for a constant: the integral of the length of day of [`DeltaT::seconds_at`], which is in ms.
fn long_term(year: f64) -> f64 {
    let (t, turn) = ((year - 1825.0) / 100.0, std::f64::consts::TAU / 15.0);
    36.525 * (0.5 * 1.78 * t * t + 4.0 / turn * (turn * t).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_known_values_and_continues_smoothly() {
        let at = |year: f64| DeltaT::Table.seconds_in(year);
        // Values of the IERS, to 0.05 s.
        for (year, value) in
            [(1973.0, 43.37), (1980.0, 50.54), (1990.0, 56.86), (2000.0, 63.83), (2010.0, 66.07), (2024.0, 69.18)]
        {
            assert!((at(year) - value).abs() < 0.05, "{year}: {} and {value}", at(year));
        }
        let [first, last] = TABLE_YEARS;
        assert!((at(last + 0.01) - at(last - 0.01)).abs() < 0.01);
        assert!((at(first + 0.01) - at(first - 0.01)).abs() < 0.6);
        assert_eq!((table()[0].0, table().last().map(|row| row.0)), (first, Some(last)));
        // Morrison and others (2020), table S15, to 0.5 s; the curve of the long-term length of day, as its authors continue it, to 5 s.
        for (year, value, most) in [
            (-720.0, 20_371.8, 0.1),
            (-100.0, 11_557.7, 0.5),
            (1000.0, 1650.4, 0.5),
            (1600.0, 109.1, 0.5),
            (1800.0, 18.4, 0.1),
            (2050.0, 75.0, 5.0),
            (2500.0, 855.0, 5.0),
            (-2000.0, 46_000.0, 2000.0),
        ] {
            assert!((at(year) - value).abs() < most, "{year}: {} and {value}", at(year));
        }
        assert_eq!(DeltaT::Seconds(12.5).seconds_in(2000.0), 12.5);
        // Errors are continuous, and those of the sources.
        for year in -1999..3000 {
            let [here, next] = [year, year + 1].map(|year| DeltaT::error_in(f64::from(year)));
            assert!((here - next).abs() < 3.0, "{year}: {here} {next}");
        }
        for (year, error) in [(-500.0, 430.6), (1000.0, 53.8), (1450.0, 20.0), (1850.0, 1.0), (2000.0, 0.01)] {
            assert!((DeltaT::error_in(year) - error).abs() < 0.1, "{year}: {}", DeltaT::error_in(year));
        }
        assert!((5.0..7.0).contains(&DeltaT::error_in(2050.0)), "{}", DeltaT::error_in(2050.0));
        // Measured values: The Astronomical Almanac, and from 1962 on the IERS; that of 2026 is later than the table.
        for (year, value) in [
            (1900.0, -2.72),
            (1907.0, 6.14),
            (1920.0, 21.16),
            (1932.0, 23.87),
            (1945.0, 26.77),
            (1955.0, 31.07),
            (1965.0, 35.742),
            (1972.0, 42.229),
            (1990.0, 56.86),
            (2026.75, 69.207),
        ] {
            let (off, error) = (at(year) - value, DeltaT::error_in(year));
            assert!(off.abs() < 2.0 * error && error <= 1.0, "{year}: {off} ± {error}");
        }
    }
}
