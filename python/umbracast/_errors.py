"""What can go wrong, beside Python's own ValueError, TypeError and MemoryError."""

from __future__ import annotations


class RecordError(ValueError):
    """A sphere, a ray, a point or a bullet that cannot be used.

    Its row is ``index``, from 0; ``field`` is the column and ``value`` its number, as text.
    """

    def __init__(self, message: str, what: str, index: int, field: str, value: str) -> None:
        super().__init__(message, what, index, field, value)
        self.what = what
        self.index = index
        self.field = field
        self.value = value

    def __str__(self) -> str:
        return str(self.args[0])


class DeviceError(RuntimeError):
    """A device failed, was lost, or did not finish in time."""


class NoDeviceError(DeviceError):
    """No device answers to that name."""


class PrecisionError(DeviceError):
    """The device cannot promise the precision asked for; another one is never used instead."""


class ForkError(DeviceError):
    """This process is a fork of one that had used umbracast, and lacks its threads and devices."""
