"""Dates of `umbracast.sky`: text, `datetime`, `date`, `numpy.datetime64`, and times of Astropy and Skyfield."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _umbracast, _validate



class AstropyTime(Protocol):
    """A time of Astropy."""

    def to_datetime(self, timezone: Any = ..., leap_second_strict: Any = ...) -> Any: ...


class SkyfieldTime(Protocol):
    """A time of Skyfield."""

    def utc_datetime(self) -> Any: ...


Date = str | datetime.date | np.datetime64 | AstropyTime | SkyfieldTime
"""A day or an instant in UTC. (A `datetime.datetime` is a `datetime.date`.)"""

Dates = ArrayLike | Date | Sequence[Date]

_FIRST_UTC = 2441317.5 + 42.184 / 86400
"""The Julian date in TT before which instants are in UT1."""


def date_text(name: str, given: object, sky: _umbracast.Sky) -> str:
    """Return a day as ``2024-04-08`` and an instant as ``2024-04-08T18:17:20Z``. Text is returned as it is."""
    given = _of_astronomy(name, given, sky)
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    if isinstance(given, str):
        return given
    if isinstance(given, datetime.datetime):
        if given != given:
            raise ValueError(f"{name} is NaT")
        if given.tzinfo is not None:
            given = given.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return given.isoformat(timespec="microseconds") + "Z"
    if isinstance(given, datetime.date):
        return given.isoformat()
    if isinstance(given, np.datetime64):
        unit = np.datetime_data(given.dtype)[0]
        if np.isnat(given):
            raise ValueError(f"{name} is NaT")
        if unit in ("Y", "M", "W"):
            raise ValueError(f"{name} is {given}: expected a day or an instant")
        text = str(given) if unit == "D" else f"{_microseconds(name, np.array(given))}Z"
        # NumPy writes the year -584 with three digits.
        year, rest = text.removeprefix("-").split("-", 1)
        return f"{'-' if text.startswith('-') else ''}{year:0>4}-{rest}"
    number = isinstance(given, (int, float, np.number))
    remedy = ": for a Julian date, use sky.julian_date; for seconds since 1970, datetime64(0, 'us') + timedelta64(round(1e6 * seconds), 'us')"
    remedy = remedy if number else ""
    raise TypeError(f"{name} must be a str, datetime, date, numpy.datetime64 or time of Astropy or Skyfield, not {type(given).__name__}{remedy}")


def instants(times: Dates, sky: _umbracast.Sky) -> NDArray[np.datetime64]:
    """Return times as datetime64[us].

    Raises TypeError for plain numbers, which have no unit and no epoch, and ValueError for masked times.
    """
    array: NDArray[Any] = _validate.array("times", _of_astronomy("times", times, sky))
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] not in ("Y", "M", "W", "generic"):
        return _microseconds("times", array)
    given = list(array.reshape(-1))
    # NaT of pandas is a datetime. Who takes the instants names its row.
    known = np.array([not isinstance(one, (datetime.datetime, np.datetime64)) or bool(one == one) for one in given], np.bool_)
    found = np.full(len(given), "NaT", "datetime64[us]")
    texts = [date_text("times", one, sky) for one, is_known in zip(given, known, strict=True) if is_known]
    found[known] = sky.instants(texts).view("datetime64[us]")
    return found.reshape(array.shape)


def _microseconds(name: str, array: NDArray[np.datetime64]) -> NDArray[np.datetime64]:
    """Return times with another unit, of which NumPy lets large ones overflow."""
    found = array.astype("datetime64[us]")
    wrong = (found.astype("datetime64[D]") != array.astype("datetime64[D]")) & ~np.isnat(array)
    if wrong.any():
        raise ValueError(f"{name} is {array[wrong][0]}, which is outside the years -1999 to 3000")
    return found


def _of_astronomy(name: str, given: Any, sky: _umbracast.Sky) -> Any:
    """Return times of Astropy or Skyfield, in any scale, as instants: UTC, and before 1972 UT1 by the ΔT of `sky`. Others are returned as they are."""
    if hasattr(given, "utc_datetime"):
        tt = given.tt
    elif hasattr(given, "to_datetime") and hasattr(given, "jd"):
        tt = given.tt.jd
    else:
        return given
    dates = _validate.array(name, np.ma.masked_array(np.asarray(tt, np.float64), getattr(given, "mask", False)))
    is_old = dates < _FIRST_UTC
    found = np.empty(dates.shape, "datetime64[us]")
    found[is_old] = sky.julian_dates(np.ascontiguousarray(dates[is_old]), "tt").view("datetime64[us]")
    if not is_old.all():
        late = given[~is_old] if dates.ndim else given
        if hasattr(late, "utc_datetime"):
            utc, leaps = late.utc_datetime_and_leap_second()
        else:
            utc, leaps = late.utc.to_datetime(leap_second_strict="silent"), late.utc.ymdhms["second"] >= 60
        clocks = np.array([one.replace(tzinfo=None) for one in np.asarray(utc).reshape(-1)], "datetime64[us]")
        # A leap second is the last microsecond before it. Skyfield gives the second before it, Astropy the one after.
        days = (clocks + np.timedelta64(12, "h")).astype("datetime64[D]")
        found[~is_old] = np.where(np.reshape(leaps, -1), days - np.timedelta64(1, "us"), clocks)
    return found[()]
