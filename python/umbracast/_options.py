"""Options of the queries: policies, and columns with one value per ray."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _progress, _rounding, _validate
from ._rounding import Rounding

NO_SPHERE = 0xFFFF_FFFF
"""Id that stands for "no sphere": the id of a miss, and a skip id that skips nothing."""


class RayColumn(NamedTuple):
    """An optional column of rays."""

    option: str
    """The keyword argument with the same values."""
    dtype: Any
    has_blanks: bool = False
    """Whether a missing value (null, NaN) means none."""


RAY_COLUMNS = {
    "mask": RayColumn("masks", np.uint32),
    "skip_id": RayColumn("skip_ids", np.uint32, has_blanks=True),
    "from_id": RayColumn("from_ids", np.uint32, has_blanks=True),
    "time": RayColumn("times", np.float32),
    "radius": RayColumn("ray_radius", np.float32),
}
"""Optional columns of rays, by their names in tables and files."""

Progress = bool | Callable[[int, int], object]
"""True shows a bar of tqdm. A callable is called with the number of finished rays and the total number of rays."""


class CommonOptions(TypedDict, total=False):
    """Options of both ray and point queries: see `Options`."""

    masks: ArrayLike | None
    skip_ids: ArrayLike | None
    precision: Literal["auto", "fast", "standard", "exact"]
    on_bad: Literal["refuse", "skip"]
    progress: Progress


class PointOptions(CommonOptions, total=False):
    """Options of `Scene.contains`: masks, skip_ids, precision, on_bad and progress as in `Options`, for points instead of rays.

    times : (…) array, default 0
        Time at which moving spheres are tested against the point, in the time unit of the velocities.
    """

    times: ArrayLike | None


class HitOptions(TypedDict, total=False):
    """Options that affect hits in addition to the ray itself: see `Options`. `Scene.attributes` needs those of the query."""

    times: ArrayLike | None
    ray_radius: ArrayLike | None
    motion: Literal["at-time", "with-ray"]


class Options(CommonOptions, HitOptions, total=False):
    """Keyword arguments of every ray query. Those marked (…) have one value per ray, or are broadcast to the shape of the rays.

    inside : "enter" (default), "exit" or "ignore"
        A ray that starts inside a sphere hits it at once ("enter"), where it leaves it ("exit"), or not at all ("ignore").
    touch : "hit" (default) or "miss"
        Whether an exactly tangent ray hits the sphere.
    ends : "closed" (default) or "half-open"
        Whether ``t_max`` itself belongs to the ray.
    precision : "auto" (default), "fast", "standard" or "exact"
        Precision of the result. "auto" is "exact" for spheres, so all devices return the same bits, and "standard" for ellipsoids; the
        report has the precision that was used. Raises `PrecisionError` if the device cannot guarantee it.
    on_bad : "refuse" (default) or "skip"
        "refuse" raises `RecordError` for an invalid ray. "skip" returns a miss for it and counts it in the report.
    ray_radius : (…) array, default 0
        Radius of the ray, which is then the path of a ball, such as a robot: it hits where the surface of the ball touches a sphere.
    masks : (…) integers in 0 … 2³²-1, default all bits
        A ray ignores spheres whose mask shares no bit with its own.
    skip_ids : (…) integers, default `NO_SPHERE`
        Id of one sphere that the ray ignores, on both sides. For the sphere on which a ray starts, use ``from_ids``.
    from_ids : (…) integers, default `NO_SPHERE`
        Id of the sphere on whose surface the ray starts, as from a hit point. The direction then decides: with e = centre - origin and
        B = direction · e, the ray does not hit that sphere if B <= 0; else it starts inside, and leaves at 2 B / |direction|². Raises
        `RecordError` for an origin that is not on the surface. `Hits.rays_to` and `Hits.rays_along` make such rays.
    near : "auto" (default), "pass" or "block"
        Whether a surface at a t from 0 to below ``t_min`` makes the ray a miss. "auto" blocks the rays of `rays_of_sensor`, whose t_min is
        a minimum range, and lets others pass. "block" is only for `closest`, `interval`, `all` and `nearest`.
    times : (…) array, default 0
        Time at which the ray sees moving spheres, in the time unit of the velocities. Ignored if ``motion="with-ray"``.
    motion : "at-time" (default) or "with-ray"
        "at-time": each ray sees moving spheres at its own time. "with-ray": spheres move while the ray travels, and t is time.
    progress : bool or callable, default False
        True shows a bar of tqdm. A callable is called with the number of finished rays and the total number.
    """

    inside: Literal["enter", "exit", "ignore"]
    touch: Literal["hit", "miss"]
    ends: Literal["closed", "half-open"]
    from_ids: ArrayLike | None
    near: Literal["auto", "pass", "block"]


class Policies(NamedTuple):
    """Policies of a query, by name, as the extension module reads them."""

    inside: str = "enter"
    touch: str = "hit"
    ends: str = "closed"
    precision: str = "auto"
    on_bad: str = "refuse"
    motion: str = "at-time"
    near: str = "auto"


DEFAULTS: dict[str, Any] = {
    **Policies()._asdict(),
    **{column.option: None for column in RAY_COLUMNS.values()},
    "progress": False,
}
"""Default of each option, in the order in which signatures show them."""

Method = TypeVar("Method", bound=Callable[..., Any])


class CallOptions(NamedTuple):
    """Parsed options of a call."""

    policies: Policies
    masks: NDArray[np.uint32] | None
    skip_ids: NDArray[np.uint32] | None
    from_ids: NDArray[np.uint32] | None
    times: NDArray[np.float32] | None
    ray_radius: NDArray[np.float32] | None
    rounding: Rounding
    """How rounding changed the columns."""
    progress: Callable[[int, int], object] | None


def shows_options(kind: Any) -> Callable[[Method], Method]:
    """Decorator: the signature of a method names the options of ``kind`` instead of ``**options``, in help() and in notebooks.

    They have defaults and no annotations: `Options` describes them, and the signature stays short.
    """

    def decorate(method: Method) -> Method:
        signature = inspect.signature(method)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        for name in sorted(kind.__annotations__, key=list(DEFAULTS).index):
            own.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[name]))
        method.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        return method

    return decorate


def parse_options(
    verb: str, shape: tuple[int, ...], given: dict[str, Any], allowed: frozenset[str], of_table: Mapping[str, Any] = {}
) -> CallOptions:
    """Parse the options of a query on records of leading shape ``shape``. Those of the table of the records that have no effect are ignored.

    Raises TypeError for an unknown option, and for one that is given twice.
    """
    for name in given:
        if name not in allowed:
            from ._queries import Queries

            known = inspect.signature(getattr(Queries, verb)).parameters.values()
            names = ", ".join(sorted(one.name for one in known if one.kind is inspect.Parameter.KEYWORD_ONLY))
            raise TypeError(f"{verb}() got an unexpected keyword argument {name!r}: allowed are {names}")
    for name, one in RAY_COLUMNS.items():
        if one.option in of_table:
            _validate.check_once(one.option, given.get(one.option), name)
            if one.option in allowed:
                given = {**given, one.option: of_table[one.option]}
    words = {name: _validate.string(name, given[name]) for name in Policies._fields if name in given}
    columns, rounding = {}, Rounding()
    for one in RAY_COLUMNS.values():
        columns[one.option], changed = column(one.option, given.get(one.option), shape, one.dtype)
        rounding = rounding.joined(changed)
    progress = _progress.listener(verb, given.get("progress", False))
    return CallOptions(Policies(**words), **columns, rounding=rounding, progress=progress)


def column(name: str, given: Any, shape: tuple[int, ...], kind: Any) -> tuple[NDArray[Any] | None, Rounding]:
    """Return a column with one value per record, contiguous, aligned and of dtype ``kind``, as the extension module reads it. None stays None."""
    if given is None:
        return None, Rounding()
    array = _validate.array(name, given)
    if kind is np.uint32:
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name} must be integers, not dtype {array.dtype}")
        if array.dtype != np.uint32 and array.size and not (0 <= array.min() and array.max() <= 0xFFFF_FFFF):
            raise ValueError(
                f"{name} must be in 0 … 4294967295 (umbracast.NO_SPHERE), but range from {array.min()} to {array.max()}"
            )
    elif array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, not dtype {array.dtype}")
    try:
        np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(
            f"{name}: the shape {array.shape} cannot be broadcast to {shape}"
        ) from None
    # Values beyond the range of float32 become inf, which is later refused with its row.
    with np.errstate(over="ignore"):
        narrow = array.astype(kind, copy=False)
        made = np.require(np.broadcast_to(narrow, shape), kind, ["C", "A"]).reshape(-1)
    return made, _rounding.of_column(name, array, narrow, made.size)


POINT_OPTIONS = frozenset({"masks", "skip_ids", "times", "precision", "on_bad", "progress"})
HIT_OPTIONS = frozenset({"times", "ray_radius", "motion"})
OPTIONS = POINT_OPTIONS | HIT_OPTIONS | {"inside", "touch", "ends", "near", "from_ids"}
BULLET_OPTIONS = frozenset({"from_ids", "precision", "on_bad", "progress"})
