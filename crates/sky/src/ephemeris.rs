//! The ephemeris: positions of Sun, Moon and planets, from an SPK file or from Chebyshev series of scaled integers.
//!
//! The file of the series (little-endian): the magic `UMBSKY01`; a name of 16 bytes, padded with zeros; the first and the end day from J2000 (TDB, f64); the
//! ratio of the masses of Earth and Moon (f64); the number of bodies (u32). Then for each body: NAIF numbers of body and centre (i16),
//! days per interval (u32), intervals (u32), the step of the coefficients in km (f64), coefficients per axis (u32), the offset of its data
//! (u32), and the width of each coefficient in bits (3 axes × coefficients, u8). Then the data of the bodies: per interval the coefficients
//! of x, y and z as signed integers of these widths, the lowest bit first, without gaps. Eight zero bytes end the file.
//!
//! `tools/make_ephemeris.py` makes the file from JPL's DE421. Axes are those of the ICRF.

use std::borrow::Cow;
use std::sync::Arc;

use glam::DVec3;

use crate::bodies::SkyBody;
use crate::delta_t::DeltaT;
use crate::error::{Error, Result};
use crate::spk::Spk;
use crate::time::{DAY, Time};

/// Position in km and velocity in km/s, with the axes of the ICRF.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Position in km.
    pub position: DVec3,
    /// Velocity in km/s.
    pub velocity: DVec3,
}

/// Positions of the Sun, the Moon and the planets: the built-in ones from 1900 to 2050.
#[derive(Clone, Debug)]
pub struct Ephemeris {
    name: String,
    source: Source,
    span: (Time, Time),
}

/// The beginnings of the years between which a file of series has positions.
const SERIES_YEARS: [i32; 2] = [1900, 2051];
/// Seconds by which an instant may be outside a span, for the difference of the time scales.
const TOLERANCE: f64 = 1000.0;
/// The longest light time in seconds: that of a Venus behind the Sun.
const LIGHT_TIME: f64 = 900.0;

#[derive(Clone, Debug)]
enum Source {
    Series(Arc<SeriesFile>),
    Spk(Arc<Spk>),
}

/// The file of the series.
#[derive(Debug)]
struct SeriesFile {
    bytes: Cow<'static, [u8]>,
    /// Mass of the Earth divided by that of the Moon.
    mass_ratio: f64,
    first_day: f64,
    series: Vec<Series>,
}

/// The series of one body.
#[derive(Clone, Debug)]
struct Series {
    body: i16,
    center: i16,
    days: f64,
    intervals: usize,
    step: f64,
    /// Widths in bits, per axis.
    widths: [Vec<u8>; 3],
    offset: usize,
    interval_bits: usize,
}

/// The Moon relative to the Earth, the Sun and the barycentre of Earth and Moon relative to that of the solar system.
const MOON: i16 = 301;
const SUN: i16 = 10;
const EARTH_MOON: i16 = 3;
/// Maximum coefficients per axis.
const MOST: usize = 24;

/// Reads numbers from the header of a file.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let part = self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end));
        self.at += count;
        part.ok_or_else(|| bad("the file ends too early"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u32(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(self.array()?) as usize)
    }

    fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    fn i16(&mut self) -> Result<i16> {
        Ok(i16::from_le_bytes(self.array()?))
    }
}

/// The first bytes of a file of series.
const MAGIC: &[u8] = b"UMBSKY01";

fn bad(why: &str) -> Error {
    Error::InvalidArgument(format!("the ephemeris is invalid: {why}"))
}

impl Ephemeris {
    /// The built-in ephemeris: an excerpt of JPL's DE421. The Moon is within 1 m of it, the Sun within 0.2 km, planets within 15 km.
    #[cfg(feature = "ephemeris")]
    pub fn embedded() -> Self {
        let bytes: &'static [u8] = include_bytes!("data/ephemeris.bin");
        #[expect(clippy::expect_used, reason = "a test reads the built-in file")]
        Self::parse(Cow::Borrowed(bytes)).expect("the built-in ephemeris is valid")
    }

