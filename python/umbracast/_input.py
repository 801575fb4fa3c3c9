"""Whatever people bring, as columns that the compiled half can read; copied only where it must be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tables, _umbracast, _validate
from ._options import Asked

Columns = list[NDArray[Any] | None]

RAY = ("ox", "oy", "oz", "t_min", "dx", "dy", "dz", "t_max")
"""The order of the compiled half's record, of raw files and of GPU buffers."""
WRITTEN = ("ox", "oy", "oz", "dx", "dy", "dz", "t_min", "t_max")
"""The order in which people write rays: arrays, ``.npy``, ``.csv`` and the command line."""
SEGMENT = ("x1", "y1", "z1", "x2", "y2", "z2")
BULLET = (*SEGMENT, "speed")
SPHERE = ("x", "y", "z", "r")
POINT = ("x", "y", "z")
RADII = ("rx", "ry", "rz")
ROTATION = ("qw", "qx", "qy", "qz")

LARGEST_WHOLE = 2**53
"""Whole numbers up to this are exact in float64."""


class Segments:
    """Straight ways from starts to ends, to be asked about instead of rays: ``t`` goes from 0 to 1.

    Directions are the exact differences of the points, which one float32 a component could not hold. ``starts`` and ``ends``
    have shape (…, 3) and are broadcast; or give one array of shape (…, 6), or a table with columns x1, y1, z1, x2, y2, z2.
    """

    def __init__(self, starts: ArrayLike | Any, ends: ArrayLike | None = None) -> None:
        if ends is None:
            self.shape, self.columns = split("segments", starts, {6: SEGMENT}, SEGMENT)
        else:
            self.shape, self.columns = joined({"starts": (starts, 3), "ends": (ends, 3)})

    def __repr__(self) -> str:
        return f"<umbracast.Segments of shape {self.shape}>"


class Given(NamedTuple):
    """Rays as they came."""

    shape: tuple[int, ...]
    """Of the answer."""
    records: NDArray[np.float32] | None
    """(M, 8) in the order `WRITTEN`, borrowed."""
    columns: Columns
    """Otherwise: in the order `RAY`, or those of segments."""
    written: bool = False
    """Whether they are an array of eight columns, in the order `WRITTEN`."""

    def as_columns(self) -> Columns:
        """The columns, whichever way they came."""
        if self.records is None:
            return self.columns
        found = dict(zip(WRITTEN, self.records.T, strict=True))
        return [found[field] for field in RAY]


class Spheres(NamedTuple):
    """Spheres or ellipsoids, as the compiled half reads them."""

    records: NDArray[np.float32]
    """(N, 4) spheres; (N, 6) ellipsoids; (N, 3) centres of those that keep their shapes."""
    rotations: NDArray[np.float32] | None
    masks: NDArray[np.uint32] | None
    velocities: NDArray[np.float32] | None


class Batch(NamedTuple):
    """Rays, as the compiled half reads them."""

    records: NDArray[np.float32] | None
    columns: Columns
    origin: tuple[float, float, float]
    masks: NDArray[np.uint32] | None
    skip_ids: NDArray[np.uint32] | None
    times: NDArray[np.float32] | None
    radii: NDArray[np.float32] | None
    written: bool


def batch(given: Given, origin: tuple[float, float, float], asked: Asked) -> Batch:
    """Rays and what they bring along."""
    return Batch(
        given.records, given.columns, origin, asked.masks, asked.skip_ids, asked.times, asked.radii, given.written
    )


def numbers(name: str, given: Any) -> NDArray[Any]:
    """An array of float32 or float64 with the same numbers; not copied if it is one."""
    array = _validate.plain(name, given)
    kind = array.dtype
    if kind.kind == "f" and kind.itemsize in (4, 8):
        # Of this machine's byte order, and at addresses that it can read from.
        return np.require(array, kind.newbyteorder("="), "A")
    if kind.kind == "f" and kind.itemsize == 2:
        return array.astype(np.float32)
    if kind.kind in "iu":
        if array.size and (array.max() > LARGEST_WHOLE or array.min() < -LARGEST_WHOLE):
            raise ValueError(f"{name}: whole numbers above 2**53 are not exact as float64: convert them as you see fit")
        return array.astype(np.float64)
    raise TypeError(f"{name} must be float32 or float64 (or whole numbers), and have dtype {kind}")


def split(
    name: str, given: Any, widths: dict[int, tuple[str, ...]], fields: tuple[str, ...]
) -> tuple[tuple[int, ...], Columns]:
    """The leading shape and the columns of an array whose last axis has one of some widths, or of a table."""
    table = _tables.columns(given)
    if table is not None:
        return _tables.picked(name, table, fields, numbers)
    array = numbers(name, given)
    allowed = " or ".join(f"(…, {width})" for width in widths)
    if array.ndim == 0 or array.shape[-1] not in widths:
        raise ValueError(f"{name} must have shape {allowed}, and have {array.shape}")
    flat = array.reshape(-1, array.shape[-1])
    found = dict(zip(widths[array.shape[-1]], flat.T, strict=True))
    return array.shape[:-1], [found.get(field) for field in fields]


