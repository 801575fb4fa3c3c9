"""Rays from points, sensors and cameras, as arrays for any query: the same rays as on the command line.

Positions that are given in float64, or as Python numbers, stay in float64, so that a scene can subtract its ``origin`` before it rounds
them.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _tables, _umbracast, _validate
from ._errors import RecordError


Rays = NDArray[np.float32] | NDArray[np.float64]


def rays_toward(points: ArrayLike | Any, target: ArrayLike, radius: float = 0.0) -> Rays:
    """Return one ray per point, which ends at ``target``: ``t`` is 0 at the point and 1 at the target.

    Parameters
    ----------
    points : (…, 3) array, or a table with columns x, y, z
        Where the rays begin.
    target : three numbers
        Where they end.
    radius : float, default 0
        Radius of a sphere around the target, before which the rays end. The sphere may then be in the scene without blocking them, because
        the rays also end earlier by as much as rounding to float32 moves points, target and radius. Positions near the coordinate
        origin lose least by this.

    Returns
    -------
    (…, 8) array
        Origin, direction, t_min and t_max of each ray: float32 if the points are float32, else float64.
    """
    radius = float(radius)
    if not 0 <= radius < math.inf:
        raise ValueError(f"radius is {radius}: it must be finite and not negative")
    return _from_points(points, "target", target, radius)


def rays_along(points: ArrayLike | Any, direction: ArrayLike) -> Rays:
    """Return one infinite ray per point in ``direction``, such as that of the Sun.

    Parameters
    ----------
    points : (…, 3) array, or a table with columns x, y, z
        Where the rays begin.
    direction : three numbers
        Direction of all rays, of any length except zero. Its length is the unit of ``t``.

    Returns
    -------
    (…, 8) array
        Origin, direction, t_min and t_max of each ray: float32 if the points are float32, else float64.
    """
    return _from_points(points, "direction", direction, None)


def rays_of_sensor(
    elevations_deg: ArrayLike,
    azimuths_deg: ArrayLike,
    poses: ArrayLike | Any | None = None,
    *,
    rotations: Any | None = None,
    range: tuple[float, float] = (0.0, math.inf),
) -> Rays:
    """Return the rays of a sensor, such as a LiDAR, for each of its poses.

    The axes of the sensor are x forward, y to the left and z up. Directions have length 1, so ``t`` is a distance.

    Parameters
    ----------
    elevations_deg : (E,) array
        Elevations of the channels in degrees, upwards from the xy plane of the sensor: -90 to 90.
    azimuths_deg : (A,) array
        Azimuths in degrees, from x towards y.
    poses : (P, 3) array, (P, 4, 4) or (4, 4) array, or a table with columns x, y, z and optionally qw, qx, qy, qz, optional
        Positions; or matrices that take points of the sensor to the scene, such as those of SciPy's `RigidTransform`; or positions and
        quaternions of length 1, which rotate the sensor. Default: one pose at the origin. Quaternions go by name, because their order
        differs from package to package. One of length 0.9 to 1.1 is normalised, with a RuntimeWarning if it is off 1 by more than 10⁻⁴.
    rotations : scipy.spatial.transform.Rotation, optional
        One rotation of the sensor per position, or one for all.
    range : (float, float), default (0, inf)
        Smallest and largest range, the t_min and t_max of all rays. A surface nearer than the smallest range blocks the ray, unless the
        query has ``near="pass"``. The array is a subclass that knows this: plain copies, such as `numpy.array` and `numpy.asarray` make, do
        not, and need ``near="block"``.

    Returns
    -------
    (P, E, A, 8) array
        Origin, direction, t_min and t_max of each ray: float32 if the poses are float32, else float64. (E, A, 8) float32 without
        ``poses``.

    Raises
    ------
    RecordError
        For an angle or a pose that is not valid, such as a quaternion that is no rotation.
    """
    elevations, azimuths = (
        np.ascontiguousarray(_validate.floats(name, angles), np.float64).reshape(-1)
        for name, angles in (("elevations_deg", elevations_deg), ("azimuths_deg", azimuths_deg))
    )
    shape, places, turns = _poses(poses, rotations)
    placed = np.c_[places.astype(np.float64), turns]
    ends = _validate.numbers("range", range, 2)
    made, warning = _umbracast.lidar_rays(placed.tolist(), elevations.tolist(), azimuths.tolist(), list(ends))
    if warning is not None:
        warnings.warn(f"poses: {warning}", RuntimeWarning, stacklevel=2)
    made = made.reshape(len(placed), elevations.size, azimuths.size, 8)
    rays = made if places.dtype == np.float32 else _with_origins(made, places[:, None, None])
    rays = rays.reshape(*shape, elevations.size, azimuths.size, 8)
    # Also without a minimum range: they can be joined with others that have one.
    return rays.view(_input.SensorRays)


def _poses(poses: Any, rotations: Any) -> tuple[tuple[int, ...], NDArray[Any], NDArray[Any]]:
    """Return the leading shape of poses, and in one dimension their positions and their quaternions w, x, y, z."""
    shape: tuple[int, ...] = ()
    turns: NDArray[Any] | None = None
    places: NDArray[Any]
    if poses is None:
        places = np.zeros((1, 3), np.float32)
    elif hasattr(poses, "as_quat"):
        raise TypeError("poses are rotations: pass them as rotations=, and positions as poses")
    elif (table := _tables.columns(poses)) is not None:
        _tables.check_names("poses", table, _input.POINT, _input.ROTATION)
        turned = any(name in table for name in _input.ROTATION)
        fields = (*_input.POINT, *_input.ROTATION) if turned else _input.POINT
        shape, columns = _tables.select_columns("poses", table, fields)
        places = np.stack(columns[:3], -1)  # type: ignore[arg-type]  # all columns are required
        if turned:
            turns = np.stack(columns[3:], -1)  # type: ignore[arg-type]
    else:
        array = _validate.floats("poses", poses.as_matrix() if hasattr(poses, "as_matrix") else poses)
        if array.ndim in (2, 3) and array.shape[-2:] == (4, 4):
            shape, (places, turns) = array.shape[:-2], _of_matrices(array.reshape(-1, 4, 4))
        elif array.ndim == 2 and array.shape[1] == 3:
            shape, places = array.shape[:1], array
        else:
            remedy = "quaternions go by name: a table with columns x, y, z, qw, qx, qy, qz"
            raise ValueError(f"poses must have shape (P, 3), (P, 4, 4) or (4, 4), not {array.shape}; {remedy}")
    if rotations is not None:
        if turns is not None:
            raise TypeError("rotations are given twice: as an argument and in the poses")
        quaternions = _validate.quaternions("rotations", rotations)
        try:
            turns = np.broadcast_to(quaternions, (len(places), 4))
        except ValueError:
            raise ValueError(f"there are {len(quaternions)} rotations and {len(places)} positions") from None
    return shape, places, np.tile([1.0, 0.0, 0.0, 0.0], (len(places), 1)) if turns is None else turns


def _of_matrices(matrices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the positions and the quaternions w, x, y, z of (P, 4, 4) matrices. Raises RecordError for one that does not only move."""
    turns = matrices[:, :3, :3].astype(np.float64)
    off = np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max((1, 2), initial=0)
    bad = ~(off < 1e-4) | ~(np.linalg.det(turns) > 0) | (matrices[:, 3] != [0, 0, 0, 1]).any(1)
    if bad.any():
        index = int(np.argmax(bad))
        rule = "its upper left 3×3 must be a rotation, and its last row 0, 0, 0, 1"
        message = f"pose {index}: the matrix is {matrices[index].tolist()}: {rule}"
        raise RecordError(message, "pose", index, "matrix", str(matrices[index].tolist()))
    # The largest of the four rows of the outer product of the quaternion with itself loses no digits.
    x, y, z = (turns[:, k, k] for k in (0, 1, 2))
    squares = np.stack([1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z], -1)
    a, b, c = (turns[:, j, i] - turns[:, i, j] for i, j in ((1, 2), (2, 0), (0, 1)))
    d, e, f = (turns[:, j, i] + turns[:, i, j] for i, j in ((0, 1), (2, 0), (1, 2)))
    rows = np.stack([squares[:, 0], a, b, c, a, squares[:, 1], d, e, b, d, squares[:, 2], f, c, e, f, squares[:, 3]], -1)
    found = rows.reshape(-1, 4, 4)[np.arange(len(turns)), squares.argmax(1)]
    return matrices[:, :3, 3], found / np.linalg.norm(found, axis=1, keepdims=True)


