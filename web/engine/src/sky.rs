//! Eclipses: the calls of the worker that answer from `umbracast-sky`. A request and its answer are JSON; records are those of the command
//! line's `--json` (docs/schema).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use umbracast_files::{Kml, path_geojson, path_lines};
use umbracast_sky::{
    CITIES, Circumstances, CircumstancesRecord, Conventions, DeltaT, Eclipse, EclipseBody, Ephemeris, PathPointRecord,
    Place, Radii, Sky, SkyOptions, SolarEclipse, SolarEclipseRecord, Time, coastlines, date_from_days,
};
use wasm_bindgen::prelude::*;

use crate::eclipse_lines::{horizon_lines, outline, partial_limits};
use crate::errors::{JsError, Result};

/// Solar radii of the two limits of the band, in arcseconds at 1 au: that of the canons (Auwers 1891), and that which eclipses and transits
/// of the last decades gave (Quaglia and others 2021).
const SUN_RADII: [f64; 2] = [959.63, 959.95];
/// Height in km by which mountains and valleys of the Moon's limb are typically above and below the mean limb.
const RELIEF_KM: f64 = 1.5;
/// There are at least two solar eclipses in a year.
const YEAR_S: f64 = 366.0 * 86_400.0;
/// Seconds between points of the lines, as in the files of the command line.
const STEP_S: f64 = 15.0;

/// An eclipse and its conventions: the same fields in every request.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct Wanted {
    /// The day in UTC, such as `2027-08-02`.
    date: String,
    /// `iau` or `nasa`.
    radii: Option<String>,
    /// The radius of the Sun in arcseconds at 1 au, instead of that of `radii`.
    sun_radius: Option<f64>,
}

/// An eclipse with what its requests share.
pub(crate) struct Known {
    sky: Sky,
    pub(crate) eclipse: Box<SolarEclipse>,
    /// The same eclipse with other conventions: what the errors come from.
    variants: Variants,
}

/// The same eclipse with other radii and another rotation of the Earth.
struct Variants {
    sun: [Box<SolarEclipse>; 2],
    limb: [Box<SolarEclipse>; 2],
    rotation: [Box<SolarEclipse>; 1],
}

thread_local! {
    static EPHEMERIS: RefCell<Option<Ephemeris>> = const { RefCell::new(None) };
    /// The eclipse of the last request: the page asks for one many times.
    static LAST: RefCell<Option<(Wanted, Rc<Known>)>> = const { RefCell::new(None) };
}

/// An error of the library's for JavaScript.
pub(crate) fn failed(error: impl std::fmt::Display) -> JsError {
    let text = error.to_string();
    // The advice to give another ephemeris is for those who can.
    JsError::new("InvalidArgument", text.split(": give another one").next().unwrap_or_default())
}

/// Takes the bytes of an ephemeris. The calls about eclipses need it first; until then they fail with the name `NoEphemeris`.
#[wasm_bindgen]
pub fn take_ephemeris(bytes: Vec<u8>) -> Result<()> {
    EPHEMERIS.set(Some(Ephemeris::from_bytes(bytes).map_err(failed)?));
    Ok(())
}

fn sky(options: SkyOptions) -> Result<Sky> {
    let ephemeris = EPHEMERIS.with_borrow(Clone::clone);
    ephemeris
        .map(|ephemeris| Sky::with_ephemeris(ephemeris, options))
        .ok_or_else(|| JsError::new("NoEphemeris", "take_ephemeris was not called"))
}

fn request<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    serde_json::from_str(text).map_err(failed)
}

fn solar(sky: &Sky, date: &str) -> Result<Box<SolarEclipse>> {
    let (day, _) = sky.parse_time(date).map_err(failed)?;
    if let Some(Eclipse::Solar(eclipse)) = sky.eclipse_on(day).map_err(failed)? {
        return Ok(eclipse);
    }
    let solar = Some(EclipseBody::Solar);
    // Before the first year of the ephemeris there is none.
    let before = sky.eclipses(day.plus(-YEAR_S), day, solar).unwrap_or_default();
    let next = sky.next_eclipse(day, solar).map_err(failed)?;
    let near = before.last().into_iter().chain(next.as_ref());
    let near: Vec<String> = near.map(|one| date_of(&sky.options(), one.greatest())).collect();
    Err(failed(format!("there is no solar eclipse on {date}; there is one on {}", near.join(" and on "))))
}

