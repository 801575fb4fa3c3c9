"""Dates of `umbracast.sky`: text, `datetime`, `date`, `numpy.datetime64`, and times of Astropy and Skyfield."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Date = str | datetime.date | np.datetime64
"""A day or an instant in UTC. (A `datetime.datetime` is a `datetime.date`.)"""


def date_text(name: str, given: object) -> str:
    """Return a day as ``2024-04-08`` and an instant as ``2024-04-08T18:17:20Z``. Text is returned as it is."""
    given = _of_astronomy(given)
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    if isinstance(given, str):
        return given
    if isinstance(given, datetime.datetime):
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
        return str(given) if unit == "D" else f"{given.astype('datetime64[us]')}Z"
    number = isinstance(given, (int, float, np.number))
    remedy = ": for a Julian date, use sky.julian_date; for seconds since 1970, datetime64(0, 'us') + timedelta64(round(1e6 * seconds), 'us')"
    remedy = remedy if number else ""
    raise TypeError(f"{name} must be a str, datetime, date, numpy.datetime64 or time of Astropy or Skyfield, not {type(given).__name__}{remedy}")


def instants(times: ArrayLike | Date, parse: Callable[[list[str]], NDArray[np.int64]]) -> NDArray[np.datetime64]:
    """Return times as datetime64[us]. ``parse`` reads instants that are text.

    Raises TypeError for plain numbers, which have no unit and no epoch.
    """
    array: NDArray[Any] = np.asarray(_of_astronomy(times))
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] not in ("Y", "M", "W", "generic"):
        return array.astype("datetime64[us]")
    texts = [date_text("times", one) for one in array.reshape(-1)]
    return parse(texts).view("datetime64[us]").reshape(array.shape)


def _of_astronomy(given: Any) -> Any:
    """Return a time of Astropy or Skyfield, in any scale, as UTC: one `datetime`, or an array of them. Others are returned as they are."""
    if hasattr(given, "utc_datetime"):
        return given.utc_datetime()
    if hasattr(given, "to_datetime") and hasattr(given, "utc"):
        return given.utc.to_datetime()
    return given
