//! Visible fractions of lights, eclipses, and rendered pictures.

mod batches;
mod coverage;
mod eclipse;
mod extremes;
pub(crate) mod fallbacks;
mod fraction;
mod large_pictures;
mod limb_darkening;
mod pictures;
mod rows;
mod shadows;
mod spheroids;
mod surfaces;

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, ShadowRow, Spheroid};

/// The rows of a table of `tests/data`, as numbers (0 for words) and as text.
fn table(text: &str) -> impl Iterator<Item = (Vec<f64>, Vec<&str>)> {
    text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells.iter().map(|cell| cell.parse().unwrap_or(0.0)).collect(), cells)
    })
}

/// An observer, a light and one body, with the expected fraction and kind.
#[derive(Debug)]
struct Overlap {
    row: ShadowRow,
    fraction: f64,
    kind: &'static str,
    /// Angular radii of light and body, and the angle between their centres; NaN in the table of spheroids.
    angles: [f64; 3],
}

impl Overlap {
    /// Whether the edges of light and body touch, within this part of the sum of the angles and this part of the smaller radius. There
    /// the last digit of an input decides on the kind. Equal discs may be total or annular.
    fn touches(&self, few: f64, share: f64) -> bool {
        let [a, b, c] = self.angles;
        (c - (a + b)).abs().min((c - (a - b).abs()).abs()) <= few * (a + b + c) + share * a.min(b)
    }
}

/// The rows of `sphere_overlap.csv`.
fn sphere_overlaps() -> Vec<Overlap> {
    let overlap = |(v, cells): (Vec<f64>, Vec<&str>)| Overlap {
        row: ShadowRow::new(
            [v[2], v[3], v[4]],
            Ball::new([v[9], v[10], v[11]], v[12]),
            [Ball::new([v[5], v[6], v[7]], v[8]).into()],
        ),
        fraction: v[13],
        kind: kind_word(cells[14]),
        angles: [v[15], v[16], v[17]],
    };
    let rows: Vec<_> = table(include_str!("../data/sphere_overlap.csv")).map(overlap).collect();
    assert_eq!(rows.len(), 2010);
    rows
}

/// The rows of `ellipsoid_overlap.csv`.
fn spheroid_overlaps() -> Vec<Overlap> {
    let overlap = |(v, cells): (Vec<f64>, Vec<&str>)| Overlap {
        row: ShadowRow::new(
            [v[2], v[3], v[4]],
            Ball::new([v[5], v[6], v[7]], v[8]),
            [Spheroid::new([0.0; 3], v[9], v[10], DVec3::Z)],
        ),
        fraction: v[11],
        kind: kind_word(cells[12]),
        angles: [f64::NAN; 3],
    };
    let rows: Vec<_> = table(include_str!("../data/ellipsoid_overlap.csv")).map(overlap).collect();
    assert_eq!(rows.len(), 500);
    rows
}

/// The word of the kind of shadow that a reference table calls as the eclipse that an observer sees.
fn kind_word(eclipse: &str) -> &'static str {
    match eclipse {
        "none" | "behind" => "lit",
        "partial" => "penumbra",
        "annular" => "antumbra",
        "total" => "umbra",
        other => panic!("the kind {other}"),
    }
}