/// The day of an instant: `2027-08-02`.
fn date_of(options: &SkyOptions, time: Time) -> String {
    let (year, month, day) = date_from_days(time.clock(options.delta_t).0);
    format!("{year:04}-{month:02}-{day:02}")
}

impl Wanted {
    fn radii(&self) -> Result<Radii> {
        let radii = self.radii.as_deref().map_or(Ok(Radii::default()), Radii::from_name).map_err(failed)?;
        self.sun_radius.map_or(Ok(radii), |seconds| radii.with_sun_radius(seconds)).map_err(failed)
    }

    pub(crate) fn known(&self) -> Result<Rc<Known>> {
        let last = LAST.with_borrow(|last| last.as_ref().filter(|last| last.0 == *self).map(|last| last.1.clone()));
        if let Some(known) = last {
            return Ok(known);
        }
        let known = Rc::new(Known::new(self.radii()?, &self.date)?);
        LAST.set(Some((self.clone(), known.clone())));
        Ok(known)
    }
}

impl Known {
    fn new(radii: Radii, date: &str) -> Result<Self> {
        let options = SkyOptions { radii, ..SkyOptions::default() };
        let sky = sky(options)?;
        let eclipse = solar(&sky, date)?;
        // An eclipse that other radii would leave out is that of the radii that were asked for.
        let with = |options: SkyOptions| {
            let sky = Sky::with_ephemeris(sky.ephemeris().clone(), options);
            solar(&sky, date).unwrap_or_else(|_| eclipse.clone())
        };
        let sun = SUN_RADII.map(|seconds| radii.with_sun_radius(seconds).unwrap_or(radii));
        let limb = [-RELIEF_KM, RELIEF_KM].map(|km| Radii {
            moon_partial_km: radii.moon_partial_km + km,
            moon_central_km: radii.moon_central_km + km,
            ..radii
        });
        let [sun, limb] = [sun, limb].map(|pair| pair.map(|radii| with(SkyOptions { radii, ..options })));
        let time = eclipse.greatest.time;
        // After its table, ΔT is as wrong as it has grown since.
        let last = options.delta_t.seconds_at(Time::of_year(2027, options.delta_t));
        let is_known = !options.delta_t.is_extrapolated(time);
        let delta_t = if is_known { options.delta_t } else { DeltaT::Seconds(last) };
        let variants = Variants { sun, limb, rotation: [with(SkyOptions { delta_t, ..options })] };
        Ok(Self { sky, eclipse, variants })
    }

    fn conventions(&self) -> Conventions {
        Conventions::at(&self.sky, self.eclipse.greatest.time, false)
    }

    /// Radius of the Sun, and of the Moon for partial and for central phases, in km.
    pub(crate) fn radii(&self) -> Radii {
        self.eclipse.radii()
    }

    pub(crate) fn at(&self, time_s: f64) -> Result<Time> {
        let time = self.eclipse.greatest.time.plus(time_s);
        if self.eclipse.covers(time) {
            return Ok(time);
        }
        Err(failed(format!("{time_s} s is not within 4 hours of the greatest eclipse")))
    }

