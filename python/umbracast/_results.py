"""Query results: frozen dataclasses of arrays with the leading shape of the rays."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validate
from ._frames import Result, counted, html_table, shape_text, share
from ._input import RayInput, SurfaceRays
from ._options import NO_SPHERE

Floats = NDArray[np.float32]
Ids = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Report:
    """Statistics of a query."""

    rays: int
    """Number of rays cast."""
    rays_hit: int
    """Number of rays that hit a sphere (`approach`: rays that touch or enter one; `contains`: points inside any sphere)."""
    skipped: int
    """Number of invalid rays, which are misses with ``on_bad="skip"``."""
    overflowed: int
    """Number of rays that miss only because their root exceeds the largest float32."""
    resolved_exactly: int
    """Number of rays resolved by exact arithmetic, at the precision "exact"."""
    off_surface: int
    """Number of rays that start farther from the surface of the sphere in ``from_ids`` than rounding to float32 explains."""
    precision: str
    """Precision of the results: "fast", "standard" or "exact"."""
    seconds: float
    """Wall time of the casts, in seconds."""
    rounded: int
    """Number of input values that float32 could not represent."""
    largest_rounding: float
    """Largest rounding of these values, in the unit of the rays."""

    def _repr_html_(self) -> str:
        rows = [[one.name, str(getattr(self, one.name))] for one in dataclasses.fields(self)]
        return html_table("Report", [], rows)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hits(Result):
    """Result of `Scene.closest`. It can be passed as ``out=``, like a tuple of two such arrays.

    Attributes
    ----------
    t : (…) float32
        Ray parameter of the hit, in units of the direction as given; inf on a miss.
    id : (…) uint32
        Id of the sphere; `NO_SPHERE` on a miss.
    report : Report
        Statistics of the query; None in a result that the caller made.
    """

    t: Floats
    id: Ids
    report: Report = field(default=None, repr=False)  # type: ignore[assignment]
    _rays: RayInput | None = field(default=None, repr=False)

    def _summary(self) -> str:
        return f"{shape_text(self.t)}, {share(self.hit, 'ray')} hit a sphere"

    @property
    def hit(self) -> NDArray[np.bool_]:
        """(…) bool: whether the ray hit a sphere."""
        return np.asarray(self.id != NO_SPHERE)

    def points(self) -> NDArray[np.float64]:
        """Compute the hit points ``origin + t · direction``, in the coordinates of the rays as given.

        The points are as accurate as ``t``; `Scene.attributes` returns points on the surface of the sphere. This reads the rays again: do
        not modify them in between.

        Returns
        -------
        (…, 3) float64 array
            The points, NaN on a miss.

        Raises
        ------
        ValueError
            If the rays are not available: pickling a result drops them.
        """
        if self._rays is None:
            raise ValueError("these hits no longer have their rays: compute origins + t[..., None] * directions")
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

    def _options(self) -> dict[str, Any]:
        """Return `HIT_OPTIONS`, ``inside`` and ``from_ids`` of the query, as far as they were given. Empty if the result was pickled."""
        columns = {} if self._rays is None else self._rays.options
        return {
            name: given.reshape(self.t.shape) if isinstance(given, np.ndarray) else given
            for name, given in columns.items()
            if given is not None
        }

    def rays_to(self, target: ArrayLike) -> SurfaceRays:
        """Return the rays from the hit points to ``target``, with ``t`` from 0 to 1, which start on the surfaces of their spheres.

        One ray per hit, in the order of ``hits.hit``. They keep the times and radii of the rays that hit. After ``motion="with-ray"`` their
        times are ``t``. With ``inside="enter"``, a hit at ``t_min`` is the start of a ray inside a sphere, or exactly on one: the ray from
        there has no sphere.

        Parameters
        ----------
        target : three numbers
            Where the rays end.

        Raises
        ------
        ValueError
            As `points`; also if ``target`` is not three numbers.
        """
        points = self.points()[self.hit]
        ends = np.broadcast_to(_validate.numbers("target", target, 3), points.shape)
        return self._from_points(points, ends - points, 1.0)

    def rays_along(self, direction: ArrayLike) -> SurfaceRays:
        """Return the rays from the hit points in ``direction``, with ``t`` from 0 to infinity. Otherwise as `rays_to`."""
        points = self.points()[self.hit]
        return self._from_points(
            points, np.broadcast_to(_validate.numbers("direction", direction, 3), points.shape), np.inf
        )

    def _from_points(self, points: NDArray[np.float64], directions: NDArray[np.float64], t_max: float) -> SurfaceRays:
        assert self._rays is not None  # else points() has raised an error
        options = self._options()
        inside, motion, from_ids = options.pop("inside"), options.pop("motion"), self.id
        if motion == "with-ray":
            options["times"] = self.t
        if inside == "enter":
            columns = self._rays.as_columns()
            t_min = columns[3] if len(columns) == 8 and columns[3] is not None else np.zeros(self.t.size)
            with np.errstate(over="ignore"):
                at_start = self.t == t_min.astype(np.float32).reshape(self.t.shape)
            if "from_ids" in options:
                # A ray that goes into the sphere on which it starts is at its surface.
                at_start &= (self.t != 0) | (self.id != options["from_ids"])
            from_ids = np.where(at_start, np.uint32(NO_SPHERE), self.id)
        options["from_ids"] = from_ids
        options = {name: column[self.hit] for name, column in options.items()}
        ends = np.broadcast_to([0.0, t_max], (len(points), 2))
        return SurfaceRays(np.concatenate([points, directions, ends], axis=1), options)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Hits, (self.t, self.id, self.report))

    def __copy__(self) -> Hits:
        return dataclasses.replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Hits:
        return Hits(*copy.deepcopy((self.t, self.id, self.report, self._rays), memo))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Interval(Result):
    """Result of `Scene.interval`.

    Attributes
    ----------
    t_enter, t_exit : (…) float32
        Both roots of the closest sphere, never clipped to the ray's t_min and t_max; inf on a miss.
    id : (…) uint32
        Id of the sphere; `NO_SPHERE` on a miss.
    report : Report
        Statistics of the query; None in a result that the caller made.
    """

    t_enter: Floats
    t_exit: Floats
    id: Ids
    report: Report = field(default=None, repr=False)  # type: ignore[assignment]

    def _summary(self) -> str:
        return f"{shape_text(self.id)}, {share(self.hit, 'ray')} hit a sphere"

    @property
    def hit(self) -> NDArray[np.bool_]:
        """(…) bool: whether the ray hit a sphere."""
        return np.asarray(self.id != NO_SPHERE)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Approach(Result):
    """Result of `Scene.approach`. In an empty scene all t and clearances are inf, and all ids `NO_SPHERE`.

    Attributes
    ----------
    t : (…) float32
        Ray parameter of the closest approach.
    clearance : (…) float32
        Distance to the centre minus the radius at ``t``; negative if the ray passes through the sphere.
    id : (…) uint32
        Id of the sphere.
    report : Report
        Statistics of the query; None in a result that the caller made.
    """

    t: Floats
    clearance: Floats
    id: Ids
    report: Report = field(default=None, repr=False)  # type: ignore[assignment]

    def _summary(self) -> str:
        least = f", least clearance {self.clearance.min():.6g}" if self.clearance.size else ""
        return f"{shape_text(self.t)}{least}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Containment(Result):
    """Result of `Scene.contains`.

    Attributes
    ----------
    count : (…) uint32
        Number of spheres that contain the point.
    id : (…) uint32
        Lowest id of these spheres; `NO_SPHERE` if there are none.
    report : Report
        Statistics of the query; None in a result that the caller made.
    """

    count: Ids
    id: Ids
    report: Report = field(default=None, repr=False)  # type: ignore[assignment]

    def _summary(self) -> str:
        return f"{shape_text(self.count)}, {share(self.count, 'point')} are in a sphere"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RayHits(Result):
    """The hits of one ray, sorted by (t, id): what `HitLists.of` returns.

    Attributes
    ----------
    t_enter, t_exit : (n,) float32
        Both roots, not clipped to the ray's t_min and t_max.
    id : (n,) uint32
        Id of the sphere.
    """

    t_enter: Floats
    t_exit: Floats
    id: Ids

    def _summary(self) -> str:
        return counted(len(self.id), "hit")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HitLists(Result):
    """Result of `Scene.all` and `Scene.nearest`, in CSR layout.

    The hits of ray i (in C order of the leading shape) are ``offsets[i]:offsets[i + 1]`` of the other arrays, sorted by (t, id). The length
    of a chord is ``t_exit - t_enter``, in units of the direction.

    Attributes
    ----------
    offsets : (M + 1,) uint64
        First hit of each ray, and the total number of hits.
    t_enter, t_exit : (n,) float32
        Both roots, not clipped to the ray's t_min and t_max.
    id : (n,) uint32
        Id of the sphere.
    shape : tuple of int
        Leading shape of the rays.
    report : Report
        Statistics of the query; None in a result that the caller made.
    """

    offsets: NDArray[np.uint64]
    t_enter: Floats
    t_exit: Floats
    id: Ids
    shape: tuple[int, ...] = field(repr=False)
    report: Report = field(default=None, repr=False)  # type: ignore[assignment]

    def _summary(self) -> str:
        return f"{counted(len(self.id), 'hit')} of {counted(len(self.offsets) - 1, 'ray')}"

    def of(self, ray: int | tuple[int, ...]) -> RayHits:
        """Return the hits of one ray: its number in C order, or its index in the shape of the rays. Negative numbers count from the end.

        Raises IndexError if there is no such ray.
        """
        count = len(self.offsets) - 1
        if isinstance(ray, tuple):
            ray = int(np.arange(count).reshape(self.shape)[ray])
        if not -count <= ray < count:
            raise IndexError(f"ray {ray} is out of range: there are {count} rays")
        ray %= count
        place = slice(int(self.offsets[ray]), int(self.offsets[ray + 1]))
        return RayHits(self.t_enter[place], self.t_exit[place], self.id[place])

    def rays(self) -> NDArray[np.int64]:
        """Return the index of the ray of each hit: (n,) int64."""
        return _rows(self.offsets)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a long table: one row per hit, with the number of its ray."""
        return {"ray": self.rays(), "t_enter": self.t_enter, "t_exit": self.t_exit, "id": self.id}


