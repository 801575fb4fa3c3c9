"""Exceptions of the package, in addition to Python's ValueError, TypeError and MemoryError."""

from __future__ import annotations


class RecordError(ValueError):
    """An invalid sphere, ray, point or bullet.

    Attributes
    ----------
    what : str
        Kind of record, for example "sphere" or "ray".
    index : int
        Row of the record, from 0.
    field : str
        Column of the invalid value.
    value : str
        The invalid value, as text.
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
    """A device failed, was lost, or exceeded its time limit."""


class NoDeviceError(DeviceError):
    """No device matches the requested name."""


class PrecisionError(DeviceError):
    """The device cannot guarantee the requested precision. A different precision is never used instead."""


class ForkError(DeviceError):
    """This process was forked from one that had used umbracast, and lacks the threads and devices of its parent."""
