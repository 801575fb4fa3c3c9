//! Records: what outputs have of a result. A record is flat, and units are part of the names of its fields. CSV, JSON, tables and Python
//! objects are made from [`Record::fields`] and [`Record::cells`], or from [`serde::Serialize`].

use std::sync::LazyLock;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::almanac::{Sky, SkyOptions};
use crate::calendar::date_from_days;
use crate::circumstances::{Circumstances, LocalKind, LocalView};
use crate::constants::LunarRule;
use crate::delta_t::DeltaT;
use crate::eclipse::{Eclipse, EclipseBody};
use crate::limits::LinePoint;
use crate::lunar::{LunarCircumstances, LunarEclipse, LunarKind, MoonView};
use crate::places::Place;
use crate::saros::lunation_and_saros;
use crate::solar::{SolarEclipse, SolarKind};
use crate::time::{Time, TimeText};
use crate::transit::{Transit, TransitCircumstances};

/// Decimals of the seconds of instants.
const TIME_DECIMALS: usize = 2;

/// A value of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// There is no such value.
    Empty,
    /// A name.
    Text(&'a str),
    /// An instant.
    Time(TimeText),
    /// A whole number.
    Integer(i32),
    /// A number.
    Number(f64),
}

/// What values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Any text.
    Text,
    /// One of these names.
    OneOf(&'static [&'static str]),
    /// An instant in UTC (UT1 before 1972), as in [`Time::text`].
    Time,
    /// A whole number.
    Integer,
    /// A number.
    Number,
}

/// A field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name: of the column, of the key in JSON, and in Python.
    pub name: &'static str,
    /// A description.
    pub about: &'static str,
    /// What values it has.
    pub kind: FieldKind,
    /// Whether it may be empty.
    pub optional: bool,
}

impl Field {
    /// Decimals of a number in text, by the unit. A name that ends with a digit is that of a coefficient.
    fn decimals(&self) -> i32 {
        if self.name.ends_with(|c: char| c.is_ascii_digit()) {
            return 8;
        }
        match self.name.rsplit('_').next() {
            Some("s") => 2,
            Some("km") => 3,
            Some("deg") => 5,
            Some("tt") => 8,
            _ => 6,
        }
    }
}

/// A result as a row of named cells.
pub trait Record {
    /// The fields, in order.
    fn fields(&self) -> &'static [Field];
    /// A value for each field. Numbers have their full precision; [`Serialize`] rounds them.
    fn cells(&self) -> Vec<Cell<'_>>;
}

impl Serialize for dyn Record + '_ {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Rounded<'a>(Cell<'a>, i32);
        impl Serialize for Rounded<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    Cell::Empty => serializer.serialize_none(),
                    Cell::Text(text) => serializer.serialize_str(text),
                    Cell::Time(time) => serializer.collect_str(&time),
                    Cell::Integer(number) => serializer.serialize_i32(number),
                    Cell::Number(number) => {
                        let factor = 10_f64.powi(self.1);
                        // Not −0.
                        serializer.serialize_f64((number * factor).round() / factor + 0.0)
                    }
                }
            }
        }
        let fields = self.fields();
        let mut out = serializer.serialize_struct("record", fields.len())?;
        for (field, cell) in fields.iter().zip(self.cells()) {
            out.serialize_field(field.name, &Rounded(cell, field.decimals()))?;
        }
        out.end()
    }
}

/// A value of one field, or of several whose names begin alike.
trait Value {
    /// Number of cells.
    const WIDTH: usize;
    fn fields(name: &str, about: &str, out: &mut Vec<Field>);
    fn cells<'a>(&'a self, out: &mut Vec<Cell<'a>>);
}

macro_rules! value {
    ($($type:ty, $kind:expr, $cell:expr;)+) => {$(
        impl Value for $type {
            const WIDTH: usize = 1;
            fn fields(name: &str, about: &str, out: &mut Vec<Field>) {
                let [name, about] = [name, about].map(|text| &*text.to_owned().leak());
                out.push(Field { name, about, kind: $kind, optional: false });
            }
            fn cells<'a>(&'a self, out: &mut Vec<Cell<'a>>) {
                let cell: for<'b> fn(&'b Self) -> Cell<'b> = $cell;
                out.push(cell(self));
            }
        }
    )+};
}