    /// The errors of contacts, in seconds, and of the obscuration: the sum of what the Sun's radius, the relief of the Moon's limb and the
    /// rotation of the Earth may change. Each change is the largest one among the variants.
    fn errors(&self, place: &Place, of: &Circumstances) -> Value {
        let Variants { sun, limb, rotation } = &self.variants;
        let seen = [&sun[..], limb, rotation]
            .map(|group| group.iter().map(|one| one.circumstances(place)).collect::<Vec<_>>());
        let time = |pick: &dyn Fn(&Circumstances) -> Option<Time>| {
            let own = pick(of)?;
            let largest = |group: &Vec<Circumstances>| {
                let changes = group.iter().filter_map(|one| Some(pick(one)?.seconds_since(own).abs()));
                changes.fold(0.0, f64::max)
            };
            Some((10.0 * seen.iter().map(largest).sum::<f64>()).round() / 10.0)
        };
        let obscuration = |group: &Vec<Circumstances>| {
            let changes = group.iter().map(|one| (one.maximum.obscuration - of.maximum.obscuration).abs());
            changes.fold(0.0, f64::max)
        };
        let kinds: BTreeSet<_> = seen.iter().flatten().chain([of]).map(|one| one.kind.name()).collect();
        json!({
            "c1_s": time(&|one| one.c1.map(|view| view.time)),
            "c2_s": time(&|one| one.c2.map(|view| view.time)),
            "maximum_s": time(&|one| one.c1.map(|_| one.maximum.time)),
            "c3_s": time(&|one| one.c3.map(|view| view.time)),
            "c4_s": time(&|one| one.c4.map(|view| view.time)),
            "obscuration": (1e4 * seen.iter().map(obscuration).sum::<f64>()).round() / 1e4,
            // Radii and relief decide which of these the eclipse is here.
            "kinds": kinds,
        })
    }
}

/// The text of an answer. Keys of records keep their order.
fn answer(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(failed)
}

/// The solar eclipses from the first day of the year `first` to the last day of `last`: their records.
#[wasm_bindgen]
pub fn eclipses(text: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Request {
        first: i32,
        last: i32,
        radii: Option<String>,
    }
    let request: Request = request(text)?;
    let radii = request.radii.as_deref().map_or(Ok(Radii::default()), Radii::from_name).map_err(failed)?;
    let options = SkyOptions { radii, ..SkyOptions::default() };
    let year = |year: i32| Time::of_year(year, options.delta_t);
    let found =
        sky(options)?.eclipses(year(request.first), year(request.last.saturating_add(1)), Some(EclipseBody::Solar));
    let found = found.map_err(failed)?;
    answer(&found.iter().map(Eclipse::record).collect::<Vec<_>>())
}

/// An eclipse: its record and its conventions.
#[wasm_bindgen]
pub fn eclipse(text: &str) -> Result<String> {
    #[derive(Serialize)]
    struct Answer {
        eclipse: SolarEclipseRecord,
        conventions: Conventions,
    }
    let known = request::<Wanted>(text)?.known()?;
    answer(&Answer { eclipse: known.eclipse.record(), conventions: known.conventions() })
}

/// What places see: the object of `umbracast circumstances --json`, with the errors of each place.
#[wasm_bindgen]
pub fn circumstances(text: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Request {
        #[serde(flatten)]
        wanted: Wanted,
        places: Vec<Observer>,
    }
    #[derive(Serialize)]
    struct Answer {
        eclipse: SolarEclipseRecord,
        places: Vec<CircumstancesRecord>,
        errors: Vec<Value>,
        conventions: Conventions,
    }
    let request: Request = request(text)?;
    let known = request.wanted.known()?;
    let mut places = Vec::new();
    let mut errors = Vec::new();
    for observer in request.places {
        let place = observer.place()?;
        let seen = known.eclipse.circumstances(&place);
        places.push(known.eclipse.circumstances_record(observer.name, &seen));
        errors.push(known.errors(&place, &seen));
    }
    answer(&Answer { eclipse: known.eclipse.record(), places, errors, conventions: known.conventions() })
}

/// A place of a request: degrees, and metres above the ellipsoid.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Observer {
    name: Option<String>,
    latitude_deg: f64,
    longitude_deg: f64,
    #[serde(default)]
    height_m: f64,
}

impl Observer {
    fn place(&self) -> Result<Place> {
        Place::new(self.latitude_deg, self.longitude_deg, self.height_m).map_err(failed)
    }
}

