"""How much of a light is visible, where observers, light and bodies vary per row, and sunlight along trajectories."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _progress, _umbracast, _validate
from ._dates import Dates, instants
from ._devices import Device, open_device
from ._errors import RecordError
from ._frames import Result, counted, shape_text
from ._options import Progress
from ._pictures import ShadowKind, Shadows
from ._sky_types import Radii
from .sky import _sky

LimbLaw: TypeAlias = Literal["quadratic", "power-2", "four-parameter"]
"""A law of limb darkening."""
_LIMB_LAWS = {"quadratic": (1, 2), "power-2": (2,), "four-parameter": (4,)}
"""Allowed numbers of coefficients of each law."""


def visible_fraction(
    observers: ArrayLike,
    light: ArrayLike,
    light_radius: ArrayLike,
    bodies: ArrayLike,
    radii: ArrayLike,
    *,
    polar_radii: ArrayLike | None = None,
    poles: ArrayLike | None = None,
    limb_darkening: ArrayLike | None = None,
    limb_law: LimbLaw | None = None,
    device: Device | str | int | None = "cpu",
    progress: Progress = False,
) -> Shadows:
    """Compute the visible fraction of a spherical light behind bodies, where each row may have its own observer, light and bodies.

    The leading axes, before the axes of bodies and of coordinates, are broadcast as NumPy does and are those of the result. Broadcasting copies
    nothing; arrays that are not contiguous float64 are copied once. All lengths have the same unit. Bodies that overlap in front of the light
    count once.

    The number of bodies B is the length of that axis of ``bodies``. ``radii``, ``polar_radii`` and ``poles`` have the length B or 1 there: one
    radius per row has shape (N, 1), and a single number is for all bodies.

    Parameters
    ----------
    observers : (…, 3) array
        Positions of the observers, outside all bodies.
    light : (…, 3) array
        Centre of the light.
    light_radius : (…) array
        Radius of the light, above 0.
    bodies : (…, B, 3) array
        Centres of the B bodies of each row; ``positions[:, None]`` for one body at N times. Bodies behind the light or behind the observer do
        not count.
    radii : float or (…, B) or (…, 1) array
        Radii of the bodies; equatorial radii if there are polar radii.
    polar_radii : float or (…, B) or (…, 1) array, optional
        Distance from the centre of each body to either pole, 0.01 to 100 times its radius. A body is a sphere if both are equal.
    poles : (3) or (…, B, 3) or (…, 1, 3) array, optional
        Directions of the poles, of any length. Default: the z axis. They need ``polar_radii``.
    limb_darkening : (…, K) array, optional
        K coefficients of the brightness of the light's disc in the law ``limb_law``. Default: a disc of uniform brightness.
    limb_law : {"quadratic", "power-2", "four-parameter"}, default "quadratic"
        Brightness, relative to the centre of the disc: ``1 - u1 (1 - mu) - u2 (1 - mu)²`` with (u1, u2), or with (u1,), the linear law;
        ``1 - c (1 - mu^alpha)`` with (c, alpha); or 1 less the sum of ``a_k (1 - mu^(k/2))`` with (a1, a2, a3, a4), which some programs
        call nonlinear. A law needs coefficients.
    device : str, int or `Device`, default "cpu"
        Device to compute on; see `Device`. The CPU engine computes in float64; the error is at most 10⁻⁹ + 5 · 10⁻¹⁷ / a, for a light of the
        angular radius a in rad. GPUs compute in float32, to 10⁻⁴ (10⁻³ for oblate bodies and for fluxes); the CPU computes the fluxes of laws that are not quadratic or
        differ between rows.
    progress : bool or callable, default False
        True shows a bar of tqdm. A callable is called with the number of finished rows and the total number.

    Returns
    -------
    Shadows
        ``fraction``, ``kind`` and ``flux`` in the broadcast shape. Without limb darkening, ``flux`` is the same array as ``fraction``.

    Raises
    ------
    RecordError
        For the first invalid value, with its argument, index and value: a number that is not finite or exceeds 1e150 in magnitude, a light
        radius that is not above 0, a negative radius, a pole without a direction, a light that touches the bounding sphere of a body with
        another polar radius, and an observer inside a body (deeper below the surface than 2.4e-7 of the distance from the centre to the
        surface there). The index is that in the broadcast shape.
    ValueError, TypeError
        For arrays that cannot be broadcast, are not numeric or have a unit, for another number of bodies than that of ``bodies``, for poles
        without polar radii, a law without coefficients, and coefficients with which a part of the disc is darker than black, such as u1 +
        u2 > 1.
    DeviceError, MemoryError, KeyboardInterrupt
        As `System.shadow`.

    Examples
    --------
    A satellite that crosses the shadow of the oblate Earth, in km:

    >>> angles = np.radians(np.arange(0, 360, 10))
    >>> orbit = 7_000 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], -1)
    >>> umbracast.visible_fraction(orbit, [149_597_870.7, 0, 0], 695_700, [[0, 0, 0]], [6378.137], polar_radii=[6356.752])
    <umbracast.Shadows: shape (36,), 23 lit, 13 umbra>
    """
    if poles is not None and polar_radii is None:
        raise TypeError("poles need polar_radii: a sphere has no pole")
    given = {"observers": (observers, 1), "light": (light, 1), "light_radius": (light_radius, 0)}
    given |= {"bodies": (bodies, 1), "radii": (radii, 0)}
    given |= {
        name: (array, width)
        for name, array, width in (("polar_radii", polar_radii, 0), ("poles", poles, 1))
        if array is not None
    }
    lengths = _coefficients(limb_darkening, limb_law)
    if limb_darkening is not None:
        given["limb_darkening"] = (limb_darkening, 1)
    arrays: dict[str, NDArray[np.float64]] = {}
    for name, (array, width) in given.items():
        vectors = _validate.vectors(name, array) if width and name != "limb_darkening" else array
        wide: NDArray[np.float64] = np.asarray(_validate.floats(name, vectors), np.float64, order="C")
        last = lengths if name == "limb_darkening" else (3,)
        if width and (wide.ndim == 0 or wide.shape[-1] not in last):
            expected = " or ".join(f"(…, {'B, ' if name in _PER_BODY else ''}{length})" for length in last)
            raise ValueError(f"{name} must have shape {expected}, not {wide.shape}")
        arrays[name] = wide
    leading = {name: arrays[name].shape[: -1 if width else None] for name, (_, width) in given.items()}
    if not leading["bodies"]:
        raise ValueError(f"bodies must have shape (…, B, 3), not {arrays['bodies'].shape}")
    count = leading["bodies"][-1]
    for name in _PER_BODY:
        _check_bodies(name, leading.get(name, ()), count, given.get(name, (None, 0))[1])
    shape = _broadcast({name: axes[:-1] if name in _PER_BODY else axes for name, axes in leading.items()})

    def column(name: str) -> tuple[NDArray[np.float64], list[int]]:
        array, axes = arrays[name], leading[name]
        # Along an axis that repeats, the step is 0. np.broadcast_to would say the same, but takes microseconds per array.
        steps = [step // array.itemsize if size > 1 else 0 for size, step in zip(axes, array.strides, strict=False)]
        return array.reshape(-1), [0] * (len(shape) + (name in _PER_BODY) - len(axes)) + steps

    rows = math.prod(shape)
    fraction, kind, flux = np.empty(rows), np.empty(rows, np.uint8), np.empty(rows)
    limb = (column("limb_darkening"), arrays["limb_darkening"].shape[-1]) if limb_darkening is not None else None
    bad = _umbracast.visible_fraction(
        open_device(device, "fast")._native,
        shape,
        count,
        tuple(column(name) for name in ("observers", "light", "light_radius", "bodies", "radii")),
        tuple(column(name) if name in arrays else None for name in ("polar_radii", "poles")),
        limb,
        limb_law or "quadratic",
        fraction,
        kind,
        flux,
        _progress.listener("visible_fraction", progress, "rows"),
    )
    if bad is not None:
        raise _error(shape, *bad)
    fraction = fraction.reshape(shape)
    return Shadows(fraction, kind.reshape(shape), fraction if limb is None else flux.reshape(shape))


_PER_BODY = ("bodies", "radii", "polar_radii", "poles")
"""Arguments with an axis of bodies."""


def _coefficients(given: ArrayLike | None, law: str | None) -> tuple[int, ...]:
    """Return the allowed numbers of coefficients of a law of limb darkening."""
    if law is not None and law not in _LIMB_LAWS:
        raise ValueError(f"limb_law must be one of {', '.join(map(repr, _LIMB_LAWS))}, not {law!r}")
    if given is None and law is not None:
        raise TypeError(f"limb_law {law!r} needs limb_darkening, the coefficients of the law")
    return _LIMB_LAWS[law or "quadratic"]


def _check_bodies(name: str, axes: tuple[int, ...], count: int, width: int) -> None:
    """Raise ValueError if the last of the axes, that of bodies, has neither the number of bodies nor length 1.

    Broadcasting that axis would turn values that are meant per row into more bodies.
    """
    if not axes or axes[-1] in (1, count):
        return
    per_row = (*axes, 1, 3) if width else (*axes, 1)
    hint = f"; {name} per row need shape {per_row}" if len(axes) == 1 else ""
    raise ValueError(f"{name} have {axes[-1]} bodies, but bodies have {count}{hint}")


def _broadcast(leading: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the common shape of arguments, or an error with the shapes of all of them."""
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in leading.items())
        raise ValueError(
            f"shapes cannot be broadcast together, without the axes of bodies and of coordinates: {shapes}"
        ) from None


