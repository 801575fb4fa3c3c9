//! Bodies whose positions the user supplies, as state vectors or in an SPK file, such as the moons of Jupiter.

use glam::DVec3;

use crate::bodies::SkyBody;
use crate::ephemeris::Ephemeris;
use crate::error::quoted;
use crate::error::{Error, Result};
use crate::time::DAY;

/// A body in addition to those of [`SkyBody`]: one of an SPK file, or state vectors relative to the centre of another body (not to a barycentre), in km
/// and in the axes of the ICRF, with a cubic interpolation between the rows.
///
/// With velocities, each interval has the cubic that agrees with both rows (Hermite); without them, it has the cubic through the four
/// nearest rows (Lagrange). The error grows with the fourth power of the spacing: for Io, 0.6 km with velocities every hour.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyVectors {
    name: String,
    origin: Origin,
    radius_km: f64,
    source: String,
    rows: Vec<VectorRow>,
    error_km: Option<f64>,
}

/// Where the positions of a body are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// In rows relative to this body.
    Rows(SkyBody),
    /// In the ephemeris, an SPK file, under this number of NAIF.
    Spk(i32),
}

/// One row of state vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorRow {
    /// Seconds of TDB since J2000.
    pub tdb_seconds: f64,
    /// Position in km.
    pub position: DVec3,
    /// Velocity in km/s, if it is known.
    pub velocity: Option<DVec3>,
}

/// Bodies that the built-in ephemeris does not have: the number of NAIF, and the mean radius in km (IAU Working Group on Cartographic
/// Coordinates 2015).
const KNOWN: [(&str, i32, f64); 19] = [
    ("io", 501, 1821.49),
    ("europa", 502, 1560.8),
    ("ganymede", 503, 2631.2),
    ("callisto", 504, 2410.3),
    ("mimas", 601, 198.2),
    ("enceladus", 602, 252.1),
    ("tethys", 603, 531.0),
    ("dione", 604, 561.4),
    ("rhea", 605, 763.5),
    ("titan", 606, 2575.0),
    ("iapetus", 608, 734.3),
    ("miranda", 705, 235.8),
    ("ariel", 701, 578.9),
    ("umbriel", 702, 584.7),
    ("titania", 703, 788.9),
    ("oberon", 704, 761.4),
    ("triton", 801, 1352.6),
    ("pluto", 999, 1188.3),
    ("charon", 901, 606.0),
];

/// The mean radius in km of a large moon or of Pluto, by its name or its number of NAIF.
pub fn known_radius(name: &str) -> Option<f64> {
    known(name).map(|(_, radius)| radius)
}

/// The number and the radius of one of [`KNOWN`].
fn known(name: &str) -> Option<(i32, f64)> {
    let is_named = |own: &str, number: i32| own.eq_ignore_ascii_case(name) || name.parse() == Ok(number);
    KNOWN.iter().find(|(own, number, _)| is_named(own, *number)).map(|&(_, number, radius)| (number, radius))
}

/// Rows around an instant that a Lagrange polynomial needs.
const LAGRANGE_ROWS: usize = 4;

impl BodyVectors {
    /// Vectors of the body `name` relative to `center`. `radius_km` may be omitted for large moons and for Pluto. `source` is where the
    /// vectors are from, for messages.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a name with characters other than letters, digits, blanks, `-` and `_`, for a radius that is missing
    /// or not positive, for a body of the ephemeris, and for fewer than two rows (four without velocities).
    /// [`BadRecord`](umbracast::Error::BadRecord) for a row whose numbers are not finite, whose time is not after that of the row before
    /// it, that has a velocity if the first row has none or the other way round, or whose position is inside the centre body.
    pub fn new(
        name: &str,
        center: SkyBody,
        radius_km: Option<f64>,
        source: &str,
        rows: Vec<VectorRow>,
    ) -> Result<Self> {
        let (capital, radius_km) = named(name, radius_km)?;
        let shown = quoted(name);
        let usage = |why: String| Err(Error::InvalidArgument(why));
        let has_velocities = rows.first().is_some_and(|row| row.velocity.is_some());
        let least = if has_velocities { 2 } else { LAGRANGE_ROWS };
        if rows.len() < least {
            let what = if has_velocities { "" } else { " without velocities" };
            return usage(format!("vectors: {shown} has {} rows: at least {least} are needed{what}", rows.len()));
        }
        for (index, row) in rows.iter().enumerate() {
            check_row(index, row, index.checked_sub(1).map(|before| &rows[before]), has_velocities, center)?;
        }
        let origin = Origin::Rows(center);
        let mut found = Self { name: capital, origin, radius_km, source: source.into(), rows, error_km: None };
        found.error_km = found.estimated_error();
        Ok(found)
    }

