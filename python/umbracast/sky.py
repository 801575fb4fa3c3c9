"""Real eclipses from 1900 to 2050, or in the years of another ephemeris: search, local circumstances, obscuration maps, positions, and system files.

::

    from umbracast import sky

    sky.eclipse("2024-04-08").greatest                              # datetime64: 2024-04-08T18:17:20.2
    sky.circumstances("2024-04-08", 32.7767, -96.797).c2            # Dallas: totality begins

Dates are days or instants in UTC, and in UT1 before 1972: text, ``2024-04-08``, ``2024-04-08T18:17:20Z`` or
``2024-04-08T13:17:20-05:00``, ``datetime.date``, ``datetime.datetime`` or ``numpy.datetime64`` (with the unit D it is a day). A
``datetime`` with a time zone is converted to UTC, and one without is taken as UTC. Times of Astropy and Skyfield may have any scale; those of Skyfield
from 1972 on are rounded to a millisecond. Of several instants, one in a leap second, which ``datetime64`` does not have, is the last microsecond before it.
Plain numbers are refused: `julian_date` converts Julian dates. Times in results are ``datetime64[us]`` in the same scale, ``NaT`` if they do not exist. Names of fields are those of CSV and JSON; numbers that do not exist are ``nan`` in arrays, else None.
Latitudes are geodetic (WGS 84), east longitudes are positive, both in degrees; heights are metres above the ellipsoid.

The time of a clock in a time zone, from an instant in UTC::

    from datetime import timezone
    from zoneinfo import ZoneInfo

    totality = sky.circumstances("2024-04-08", 32.7767, -96.797).c2
    totality.item().replace(tzinfo=timezone.utc).astimezone(ZoneInfo("America/Chicago"))

Conventions are options of most functions:

delta_t : float, optional
    TT − UT1 in seconds. Default: a table from −720 to 2027, extrapolated beyond.
radii : "iau" or "nasa", default "iau"
    Radii of Sun and Moon.
sun_radius : float, optional
    Radius of the Sun in arcseconds at 1 au, such as 959.95. Default: that of `radii`.
moon_k : float, optional
    Radius of the Moon in equatorial radii of the Earth, such as 0.2722810. Default: that of `radii`.
lunar_rule : "danjon", "chauvenet", "plus88", "none" or "equator", default "danjon"
    How the Earth's atmosphere enlarges the shadow in lunar eclipses.
refraction : bool, default False
    Raise altitudes of Sun and Moon by refraction in air of 1010 hPa and 10 °C (Sæmundsson 1986), so that they rise earlier and set later.
    Instants of contacts stay. Only local circumstances have it.
ephemeris : path, optional
    An SPK file, ``.bsp``, with segments of type 2, 3, 9 or 13, such as JPL's ``de440.bsp``. Default: the built-in excerpt of DE421. Each call reads the
    file.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _umbracast, _validate
from ._dates import Date, Dates, date_text, instants
from ._pictures import System
from ._sky_types import (
    BesselianElements,
    CentralLine,
    Circumstances,
    EclipseKind,
    LunarCircumstances,
    LunarEclipse,
    LunarRule,
    Obscuration,
    Radii,
    SolarEclipse,
    Transit,
    TransitCircumstances,
)

__all__ = [
    "BesselianElements",
    "CentralLine",
    "Circumstances",
    "EclipseKind",
    "LunarCircumstances",
    "LunarEclipse",
    "Obscuration",
    "SolarEclipse",
    "Transit",
    "TransitCircumstances",
    "besselian_elements",
    "central_line",
    "circumstances",
    "eclipse",
    "eclipses",
    "julian_date",
    "lunar_circumstances",
    "obscuration",
    "positions",
    "system",
    "transit_circumstances",
    "transits",
]


def eclipse(
    date: Date,
    *,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    lunar_rule: LunarRule = "danjon",
    ephemeris: str | os.PathLike[str] | None = None,
) -> SolarEclipse | LunarEclipse | None:
    """The solar or lunar eclipse of a day, or None.

    Parameters
    ----------
    date : str, date, datetime or datetime64
        A day, or an instant of that day.
    delta_t, radii, sun_radius, moon_k, lunar_rule, ephemeris
        Conventions; see the module.

    Returns
    -------
    SolarEclipse, LunarEclipse or None
        An eclipse whose greatest eclipse is on this day, else one of which a part is on this day.

    Raises
    ------
    ValueError
        For a date that is invalid or that the ephemeris does not cover, and for invalid conventions.
    """
    sky = _sky(ephemeris, delta_t, radii, sun_radius, moon_k, lunar_rule)
    found = sky.eclipse_on(date_text("date", date, sky))
    return None if found is None else _eclipse(*found)


def eclipses(
    first: int,
    last: int,
    *,
    kind: Literal["solar", "lunar"] | None = None,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    lunar_rule: LunarRule = "danjon",
    ephemeris: str | os.PathLike[str] | None = None,
) -> list[SolarEclipse | LunarEclipse]:
    """All eclipses from the beginning of the year `first` to the end of the year `last`, in order.

    ``pandas.DataFrame(sky.eclipses(2026, 2030))`` is their table.

    Parameters
    ----------
    first, last : int
        Years that the ephemeris covers, 1900 to 2050 by default.
    kind : "solar" or "lunar", optional
        Only these.
    delta_t, radii, sun_radius, moon_k, lunar_rule, ephemeris
        Conventions; see the module.

    Raises
    ------
    ValueError
        For years out of range or out of order, and for invalid conventions.
    """
    if kind not in (None, "solar", "lunar"):
        raise ValueError(f"kind must be 'solar', 'lunar' or None, not {kind!r}")
    years = _years(first, last)
    found = _sky(ephemeris, delta_t, radii, sun_radius, moon_k, lunar_rule).eclipses(*years, None if kind is None else kind == "solar")
    return [_eclipse(*one) for one in found]


def besselian_elements(
    date: Date,
    *,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    ephemeris: str | os.PathLike[str] | None = None,
) -> BesselianElements:
    """Besselian elements of the solar eclipse of a day: polynomials, as the canons print them.

    Parameters
    ----------
    date : str, date, datetime or datetime64
        The day of a solar eclipse.
    delta_t, radii, sun_radius, moon_k, ephemeris
        Conventions; see the module. `l1`, `l2` and the angles depend on the radii, and no coefficient on `delta_t`.

    Raises
    ------
    ValueError
        If there is no solar eclipse on this day, and for invalid dates and conventions.
    """
    sky = _sky(ephemeris, delta_t, radii, sun_radius, moon_k)
    return _record(BesselianElements, sky.besselian_elements(date_text("date", date, sky)))


def circumstances(
    date: Date,
    latitude: ArrayLike,
    longitude: ArrayLike,
    height: ArrayLike = 0.0,
    *,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    refraction: bool = False,
    ephemeris: str | os.PathLike[str] | None = None,
) -> Circumstances:
    """Local circumstances of the solar eclipse of a day, for many places at once.

    Parameters
    ----------
    date : str, date, datetime or datetime64
        The day of a solar eclipse.
    latitude, longitude : array_like
        Degrees, north and east positive. They are broadcast against each other and `height`.
    height : array_like, default 0
        Metres above the ellipsoid.
    refraction : bool, default False
        As in the module.
    delta_t, radii, sun_radius, moon_k, ephemeris
        Conventions; see the module.

    Returns
    -------
    Circumstances
        Arrays of the broadcast shape.

    Raises
    ------
    RecordError
        For a place out of range, with its index.
    ValueError
        If there is no solar eclipse on this day, and for invalid dates and conventions.
    """
    rows, shape = _places(latitude, longitude, height)
    sky = _sky(ephemeris, delta_t, radii, sun_radius, moon_k, refraction=refraction)
    found = sky.circumstances(date_text("date", date, sky), rows)
    del found["name"]
    return Circumstances(**_arrays(found, shape))


def lunar_circumstances(
    date: Date,
    latitude: ArrayLike,
    longitude: ArrayLike,
    height: ArrayLike = 0.0,
    *,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    lunar_rule: LunarRule = "danjon",
    refraction: bool = False,
    ephemeris: str | os.PathLike[str] | None = None,
) -> LunarCircumstances:
    """What many places see of the lunar eclipse of a day: where the Moon is at each contact, and whether it rises or sets during the eclipse.

    Parameters
    ----------
    date : str, date, datetime or datetime64
        The day of a lunar eclipse.
    latitude, longitude, height
        As for `circumstances`.
    refraction : bool, default False
        As in the module.
    delta_t, radii, sun_radius, moon_k, lunar_rule, ephemeris
        Conventions; see the module.

    Returns
    -------
    LunarCircumstances
        Arrays of the broadcast shape.

    Raises
    ------
    RecordError
        For a place out of range, with its index.
    ValueError
        If there is no lunar eclipse on this day, and for invalid dates and conventions.
    """
    rows, shape = _places(latitude, longitude, height)
    sky = _sky(ephemeris, delta_t, radii, sun_radius, moon_k, lunar_rule, refraction=refraction)
    found = sky.lunar_circumstances(date_text("date", date, sky), rows)
    del found["name"]
    return LunarCircumstances(**_arrays(found, shape))


def transits(
    first: int,
    last: int,
    *,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    ephemeris: str | os.PathLike[str] | None = None,
) -> list[Transit]:
    """All transits of Mercury and Venus from the beginning of the year `first` to the end of the year `last`, in order.

    Parameters
    ----------
    first, last : int
        Years that the ephemeris covers, 1900 to 2050 by default.
    delta_t, radii, sun_radius, ephemeris
        Conventions; see the module. Of the radii, that of the Sun counts.

    Raises
    ------
    ValueError
        For years out of range or out of order, and for invalid conventions.
    """
    return [_record(Transit, one) for one in _sky(ephemeris, delta_t, radii, sun_radius).transits(*_years(first, last))]


def transit_circumstances(
    date: Date,
    latitude: ArrayLike,
    longitude: ArrayLike,
    height: ArrayLike = 0.0,
    *,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    refraction: bool = False,
    ephemeris: str | os.PathLike[str] | None = None,
) -> TransitCircumstances:
    """What many places see of the transit of Mercury or Venus of a day: contacts, and whether the Sun rises or sets during the transit.

    Parameters
    ----------
    date : str, date, datetime or datetime64
        The day of a transit.
    latitude, longitude, height
        As for `circumstances`.
    refraction : bool, default False
        As in the module.
    delta_t, radii, sun_radius, ephemeris
        Conventions; see the module. Of the radii, that of the Sun counts.

    Returns
    -------
    TransitCircumstances
        Arrays of the broadcast shape.

    Raises
    ------
    RecordError
        For a place out of range, with its index.
    ValueError
        If there is no transit on this day, and for invalid dates and conventions.
    """
    rows, shape = _places(latitude, longitude, height)
    sky = _sky(ephemeris, delta_t, radii, sun_radius, refraction=refraction)
    found = sky.transit_circumstances(date_text("date", date, sky), rows)
    del found["name"]
    return TransitCircumstances(**_arrays(found, shape))


def obscuration(
    date: Date,
    latitude: ArrayLike,
    longitude: ArrayLike,
    height: ArrayLike = 0.0,
    *,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    ephemeris: str | os.PathLike[str] | None = None,
) -> Obscuration:
    """The covered part of the Sun's disc, for maps: faster than `circumstances`.

    For a map of half-degree cells::

        latitude, longitude = np.mgrid[89.75:-90:-0.5, -179.75:180:0.5]
        found = sky.obscuration("2026-08-12", latitude, longitude)
        in_sight = np.where(found.sun_altitude_deg > 0, found.obscuration, 0)  # with the Sun up at the maximum

    Where the Sun is down at the maximum, but rises or sets during the eclipse, `circumstances` has ``visible_obscuration``.

    Parameters
    ----------
    date : str, date, datetime or datetime64
        A day: the maximum of each place. An instant: the obscuration at that instant, at most 4 hours from the greatest eclipse.
    latitude, longitude, height, delta_t, radii, sun_radius, moon_k
        As for `circumstances`.

    Raises
    ------
    RecordError, ValueError
        As `circumstances`.
    """
    rows, shape = _places(latitude, longitude, height)
    sky = _sky(ephemeris, delta_t, radii, sun_radius, moon_k)
    amounts, altitudes = sky.obscuration(date_text("date", date, sky), rows)
    return Obscuration(amounts.reshape(shape), altitudes.reshape(shape))


def central_line(
    date: Date,
    step_s: float = 60.0,
    *,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    ephemeris: str | os.PathLike[str] | None = None,
) -> CentralLine:
    """Centre line and limits of the total or annular eclipse of a day. Empty if the axis of the shadow misses the Earth.

    Parameters
    ----------
    date : str, date, datetime or datetime64
        The day of a solar eclipse.
    step_s : float, default 60
        Seconds between the points, at least 1. The first and the last point are the ends of the line.
    delta_t, radii, sun_radius, moon_k, ephemeris
        Conventions; see the module.

    Raises
    ------
    ValueError
        If there is no solar eclipse on this day, and for invalid dates and conventions.
    """
    if not 1 <= step_s <= 86400:
        raise ValueError(f"step_s must be between 1 and 86400, not {step_s!r}")
    sky = _sky(ephemeris, delta_t, radii, sun_radius, moon_k)
    found = sky.central_line(date_text("date", date, sky), step_s)
    return CentralLine(**_arrays(found, (-1,)))


def positions(
    body: str,
    times: Dates,
    *,
    frame: Literal["earth", "gcrs"] = "earth",
    delta_t: float | None = None,
    ephemeris: str | os.PathLike[str] | None = None,
) -> NDArray[np.float64]:
    """Apparent positions of a body from the centre of the Earth, in km: light time and aberration are included.

    Parameters
    ----------
    body : str
        "sun", "moon", "mercury", "venus", "mars", "jupiter", "saturn", "uranus" or "neptune"; of an SPK file as ``ephemeris`` also large moons
        and Pluto by name, and any body by its number of NAIF, such as "401".
    times : array_like of datetime64, str or datetime
        Instants in UTC (UT1 before 1972). A day is its midnight.
    frame : "earth" or "gcrs", default "earth"
        Axes that rotate with the Earth (x through 0° N 0° E, z through the north pole), or those of the GCRS.
    delta_t, ephemeris
        As in the module.

    Returns
    -------
    (…, 3) array of float64

    Raises
    ------
    ValueError
        For an unknown body, an invalid time, and a time that the ephemeris does not cover.
    TypeError
        For plain numbers: for Julian dates, use `julian_date`.
    """
    if frame not in ("earth", "gcrs"):
        raise ValueError(f"frame must be 'earth' or 'gcrs', not {frame!r}")
    sky = _sky(ephemeris, delta_t)
    found_times = instants(times, sky)
    flat = np.ascontiguousarray(found_times).reshape(-1).view(np.int64)
    found = sky.positions(_text("body", body), flat, frame == "earth")
    return found.reshape(*found_times.shape, 3)


def julian_date(
    jd: ArrayLike, scale: Literal["utc", "tt", "tdb"], *, delta_t: float | None = None
) -> NDArray[np.datetime64]:
    """Convert Julian dates to instants, as all functions take them: ``sky.positions("sun", sky.julian_date(2461120.5, "utc"))``.

    Parameters
    ----------
    jd : array_like
        Julian dates of the years −1999 to 3000. One number resolves 40 µs.
    scale : "utc", "tt" or "tdb"
        Time scale of the dates: UTC (UT1 before 1972) is what clocks show, TT and TDB are those of most ephemerides, now 69 s later.
    delta_t
        As in the module, for dates before 1972.

    Returns
    -------
    (…) array of datetime64[us]
        Instants in UTC (UT1 before 1972); a datetime64 for one number.

    Raises
    ------
    TypeError, ValueError
        For dates that are no numbers or not in the years −1999 to 3000, and for an unknown scale.
    """
    if scale not in ("utc", "tt", "tdb"):
        raise ValueError(f"scale must be 'utc', 'tt' or 'tdb', not {scale!r}")
    dates = np.asarray(_validate.floats("jd", jd), np.float64)
    first, last = 990940.5, 2817152.5
    outside = ~((first <= dates) & (dates <= last))
    if outside.any():
        raise ValueError(
            f"jd is {dates[outside][0]}: Julian dates of the years -1999 to 3000 are {first} to {last}, and 2400000.5 more than modified ones"
        )
    found = _sky(None, delta_t).julian_dates(np.ascontiguousarray(dates).reshape(-1), scale)
    return found.view("datetime64[us]").reshape(dates.shape)[()]


def system(
    date: Date,
    bodies: Sequence[str] = ("sun", "earth", "moon"),
    *,
    vectors: Mapping[str, str | os.PathLike[str]] | None = None,
    radius_km: Mapping[str, float] | None = None,
    light_time: str = "earth",
    view: str | None = None,
    size: tuple[int, int] = (1920, 1080),
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    ephemeris: str | os.PathLike[str] | None = None,
) -> System:
    """The system of bodies of the solar system at an instant, with its text as of a system file.

    Parameters
    ----------
    date : str, date, datetime or datetime64
        An instant, or the day of an eclipse for its greatest eclipse.
    bodies : sequence of str
        Names, with the Sun and the bodies of `vectors`. With an `ephemeris`, also large moons, and any body by its number of NAIF, such as "401".
    vectors : mapping of str to path, optional
        Bodies of `bodies`, as ``NAME`` or ``NAME@CENTER``, with a file of state vectors relative to the centre: a vector table of JPL Horizons, or
        a CSV with the columns time (UTC) or jd_tdb, x, y, z (km, axes of the ICRF) and optional vx, vy, vz (km/s). A CSV does not name its
        centre, so the key must: ``{"io@jupiter": "io.csv"}``. The centre is that of the body, not the barycentre of its moons. Positions
        are interpolated; the text states the error.
    radius_km : mapping of str to float, optional
        Radii of bodies with vectors, by their names without the centre, and of others from an `ephemeris`. Those of large moons are known.
    light_time : str, default "earth"
        Which light shows the bodies: "earth", that which arrives at the Earth; "off", all at the instant, without aberration; or a body, by the light
        that passes the others, falls on it and then arrives at the Earth: shadows on it are where they are seen.
    view : str, optional
        "moon", "sun", "earth", "above", "LAT,LON[,HEIGHT]" (also "33.87S,151.21E") or "to-BODY", such as "to-jupiter". It changes no
        body; if the camera is on the Earth or in it, the Earth is invisible, but casts its shadow.
    size : (int, int)
        Width and height of the picture in pixels.
    delta_t, radii, sun_radius, moon_k, ephemeris
        Conventions; see the module.

    Raises
    ------
    ValueError
        For invalid dates, bodies, views and files of vectors, and for instants outside the rows of a file.
    FileNotFoundError
        If a file of vectors does not exist.
    """
    pixels = _validate.size(size, 0, 0xFFFF_FFFF)
    names = [_text("body", name) for name in bodies]
    own_radii = {name: float(value) for name, value in (radius_km or {}).items()}
    files: list[tuple[str, Path | None, float | None]] = [
        (_text("vectors", name), Path(path), own_radii.pop(name.split("@")[0].strip(), None))
        for name, path in (vectors or {}).items()
    ]
    files += [(_text("radius_km", name), None, value) for name, value in own_radii.items()]
    sky = _sky(ephemeris, delta_t, radii, sun_radius, moon_k)
    instant, light = date_text("date", date, sky), _text("light_time", light_time)
    try:
        text = sky.system(instant, names, files, light, view, pixels)
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        # An option of the command line.
        raise ValueError(re.sub("--radius (.+)=KM", r"radius_km={'\1': KM}", str(error))) from None
    return System.parse(text)


def _sky(
    ephemeris: str | os.PathLike[str] | None,
    delta_t: float | None,
    radii: str = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    lunar_rule: str = "danjon",
    *,
    refraction: bool = False,
) -> _umbracast.Sky:
    seconds, sun, moon = (None if number is None else float(number) for number in (delta_t, sun_radius, moon_k))
    path = None if ephemeris is None else Path(ephemeris)
    return _umbracast.Sky(seconds, _text("radii", radii), sun, moon, _text("lunar_rule", lunar_rule), refraction, path)


def _years(first: int, last: int) -> tuple[int, int]:
    years = _validate.integer("first", first, -1999, 3000), _validate.integer("last", last, -1999, 3000)
    if years[0] > years[1]:
        raise ValueError(f"first is {first}, after last, {last}")
    return years


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    return value


def _places(
    latitude: ArrayLike, longitude: ArrayLike, height: ArrayLike
) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    given = {"latitude": latitude, "longitude": longitude, "height": height}
    arrays = {name: _validate.floats(name, part).astype(np.float64) for name, part in given.items()}
    try:
        parts = np.broadcast_arrays(*arrays.values())
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"places cannot be broadcast together: {shapes}") from None
    return np.stack([part.reshape(-1) for part in parts], axis=1), parts[0].shape


def _eclipse(solar: bool, values: dict[str, Any]) -> SolarEclipse | LunarEclipse:
    return _record(SolarEclipse, values) if solar else _record(LunarEclipse, values)


_Record = TypeVar("_Record", SolarEclipse, LunarEclipse, Transit, BesselianElements)


def _record(result: type[_Record], values: dict[str, Any]) -> _Record:
    for field in dataclasses.fields(result):
        if field.type == "np.datetime64":
            value = values[field.name]
            is_text = isinstance(value, str)
            values[field.name] = np.datetime64(value, "us") if is_text else np.int64(value).view("datetime64[us]")
    if "kind" in values:
        values["kind"] = EclipseKind(values["kind"])
    return result(**values)


def _arrays(columns: dict[str, Any], shape: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    """The columns of records as arrays: times are int64, names are numbers and a list."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, column in columns.items():
        if isinstance(column, tuple):
            numbers, names = column
            column = np.array(names, np.str_)[numbers]
        elif column.dtype == np.int64:
            column = column.view("datetime64[us]")
        arrays[name] = column.reshape(shape)
    return arrays
