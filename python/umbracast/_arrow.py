"""Reader for flat numeric columns of an Arrow C stream (arrow.apache.org/docs/format/CDataInterface.html)."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMATS = {
    "c": "i1",
    "C": "u1",
    "s": "i2",
    "S": "u2",
    "i": "i4",
    "I": "u4",
    "l": "i8",
    "L": "u8",
    "e": "f2",
    "f": "f4",
    "g": "f8",
}


class Schema(ctypes.Structure):
    """The C struct ArrowSchema."""


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]


class Array(ctypes.Structure):
    """The C struct ArrowArray."""

    def __del__(self) -> None:
        """Release the producer's memory, once no column refers to it."""
        if self.release:
            self.release(ctypes.byref(self))


Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]


class Stream(ctypes.Structure):
    """The C struct ArrowArrayStream."""


Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def read(capsule: Any) -> dict[str, NDArray[Any]]:
    """Return the columns by name, without a copy if the stream has one batch.

    Nulls are masked. Columns that are not numeric are empty arrays of objects. Raises ValueError for two columns of one name, TypeError if
    the stream is not one of tables, OSError if the stream reports an error.
    """
    # The capsule owns the stream and releases it.
    stream = Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
    schema = Schema()
    _check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)))
    try:
        if schema.format != b"+s":
            raise TypeError("an Arrow stream must contain tables, not single columns")
        fields = [schema.children[i].contents for i in range(schema.n_children)]
        kinds = {
            i: (field.name.decode(), None if field.dictionary else FORMATS.get(field.format.decode()))
            for i, field in enumerate(fields)
        }
    finally:
        schema.release(ctypes.byref(schema))
    check_once([name for name, _ in kinds.values()])
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name, _ in kinds.values()}
    while True:
        array = Array()
        _check(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(array)))
        if not array.release:
            break
        for i, (name, kind) in kinds.items():
            if kind:
                parts[name].append(_column(array, array.children[i].contents, np.dtype(kind)))
    return {name: _whole(parts[name], kind) for name, kind in kinds.values()}


def check_once(names: list[str]) -> None:
    """Raise ValueError if a table has two columns of one name."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValueError(f"column {name!r} appears twice")


def _whole(parts: list[NDArray[Any]], kind: str | None) -> NDArray[Any]:
    if len(parts) == 1:
        return parts[0]
    # Keeps what is masked.
    join: Any = np.ma.concatenate
    return join(parts) if parts else np.empty(0, np.float32 if kind else object)


def _column(owner: Array, column: Array, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return a view of a column's buffer, in which nulls are masked. The view keeps ``owner`` alive."""
    first, length = owner.offset + column.offset, owner.length
    nulls: Any = np.False_
    if column.null_count != 0 and column.buffers[0]:
        valid = np.ctypeslib.as_array(
            ctypes.cast(column.buffers[0], ctypes.POINTER(ctypes.c_uint8)), ((first + length + 7) // 8,)
        )
        nulls = np.unpackbits(valid, bitorder="little")[first : first + length] == 0
    if length == 0:
        return np.empty(0, kind)
    buffer = (ctypes.c_char * (kind.itemsize * length)).from_address(column.buffers[1] + kind.itemsize * first)
    buffer.owner = owner
    values = np.frombuffer(buffer, kind)
    return np.ma.masked_array(values, nulls) if nulls.any() else values


def _check(stream: Stream, code: int) -> None:
    if code:
        message = stream.get_last_error(ctypes.byref(stream)) or b"no reason given"
        raise OSError(code, f"cannot read the Arrow stream: {message.decode()}")
