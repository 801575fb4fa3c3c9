//! ΔT = TT − UT1: a table, an extrapolation, or a value from the caller.

use std::sync::OnceLock;

/// Where ΔT = TT − UT1 comes from. A second of ΔT moves a shadow by up to 0.46 km towards the west.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DeltaT {
    /// The built-in table: to 1973 from the splines of Morrison, Stephenson, Hohenkerk and Zawilski (2020), then from the IERS (finals2000A).
    /// After its last value (2027.0), the extrapolation of [`DeltaT::seconds_at`].
    #[default]
    Table,
    /// This many seconds at all times.
    Seconds(f64),
}

/// The last year of the table.
pub(crate) const LAST_YEAR: f64 = 2027.0;

/// Years and values of the table.
fn table() -> &'static [(f64, f64)] {
    static TABLE: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = include_str!("data/delta_t.csv").lines().filter_map(|line| line.split_once(','));
        rows.filter_map(|(year, value)| Some((year.parse().ok()?, value.parse().ok()?))).collect()
    })
}

impl DeltaT {
    /// ΔT in seconds in a Julian year: see [`DeltaT::seconds_at`].
    pub(crate) fn seconds_in(self, year: f64) -> f64 {
        let table = match self {
            Self::Seconds(seconds) => return seconds,
            Self::Table => table(),
        };
        let after = table.partition_point(|row| row.0 <= year);
        match (table.get(after.wrapping_sub(1)), table.get(after)) {
            (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (year - a.0) / (b.0 - a.0),
            (Some(last), None) => {
                let parabola = |year: f64| 32.5 * ((year - 1825.0) / 100.0).powi(2);
                last.1 + (parabola(year) - parabola(last.0)) * ((year - last.0) / 100.0).min(1.0)
            }
            (None, first) => first.map_or(0.0, |row| row.1),
        }
    }
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
        assert!((at(LAST_YEAR + 0.01) - at(LAST_YEAR - 0.01)).abs() < 0.01);
        assert!((69.0..85.0).contains(&at(2050.0)), "{}", at(2050.0));
        assert_eq!(table().last().map(|row| row.0), Some(LAST_YEAR));
        assert_eq!(DeltaT::Seconds(12.5).seconds_in(2000.0), 12.5);
    }
}
