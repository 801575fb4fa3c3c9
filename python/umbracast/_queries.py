"""The queries on a scene: one method per kind."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _out, _spheres, _tables, _umbracast, _validate
from ._options import BULLET_OPTIONS, HIT_OPTIONS, OPTIONS, POINT_OPTIONS, RAY_COLUMNS, CallOptions, HitOptions, Options
from ._options import PointOptions, column, parse_options, shows_options
from ._results import Approach, Attributes, Containment, Flights, HitLists, Hits, Interval, Report
from ._rounding import Rounding
from ._spheres import Origin

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack

Query = Literal["closest", "occluded", "interval", "count", "transmittance", "all", "nearest", "approach"]
"""Names of the queries on rays."""

NEAR_QUERIES = ("closest", "interval", "all", "nearest")
"""Queries that obey ``near``."""

QUERIES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "closest": (Hits, ("f4", "u4")),
    "occluded": (None, ("?",)),
    "interval": (Interval, ("f4", "f4", "u4")),
    "count": (None, ("u4",)),
    "transmittance": (None, ("f4",)),
    "approach": (Approach, ("f4", "f4", "u4")),
}
"""Queries with one result per ray: class of the result, or None for a plain array, and dtypes of its columns."""


class Queries:
    """The queries of `Scene`."""

    _has_origin: bool
    _rounding: Rounding
    _smallest: float
    _starts_left: int
    _is_rounding_known: bool

    @property
    def origin(self) -> Origin:
        """The point that is subtracted from all coordinates."""
        raise NotImplementedError

    @property
    def _native(self) -> _umbracast.Scene:
        raise NotImplementedError

    @shows_options(Options)
    def closest(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        out: Hits | tuple[NDArray[np.float32], NDArray[np.uint32]] | None = None,
        **options: Unpack[Options],
    ) -> Hits:
        """Find the closest hit of each ray: the smallest valid ``t`` over all spheres, and the id of the sphere.

        Rays are converted in chunks of 262,144; float64 is rounded once.

        Parameters
        ----------
        rays : (…, 6) or (…, 8) array, (…, 3) array, table, or `Segments`
            Origin and direction; or origin, direction, t_min and t_max; or, with ``directions``, origins. A table has columns
            ox, oy, oz, dx, dy, dz and optionally t_min, t_max, mask, skip_id, from_id (null or NaN is none), time, radius, in any
            order. An unknown column is an error, and so is one that is given as an argument, too.
        directions : (…, 3) array, optional
            Directions of any length except zero. They are not normalised: ``t`` is in units of the direction. Origins and directions are
            broadcast.
        t_min, t_max : (…) array, optional
            First and last t of each ray. Defaults: 0 and inf; ``-inf`` is allowed.
        out : Hits or tuple of two arrays, optional
            Arrays for the result: C-contiguous float32 and uint32 of the leading shape. Their contents are undefined after an error.
            `Hits` become the result, and are returned.
        **options
            See `Options`.

        Returns
        -------
        Hits
            Arrays of the leading shape of the rays; a single ray gives arrays of shape ().

        Raises
        ------
        RecordError
            For an invalid ray; a ValueError that names row and field.
        TypeError, ValueError
            For invalid arrays or options.
        PrecisionError
            If the device cannot guarantee the precision.
        DeviceError, MemoryError
            If the device fails, or if there is too little memory.
        KeyboardInterrupt
            Soon after Ctrl-C.
        """
        (t, id), report, given = self._cast("closest", rays, directions, t_min, t_max, out, options)
        return _out.result(out, Hits(t, id, report, given))

    @shows_options(Options)
    def interval(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        out: Interval | tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint32]] | None = None,
        **options: Unpack[Options],
    ) -> Interval:
        """Find both roots of the closest sphere of each ray, not clipped to t_min and t_max. Arguments and errors as for `closest`."""
        (enter, exit, id), report, _ = self._cast("interval", rays, directions, t_min, t_max, out, options)
        return _out.result(out, Interval(enter, exit, id, report))

    @shows_options(Options)
    def approach(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        out: Approach | tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint32]] | None = None,
        **options: Unpack[Options],
    ) -> Approach:
        """Find where each ray passes closest to a surface, within t_min and t_max.

        The result has the smallest clearance; among equal ones the smallest t, then the lowest id. Only the policies ``precision`` and
        ``on_bad`` have an effect. Arguments and errors as for `closest`.
        """
        (t, clearance, id), report, _ = self._cast("approach", rays, directions, t_min, t_max, out, options)
        return _out.result(out, Approach(t, clearance, id, report))

    @shows_options(Options)
    def occluded(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        out: NDArray[np.bool_] | None = None,
        **options: Unpack[Options],
    ) -> NDArray[np.bool_]:
        """Test whether each ray hits any sphere: (…) bool. Arguments and errors as for `closest`."""
        return self._cast("occluded", rays, directions, t_min, t_max, out, options)[0][0]

    @shows_options(Options)
    def count(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        out: NDArray[np.uint32] | None = None,
        **options: Unpack[Options],
    ) -> NDArray[np.uint32]:
        """Count the spheres that each ray hits: (…) uint32. Arguments and errors as for `closest`."""
        return self._cast("count", rays, directions, t_min, t_max, out, options)[0][0]

    @shows_options(Options)
    def transmittance(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        out: NDArray[np.float32] | None = None,
        **options: Unpack[Options],
    ) -> NDArray[np.float32]:
        """Multiply the transmittances of all spheres that each ray hits: (…) float32 from 0 to 1.

        A ray that hits nothing has 1, and a ray that hits an opaque sphere has 0. Spheres are opaque unless the scene has
        ``transmittances``. The path length inside a sphere does not matter. For n spheres with the product p, the error is at most
        (1 + 0.35 n) u · p + 2⁻¹⁵⁰, with u = 2⁻²⁴. A product below about 2⁻¹⁵⁰ is 0. With ``precision="exact"``, all devices return the same
        bits. Arguments and errors as for `closest`.
        """
        return self._cast("transmittance", rays, directions, t_min, t_max, out, options)[0][0]

    @shows_options(Options)
    def all(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> HitLists:
        """Find all spheres that each ray hits, with both unclipped roots, sorted by (t, id). Arguments and errors as for `closest`."""
        return self._list_query("all", None, rays, directions, t_min, t_max, options)

    @shows_options(Options)
    def nearest(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        k: SupportsIndex,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> HitLists:
        """Find the first ``k`` >= 1 hits of each ray in the order of `all`, or all if there are fewer.

        Other arguments and errors as for `closest`.
        """
        count = _validate.integer("k", k, 1, 0xFFFF_FFFF)
        return self._list_query("nearest", count, rays, directions, t_min, t_max, options)

    @shows_options(PointOptions)
    def contains(
        self,
        points: ArrayLike | Any,
        *,
        out: Containment | tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None,
        **options: Unpack[PointOptions],
    ) -> Containment:
        """For each point, count the spheres that contain it, surfaces included, and find the lowest id.

        In a pairwise scene point i is tested against sphere i only.

        Parameters
        ----------
        points : (…, 3) array, or a table with columns x, y, z and optionally mask, skip_id, time
            The points.
        out : Containment or tuple of two arrays, optional
            C-contiguous uint32 arrays of the leading shape for count and id.
        **options
            See `PointOptions`. Moving spheres are tested at the point's own time, ``times``, default 0.

        Returns
        -------
        Containment
            Count and lowest id per point.

        Raises
        ------
        RecordError, TypeError, ValueError, PrecisionError, DeviceError, MemoryError, KeyboardInterrupt
            As `closest`.
        """
        optional = [name for name, column in RAY_COLUMNS.items() if column.option in POINT_OPTIONS]
        points, of_table = _tables.split_options("points", points, _input.POINT, optional)
        on_bad = _validate.string("on_bad", options.get("on_bad", "refuse"))
        shape, records, rounding = _input.records("points", "point", points, _input.POINT, self.origin, on_bad)
        parsed = parse_options("contains", shape, dict(options), POINT_OPTIONS, of_table)
        if rounding.changed + self._rounding.changed > 0:
            _, columns = _input.split("points", points, {3: _input.POINT}, _input.POINT)
            self._check_starts("a point", columns, parsed, 3)
        attributes = (parsed.masks, parsed.skip_ids, parsed.times)
        counts, ids = _out.arrays(out, shape, Containment, ("u4", "u4"), (records, *attributes))
        count, id = _out.flat((counts, ids))
        report = _umbracast.contains(self._native, records, *attributes, parsed.policies, count, id, parsed.progress)
        return _out.result(out, Containment(counts, ids, self._report(report, rounding.joined(parsed.rounding), 2)))

    def bullets(
        self,
        bullets: ArrayLike | Any,
        *,
        radius: ArrayLike | None = None,
        from_ids: ArrayLike | None = None,
        bounces: SupportsIndex = 1,
        precision: Literal["auto", "fast", "standard", "exact"] = "auto",
        on_bad: Literal["refuse", "skip"] = "refuse",
        progress: Any = False,
    ) -> Flights:
        """Trace bullets that fly straight until they hit a sphere and ricochet off it.

        Bullets are points, or balls with a ``radius``; positions are those of their centres. Among moving spheres, bullets start at time 0, a
        frame is one unit of time, and bullets are traced until ``time_range`` ends.

        Parameters
        ----------
        bullets : (M, 7) array, or a table with columns x1, y1, z1, x2, y2, z2, speed and optionally radius, from_id
            Start, another point on the path, and distance per frame, > 0.
        radius : (M,) array or number, optional
            Radii of the bullets. Default: the table's column radius, else 0.
        from_ids : (M,) integers, optional
            The sphere on whose surface each bullet starts, as for rays; see `Options`. A bullet that flies into it has started inside. The
            spheres must be at rest.
        bounces : int, default 1
            Maximum number of ricochets, >= 1.
        precision, on_bad, progress
            See `Options`.

        Returns
        -------
        Flights
            The legs of each bullet.

        Raises
        ------
        RecordError, TypeError, ValueError, PrecisionError, DeviceError, MemoryError, KeyboardInterrupt
            As `closest`; ValueError also in scenes that are pairwise, contain ellipsoids, or whose time range does not contain 0.
        """
        bullets, of_table = _tables.split_options("bullets", bullets, _input.BULLET, ["radius", "from_id"])
        kind = _validate.string("on_bad", on_bad)
        shape, records, rounding = _input.records("bullets", "bullet", bullets, _input.BULLET, self.origin, kind)
        given = {"from_ids": from_ids, "precision": precision, "on_bad": on_bad, "progress": progress}
        if "ray_radius" in of_table:
            _validate.check_once("radius", radius, "radius")
            radius = of_table.pop("ray_radius")
        radii, of_radii = column("radius", radius, shape, np.float32)
        parsed = parse_options("bullets", shape, given, BULLET_OPTIONS, of_table)
        if rounding.changed + self._rounding.changed > 0:
            _, columns = _input.split("bullets", bullets, {7: _input.BULLET}, _input.BULLET)
            self._check_starts("the start of a bullet", columns[:3], parsed, 3)
        most = _validate.integer("bounces", bounces, 1, 0xFFFF_FFFF)
        offsets, status, id, distance, frames, point, grazing, velocity, report = _umbracast.bullets(
            self._native, records, radii, parsed.from_ids, most, parsed.policies, parsed.progress
        )
        points = self._in_caller_coordinates(point.reshape(-1, 3))
        found = self._report(report, rounding.joined(of_radii), 2)
        return Flights(offsets, status, id, distance, frames, points, grazing, velocity.reshape(-1, 3), found)

    @shows_options(HitOptions)
    def attributes(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        hits: Hits | tuple[NDArray[np.float32], NDArray[np.uint32]],
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        **options: Unpack[HitOptions],
    ) -> Attributes:
        """Compute point, normal, angle of incidence and distance of each hit of `closest`, for the same rays.

        For moving spheres, point and normal refer to the position of the sphere at the time of the hit, and the angle to its rest frame.
        For rays with a radius, the point is the contact point. Everything is computed in float64 from the foot of the perpendicular, so
        points do not inherit the error of ``t``.

        Parameters
        ----------
        rays, directions, t_min, t_max
            The rays, as for `closest`. They are not checked again: the attributes of an invalid one are undefined.
        hits : Hits or tuple of two arrays
            The hits of these rays: t and id.
        **options
            ``times``, ``ray_radius`` and ``motion`` of the query that found the hits; see `Options`. Default: those of ``hits``, if it is
            the result of `closest` and was not pickled.

        Returns
        -------
        Attributes
            One value per ray in each array. On a miss, all but ``distance`` are NaN.

        Raises
        ------
        TypeError, ValueError
            For invalid arguments, or if the scene contains ellipsoids.
        RecordError
            For a hit whose id is no sphere.
        MemoryError, KeyboardInterrupt
            As `closest`.
        """
        of_hits = hits._options() if isinstance(hits, Hits) else {}
        of_hits = {name: value for name, value in of_hits.items() if name in HIT_OPTIONS}
        given, parsed, batch = self._prepare("attributes", rays, directions, t_min, t_max, options, HIT_OPTIONS, of_hits)
        if not isinstance(hits, Hits) and (not isinstance(hits, tuple) or len(hits) != 2):
            raise TypeError(f"hits must be the result of closest or a tuple of t and id, not {type(hits).__name__}")
        found_t, found_id = hits
        shapes = [np.shape(found_t), np.shape(found_id)]
        if shapes != [given.shape, given.shape]:
            raise ValueError(f"hits have shapes {shapes[0]} and {shapes[1]}, but the rays have {given.shape}")
        t, _ = column("hits.t", found_t, given.shape, np.float32)
        id, _ = column("hits.id", found_id, given.shape, np.uint32)
        assert t is not None and id is not None
        point, normal, incidence, distance = _umbracast.attributes(self._native, batch, parsed.policies, t, id)
        vectors = (*given.shape, 3)
        return Attributes(
            self._in_caller_coordinates(point.reshape(vectors)),
            normal.reshape(vectors),
            incidence.reshape(given.shape),
            distance.reshape(given.shape),
        )

    def _in_caller_coordinates(self, points: NDArray[np.float32]) -> NDArray[np.float32] | NDArray[np.float64]:
        """Add the scene's origin in float64. With an ``origin`` the result is float64 even if it is zero, which "auto" can find."""
        return points + np.array(self.origin) if self._has_origin else points

    def _prepare(
        self,
        verb: str,
        rays: Any,
        directions: Any,
        t_min: Any,
        t_max: Any,
        options: Any,
        allowed: frozenset[str] = OPTIONS,
        of_hits: Mapping[str, Any] = {},
    ) -> tuple[_input.RayInput, CallOptions, _input.RayBatch]:
        if isinstance(rays, (list, tuple)) and rays and all(isinstance(one, _input.SensorRays) for one in rays):
            rays = np.stack(rays)
        if isinstance(rays, _input.SensorRays) and rays.has_minimum_range and verb in NEAR_QUERIES:
            options = {"near": "block", **options}
        given = _input.rays(rays, directions, t_min, t_max)
        options = {**{name: value for name, value in of_hits.items() if name not in given.options}, **options}
        if any(self.origin) and given.records is not None:
            # Columns are converted in chunks, which subtracts the origin; records are used as they are.
            given = given._replace(records=None, columns=given.as_columns())
        parsed = parse_options(verb, given.shape, dict(options), allowed, given.options)
        if verb != "attributes" and (given.records is None or self._rounding.changed > 0):
            self._check_starts("the start of a ray", given.as_columns()[:3], parsed, 5)
        return given, parsed, _input.batch(given, self.origin, parsed)

    def _check_starts(self, what: str, columns: Any, parsed: CallOptions, stacklevel: int) -> None:
        """Warn once if rounding moves starts by much of their distance from the nearest surface. About 1,024 starts are measured."""
        step = -(-len(columns[0]) // 256)
        if self._starts_left <= 0 or step == 0:
            return
        starts = _spheres.every(step, columns)
        self._starts_left -= len(starts)
        ids = parsed.skip_ids if parsed.from_ids is None else parsed.from_ids
        skipped = None if ids is None else ids[::step].tolist()
        coarse = self._native.coarse_start(starts - self.origin, skipped, self._rounding[2:4], self._has_origin)
        if coarse is not None:
            self._starts_left, self._is_rounding_known = 0, True
            warnings.warn(_spheres.start_warning(coarse, what), RuntimeWarning, stacklevel=stacklevel)

    def _cast(
        self, verb: str, rays: Any, directions: Any, t_min: Any, t_max: Any, out: Any, options: Any
    ) -> tuple[tuple[NDArray[Any], ...], Report, _input.RayInput]:
        """Run a query of `QUERIES`. Returns the columns of its result, the report and the rays."""
        given, parsed, batch = self._prepare(verb, rays, directions, t_min, t_max, options)
        kind, types = QUERIES[verb]
        columns = _out.arrays(out, given.shape, kind, types, batch)
        report, rounding = _umbracast.cast(self._native, verb, batch, parsed.policies, _out.flat(columns), parsed.progress)
        of_hits = {"times": parsed.times, "ray_radius": parsed.ray_radius, "from_ids": parsed.from_ids}
        given = given._replace(options={**of_hits, "motion": parsed.policies.motion, "inside": parsed.policies.inside})
        return columns, self._report(report, Rounding(*rounding).joined(parsed.rounding), 3), given

    def _list_query(
        self, verb: str, k: int | None, rays: Any, directions: Any, t_min: Any, t_max: Any, options: Any
    ) -> HitLists:
        given, parsed, batch = self._prepare(verb, rays, directions, t_min, t_max, options)
        offsets, enter, exit, id, of_cast = _umbracast.lists(self._native, batch, parsed.policies, k, parsed.progress)
        report = self._report(of_cast[0], Rounding(*of_cast[1]).joined(parsed.rounding), 3)
        return HitLists(offsets, enter, exit, id, given.shape, report)

    def _report(self, statistics: _umbracast._ReportTuple, rounding: Rounding, stacklevel: int) -> Report:
        """Return the report of a query.

        Warns if rays start farther from the surfaces of their spheres than rounding to float32 explains, and once if rounding is coarse.
        """
        report = Report(*statistics, rounding.changed, rounding.largest)
        if report.off_surface > 0:
            count = report.off_surface
            message = f"{count} rays start farther from the surface of their sphere in from_ids than rounding to float32 explains"
            warnings.warn(message, RuntimeWarning, stacklevel=stacklevel + 1)
        if not self._is_rounding_known:
            remedy = ": choose an origin nearer to them" if self._has_origin else ": an origin near them keeps more digits"
            self._is_rounding_known = rounding.warn_if_coarse(self._smallest, remedy, stacklevel + 1)
        return report
