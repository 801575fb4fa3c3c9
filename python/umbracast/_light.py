"""How much of a light is visible, where observers, light and bodies vary per row."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _progress, _umbracast, _validate
from ._devices import Device, open_device
from ._errors import RecordError
from ._options import Progress
from ._pictures import Shadows


def visible_fraction(
    observers: ArrayLike,
    light: ArrayLike,
    light_radius: ArrayLike,
    bodies: ArrayLike,
    radii: ArrayLike,
    *,
    polar_radii: ArrayLike | None = None,
    poles: ArrayLike | None = None,
    limb_darkening: tuple[float, float] | None = None,
    device: Device | str | int | None = "cpu",
    progress: Progress = False,
) -> Shadows:
    """Compute the visible fraction of a spherical light behind bodies, where each row may have its own observer, light and bodies.

    All arrays are broadcast as NumPy does, and are not copied for it. The leading axes, before the axes of bodies and of coordinates, are those
    of the result. Lengths may have any unit that all of them share. Bodies that overlap in front of the light count once.

    Parameters
    ----------
    observers : (…, 3) array
        Positions of the observers, outside all bodies.
    light : (…, 3) array
        Centre of the light.
    light_radius : (…) array
        Radius of the light, above 0.
    bodies : (…, B, 3) array
        Centres of the B bodies of a row. Bodies behind the light or behind the observer do not count.
    radii : (B) or (…, B) array
        Radii of the bodies; equatorial radii if there are polar radii.
    polar_radii : (B) or (…, B) array, optional
        Distance from the centre of each body to either pole, 0.01 to 100 times its radius. A body is a sphere if both are equal.
    poles : (…, B, 3) array, optional
        Directions of the poles, of any length. Default: the z axis. They need ``polar_radii``.
    limb_darkening : (float, float), optional
        Coefficients u1 and u2 of the brightness ``1 - u1 (1 - mu) - u2 (1 - mu)²`` of the light's disc.
    device : str, int or `Device`, default "cpu"
        Device to compute on; see `Device`. The CPU engine computes in float64; the error is at most 10⁻⁹, also at astronomical distances. GPUs
        compute in float32, to 10⁻⁴ (10⁻³ for oblate bodies and for fluxes).
    progress : bool or callable, default False
        True shows a bar of tqdm. A callable is called with the number of finished rows and the total number.

    Returns
    -------
    Shadows
        ``fraction``, ``kind`` and ``flux`` in the broadcast shape. Without limb darkening, ``flux`` is the same array as ``fraction``.

    Raises
    ------
    RecordError
        For the first invalid value, with its argument, index and value: a number that is not finite or exceeds 1e150 in magnitude, a light
        radius that is not above 0, a negative radius, a pole without a direction, and an observer inside a body (more than 2.4e-7 of its
        radius below the surface). The index is that in the broadcast shape.
    ValueError, TypeError
        For arrays that cannot be broadcast or are not numeric, and for poles without polar radii.
    DeviceError, MemoryError, KeyboardInterrupt
        As `System.shadow`.

    Examples
    --------
    A satellite that crosses the shadow of the oblate Earth, in km:

    >>> angles = np.radians(np.arange(0, 360, 10))
    >>> orbit = 7_000 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], -1)
    >>> umbracast.visible_fraction(orbit, [149_597_870.7, 0, 0], 695_700, [[0, 0, 0]], [6378.137], polar_radii=[6356.752])
    <umbracast.Shadows: shape (36,), 23 lit, 13 umbra>
    """
    if poles is not None and polar_radii is None:
        raise TypeError("poles need polar_radii: a sphere has no pole")
    given = {"observers": (observers, 1), "light": (light, 1), "light_radius": (light_radius, 0)}
    given |= {"bodies": (bodies, 1), "radii": (radii, 0)}
    given |= {
        name: (array, width) for name, array, width in (("polar_radii", polar_radii, 0), ("poles", poles, 1)) if array is not None
    }
    arrays: dict[str, NDArray[np.float64]] = {}
    for name, (array, width) in given.items():
        wide: NDArray[np.float64] = np.ascontiguousarray(_validate.floats(name, array), np.float64).reshape(np.shape(array))
        if width and (wide.ndim == 0 or wide.shape[-1] != 3):
            raise ValueError(f"{name} must have shape {'(…, B, 3)' if name in _PER_BODY else '(…, 3)'}, not {wide.shape}")
        arrays[name] = wide
    leading = {name: arrays[name].shape[: -1 if width else None] for name, (_, width) in given.items()}
    if not leading["bodies"]:
        raise ValueError(f"bodies must have shape (…, B, 3), not {arrays['bodies'].shape}")
    (*of_bodies, count) = _broadcast({name: shape for name, shape in leading.items() if name in _PER_BODY})
    shape = _broadcast({name: shape for name, shape in leading.items() if name not in _PER_BODY} | {"bodies": tuple(of_bodies)})

    def column(name: str) -> tuple[NDArray[np.float64], list[int]]:
        array, width = arrays[name], given[name][1]
        target = (*shape, *((count,) if name in _PER_BODY else ()), *((3,) if width else ()))
        steps = [step // array.itemsize for step in np.broadcast_to(array, target).strides]
        return array.reshape(-1), steps[: len(steps) - width]

    rows = math.prod(shape)
    fraction, kind, flux = np.empty(rows), np.empty(rows, np.uint8), np.empty(rows)
    limb = None if limb_darkening is None else _validate.numbers("limb_darkening", limb_darkening, 2)
    bad = _umbracast.visible_fraction(
        open_device(device, "fast")._native,
        shape,
        count,
        tuple(column(name) for name in ("observers", "light", "light_radius", "bodies", "radii")),
        tuple(column(name) if name in arrays else None for name in ("polar_radii", "poles")),
        limb,
        fraction,
        kind,
        flux,
        _progress.listener("visible_fraction", progress, "rows"),
    )
    if bad is not None:
        raise _error(shape, *bad)
    fraction = fraction.reshape(shape)
    return Shadows(fraction, kind.reshape(shape), fraction if limb is None else flux.reshape(shape))


_PER_BODY = ("bodies", "radii", "polar_radii", "poles")
"""Arguments with an axis of bodies."""


def _broadcast(leading: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the common shape of arguments, or an error with the shapes of all of them."""
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in leading.items())
        raise ValueError(f"shapes cannot be broadcast together, without the axis of coordinates: {shapes}") from None


def _error(
    shape: tuple[int, ...], what: str, row: int, body: int | None, field: str, value: str, why: str
) -> RecordError:
    """Return the error of an invalid value, named as the caller knows it: by argument and index."""
    names = {"observer": "observers", "light": "light_radius" if field == "radius" else "light"}
    per_body = {"radius": "radii", "polar_radius": "polar_radii", "pole": "poles"}
    argument = names.get(what) or per_body.get(field, "bodies")
    place = [int(index) for index in np.unravel_index(row, shape)] if shape else []
    place += [body] if body is not None and what == "row" else []
    place += ["xyz".index(field)] if field in ("x", "y", "z") else []
    index = f"[{', '.join(map(str, place))}]" if place else ""
    return RecordError(f"{argument}{index} is {value}: {why}", argument, row, field, value)
