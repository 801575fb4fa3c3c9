"""Systems of a light and bodies: their pictures, and the visible fraction of the light."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _progress, _tables, _toml, _umbracast, _validate
from ._devices import Device, open_device
from ._frames import Result, shape_text
from ._options import NO_SPHERE, Progress

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Picture:
    """A rendered picture and its per-pixel data, row by row from the upper left. Jupyter shows the image.

    `flux`, `normal` and `view_distance` are computed each time that they are read.
    """

    system: System
    """What the picture shows."""
    image: NDArray[np.uint8]
    """(height, width, 3) uint8 sRGB, as `matplotlib.pyplot.imshow` and `PIL.Image.fromarray` take it. (height, width, 4), with alpha as the
    last channel, if the background of the system is transparent."""
    linear: Floats
    """(height, width, 3) float32: linear light after exposure, 0 to 1, before it is encoded as sRGB."""
    alpha: Floats | None
    """(height, width) float32: share of the pixel that shows a body or the light; None unless the background is transparent."""
    t: Floats
    """(height, width) float32: distance from the camera in the system's unit, inf for the background."""
    id: NDArray[np.uint32]
    """(height, width) uint32: id of the body in the system, the light last; `NO_SPHERE` for the background."""
    fraction: Floats
    """(height, width) float32: fraction of the light's disc that is visible from the point; 1 for the background."""
    cpu_fallback: str | None = None
    """Reason why the CPU engine rendered the picture although the device is a GPU, such as "it has ambient_samples"; otherwise None."""

    @property
    def flux(self) -> Floats:
        """(height, width) float32: brightness of the visible part of the light, relative to that of the whole disc."""
        return self._channel("flux")

    @property
    def normal(self) -> Floats:
        """(height, width, 3) float32: outward unit normal in the coordinates of the system; 0 for the background."""
        return self._channel("normal").reshape(*self.t.shape, 3)

    @property
    def view_distance(self) -> Floats:
        """(height, width) float32: distance from the plane of the camera, along the viewing direction; inf for the background."""
        return self._channel("view_distance")

    @property
    def camera(self) -> dict[str, Any]:
        """The camera; see `System.camera`. Without a camera in the system, it depends on the size of the picture."""
        height, width = self.t.shape
        return self.system._camera((width, height))

    def save(self, path: str | os.PathLike[str], *, bits: Literal[8, 16] = 8) -> None:
        """Write the image as a PNG in sRGB, with 8 or 16 bits per channel. The file appears when it is complete.

        Raises
        ------
        ValueError
            For another extension than ``.png``, and other ``bits``.
        OSError
            If writing fails.
        """
        file = Path(path)
        if file.suffix.lower() != ".png":
            raise ValueError(f"{file}: the extension must be .png; numpy.save writes the other arrays")
        if bits not in (8, 16):
            raise ValueError(f"bits must be 8 or 16, not {bits!r}")
        _umbracast.save_png(self._parts(), bits == 16, file)

    def _repr_png_(self) -> bytes:
        return _umbracast.save_png(self._parts(), False, None)

    def __repr__(self) -> str:
        height, width = self.t.shape
        lit = np.count_nonzero(self.id != NO_SPHERE)
        return f"<umbracast.Picture: {width}×{height} pixels, {lit:,} show a body or the light>"

    def _parts(self) -> _input.PictureParts:
        height, width = self.t.shape
        alpha = np.empty(0, np.float32) if self.alpha is None else self.alpha
        numbers = self.linear.reshape(-1), alpha.reshape(-1), self.t.reshape(-1)
        return _input.PictureParts((width, height), *numbers, self.id.reshape(-1), self.fraction.reshape(-1))

    def _channel(self, name: str) -> Floats:
        found = self.system._native.channel(self._parts(), name)
        return found if name == "normal" else found.reshape(self.t.shape)


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