value! {
    f64, FieldKind::Number, |number| Cell::Number(*number);
    i32, FieldKind::Integer, |number| Cell::Integer(*number);
    TimeText, FieldKind::Time, |time| Cell::Time(*time);
    String, FieldKind::Text, |text| Cell::Text(text);
    &'static str, FieldKind::Text, |text| Cell::Text(text);
    SolarKind, FieldKind::OneOf(&["partial", "annular", "total", "hybrid"]), |kind| Cell::Text(kind.name());
    LunarKind, FieldKind::OneOf(&["penumbral", "partial", "total"]), |kind| Cell::Text(kind.name());
    LocalKind, FieldKind::OneOf(&["none", "partial", "annular", "total"]), |kind| Cell::Text(kind.name());
    LunarRule, FieldKind::OneOf(&["danjon", "chauvenet", "plus88", "none", "equator"]), |rule| Cell::Text(rule.name());
}

impl<T: Value> Value for Option<T> {
    const WIDTH: usize = T::WIDTH;
    fn fields(name: &str, about: &str, out: &mut Vec<Field>) {
        let first = out.len();
        T::fields(name, about, out);
        out[first..].iter_mut().for_each(|field| field.optional = true);
    }
    fn cells<'a>(&'a self, out: &mut Vec<Cell<'a>>) {
        match self {
            Some(value) => value.cells(out),
            None => out.extend(std::iter::repeat_n(Cell::Empty, T::WIDTH)),
        }
    }
}

/// The coefficients of a polynomial, of the constant first: `x0`, `x1` and so on.
impl<const N: usize> Value for [f64; N] {
    const WIDTH: usize = N;
    fn fields(name: &str, about: &str, out: &mut Vec<Field>) {
        for power in 0..N {
            f64::fields(&format!("{name}{power}"), &format!("{about} Coefficient of t^{power}."), out);
        }
    }
    fn cells<'a>(&'a self, out: &mut Vec<Cell<'a>>) {
        out.extend(self.map(Cell::Number));
    }
}

/// Defines a struct as a group of values. In a record, its fields have the name of the group before their own; its `time` has the name alone.
macro_rules! values {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[doc = $doc])+ pub $field: $type,)+ }

        impl Value for $name {
            const WIDTH: usize = 0 $(+ <$type>::WIDTH)+;
            fn fields(group: &str, about: &str, out: &mut Vec<Field>) {
                $({
                    let (own, doc) = (stringify!($field), concat!($($doc),+).trim());
                    match (group, own) {
                        ("", _) => <$type>::fields(own, doc, out),
                        (_, "time") => <$type>::fields(group, about, out),
                        _ => <$type>::fields(&format!("{group}_{own}"), &format!("{doc} See `{group}`."), out),
                    }
                })+
            }
            fn cells<'a>(&'a self, out: &mut Vec<Cell<'a>>) {
                $(self.$field.cells(out);)+
            }
        }
    };
}

/// Defines a record.
macro_rules! record {
    ($(#[doc = $about:literal])+ $name:ident { $($fields:tt)+ }) => {
        values! { $(#[doc = $about])+ $name { $($fields)+ } }

        impl $name {
            /// The fields, in order.
            pub fn fields() -> &'static [Field] {
                static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
                    let mut fields = Vec::new();
                    <$name as Value>::fields("", "", &mut fields);
                    fields
                });
                &FIELDS
            }
        }

        impl Record for $name {
            fn fields(&self) -> &'static [Field] {
                Self::fields()
            }
            fn cells(&self) -> Vec<Cell<'_>> {
                let mut cells = Vec::with_capacity(Self::WIDTH);
                Value::cells(self, &mut cells);
                cells
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (self as &dyn Record).serialize(serializer)
            }
        }
    };
}

values! {
    /// When and where the shadow first or last touches the Earth.
    ContactRecord {
        /// The instant.
        time: TimeText,
        /// Geodetic latitude (WGS 84), north positive.
        latitude_deg: f64,
        /// Longitude, east positive.
        longitude_deg: f64,
    }
}