    /// An ephemeris from the bytes of `crates/sky/src/data/ephemeris.bin` or a file of the same format, or of an SPK file of NAIF with
    /// segments of type 2, 3, 9 or 13, such as DE440. An SPK file covers the years of its own [`span`](Self::span).
    ///
    /// Of an SPK file, a planet is at its centre if the file has it, else at the barycentre of planet and moons.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the bytes are not such a file, or if Sun or Earth are missing. Without the Moon, as in files of the moons of other
    /// planets, whatever needs it is an error later.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        if bytes.starts_with(MAGIC) {
            return Self::parse(Cow::Owned(bytes));
        }
        if !Spk::is_daf(&bytes) {
            return Err(bad("it is not an SPK file of NAIF, such as de440.bsp: it does not start with DAF/SPK"));
        }
        let spk = Spk::parse(bytes)?;
        for body in [SkyBody::Sun, SkyBody::Earth] {
            if !spk.has(body.naif_number().into()) {
                let (name, number) = (body.name(), body.naif_number());
                return Err(Error::InvalidArgument(format!(
                    "the SPK file has no positions of the {name} ({number}) relative to the barycentre of the solar system: expected Sun and Earth, and for eclipses the Moon, as in de440.bsp"
                )));
            }
        }
        let needed = [SkyBody::Sun, SkyBody::Moon, SkyBody::Earth].map(|body| i32::from(body.naif_number()));
        let spans = needed.into_iter().filter(|number| spk.has(*number)).map(|number| spk.hull(number));
        let (first, last) =
            spans.fold((f64::NEG_INFINITY, f64::INFINITY), |(first, last), span| (first.max(span.0), last.min(span.1)));
        let span = (Time::from_tdb_seconds(first), Time::from_tdb_seconds(last));
        Ok(Self { name: "SPK".into(), source: Source::Spk(Arc::new(spk)), span })
    }

    /// The same with another name of the source, such as that of the file.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self { name: name.into(), ..self }
    }

    fn parse(bytes: Cow<'static, [u8]>) -> Result<Self> {
        let mut reader = Reader { bytes: &bytes, at: 0 };
        if reader.take(8)? != MAGIC {
            return Err(bad("it does not start with UMBSKY01"));
        }
        let name = String::from_utf8_lossy(reader.take(16)?).trim_end_matches('\0').to_string();
        let (first_day, end_day) = (reader.f64()?, reader.f64()?);
        let mass_ratio = reader.f64()?;
        let count = reader.u32()?;
        if !(first_day < -36_530.0 && end_day > 18_632.0 && mass_ratio > 1.0 && count <= 64) {
            return Err(bad("its header is damaged, or it does not cover 1900 to 2050"));
        }
        let mut series = Vec::new();
        for _ in 0..count {
            series.push(Series::read(&mut reader, end_day - first_day)?);
        }
        for one in &series {
            let bits = one.interval_bits * one.intervals;
            if bits.div_ceil(8) + 8 > bytes.len().saturating_sub(one.offset) {
                return Err(bad("the file ends too early"));
            }
        }
        let has = |body, center| series.iter().any(|one| (one.body, one.center) == (body, center));
        if !(has(MOON, 399) && has(SUN, 0) && has(EARTH_MOON, 0)) {
            return Err(bad("Sun, Moon or Earth are missing"));
        }
        let file = SeriesFile { bytes, mass_ratio, first_day, series };
        let span = SERIES_YEARS.map(|year| Time::of_year(year, DeltaT::Table));
        Ok(Self { name, source: Source::Series(Arc::new(file)), span: (span[0], span[1]) })
    }

    /// Name of the source: `JPL DE421`, or that of [`with_name`](Self::with_name).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first and the last instant for which it has Sun, Moon and Earth. An SPK file may have gaps in between.
    pub fn span(&self) -> (Time, Time) {
        self.span
    }

    /// Checks that an instant is in the [`span`](Self::span).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if it is not.
    pub fn check(&self, time: Time) -> Result<()> {
        let (first, last) = self.span;
        if (first.plus(-TOLERANCE)..=last.plus(TOLERANCE)).contains(&time) {
            return Ok(());
        }
        Err(self.outside(time))
    }

    /// The instant nearest to `time` at which an SPK file has apparent places of Sun, Moon and inner planets, and for `margin` seconds before and
    /// after. The built-in ephemeris has days more than its span.
    pub(crate) fn nearest(&self, time: Time, margin: f64) -> Time {
        let (first, last) = (self.span.0.plus(LIGHT_TIME + margin), self.span.1.plus(-margin));
        match self.is_built_in() {
            false if time < first => first,
            false if time > last => last,
            _ => time,
        }
    }

    /// The error for an instant outside the span.
    pub(crate) fn outside(&self, time: Time) -> Error {
        let (first, last) = self.span;
        let text = time.text(0, DeltaT::Table);
        Error::InvalidArgument(match self.is_built_in() {
            true => format!(
                "{text} is outside the years 1900 to 2050 of the built-in ephemeris: give another one with the option ephemeris, an SPK file of JPL such as de440.bsp (1550 to 2649) or de441.bsp (-13200 to 17191)"
            ),
            false => {
                let [first, last] = [first, last].map(|time| time.text(0, DeltaT::Table));
                let bodies = match self.has_number(MOON.into()) {
                    true => "Sun, Moon and Earth",
                    false => "Sun and Earth, but no Moon, which eclipses need",
                };
                format!("{text} is outside {first} to {last}, for which {} has {bodies}", self.name)
            }
        })
    }

    /// Position and velocity of a body relative to the barycentre of the solar system, at seconds of TDB since J2000.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the ephemeris does not contain the body, or has no positions at this instant.
    pub fn barycentric(&self, body: SkyBody, tdb_seconds: f64) -> Result<State> {
        let file = match &self.source {
            Source::Series(file) => file,
            Source::Spk(spk) => {
                let number = i32::from(body.naif_number());
                let barycenter = if number % 100 == 99 { number / 100 } else { number };
                let center = if (1..10).contains(&barycenter) { 100 * barycenter + 99 } else { number };
                // The Earth is not at the barycentre of Earth and Moon.
                let found = if spk.has(center) || body == SkyBody::Earth { center } else { barycenter };
                return self.barycentric_of_number(found, tdb_seconds);
            }
        };
        let center = |number, of| {
            let found = file.series.iter().find(|one| (one.body, one.center) == (number, of));
            found.ok_or_else(|| Error::InvalidArgument(format!("{} has no positions of {}", self.name, body.name())))
        };
        let state = |number, of| file.evaluate(center(number, of)?, &self.name, tdb_seconds);
        match body {
            SkyBody::Earth | SkyBody::Moon => {
                let (pair, moon) = (state(EARTH_MOON, 0)?, state(MOON, 399)?);
                let earth = -1.0 / (1.0 + file.mass_ratio);
                let share = if body == SkyBody::Earth { earth } else { 1.0 + earth };
                Ok(State {
                    position: pair.position + moon.position * share,
                    velocity: pair.velocity + moon.velocity * share,
                })
            }
            _ => state(body.naif_number(), 0),
        }
    }

    /// Whether it has only the bodies of [`SkyBody`]: it is no SPK file.
    pub fn is_built_in(&self) -> bool {
        matches!(self.source, Source::Series(_))
    }

    /// Whether this is an SPK file with positions of the body of this number of NAIF.
    pub(crate) fn has_number(&self, number: i32) -> bool {
        matches!(&self.source, Source::Spk(spk) if spk.has(number))
    }

    /// As [`barycentric`](Self::barycentric), of the body of this number of NAIF in an SPK file.
    pub(crate) fn barycentric_of_number(&self, number: i32, tdb_seconds: f64) -> Result<State> {
        let Source::Spk(spk) = &self.source else {
            return Err(Error::InvalidArgument(format!("{} has no positions of body {number}", self.name)));
        };
        spk.barycentric(number, tdb_seconds).map_err(|error| match error {
            Error::InvalidArgument(why) => Error::InvalidArgument(why.replacen("the SPK file", &self.name, 1)),
            other => other,
        })
    }

    /// Geometric position and velocity of a body relative to the centre of the Earth: light time is not applied.
    ///
    /// # Errors
    /// As for [`barycentric`](Self::barycentric).
    pub fn geocentric(&self, body: SkyBody, time: Time) -> Result<State> {
        self.geocentric_tdb(body, time.tdb_seconds())
    }

    /// [`geocentric`](Self::geocentric) at seconds of TDB since J2000.
    ///
    /// # Errors
    /// As for [`barycentric`](Self::barycentric).
    pub fn geocentric_tdb(&self, body: SkyBody, tdb_seconds: f64) -> Result<State> {
        if body == SkyBody::Moon
            && let Source::Series(file) = &self.source
            && let Some(series) = file.series.iter().find(|one| one.body == MOON)
        {
            return file.evaluate(series, &self.name, tdb_seconds);
        }
        let (body, earth) = (self.barycentric(body, tdb_seconds)?, self.barycentric(SkyBody::Earth, tdb_seconds)?);
        Ok(State { position: body.position - earth.position, velocity: body.velocity - earth.velocity })
    }
}

