"""Tables: named columns of pandas, Polars and Astropy, of Arrow streams (PyArrow, DuckDB), Datasets of xarray, dictionaries and structured arrays.
A row of pandas, a named tuple and an array of xarray whose last axis has names are tables, too.

None of these packages is needed, but for Arrow streams PyArrow. Columns go by name, in any order. An unknown column is an error, because
a misspelt one would otherwise go unnoticed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _validate
from ._options import NO_SPHERE, RAY_COLUMNS

Table = Mapping[str, Any]
OPTIONAL = ("t_min", "t_max")


def columns(given: Any) -> Table | None:
    """Return the columns of a table by name, or None if the argument is not a table."""
    if isinstance(given, np.ndarray):
        names = given.dtype.names
        return None if names is None else {name: given[name] for name in names}
    if hasattr(given, "data_vars"):
        return _of_dataset(given)
    if isinstance(given, Mapping):
        return given
    if names := _validate.labels(given):
        values = given if isinstance(given, tuple) else np.moveaxis(np.asarray(given), -1, 0)
        return _unique(zip(names, values, strict=True))
    # Arrays of xarray are streams of Arrow, too. The columns of a LazyFrame are not known yet.
    if isinstance(given, (list, tuple)) or hasattr(given, "collect") or (hasattr(given, "dims") and hasattr(given, "to_numpy")):
        return None
    # pandas and Polars have no need of PyArrow, by column.
    if hasattr(given, "colnames"):
        # Astropy.
        named = [(name, given[name]) for name in given.colnames]
    elif hasattr(given, "columns") and hasattr(given, "to_numpy") and hasattr(given, "iloc"):
        named = [(str(name), _of_pandas(given.iloc[:, place])) for place, name in enumerate(given.columns)]
    elif hasattr(given, "get_columns"):
        named = [(column.name, _of_arrow(column)) for column in given.get_columns()]
    elif (table := _read_arrow(given)) is not None:
        named = [(name, _of_arrow(column)) for name, column in zip(table.column_names, table.columns, strict=True)]
    else:
        return None
    return _unique(named)


def _unique(named: Iterable[tuple[str, Any]]) -> Table:
    """Return columns by name. Raises ValueError if a name appears twice."""
    found: dict[str, Any] = {}
    for name, values in named:
        if name in found:
            raise ValueError(f"column {name!r} appears twice")
        found[name] = values
    return found


def read(given: Any) -> Any:
    """Return a table as its columns, and anything else as it is. An Arrow stream can be read only once."""
    table = columns(given)
    return given if table is None else table


def _of_dataset(given: Any) -> Table:
    """Return the variables of a Dataset of xarray, without its coordinates.

    Raises ValueError if their dimensions differ, because the rows go by position.
    """
    dims = {name: variable.dims for name, variable in given.data_vars.items()}
    if len(set(dims.values())) > 1:
        shown = ", ".join(f"{name} {one}" for name, one in dims.items())
        raise ValueError(f"the variables of a Dataset must have the same dimensions in the same order, not {shown}: use xarray.broadcast")
    return {str(name): variable.to_numpy() for name, variable in given.data_vars.items()}


def _of_pandas(series: Any) -> Any:
    """Return the values of a pandas column. Those that are missing from a nullable column of numbers are masked."""
    if isinstance(series.dtype, np.dtype) or series.dtype.kind not in "iuf":
        return series.to_numpy()
    return np.ma.masked_array(series.to_numpy(na_value=0), np.asarray(series.isna()))


def _of_arrow(column: Any) -> Any:
    """Return the values of a column of Polars or PyArrow. Those that are missing from a column of numbers are masked."""
    values = column.to_numpy()
    # Numbers with nulls are floats here, with NaN in their places.
    if values.dtype.kind != "f" or not (nulls := column.is_null().to_numpy()).any():
        return values
    return np.ma.masked_array(column.fill_null(0).to_numpy(), nulls)


def _read_arrow(given: Any) -> Any | None:
    """Read a table that has Arrow's interface. None for one without it, and for a single column, such as a Series.

    Raises ImportError without PyArrow.
    """
    if not hasattr(given, "__arrow_c_stream__") and not hasattr(given, "__arrow_c_array__"):
        return None
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError as error:
        if hasattr(given, "__array__"):
            return None
        raise ImportError(f"an Arrow stream of {type(given).__name__} needs PyArrow: pip install pyarrow") from error
    structs = pyarrow.chunked_array(given if hasattr(given, "__arrow_c_stream__") else [pyarrow.array(given)])
    return pyarrow.Table.from_struct_array(structs) if pyarrow.types.is_struct(structs.type) else None


def with_r(table: Table) -> Table:
    """Return a table of spheres whose column ``radius`` has the name ``r``, as in files."""
    return table if "r" in table else {"r" if name == "radius" else name: column for name, column in table.items()}


def check_names(what: str, table: Table, required: Iterable[str], optional: Iterable[str] = ()) -> None:
    """Raise ValueError, with a suggestion, if a table has an unknown column."""
    known = (*required, *optional)
    for name in map(str, table):
        if name in known:
            continue
        absent = [other for other in known if other not in table]
        like = difflib.get_close_matches(name.lower(), absent, 1)
        if not like and name.lower().startswith("rad"):
            like = [other for other in absent if other == "r"]
        guess = f" (did you mean {like[0]!r}?)" if like else ""
        also = ", optional ".join(filter(None, (", ".join(required), ", ".join(optional))))
        raise ValueError(f"{what}: unknown column {name!r}{guess}; known columns are {also}; leave out other columns")


def split_options(
    what: str, given: Any, fields: tuple[str, ...], options: Iterable[str] = RAY_COLUMNS
) -> tuple[Any, dict[str, Any]]:
    """Split a table into the columns ``fields`` and the arguments that its columns ``options`` stand for. Arrays are returned as they are.

    Raises ValueError for an unknown column.
    """
    table = columns(given)
    if table is None:
        return given, {}
    required = [field for field in fields if field not in OPTIONAL]
    check_names(what, table, required, (*(field for field in fields if field in OPTIONAL), *options))
    found = {}
    for name in options:
        if name in table:
            column, values, shown = RAY_COLUMNS[name], table[name], f"{what}: column {name!r}"
            if column.has_blanks:
                values = _ids(shown, values)
            elif column.dtype is np.float32:
                values = _numbers(shown, values)
            found[column.option] = values
    return {field: table[field] for field in fields if field in table}, found


def _ids(name: str, given: Any) -> NDArray[Any]:
    """Return a column of ids, in which null and NaN stand for none."""
    array = np.ma.asarray(given)
    if array.dtype.kind == "O":
        array = np.ma.asarray(np.array([np.nan if one is None else one for one in array.ravel()]).reshape(array.shape))
    blank = np.ma.getmaskarray(array)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be integers, not dtype {array.dtype}")
    if array.dtype.kind == "f":
        blank = blank | np.isnan(array.data)
        if (array.data[~blank] % 1 != 0).any():
            raise TypeError(f"{name} must be integers, not dtype {array.dtype}")
    elif not blank.any():
        return np.asarray(array.data)
    return np.where(blank, NO_SPHERE, np.where(blank, 0, array.data).astype(np.int64))


def select_columns(
    name: str, table: Table, fields: tuple[str, ...]
) -> tuple[tuple[int, ...], list[NDArray[Any] | None]]:
    """Return the common shape of the columns ``fields``, and these columns in one dimension, None for a missing optional one.

    Raises ValueError for an unknown column, if a required column is missing, or if the shapes differ.
    """
    check_names(name, table, fields)
    missing = [field for field in fields if field not in table and field not in OPTIONAL]
    if missing:
        there = ", ".join(map(str, table)) or "none"
        raise ValueError(f"{name}: column {missing[0]!r} is missing; existing columns: {there}")
    found = [_numbers(f"{name}: column {field!r}", table[field]) if field in table else None for field in fields]
    shapes = {array.shape for array in found if array is not None}
    if len(shapes) != 1:
        raise ValueError(f"{name}: columns differ in shape: {', '.join(map(str, sorted(shapes)))}")
    return shapes.pop(), [None if array is None else array.reshape(-1) for array in found]


def _numbers(name: str, given: Any) -> NDArray[Any]:
    """Return a column of numbers. Those that are null are NaN: who takes the records names the row, or skips it."""
    if not np.ma.is_masked(given):
        return _validate.floats(name, given)
    wide = np.array(_validate.floats(name, np.ma.filled(given, 0)), np.float64)
    wide[np.ma.getmaskarray(given)] = np.nan
    return wide
