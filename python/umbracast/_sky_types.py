"""Results of `umbracast.sky`, and the names of its conventions."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

KINDS = ("none", "partial", "annular", "total")
"""Kinds of a local eclipse."""

Radii = Literal["iau", "nasa"]
LunarRule = Literal["danjon", "chauvenet", "plus88", "none", "equator"]


class SolarEclipse(NamedTuple):
    """A solar eclipse."""

    kind: str
    """"partial", "annular", "total" or "hybrid"."""
    greatest: np.datetime64
    """When the axis of the shadow is nearest to the centre of the Earth."""
    latitude: float
    """Where the axis meets the Earth then; if it misses the Earth, the direction to its nearest point (geocentric)."""
    longitude: float
    gamma: float
    """Least distance of the axis from the centre of the Earth in equatorial radii, north positive."""
    magnitude: float
    """Magnitude at this place: the covered part of the Sun's diameter, or the ratio of the diameters."""
    obscuration: float
    """Covered part of the Sun's disc at this place."""
    sun_altitude: float
    """Altitude of the Sun in degrees at this place."""
    central_duration_s: float | None
    """Duration of the total or annular eclipse at this place in seconds."""
    path_width_km: float | None
    """Width of the path at this place."""
    begins: np.datetime64
    """First contact of the penumbra with the Earth (P1)."""
    axis_begins: np.datetime64
    """First contact of the axis with the Earth."""
    axis_ends: np.datetime64
    ends: np.datetime64
    """Last contact of the penumbra (P4)."""
    delta_t_s: float
    """TT − UT1 that was used."""


class LunarEclipse(NamedTuple):
    """A lunar eclipse."""

    kind: str
    """"penumbral", "partial" or "total"."""
    greatest: np.datetime64
    """When the Moon is nearest to the axis of the Earth's shadow."""
    latitude: float
    """Where the Moon is at the zenith then."""
    longitude: float
    gamma: float
    """Least distance of the Moon from the axis in equatorial radii of the Earth, north positive."""
    umbral_magnitude: float
    """The part of the Moon's diameter in the umbra; negative if the Moon misses it."""
    penumbral_magnitude: float
    """The part of the Moon's diameter in the penumbra."""
    p1: np.datetime64
    u1: np.datetime64
    u2: np.datetime64
    u3: np.datetime64
    u4: np.datetime64
    p4: np.datetime64
    delta_t_s: float
    """TT − UT1 that was used."""


class Circumstances(NamedTuple):
    """Local circumstances of a solar eclipse. All arrays have the broadcast shape of the places."""

    kind: NDArray[np.str_]
    """"none", "partial", "annular" or "total"."""
    c1: NDArray[np.datetime64]
    """The partial eclipse begins."""
    c2: NDArray[np.datetime64]
    """The total or annular eclipse begins."""
    maximum: NDArray[np.datetime64]
    """The largest magnitude."""
    c3: NDArray[np.datetime64]
    """The total or annular eclipse ends."""
    c4: NDArray[np.datetime64]
    """The partial eclipse ends."""
    magnitude: NDArray[np.float64]
    """Covered part of the Sun's diameter at maximum; if total or annular, the ratio of the diameters."""
    obscuration: NDArray[np.float64]
    """Covered part of the Sun's disc at maximum."""
    sun_altitude: NDArray[np.float64]
    """Altitude of the Sun's centre at maximum in degrees above the horizontal plane, without refraction."""
    sun_azimuth: NDArray[np.float64]
    """Azimuth of the Sun at maximum in degrees, from north through east."""
    visible_obscuration: NDArray[np.float64]
    """Largest obscuration while the Sun's centre is above the horizon, which a height lowers."""
    horizon_altitude: NDArray[np.float64]
    """Altitude of the horizon at maximum, below or above the Sun, in degrees: where a line of sight touches the ellipsoid. 0 on or below the
    ellipsoid, −3.4 at 11 km."""


class Obscuration(NamedTuple):
    """Obscuration on a map."""

    obscuration: NDArray[np.float64]
    """Covered part of the Sun's disc, with the Sun above or below the horizon."""
    sun_altitude: NDArray[np.float64]
    """Altitude of the Sun in degrees at the same instant. The horizon of a place with a height is below 0: see `Circumstances`."""


class CentralLine(NamedTuple):
    """The path of a total or annular eclipse: one row per instant."""

    time: NDArray[np.datetime64]
    kind: NDArray[np.str_]
    """"annular" or "total"."""
    center: NDArray[np.float64]
    """(N, 2): latitude and longitude of the point where the axis meets the Earth."""
    north: NDArray[np.float64]
    """(N, 2): a point of the northern limit, nan if it is not on the Earth."""
    south: NDArray[np.float64]
    """(N, 2): a point of the southern limit."""
    duration_s: NDArray[np.float64]
    """Duration of the total or annular eclipse at the centre; 0 where an annular path turns total."""
    width_km: NDArray[np.float64]
    """Width of the path."""
    sun_altitude: NDArray[np.float64]
    """Altitude of the Sun at the centre in degrees."""
