"""Pictures of systems, and what is left of a light."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _progress, _tables, _umbracast, _validate
from ._devices import Device, opened
from ._options import Progress


class Picture(NamedTuple):
    """A picture and what its pixels know, row by row from the upper left."""

    image: NDArray[np.uint8]
    """(height, width, 3) sRGB: ready for `matplotlib.pyplot.imshow` and `PIL.Image.fromarray`."""
    t: NDArray[np.float32]
    """(height, width) distance from the camera in the system's unit, inf where nothing is."""
    id: NDArray[np.uint32]
    """(height, width) number of the sphere in the system, the light last; `NO_SPHERE` where nothing is."""
    fraction: NDArray[np.float32]
    """(height, width) part of the light's disc to be seen from there; 1 where nothing is."""


class Shadows(NamedTuple):
    """What observers see of a light."""

    fraction: NDArray[np.float64]
    """(…) part of the light's disc that is seen, by solid angle: 0 in the umbra, 1 in full light."""
    kind: NDArray[np.uint8]
    """(…) 0 none, 1 partial (penumbra), 2 annular (antumbra), 3 total (umbra): places in `SHADOW_KINDS`."""


SHADOW_KINDS = ("none", "partial", "annular", "total")


def render(
    system: str | os.PathLike[str],
    *,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    device: Device | str | int | None = None,
) -> Picture:
    """Draws a system of a light and bodies, with umbra and penumbra as they are.

    ``system`` is the path of a system file (TOML; systems/README.md of the project describes it), or its text, if it has more than
    one line. ``size`` is (width, height) in pixels and ``samples`` along each axis of a pixel, instead of the system's.

    Raises ValueError that names table, key and value for a system that cannot be used, FileNotFoundError, `DeviceError`, MemoryError,
    and KeyboardInterrupt soon after Ctrl-C.
    """
    path, text = _system(system)
    if size is not None:
        size = _size(size)
    if samples is not None:
        samples = _validate.whole("samples", samples, 0, 0xFFFF_FFFF)
    (width, height), colours, t, id, fraction = _umbracast.render(
        opened(device, "fast")._native, path, text, size, samples
    )
    shape = (height, width)
    return Picture(colours.reshape(height, width, 3), t.reshape(shape), id.reshape(shape), fraction.reshape(shape))


def shadow(
    observers: ArrayLike,
    system: str | os.PathLike[str],
    *,
    device: Device | str | int | None = None,
    progress: Progress = False,
) -> Shadows:
    """How much of a light each observer sees past bodies, and how it is covered.

    ``observers`` (…, 3) are points in the unit and the frame of the system, used as float64, or a table with columns x, y, z. ``system`` is as
    for `render`; it needs no camera. Exact to 10⁻⁹ on the CPU engine, to 10⁻⁴ on GPUs (10⁻³ past oblate bodies).

    Raises as `render`, and `RecordError` for an observer that is no number up to 1e150.
    """
    path, text = _system(system)
    if _tables.columns(observers) is None:
        array = _input.numbers("observers", observers)
        if array.ndim == 0 or array.shape[-1] != 3:
            raise ValueError(f"observers must have shape (…, 3), and have {array.shape}")
    else:
        shape, columns = _input.split("observers", observers, {3: _input.POINT}, _input.POINT)
        array = np.stack([np.asarray(column) for column in columns], -1).reshape(*shape, 3)
    wide = np.ascontiguousarray(array, np.float64)
    count = wide.size // 3
    fraction, kind = np.empty(count), np.empty(count, np.uint8)
    told = _progress.listener("shadow", progress)
    _umbracast.shadow(opened(device, "fast")._native, wide.reshape(-1, 3), path, text, fraction, kind, told)
    return Shadows(fraction.reshape(wide.shape[:-1]), kind.reshape(wide.shape[:-1]))


def _size(size: Sequence[int]) -> tuple[int, int]:
    try:
        width, height = size
    except (TypeError, ValueError):
        raise ValueError(f"size must be a width and a height, and is {size!r}") from None
    return _validate.whole("width", width, 0, 0xFFFF_FFFF), _validate.whole("height", height, 0, 0xFFFF_FFFF)


def _system(system: str | os.PathLike[str]) -> tuple[Path | None, str | None]:
    if isinstance(system, str) and "\n" in system:
        return None, system
    return Path(system), None
