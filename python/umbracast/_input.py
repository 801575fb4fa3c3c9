"""Conversion of array and table arguments to columns for the extension module. Copies only where necessary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tables, _umbracast, _validate
from ._options import CallOptions
from ._rounding import Rounding

Columns = list[NDArray[Any] | None]

RAY = ("ox", "oy", "oz", "t_min", "dx", "dy", "dz", "t_max")
"""Column order of the extension module's records, raw files and GPU buffers."""
INPUT_ORDER = ("ox", "oy", "oz", "dx", "dy", "dz", "t_min", "t_max")
"""Column order of rays in arrays, ``.npy`` and ``.csv`` files and on the command line."""
SEGMENT = ("x1", "y1", "z1", "x2", "y2", "z2")
BULLET = (*SEGMENT, "speed")
SPHERE = ("x", "y", "z", "r")
POINT = ("x", "y", "z")
SEMI_AXES = ("rx", "ry", "rz")
ROTATION = ("qw", "qx", "qy", "qz")


class Segments:
    """Line segments, to pass to a query instead of rays. ``t`` runs from 0 at the start to 1 at the end.

    Directions are the exact differences of the points, which float32 components could not represent.

    Parameters
    ----------
    starts : (…, 3) array; or, without ``ends``, (…, 6) array or table
        Start points. Without ``ends``: start and end points, or a table with columns x1, y1, z1, x2, y2, z2 and optionally those of
        rays: mask, skip_id, from_id, time, radius.
    ends : (…, 3) array, optional
        End points. ``starts`` and ``ends`` are broadcast.

    Raises
    ------
    TypeError, ValueError
        If an array is not numeric or has the wrong shape.
    """

    def __init__(self, starts: ArrayLike | Any, ends: ArrayLike | None = None) -> None:
        self.options: dict[str, Any] = {}
        if ends is None:
            starts, self.options = _tables.split_options("segments", starts, SEGMENT)
            self.shape, self.columns = split("segments", starts, {6: SEGMENT}, SEGMENT)
        else:
            self.shape, self.columns = broadcast_columns({"starts": (starts, POINT), "ends": (ends, POINT)})

    def __repr__(self) -> str:
        return f"<umbracast.Segments of shape {self.shape}>"


class SurfaceRays:
    """Rays from hit points, to pass to a query instead of rays: the result of `Hits.rays_to` and `Hits.rays_along`.

    They are in the order of ``hits.hit``: ``lit = np.zeros(hits.t.shape, bool); lit[hits.hit] = ~scene.occluded(rays)``.

    Attributes
    ----------
    rays : (M, 8) float64 array
        Origin, direction, t_min and t_max of the ray from each hit.
    from_ids : (M,) uint32
        The sphere on whose surface each ray starts; `NO_SPHERE` where the hit was the start of a ray inside a sphere.
    """

    def __init__(self, rays: NDArray[np.float64], options: dict[str, Any]) -> None:
        self.rays = rays
        self.options = options

    @property
    def from_ids(self) -> NDArray[np.uint32]:
        """(M,) uint32: the sphere on whose surface each ray starts, or `NO_SPHERE`."""
        return np.asarray(self.options["from_ids"])

    def __len__(self) -> int:
        return len(self.rays)

    def __repr__(self) -> str:
        return f"<umbracast.SurfaceRays, {len(self)} rays>"


