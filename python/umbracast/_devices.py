"""Devices: list and open GPUs and the CPU engine."""

from __future__ import annotations

import operator
import os
import threading
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _umbracast, _validate


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """Description of one device, as returned by `devices`."""

    index: int
    """Index to pass as ``device=``."""
    name: str
    kind: str
    """Kind of device: discrete GPU, integrated GPU, virtual GPU, software, or the CPU engine."""
    backend: str
    driver: str
    largest_binding: int
    """Size in bytes of the largest buffer that a shader can bind."""
    precisions: tuple[str, ...]
    """Precisions that the device guarantees, fastest first."""
    failure: str | None
    """Error message if opening the device failed, else None."""


def devices() -> list[DeviceInfo]:
    """List all devices of this machine, the CPU engine last. Opens and probes each one."""
    quiet_mesa()
    return [DeviceInfo(**about) for about in _umbracast.devices()]


class Device:
    """An open device that several scenes can share. A device that is only named, as in ``device="gpu"``, is shared by all that name it.

    Pickling stores only the arguments; unpickling opens the device again.

    Parameters
    ----------
    choice : str or int, optional
        "auto": the best real GPU that guarantees ``precision``, else the CPU engine. "gpu": the best adapter, including software
        adapters. "cpu": the CPU engine, without loading a driver. Also an index from `devices`, or part of an adapter's name.
        Default: the environment variable UMBRACAST_DEVICE, or "auto" if it is unset.
    precision : {"auto", "fast", "standard", "exact"}, default "auto"
        Precision that the device must guarantee; "auto" is every precision.
    memory : int, optional
        Number of bytes that a scene and a query may use.
    patience_s : float, optional
        Time limit for one submission to a GPU, in seconds. Default: five minutes on hardware, unlimited on software adapters.

    Raises
    ------
    NoDeviceError
        If no device matches. The message lists the available devices.
    DeviceError
        If the driver refuses to open the device.
    """

    def __init__(
        self,
        choice: str | int | None = None,
        *,
        precision: Literal["auto", "fast", "standard", "exact"] = "auto",
        memory: int | None = None,
        patience_s: float | None = None,
    ) -> None:
        choice = _choice(choice)
        _validate.string("precision", precision)
        memory = None if memory is None else _validate.integer("memory", memory, 0, 2**64 - 1)
        self._arguments = (choice, precision, memory, patience_s)
        if choice != "cpu":
            quiet_mesa()
        self._native = _umbracast.Device(choice, precision, memory, patience_s)

    @property
    def name(self) -> str:
        """Name of the adapter, or "cpu"."""
        return self._native.name

    @property
    def kind(self) -> str:
        """Kind of device, in words; see `DeviceInfo.kind`."""
        return self._native.kind

    @property
    def is_cpu(self) -> bool:
        """Whether this device is the built-in CPU engine."""
        return self._native.is_cpu

    def estimate_bytes(self, spheres: int, rays: int) -> int:
        """Estimate the memory, in bytes, that a scene and a query use on the device and on the host, without the input arrays."""
        most = 2**64 - 1
        return self._native.estimate_bytes(
            _validate.integer("spheres", spheres, 0, most), _validate.integer("rays", rays, 0, most)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle_device, self._arguments)

    def __repr__(self) -> str:
        return f"umbracast.Device({self.name!r}, {self.kind})"


def quiet_mesa() -> None:
    """Switch off Mesa's layer that selects a GPU for desktops, as the command line does, unless the variable NODEVICE_SELECT is set.

    Without a desktop (XDG_RUNTIME_DIR) the layer prints two errors per adapter on stderr. All adapters stay available.
    """
    if "XDG_RUNTIME_DIR" not in os.environ:
        os.environ.setdefault("NODEVICE_SELECT", "1")


def _choice(choice: str | int | None) -> str | None:
    if choice is None or isinstance(choice, str):
        return choice
    if isinstance(choice, (bool, np.bool_)) or not hasattr(choice, "__index__"):
        raise TypeError(f"device must be a name, an index or an umbracast.Device, not {choice!r}")
    return str(operator.index(choice))


def _unpickle_device(choice: str | None, precision: Any, memory: int | None, patience_s: float | None) -> Device:
    if memory is None and patience_s is None:
        return open_device(choice, precision)
    return Device(choice, precision=precision, memory=memory, patience_s=patience_s)


_shared: dict[tuple[str | None, ...], Device] = {}
"""Devices that are named and not passed, by choice, precision and environment. To open and probe one takes longer than a short query."""
_opening = threading.Lock()


def forget_shared() -> None:
    """Open devices again when they are named next. The extension module calls this after a device has failed."""
    _shared.clear()


def _after_fork() -> None:
    """Forget the devices of the parent, and its lock, which a thread that does not exist here may have held."""
    global _opening
    _opening = threading.Lock()
    forget_shared()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def open_device(
    device: Device | str | int | None, precision: Literal["auto", "fast", "standard", "exact"] = "auto"
) -> Device:
    """Return ``device`` if it is a `Device`, else the device that it names, which is opened once per process."""
    if isinstance(device, Device):
        return device
    key = (_choice(device), _validate.string("precision", precision), os.environ.get("UMBRACAST_DEVICE"))
    with _opening:
        if key not in _shared:
            _shared[key] = Device(device, precision=precision)
        return _shared[key]