/// Reads a place: `LAT,LON` or `LAT,LON,HEIGHT`, with signs or letters, or a city of the list.
#[wasm_bindgen]
pub fn place(text: &str) -> Result<String> {
    // A city's name has no digits.
    let (name, place) = match text.contains(|c: char| c.is_ascii_digit()) {
        true => (None, Place::parse(text).map_err(failed)?),
        false => umbracast_sky::city(text).map(|(name, place)| (Some(name), place)).map_err(failed)?,
    };
    Ok(json!({
        "name": name, "latitude_deg": place.latitude, "longitude_deg": place.longitude, "height_m": place.height_m,
    })
    .to_string())
}

/// The cities that have names: `[name, latitude, longitude]`.
#[wasm_bindgen]
pub fn cities() -> String {
    json!(CITIES).to_string()
}

/// The coastlines: longitude and latitude of each point in degrees, and a pair of NaN after each line.
#[wasm_bindgen]
pub fn coasts() -> Vec<f32> {
    let mut out = Vec::new();
    let gap = [f32::NAN; 2];
    for line in coastlines() {
        let mut before: Option<[f64; 2]> = None;
        for &point in line.points.iter().chain(line.points.first()) {
            // The south pole, and the meridian at which the Antarctic is cut, are no coasts.
            let is_cut = |from: [f64; 2]| from[1] < -89.9 || point[1] < -89.9 || (from[0] - point[0]).abs() > 90.0;
            if before.is_some_and(is_cut) {
                out.extend(gap);
            }
            out.extend(point.map(|degrees| degrees as f32));
            before = Some(point);
        }
        out.extend(gap);
    }
    out
}

type Line = Vec<[f64; 3]>;

fn line(points: impl IntoIterator<Item = (Time, Place)>, from: Time) -> Line {
    let round = |degrees: f64| (1e5 * degrees).round() / 1e5;
    points
        .into_iter()
        .map(|(time, at)| [round(at.longitude), round(at.latitude), time.seconds_since(from).round()])
        .collect()
}

/// The lines of an eclipse on the Earth. A line is a list of points: longitude, latitude, seconds from the greatest eclipse.
///
/// `path`: records of points of the centre line. `limits`: for each of two radii of the Sun, the northern and the southern limit of the
/// path. `horizon`: where the eclipse begins or ends with the Sun at the horizon. `maximum_at_horizon`: where its maximum is there.
/// `partial`: the limits of the partial eclipse.
#[wasm_bindgen]
pub fn map(text: &str) -> Result<String> {
    #[derive(Serialize)]
    struct Answer {
        center: Line,
        path: Vec<PathPointRecord>,
        limits: Vec<Value>,
        horizon: Vec<Line>,
        maximum_at_horizon: Vec<Line>,
        partial: Vec<Line>,
    }
    let known = request::<Wanted>(text)?.known()?;
    let eclipse = &known.eclipse;
    let middle = eclipse.greatest.time;
    let path = eclipse.central_line(STEP_S);
    let center = line(path.points.iter().map(|point| (point.time, point.center)), middle);
    let limits: Vec<Value> = SUN_RADII
        .iter()
        .zip(&known.variants.sun)
        .map(|(radius, one)| {
            let [north, south] =
                one.limits(STEP_S).map(|side| side.into_iter().map(|part| line(part, middle)).collect::<Vec<_>>());
            json!({ "sun_radius": radius, "north": north, "south": south })
        })
        .collect();
    let (horizon, at_maximum) = horizon_lines(&known);
    let timed = |lines: Vec<Vec<(Time, Place)>>| lines.into_iter().map(|part| line(part, middle)).collect::<Vec<_>>();
    answer(&Answer {
        center,
        path: path.points.iter().map(|point| eclipse.path_point_record(point)).collect(),
        limits,
        horizon: timed(horizon),
        maximum_at_horizon: timed(at_maximum),
        partial: timed(partial_limits(&known)),
    })
}