def _rows(offsets: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of the list in which each element is."""
    return np.repeat(np.arange(len(offsets) - 1), (offsets[1:] - offsets[:-1]).astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attributes(Result):
    """Result of `Scene.attributes`: properties of each hit. On a miss, all but ``distance`` are NaN."""

    point: Floats | NDArray[np.float64]
    """(…, 3) point on the sphere's surface; the start of a ray that starts inside the sphere. With ``inside="enter"``, if a ray with a radius
    overlaps the sphere at its start, the point is the start, moved towards the centre by the fraction that the ray's radius has of the sum of
    both radii. In the coordinates of the rays as given: float32, or float64 in a scene with an ``origin``, where float32 is too coarse."""
    normal: Floats
    """(…, 3) float32: outward unit normal."""
    incidence_rad: Floats
    """(…) float32: angle of incidence between the reversed ray and the normal, in radians; 0 for a head-on hit, π/2 for a grazing one."""
    distance: Floats
    """(…) float32: distance ``t · |direction|``; inf on a miss."""

    def _summary(self) -> str:
        return f"{shape_text(self.distance)}, {share(np.isfinite(self.distance), 'ray')} hit a sphere"


class LegStatus(IntEnum):
    """How a leg of a flight ends, as in `Flights.status` and in files."""

    HIT = 0
    """On a sphere."""
    MISS = 1
    """Nowhere."""
    STARTED_INSIDE = 2
    """At its start, because the bullet starts inside a sphere: it is not traced."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Flights(Result):
    """Result of `Scene.bullets`, in CSR layout: the legs of bullet i are ``offsets[i]:offsets[i + 1]`` of the other arrays.

    Attributes
    ----------
    offsets : (M + 1,) uint64
        First leg of each bullet, and the total number of legs.
    status : (n,) uint8
        How the leg ends: a `LegStatus`.
    id : (n,) uint32
        Id of the sphere.
    distance : (n,) float32
        Distance flown since the start; inf without a hit.
    frames : (n,) float32
        Number of frames since the start; inf without a hit.
    point : (n, 3) float32 or float64
        Position of the bullet's centre at the hit, in the coordinates of the bullets as given; NaN without a hit. float64 in a scene with
        an ``origin``.
    grazing_rad : (n,) float32
        Grazing angle between the path, as seen from the sphere, and the tangent plane, in radians; NaN without a hit.
    velocity : (n, 3) float32
        Velocity after the hit, per frame; NaN without a hit.
    report : Report
        Statistics of the query; None in a result that the caller made.
    """

    offsets: NDArray[np.uint64]
    status: NDArray[np.uint8]
    id: Ids
    distance: Floats
    frames: Floats
    point: Floats | NDArray[np.float64]
    grazing_rad: Floats
    velocity: Floats
    report: Report = field(default=None, repr=False)  # type: ignore[assignment]

    def _summary(self) -> str:
        return f"{counted(len(self.id), 'leg')} of {counted(len(self.offsets) - 1, 'bullet')}"

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a long table: one row per leg, with the number of its bullet."""
        arrays = {name: array for name, array in Result.columns(self).items() if name != "offsets"}
        return {"bullet": _rows(self.offsets), **arrays}


@dataclass(frozen=True, slots=True)
class Update:
    """Result of `Scene.update`."""

    quality_loss: float
    """Relative increase in the number of BVH nodes that a random ray enters, compared with the BVH when it was built."""
    rebuild_suggested: bool
    """Whether `Scene.rebuild` is likely to pay off soon."""