def _error(
    shape: tuple[int, ...], what: str, row: int, body: int | None, field: str, value: str, why: str
) -> RecordError:
    """Return the error of an invalid value, named as the caller knows it: by argument and index."""
    names = {"observer": "observers", "light": "light_radius" if field == "radius" else "light"}
    per_body = {"radius": "radii", "polar_radius": "polar_radii", "pole": "poles"}
    argument = names.get(what) or per_body.get(field, "bodies")
    place = [body] if body is not None and what == "row" else []
    return _record_error(argument, shape, row, place, field, value, why)


def _record_error(
    argument: str, shape: tuple[int, ...], row: int, place: list[int], field: str, value: str, why: str
) -> RecordError:
    """Return the error of an invalid value: the index of its row in ``shape``, and ``place`` within the row."""
    place = [*(int(index) for index in np.unravel_index(row, shape)), *place] if shape else place
    place += ["xyz".index(field)] if field in ("x", "y", "z") else []
    index = f"[{', '.join(map(str, place))}]" if place else ""
    return RecordError(f"{argument}{index} is {value}: {why}", argument, row, field, value)


_BODIES = ("earth", "moon")
"""Names of the bodies of `ShadowIntervals`."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShadowIntervals(Result):
    """When Earth or Moon hide part of the Sun: one row per interval, in order of trajectory, body and time."""

    trajectory: NDArray[np.uint32]
    """(M) uint32: index of the trajectory in the leading axes of the positions, in C order."""
    body: NDArray[np.uint8]
    """(M) uint8: 0 for the Earth, 1 for the Moon."""
    kind: NDArray[np.uint8]
    """(M) uint8: the `ShadowKind` of coverage by this body alone."""
    begins: NDArray[np.datetime64]
    """(M) datetime64[us]: the first instant, in UTC."""
    ends: NDArray[np.datetime64]
    """(M) datetime64[us]: the last instant, in UTC."""
    duration_s: NDArray[np.float64]
    """(M) float64: the time between them, in seconds."""
    begins_earlier: NDArray[np.bool_]
    """(M) bool: whether the interval began before the first state."""
    ends_later: NDArray[np.bool_]
    """(M) bool: whether it ends after the last state."""

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table that `to_pandas` and `to_arrow` make: one row per interval, and bodies and kinds as text."""
        kinds = np.array([kind.name.lower() for kind in ShadowKind])
        return {**Result.columns(self), "body": np.array(_BODIES)[self.body], "kind": kinds[self.kind]}

    def _summary(self) -> str:
        return f"{counted(len(self.trajectory), 'interval')}, {self.duration_s.sum():,.1f} s in all"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sunlight(Result):
    """How much of the Sun is visible along trajectories."""

    fraction: NDArray[np.float64]
    """(…, N) float64: visible fraction of the Sun's disc, by solid angle: 0 in the umbra, 1 in full light."""
    kind: NDArray[np.uint8]
    """(…, N) uint8: a `ShadowKind`."""
    times: NDArray[np.datetime64] = field(repr=False)
    """(…, N) datetime64[us]: the instants of the states, in UTC."""
    intervals: ShadowIntervals = field(repr=False)
    """When Earth or Moon hide part of the Sun."""
    interpolation_error_km: float = field(repr=False)
    """Estimate of the largest error of positions between the states; NaN for fewer than three states."""

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table that `to_pandas` and `to_arrow` make: one row per state, and kinds as text.

        ``trajectory`` is the index of the intervals, and ``time`` the instant in UTC.
        """
        found = Shadows(self.fraction, self.kind, self.fraction).columns()
        length = max(self.fraction.shape[-1], 1)
        return {
            "trajectory": (np.arange(self.fraction.size) // length).astype(np.uint32),
            "time": self.times.reshape(-1),
            "fraction": found["fraction"],
            "kind": found["kind"],
        }

    def _summary(self) -> str:
        return f"{shape_text(self.fraction)}, {counted(len(self.intervals.trajectory), 'interval')} of shadow"


def sunlight(
    times: Dates,
    positions: ArrayLike,
    *,
    frame: str,
    velocities: ArrayLike | None = None,
    delta_t: float | None = None,
    radii: Radii = "iau",
    sun_radius: float | None = None,
    moon_k: float | None = None,
    ephemeris: str | os.PathLike[str] | None = None,
    device: Device | str | int | None = "cpu",
    progress: Progress = False,
) -> Sunlight:
    """Compute the visible fraction of the Sun along trajectories, and when Earth and Moon hide it.

    The Earth is the ellipsoid of WGS 84 and the Moon a sphere. Sun and Moon are at their apparent places: light time and aberration are
    included. There is no atmosphere. Between states, a polynomial of degree seven is evaluated: through four states with their velocities, or
    through eight positions.

    Parameters
    ----------
    times : (N) or (…, N) array of datetime64, str, datetime, or times of Astropy or Skyfield
        Instants in UTC, in order, at most a day apart. Microseconds are kept. Seconds since 1970 are
        ``np.datetime64(0, "us") + (1e6 * unix_s).astype("timedelta64[us]")``.
    positions : (…, N, 3) array or Quantity of Astropy
        Positions in km from the centre of the Earth, outside it; a Quantity has its own unit. The leading axes are those of trajectories, such as of
        several satellites.
    frame : str
        Axes of the positions: "gcrs" (also "icrf", "eme2000"); "itrf" (also "itrs"), which rotates with the Earth; or "teme",
        of two-line elements.
    velocities : (…, N, 3) array or Quantity of Astropy, optional
        Velocities in km/s in the same axes, for the interpolation between the states. In rotating axes, they are relative to the axes.
    delta_t : float, optional
        TT − UT1 in seconds, for rotating axes. Default: a table from −720 to 2027, extrapolated beyond.
    radii, sun_radius, moon_k, ephemeris
        Conventions; see `umbracast.sky`. The radii are those of Sun and Moon.
    device : str, int or `Device`, default "cpu"
        Device that computes the fractions; see `visible_fraction`. The intervals are computed on the CPU.
    progress : bool or callable, default False
        True shows a bar of tqdm. A callable is called with the number of finished states and the total number.

    Returns
    -------
    Sunlight
        ``fraction`` and ``kind`` per state, and the ``intervals`` of shadow.

    Raises
    ------
    RecordError
        For the first invalid state, with its argument, index and value: a time outside −1999 to 3000, out of order, or more than a day after the
        one before it; a coordinate that is not finite, a position inside the Earth or beyond 4 million km, or motion faster than 1000 km/s; a velocity
        that is not finite, or velocities most of which are not those of the positions.
    ValueError, TypeError
        For an unknown frame, invalid times or conventions, and arrays whose shapes do not fit.
    DeviceError, MemoryError, KeyboardInterrupt
        As `System.shadow`.

    Warns
    -----
    RuntimeWarning
        If the path between states may be wrong by more than 10 km or goes through the Earth, and for trajectories of two states.

    Examples
    --------
    >>> minutes = np.arange(0, 200)
    >>> angles = 2 * np.pi * minutes / 95
    >>> orbit = 6_898 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], -1)
    >>> times = np.datetime64("2026-03-21") + minutes.astype("timedelta64[m]")
    >>> seen = umbracast.sunlight(times, orbit, frame="gcrs")
    >>> seen.intervals.to_pandas()[["body", "kind", "begins", "duration_s"]]  # doctest: +SKIP
    """
    sky = _sky(ephemeris, delta_t, radii, sun_radius, moon_k)
    found_times = instants(times, sky)
    wide = _vectors("positions", positions, "km")
    shape = wide.shape[:-1]
    if not shape:
        raise ValueError(f"positions must have shape (…, N, 3), not {wide.shape}")
    try:
        found_times = np.broadcast_to(found_times, shape)
    except ValueError:
        raise ValueError(
            f"times have shape {found_times.shape}, which cannot be broadcast to {shape}, that of positions"
        ) from None
    speeds = None if velocities is None else _vectors("velocities", velocities, "km/s")
    if speeds is not None and speeds.shape != wide.shape:
        raise ValueError(f"velocities must have shape {wide.shape}, as positions, not {speeds.shape}")
    count = math.prod(shape)
    fraction, kind = np.empty(count), np.empty(count, np.uint8)
    bad, columns, error_km, doubts = _umbracast.sunlight(
        sky,
        open_device(device, "fast")._native,
        _validate.string("frame", frame),
        shape[-1],
        np.ascontiguousarray(found_times).reshape(-1).view(np.int64),
        wide.reshape(-1),
        None if speeds is None else speeds.reshape(-1),
        fraction,
        kind,
        _progress.listener("sunlight", progress, "states"),
    )
    if bad is not None or columns is None:
        row, field, value, why = bad or (0, "", "", "")
        value = value or str(found_times.reshape(-1)[row])
        argument = {"time": "times", "velocity": "velocities"}.get(field, "positions")
        raise _record_error(argument, shape, row, [], field, value, why)
    for doubt in doubts:
        warnings.warn(doubt, RuntimeWarning, stacklevel=2)
    begins, ends = (column.view("datetime64[us]") for column in columns[3:5])
    intervals = ShadowIntervals(*columns[:3], begins, ends, *columns[5:])
    error = math.nan if error_km is None else error_km
    return Sunlight(fraction.reshape(shape), kind.reshape(shape), found_times, intervals, error)


def _vectors(name: str, given: ArrayLike, unit: str) -> NDArray[np.float64]:
    """Return contiguous vectors. Quantities of Astropy are converted to ``unit``."""
    if hasattr(given, "to_value"):
        given = given.to_value(unit)
    found: NDArray[np.float64] = np.ascontiguousarray(_validate.floats(name, _validate.vectors(name, given)), np.float64)
    if found.shape[-1] != 3:
        raise ValueError(f"{name} must have shape (…, N, 3), not {found.shape}")
    return found
