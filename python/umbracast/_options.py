"""What may be said beside rays: policies, and columns as long as there are rays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _progress, _validate

Progress = bool | Callable[[int, int], object]
"""True for a line on stderr, or a callable that hears how many rays are done and how many there are."""


class CommonOptions(TypedDict, total=False):
    """What rays and points alike bring along."""

    masks: ArrayLike | None
    """(…) integers: a ray or a point looks only at spheres whose mask shares a bit with its own. Default: all bits."""
    skip_ids: ArrayLike | None
    """(…) integers: one sphere that each does not look at; `NO_SPHERE` for none."""
    precision: Literal["fast", "standard", "exact"]
    """How exact; default "standard". A device that cannot promise it raises `PrecisionError`."""
    on_bad: Literal["refuse", "skip"]
    """What cannot be used is refused with its row and field (default), or misses and is counted in the report."""
    progress: Progress
    """Default False."""


class PointOptions(CommonOptions, total=False):
    """What `Scene.contains` takes beside points."""

    times: ArrayLike | None
    """(…) when each point looks at spheres that move, in the unit of time of their velocities; default 0."""


class HitOptions(TypedDict, total=False):
    """What matters to a hit on top of its ray: `Scene.attributes` takes it as the query did that found the hit."""

    times: ArrayLike | None
    """(…) when each ray sees spheres that move, in the unit of time of their velocities; default 0. Without effect when ``motion`` is "with-ray"."""
    radii: ArrayLike | None
    """(…) each ray is a ball of this radius on its way; default 0."""
    motion: Literal["at-time", "with-ray"]
    """Each ray sees moving spheres at its own time (default), or they move while it travels, and t is time."""


class Options(CommonOptions, HitOptions, total=False):
    """What every query takes beside rays. Columns have the rays' leading shape, or are broadcast to it."""

    inside: Literal["enter", "exit", "ignore"]
    """A ray that starts inside a sphere meets it at once (default), on the way out, or not at all."""
    touch: Literal["hit", "miss"]
    """Whether an exactly tangent ray meets the sphere; default "hit"."""
    ends: Literal["closed", "half-open"]
    """Whether ``t_max`` itself belongs to the ray; default "closed"."""


class Policies(NamedTuple):
    """The words of a query, as the compiled half reads them."""

    inside: str = "enter"
    touch: str = "hit"
    ends: str = "closed"
    precision: str = "standard"
    on_bad: str = "refuse"
    motion: str = "at-time"


class Asked(NamedTuple):
    """Options, taken apart."""

    policies: Policies
    masks: NDArray[np.uint32] | None
    skip_ids: NDArray[np.uint32] | None
    times: NDArray[np.float32] | None
    radii: NDArray[np.float32] | None
    progress: Callable[[int, int], object] | None


COLUMNS = ("masks", "skip_ids", "times", "radii")


def taken(verb: str, shape: tuple[int, ...], given: dict[str, Any], allowed: frozenset[str]) -> Asked:
    """Takes options apart, for so many records; refuses what is none."""
    for name in given:
        if name not in allowed:
            raise TypeError(
                f"{verb}() got an unexpected keyword argument {name!r}: allowed are {', '.join(sorted(allowed))}"
            )
    words = {name: _validate.word(name, given[name]) for name in Policies._fields if name in given}
    return Asked(
        Policies(**words),
        column("masks", given.get("masks"), shape, np.uint32),
        column("skip_ids", given.get("skip_ids"), shape, np.uint32),
        column("times", given.get("times"), shape, np.float32),
        column("radii", given.get("radii"), shape, np.float32),
        _progress.listener(verb, given.get("progress", False)),
    )


def column(name: str, given: Any, shape: tuple[int, ...], kind: Any) -> NDArray[Any] | None:
    """One number a record, as the compiled half reads it."""
    if given is None:
        return None
    array = _validate.plain(name, given)
    if kind is np.uint32:
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name} must be whole numbers, and have dtype {array.dtype}")
        if array.dtype != np.uint32 and array.size and not (0 <= array.min() and array.max() <= 0xFFFF_FFFF):
            raise ValueError(
                f"{name} must lie in 0 … 4294967295 (umbracast.NO_SPHERE), and go from {array.min()} to {array.max()}"
            )
    elif array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, and have dtype {array.dtype}")
    try:
        wide = np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(
            f"{name} have shape {array.shape}, which does not fit the shape {shape} of what they go with"
        ) from None
    # What float32 cannot hold is inf, which is refused by its row.
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(wide, kind).reshape(-1)


POINT_OPTIONS = frozenset({"masks", "skip_ids", "times", "precision", "on_bad", "progress"})
HIT_OPTIONS = frozenset({"times", "radii", "motion"})
OPTIONS = POINT_OPTIONS | HIT_OPTIONS | {"inside", "touch", "ends"}
BULLET_OPTIONS = frozenset({"precision", "on_bad", "progress"})