def joined(parts: dict[str, tuple[Any, int]]) -> tuple[tuple[int, ...], Columns]:
    """The common leading shape and the columns of arrays that are broadcast: vectors of a width, or numbers where it is 0."""
    arrays = {}
    for name, (given, width) in parts.items():
        array = numbers(name, given)
        if width and (array.ndim == 0 or array.shape[-1] != width):
            raise ValueError(f"{name} must have shape (…, {width}), and have {array.shape}")
        arrays[name] = (array, width)
    leading = {name: array.shape[:-1] if width else array.shape for name, (array, width) in arrays.items()}
    try:
        shape = np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in leading.items())
        raise ValueError(f"leading shapes do not fit together: {shapes}") from None
    columns: Columns = []
    for array, width in arrays.values():
        for part in [array[..., k] for k in range(width)] or [array]:
            columns.append(np.broadcast_to(part, shape).reshape(-1))
    return shape, columns


def rays(given: Any, directions: Any, t_min: Any, t_max: Any) -> Given:
    """Rays in any of the ways in which they may be given."""
    if isinstance(given, Segments):
        if directions is not None or t_min is not None or t_max is not None:
            raise TypeError("segments have directions and ends of their own")
        return Given(given.shape, None, given.columns)
    if directions is not None:
        parts = {"origins": (given, 3), "directions": (directions, 3)}
        ends = {name: end for name, end in (("t_min", t_min), ("t_max", t_max)) if end is not None}
        shape, columns = joined(parts | {name: (end, 0) for name, end in ends.items()})
        found = dict(zip(("ox", "oy", "oz", "dx", "dy", "dz", *ends), columns, strict=True))
        return Given(shape, None, [found.get(field) for field in RAY])
    array = None if _tables.columns(given) is not None else numbers("rays", given)
    if (
        array is not None
        and array.dtype == np.float32
        and array.ndim > 0
        and array.shape[-1] == 8
        and t_min is None
        and t_max is None
        and array.flags.c_contiguous
    ):
        return Given(array.shape[:-1], array.reshape(-1, 8), [], True)
    widths = {6: WRITTEN[:6], 8: WRITTEN}
    shape, columns = split("rays", given if array is None else array, widths, RAY)
    for place, name, end in ((3, "t_min", t_min), (7, "t_max", t_max)):
        if end is None:
            continue
        if columns[place] is not None:
            raise TypeError(f"{name} is given twice: the rays have one of their own")
        own = numbers(name, end)
        try:
            columns[place] = np.broadcast_to(own, shape).reshape(-1)
        except ValueError:
            message = f"{name} has shape {own.shape}, which does not fit the shape {shape} of the rays"
            raise ValueError(message) from None
    return Given(shape, None, columns, array is not None and array.shape[-1] == 8)


def rounded(kind: str, columns: Columns, origin: tuple[float, float, float]) -> tuple[NDArray[np.float32], int, float]:
    """Records of a kind, (N, width) float32: rounded once, after an origin is subtracted."""
    made, changed, largest = _umbracast.rounded(kind, columns, origin)
    return made.reshape(-1, len(columns)), changed, largest


def records(
    name: str, kind: str, given: Any, fields: tuple[str, ...], origin: tuple[float, float, float]
) -> tuple[tuple[int, ...], NDArray[np.float32], int, float]:
    """The leading shape, and records: borrowed where they are contiguous float32, else rounded."""
    if _tables.columns(given) is None:
        array = numbers(name, given)
        if (
            array.dtype == np.float32
            and array.flags.c_contiguous
            and array.ndim
            and array.shape[-1] == len(fields)
            and not any(origin)
        ):
            return array.shape[:-1], array.reshape(-1, len(fields)), 0, 0.0
        given = array
    shape, columns = split(name, given, {len(fields): fields}, fields)
    return shape, *rounded(kind, columns, origin)


def ellipsoids(
    centers: Any, radii: Any, rotations: Any, origin: tuple[float, float, float]
) -> tuple[tuple[int, ...], NDArray[np.float32], NDArray[np.float32] | None, int, float]:
    """The leading shape, centres and semi-axes, rotations; and how many of the former were rounded, by how much at most."""
    shape, columns = split("centres of ellipsoids", centers, {3: POINT}, POINT)
    there, axes = split("radii", radii, {3: RADII}, RADII)
    if there != shape:
        raise ValueError(f"radii must have shape {(*shape, 3)}, and have {(*there, 3)}")
    turned = None
    if rotations is not None:
        there, parts = split("rotations", rotations, {4: ROTATION}, ROTATION)
        if there != shape:
            raise ValueError(f"rotations must have shape {(*shape, 4)}, and have {(*there, 4)}")
        turned, _, _ = rounded("rotation", parts, (0.0, 0.0, 0.0))
    made, changed, largest = rounded("ellipsoid", [*columns, *axes], origin)
    return shape, made, turned, changed, largest
