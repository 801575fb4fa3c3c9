"""Output arrays: new ones, or the caller's after validation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._frames import Result


def arrays(
    out: Any, shape: tuple[int, ...], kind: Any, types: tuple[str, ...], inputs: Iterable[Any]
) -> tuple[NDArray[Any], ...]:
    """Return one array per column of a result, new or from ``out``.

    Arrays of ``out`` must have the right dtype and shape, be C-contiguous, aligned and writeable, and share no memory with the inputs or
    with each other. Raises TypeError or ValueError otherwise.
    """
    if out is None:
        return tuple(np.empty(shape, one) for one in types)
    names = [""] if kind is None else [one.name for one in dataclasses.fields(kind) if one.repr]
    given = (out,) if kind is None else tuple(out) if isinstance(out, kind) else out
    if not isinstance(given, tuple) or len(given) != len(types):
        raise TypeError(f"out must be a tuple of {len(types)} arrays ({', '.join(names)}), not {type(out).__name__}")
    read = [array for array in inputs if isinstance(array, np.ndarray)]
    read += [array for some in inputs if isinstance(some, list) for array in some if array is not None]
    for place, (name, array, one) in enumerate(zip(names, given, types, strict=True)):
        where = f"out.{name}" if name else "out"
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{where} must be an array, not {type(array).__name__}")
        if array.dtype != np.dtype(one):
            raise TypeError(f"{where} must have dtype {np.dtype(one)}, not {array.dtype}")
        if array.shape != shape:
            raise ValueError(f"{where} must have shape {shape}, not {array.shape}")
        if not array.flags.writeable:
            raise ValueError(f"{where} is read-only")
        if not array.flags.c_contiguous or not array.flags.aligned:
            raise ValueError(f"{where} must be C-contiguous and aligned")
        if any(np.may_share_memory(array, other) for other in (*read, *given[:place])):
            raise ValueError(f"{where} shares memory with an input or with another array of out")
    return given


_Made = TypeVar("_Made", bound=Result)


def result(out: Any, made: _Made) -> _Made:
    """Return a result. An earlier one whose arrays it has, because it was passed as ``out``, becomes it."""
    if not isinstance(out, type(made)):
        return made
    for one in dataclasses.fields(made):  # type: ignore[arg-type]  # results are dataclasses
        object.__setattr__(out, one.name, getattr(made, one.name))
    return out


def flat(found: Iterable[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return one-dimensional views of the arrays."""
    return [array.reshape(-1) for array in found]
