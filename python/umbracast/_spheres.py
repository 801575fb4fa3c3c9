"""Input layouts of spheres and ellipsoids, and the origin that is subtracted from their coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _input, _tables, _umbracast, _validate

Origin = tuple[float, float, float]

VELOCITY = ("vx", "vy", "vz")
PARTS = {
    "semi_axes": _input.SEMI_AXES,
    "rotations": _input.ROTATION,
    "masks": ("mask",),
    "velocities": VELOCITY,
    "transmittances": ("transmittance",),
}
"""Arguments of scenes, and the columns of tables with the same values."""

class SphereInputs(NamedTuple):
    """Spheres, or centres of ellipsoids, and what belongs to them: arrays, or columns of a table."""

    spheres: Any
    semi_axes: Any
    rotations: Any
    masks: Any
    velocities: Any
    transmittances: Any


def sphere_inputs(given: SphereInputs) -> SphereInputs:
    """Split the spheres into these parts, if they are a table. A table is read only once.

    Raises ValueError for an unknown column and for rotations without semi-axes, TypeError if a part is given twice.
    """
    table = _tables.columns(given.spheres)
    if table is not None:
        table = _tables.with_r(table)
        _tables.check_names("spheres", table, _input.SPHERE, [name for names in PARTS.values() for name in names])
        if "r" in table:
            _validate.check_once("semi_axes", given.semi_axes, "r")
            if any(name in table for name in _input.SEMI_AXES):
                axes = ", ".join(_input.SEMI_AXES)
                raise ValueError(f"spheres: a table cannot have both 'r' (spheres) and {axes} (ellipsoids)")
        for part, names in PARTS.items():
            found = {name: table[name] for name in names if name in table}
            if found:
                _validate.check_once(part, getattr(given, part), next(iter(found)))
                given = given._replace(**{part: found if len(names) > 1 else table[names[0]]})
        given = given._replace(spheres={name: table[name] for name in _input.SPHERE if name in table})
    given = given._replace(**{part: _tables.read(getattr(given, part)) for part in ("semi_axes", "velocities")})
    if hasattr(given.rotations, "as_quat"):
        given = given._replace(rotations=_validate.quaternions("rotations", given.rotations))
    else:
        given = given._replace(rotations=_tables.read(given.rotations))
    if given.rotations is not None and given.semi_axes is None:
        raise ValueError("rotations (qw, qx, qy, qz) are for ellipsoids, but semi_axes (rx, ry, rz) are missing")
    return given


def one_of(part: str, given: Any, found: Any) -> Any:
    """Return an argument, or what a file has instead. Raises TypeError if there are both."""
    if found is None:
        return given
    _validate.check_once(part, given, PARTS[part][0])
    return found


def are_centers(spheres: Any) -> bool:
    table = _tables.columns(spheres)
    return "r" not in table if table is not None else np.shape(spheres)[-1:] == (3,)


def split_shapes(
    stretched: NDArray[np.float32] | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """Split (N, 7) shapes of ellipsoids into copies of the semi-axes, (N, 3), and the rotations, (N, 4)."""
    if stretched is None:
        return None
    shapes = stretched.reshape(-1, 7)
    return shapes[:, :3].copy(), shapes[:, 3:].copy()


def parse_origin(origin: Any, spheres: Any, semi_axes: Any, rotations: Any) -> Origin:
    if origin is None:
        return (0.0, 0.0, 0.0)
    starts = starts_of(origin)
    if starts is not None:
        if semi_axes is None:
            _, columns = _input.split("spheres", spheres, {4: _input.SPHERE}, _input.SPHERE)
        else:
            shape, columns = _input.split("centres of ellipsoids", spheres, {3: _input.POINT}, _input.POINT)
            there, axes = _input.split("semi_axes", semi_axes, {3: _input.SEMI_AXES}, _input.SEMI_AXES)
            if there != shape:
                raise ValueError(f"semi_axes must have shape {(*shape, 3)}, not {(*there, 3)}")
            turned: _input.Columns = [np.zeros(shape)] * 4
            if rotations is not None:
                _, turned = _input.split("rotations", rotations, {4: _input.ROTATION}, _input.ROTATION)
            columns = [*columns, *axes, *turned]
        x, y, z = _umbracast.choose_origin([np.ravel(np.asarray(column, np.float64)) for column in columns], starts)
        return (x, y, z)
    parts = _validate.numbers("origin", origin, 3)
    if not np.isfinite(parts).all():
        raise ValueError(f"origin is {origin}: it must be three finite numbers, rays or 'auto'")
    return (parts[0], parts[1], parts[2])


def starts_of(origin: Any) -> NDArray[np.float64] | None:
    """Return (K, 3) starts of rays on which the origin depends, none for "auto", and None for three numbers or None."""
    if isinstance(origin, str):
        if origin != "auto":
            raise ValueError(f"origin is {origin!r}: it must be three numbers, rays or 'auto'")
        return np.empty((0, 3))
    if len(_validate.labels(origin)) == 3 and np.ndim(origin) == 1:
        return None
    origin = _tables.read(origin)
    is_array = not isinstance(origin, (_input.Segments, Mapping))
    if is_array and np.ndim(origin) < 2 and np.size(origin) not in (6, 8):
        return None
    if is_array and np.shape(origin)[-1] == 3:
        columns: list[Any] = list(_validate.floats("origin", origin).reshape(-1, 3).T)
    else:
        columns = _input.rays(origin, None, None, None).as_columns()[:3]
    return every(-(-np.size(columns[0]) // 1024), columns)


def every(step: int, columns: Any) -> NDArray[np.float64]:
    """Return every ``step``-th row of columns of coordinates."""
    return np.stack([np.asarray(column[:: max(step, 1)], np.float64) for column in columns], -1)


def start_warning(coarse: tuple[float, float, bool], what: str) -> str:
    """Describe a coarse start: its change, its distance from the nearest surface, and whether another origin would help."""
    change, distance, helps = coarse
    remedy = "the coordinates or the radius have more digits than float32 keeps"
    if helps:
        remedy = "Scene(…, origin=rays) keeps more digits"
    if distance <= change and what == "the start of a ray":
        remedy += "; rays that start on a sphere need its id in from_ids"
    return (
        f"rounding to float32 can move {what} by {change:.1e} relative to the nearest surface, "
        f"which is {distance:.1e} away: {remedy}"
    )


def smallest_radius(records: NDArray[np.float32]) -> float:
    """Return the smallest radius or semi-axis above 0 of spheres or ellipsoids, inf if there is none."""
    radii = records[:, 3:]
    return float(radii[radii > 0].min(initial=np.inf))
