"""The base of results: tables for pandas and Arrow, short descriptions, and tables in notebooks."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._options import NO_SPHERE

VECTORS = {"point": ("px", "py", "pz"), "normal": ("nx", "ny", "nz"), "velocity": ("vx", "vy", "vz")}
"""Names of the columns of vectors, as in files."""
SHOWN = 10
"""Number of rows that notebooks show."""


class Result:
    """Arrays with one value per ray, point or observer; a frozen dataclass. It unpacks to its arrays, as a tuple does."""

    __slots__ = ()

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter(self._arrays().values())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the fields that are arrays, by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.repr}  # type: ignore[arg-type]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table that `to_pandas` and `to_arrow` make, as in files: one row per ray in C order.

        On a miss, ``t`` is inf and ``id`` is `NO_SPHERE`, as in the result.
        """
        found: dict[str, NDArray[Any]] = {}
        vectors = [array.ndim - 1 for name, array in self._arrays().items() if name in VECTORS]
        leading = vectors[0] if vectors else None
        for name, array in self._arrays().items():
            if name in VECTORS and array.ndim - 1 == leading:
                found.update(zip(VECTORS[name], array.reshape(-1, 3).T, strict=True))
            else:
                found[name] = array.reshape(-1)
        return found

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame of `columns`. Misses are missing values: NaN, and NA in columns of ids, which have the dtype UInt32.

        Raises ImportError without pandas.
        """
        import pandas  # type: ignore[import-untyped]

        def column(values: NDArray[Any]) -> Any:
            if values.dtype == np.uint32:
                return pandas.arrays.IntegerArray(values.copy(), _missing(values))
            return np.where(_missing(values), np.nan, values) if values.dtype.kind == "f" else values

        return pandas.DataFrame({name: column(values) for name, values in self.columns().items()})

    def to_arrow(self) -> Any:
        """Return a PyArrow table of `columns`. Misses are nulls. Raises ImportError without PyArrow."""
        import pyarrow  # type: ignore[import-untyped]

        arrays = {name: pyarrow.array(values, mask=_missing(values)) for name, values in self.columns().items()}
        return pyarrow.table(arrays)

    def _summary(self) -> str:
        """Describe the result in some words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<umbracast.{type(self).__name__}: {self._summary()}>"

    def _repr_html_(self) -> str:
        columns = self.columns()
        count = len(next(iter(columns.values())))
        rows = [[_cell(column[row]) for column in columns.values()] for row in range(min(count, SHOWN))]
        return html_table(f"{type(self).__name__}: {self._summary()}", list(columns), rows, count - len(rows))


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values stand for none, as in files: no sphere, inf and NaN."""
    if values.dtype == np.uint32:
        return np.asarray(values == NO_SPHERE)
    if values.dtype.kind == "f":
        return np.asarray(~np.isfinite(values))
    return np.asarray(np.isnat(values)) if values.dtype.kind == "M" else np.zeros(len(values), np.bool_)


def _cell(value: Any) -> str:
    """Return a value for a table: float32 in the digits that it has, and "none" for no sphere."""
    if isinstance(value, np.uint32) and value == NO_SPHERE:
        return "none"
    return f"{value:.7g}" if isinstance(value, np.floating) else str(value)


def html_table(title: str, names: list[str], rows: list[list[str]], more: int = 0) -> str:
    """Return a table for notebooks. ``more`` is the number of rows that are not shown."""
    lines = [f"<p>{html.escape(title)}</p>", "<table>"]
    if names:
        lines.append(f"<tr>{''.join(f'<th>{html.escape(name)}</th>' for name in names)}</tr>")
    lines += [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
    lines.append("</table>")
    if more > 0:
        lines.append(f"<p>and {more:,} more rows</p>")
    return "\n".join(lines)


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def shape_text(array: NDArray[Any]) -> str:
    """Return the shape of an array in words."""
    return "shape ()" if array.ndim == 0 else f"shape {array.shape}"


def share(part: Any, things: str) -> str:
    """Describe a boolean array: ``12 of 100 rays``."""
    flags = np.asarray(part)
    return f"{np.count_nonzero(flags):,} of {counted(flags.size, things)}"