impl SeriesFile {
    fn evaluate(&self, series: &Series, name: &str, tdb_seconds: f64) -> Result<State> {
        let since = (tdb_seconds / DAY - self.first_day) / series.days;
        if !(since >= 0.0 && since < series.intervals as f64) {
            return Err(Error::InvalidArgument(format!(
                "{name} has no positions {:.1} days from J2000: they cover the years 1900 to 2050",
                tdb_seconds / DAY
            )));
        }
        let index = since.floor();
        let x = 2.0 * (since - index) - 1.0;
        let mut bit = 8 * series.offset + index as usize * series.interval_bits;
        let (mut position, mut velocity) = ([0.0; 3], [0.0; 3]);
        for axis in 0..3 {
            // Chebyshev polynomials and their derivatives, by their recurrences.
            let (mut before, mut now) = ((0.0, 0.0), (1.0, 0.0));
            for (i, &width) in series.widths[axis].iter().enumerate() {
                let value = self.integer(bit, width) as f64;
                bit += usize::from(width);
                position[axis] += value * now.0;
                velocity[axis] += value * now.1;
                let next = match i {
                    0 => (x, 1.0),
                    _ => (2.0 * x * now.0 - before.0, 2.0 * now.0 + 2.0 * x * now.1 - before.1),
                };
                (before, now) = (now, next);
            }
        }
        let rate = 2.0 / (series.days * DAY);
        Ok(State {
            position: DVec3::from(position) * series.step,
            velocity: DVec3::from(velocity) * (series.step * rate),
        })
    }

