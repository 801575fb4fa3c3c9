"""What is given one by one, or as an array of whatever kind, refused by its name where it is none."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def whole(name: str, given: Any, least: int, most: int) -> int:
    """A whole number, of Python or of NumPy."""
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, and is {given!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}: allowed is {least} … {most}")
    return number


def several(name: str, given: Any, count: int) -> tuple[float, ...]:
    """So many numbers."""
    try:
        found = tuple(float(one) for one in given)
    except (TypeError, ValueError):
        found = ()
    if len(found) != count:
        raise ValueError(f"{name} must be {count} numbers, and is {given!r}")
    return found


def word(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a word, and is {given!r}")
    return given


def plain(name: str, given: Any) -> NDArray[Any]:
    """An array. What lies below a mask is no number, and reading it would answer what nobody asked."""
    if np.ma.is_masked(given):
        place = ", ".join(map(str, np.argwhere(np.ma.getmaskarray(given))[0]))
        raise ValueError(f"{name}: the number at [{place}] is masked, and every row needs one")
    return np.asarray(given)
