"""Results of `umbracast.sky`, and the names of its conventions. The fields of a result are those of its record in Rust, CSV and JSON."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._frames import Result, counted, shape_text, share

Radii = Literal["iau", "nasa"]
LunarRule = Literal["danjon", "chauvenet", "plus88", "none", "equator"]


class EclipseKind(str, enum.Enum):
    """Kind of an eclipse. A member equals its name as text, such as "total"."""

    NONE = "none"
    PENUMBRAL = "penumbral"
    PARTIAL = "partial"
    ANNULAR = "annular"
    TOTAL = "total"
    HYBRID = "hybrid"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class SolarEclipse:
    """A solar eclipse."""

    greatest: np.datetime64
    """When the axis of the shadow is nearest to the centre of the Earth."""
    body: str
    """`solar`."""
    kind: EclipseKind
    """Total or annular: on the whole centre line; hybrid: total on a part of it. Without a centre line: at the place nearest to the axis."""
    julian_date_tt: float
    """Julian date of the greatest eclipse in TT."""
    saros: int
    """Number of the Saros series."""
    lunation: int
    """Lunations since the new moon of 2000-01-06."""
    gamma: float
    """Least distance of the axis from the centre of the Earth in equatorial radii, north positive."""
    magnitude: float
    """At the greatest eclipse: the covered part of the Sun's diameter; if total or annular, the ratio of the diameters."""
    obscuration: float
    """At the greatest eclipse: the covered part of the Sun's disc."""
    latitude_deg: float
    """Where the axis meets the Earth at the greatest eclipse. If it misses the Earth: the direction to its nearest point (geocentric)."""
    longitude_deg: float
    """Longitude of the same place, east positive."""
    sun_altitude_deg: float
    """Altitude of the Sun at this place, without refraction."""
    sun_azimuth_deg: float
    """Azimuth of the Sun at this place, from north through east."""
    central_duration_s: float | None
    """Duration of the total or annular eclipse at this place."""
    path_width_km: float | None
    """Width of the path at this place."""
    duration_s: float
    """From `begins` to `ends`."""
    begins: np.datetime64
    """The penumbra first touches the Earth (P1)."""
    begins_latitude_deg: float
    begins_longitude_deg: float
    axis_begins: np.datetime64
    """The axis of the shadow first touches the Earth."""
    axis_begins_latitude_deg: float | None
    axis_begins_longitude_deg: float | None
    axis_ends: np.datetime64
    """The axis of the shadow last touches the Earth."""
    axis_ends_latitude_deg: float | None
    axis_ends_longitude_deg: float | None
    ends: np.datetime64
    """The penumbra last touches the Earth (P4)."""
    ends_latitude_deg: float
    ends_longitude_deg: float
    radii: str
    """Radii of Sun and Moon that were used."""
    delta_t_s: float
    """TT − UT1 that was used."""


@dataclass(frozen=True, slots=True)
class LunarEclipse:
    """A lunar eclipse."""

    greatest: np.datetime64
    """When the Moon is nearest to the axis of the Earth's shadow."""
    body: str
    """`lunar`."""
    kind: EclipseKind
    """Penumbral, partial or total."""
    julian_date_tt: float
    """Julian date of the greatest eclipse in TT."""
    saros: int
    """Number of the Saros series."""
    lunation: int
    """Lunations from the new moon of 2000-01-06 to that before this full moon."""
    gamma: float
    """Least distance of the Moon from the axis in equatorial radii of the Earth, north positive."""
    umbral_magnitude: float
    """The part of the Moon's diameter in the umbra; negative if the Moon misses it."""
    penumbral_magnitude: float
    """The part of the Moon's diameter in the penumbra."""
    latitude_deg: float
    """Where the Moon is at the zenith at the greatest eclipse."""
    longitude_deg: float
    """Longitude of the same place, east positive."""
    duration_s: float
    """From `begins` to `ends`."""
    partial_duration_s: float | None
    """From `partial_begins` to `partial_ends`."""
    total_duration_s: float | None
    """From `total_begins` to `total_ends`."""
    begins: np.datetime64
    """The Moon enters the penumbra (P1)."""
    partial_begins: np.datetime64
    """The Moon enters the umbra (U1)."""
    total_begins: np.datetime64
    """The whole Moon is in the umbra (U2)."""
    total_ends: np.datetime64
    """The Moon begins to leave the umbra (U3)."""
    partial_ends: np.datetime64
    """The Moon has left the umbra (U4)."""
    ends: np.datetime64
    """The Moon has left the penumbra (P4)."""
    radii: str
    """Radii of Sun and Moon that were used."""
    lunar_rule: str
    """The rule for the Earth's atmosphere that was used."""
    delta_t_s: float
    """TT − UT1 that was used."""


