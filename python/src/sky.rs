//! Eclipses, local circumstances and positions.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umbracast::io::read_vectors;
use umbracast::sky::{
    DatePrecision, DeltaT, Eclipse, LocalView, LunarEclipse, LunarRule, Place, Radii, SkyBody, SkyOptions,
    SolarEclipse, Time, View,
};
use umbracast::{Error, Result};

use crate::exceptions::exception;
use crate::gil::run_detached;

/// Microseconds from 1970-01-01 to 2000-01-01.
const EPOCH_US: i64 = 10_957 * 86_400_000_000;
/// `NaT` of NumPy.
const NOT_A_TIME: i64 = i64::MIN;

/// The sky with its conventions.
#[pyclass(frozen, module = "umbracast._umbracast")]
pub(crate) struct Sky {
    inner: umbracast::sky::Sky,
}

impl Sky {
    fn microseconds(&self, time: Time) -> i64 {
        let (day, second) = time.clock(self.inner.options().delta_t);
        // A leap second counts as the last microsecond of its minute.
        day * 86_400_000_000 + ((second * 1e6).round() as i64).min(86_399_999_999) + EPOCH_US
    }

    fn optional(&self, time: Option<Time>) -> i64 {
        time.map_or(NOT_A_TIME, |time| self.microseconds(time))
    }

    fn time(&self, microseconds: i64) -> Result<Time> {
        // Beyond 1900 to 2050 the library refuses it; a wide margin keeps the arithmetic in range.
        if microseconds == NOT_A_TIME || microseconds.abs() > 1 << 56 {
            return Err(Error::InvalidArgument("a time is NaT or outside the years 1900 to 2050".into()));
        }
        let since = microseconds - EPOCH_US;
        let (day, rest) = (since.div_euclid(86_400_000_000), since.rem_euclid(86_400_000_000));
        Ok(Time::from_clock(day, rest as f64 * 1e-6, self.inner.options().delta_t))
    }

    fn eclipse(&self, date: &str) -> Result<Option<Eclipse>> {
        let (time, _) = self.inner.parse_time(date)?;
        self.inner.eclipse_on(time)
    }

    fn solar(&self, date: &str) -> Result<Box<SolarEclipse>> {
        match self.eclipse(date)? {
            Some(Eclipse::Solar(eclipse)) => Ok(eclipse),
            _ => Err(Error::InvalidArgument(format!("there is no solar eclipse on {}", umbracast::quoted(date)))),
        }
    }

    fn dictionary<'py>(&self, py: Python<'py>, eclipse: &Eclipse) -> PyResult<Bound<'py, PyDict>> {
        match eclipse {
            Eclipse::Solar(one) => self.solar_dictionary(py, one),
            Eclipse::Lunar(one) => self.lunar_dictionary(py, one),
        }
    }

    fn solar_dictionary<'py>(&self, py: Python<'py>, eclipse: &SolarEclipse) -> PyResult<Bound<'py, PyDict>> {
        let (values, greatest) = (PyDict::new(py), &eclipse.greatest);
        values.set_item("kind", eclipse.kind.name())?;
        values.set_item("greatest", self.microseconds(greatest.time))?;
        values.set_item("latitude", greatest.place.latitude)?;
        values.set_item("longitude", greatest.place.longitude)?;
        values.set_item("gamma", greatest.gamma)?;
        values.set_item("magnitude", greatest.view.magnitude)?;
        values.set_item("obscuration", greatest.view.obscuration)?;
        values.set_item("sun_altitude", greatest.view.sun_altitude)?;
        values.set_item("central_duration_s", greatest.central_duration_s)?;
        let width = eclipse.line_point(greatest.time).and_then(|point| point.width_km);
        values.set_item("path_width_km", width)?;
        values.set_item("begins", self.microseconds(eclipse.begins.0))?;
        values.set_item("axis_begins", self.optional(eclipse.axis.map(|axis| axis.0)))?;
        values.set_item("axis_ends", self.optional(eclipse.axis.map(|axis| axis.1)))?;
        values.set_item("ends", self.microseconds(eclipse.ends.0))?;
        values.set_item("delta_t_s", self.inner.options().delta_t.seconds_at(greatest.time))?;
        Ok(values)
    }

    fn lunar_dictionary<'py>(&self, py: Python<'py>, eclipse: &LunarEclipse) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        values.set_item("kind", eclipse.kind.name())?;
        values.set_item("greatest", self.microseconds(eclipse.greatest))?;
        values.set_item("latitude", eclipse.zenith.latitude)?;
        values.set_item("longitude", eclipse.zenith.longitude)?;
        values.set_item("gamma", eclipse.gamma)?;
        values.set_item("umbral_magnitude", eclipse.umbral_magnitude)?;
        values.set_item("penumbral_magnitude", eclipse.penumbral_magnitude)?;
        for (name, time) in [
            ("p1", Some(eclipse.p1)),
            ("u1", eclipse.u1),
            ("u2", eclipse.u2),
            ("u3", eclipse.u3),
            ("u4", eclipse.u4),
            ("p4", Some(eclipse.p4)),
        ] {
            values.set_item(name, self.optional(time))?;
        }
        values.set_item("delta_t_s", self.inner.options().delta_t.seconds_at(eclipse.greatest))?;
        Ok(values)
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
            Err(error) => Err(exception(py, &error)),
        }
    };
    rows.rows().into_iter().enumerate().map(place).collect()
}

