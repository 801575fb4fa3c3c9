"""Tables: named columns of Arrow streams (PyArrow, Polars, DuckDB), pandas frames, dictionaries and structured arrays.

None of these packages is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _arrow

Table = Mapping[str, Any]
OPTIONAL = ("t_min", "t_max")


def columns(given: Any) -> Table | None:
    """Return the columns of a table by name, or None if the argument is not a table."""
    if isinstance(given, np.ndarray):
        names = given.dtype.names
        return None if names is None else {name: given[name] for name in names}
    if isinstance(given, Mapping):
        return given
    if isinstance(given, (list, tuple)):
        return None
    # Read pandas frames by column: their Arrow stream would need PyArrow.
    if hasattr(given, "columns") and hasattr(given, "to_numpy") and hasattr(given, "iloc"):
        return {str(name): given[name].to_numpy() for name in given.columns}
    if hasattr(given, "__arrow_c_stream__"):
        return _arrow.read(given.__arrow_c_stream__())
    return None


def select_columns(
    name: str, table: Table, fields: tuple[str, ...], numbers: Callable[[str, Any], NDArray[Any]]
) -> tuple[tuple[int, ...], list[NDArray[Any] | None]]:
    """Return the common shape of the columns ``fields``, and these columns in one dimension, None for a missing optional one.

    Other columns are ignored. Raises ValueError if a required column is missing or if the shapes differ.
    """
    missing = [field for field in fields if field not in table and field not in OPTIONAL]
    if missing:
        there = ", ".join(map(str, table)) or "none"
        raise ValueError(f"{name}: column {missing[0]!r} is missing; existing columns: {there}")
    found = [numbers(f"{name}: column {field!r}", table[field]) if field in table else None for field in fields]
    shapes = {array.shape for array in found if array is not None}
    if len(shapes) != 1:
        raise ValueError(f"{name}: columns differ in shape: {', '.join(map(str, sorted(shapes)))}")
    return shapes.pop(), [None if array is None else array.reshape(-1) for array in found]


def ellipsoid_columns(table: Table, radii: tuple[str, ...], rotation: tuple[str, ...]) -> tuple[bool, bool]:
    """Return whether a table contains ellipsoids, and whether they have rotations, from its column names as the command line does."""
    has_radii, has_rotations = any(name in table for name in radii), any(name in table for name in rotation)
    if has_radii and "r" in table:
        raise ValueError(f"spheres: a table cannot have both 'r' (spheres) and {', '.join(radii)} (ellipsoids)")
    return has_radii, has_rotations