/// The path of an eclipse as GeoJSON: the file of `umbracast map --geojson`.
#[wasm_bindgen]
pub fn geojson(text: &str) -> Result<String> {
    let known = request::<Wanted>(text)?.known()?;
    let (path, limits) = (known.eclipse.central_line(STEP_S), known.eclipse.limits(STEP_S));
    let lines = path_lines(&path, &limits);
    Ok(path_geojson(&known.eclipse, &path, &limits, &lines, None, &known.conventions()) + "\n")
}

/// The path of an eclipse as KML, with marks every ten minutes.
#[wasm_bindgen]
pub fn kml(text: &str) -> Result<String> {
    let known = request::<Wanted>(text)?.known()?;
    let (eclipse, options) = (&known.eclipse, known.sky.options());
    let lines = path_lines(&eclipse.central_line(STEP_S), &eclipse.limits(STEP_S));
    let points = eclipse.central_line(600.0).points;
    // The first and the last point are at the horizon, not at a full minute.
    let inner = points.get(1..points.len().saturating_sub(1)).unwrap_or_default();
    let clock = |time: Time| time.clock_text(0, options.delta_t).to_string().chars().take(5).collect();
    let place = eclipse.greatest.place;
    let greatest = eclipse.greatest.time;
    let about = [
        format!("Greatest eclipse {}, magnitude {:.4}", eclipse.moment(greatest), eclipse.greatest.view.magnitude),
        format!("Radii {}, TT - UT1 {:.1} s", eclipse.radii().name(), options.delta_t.seconds_at(greatest)),
    ];
    let kml = Kml {
        name: &format!("{} solar eclipse of {}", eclipse.kind.name(), date_of(&options, greatest)),
        about: &about,
        lines: &lines,
        marks: &inner
            .iter()
            .map(|point| ([point.center.longitude, point.center.latitude], clock(point.time)))
            .collect::<Vec<_>>(),
        scale: greatest.scale(options.delta_t),
        greatest: [place.longitude, place.latitude],
    };
    Ok(kml.text())
}

/// An instant, `time_s` seconds from the greatest eclipse: its text, where Sun and shadow are, and what a place sees.
#[wasm_bindgen]
pub fn instant(text: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Request {
        #[serde(flatten)]
        wanted: Wanted,
        time_s: f64,
        place: Option<Observer>,
    }
    let request: Request = request(text)?;
    let known = request.wanted.known()?;
    let time = known.at(request.time_s)?;
    let (sun, _) = known.eclipse.earth_fixed(time);
    let at = |place: Place| json!({ "latitude_deg": place.latitude, "longitude_deg": place.longitude });
    let view = request.place.as_ref().map(Observer::place).transpose()?.map(|place| {
        let view = known.eclipse.view(&place, time);
        let (sun, moon) = known.eclipse.earth_fixed(time);
        let [sun, moon] = [sun, moon].map(|body| body - place.earth_fixed_km());
        let radii = known.radii();
        json!({
            "magnitude": view.magnitude,
            "obscuration": view.obscuration,
            "kind": view.kind.name(),
            "sun_altitude_deg": view.sun_altitude,
            "sun_azimuth_deg": view.sun_azimuth,
            "horizon_altitude_deg": view.horizon_altitude,
            "position_angle_deg": view.position_angle,
            "zenith_angle_deg": view.zenith_angle,
            "sun_radius_deg": (radii.sun_km / sun.length()).asin().to_degrees(),
            "moon_radius_deg": (radii.moon_partial_km / moon.length()).asin().to_degrees(),
            "separation_deg": sun.angle_between(moon).to_degrees(),
        })
    });
    Ok(json!({
        "time": known.eclipse.moment(time).to_string(),
        "sun": at(Place::from_earth_fixed_km(sun)),
        "axis": known.eclipse.axis_place(time).map(at),
        "umbra": outline(&known, time).into_iter().map(|part| line(part.into_iter().map(|at| (time, at)), time)).collect::<Vec<_>>(),
        "view": view,
    })
    .to_string())
}
