//! Eclipses, local circumstances and positions.

use std::path::PathBuf;

use crate::exceptions::{Result, usage};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umbracast_files::{VectorSource, read_bodies, read_ephemeris};
use umbracast_sky::{
    BesselianElementsRecord, Cell, CircumstancesRecord, DatePrecision, DeltaT, Eclipse, EclipseBody, Field, FieldKind,
    LightTime, LunarCircumstancesRecord, LunarRule, PathPointRecord, Place, Radii, Record, SkyBody, SkyOptions,
    SolarEclipse, Time, TransitCircumstancesRecord, View,
};

use crate::exceptions::exception;
use crate::gil::run_detached;

/// Microseconds from 1970-01-01 to 2000-01-01.
const EPOCH_US: i64 = Time::UNIX_DAYS * 86_400_000_000;
/// `NaT` of NumPy.
const NOT_A_TIME: i64 = i64::MIN;

/// The sky with its conventions.
#[pyclass(frozen, module = "umbracast._umbracast")]
pub(crate) struct Sky {
    pub(crate) inner: umbracast_sky::Sky,
}

impl Sky {
    pub(crate) fn microseconds(&self, time: Time) -> i64 {
        let (day, second) = time.clock(self.inner.options().delta_t);
        // A leap second counts as the last microsecond of its minute.
        day * 86_400_000_000 + ((second * 1e6).round() as i64).min(86_399_999_999) + EPOCH_US
    }

    pub(crate) fn time(&self, microseconds: i64) -> Result<Time> {
        // The library refuses what the ephemeris does not cover; a wide margin keeps the arithmetic in range.
        if microseconds == NOT_A_TIME || microseconds.abs() > 1 << 57 {
            return Err(usage("a time is NaT or outside the years -1999 to 3000"));
        }
        let since = microseconds - EPOCH_US;
        let (day, rest) = (since.div_euclid(86_400_000_000), since.rem_euclid(86_400_000_000));
        Ok(Time::from_clock(day, rest as f64 * 1e-6, self.inner.options().delta_t))
    }

    fn eclipse(&self, date: &str) -> Result<Option<Eclipse>> {
        let (time, _) = self.inner.parse_time(date)?;
        Ok(self.inner.eclipse_on(time)?)
    }

    /// The beginning of one year and the end of another. Both are in -1999 to 3000.
    fn years(&self, first: i32, last: i32) -> (Time, Time) {
        let delta_t = self.inner.options().delta_t;
        (Time::of_year(first, delta_t), Time::of_year(last + 1, delta_t))
    }

    fn solar(&self, date: &str) -> Result<Box<SolarEclipse>> {
        match self.eclipse(date)? {
            Some(Eclipse::Solar(eclipse)) => Ok(eclipse),
            _ => Err(usage(format!("there is no solar eclipse on {date}"))),
        }
    }

    /// A record as a dictionary. Times are microseconds.
    fn dictionary<'py>(&self, py: Python<'py>, record: &dyn Record) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for (field, cell) in record.fields().iter().zip(record.cells()) {
            match cell {
                Cell::Empty if field.kind == FieldKind::Time => values.set_item(field.name, NOT_A_TIME)?,
                Cell::Empty => values.set_item(field.name, py.None())?,
                Cell::Text(text) => values.set_item(field.name, text)?,
                Cell::Integer(number) => values.set_item(field.name, number)?,
                Cell::Time(time) => values.set_item(field.name, self.microseconds(time.time()))?,
                Cell::Number(number) => values.set_item(field.name, number)?,
            }
        }
        Ok(values)
    }

    /// Records as a dictionary of arrays. Names are their numbers in a list that follows.
    fn columns<'py, R: Record>(
        &self,
        py: Python<'py>,
        fields: &[Field],
        records: impl Iterator<Item = R>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut columns: Vec<Column> = fields.iter().map(|field| Column::new(field.kind)).collect();
        for record in records {
            for (column, cell) in columns.iter_mut().zip(record.cells()) {
                match (column, cell) {
                    (Column::Numbers(list), Cell::Number(number)) => list.push(number),
                    (Column::Numbers(list), Cell::Integer(number)) => list.push(number.into()),
                    (Column::Numbers(list), _) => list.push(f64::NAN),
                    (Column::Times(list), Cell::Time(time)) => list.push(self.microseconds(time.time())),
                    (Column::Times(list), _) => list.push(NOT_A_TIME),
                    (Column::Names(list, names), cell) => {
                        let text = if let Cell::Text(text) = cell { text } else { "" };
                        let at = names.iter().position(|name| name == text).unwrap_or(names.len());
                        if at == names.len() {
                            names.push(text.into());
                        }
                        list.push(at as u32);
                    }
                }
            }
        }
        let values = PyDict::new(py);
        for (field, column) in fields.iter().zip(columns) {
            match column {
                Column::Numbers(list) => values.set_item(field.name, PyArray1::from_vec(py, list))?,
                Column::Times(list) => values.set_item(field.name, PyArray1::from_vec(py, list))?,
                Column::Names(list, names) => values.set_item(field.name, (PyArray1::from_vec(py, list), names))?,
            }
        }
        Ok(values)
    }

    /// What places see, an array per field. `find` makes a record per place.
    fn seen<'py, R: Record + Send>(
        &self,
        py: Python<'py>,
        rows: &PyReadonlyArray2<'py, f64>,
        fields: &[Field],
        find: impl FnOnce(&[Place]) -> Result<Vec<R>> + Send,
    ) -> PyResult<Bound<'py, PyDict>> {
        let list = places(rows)?;
        let records = run_detached(py, || find(&list))?;
        self.columns(py, fields, records.into_iter())
    }
}

