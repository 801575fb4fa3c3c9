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


def size(given: Any, least: int, most: int) -> tuple[int, int]:
    """Return the width and the height of a picture, if both are within [least, most]."""
    try:
        width, height = given
    except (TypeError, ValueError):
        raise ValueError(f"size must be (width, height), not {given!r}") from None
    return integer("width", width, least, most), integer("height", height, least, most)


def numbers(name: str, given: Any, *counts: int) -> tuple[float, ...]:
    """Return numbers as floats. There must be as many as one of the ``counts``."""
    refuse_unusable(name, given)
    if 3 in counts:
        given = vectors(name, given)
    try:
        found = tuple(float(one) for one in given)
    except (TypeError, ValueError):
        found = ()
    if len(found) not in counts:
        raise ValueError(f"{name} must contain {' or '.join(map(str, counts))} numbers, but is {given!r}")
    return found


def labels(given: Any) -> list[str]:
    """Return the names along the last axis, if they are text: of a named tuple, a row of pandas, or an array of xarray. Empty for others."""
    found: Any = getattr(given, "_fields", ()) if isinstance(given, tuple) else ()
    if hasattr(given, "iloc") and not hasattr(given, "columns"):
        found = given.index
    elif hasattr(given, "dims") and hasattr(given, "coords"):
        found = given.coords[given.dims[-1]].to_numpy() if given.dims and given.dims[-1] in given.coords else ()
    return list(found) if all(isinstance(one, str) for one in found) else []


def vectors(name: str, given: Any) -> Any:
    """Return coordinates with labels x, y and z in this order. Those without labels are returned as they are."""
    names = labels(given)
    if names and sorted(names) != ["x", "y", "z"]:
        raise TypeError(f"{name} has the labels {', '.join(names)}, not x, y, z: rename them, or pass plain numbers in this order")
    if not names:
        return given
    refuse_unusable(name, given)
    return np.asarray(given)[..., np.argsort(names)]


def check_once(argument: str, given: Any, column: str) -> None:
    """Raise TypeError if an argument is given although a table has its column."""
    if given is not None:
        raise TypeError(f"{argument} is given twice: as an argument and as the column {column!r} of the table")


def string(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a string, not {given!r}")
    return given


def refuse_unusable(name: str, given: Any, place: tuple[int, ...] = ()) -> None:
    """Raise TypeError for numbers with a unit, of Astropy, unyt or Pint, and ValueError for masked values, also within lists.

    NumPy drops the unit, and takes the data below a mask, without a word.
    """
    if isinstance(given, (list, tuple)):
        for i, one in enumerate(given):
            if isinstance(one, (int, float)):
                continue
            if type(one) is not list and (hasattr(one, "columns") or labels(one)):
                remedy = "pass one table, as pandas.DataFrame(rows) and pandas.concat(frames) return it, or plain numbers"
                raise TypeError(f"{name}: the value at [{', '.join(map(str, (*place, i)))}] has names, which a list does not keep: {remedy}")
            refuse_unusable(name, one, (*place, i))
        return
    has_unit = isinstance(given, np.ndarray) or hasattr(given, "to_value") or hasattr(given, "magnitude")
    unit = getattr(given, "unit", getattr(given, "units", None)) if has_unit else None
    if unit is not None and str(unit) not in ("", "dimensionless"):
        raise TypeError(
            f"{name} has the unit {unit}: pass plain numbers, as .to_value(unit) of Astropy or unyt and .m_as(unit) of Pint return them"
        )
    if np.ma.is_masked(given):
        place = (*place, *np.argwhere(np.ma.getmaskarray(given))[0])
        where = f"the value at [{', '.join(map(str, place))}]" if place else "it"
        raise ValueError(f"{name}: {where} is masked or null: every value is needed")


def array(name: str, given: Any) -> NDArray[Any]:
    """Return an array.

    Refuses units, masked values, and tables, whose order of columns is not meant.
    """
    refuse_unusable(name, given)
    if hasattr(given, "collect"):
        raise TypeError(f"{name} must be an array or a table, not a {type(given).__name__}: pass what its collect() returns")
    if hasattr(given, "columns"):
        raise TypeError(
            f"{name} must be an array, not a table: select a column, or give the array of some columns in this order"
        )
    return np.asarray(given)


def quaternions(name: str, rotations: Any) -> NDArray[np.float64]:
    """Return the quaternions w, x, y, z of rotations of SciPy: (N, 4)."""
    if not hasattr(rotations, "as_quat"):
        raise TypeError(f"{name} must be a scipy.spatial.transform.Rotation, not {type(rotations).__name__}")
    # SciPy's own order is x, y, z, w.
    return np.roll(np.asarray(rotations.as_quat(), np.float64).reshape(-1, 4), 1, axis=-1)


LARGEST_WHOLE = 2**53
"""All integers up to this magnitude are exact in float64."""


def floats(name: str, given: Any) -> NDArray[Any]:
    """Return a float32 or float64 array with the same values, without a copy if it already is one.

    Raises TypeError for other dtypes than floats and integers, ValueError for integers that float64 cannot represent.
    """
    found = array(name, given)
    kind = found.dtype
    if kind.kind == "f" and kind.itemsize in (4, 8):
        # In native byte order, and aligned.
        return np.require(found, kind.newbyteorder("="), "A")
    if kind.kind == "f" and kind.itemsize == 2:
        return found.astype(np.float32)
    if kind.kind in "iu":
        if found.size and (found.max() > LARGEST_WHOLE or found.min() < -LARGEST_WHOLE):
            raise ValueError(f"{name}: integers above 2**53 are not exact in float64: convert them first")
        return found.astype(np.float64)
    raise TypeError(f"{name} must be float32 or float64 (or integers), not dtype {kind}")
