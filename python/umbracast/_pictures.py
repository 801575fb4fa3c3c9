"""Rendering of systems of a light and bodies, and the visible fraction of the light."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _progress, _tables, _toml, _umbracast, _validate
from ._devices import Device, open_device
from ._options import Progress


class Picture(NamedTuple):
    """A rendered picture and its per-pixel data, row by row from the upper left."""

    image: NDArray[np.uint8]
    """(height, width, 3) uint8 sRGB, as `matplotlib.pyplot.imshow` and `PIL.Image.fromarray` take it. (height, width, 4), with alpha as the
    last channel, if the background of the system is transparent."""
    t: NDArray[np.float32]
    """(height, width) float32: distance from the camera in the system's unit, inf for the background."""
    id: NDArray[np.uint32]
    """(height, width) uint32: id of the body in the system, the light last; `NO_SPHERE` for the background."""
    fraction: NDArray[np.float32]
    """(height, width) float32: fraction of the light's disc that is visible from the point; 1 for the background."""
    cpu_fallback: str | None = None
    """Reason why the CPU engine rendered the picture although the device is a GPU, such as "it has ambient_samples"; otherwise None."""


class ShadowKind(IntEnum):
    """Kind of coverage of a light's disc, as in `Shadows.kind` and in files."""

    LIT = 0
    """Not covered: full light."""
    PENUMBRA = 1
    """Partly covered, including part of its rim."""
    ANTUMBRA = 2
    """Partly covered, with the whole rim visible."""
    UMBRA = 3
    """Completely covered."""


class Shadows(NamedTuple):
    """How much of a light each observer sees."""

    fraction: NDArray[np.float64]
    """(…) float64: visible fraction of the light's disc, by solid angle: 0 in the umbra, 1 in full light."""
    kind: NDArray[np.uint8]
    """(…) uint8: a `ShadowKind`."""
    flux: NDArray[np.float64]
    """(…) float64: brightness of the visible part, relative to that of the whole disc. It differs from `fraction` only if the light of the
    system has limb darkening; otherwise it is the same array."""


def render(
    system: str | os.PathLike[str] | Mapping[str, Any],
    *,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    device: Device | str | int | None = None,
    progress: Progress = False,
) -> Picture:
    """Render a system of a light and bodies, with physically accurate umbra and penumbra.

    Parameters
    ----------
    system : str, path or dict
        Path of a system file (TOML, described in docs/system-files.md of the project). A string with more than one line is the text itself.
        A dictionary has the same keys and values; ``body`` is a list of dictionaries.
    size : (int, int), optional
        Width and height in pixels. Default: the system's.
    samples : int, optional
        Samples along each axis of a pixel. Default: the system's.
    device : str, int or `Device`, optional
        Device to render on; see `Device`. A device that is named is opened once per process, and then shared.
    progress : bool or callable, default False
        True prints a progress line on stderr. A callable is called with the finished part of the work in thousandths, and with 1000.

    Returns
    -------
    Picture
        Image, distances, ids and visible fractions.

    Raises
    ------
    ValueError
        For an invalid system. The message names table, key and value.
    FileNotFoundError
        If the file does not exist.
    DeviceError, MemoryError
        If the device fails, or if there is too little memory.
    KeyboardInterrupt
        Soon after Ctrl-C.
    """
    path, text = _system(system)
    if size is not None:
        size = _size(size)
    if samples is not None:
        samples = _validate.integer("samples", samples, 0, 0xFFFF_FFFF)
    (width, height), colours, t, id, fraction, reason = _umbracast.render(
        open_device(device, "fast")._native, path, text, size, samples, _progress.listener("render", progress, "parts")
    )
    shape = (height, width)
    image = colours.reshape(height, width, -1)
    return Picture(image, t.reshape(shape), id.reshape(shape), fraction.reshape(shape), reason)


def shadow(
    observers: ArrayLike,
    system: str | os.PathLike[str] | Mapping[str, Any],
    *,
    device: Device | str | int | None = None,
    progress: Progress = False,
) -> Shadows:
    """Compute the visible fraction of the light for each observer, and the kind of shadow.

    The error is at most 10⁻⁹ on the CPU engine and 10⁻⁴ on GPUs (10⁻³ for oblate bodies and for fluxes).

    Parameters
    ----------
    observers : (…, 3) array, or a table with columns x, y, z
        Points in the unit and frame of the system, used as float64.
    system : str, path or dict
        System file, its text or its contents, as for `render`. A camera is not needed.
    device : str, int or `Device`, optional
        Device to compute on; see `Device`. A device that is named is opened once per process, and then shared.
    progress : bool or callable, default False
        True prints a progress line on stderr. A callable is called with the number of finished observers and the total number.

    Returns
    -------
    Shadows
        Visible fraction, kind of shadow and flux per observer.

    Raises
    ------
    RecordError
        For an observer with a coordinate that is not a number of magnitude at most 1e150.
    ValueError, FileNotFoundError, DeviceError, MemoryError, KeyboardInterrupt
        As `render`.
    """
    path, text = _system(system)
    if _tables.columns(observers) is None:
        array = _validate.floats("observers", observers)
        if array.ndim == 0 or array.shape[-1] != 3:
            raise ValueError(f"observers must have shape (…, 3), not {array.shape}")
    else:
        shape, columns = _input.split("observers", observers, {3: _input.POINT}, _input.POINT)
        array = np.stack([np.asarray(column) for column in columns], -1).reshape(*shape, 3)
    wide = np.ascontiguousarray(array, np.float64)
    count = wide.size // 3
    fraction, kind, flux = np.empty(count), np.empty(count, np.uint8), np.empty(count)
    listener = _progress.listener("shadow", progress)
    native = open_device(device, "fast")._native
    darkened = _umbracast.shadow(native, wide.reshape(-1, 3), path, text, fraction, kind, flux, listener)
    shape = wide.shape[:-1]
    fraction = fraction.reshape(shape)
    return Shadows(fraction, kind.reshape(shape), flux.reshape(shape) if darkened else fraction)


def _size(size: Sequence[int]) -> tuple[int, int]:
    try:
        width, height = size
    except (TypeError, ValueError):
        raise ValueError(f"size must be (width, height), not {size!r}") from None
    return _validate.integer("width", width, 0, 0xFFFF_FFFF), _validate.integer("height", height, 0, 0xFFFF_FFFF)


def _system(system: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[Path | None, str | None]:
    if isinstance(system, Mapping):
        return None, _toml.dumps(system)
    if isinstance(system, str) and "\n" in system:
        return None, system
    return Path(system), None
