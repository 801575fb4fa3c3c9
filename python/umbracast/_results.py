"""What queries answer: named tuples of arrays with the rays' leading shape."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._input import Given

NO_SPHERE = 0xFFFF_FFFF
"""The id of "no sphere": what a miss carries, and what a skip id is that skips none."""

Floats = NDArray[np.float32]
Ids = NDArray[np.uint32]


class Report(NamedTuple):
    """How a query went."""

    rays: int
    """Rays cast."""
    hits: int
    """Rays that met a sphere (for `approach`: that touch or enter one; for `contains`: points in any sphere)."""
    skipped: int
    """Rays that could not be used and missed, with ``on_bad="skip"``."""
    beyond: int
    """Rays that miss only because their root exceeds the largest float32."""
    judged: int
    """Rays decided by exact arithmetic, with ``precision="exact"``."""
    seconds: float
    """Wall time of the casts."""
    rounded: int
    """Numbers of the rays that float32 could not hold as given."""
    largest_rounding: float
    """By how much at most, in the unit of the rays."""


class _Hits(NamedTuple):
    t: Floats
    id: Ids


class Hits(_Hits):
    """The answer of `closest`: ``t`` (…) float32 in units of the direction as given, inf on a miss; ``id`` (…) uint32, `NO_SPHERE` on a miss.

    A tuple of two arrays that also knows its ``report``. ``out=`` takes one of these, or any tuple of two such arrays.
    """

    report: Report | None = None
    _rays: Given | None = None

    @property
    def hit(self) -> NDArray[np.bool_]:
        """(…) bool: whether a sphere was met."""
        return np.asarray(self.id != NO_SPHERE)

    def points(self) -> NDArray[np.float64]:
        """(…, 3) float64: where, ``origin + t · direction`` in the coordinates of the rays as they were given; NaN on a miss.

        As exact as ``t``; `Scene.attributes` gives points on the sphere's own surface. The rays are read again: do not change
        them in between. A pickled answer has left its rays behind.
        """
        if self._rays is None:
            raise ValueError("these hits do not know their rays: use origins + t[..., None] * directions")
        columns = self._rays.as_columns()
        t = np.where(self.hit, self.t, np.float32(np.nan)).reshape(-1).astype(np.float64)
        points = np.empty((t.size, 3))
        for k in range(3):
            if len(columns) == 6:
                start, end = (np.asarray(columns[place], np.float64) for place in (k, 3 + k))
                points[:, k] = start + t * (end - start)
            else:
                origin, direction = columns[k], columns[4 + k]
                points[:, k] = np.asarray(origin, np.float64) + t * np.asarray(direction, np.float64)
        return points.reshape(*self.t.shape, 3)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_hits, (self.t, self.id, self.report))


def _hits(t: Floats, id: Ids, report: Report | None, rays: Given | None = None) -> Hits:
    hits = Hits(t, id)
    hits.report = report
    hits._rays = rays
    return hits


class _Interval(NamedTuple):
    t_enter: Floats
    t_exit: Floats
    id: Ids


class Interval(_Interval):
    """The answer of `interval`: both roots (…) float32 of the closest sphere, never clipped to the ray's ends, inf on a miss; ``id`` (…) uint32."""

    report: Report | None = None

    @property
    def hit(self) -> NDArray[np.bool_]:
        """(…) bool: whether a sphere was met."""
        return np.asarray(self.id != NO_SPHERE)


class _Approach(NamedTuple):
    t: Floats
    clearance: Floats
    id: Ids


class Approach(_Approach):
    """The answer of `approach`: ``t`` (…) float32 of the nearest pass; ``clearance`` (…) float32, the distance to the centre minus the
    radius there, negative when the ray goes through; ``id`` (…) uint32. In an empty scene inf, inf and `NO_SPHERE`."""

    report: Report | None = None


class _Holders(NamedTuple):
    count: Ids  # type: ignore[assignment]  # tuples can count, too
    id: Ids


class Holders(_Holders):
    """The answer of `contains`: ``count`` (…) uint32, how many spheres hold the point, and ``id`` (…) uint32, the lowest of them."""

    report: Report | None = None


class _Lists(NamedTuple):
    offsets: NDArray[np.uint64]
    t_enter: Floats
    t_exit: Floats
    id: Ids


class Lists(_Lists):
    """The answer of `all` and `nearest`, in CSR: what ray i (in C order of the leading shape) meets are the places
    ``offsets[i]:offsets[i + 1]`` of the other arrays, in order of (t, id). ``offsets`` (M + 1) uint64; ``t_enter``, ``t_exit`` (n)
    float32, raw roots; ``id`` (n) uint32. A chord is ``t_exit - t_enter``, in units of the direction.
    """

    report: Report | None = None

    def of(self, ray: int) -> tuple[Floats, Floats, Ids]:
        """What one ray meets: ``t_enter``, ``t_exit``, ``id``."""
        count = len(self.offsets) - 1
        if not -count <= ray < count:
            raise IndexError(f"ray {ray} of {count}")
        ray %= count
        place = slice(int(self.offsets[ray]), int(self.offsets[ray + 1]))
        return self.t_enter[place], self.t_exit[place], self.id[place]

    def rays(self) -> NDArray[np.int64]:
        """(n) int64: the ray that each record belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), (self.offsets[1:] - self.offsets[:-1]).astype(np.int64))


class Attributes(NamedTuple):
    """What hits were like; NaN on a miss."""

    point: Floats | NDArray[np.float64]
    """(…, 3) where, on the sphere's surface, in the coordinates of the rays as they were given: float32, or float64 in a scene with an
    ``origin``, where float32 is too coarse."""
    normal: Floats
    """(…, 3) outward, of length 1."""
    angle: Floats
    """(…) radians between the way back along the ray and the normal: 0 straight on, π/2 grazing."""
    distance: Floats
    """(…) ``t · |direction|``, inf on a miss."""


class _Flights(NamedTuple):
    offsets: NDArray[np.uint64]
    status: NDArray[np.uint8]
    id: Ids
    distance: Floats
    frames: Floats
    point: Floats | NDArray[np.float64]
    angle: Floats
    velocity: Floats


class Flights(_Flights):
    """The answer of `bullets`, in CSR: the legs of bullet i are the places ``offsets[i]:offsets[i + 1]``. ``status`` 0 hit, 1 miss,
    2 started inside; ``id`` of the sphere; ``distance`` flown since the start and ``frames`` that took, inf unless anything is met; ``point``
    (n, 3) where, in the coordinates of the bullets as they were given, float64 in a scene with an ``origin``; ``angle`` to the tangent plane in radians; ``velocity`` (n, 3) a frame afterwards.
    """

    report: Report | None = None


class Update(NamedTuple):
    """What `Scene.update` says."""

    quality_loss: float
    """How many more nodes of its tree a random ray enters than when it was built, as a share of those."""
    rebuild_suggested: bool
    """Whether `Scene.rebuild` will soon pay off."""
