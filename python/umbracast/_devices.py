"""Where work runs."""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple

import numpy as np

from . import _umbracast, _validate


class DeviceInfo(NamedTuple):
    """One line of `devices`."""

    index: int  # type: ignore[assignment]  # tuples have an index, too
    """What ``device=`` takes."""
    name: str
    kind: str
    """Discrete GPU, integrated GPU, virtual GPU, software, or the CPU engine."""
    backend: str
    driver: str
    largest_binding: int
    """Bytes of the largest buffer that a program can see."""
    precisions: tuple[str, ...]
    """What it can promise, from the quickest."""
    failure: str | None
    """What opening it said, when it failed."""


def devices() -> list[DeviceInfo]:
    """Everything that can be opened here, the CPU engine last. Opens and probes each."""
    return [DeviceInfo(**about) for about in _umbracast.devices()]


class Device:
    """An opened device, for several scenes to share; each would open its own. Pickles as its choice and is opened anew.

    ``choice`` is "auto" (the best real GPU that can promise ``precision``, else the CPU engine), "gpu" (the best adapter, software ones
    included), "cpu" (never loads a driver), a number from `devices`, or part of an adapter's name. None: what the environment
    variable UMBRACAST_DEVICE says, else "auto". ``memory`` is how many bytes a scene and a query may take, ``patience_s`` how
    long one submission to a GPU may take (None: five minutes on hardware, unlimited on software adapters).

    Raises `NoDeviceError` with what there is, and `DeviceError` when a driver refuses.
    """

    def __init__(
        self,
        choice: str | int | None = None,
        *,
        precision: Literal["fast", "standard", "exact"] = "standard",
        memory: int | None = None,
        patience_s: float | None = None,
    ) -> None:
        if choice is not None and not isinstance(choice, str):
            if isinstance(choice, (bool, np.bool_)) or not hasattr(choice, "__index__"):
                raise TypeError(f"device must be a name, a number or an umbracast.Device, and is {choice!r}")
            choice = str(operator.index(choice))
        _validate.word("precision", precision)
        memory = None if memory is None else _validate.whole("memory", memory, 0, 2**64 - 1)
        self._asked = (choice, precision, memory, patience_s)
        self._native = _umbracast.Device(choice, precision, memory, patience_s)

    @property
    def name(self) -> str:
        """The adapter's name, or "cpu"."""
        return self._native.name

    @property
    def kind(self) -> str:
        """What kind of device it is, in words."""
        return self._native.kind

    @property
    def is_cpu(self) -> bool:
        """Whether this is the built-in CPU engine."""
        return self._native.is_cpu

    def estimate_bytes(self, spheres: int, rays: int) -> int:
        """Bytes that a scene and a query take, on the device and here, beyond the arrays given."""
        most = 2**64 - 1
        return self._native.estimate_bytes(
            _validate.whole("spheres", spheres, 0, most), _validate.whole("rays", rays, 0, most)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (_opened, self._asked)

    def __repr__(self) -> str:
        return f"umbracast.Device({self.name!r}, {self.kind})"


def _opened(choice: str | int | None, precision: Any, memory: int | None, patience_s: float | None) -> Device:
    return Device(choice, precision=precision, memory=memory, patience_s=patience_s)


def opened(device: Device | str | int | None, precision: Literal["fast", "standard", "exact"] = "standard") -> Device:
    """The device that an argument names."""
    return device if isinstance(device, Device) else Device(device, precision=precision)