record! {
    /// A solar eclipse.
    SolarEclipseRecord {
        /// When the axis of the shadow is nearest to the centre of the Earth.
        greatest: TimeText,
        /// `solar`.
        body: &'static str,
        /// Total or annular: on the whole centre line; hybrid: total on a part of it. Without a centre line: at the place nearest to the axis.
        kind: SolarKind,
        /// Julian date of the greatest eclipse in TT.
        julian_date_tt: f64,
        /// Number of the Saros series.
        saros: i32,
        /// Lunations since the new moon of 2000-01-06.
        lunation: i32,
        /// Least distance of the axis from the centre of the Earth in equatorial radii, north positive.
        gamma: f64,
        /// At the greatest eclipse: the covered part of the Sun's diameter; if total or annular, the ratio of the diameters.
        magnitude: f64,
        /// At the greatest eclipse: the covered part of the Sun's disc.
        obscuration: f64,
        /// Where the axis meets the Earth at the greatest eclipse. If it misses the Earth: the direction to its nearest point (geocentric).
        latitude_deg: f64,
        /// Longitude of the same place, east positive.
        longitude_deg: f64,
        /// Altitude of the Sun at this place, without refraction.
        sun_altitude_deg: f64,
        /// Azimuth of the Sun at this place, from north through east.
        sun_azimuth_deg: f64,
        /// Duration of the total or annular eclipse at this place.
        central_duration_s: Option<f64>,
        /// Width of the path at this place.
        path_width_km: Option<f64>,
        /// From `begins` to `ends`.
        duration_s: f64,
        /// The penumbra first touches the Earth (P1).
        begins: ContactRecord,
        /// The axis of the shadow first touches the Earth.
        axis_begins: Option<ContactRecord>,
        /// The axis of the shadow last touches the Earth.
        axis_ends: Option<ContactRecord>,
        /// The penumbra last touches the Earth (P4).
        ends: ContactRecord,
        /// Radii of Sun and Moon that were used.
        radii: String,
        /// TT − UT1 that was used.
        delta_t_s: f64,
    }
}

record! {
    /// A lunar eclipse.
    LunarEclipseRecord {
        /// When the Moon is nearest to the axis of the Earth's shadow.
        greatest: TimeText,
        /// `lunar`.
        body: &'static str,
        /// Penumbral, partial or total.
        kind: LunarKind,
        /// Julian date of the greatest eclipse in TT.
        julian_date_tt: f64,
        /// Number of the Saros series.
        saros: i32,
        /// Lunations from the new moon of 2000-01-06 to that before this full moon.
        lunation: i32,
        /// Least distance of the Moon from the axis in equatorial radii of the Earth, north positive.
        gamma: f64,
        /// The part of the Moon's diameter in the umbra; negative if the Moon misses it.
        umbral_magnitude: f64,
        /// The part of the Moon's diameter in the penumbra.
        penumbral_magnitude: f64,
        /// Where the Moon is at the zenith at the greatest eclipse.
        latitude_deg: f64,
        /// Longitude of the same place, east positive.
        longitude_deg: f64,
        /// From `begins` to `ends`.
        duration_s: f64,
        /// From `partial_begins` to `partial_ends`.
        partial_duration_s: Option<f64>,
        /// From `total_begins` to `total_ends`.
        total_duration_s: Option<f64>,
        /// The Moon enters the penumbra (P1).
        begins: TimeText,
        /// The Moon enters the umbra (U1).
        partial_begins: Option<TimeText>,
        /// The whole Moon is in the umbra (U2).
        total_begins: Option<TimeText>,
        /// The Moon begins to leave the umbra (U3).
        total_ends: Option<TimeText>,
        /// The Moon has left the umbra (U4).
        partial_ends: Option<TimeText>,
        /// The Moon has left the penumbra (P4).
        ends: TimeText,
        /// Radii of Sun and Moon that were used.
        radii: String,
        /// The rule for the Earth's atmosphere that was used.
        lunar_rule: LunarRule,
        /// TT − UT1 that was used.
        delta_t_s: f64,
    }
}

values! {
    /// The Sun at a place and an instant.
    ViewRecord {
        /// The instant.
        time: TimeText,
        /// Altitude of the Sun's centre above the horizontal plane, without refraction unless it is asked for.
        sun_altitude_deg: f64,
        /// Azimuth of the Sun's centre, from north through east.
        sun_azimuth_deg: f64,
        /// Altitude of the horizon below or above the Sun: negative for a place above the ellipsoid.
        horizon_altitude_deg: f64,
        /// Position angle on the Sun's limb, from the celestial north pole through east: at contacts of the point at which the limbs touch, else of the centre of the Moon or the planet.
        position_angle_deg: f64,
        /// The same angle from the zenith instead of the pole, in the same sense.
        zenith_angle_deg: f64,
    }
}