@dataclass(frozen=True, slots=True)
class Transit:
    """A transit of Mercury or Venus, as seen from the centre of the Earth. Position angles are those of the planet's centre on the Sun, from the
    celestial north pole through east.
    """

    greatest: np.datetime64
    """When the centres of planet and Sun are nearest to each other."""
    greatest_position_angle_deg: float
    planet: str
    """`mercury` or `venus`."""
    julian_date_tt: float
    """Julian date of the greatest transit in TT."""
    separation_arcsec: float
    """The least distance of the centres."""
    latitude_deg: float
    """Where the Sun is at the zenith at the greatest transit."""
    longitude_deg: float
    """Longitude of the same place, east positive."""
    duration_s: float | None
    """From `c1` to `c4`; empty, as the contacts, if the planet misses the Sun as seen from the centre of the Earth."""
    c1: np.datetime64
    """First contact: the planet touches the Sun's disc from outside."""
    c1_position_angle_deg: float | None
    c2: np.datetime64
    """Second contact: the whole planet is in front of the Sun."""
    c2_position_angle_deg: float | None
    c3: np.datetime64
    """Third contact: the planet touches the Sun's limb from inside."""
    c3_position_angle_deg: float | None
    c4: np.datetime64
    """Fourth contact: the planet has left the disc."""
    c4_position_angle_deg: float | None
    radii: str
    """Radii that were used: that of the Sun counts."""
    delta_t_s: float
    """TT − UT1 that was used."""


