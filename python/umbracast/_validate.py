"""Validation of scalar and array arguments. Error messages name the argument."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def integer(name: str, given: Any, least: int, most: int) -> int:
    """Return a Python or NumPy integer as int, if it is within [least, most]."""
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {given!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}: it must be in {least} … {most}")
    return number


def numbers(name: str, given: Any, count: int) -> tuple[float, ...]:
    """Return exactly ``count`` numbers as floats."""
    try:
        found = tuple(float(one) for one in given)
    except (TypeError, ValueError):
        found = ()
    if len(found) != count:
        raise ValueError(f"{name} must contain {count} numbers, but is {given!r}")
    return found


def string(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a string, not {given!r}")
    return given


def array(name: str, given: Any) -> NDArray[Any]:
    """Return an array. Refuses masked values: the data below a mask is not meant to be used."""
    if np.ma.is_masked(given):
        place = ", ".join(map(str, np.argwhere(np.ma.getmaskarray(given))[0]))
        raise ValueError(f"{name}: the value at [{place}] is masked: masked values are not supported")
    return np.asarray(given)