record! {
    /// Local circumstances of a solar eclipse. Contacts are geometric: the Sun may be below the horizon.
    CircumstancesRecord {
        /// Name of the place.
        name: Option<String>,
        /// Geodetic latitude (WGS 84), north positive.
        latitude_deg: f64,
        /// Longitude, east positive.
        longitude_deg: f64,
        /// Height above the ellipsoid.
        height_m: f64,
        /// Kind of eclipse at the maximum.
        kind: LocalKind,
        /// At the maximum: the covered part of the Sun's diameter; if total or annular, the ratio of the diameters.
        magnitude: f64,
        /// At the maximum: the covered part of the Sun's disc.
        obscuration: f64,
        /// Kind of eclipse that is seen: at the largest obscuration with the Sun's centre above the horizon; none without one.
        visible_kind: LocalKind,
        /// The magnitude there, 0 without one.
        visible_magnitude: f64,
        /// The largest obscuration with the Sun's centre above the horizon.
        visible_obscuration: f64,
        /// Duration of the total or annular eclipse, from `c2` to `c3`.
        central_duration_s: Option<f64>,
        /// Duration of the whole eclipse, from `c1` to `c4`.
        duration_s: Option<f64>,
        /// First contact: the partial eclipse begins.
        c1: Option<ViewRecord>,
        /// Second contact: the total or annular eclipse begins.
        c2: Option<ViewRecord>,
        /// The largest magnitude.
        maximum: Option<ViewRecord>,
        /// Third contact: the total or annular eclipse ends.
        c3: Option<ViewRecord>,
        /// Fourth contact: the partial eclipse ends.
        c4: Option<ViewRecord>,
        /// The largest obscuration with the Sun's centre above the horizon: the maximum, sunrise or sunset.
        visible: Option<ViewRecord>,
        /// The Sun's centre rises above the horizon between `c1` and `c4`.
        sunrise: Option<ViewRecord>,
        /// The Sun's centre sets below the horizon between them.
        sunset: Option<ViewRecord>,
        /// Radii of Sun and Moon that were used.
        radii: String,
        /// TT − UT1 that was used.
        delta_t_s: f64,
    }
}

values! {
    /// The Moon at a place and an instant.
    MoonViewRecord {
        /// The instant.
        time: TimeText,
        /// Altitude of the Moon's centre above the horizontal plane, without refraction unless it is asked for.
        moon_altitude_deg: f64,
        /// Azimuth of the Moon's centre, from north through east.
        moon_azimuth_deg: f64,
        /// Altitude of the horizon below or above the Moon: negative for a place above the ellipsoid.
        horizon_altitude_deg: f64,
    }
}

record! {
    /// What a place sees of a lunar eclipse. The Moon may be below the horizon at contacts.
    LunarCircumstancesRecord {
        /// Name of the place.
        name: Option<String>,
        /// Geodetic latitude (WGS 84), north positive.
        latitude_deg: f64,
        /// Longitude, east positive.
        longitude_deg: f64,
        /// Height above the ellipsoid.
        height_m: f64,
        /// The deepest phase of which a part has the Moon's centre above the horizon; empty if there is none.
        visible_kind: Option<LunarKind>,
        /// The Moon enters the penumbra (P1).
        begins: MoonViewRecord,
        /// The Moon enters the umbra (U1).
        partial_begins: Option<MoonViewRecord>,
        /// The whole Moon is in the umbra (U2).
        total_begins: Option<MoonViewRecord>,
        /// When the Moon is nearest to the axis of the Earth's shadow.
        greatest: MoonViewRecord,
        /// The Moon begins to leave the umbra (U3).
        total_ends: Option<MoonViewRecord>,
        /// The Moon has left the umbra (U4).
        partial_ends: Option<MoonViewRecord>,
        /// The Moon has left the penumbra (P4).
        ends: MoonViewRecord,
        /// The Moon's centre rises above the horizon during the eclipse.
        moonrise: Option<MoonViewRecord>,
        /// The Moon's centre sets below the horizon during the eclipse.
        moonset: Option<MoonViewRecord>,
        /// Radii of Sun and Moon that were used.
        radii: String,
        /// The rule for the Earth's atmosphere that was used.
        lunar_rule: LunarRule,
        /// TT − UT1 that was used.
        delta_t_s: f64,
    }
}

values! {
    /// A contact of a transit, seen from the centre of the Earth.
    GeocentricContactRecord {
        /// The instant.
        time: TimeText,
        /// Position angle of the planet's centre on the Sun, from the celestial north pole through east.
        position_angle_deg: f64,
    }
}

