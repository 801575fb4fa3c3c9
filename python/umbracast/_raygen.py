"""Rays from points, sensors and cameras, as arrays for any query: the same rays as on the command line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _umbracast, _validate


def rays_toward(points: ArrayLike | Any, target: ArrayLike, radius: float = 0.0) -> NDArray[np.float32]:
    """Return one ray per point, which ends at ``target``: ``t`` is 0 at the point and 1 at the target.

    Parameters
    ----------
    points : (…, 3) array, or a table with columns x, y, z
        Where the rays begin. Rounded once to float32.
    target : three numbers
        Where they end.
    radius : float, default 0
        Radius of a sphere around the target, before which the rays end. The sphere may then be in the scene without blocking them.

    Returns
    -------
    (…, 8) float32 array
        Origin, direction, t_min and t_max of each ray.
    """
    radius = float(radius)
    if not 0 <= radius < math.inf:
        raise ValueError(f"radius is {radius}: it must be finite and not negative")
    return _from_points(points, "target", target, radius)


def rays_along(points: ArrayLike | Any, direction: ArrayLike) -> NDArray[np.float32]:
    """Return one infinite ray per point in ``direction``, such as that of the Sun.

    Parameters
    ----------
    points : (…, 3) array, or a table with columns x, y, z
        Where the rays begin. Rounded once to float32.
    direction : three numbers
        Direction of all rays, of any length except zero. Its length is the unit of ``t``.

    Returns
    -------
    (…, 8) float32 array
        Origin, direction, t_min and t_max of each ray.
    """
    return _from_points(points, "direction", direction, None)


def rays_of_sensor(
    elevations_deg: ArrayLike,
    azimuths_deg: ArrayLike,
    poses: ArrayLike | None = None,
    *,
    range: tuple[float, float] = (0.0, math.inf),
) -> NDArray[np.float32]:
    """Return the rays of a sensor, such as a LiDAR, for each of its poses.

    The axes of the sensor are x forward, y to the left and z up. Directions have length 1, so ``t`` is a distance.

    Parameters
    ----------
    elevations_deg : (E,) array
        Elevations of the channels in degrees, upwards from the xy plane of the sensor: -90 to 90.
    azimuths_deg : (A,) array
        Azimuths in degrees, from x towards y.
    poses : (P, 3) or (P, 7) array, optional
        Positions, or positions and quaternions w, x, y, z of length 1, which rotate the sensor. Default: one pose at the origin.
    range : (float, float), default (0, inf)
        t_min and t_max of all rays.

    Returns
    -------
    (P, E, A, 8) float32 array
        Origin, direction, t_min and t_max of each ray; (E, A, 8) without ``poses``.
    """
    elevations, azimuths = (
        np.ascontiguousarray(_input.numbers(name, angles), np.float64).reshape(-1)
        for name, angles in (("elevations_deg", elevations_deg), ("azimuths_deg", azimuths_deg))
    )
    placed = np.zeros((1, 3)) if poses is None else np.asarray(_input.numbers("poses", poses), np.float64)
    if placed.ndim != 2 or placed.shape[1] not in (3, 7):
        raise ValueError(f"poses must have shape (P, 3) or (P, 7), not {placed.shape}")
    if placed.shape[1] == 3:
        placed = np.c_[placed, np.tile([1.0, 0.0, 0.0, 0.0], (len(placed), 1))]
    ends = _validate.numbers("range", range, 2)
    made = _umbracast.lidar_rays(placed.tolist(), elevations.tolist(), azimuths.tolist(), list(ends))
    shape = (elevations.size, azimuths.size, 8)
    return made.reshape(shape if poses is None else (len(placed), *shape))


def rays_of_camera(
    position: ArrayLike,
    target: ArrayLike,
    *,
    size: tuple[int, int],
    up: ArrayLike = (0.0, 0.0, 1.0),
    field_of_view_deg: float | None = None,
    width: float | None = None,
) -> NDArray[np.float32]:
    """Return the rays through the centres of the pixels of a picture, row by row from the upper left.

    Parameters
    ----------
    position, target : three numbers
        Place of the camera, and the point at the centre of the picture.
    size : (int, int)
        Width and height in pixels.
    up : three numbers, default (0, 0, 1)
        Direction that points upwards in the picture.
    field_of_view_deg : float, default 50
        Angle that the height of the picture spans. ``t`` is then the depth along the line of sight.
    width : float, optional
        For an orthographic camera: the length that the width of the picture spans. ``t`` is then a distance.

    Returns
    -------
    (height, width, 8) float32 array
        Origin, direction, t_min and t_max of each ray.
    """
    if field_of_view_deg is not None and width is not None:
        raise TypeError("field_of_view_deg is for perspective, and width for an orthographic camera: give one of the two")
    lens = float(width if width is not None else 50.0 if field_of_view_deg is None else field_of_view_deg)
    columns, rows = (
        _validate.integer(name, side, 1, 1 << 16) for name, side in zip(("width", "height"), size, strict=True)
    )
    place, aim, upwards = (
        _validate.numbers(name, given, 3) for name, given in (("position", position), ("target", target), ("up", up))
    )
    made = _umbracast.camera_rays(place, aim, upwards, lens, width is not None, (columns, rows))
    return made.reshape(rows, columns, 8)


def _from_points(points: Any, name: str, aim: Any, radius: float | None) -> NDArray[np.float32]:
    """Return one ray per point, towards a target or along a direction."""
    goal = _validate.numbers(name, aim, 3)
    if not all(math.isfinite(number) for number in goal) or (radius is None and not any(goal)):
        rule = "finite, and not all zero" if radius is None else "finite"
        raise ValueError(f"{name} is {goal}: its numbers must be {rule}")
    shape, records, _, _ = _input.records("points", "point", points, _input.POINT, (0.0, 0.0, 0.0))
    return _umbracast.point_rays(records, list(goal), radius).reshape(*shape, 8)
