"""Input layouts of spheres and ellipsoids, and the origin that is subtracted from their coordinates."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _input, _tables, _validate

Origin = tuple[float, float, float]

COARSE = 1e-3
"""A rounding larger than this fraction of the smallest radius can change results. The command line warns at the same fraction."""


def sphere_inputs(spheres: Any, radii: Any, rotations: Any) -> tuple[Any, Any, Any]:
    """Split the input into spheres, radii and rotations.

    If `spheres` is a table with columns of radii or rotations, the table is returned in their place. A table is read only once.
    Radii and rotations are None for spheres. Raises ValueError if either is given twice, or if there are rotations without radii.
    """
    table = _tables.columns(spheres)
    if table is not None:
        spheres = table
        has_radii, has_rotations = _tables.ellipsoid_columns(table, _input.RADII, _input.ROTATION)
        if radii is not None and (has_radii or "r" in table):
            raise ValueError("radii are given twice: as an argument and in the table")
        if rotations is not None and has_rotations:
            raise ValueError("rotations are given twice: as an argument and in the table")
        radii = table if has_radii else radii
        rotations = table if has_rotations else rotations
    if rotations is not None and radii is None:
        raise ValueError("rotations (qw, qx, qy, qz) are for ellipsoids, but the radii (rx, ry, rz) are missing")
    return spheres, radii, rotations


def are_centers(spheres: Any) -> bool:
    table = _tables.columns(spheres)
    return "r" not in table if table is not None else np.shape(spheres)[-1:] == (3,)


def split_shapes(
    stretched: NDArray[np.float32] | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """Split (N, 7) shapes of ellipsoids into copies of the radii, (N, 3), and the rotations, (N, 4)."""
    if stretched is None:
        return None
    shapes = stretched.reshape(-1, 7)
    return shapes[:, :3].copy(), shapes[:, 3:].copy()


def parse_origin(origin: Any, spheres: Any, radii: Any) -> Origin:
    if origin is None:
        return (0.0, 0.0, 0.0)
    if isinstance(origin, str):
        if origin != "auto":
            raise ValueError(f"origin is {origin!r}: it must be three numbers or 'auto'")
        if radii is None:
            _, columns = _input.split("spheres", spheres, {4: _input.SPHERE}, _input.SPHERE)
            x, y, z, r = (np.asarray(column, np.float64) for column in columns)
        else:
            shape, columns = _input.split("centres of ellipsoids", spheres, {3: _input.POINT}, _input.POINT)
            there, axes = _input.split("radii", radii, {3: _input.RADII}, _input.RADII)
            if there != shape:
                raise ValueError(f"radii must have shape {(*shape, 3)}, not {(*there, 3)}")
            x, y, z = (np.asarray(column, np.float64) for column in columns)
            r = np.max([np.asarray(column, np.float64) for column in axes], 0)
        usable = np.isfinite(x) & np.isfinite(y) & np.isfinite(z) & np.isfinite(r)
        if not usable.any():
            return (0.0, 0.0, 0.0)
        # Halve before adding: the sum of two large bounds could overflow.
        middle = [float(0.5 * (k - r)[usable].min() + 0.5 * (k + r)[usable].max()) for k in (x, y, z)]
        return (middle[0], middle[1], middle[2])
    parts = _validate.numbers("origin", origin, 3)
    if not np.isfinite(parts).all():
        raise ValueError(f"origin is {origin}: it must be three finite numbers or 'auto'")
    return (parts[0], parts[1], parts[2])


def warn_if_coarse(records: NDArray[np.float32], largest: float, has_origin: bool) -> None:
    """Warn if rounding to float32 changed spheres or ellipsoids by up to ``largest``, and that is coarse for their radii."""
    radii = records[:, 3:] if largest > 0 else records[:0, 3:]
    smallest = float(radii[radii > 0].min(initial=np.inf))
    if largest > COARSE * smallest:
        remedy = "choose an origin nearer to the spheres" if has_origin else "origin='auto' keeps more digits"
        warnings.warn(
            f"rounding to float32 changed the spheres by up to {largest:.1e}; the smallest radius is {smallest:.1e}: {remedy}",
            RuntimeWarning,
            stacklevel=4,
        )