record! {
    /// A transit of Mercury or Venus, as seen from the centre of the Earth.
    TransitRecord {
        /// When the centres of planet and Sun are nearest to each other.
        greatest: GeocentricContactRecord,
        /// `mercury` or `venus`.
        planet: String,
        /// Julian date of the greatest transit in TT.
        julian_date_tt: f64,
        /// The least distance of the centres.
        separation_arcsec: f64,
        /// Where the Sun is at the zenith at the greatest transit.
        latitude_deg: f64,
        /// Longitude of the same place, east positive.
        longitude_deg: f64,
        /// From `c1` to `c4`; empty, as the contacts, if the planet misses the Sun as seen from the centre of the Earth.
        duration_s: Option<f64>,
        /// First contact: the planet touches the Sun's disc from outside.
        c1: Option<GeocentricContactRecord>,
        /// Second contact: the whole planet is in front of the Sun.
        c2: Option<GeocentricContactRecord>,
        /// Third contact: the planet touches the Sun's limb from inside.
        c3: Option<GeocentricContactRecord>,
        /// Fourth contact: the planet has left the disc.
        c4: Option<GeocentricContactRecord>,
        /// Radii that were used: that of the Sun counts.
        radii: String,
        /// TT − UT1 that was used.
        delta_t_s: f64,
    }
}

record! {
    /// What a place sees of a transit of Mercury or Venus. Contacts are geometric: the Sun may be below the horizon.
    TransitCircumstancesRecord {
        /// Name of the place.
        name: Option<String>,
        /// Geodetic latitude (WGS 84), north positive.
        latitude_deg: f64,
        /// Longitude, east positive.
        longitude_deg: f64,
        /// Height above the ellipsoid.
        height_m: f64,
        /// `mercury` or `venus`.
        planet: String,
        /// The least distance of the centres of planet and Sun.
        separation_arcsec: f64,
        /// From `c1` to `c4`.
        duration_s: Option<f64>,
        /// First contact: the planet touches the Sun's disc from outside.
        c1: Option<ViewRecord>,
        /// Second contact: the whole planet is in front of the Sun.
        c2: Option<ViewRecord>,
        /// When the centres are nearest to each other.
        greatest: ViewRecord,
        /// Third contact: the planet touches the Sun's limb from inside.
        c3: Option<ViewRecord>,
        /// Fourth contact: the planet has left the disc.
        c4: Option<ViewRecord>,
        /// The Sun's centre rises above the horizon between `c1` and `c4`.
        sunrise: Option<ViewRecord>,
        /// The Sun's centre sets below the horizon between them.
        sunset: Option<ViewRecord>,
        /// Radii that were used: that of the Sun counts.
        radii: String,
        /// TT − UT1 that was used.
        delta_t_s: f64,
    }
}

record! {
    /// Besselian elements of a solar eclipse: polynomials of t, the hours since `t0_tt`, for 3 hours before and after it. Names are those of the canons.
    BesselianElementsRecord {
        /// When the axis of the shadow is nearest to the centre of the Earth.
        greatest: TimeText,
        /// Total, annular, hybrid or partial.
        kind: SolarKind,
        /// The full hour of TT that is nearest to the greatest eclipse, such as 2024-04-08T18:00:00.
        t0_tt: String,
        /// Where the axis of the shadow meets the fundamental plane, to the east, in equatorial radii of the Earth.
        x: [f64; 4],
        /// Where it meets the plane, to the north, in equatorial radii of the Earth.
        y: [f64; 4],
        /// Declination of the axis in degrees.
        d: [f64; 3],
        /// Radius of the penumbra in the fundamental plane, in equatorial radii of the Earth.
        l1: [f64; 3],
        /// Radius of the umbra in the fundamental plane, in equatorial radii of the Earth; negative if total.
        l2: [f64; 3],
        /// Ephemeris hour angle of the axis in degrees: its hour angle at Greenwich if UT1 were TT.
        mu: [f64; 3],
        /// Tangent of the angle between the axis and the edge of the penumbra.
        tan_f1: f64,
        /// Tangent of the angle between the axis and the edge of the umbra.
        tan_f2: f64,
        /// Radii of Sun and Moon that were used.
        radii: String,
        /// TT − UT1 that was used for `greatest`: the elements do not depend on it.
        delta_t_s: f64,
    }
}