class SensorRays(np.ndarray[Any, Any]):
    """Rays of a sensor: an array whose t_min is a minimum range, before which a surface blocks the ray. Joined ones are such an array, too."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = super().__array_function__(func, types, args, kwargs)
        # Stacks are joins of the parts, which NumPy makes plain.
        if func in (np.concatenate, np.block) and all(issubclass(one, SensorRays) for one in types):
            return found.view(SensorRays)
        return found

    @property
    def has_minimum_range(self) -> bool:
        """Whether these are rays, not something computed from them, and one has a minimum range."""
        return self.shape[-1:] == (8,) and bool((self[..., 6] > 0).any())


class RayInput(NamedTuple):
    """Rays in the layout in which the caller gave them."""

    shape: tuple[int, ...]
    """Leading shape of the rays and of the result."""
    records: NDArray[np.float32] | None
    """(M, 8) array in the order `INPUT_ORDER`, not copied; None if ``columns`` is used."""
    columns: Columns
    """Columns in the order `RAY`, or in the order `SEGMENT`; empty if ``records`` is used."""
    input_order: bool = False
    """Whether the caller gave an array of eight columns in the order `INPUT_ORDER`."""
    options: dict[str, Any] = {}
    """Options of the query that are columns of a table, by the names of their arguments. Never modified."""

    def as_columns(self) -> Columns:
        """Return the columns for either layout."""
        if self.records is None:
            return self.columns
        found = dict(zip(INPUT_ORDER, self.records.T, strict=True))
        return [found[field] for field in RAY]


class Spheres(NamedTuple):
    """Spheres or ellipsoids, as the extension module reads them."""

    records: NDArray[np.float32]
    """(N, 4) spheres; (N, 6) ellipsoids; (N, 3) new centres of ellipsoids that keep their shapes."""
    rotations: NDArray[np.float32] | None
    masks: NDArray[np.uint32] | None
    velocities: NDArray[np.float32] | None
    transmittances: NDArray[np.float32] | None


class PictureParts(NamedTuple):
    """The arrays of a picture from which others are computed, one-dimensional, as the extension module reads them."""

    size: tuple[int, int]
    """Width and height."""
    linear: NDArray[np.float32]
    alpha: NDArray[np.float32]
    """Empty unless the background is transparent."""
    t: NDArray[np.float32]
    id: NDArray[np.uint32]
    fraction: NDArray[np.float32]


class RayBatch(NamedTuple):
    """Rays and their optional columns, as the extension module reads them."""

    records: NDArray[np.float32] | None
    columns: Columns
    origin: tuple[float, float, float]
    masks: NDArray[np.uint32] | None
    skip_ids: NDArray[np.uint32] | None
    from_ids: NDArray[np.uint32] | None
    times: NDArray[np.float32] | None
    ray_radius: NDArray[np.float32] | None
    input_order: bool


def batch(given: RayInput, origin: tuple[float, float, float], parsed: CallOptions) -> RayBatch:
    """Combine rays, origin and optional columns for the extension module."""
    columns = (parsed.masks, parsed.skip_ids, parsed.from_ids, parsed.times, parsed.ray_radius)
    return RayBatch(given.records, given.columns, origin, *columns, given.input_order)


def split(
    name: str, given: Any, widths: dict[int, tuple[str, ...]], fields: tuple[str, ...]
) -> tuple[tuple[int, ...], Columns]:
    """Return the leading shape and the columns ``fields`` of a table, or of an array whose last axis has one of the ``widths``.

    A missing optional column is None.
    """
    table = _tables.columns(given)
    if table is not None:
        return _tables.select_columns(name, table, fields)
    array = _validate.floats(name, given)
    allowed = " or ".join(f"(…, {width})" for width in widths)
    if array.ndim == 0 or array.shape[-1] not in widths:
        raise ValueError(f"{name} must have shape {allowed}, not {array.shape}")
    flat = array.reshape(-1, array.shape[-1])
    found = dict(zip(widths[array.shape[-1]], flat.T, strict=True))
    return array.shape[:-1], [found.get(field) for field in fields]


def broadcast_columns(parts: dict[str, tuple[Any, tuple[str, ...]]]) -> tuple[tuple[int, ...], Columns]:
    """Broadcast arrays of vectors and return their common leading shape and columns. Each has the names of its columns, none for scalars.

    A vector can be a table with these columns, or with columns x, y, z.
    """
    arrays = {}
    for name, (given, fields) in parts.items():
        width, table = len(fields), _tables.columns(given) if fields else None
        if table is not None:
            there, vectors = _tables.select_columns(name, table, fields if fields[0] in table else POINT)
            given = np.stack(vectors, -1).reshape(*there, width)  # type: ignore[arg-type]  # all columns are required
        array = _validate.floats(name, given)
        if width and (array.ndim == 0 or array.shape[-1] != width):
            raise ValueError(f"{name} must have shape (…, {width}), not {array.shape}")
        arrays[name] = (array, width)
    leading = {name: array.shape[:-1] if width else array.shape for name, (array, width) in arrays.items()}
    try:
        shape = np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in leading.items())
        raise ValueError(f"leading shapes cannot be broadcast together: {shapes}") from None
    columns: Columns = []
    for array, width in arrays.values():
        for part in [array[..., k] for k in range(width)] or [array]:
            columns.append(np.broadcast_to(part, shape).reshape(-1))
    return shape, columns


def rays(given: Any, directions: Any, t_min: Any, t_max: Any) -> RayInput:
    """Read rays from any accepted layout; see `Scene.closest`."""
    if isinstance(given, Segments):
        if directions is not None or t_min is not None or t_max is not None:
            raise TypeError("directions, t_min and t_max cannot be combined with Segments")
        return RayInput(given.shape, None, given.columns, options=given.options)
    if isinstance(given, SurfaceRays):
        if directions is not None or t_min is not None or t_max is not None:
            raise TypeError("directions, t_min and t_max cannot be combined with the rays from hits")
        return rays(given.rays, None, None, None)._replace(options=given.options)
    if directions is not None:
        parts: dict[str, tuple[Any, tuple[str, ...]]] = {
            "origins": (given, INPUT_ORDER[:3]),
            "directions": (directions, INPUT_ORDER[3:6]),
        }
        ends = {name: end for name, end in (("t_min", t_min), ("t_max", t_max)) if end is not None}
        shape, columns = broadcast_columns(parts | {name: (end, ()) for name, end in ends.items()})
        found = dict(zip(("ox", "oy", "oz", "dx", "dy", "dz", *ends), columns, strict=True))
        return RayInput(shape, None, [found.get(field) for field in RAY])
    given, options = _tables.split_options("rays", given, INPUT_ORDER)
    array = None if isinstance(given, dict) else _validate.floats("rays", given)
    if (
        array is not None
        and array.dtype == np.float32
        and array.ndim > 0
        and array.shape[-1] == 8
        and t_min is None
        and t_max is None
        and array.flags.c_contiguous
    ):
        return RayInput(array.shape[:-1], array.reshape(-1, 8), [], True)
    widths = {6: INPUT_ORDER[:6], 8: INPUT_ORDER}
    shape, columns = split("rays", given if array is None else array, widths, RAY)
    for place, name, end in ((3, "t_min", t_min), (7, "t_max", t_max)):
        if end is None:
            continue
        if columns[place] is not None:
            raise TypeError(f"{name} is given twice: as an argument and as a column of the rays")
        own = _validate.floats(name, end)
        try:
            columns[place] = np.broadcast_to(own, shape).reshape(-1)
        except ValueError:
            message = f"{name} has shape {own.shape}, which cannot be broadcast to the shape {shape} of the rays"
            raise ValueError(message) from None
    return RayInput(shape, None, columns, array is not None and array.shape[-1] == 8, options)


def round_records(
    kind: str, columns: Columns, origin: tuple[float, float, float], on_bad: str = "refuse"
) -> tuple[NDArray[np.float32], Rounding]:
    """Subtract the origin, round to (N, width) float32 records, and return them.

    With ``on_bad="skip"`` a number beyond float32 becomes NaN, which the query skips.
    """
    made, rounding = _umbracast.round_records(kind, columns, origin, on_bad)
    return made.reshape(-1, len(columns)), Rounding(*rounding)


def records(
    name: str, kind: str, given: Any, fields: tuple[str, ...], origin: tuple[float, float, float], on_bad: str = "refuse"
) -> tuple[tuple[int, ...], NDArray[np.float32], Rounding]:
    """Return the leading shape and the records.

    ``on_bad`` as for `round_records`. Contiguous float32 records are not copied if the origin is zero. Others are rounded.
    """
    given = _tables.read(given)
    if not isinstance(given, Mapping):
        array = _validate.floats(name, given)
        if (
            array.dtype == np.float32
            and array.flags.c_contiguous
            and array.ndim
            and array.shape[-1] == len(fields)
            and not any(origin)
        ):
            return array.shape[:-1], array.reshape(-1, len(fields)), Rounding()
        given = array
    shape, columns = split(name, given, {len(fields): fields}, fields)
    return shape, *round_records(kind, columns, origin, on_bad)


def ellipsoids(
    centers: Any, semi_axes: Any, rotations: Any, origin: tuple[float, float, float]
) -> tuple[tuple[int, ...], NDArray[np.float32], NDArray[np.float32] | None, Rounding]:
    """Return the leading shape, centres with semi-axes, and rotations.

    Roundings of rotations are not counted.
    """
    shape, columns = split("centres of ellipsoids", centers, {3: POINT}, POINT)
    there, axes = split("semi_axes", semi_axes, {3: SEMI_AXES}, SEMI_AXES)
    if there != shape:
        raise ValueError(f"semi_axes must have shape {(*shape, 3)}, not {(*there, 3)}")
    turned = None
    if rotations is not None:
        there, parts = split("rotations", rotations, {4: ROTATION}, ROTATION)
        if there != shape:
            raise ValueError(f"rotations must have shape {(*shape, 4)}, not {(*there, 4)}")
        turned, _ = round_records("rotation", parts, (0.0, 0.0, 0.0))
    made, rounding = round_records("ellipsoid", [*columns, *axes], origin)
    return shape, made, turned, rounding