@dataclass(frozen=True, slots=True)
class BesselianElements:
    """Besselian elements of a solar eclipse: polynomials of t, the hours since `t0_tt`, for 3 hours before and after it.

    The names of the coefficients are those of the canons: ``numpy.polyval([e.x3, e.x2, e.x1, e.x0], t)`` is x.
    """

    greatest: np.datetime64
    """When the axis of the shadow is nearest to the centre of the Earth."""
    kind: EclipseKind
    """Total, annular, hybrid or partial."""
    t0_tt: np.datetime64
    """The full hour of TT that is nearest to the greatest eclipse; not UTC, as other instants are."""
    x0: float
    x1: float
    x2: float
    x3: float
    """Where the axis of the shadow meets the fundamental plane, to the east, in equatorial radii of the Earth."""
    y0: float
    y1: float
    y2: float
    y3: float
    """Where it meets the plane, to the north, in equatorial radii of the Earth."""
    d0: float
    d1: float
    d2: float
    """Declination of the axis in degrees."""
    l10: float
    l11: float
    l12: float
    """Radius of the penumbra in the fundamental plane, in equatorial radii of the Earth."""
    l20: float
    l21: float
    l22: float
    """Radius of the umbra in the fundamental plane, in equatorial radii of the Earth; negative if total."""
    mu0: float
    mu1: float
    mu2: float
    """Ephemeris hour angle of the axis in degrees: its hour angle at Greenwich if UT1 were TT."""
    tan_f1: float
    """Tangent of the angle between the axis and the edge of the penumbra."""
    tan_f2: float
    """Tangent of the angle between the axis and the edge of the umbra."""
    radii: str
    """Radii of Sun and Moon that were used."""
    delta_t_s: float
    """TT − UT1 that was used for `greatest`: the elements do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Circumstances(Result):
    """Local circumstances of a solar eclipse: arrays with the broadcast shape of the places. Contacts are geometric: the Sun may be below
    the horizon.

    The Sun at each contact is described by its altitude above the horizontal plane, without refraction unless it is asked for, its azimuth from
    north through east, and by the altitude of the horizon below or above it, which is negative for a place above the ellipsoid. The position angle is
    that of the point at which the limbs touch, or at other instants of the Moon's centre: from the north point of the Sun's limb through
    east. The zenith angle is the same from the point nearest to the zenith.
    """

    latitude_deg: NDArray[np.float64]
    """Geodetic latitude (WGS 84), north positive."""
    longitude_deg: NDArray[np.float64]
    """Longitude, east positive."""
    height_m: NDArray[np.float64]
    """Height above the ellipsoid."""
    kind: NDArray[np.str_]
    """Kind of eclipse at the maximum."""
    magnitude: NDArray[np.float64]
    """At the maximum: the covered part of the Sun's diameter; if total or annular, the ratio of the diameters."""
    obscuration: NDArray[np.float64]
    """At the maximum: the covered part of the Sun's disc."""
    visible_kind: NDArray[np.str_]
    """Kind of eclipse that is seen: at the largest obscuration with the Sun's centre above the horizon; none without one."""
    visible_magnitude: NDArray[np.float64]
    """The magnitude there, 0 without one."""
    visible_obscuration: NDArray[np.float64]
    """The largest obscuration with the Sun's centre above the horizon."""
    central_duration_s: NDArray[np.float64]
    """Duration of the total or annular eclipse, from `c2` to `c3`."""
    duration_s: NDArray[np.float64]
    """Duration of the whole eclipse, from `c1` to `c4`."""
    c1: NDArray[np.datetime64]
    """First contact: the partial eclipse begins."""
    c1_sun_altitude_deg: NDArray[np.float64]
    c1_sun_azimuth_deg: NDArray[np.float64]
    c1_horizon_altitude_deg: NDArray[np.float64]
    c1_position_angle_deg: NDArray[np.float64]
    c1_zenith_angle_deg: NDArray[np.float64]
    c2: NDArray[np.datetime64]
    """Second contact: the total or annular eclipse begins."""
    c2_sun_altitude_deg: NDArray[np.float64]
    c2_sun_azimuth_deg: NDArray[np.float64]
    c2_horizon_altitude_deg: NDArray[np.float64]
    c2_position_angle_deg: NDArray[np.float64]
    c2_zenith_angle_deg: NDArray[np.float64]
    maximum: NDArray[np.datetime64]
    """The largest magnitude."""
    maximum_sun_altitude_deg: NDArray[np.float64]
    maximum_sun_azimuth_deg: NDArray[np.float64]
    maximum_horizon_altitude_deg: NDArray[np.float64]
    maximum_position_angle_deg: NDArray[np.float64]
    maximum_zenith_angle_deg: NDArray[np.float64]
    c3: NDArray[np.datetime64]
    """Third contact: the total or annular eclipse ends."""
    c3_sun_altitude_deg: NDArray[np.float64]
    c3_sun_azimuth_deg: NDArray[np.float64]
    c3_horizon_altitude_deg: NDArray[np.float64]
    c3_position_angle_deg: NDArray[np.float64]
    c3_zenith_angle_deg: NDArray[np.float64]
    c4: NDArray[np.datetime64]
    """Fourth contact: the partial eclipse ends."""
    c4_sun_altitude_deg: NDArray[np.float64]
    c4_sun_azimuth_deg: NDArray[np.float64]
    c4_horizon_altitude_deg: NDArray[np.float64]
    c4_position_angle_deg: NDArray[np.float64]
    c4_zenith_angle_deg: NDArray[np.float64]
    visible: NDArray[np.datetime64]
    """The largest obscuration with the Sun's centre above the horizon: the maximum, sunrise or sunset."""
    visible_sun_altitude_deg: NDArray[np.float64]
    visible_sun_azimuth_deg: NDArray[np.float64]
    visible_horizon_altitude_deg: NDArray[np.float64]
    visible_position_angle_deg: NDArray[np.float64]
    visible_zenith_angle_deg: NDArray[np.float64]
    sunrise: NDArray[np.datetime64]
    """The Sun's centre rises above the horizon between `c1` and `c4`."""
    sunrise_sun_altitude_deg: NDArray[np.float64]
    sunrise_sun_azimuth_deg: NDArray[np.float64]
    sunrise_horizon_altitude_deg: NDArray[np.float64]
    sunrise_position_angle_deg: NDArray[np.float64]
    sunrise_zenith_angle_deg: NDArray[np.float64]
    sunset: NDArray[np.datetime64]
    """The Sun's centre sets below the horizon between them."""
    sunset_sun_altitude_deg: NDArray[np.float64]
    sunset_sun_azimuth_deg: NDArray[np.float64]
    sunset_horizon_altitude_deg: NDArray[np.float64]
    sunset_position_angle_deg: NDArray[np.float64]
    sunset_zenith_angle_deg: NDArray[np.float64]
    radii: NDArray[np.str_]
    """Radii of Sun and Moon that were used."""
    delta_t_s: NDArray[np.float64]
    """TT − UT1 that was used."""

    def _summary(self) -> str:
        return f"{shape_text(self.magnitude)}, {share(self.visible_obscuration > 0, 'place')} with a visible eclipse"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LunarCircumstances(Result):
    """What places see of a lunar eclipse: arrays with the broadcast shape of the places. The Moon may be below the horizon at contacts: its
    altitude is above the horizontal plane, without refraction unless it is asked for, and that of the horizon is negative for a place above the ellipsoid.
    """

    latitude_deg: NDArray[np.float64]
    """Geodetic latitude (WGS 84), north positive."""
    longitude_deg: NDArray[np.float64]
    """Longitude, east positive."""
    height_m: NDArray[np.float64]
    """Height above the ellipsoid."""
    visible_kind: NDArray[np.str_]
    """The deepest phase of which a part has the Moon's centre above the horizon; empty if there is none."""
    begins: NDArray[np.datetime64]
    """The Moon enters the penumbra (P1)."""
    begins_moon_altitude_deg: NDArray[np.float64]
    begins_moon_azimuth_deg: NDArray[np.float64]
    begins_horizon_altitude_deg: NDArray[np.float64]
    partial_begins: NDArray[np.datetime64]
    """The Moon enters the umbra (U1)."""
    partial_begins_moon_altitude_deg: NDArray[np.float64]
    partial_begins_moon_azimuth_deg: NDArray[np.float64]
    partial_begins_horizon_altitude_deg: NDArray[np.float64]
    total_begins: NDArray[np.datetime64]
    """The whole Moon is in the umbra (U2)."""
    total_begins_moon_altitude_deg: NDArray[np.float64]
    total_begins_moon_azimuth_deg: NDArray[np.float64]
    total_begins_horizon_altitude_deg: NDArray[np.float64]
    greatest: NDArray[np.datetime64]
    """When the Moon is nearest to the axis of the Earth's shadow."""
    greatest_moon_altitude_deg: NDArray[np.float64]
    greatest_moon_azimuth_deg: NDArray[np.float64]
    greatest_horizon_altitude_deg: NDArray[np.float64]
    total_ends: NDArray[np.datetime64]
    """The Moon begins to leave the umbra (U3)."""
    total_ends_moon_altitude_deg: NDArray[np.float64]
    total_ends_moon_azimuth_deg: NDArray[np.float64]
    total_ends_horizon_altitude_deg: NDArray[np.float64]
    partial_ends: NDArray[np.datetime64]
    """The Moon has left the umbra (U4)."""
    partial_ends_moon_altitude_deg: NDArray[np.float64]
    partial_ends_moon_azimuth_deg: NDArray[np.float64]
    partial_ends_horizon_altitude_deg: NDArray[np.float64]
    ends: NDArray[np.datetime64]
    """The Moon has left the penumbra (P4)."""
    ends_moon_altitude_deg: NDArray[np.float64]
    ends_moon_azimuth_deg: NDArray[np.float64]
    ends_horizon_altitude_deg: NDArray[np.float64]
    moonrise: NDArray[np.datetime64]
    """The Moon's centre rises above the horizon during the eclipse."""
    moonrise_moon_altitude_deg: NDArray[np.float64]
    moonrise_moon_azimuth_deg: NDArray[np.float64]
    moonrise_horizon_altitude_deg: NDArray[np.float64]
    moonset: NDArray[np.datetime64]
    """The Moon's centre sets below the horizon during the eclipse."""
    moonset_moon_altitude_deg: NDArray[np.float64]
    moonset_moon_azimuth_deg: NDArray[np.float64]
    moonset_horizon_altitude_deg: NDArray[np.float64]
    radii: NDArray[np.str_]
    """Radii of Sun and Moon that were used."""
    lunar_rule: NDArray[np.str_]
    """The rule for the Earth's atmosphere that was used."""
    delta_t_s: NDArray[np.float64]
    """TT − UT1 that was used."""

    def _summary(self) -> str:
        return f"{shape_text(self.delta_t_s)}, {share(self.visible_kind != '', 'place')} with a visible eclipse"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TransitCircumstances(Result):
    """What places see of a transit of Mercury or Venus: arrays with the broadcast shape of the places. Contacts are geometric: the Sun may be
    below the horizon. The Sun and the angles at each contact are described as in `Circumstances`.
    """

    latitude_deg: NDArray[np.float64]
    """Geodetic latitude (WGS 84), north positive."""
    longitude_deg: NDArray[np.float64]
    """Longitude, east positive."""
    height_m: NDArray[np.float64]
    """Height above the ellipsoid."""
    planet: NDArray[np.str_]
    """`mercury` or `venus`."""
    separation_arcsec: NDArray[np.float64]
    """The least distance of the centres of planet and Sun."""
    duration_s: NDArray[np.float64]
    """From `c1` to `c4`."""
    c1: NDArray[np.datetime64]
    """First contact: the planet touches the Sun's disc from outside."""
    c1_sun_altitude_deg: NDArray[np.float64]
    c1_sun_azimuth_deg: NDArray[np.float64]
    c1_horizon_altitude_deg: NDArray[np.float64]
    c1_position_angle_deg: NDArray[np.float64]
    c1_zenith_angle_deg: NDArray[np.float64]
    c2: NDArray[np.datetime64]
    """Second contact: the whole planet is in front of the Sun."""
    c2_sun_altitude_deg: NDArray[np.float64]
    c2_sun_azimuth_deg: NDArray[np.float64]
    c2_horizon_altitude_deg: NDArray[np.float64]
    c2_position_angle_deg: NDArray[np.float64]
    c2_zenith_angle_deg: NDArray[np.float64]
    greatest: NDArray[np.datetime64]
    """When the centres are nearest to each other."""
    greatest_sun_altitude_deg: NDArray[np.float64]
    greatest_sun_azimuth_deg: NDArray[np.float64]
    greatest_horizon_altitude_deg: NDArray[np.float64]
    greatest_position_angle_deg: NDArray[np.float64]
    greatest_zenith_angle_deg: NDArray[np.float64]
    c3: NDArray[np.datetime64]
    """Third contact: the planet touches the Sun's limb from inside."""
    c3_sun_altitude_deg: NDArray[np.float64]
    c3_sun_azimuth_deg: NDArray[np.float64]
    c3_horizon_altitude_deg: NDArray[np.float64]
    c3_position_angle_deg: NDArray[np.float64]
    c3_zenith_angle_deg: NDArray[np.float64]
    c4: NDArray[np.datetime64]
    """Fourth contact: the planet has left the disc."""
    c4_sun_altitude_deg: NDArray[np.float64]
    c4_sun_azimuth_deg: NDArray[np.float64]
    c4_horizon_altitude_deg: NDArray[np.float64]
    c4_position_angle_deg: NDArray[np.float64]
    c4_zenith_angle_deg: NDArray[np.float64]
    sunrise: NDArray[np.datetime64]
    """The Sun's centre rises above the horizon between `c1` and `c4`."""
    sunrise_sun_altitude_deg: NDArray[np.float64]
    sunrise_sun_azimuth_deg: NDArray[np.float64]
    sunrise_horizon_altitude_deg: NDArray[np.float64]
    sunrise_position_angle_deg: NDArray[np.float64]
    sunrise_zenith_angle_deg: NDArray[np.float64]
    sunset: NDArray[np.datetime64]
    """The Sun's centre sets below the horizon between them."""
    sunset_sun_altitude_deg: NDArray[np.float64]
    sunset_sun_azimuth_deg: NDArray[np.float64]
    sunset_horizon_altitude_deg: NDArray[np.float64]
    sunset_position_angle_deg: NDArray[np.float64]
    sunset_zenith_angle_deg: NDArray[np.float64]
    radii: NDArray[np.str_]
    """Radii that were used: that of the Sun counts."""
    delta_t_s: NDArray[np.float64]
    """TT − UT1 that was used."""

    def _summary(self) -> str:
        seen = [getattr(self, f"{name}_sun_altitude_deg") >= getattr(self, f"{name}_horizon_altitude_deg") for name in ("c1", "c4")]
        visible = seen[0] | seen[1] | ~np.isnat(self.sunrise) | ~np.isnat(self.sunset)
        return f"{shape_text(self.delta_t_s)}, {share(visible, 'place')} with a visible transit"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Obscuration(Result):
    """Obscuration on a map."""

    obscuration: NDArray[np.float64]
    """Covered part of the Sun's disc, with the Sun above or below the horizon."""
    sun_altitude_deg: NDArray[np.float64]
    """Altitude of the Sun at the same instant. The horizon of a place with a height is below 0: see `Circumstances`."""

    def _summary(self) -> str:
        return f"{shape_text(self.obscuration)}, {share((self.obscuration > 0) & (self.sun_altitude_deg > 0), 'place')} with the eclipsed Sun up"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CentralLine(Result):
    """The path of a total or annular eclipse: one row per instant."""

    time: NDArray[np.datetime64]
    """The instant."""
    kind: NDArray[np.str_]
    """Total or annular."""
    latitude_deg: NDArray[np.float64]
    """Latitude of the point where the axis of the shadow meets the Earth."""
    longitude_deg: NDArray[np.float64]
    """Longitude of this point, east positive."""
    north_latitude_deg: NDArray[np.float64]
    """Latitude of the point of the northern limit; empty if it is not on the Earth."""
    north_longitude_deg: NDArray[np.float64]
    """Longitude of the point of the northern limit."""
    south_latitude_deg: NDArray[np.float64]
    """Latitude of the point of the southern limit."""
    south_longitude_deg: NDArray[np.float64]
    """Longitude of the point of the southern limit."""
    central_duration_s: NDArray[np.float64]
    """Duration of the total or annular eclipse at the centre; 0 where an annular path turns total."""
    path_width_km: NDArray[np.float64]
    """Width of the path."""
    magnitude: NDArray[np.float64]
    """Ratio of the diameters of Moon and Sun at the centre."""
    sun_altitude_deg: NDArray[np.float64]
    """Altitude of the Sun at the centre, without refraction."""

    def _summary(self) -> str:
        return counted(len(self.time), "point")