record! {
    /// The path of a total or annular eclipse at one instant.
    PathPointRecord {
        /// The instant.
        time: TimeText,
        /// Total or annular.
        kind: LocalKind,
        /// Latitude of the point where the axis of the shadow meets the Earth.
        latitude_deg: f64,
        /// Longitude of this point, east positive.
        longitude_deg: f64,
        /// Latitude of the point of the northern limit; empty if it is not on the Earth.
        north_latitude_deg: Option<f64>,
        /// Longitude of the point of the northern limit.
        north_longitude_deg: Option<f64>,
        /// Latitude of the point of the southern limit.
        south_latitude_deg: Option<f64>,
        /// Longitude of the point of the southern limit.
        south_longitude_deg: Option<f64>,
        /// Duration of the total or annular eclipse at the centre; 0 where an annular path turns total.
        central_duration_s: Option<f64>,
        /// Width of the path.
        path_width_km: Option<f64>,
        /// Ratio of the diameters of Moon and Sun at the centre.
        magnitude: f64,
        /// Altitude of the Sun at the centre, without refraction.
        sun_altitude_deg: f64,
    }
}

record! {
    /// The conventions of a result.
    Conventions {
        /// Name of the ephemeris.
        ephemeris: String,
        /// Radii of Sun and Moon: `iau`, `nasa`, or values.
        radii: String,
        /// Radius of the Sun.
        sun_radius_km: f64,
        /// Radius of the Moon for partial phases.
        moon_radius_km: f64,
        /// Radius of the Moon for total and annular phases.
        moon_radius_central_km: f64,
        /// TT − UT1.
        delta_t_s: f64,
        /// `given`, `table` or `extrapolated`.
        delta_t_source: &'static str,
        /// Standard error of TT − UT1; empty if it was given.
        delta_t_error_s: Option<f64>,
        /// The rule for the Earth's atmosphere, of results that depend on it.
        lunar_rule: Option<LunarRule>,
        /// Refraction in altitudes of Sun and Moon; empty if there is none.
        refraction: Option<&'static str>,
        /// `UTC`, or `UT1` before 1972; `UTC (UT1 before 1972)` of a list with both.
        time_scale: &'static str,
    }
}

impl Conventions {
    /// Those of a list of results from a first to a last instant: TT − UT1 is that with the larger error.
    pub fn of_list(sky: &Sky, first: Time, last: Time, lunar_rule: bool) -> Self {
        let [first, last] = [first, last].map(|time| Self::at(sky, time, lunar_rule));
        let is_one = first.time_scale == last.time_scale;
        let time_scale = if is_one { first.time_scale } else { "UTC (UT1 before 1972)" };
        Self { time_scale, ..if last.delta_t_error_s > first.delta_t_error_s { last } else { first } }
    }

    /// Those of a sky at an instant. `lunar_rule`: whether the result depends on it.
    pub fn at(sky: &Sky, time: Time, lunar_rule: bool) -> Self {
        let SkyOptions { delta_t, radii, lunar_rule: rule, refraction } = sky.options();
        Self {
            ephemeris: sky.ephemeris().name().to_string(),
            radii: radii.name(),
            sun_radius_km: radii.sun_km,
            moon_radius_km: radii.moon_partial_km,
            moon_radius_central_km: radii.moon_central_km,
            delta_t_s: delta_t.seconds_at(time),
            delta_t_source: match delta_t {
                DeltaT::Seconds(_) => "given",
                DeltaT::Table if delta_t.is_extrapolated(time) => "extrapolated",
                DeltaT::Table => "table",
            },
            delta_t_error_s: delta_t.error_s(time),
            lunar_rule: lunar_rule.then_some(rule),
            refraction: refraction.then_some("Saemundsson 1986, 1010 hPa, 10 C"),
            time_scale: time.scale(delta_t),
        }
    }
}

impl Eclipse {
    /// What outputs have of it.
    pub fn record(&self) -> Box<dyn Record> {
        match self {
            Self::Solar(eclipse) => Box::new(eclipse.record()),
            Self::Lunar(eclipse) => Box::new(eclipse.record()),
        }
    }
}

impl SolarEclipse {
    /// An instant as it stands in records.
    pub fn moment(&self, time: Time) -> TimeText {
        time.text(TIME_DECIMALS, self.delta_t)
    }