    /// The signed integer of `width` bits (at most 56) at a bit of the file.
    fn integer(&self, bit: usize, width: u8) -> i64 {
        if width == 0 {
            return 0;
        }
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[bit / 8..bit / 8 + 8]);
        let word = u64::from_le_bytes(word) >> (bit % 8);
        let unused = 64 - u32::from(width);
        (word << unused) as i64 >> unused
    }
}

impl Series {
    fn read(reader: &mut Reader<'_>, days_needed: f64) -> Result<Self> {
        let (body, center) = (reader.i16()?, reader.i16()?);
        let (days, intervals) = (reader.u32()? as f64, reader.u32()?);
        let step = reader.f64()?;
        let (size, offset) = (reader.u32()?, reader.u32()?);
        let valid = days >= 1.0 && days * intervals as f64 >= days_needed && intervals < 1 << 18;
        if !(valid && step > 0.0 && step.is_finite() && (1..=MOST).contains(&size)) {
            return Err(bad(&format!("the table of body {body} is damaged")));
        }
        let widths = [reader.take(size)?.to_vec(), reader.take(size)?.to_vec(), reader.take(size)?.to_vec()];
        if widths.iter().flatten().any(|&width| width > 56) {
            return Err(bad(&format!("a coefficient of body {body} has more than 56 bits")));
        }
        let interval_bits = widths.iter().flatten().map(|&width| usize::from(width)).sum();
        Ok(Self { body, center, days, intervals, step, widths, offset, interval_bits })
    }
}
