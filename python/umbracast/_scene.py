"""Scenes: spheres on a device, and the queries on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _out, _spheres, _tables, _umbracast, _validate
from ._devices import Device, open_device
from ._options import (
    BULLET_OPTIONS,
    HIT_OPTIONS,
    OPTIONS,
    POINT_OPTIONS,
    CallOptions,
    HitOptions,
    Options,
    PointOptions,
    column,
    parse_options,
    shows_options,
)
from ._results import Approach, Attributes, Containment, Flights, HitLists, Hits, Interval, Report, Update, _make_hits
from ._spheres import Origin

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

QUERIES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "closest": (Hits, ("f4", "u4")),
    "interval": (Interval, ("f4", "f4", "u4")),
    "approach": (Approach, ("f4", "f4", "u4")),
    "occluded": (None, ("?",)),
    "count": (None, ("u4",)),
}
"""Queries with one result per ray: class of the result, or None for a plain array, and dtypes of its columns."""


class Scene:
    """Spheres, resident on a device, that rays are cast against.

    Parameters
    ----------
    spheres : (N, 4) array, or a table with columns x, y, z, r
        Centres and radii, in any unit. The row is the id of the sphere. float32 is used as it is, float64 is rounded once.
        A table may also have columns vx, vy, vz and mask. With ``radii``: (N, 3), the centres of ellipsoids.
    radii : (N, 3) array, optional
        Semi-axes of ellipsoids along their own axes, > 0, the longest at most 2²⁰ times the shortest. In a table: columns rx, ry, rz
        instead of r.
    rotations : (N, 4) array, optional
        Quaternions w, x, y, z of any length except zero that rotate the ellipsoids' own axes into those of the scene. In a table: columns
        qw, qx, qy, qz. Default: not rotated.
    device : str, int or `Device`, optional
        Device to use; see `Device`. Default: the environment variable UMBRACAST_DEVICE, or "auto" if it is unset.
    masks : (N,) integers, optional
        A ray can hit a sphere only if their masks share a bit. Default: all bits.
    velocities : (N, 3) array, optional
        Velocities of the centres: at time t a centre is at ``center + t · velocity``. Queries use times within ``time_range``.
    time_range : (float, float), default (0, 1)
        First and last time at which moving spheres may be queried, in the time unit of the velocities.
    origin : three numbers or "auto", optional
        Subtracted in float64 from all coordinates of spheres, rays and points before they are rounded, for coordinates in the
        millions. "auto" is the centre of the AABB of all spheres, or of the bounding spheres of all ellipsoids. Default: none.
    pairwise : bool, default False
        Cast ray i against sphere i only.
    builder : {"auto", "cpu", "gpu"}, default "auto"
        Where to build the BVH that a GPU traverses.
    precision : {"fast", "standard", "exact"}, default "standard"
        Precision that the device must guarantee: "auto" skips GPUs that cannot.

    Raises
    ------
    RecordError
        For an invalid sphere.
    TypeError, ValueError
        For invalid arrays or arguments.
    DeviceError, MemoryError
        If the device fails, or if there is too little memory.
    KeyboardInterrupt
        Soon after Ctrl-C.
    ForkError
        In a process that was forked from one that had used umbracast.

    Notes
    -----
    Scenes of ellipsoids support `closest`, `interval`, `occluded`, `count`, `all`, `nearest` and `contains`. They raise ValueError for
    other queries and for rays with radii, and `PrecisionError` for ``precision="exact"``.

    A RuntimeWarning says if rounding to float32 changed the spheres by more than a thousandth of the smallest radius.

    Several threads can use a scene at once. Pickling stores the spheres and options; unpickling opens the device and builds the BVH again.
    """

    def __init__(
        self,
        spheres: ArrayLike | Any,
        *,
        radii: ArrayLike | None = None,
        rotations: ArrayLike | None = None,
        device: Device | str | int | None = None,
        masks: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        time_range: tuple[float, float] = (0.0, 1.0),
        origin: Origin | Literal["auto"] | None = None,
        pairwise: bool = False,
        builder: Literal["auto", "cpu", "gpu"] = "auto",
        precision: Literal["fast", "standard", "exact"] = "standard",
    ) -> None:
        spheres, radii, rotations = _spheres.sphere_inputs(spheres, radii, rotations)
        self._origin: Origin = _spheres.parse_origin(origin, spheres, radii)
        self._has_origin = origin is not None
        given = self._given(spheres, radii, rotations, masks, velocities)
        self._options = (
            _validate.numbers("time_range", time_range, 2),
            bool(pairwise),
            _validate.string("builder", builder),
        )
        self._device = open_device(device, precision)
        self._handle: _umbracast.Scene | None = _umbracast.Scene(self._device._native, given, builder, list(self._options[0]), bool(pairwise))

    @classmethod
    def from_points(cls, points: ArrayLike | Any, radius: ArrayLike, **arguments: Any) -> Self:
        """Create a scene of spheres around points, as of a point cloud or of particles.

        Parameters
        ----------
        points : (N, 3) array, or a table with columns x, y, z
            Centres of the spheres. Other columns are ignored.
        radius : float or (N,) array
            Radius of all spheres, or of each.
        **arguments
            Keyword arguments of `Scene`, such as ``device``.
        """
        table = _tables.columns(points)
        if table is not None:
            _, columns = _tables.select_columns("points", table, _input.POINT, _input.numbers)
            points = np.stack(columns, -1)  # type: ignore[arg-type]  # all three columns are required
        centers, sizes = _input.numbers("points", points), _input.numbers("radius", radius)
        if centers.ndim != 2 or centers.shape[1] != 3:
            raise ValueError(f"points must have shape (N, 3), not {centers.shape}")
        if sizes.shape not in ((), (len(centers),)):
            raise ValueError(f"radius must be a number or have shape ({len(centers)},), not {sizes.shape}")
        kind = np.result_type(centers, sizes) if sizes.ndim else centers.dtype
        spheres = np.empty((len(centers), 4), kind)
        spheres[:, :3], spheres[:, 3] = centers, sizes
        return cls(spheres, **arguments)

    def close(self) -> None:
        """Free the memory of the scene on its device. Further calls raise ValueError. A scene is also closed by ``with``."""
        self._handle = None

    @property
    def _native(self) -> _umbracast.Scene:
        if self._handle is None:
            raise ValueError("the scene is closed")
        return self._handle

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _given(
        self, spheres: Any, radii: Any, rotations: Any, masks: Any, velocities: Any, centers: bool = False
    ) -> _input.Spheres:
        table = _tables.columns(spheres)
        if table is not None:
            if velocities is None and "vx" in table:
                velocities = np.stack([_input.numbers(name, table[name]) for name in ("vx", "vy", "vz")], -1)
            masks = table.get("mask") if masks is None else masks
        turned = None
        if radii is not None:
            width = 3
            shape, records, turned, rounded, largest = _input.ellipsoids(spheres, radii, rotations, self._origin)
        else:
            if table is None and not centers and (given := np.shape(spheres))[-1:] == (3,):
                remedy = "for points, use Scene.from_points(points, radius); ellipsoids need radii="
                raise ValueError(f"spheres must have shape (N, 4) with x, y, z and radius, not {given}: {remedy}")
            kind, fields = ("center", _input.POINT) if centers else ("sphere", _input.SPHERE)
            width = len(fields)
            shape, records, rounded, largest = _input.records("spheres", kind, spheres, fields, self._origin)
        self._rounded, self._largest_rounding = rounded, largest
        _spheres.warn_if_coarse(records, largest, self._has_origin)
        if len(shape) != 1:
            raise ValueError(f"spheres must have shape (N, {width}), not {(*shape, width)}")
        if velocities is not None:
            there, velocities, _, _ = _input.records(
                "velocities", "velocity", velocities, ("vx", "vy", "vz"), (0.0, 0.0, 0.0)
            )
            if there != shape:
                raise ValueError(f"velocities must have shape {(*shape, 3)}, not {(*there, 3)}")
        return _input.Spheres(records, turned, column("masks", masks, shape, np.uint32), velocities)

    @property
    def device(self) -> Device:
        """The device of the scene."""
        return self._device

    @property
    def origin(self) -> Origin:
        """The point that is subtracted from all coordinates before they are rounded; zero in a scene without ``origin``."""
        return self._origin

    @property
    def rounded(self) -> int:
        """Number of values of the spheres that float32 could not represent, and that were rounded."""
        return self._rounded

    @property
    def largest_rounding(self) -> float:
        """Largest rounding of these values, in the unit of the spheres."""
        return self._largest_rounding

    @property
    def spheres(self) -> NDArray[np.float32]:
        """(N, 4) float32: a copy of the centres and radii in use, relative to ``origin``. For ellipsoids: their bounding spheres."""
        return self._native.parts()[0].reshape(-1, 4)

    @property
    def shapes(self) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        """For ellipsoids: copies of the radii, (N, 3) float32, and the rotations, (N, 4) float32. For spheres: None."""
        return _spheres.split_shapes(self._native.parts()[3])

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<umbracast.Scene, closed>"
        kind = "ellipsoids" if self._native.has_ellipsoids() else "spheres"
        return f"<umbracast.Scene of {len(self)} {kind} on {self._device.name}>"

    def _parts(self) -> tuple[Any, Any, Any, Any]:
        """Return the spheres, or the centres of ellipsoids, after ``origin`` is subtracted; shapes; masks; velocities."""
        spheres, masks, velocities, shape_array = self._native.parts()
        spheres, shapes = spheres.reshape(-1, 4), _spheres.split_shapes(shape_array)
        if shapes is not None:
            spheres = spheres[:, :3]
        velocities = None if velocities is None else velocities.reshape(-1, 3)
        return spheres, shapes, masks, velocities

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle_scene, (*self._parts(), self._given_origin(), self._device, *self._options))

    def _given_origin(self) -> Origin | None:
        """Return ``origin``, or None if the scene was made without one."""
        return self.origin if self._has_origin else None

    def update(
        self,
        spheres: ArrayLike | Any,
        *,
        radii: ArrayLike | None = None,
        rotations: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
    ) -> Update:
        """Replace all spheres by the same number of new ones. Masks and velocities are kept unless new ones are given.

        Ellipsoids given as centres only, (N, 3) or a table with columns x, y, z, keep their radii and rotations. With new ``radii`` they
        are rotated by ``rotations``, or not at all if there are none.

        Queries that run in other threads finish with the old spheres. On a GPU the BVH keeps its nodes and is refitted: call `rebuild` if
        the result suggests it. After an error the scene is unchanged.

        Parameters
        ----------
        spheres, radii, rotations, masks, velocities
            As for `Scene`.

        Returns
        -------
        Update
            Loss of quality of the BVH, and whether to rebuild it.

        Raises
        ------
        RecordError, TypeError, ValueError, DeviceError, MemoryError, KeyboardInterrupt, ForkError
            As `Scene`; ValueError also if the number of spheres differs.
        """
        spheres, radii, rotations = _spheres.sphere_inputs(spheres, radii, rotations)
        centers = radii is None and self._native.has_ellipsoids() and _spheres.are_centers(spheres)
        return Update(*self._native.update(self._given(spheres, radii, rotations, masks, velocities, centers)))

    def rebuild(self) -> None:
        """Rebuild the BVH for the current spheres. Results do not change; queries may become faster. Raises device errors as `update`."""
        self._native.rebuild()

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
            ox, oy, oz, dx, dy, dz and optionally t_min, t_max.
        directions : (…, 3) array, optional
            Directions of any length except zero. They are not normalised: ``t`` is in units of the direction. Origins and directions are
            broadcast.
        t_min, t_max : (…) array, optional
            First and last t of each ray. Defaults: 0 and inf; ``-inf`` is allowed.
        out : Hits or tuple of two arrays, optional
            Arrays for the result: C-contiguous float32 and uint32 of the leading shape. Their contents are undefined after an error.
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
        return _make_hits(t, id, report, given)

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
        columns, report, _ = self._cast("interval", rays, directions, t_min, t_max, out, options)
        found = Interval(*columns)
        found.report = report
        return found

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
        columns, report, _ = self._cast("approach", rays, directions, t_min, t_max, out, options)
        found = Approach(*columns)
        found.report = report
        return found

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
        k: int,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> HitLists:
        """Find the first ``k`` >= 1 hits of each ray in the order of `all`, or all if there are fewer.

        Other arguments and errors as for `closest`.
        """
        k = _validate.integer("k", k, 1, 0xFFFF_FFFF)
        return self._list_query("nearest", k, rays, directions, t_min, t_max, options)

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
        points : (…, 3) array, or a table with columns x, y, z
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
        shape, records, rounded, largest = _input.records("points", "point", points, _input.POINT, self.origin)
        parsed = parse_options("contains", shape, dict(options), POINT_OPTIONS)
        found = Containment(*_out.arrays(out, shape, Containment, ("u4", "u4"), (records,)))
        count, id = _out.flat(found)
        attributes = (parsed.masks, parsed.skip_ids, parsed.times)
        report = _umbracast.contains(self._native, records, *attributes, parsed.policies, count, id, parsed.progress)
        found.report = Report(*report[:6], rounded, largest)
        return found

    def bullets(
        self,
        bullets: ArrayLike | Any,
        *,
        radii: ArrayLike | None = None,
        bounces: int = 1,
        precision: Literal["fast", "standard", "exact"] = "standard",
        on_bad: Literal["refuse", "skip"] = "refuse",
        progress: Any = False,
    ) -> Flights:
        """Trace bullets that fly straight until they hit a sphere and ricochet off it.

        Bullets are points, or balls with ``radii``; positions are those of their centres. Among moving spheres, bullets start at time 0, a
        frame is one unit of time, and bullets are traced until ``time_range`` ends.

        Parameters
        ----------
        bullets : (M, 7) array, or a table with columns x1, y1, z1, x2, y2, z2, speed and optionally radius
            Start, another point on the path, and distance per frame, > 0.
        radii : (M,) array or number, optional
            Radii of the bullets. Default: the table's column radius, else 0.
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
        table = _tables.columns(bullets)
        if table is not None:
            bullets, radii = table, table.get("radius") if radii is None else radii
        shape, records, rounded, largest = _input.records("bullets", "bullet", bullets, _input.BULLET, self.origin)
        parsed = parse_options(
            "bullets", shape, {"precision": precision, "on_bad": on_bad, "progress": progress}, BULLET_OPTIONS
        )
        bounces = _validate.integer("bounces", bounces, 1, 0xFFFF_FFFF)
        offsets, status, id, distance, frames, point, angle, velocity, report = _umbracast.bullets(
            self._native, records, column("radii", radii, shape, np.float32), bounces, parsed.policies, parsed.progress
        )
        points = self._to_caller_coordinates(point.reshape(-1, 3))
        found = Flights(offsets, status, id, distance, frames, points, angle, velocity.reshape(-1, 3))
        found.report = Report(*report[:6], rounded, largest)
        return found

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
        """Compute point, normal, angle and distance of each hit of `closest`, for the same rays.

        For moving spheres, point and normal refer to the position of the sphere at the time of the hit, and the angle to its rest frame.
        For rays with a radius, the point is the contact point. Everything is computed in float64 from the foot of the perpendicular, so
        points do not inherit the error of ``t``.

        Parameters
        ----------
        rays, directions, t_min, t_max
            The rays, as for `closest`.
        hits : Hits or tuple of two arrays
            The hits of these rays: t and id.
        **options
            ``times``, ``radii`` and ``motion`` of the query that found the hits; see `Options`.

        Returns
        -------
        Attributes
            One value per ray in each array. On a miss, all but ``distance`` are NaN.

        Raises
        ------
        TypeError, ValueError
            For invalid arguments, or if the scene contains ellipsoids.
        RecordError, MemoryError, KeyboardInterrupt
            As `closest`.
        """
        given, parsed, batch = self._prepare("attributes", rays, directions, t_min, t_max, options, HIT_OPTIONS)
        if not isinstance(hits, tuple) or len(hits) != 2:
            raise TypeError(f"hits must be the result of closest or a tuple of t and id, not {type(hits).__name__}")
        shapes = [np.shape(part) for part in hits]
        if shapes != [given.shape, given.shape]:
            raise ValueError(f"hits have shapes {shapes[0]} and {shapes[1]}, but the rays have {given.shape}")
        t, id = column("hits.t", hits[0], given.shape, np.float32), column("hits.id", hits[1], given.shape, np.uint32)
        assert t is not None and id is not None
        point, normal, angle, distance = _umbracast.attributes(self._native, batch, parsed.policies, t, id)
        vectors = (*given.shape, 3)
        return Attributes(
            self._to_caller_coordinates(point.reshape(vectors)),
            normal.reshape(vectors),
            angle.reshape(given.shape),
            distance.reshape(given.shape),
        )

    def _to_caller_coordinates(self, points: NDArray[np.float32]) -> NDArray[np.float32] | NDArray[np.float64]:
        """Return points in the caller's coordinates: adds the origin in float64, in a scene with an ``origin``.

        The result is float64 also if this origin is zero, which "auto" can find.
        """
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
    ) -> tuple[_input.RayInput, CallOptions, _input.RayBatch]:
        given = _input.rays(rays, directions, t_min, t_max)
        if any(self.origin) and given.records is not None:
            # Columns are converted in chunks, which subtracts the origin; records are used as they are.
            given = given._replace(records=None, columns=given.as_columns())
        parsed = parse_options(verb, given.shape, dict(options), allowed)
        return given, parsed, _input.batch(given, self.origin, parsed)

    def _cast(
        self, verb: str, rays: Any, directions: Any, t_min: Any, t_max: Any, out: Any, options: Any
    ) -> tuple[tuple[NDArray[Any], ...], Report, _input.RayInput]:
        """Run a query of `QUERIES`. Returns the columns of its result, the report and the rays."""
        given, parsed, batch = self._prepare(verb, rays, directions, t_min, t_max, options)
        kind, types = QUERIES[verb]
        columns = _out.arrays(out, given.shape, kind, types, batch)
        report = _umbracast.cast(self._native, verb, batch, parsed.policies, _out.flat(columns), parsed.progress)
        return columns, Report(*report), given

    def _list_query(
        self, verb: str, k: int | None, rays: Any, directions: Any, t_min: Any, t_max: Any, options: Any
    ) -> HitLists:
        _, parsed, batch = self._prepare(verb, rays, directions, t_min, t_max, options)
        offsets, enter, exit, id, report = _umbracast.lists(self._native, batch, parsed.policies, k, parsed.progress)
        found = HitLists(offsets, enter, exit, id)
        found.report = Report(*report)
        return found


def _unpickle_scene(
    spheres: NDArray[np.float32],
    shapes: tuple[NDArray[np.float32], NDArray[np.float32]] | None,
    masks: Any,
    velocities: Any,
    origin: Origin | None,
    device: Device,
    time_range: Any,
    pairwise: bool,
    builder: Any,
) -> Scene:
    """Rebuild a pickled scene. Its coordinates are relative to the origin already."""
    radii, rotations = (None, None) if shapes is None else shapes
    scene = Scene(
        spheres,
        radii=radii,
        rotations=rotations,
        device=device,
        masks=masks,
        velocities=velocities,
        time_range=time_range,
        pairwise=pairwise,
        builder=builder,
    )
    if origin is not None:
        scene._origin, scene._has_origin = origin, True
    return scene