    /// What outputs have of it.
    pub fn record(&self) -> SolarEclipseRecord {
        let greatest = &self.greatest;
        let contact = |time: Time, place: Place| ContactRecord {
            time: self.moment(time),
            latitude_deg: place.latitude,
            longitude_deg: place.longitude,
        };
        // At the instants themselves, rounding may move the axis off the Earth.
        let axis = |time: Option<Time>, inward: f64| {
            time.and_then(|time| Some(contact(time, self.axis_place(time.plus(inward))?)))
        };
        let (lunation, saros) = lunation_and_saros(greatest.time, EclipseBody::Solar);
        SolarEclipseRecord {
            greatest: self.moment(greatest.time),
            body: "solar",
            kind: self.kind,
            julian_date_tt: greatest.time.tt_julian_date(),
            saros,
            lunation,
            gamma: greatest.gamma,
            magnitude: greatest.view.magnitude,
            obscuration: greatest.view.obscuration,
            latitude_deg: greatest.place.latitude,
            longitude_deg: greatest.place.longitude,
            sun_altitude_deg: greatest.view.sun_altitude,
            sun_azimuth_deg: greatest.view.sun_azimuth,
            central_duration_s: greatest.central_duration_s,
            path_width_km: self.line_point(greatest.time).and_then(|point| point.width_km),
            duration_s: self.ends.0.seconds_since(self.begins.0),
            begins: contact(self.begins.0, self.begins.1),
            axis_begins: axis(self.axis_begins, 0.01),
            axis_ends: axis(self.axis_ends, -0.01),
            ends: contact(self.ends.0, self.ends.1),
            radii: self.radii().name(),
            delta_t_s: self.delta_t.seconds_at(greatest.time),
        }
    }

    /// What outputs have of local circumstances.
    pub fn circumstances_record(&self, name: Option<String>, local: &Circumstances) -> CircumstancesRecord {
        let view = |view: LocalView| view_record(view, self.delta_t);
        CircumstancesRecord {
            name,
            latitude_deg: local.place.latitude,
            longitude_deg: local.place.longitude,
            height_m: local.place.height_m,
            kind: local.kind,
            magnitude: local.maximum.magnitude,
            obscuration: local.maximum.obscuration,
            visible_kind: local.visible_kind(),
            visible_magnitude: local.visible.map_or(0.0, |view| view.magnitude),
            visible_obscuration: local.visible.map_or(0.0, |view| view.obscuration),
            central_duration_s: local.central_duration_s(),
            duration_s: local.duration_s(),
            c1: local.c1.map(view),
            c2: local.c2.map(view),
            maximum: local.c1.map(|_| view(local.maximum)),
            c3: local.c3.map(view),
            c4: local.c4.map(view),
            visible: local.visible.map(view),
            sunrise: local.sunrise.map(view),
            sunset: local.sunset.map(view),
            radii: self.radii().name(),
            delta_t_s: self.delta_t.seconds_at(self.greatest.time),
        }
    }

    /// What outputs have of the Besselian elements.
    pub fn besselian_elements_record(&self) -> BesselianElementsRecord {
        let elements = self.besselian_elements();
        let hours = (elements.t0.tt_seconds() / 3600.0).round() as i64 + 12;
        let (year, month, day) = date_from_days(hours.div_euclid(24));
        BesselianElementsRecord {
            greatest: self.moment(self.greatest.time),
            kind: self.kind,
            t0_tt: format!("{year}-{month:02}-{day:02}T{:02}:00:00", hours.rem_euclid(24)),
            x: elements.x,
            y: elements.y,
            d: elements.d,
            l1: elements.l1,
            l2: elements.l2,
            mu: elements.mu,
            tan_f1: elements.tan_f1,
            tan_f2: elements.tan_f2,
            radii: self.radii().name(),
            delta_t_s: self.delta_t.seconds_at(self.greatest.time),
        }
    }

    /// What outputs have of a point of the path.
    pub fn path_point_record(&self, point: &LinePoint) -> PathPointRecord {
        PathPointRecord {
            time: self.moment(point.time),
            kind: point.kind,
            latitude_deg: point.center.latitude,
            longitude_deg: point.center.longitude,
            north_latitude_deg: point.north.map(|place| place.latitude),
            north_longitude_deg: point.north.map(|place| place.longitude),
            south_latitude_deg: point.south.map(|place| place.latitude),
            south_longitude_deg: point.south.map(|place| place.longitude),
            central_duration_s: point.duration_s,
            path_width_km: point.width_km,
            magnitude: point.magnitude,
            sun_altitude_deg: point.sun_altitude,
        }
    }
}

fn view_record(view: LocalView, delta_t: DeltaT) -> ViewRecord {
    ViewRecord {
        time: view.time.text(TIME_DECIMALS, delta_t),
        sun_altitude_deg: view.sun_altitude,
        sun_azimuth_deg: view.sun_azimuth,
        horizon_altitude_deg: view.horizon_altitude,
        position_angle_deg: view.position_angle,
        zenith_angle_deg: view.zenith_angle,
    }
}