    /// A body of an SPK file: a large moon or Pluto by its name, any body by its number of NAIF, such as `401` or `-31`. `radius_km` may be
    /// omitted for large moons and for Pluto.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a name that is neither, for a body that the ephemeris does not have, for a body of [`SkyBody`], and for a
    /// radius that is missing or not positive.
    pub fn of_ephemeris(ephemeris: &Ephemeris, name: &str, radius_km: Option<f64>) -> Result<Self> {
        let number = known(name)
            .map(|(number, _)| number)
            .or_else(|| name.parse().ok())
            .filter(|&number| ephemeris.has_number(number));
        let Some(number) = number else {
            return Err(Error::InvalidArgument(format!(
                "{} has no positions of '{}': expected a planet, a large moon or a number of NAIF that the file has",
                ephemeris.name(),
                quoted(name)
            )));
        };
        let (name, radius_km) = named(name, radius_km)?;
        let (origin, source) = (Origin::Spk(number), ephemeris.name().into());
        Ok(Self { name, origin, radius_km, source, rows: Vec::new(), error_km: None })
    }

    /// The name, with a capital letter.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The body to which the vectors are relative. `None` for a body of an SPK file.
    pub fn center(&self) -> Option<SkyBody> {
        match self.origin {
            Origin::Rows(center) => Some(center),
            Origin::Spk(_) => None,
        }
    }

    /// Position relative to the barycentre of the solar system, in km, at seconds of TDB since J2000.
    pub(crate) fn barycentric(&self, ephemeris: &Ephemeris, tdb_seconds: f64) -> Result<DVec3> {
        match self.origin {
            Origin::Rows(center) => {
                let own = self.position(tdb_seconds).ok_or_else(|| self.outside(tdb_seconds))?;
                Ok(ephemeris.barycentric(center, tdb_seconds)?.position + own)
            }
            Origin::Spk(number) => Ok(ephemeris.barycentric_of_number(number, tdb_seconds)?.position),
        }
    }

    /// The radius in km.
    pub fn radius_km(&self) -> f64 {
        self.radius_km
    }

    /// Where the vectors are from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// An estimate of the largest error of the interpolation in km: a sixteenth of the largest deviation of a row from the cubic through
    /// its neighbours, because that cubic has twice the spacing. `None` if there are too few rows.
    pub fn error_km(&self) -> Option<f64> {
        self.error_km
    }

    /// Position relative to the centre, in km, at an instant of TDB. `None` outside the rows, and for a body of an SPK file.
    pub fn position(&self, tdb_seconds: f64) -> Option<DVec3> {
        let (first, last) = self.span()?;
        if !(first..=last).contains(&tdb_seconds) {
            return None;
        }
        // The interval that contains the instant.
        let next = self.rows.partition_point(|row| row.tdb_seconds <= tdb_seconds).clamp(1, self.rows.len() - 1);
        if self.rows[0].velocity.is_some() {
            return Some(hermite(&self.rows[next - 1], &self.rows[next], tdb_seconds));
        }
        let begin = next.saturating_sub(LAGRANGE_ROWS / 2).min(self.rows.len() - LAGRANGE_ROWS);
        let near = std::array::from_fn(|i| self.rows[begin + i]);
        Some(lagrange(&near, tdb_seconds))
    }

    /// The instants of the first and the last row, in seconds of TDB since J2000. `None` for a body of an SPK file.
    pub fn span(&self) -> Option<(f64, f64)> {
        Some((self.rows.first()?.tdb_seconds, self.rows.last()?.tdb_seconds))
    }

    /// The error for an instant outside the rows.
    pub(crate) fn outside(&self, tdb_seconds: f64) -> Error {
        let date = |seconds: f64| 2_451_545.0 + seconds / DAY;
        let (first, last) = self.span().unwrap_or_default();
        Error::InvalidArgument(format!(
            "{}: the vectors of {} are for the Julian dates {:.5} to {:.5} (TDB), and not for {:.5}, when the light left it",
            self.source,
            self.name,
            date(first),
            date(last),
            date(tdb_seconds)
        ))
    }