def rays_of_camera(
    position: ArrayLike,
    target: ArrayLike,
    *,
    size: tuple[int, int],
    up: ArrayLike = (0.0, 0.0, 1.0),
    field_of_view_deg: float | None = None,
    width: float | None = None,
) -> Rays:
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
        Angle that the height of the picture spans. ``t`` is then the distance along the line of sight, the view distance.
    width : float, optional
        For an orthographic camera: the length that the width of the picture spans. ``t`` is then a distance.

    Returns
    -------
    (height, width, 8) array
        Origin, direction, t_min and t_max of each ray: float32 if ``position`` is a float32 array, else float64.
    """
    if field_of_view_deg is not None and width is not None:
        raise TypeError("field_of_view_deg is for perspective, and width for an orthographic camera: give one of the two")
    lens = float(width if width is not None else 50.0 if field_of_view_deg is None else field_of_view_deg)
    columns, rows = _validate.size(size, 1, 1 << 16)
    place, toward, upwards = (
        _validate.numbers(name, given, 3) for name, given in (("position", position), ("target", target), ("up", up))
    )
    made = _umbracast.camera_rays(place, toward, upwards, lens, width is not None, (columns, rows)).reshape(rows, columns, 8)
    if getattr(position, "dtype", None) == np.float32:
        return made
    if width is None:
        return _with_origins(made, place)
    # The rays of an orthographic camera begin next to each other, relative to the camera.
    ahead = tuple(np.subtract(toward, place).tolist())
    made = _umbracast.camera_rays((0.0, 0.0, 0.0), ahead, upwards, lens, True, (columns, rows)).reshape(rows, columns, 8)
    return _with_origins(made, made[..., :3].astype(np.float64) + place)


def _with_origins(rays: NDArray[np.float32], origins: Any) -> NDArray[np.float64]:
    """Return rays in float64 that begin at ``origins``."""
    made = rays.astype(np.float64)
    made[..., :3] = origins
    return made


def _from_points(points: Any, name: str, toward: Any, radius: float | None) -> Rays:
    """Return one ray per point, towards a target or along a direction."""
    goal = _validate.numbers(name, toward, 3)
    if not all(math.isfinite(number) for number in goal) or (radius is None and not any(goal)):
        rule = "finite, and not all zero" if radius is None else "finite"
        raise ValueError(f"{name} is {goal}: its numbers must be {rule}")
    shape, columns = _input.split("points", points, {3: _input.POINT}, _input.POINT)
    places = np.stack(columns, -1)  # type: ignore[arg-type]  # all three columns are required
    rays: Rays
    if places.dtype == np.float32:
        rays = _umbracast.point_rays(places, list(goal), radius).reshape(-1, 8)
    else:
        # Directions are those from the points to the target, relative to the target.
        base = (0.0, 0.0, 0.0) if radius is None else (goal[0], goal[1], goal[2])
        records, _ = _input.round_records("point", columns, base)
        toward = list(goal) if radius is None else [0.0, 0.0, 0.0]
        rays = _with_origins(_umbracast.point_rays(records, toward, radius).reshape(-1, 8), places)
    if radius:
        _end_before_rounded(rays, places, np.array(goal), radius)
    return rays.reshape(*shape, 8)


def _end_before_rounded(rays: Rays, places: NDArray[Any], target: NDArray[np.float64], radius: float) -> None:
    """End rays earlier by as much as rounding to float32 moves their starts, the target and its radius.

    A query rounds the starts, and a scene rounds the sphere around the target, while the directions are those before rounding.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        moved = sum(
            np.linalg.norm(given - given.astype(np.float32), axis=-1)
            for given in (places.astype(np.float64), target, np.array([radius]))
        )
        earlier = moved / np.linalg.norm(rays[:, 3:6].astype(np.float64), axis=1)
    # Queries refuse rays without a direction, and starts beyond float32 unless their scene has an origin.
    rays[:, 7] = np.maximum(rays[:, 7] - np.where(np.isfinite(earlier), earlier, 0.0), 0.0)