impl Transit {
    /// What outputs have of it.
    pub fn record(&self) -> TransitRecord {
        let of = &self.contacts;
        let contact = |view: LocalView| GeocentricContactRecord {
            time: view.time.text(TIME_DECIMALS, self.delta_t),
            position_angle_deg: view.position_angle,
        };
        let (first, last) = self.span();
        TransitRecord {
            greatest: contact(of.greatest),
            planet: self.planet.name().to_lowercase(),
            julian_date_tt: of.greatest.time.tt_julian_date(),
            separation_arcsec: of.separation_arcsec,
            latitude_deg: self.zenith.latitude,
            longitude_deg: self.zenith.longitude,
            duration_s: of.c1.map(|_| last.seconds_since(first)),
            c1: of.c1.map(contact),
            c2: of.c2.map(contact),
            c3: of.c3.map(contact),
            c4: of.c4.map(contact),
            radii: self.radii.name(),
            delta_t_s: self.delta_t.seconds_at(of.greatest.time),
        }
    }

    /// What outputs have of a place.
    pub fn circumstances_record(
        &self,
        name: Option<String>,
        local: &TransitCircumstances,
    ) -> TransitCircumstancesRecord {
        let view = |view: LocalView| view_record(view, self.delta_t);
        let of = &local.contacts;
        TransitCircumstancesRecord {
            name,
            latitude_deg: local.place.latitude,
            longitude_deg: local.place.longitude,
            height_m: local.place.height_m,
            planet: self.planet.name().to_lowercase(),
            separation_arcsec: of.separation_arcsec,
            duration_s: of.c4.zip(of.c1).map(|(last, first)| last.time.seconds_since(first.time)),
            c1: of.c1.map(view),
            c2: of.c2.map(view),
            greatest: view(of.greatest),
            c3: of.c3.map(view),
            c4: of.c4.map(view),
            sunrise: local.sunrise.map(view),
            sunset: local.sunset.map(view),
            radii: self.radii.name(),
            delta_t_s: self.delta_t.seconds_at(of.greatest.time),
        }
    }
}

impl LunarEclipse {
    /// What outputs have of it.
    pub fn record(&self) -> LunarEclipseRecord {
        let moment = |time: Time| time.text(TIME_DECIMALS, self.delta_t);
        let span = |begins: Option<Time>, ends: Option<Time>| Some(ends?.seconds_since(begins?));
        let (lunation, saros) = lunation_and_saros(self.greatest, EclipseBody::Lunar);
        LunarEclipseRecord {
            greatest: moment(self.greatest),
            body: "lunar",
            kind: self.kind,
            julian_date_tt: self.greatest.tt_julian_date(),
            saros,
            lunation,
            gamma: self.gamma,
            umbral_magnitude: self.umbral_magnitude,
            penumbral_magnitude: self.penumbral_magnitude,
            latitude_deg: self.zenith.latitude,
            longitude_deg: self.zenith.longitude,
            duration_s: self.ends.seconds_since(self.begins),
            partial_duration_s: span(self.partial_begins, self.partial_ends),
            total_duration_s: span(self.total_begins, self.total_ends),
            begins: moment(self.begins),
            partial_begins: self.partial_begins.map(moment),
            total_begins: self.total_begins.map(moment),
            total_ends: self.total_ends.map(moment),
            partial_ends: self.partial_ends.map(moment),
            ends: moment(self.ends),
            radii: self.radii().name(),
            lunar_rule: self.rule(),
            delta_t_s: self.delta_t.seconds_at(self.greatest),
        }
    }
    /// What outputs have of a place.
    pub fn circumstances_record(&self, name: Option<String>, local: &LunarCircumstances) -> LunarCircumstancesRecord {
        let view = |view: MoonView| MoonViewRecord {
            time: view.time.text(TIME_DECIMALS, self.delta_t),
            moon_altitude_deg: view.moon_altitude,
            moon_azimuth_deg: view.moon_azimuth,
            horizon_altitude_deg: view.horizon_altitude,
        };
        LunarCircumstancesRecord {
            name,
            latitude_deg: local.place.latitude,
            longitude_deg: local.place.longitude,
            height_m: local.place.height_m,
            visible_kind: local.visible_kind,
            begins: view(local.begins),
            partial_begins: local.partial_begins.map(view),
            total_begins: local.total_begins.map(view),
            greatest: view(local.greatest),
            total_ends: local.total_ends.map(view),
            partial_ends: local.partial_ends.map(view),
            ends: view(local.ends),
            moonrise: local.moonrise.map(view),
            moonset: local.moonset.map(view),
            radii: self.radii().name(),
            lunar_rule: self.rule(),
            delta_t_s: self.delta_t.seconds_at(self.greatest),
        }
    }
}