    fn estimated_error(&self) -> Option<f64> {
        let rows = &self.rows;
        let apart = |at: usize| {
            let row = &rows[at];
            let found = if row.velocity.is_some() {
                hermite(rows.get(at.checked_sub(1)?)?, rows.get(at + 1)?, row.tdb_seconds)
            } else {
                let near = [at.checked_sub(3)?, at - 1, at + 1, at + 3];
                if near[3] >= rows.len() {
                    return None;
                }
                lagrange(&near.map(|at| rows[at]), row.tdb_seconds)
            };
            Some((found - row.position).length() / 16.0)
        };
        (0..rows.len()).filter_map(apart).max_by(f64::total_cmp)
    }
}

/// Checks the name and the radius of a body, and returns them: the name with a capital letter.
fn named(name: &str, radius_km: Option<f64>) -> Result<(String, f64)> {
    let shown = quoted(name);
    let usage = |why: String| Err(Error::InvalidArgument(why));
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    if name.is_empty() || !name.chars().all(is_plain) {
        return usage(format!("vectors: '{shown}' is not a name: expected letters, digits, blanks, - and _"));
    }
    if SkyBody::from_name(name).is_ok() {
        return usage(format!("vectors: the positions of {shown} are known: give vectors of other bodies only"));
    }
    let radius_km = match radius_km.or(known_radius(name)) {
        Some(radius) if radius > 0.0 && radius < 1e9 => radius,
        Some(radius) => {
            return usage(format!("the radius of {shown} is {radius}: expected km above 0 and below 1e9"));
        }
        None => {
            return usage(format!("the radius of {shown} is not known: give it in km, as --radius {shown}=KM"));
        }
    };
    let mut capital = name.to_string();
    capital[..name.chars().next().map_or(0, char::len_utf8)].make_ascii_uppercase();
    Ok((capital, radius_km))
}

/// Checks a row after the row `before`.
fn check_row(
    index: usize,
    row: &VectorRow,
    before: Option<&VectorRow>,
    has_velocities: bool,
    center: SkyBody,
) -> Result<()> {
    let bad = |field, value: f64, why: String| {
        Err(umbracast::Error::record("vector", index as u64, field, value, why).into())
    };
    if !row.tdb_seconds.is_finite() {
        return bad("time", row.tdb_seconds, "expected a number".into());
    }
    if before.is_some_and(|before| before.tdb_seconds >= row.tdb_seconds) {
        return bad(
            "time",
            row.tdb_seconds,
            "expected a time (TDB seconds after J2000) after that of the row before it".into(),
        );
    }
    let fields = ["x", "y", "z", "vx", "vy", "vz"];
    let numbers = row.position.to_array().into_iter().chain(row.velocity.unwrap_or_default().to_array());
    for (field, value) in fields.into_iter().zip(numbers) {
        if value.is_nan() || value.abs() >= 1e12 {
            return bad(field, value, "expected a number of magnitude below 1e12".into());
        }
    }
    if row.velocity.is_some() != has_velocities {
        let why = "expected velocities in all rows or in none".into();
        return bad("vx", row.velocity.unwrap_or_default().x, why);
    }
    let (distance, polar) = (row.position.length(), center.radii_km().1);
    if distance < polar {
        let why = format!(
            "{distance} km from the centre of {} are inside it (its polar radius is {polar} km): expected positions in km",
            center.name()
        );
        return bad("x", row.position.x, why);
    }
    // Moons keep nearer: Jupiter holds them to 5 · 10⁷ km.
    if center != SkyBody::Sun && distance > 1e8 {
        let why = format!("{distance} km is no distance of a moon of {}: expected positions in km", center.name());
        return bad("x", row.position.x, why);
    }
    Ok(())
}

/// The cubic that agrees with position and velocity of two rows.
fn hermite(a: &VectorRow, b: &VectorRow, tdb_seconds: f64) -> DVec3 {
    let step = b.tdb_seconds - a.tdb_seconds;
    let s = (tdb_seconds - a.tdb_seconds) / step;
    let r = 1.0 - s;
    let slopes = (a.velocity.unwrap_or_default() * r - b.velocity.unwrap_or_default() * s) * (s * r * step);
    a.position * (r * r * (1.0 + 2.0 * s)) + b.position * (s * s * (1.0 + 2.0 * r)) + slopes
}

/// The cubic through four rows.
fn lagrange(rows: &[VectorRow; LAGRANGE_ROWS], tdb_seconds: f64) -> DVec3 {
    let weight = |row: &VectorRow| {
        let others = rows.iter().map(|other| other.tdb_seconds).filter(|&time| time != row.tdb_seconds);
        others.map(|time| (tdb_seconds - time) / (row.tdb_seconds - time)).product::<f64>()
    };
    rows.iter().map(|row| row.position * weight(row)).sum()
}