_KIND_WORDS = [kind.name.lower() for kind in ShadowKind]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shadows(Result):
    """How much of a light each observer sees."""

    fraction: NDArray[np.float64]
    """(…) float64: visible fraction of the light's disc, by solid angle: 0 in the umbra, 1 in full light."""
    kind: NDArray[np.uint8]
    """(…) uint8: a `ShadowKind`."""
    flux: NDArray[np.float64]
    """(…) float64: brightness of the visible part, relative to that of the whole disc. It differs from `fraction` only if the light has
    limb darkening; otherwise it is the same array."""

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table that `to_pandas` and `to_arrow` make: one row per observer, and kinds as text."""
        return {**Result.columns(self), "kind": np.array(_KIND_WORDS)[self.kind.reshape(-1)]}

    def _summary(self) -> str:
        counts = np.bincount(self.kind.reshape(-1), minlength=len(_KIND_WORDS))
        words = (f"{count:,} {kind}" for count, kind in zip(counts, _KIND_WORDS, strict=True) if count)
        return ", ".join([shape_text(self.kind), *words])


class System:
    """A light, bodies that it illuminates, and a camera.

    Parameters
    ----------
    contents : mapping
        The keys and values of a system file (TOML, described in docs/system-files.md of the project); ``body`` is a list of mappings.
        Values may be NumPy arrays. A body's ``spheres`` may be an (N, 4) array, a table with columns x, y, z, r, or the path of a file.

    Raises
    ------
    ValueError
        For an invalid system; the message names table, key and value.
    FileNotFoundError
        If a file that the system names does not exist; for a texture, by `render`.

    Notes
    -----
    A system is immutable; `replace` makes another one. It is parsed once, and can be pickled and copied. Files that it names are read again
    when it is unpickled.
    """

    __slots__ = ("_native",)
    _native: _umbracast.System

    def __init__(self, contents: Mapping[str, Any]) -> None:
        if not isinstance(contents, Mapping):
            raise TypeError(
                f"a system must be a mapping, not {type(contents).__name__}: System.read reads a file, System.parse a text"
            )
        self._native = _umbracast.System(_toml.dumps(_with_lists(contents)), _WITHOUT_FILE)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a system file. Raises FileNotFoundError if it does not exist, and errors as `System`."""
        return cls._of(None, Path(path))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text of a system file. Files that it names are relative to the current folder. Errors as `System`."""
        return cls._of(_validate.string("text", text), _WITHOUT_FILE)

    @classmethod
    def _of(cls, text: str | None, path: Path) -> Self:
        made = cls.__new__(cls)
        made._native = _umbracast.System(text, path)
        return made

    @property
    def text(self) -> str:
        """The system as the text of a system file."""
        return self._native.text

    @property
    def contents(self) -> dict[str, Any]:
        """A copy of the keys and values of the system, without those that follow from others."""
        contents = self._native.contents()
        contents.get("camera", {}).pop("kind", None)
        return contents

    @property
    def camera(self) -> dict[str, Any]:
        """The camera in use, also if the system has none: position, target, up, field_of_view_deg and width, of which one is None.

        These are arguments of `rays_of_camera`: ``rays_of_camera(**system.camera, size=(320, 180))``. Raises ValueError for an invalid
        camera.
        """
        return self._camera(None)

    def _camera(self, size: tuple[int, int] | None) -> dict[str, Any]:
        names = ("position", "target", "up", "field_of_view_deg", "width")
        return dict(zip(names, self._native.camera(size), strict=True))

    def replace(self, **changes: Any) -> Self:
        """Return a system with other values of some keys.

        Tables (``light``, ``camera``, ``picture``) keep the keys that are not given, and None removes a key. ``body`` may be a mapping from
        names of bodies to their changes, or to None to remove a body: ``system.replace(body={"Moon": {"center": (0, 0, 9)}}, camera=other.camera)``.

        Raises
        ------
        ValueError
            If there is no body, or more than one, of a name; and errors as `System`.
        """
        contents = self.contents
        for key, change in changes.items():
            before = contents.get(key)
            if key == "body" and isinstance(change, Mapping):
                contents[key] = _with_changes(before or [], change)
            elif isinstance(change, Mapping) and isinstance(before, Mapping):
                contents[key] = {**before, **change}
            else:
                contents[key] = change
        return self._of(_toml.dumps(_with_lists(contents)), self._native.path)

    def render(
        self,
        *,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        device: Device | str | int | None = None,
        progress: Progress = False,
    ) -> Picture:
        """Render a picture, with physically accurate umbra and penumbra.

        Parameters
        ----------
        size : (int, int), optional
            Width and height in pixels. Default: the system's.
        samples : int, optional
            Samples along each axis of a pixel. Default: the system's.
        device : str, int or `Device`, optional
            Device to render on; see `Device`. A device that is named is opened once per process, and then shared.
        progress : bool or callable, default False
            True shows a bar of tqdm. A callable is called with the finished part of the work in thousandths, and with 1000.

        Raises
        ------
        ValueError
            For an invalid camera, size or number of samples.
        DeviceError, MemoryError
            If the device fails, or if there is too little memory.
        KeyboardInterrupt
            Soon after Ctrl-C.
        """
        if size is not None:
            size = _validate.size(size, 0, 0xFFFF_FFFF)
        if samples is not None:
            samples = _validate.integer("samples", samples, 0, 0xFFFF_FFFF)
        (width, height), linear, alpha, colours, t, id, fraction, reason = self._native.render(
            open_device(device, "fast")._native, size, samples, _progress.listener("render", progress, "parts")
        )
        shape = (height, width)
        image, linear = colours.reshape(*shape, -1), linear.reshape(*shape, 3)
        opacity = alpha.reshape(shape) if alpha.size else None
        return Picture(self, image, linear, opacity, t.reshape(shape), id.reshape(shape), fraction.reshape(shape), reason)

    def shadow(
        self, observers: ArrayLike | Any, *, device: Device | str | int | None = None, progress: Progress = False
    ) -> Shadows:
        """Compute the visible fraction of the light for each observer, and the kind of shadow. A camera is not needed.

        A RuntimeWarning names observers inside a body, from which the whole light is hidden.

        The error is at most 10⁻⁹ + 5 · 10⁻¹⁷ / a on the CPU engine, for a light of the angular radius a in rad, and 10⁻⁴ on GPUs (10⁻³ for oblate bodies and for fluxes).

        Parameters
        ----------
        observers : (…, 3) array, or a table with columns x, y, z
            Points in the unit and frame of the system, used as float64.
        device : str, int or `Device`, optional
            Device to compute on; see `Device`. A device that is named is opened once per process, and then shared.
        progress : bool or callable, default False
            True shows a bar of tqdm. A callable is called with the number of finished observers and the total number.

        Raises
        ------
        RecordError
            For an observer with a coordinate that is not a number of magnitude at most 1e150.
        ValueError, DeviceError, MemoryError, KeyboardInterrupt
            As `render`.
        """
        shape, columns = _input.split("observers", observers, {3: _input.POINT}, _input.POINT)
        wide = np.stack([np.asarray(column, np.float64) for column in columns], -1)
        count = len(wide)
        fraction, kind, flux = np.empty(count), np.empty(count, np.uint8), np.empty(count)
        listener = _progress.listener("shadow", progress, "observers")
        native = open_device(device, "fast")._native
        darkened, inside = self._native.shadow(native, wide, fraction, kind, flux, listener)
        if inside is not None:
            number, first, body, depth = inside
            are = "observer is" if number == 1 else "observers are"
            index = ", ".join(map(str, np.unravel_index(first, shape)))
            message = (
                f"{number} {are} inside a body, where the whole light is hidden: the first is observers[{index}], "
                f"at a depth of {depth:.4g} below the surface of {body!r}"
            )
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        fraction = fraction.reshape(shape)
        return Shadows(fraction, kind.reshape(shape), flux.reshape(shape) if darkened else fraction)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self)._of, (self.text, self._native.path))

    def __repr__(self) -> str:
        contents = self.contents
        names = [body.get("name", "body") for body in contents.get("body", [])]
        shown = ", ".join(names[:4] + (["…"] if len(names) > 4 else []))
        return f"<umbracast.System: {contents['light'].get('name', 'light')} and {shown or 'no bodies'}, in {contents['unit']}>"


_WITHOUT_FILE = Path("system")
"""Path of a system that is not a file: errors name it, and files that it names are relative to the current folder."""


def _with_changes(bodies: Sequence[Mapping[str, Any]], changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return bodies with changes of those that are named, without those whose change is None."""
    found = [dict(body) for body in bodies]
    for name, change in changes.items():
        named = [body for body in found if body.get("name", "body") == name]
        if len(named) != 1:
            existing = ", ".join(repr(body.get("name", "body")) for body in found) or "none"
            count = "no body" if not named else f"{len(named)} bodies"
            raise ValueError(f"{count} of the name {name!r}; existing bodies: {existing}")
        if change is None:
            found.remove(named[0])
        else:
            named[0].update(change)
    return found


def _with_lists(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents with tables of spheres as lists."""
    found = dict(contents)
    if isinstance(bodies := found.get("body"), Sequence):
        found["body"] = [_with_list(i, body) if isinstance(body, Mapping) else body for i, body in enumerate(bodies)]
    return found


def _with_list(i: int, body: Mapping[str, Any]) -> Mapping[str, Any]:
    spheres = body.get("spheres")
    if spheres is None or isinstance(spheres, (str, os.PathLike)):
        return body
    if (table := _tables.columns(spheres)) is not None:
        spheres = _tables.with_r(table)
    shape, columns = _input.split(f"body[{i}]: spheres", spheres, {4: _input.SPHERE}, _input.SPHERE)
    return {**body, "spheres": np.stack([np.asarray(column, np.float64) for column in columns], -1).reshape(-1, 4)}