/// The values of a field.
enum Column {
    Numbers(Vec<f64>),
    Times(Vec<i64>),
    Names(Vec<u32>, Vec<String>),
}

impl Column {
    fn new(kind: FieldKind) -> Self {
        match kind {
            FieldKind::Integer | FieldKind::Number => Self::Numbers(Vec::new()),
            FieldKind::Time => Self::Times(Vec::new()),
            FieldKind::Text | FieldKind::OneOf(_) => Self::Names(Vec::new(), Vec::new()),
        }
    }
}

/// Checked places from rows of latitude, longitude and height.
fn places(rows: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<Place>> {
    let py = rows.py();
    let rows = rows.as_array();
    let place = |(index, row): (usize, numpy::ndarray::ArrayView1<'_, f64>)| {
        let place = Place { latitude: row[0], longitude: row[1], height_m: row[2] };
        match place.check(index as u64) {
            Ok(()) => Ok(place),
            Err(error) => Err(exception(py, error)),
        }
    };
    rows.rows().into_iter().enumerate().map(place).collect()
}

#[pymethods]
impl Sky {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one for each convention")]
    fn new(
        py: Python<'_>,
        delta_t: Option<f64>,
        radii: &str,
        sun_radius: Option<f64>,
        moon_k: Option<f64>,
        lunar_rule: &str,
        refraction: bool,
        ephemeris: Option<PathBuf>,
    ) -> PyResult<Self> {
        let options = || -> Result<SkyOptions> {
            let delta_t = match delta_t {
                Some(seconds) if !DeltaT::LIMITS.contains(&seconds) => {
                    let (least, most) = (DeltaT::LIMITS.start(), DeltaT::LIMITS.end());
                    return Err(usage(format!("delta_t is {seconds}: expected {least} to {most} seconds")));
                }
                Some(seconds) => DeltaT::Seconds(seconds),
                None => DeltaT::Table,
            };
            let mut radii = Radii::from_name(radii)?;
            if let Some(arcseconds) = sun_radius {
                radii = radii.with_sun_radius(arcseconds)?;
            }
            if let Some(k) = moon_k {
                radii = radii.with_moon_k(k)?;
            }
            Ok(SkyOptions { delta_t, radii, lunar_rule: LunarRule::from_name(lunar_rule)?, refraction })
        };
        let options = options().map_err(|error| exception(py, error))?;
        let inner = match ephemeris {
            Some(path) => {
                let found = run_detached(py, || Ok(read_ephemeris(&path)?))?;
                umbracast_sky::Sky::with_ephemeris(found, options)
            }
            None => umbracast_sky::Sky::new(options),
        };
        Ok(Self { inner })
    }

    /// Name of the ephemeris.
    fn ephemeris(&self) -> &str {
        self.inner.ephemeris().name()
    }

    /// The eclipse of a date: whether it is solar, and its values. `None` if there is none.
    fn eclipse_on<'py>(&self, py: Python<'py>, date: &str) -> PyResult<Option<(bool, Bound<'py, PyDict>)>> {
        let found = run_detached(py, || self.eclipse(date))?;
        found.map(|one| Ok((one.body() == "solar", self.dictionary(py, &*one.record())?))).transpose()
    }

    /// The eclipses from the beginning of one year to the end of another.
    fn eclipses<'py>(
        &self,
        py: Python<'py>,
        first: i32,
        last: i32,
        solar: Option<bool>,
    ) -> PyResult<Vec<(bool, Bound<'py, PyDict>)>> {
        let found = run_detached(py, || {
            let (from, end) = self.years(first, last);
            let only = solar.map(|solar| if solar { EclipseBody::Solar } else { EclipseBody::Lunar });
            Ok(self.inner.eclipses(from, end, only)?)
        })?;
        found.iter().map(|one| Ok((one.body() == "solar", self.dictionary(py, &*one.record())?))).collect()
    }

    /// Besselian elements of the solar eclipse of a date.
    fn besselian_elements<'py>(&self, py: Python<'py>, date: &str) -> PyResult<Bound<'py, PyDict>> {
        let record: BesselianElementsRecord = run_detached(py, || Ok(self.solar(date)?.besselian_elements_record()))?;
        self.dictionary(py, &record)
    }

    /// Local circumstances, an array per field of the record.
    fn circumstances<'py>(
        &self,
        py: Python<'py>,
        date: &str,
        rows: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let list = places(&rows)?;
        let (eclipse, found) = run_detached(py, || {
            let eclipse = self.solar(date)?;
            let found = eclipse.circumstances_of(&list);
            Ok((eclipse, found))
        })?;
        let records = found.iter().map(|one| eclipse.circumstances_record(None, one));
        self.columns(py, CircumstancesRecord::fields(), records)
    }

    /// What places see of a lunar eclipse, an array per field of the record.
    fn lunar_circumstances<'py>(
        &self,
        py: Python<'py>,
        date: &str,
        rows: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.seen(py, &rows, LunarCircumstancesRecord::fields(), |places| match self.eclipse(date)? {
            Some(Eclipse::Lunar(eclipse)) => {
                let record = |place: &Place| eclipse.circumstances_record(None, &eclipse.circumstances(place));
                Ok(places.iter().map(record).collect())
            }
            _ => Err(usage(format!("there is no lunar eclipse on {date}"))),
        })
    }

    /// The transits from the beginning of one year to the end of another.
    fn transits<'py>(&self, py: Python<'py>, first: i32, last: i32) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let found = run_detached(py, || {
            let (from, end) = self.years(first, last);
            Ok(self.inner.transits(from, end)?)
        })?;
        found.iter().map(|one| self.dictionary(py, &one.record())).collect()
    }

    /// What places see of a transit, an array per field of the record.
    fn transit_circumstances<'py>(
        &self,
        py: Python<'py>,
        date: &str,
        rows: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.seen(py, &rows, TransitCircumstancesRecord::fields(), |places| {
            match self.inner.transit_on(self.inner.parse_time(date)?.0)? {
                Some(transit) => {
                    let record = |place: &Place| transit.circumstances_record(None, &transit.circumstances(place));
                    Ok(places.iter().map(record).collect())
                }
                None => Err(usage(format!("there is no transit of Mercury or Venus on {date}"))),
            }
        })
    }

    /// Obscuration and altitude of the Sun in degrees at places: at an instant, or for a day at the maximum of each place.
    #[expect(clippy::type_complexity, reason = "an array for each column of the answer")]
    fn obscuration<'py>(
        &self,
        py: Python<'py>,
        date: &str,
        rows: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let list = places(&rows)?;
        let (amounts, sines) = run_detached(py, || {
            let eclipse = self.solar(date)?;
            let (time, precision) = self.inner.parse_time(date)?;
            let instant = (precision == DatePrecision::Instant).then_some(time);
            if !instant.is_none_or(|time| eclipse.covers(time)) {
                return Err(usage("the instant is more than 4 hours from the greatest eclipse"));
            }
            let found = eclipse.obscurations(&list, instant);
            Ok(found.into_iter().unzip::<f64, f64, Vec<_>, Vec<_>>())
        })?;
        let degrees = sines.into_iter().map(|sine: f64| sine.clamp(-1.0, 1.0).asin().to_degrees()).collect();
        Ok((PyArray1::from_vec(py, amounts), PyArray1::from_vec(py, degrees)))
    }

    /// Instants that are given as text.
    fn instants<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let parse = |text: &String| Ok(self.microseconds(self.inner.parse_time(text)?.0));
        let times = run_detached(py, || texts.iter().map(parse).collect::<Result<Vec<_>>>())?;
        Ok(PyArray1::from_vec(py, times))
    }

    /// Julian dates in UTC (UT1 before 1972), TT or TDB as instants.
    fn julian_dates<'py>(
        &self,
        py: Python<'py>,
        dates: PyReadonlyArray1<'py, f64>,
        scale: &str,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let time = |date: f64| match scale {
            "utc" => {
                let days = date - 2_451_544.5;
                Time::from_clock(days.floor() as i64, (days - days.floor()) * 86_400.0, self.inner.options().delta_t)
            }
            "tt" => Time::from_tt_julian_date(date),
            _ => Time::from_tdb_seconds(Time::from_tt_julian_date(date).tt_seconds()),
        };
        let times = dates.as_slice()?.iter().map(|&date| self.microseconds(time(date))).collect();
        Ok(PyArray1::from_vec(py, times))
    }

    /// Apparent positions in km, one row per instant.
    fn positions<'py>(
        &self,
        py: Python<'py>,
        body: &str,
        times: PyReadonlyArray1<'py, i64>,
        earth_fixed: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let times = times.as_slice()?.to_vec();
        let found = run_detached(py, || {
            // The radius does not matter.
            let source = || VectorSource { body: body.into(), path: None, radius_km: Some(1.0) };
            let other = SkyBody::from_name(body).is_err().then(source);
            let (known, others) =
                read_bodies(&[body], other.as_slice(), self.inner.ephemeris(), self.inner.options().delta_t)?;
            let mut rows = Vec::with_capacity(3 * times.len());
            for &time in &times {
                let time = self.time(time)?;
                let apparent = match others.first() {
                    Some(body) => self.inner.apparent_of(body, time)?,
                    None => self.inner.apparent(known[0], time)?,
                };
                let position = if earth_fixed { self.inner.to_earth_fixed(apparent, time) } else { apparent };
                rows.extend(position.to_array());
            }
            Ok(rows)
        })?;
        let shape = (found.len() / 3, 3);
        let rows = numpy::ndarray::Array2::from_shape_vec(shape, found).unwrap_or_default();
        Ok(PyArray2::from_owned_array(py, rows))
    }

    /// The centre line, an array per field of the record.
    fn central_line<'py>(&self, py: Python<'py>, date: &str, step_s: f64) -> PyResult<Bound<'py, PyDict>> {
        let (eclipse, line) = run_detached(py, || {
            let eclipse = self.solar(date)?;
            let line = eclipse.central_line(step_s);
            Ok((eclipse, line))
        })?;
        let records = line.points.iter().map(|point| eclipse.path_point_record(point));
        self.columns(py, PathPointRecord::fields(), records)
    }

    /// The text of a system file. `vectors` has `NAME` or `NAME@CENTER`, the path of the file and the radius in km of each body.
    #[expect(clippy::too_many_arguments, reason = "one for each option of `sky.system`")]
    fn system(
        &self,
        py: Python<'_>,
        date: &str,
        bodies: Vec<String>,
        vectors: Vec<(String, Option<PathBuf>, Option<f64>)>,
        light_time: &str,
        view: Option<&str>,
        size: [u32; 2],
    ) -> PyResult<String> {
        run_detached(py, || {
            let names: Vec<&str> = bodies.iter().map(String::as_str).collect();
            let source = |(body, path, radius_km)| VectorSource { body, path, radius_km };
            let vectors: Vec<VectorSource> = vectors.into_iter().map(source).collect();
            let (bodies, vectors) =
                read_bodies(&names, &vectors, self.inner.ephemeris(), self.inner.options().delta_t)?;
            let view = view.map(View::parse).transpose()?;
            let (time, precision) = self.inner.parse_time(date)?;
            let time = match precision {
                DatePrecision::Instant => time,
                DatePrecision::Day => match self.inner.eclipse_on(time)? {
                    Some(eclipse) => eclipse.greatest(),
                    None => match self.inner.transit_on(time)? {
                        Some(transit) => transit.contacts.greatest.time,
                        None => {
                            let message = format!("there is no eclipse on {date}: give an instant, {date}T12:00:00Z");
                            return Err(usage(message));
                        }
                    },
                },
            };
            Ok(self.inner.system_toml_with(time, &bodies, &vectors, &LightTime::from_name(light_time), view, size)?)
        })
    }
}