#[pymethods]
impl Sky {
    #[new]
    fn new(py: Python<'_>, delta_t: Option<f64>, radii: &str, lunar_rule: &str) -> PyResult<Self> {
        let options = || -> Result<SkyOptions> {
            let delta_t = match delta_t {
                Some(seconds) if !(-1000.0..=10_000.0).contains(&seconds) => {
                    return Err(Error::InvalidArgument(format!(
                        "delta_t is {seconds}: expected -1000 to 10000 seconds"
                    )));
                }
                Some(seconds) => DeltaT::Seconds(seconds),
                None => DeltaT::Table,
            };
            Ok(SkyOptions { delta_t, radii: Radii::from_name(radii)?, lunar_rule: LunarRule::from_name(lunar_rule)? })
        };
        let options = options().map_err(|error| exception(py, &error))?;
        Ok(Self { inner: umbracast::sky::Sky::new(options) })
    }

    /// Name of the ephemeris.
    fn ephemeris(&self) -> &str {
        self.inner.ephemeris().name()
    }

    /// The eclipse of a date: whether it is solar, and its values. `None` if there is none.
    fn eclipse_on<'py>(&self, py: Python<'py>, date: &str) -> PyResult<Option<(bool, Bound<'py, PyDict>)>> {
        let found = run_detached(py, || self.eclipse(date))?;
        found.map(|one| Ok((one.body() == "solar", self.dictionary(py, &one)?))).transpose()
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
            let delta_t = self.inner.options().delta_t;
            let allowed = 1900..=2050;
            if !(allowed.contains(&first) && allowed.contains(&last)) {
                return Err(Error::InvalidArgument(format!("the years {first} to {last} are not in 1900 to 2050")));
            }
            let (from, end) = (Time::of_year(first, delta_t), Time::of_year(last + 1, delta_t));
            self.inner.eclipses(from, end, |is_solar| solar.is_none_or(|only| only == is_solar))
        })?;
        found.iter().map(|one| Ok((one.body() == "solar", self.dictionary(py, one)?))).collect()
    }

    /// Local circumstances: kinds; times of C1, C2, maximum, C3 and C4; magnitude, obscuration, altitude and azimuth of the Sun at maximum,
    /// visible obscuration, altitude of the horizon at maximum.
    #[expect(clippy::type_complexity, reason = "an array for each column of the answer")]
    fn circumstances<'py>(
        &self,
        py: Python<'py>,
        date: &str,
        rows: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(Bound<'py, PyArray1<u8>>, Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>)> {
        let list = places(&rows)?;
        let found = run_detached(py, || Ok(self.solar(date)?.circumstances_of(&list)))?;
        let time = |view: Option<LocalView>| self.optional(view.map(|view| view.time));
        let mut times = Vec::with_capacity(5 * found.len());
        let mut numbers = Vec::with_capacity(6 * found.len());
        for one in &found {
            let maximum = one.c1.map(|_| one.maximum);
            times.extend([time(one.c1), time(one.c2), time(maximum), time(one.c3), time(one.c4)]);
            numbers.extend([
                one.maximum.magnitude,
                one.maximum.obscuration,
                one.maximum.sun_altitude,
                one.maximum.sun_azimuth,
                one.visible.map_or(0.0, |view| view.obscuration),
                one.maximum.horizon_altitude,
            ]);
        }
        let kinds = found.iter().map(|one| one.kind as u8).collect();
        let times = numpy::ndarray::Array2::from_shape_vec((found.len(), 5), times).unwrap_or_default();
        let numbers = numpy::ndarray::Array2::from_shape_vec((found.len(), 6), numbers).unwrap_or_default();
        Ok((
            PyArray1::from_vec(py, kinds),
            PyArray2::from_owned_array(py, times),
            PyArray2::from_owned_array(py, numbers),
        ))
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
                return Err(Error::InvalidArgument(
                    "the instant is more than 4 hours from the greatest eclipse".into(),
                ));
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
            _ => {
                // The difference of the scales, at most 2 ms, changes by less than a nanosecond in this time.
                let time = Time::from_tt_julian_date(date);
                time.plus(time.tt_seconds() - time.tdb_seconds())
            }
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
            let body = SkyBody::from_name(body)?;
            let mut rows = Vec::with_capacity(3 * times.len());
            for &time in &times {
                let time = self.time(time)?;
                let position = match earth_fixed {
                    true => self.inner.earth_fixed(body, time)?,
                    false => self.inner.apparent(body, time)?,
                };
                rows.extend(position.to_array());
            }
            Ok(rows)
        })?;
        let shape = (found.len() / 3, 3);
        let rows = numpy::ndarray::Array2::from_shape_vec(shape, found).unwrap_or_default();
        Ok(PyArray2::from_owned_array(py, rows))
    }

    /// The centre line: times; kinds; latitude and longitude of the centre, the northern and the southern limit, duration, width, altitude.
    #[expect(clippy::type_complexity, reason = "an array for each column of the answer")]
    fn central_line<'py>(
        &self,
        py: Python<'py>,
        date: &str,
        step_s: f64,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>, Bound<'py, PyArray2<f64>>)> {
        let points = run_detached(py, || Ok(self.solar(date)?.central_line(step_s).points))?;
        let mut numbers = Vec::with_capacity(9 * points.len());
        for point in &points {
            for place in [Some(point.center), point.north, point.south] {
                numbers.extend(place.map_or([f64::NAN; 2], |place| [place.latitude, place.longitude]));
            }
            numbers.extend([
                point.duration_s.unwrap_or(f64::NAN),
                point.width_km.unwrap_or(f64::NAN),
                point.sun_altitude,
            ]);
        }
        let numbers = numpy::ndarray::Array2::from_shape_vec((points.len(), 9), numbers).unwrap_or_default();
        Ok((
            PyArray1::from_vec(py, points.iter().map(|point| self.microseconds(point.time)).collect()),
            PyArray1::from_vec(py, points.iter().map(|point| point.kind as u8).collect()),
            PyArray2::from_owned_array(py, numbers),
        ))
    }

    /// The text of a system file. `vectors` has `NAME` or `NAME@CENTER`, the path of the file and the radius in km of each body.
    fn system(
        &self,
        py: Python<'_>,
        date: &str,
        bodies: Vec<String>,
        vectors: Vec<(String, PathBuf, Option<f64>)>,
        view: Option<&str>,
        size: [u32; 2],
    ) -> PyResult<String> {
        run_detached(py, || {
            let bodies = bodies.iter().map(|name| SkyBody::from_name(name)).collect::<Result<Vec<_>>>()?;
            let delta_t = self.inner.options().delta_t;
            let read =
                |(body, path, radius): &(String, PathBuf, Option<f64>)| read_vectors(body, path, *radius, delta_t);
            let vectors = vectors.iter().map(read).collect::<Result<Vec<_>>>()?;
            let view = view.map(View::parse).transpose()?;
            let (time, precision) = self.inner.parse_time(date)?;
            let time = match (precision, self.inner.eclipse_on(time)?) {
                (DatePrecision::Day, Some(eclipse)) => eclipse.greatest(),
                (DatePrecision::Day, None) => {
                    let date = umbracast::quoted(date);
                    return Err(Error::InvalidArgument(format!(
                        "there is no eclipse on {date}: give an instant, {date}T12:00:00Z"
                    )));
                }
                _ => time,
            };
            self.inner.system_toml_with(time, &bodies, &vectors, view, size)
        })
    }
}
