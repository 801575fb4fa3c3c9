"""Scenes: spheres on a device, and the questions they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _out, _spheres, _tables, _umbracast, _validate
from ._devices import Device, opened
from ._options import BULLET_OPTIONS, HIT_OPTIONS, OPTIONS, POINT_OPTIONS, Asked, column, taken
from ._results import Approach, Attributes, Flights, Hits, Holders, Interval, Lists, Report, Update, _hits
from ._spheres import Origin

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import HitOptions, Options, PointOptions

BARE = {"occluded": "?", "count": "u4"}
"""Queries whose answer is an array alone, and its type."""


class Scene:
    """Spheres, resident on a device, that rays are cast against.

    Parameters
    ----------
    spheres : (N, 4) array, or a table with columns x, y, z, r
        Centres and radii, in any unit; the row is the sphere's id. float32 is used as it is, float64 rounded once.
        A table may also have columns vx, vy, vz and mask. With ``radii``, (N, 3): the centres of ellipsoids.
    radii : (N, 3) array, optional
        Makes ellipsoids: half their extent along each of their own axes, above 0, the longest at most 2²⁰ times the shortest. In a
        table: columns rx, ry, rz instead of r.
    rotations : (N, 4) array, optional
        Quaternions w, x, y, z that turn the ellipsoids' own axes into those of the scene, of any length but zero; in a table
        columns qw, qx, qy, qz. Default: not turned.
    device : str, int or `Device`, optional
        Where: see `Device`. None: what the environment variable UMBRACAST_DEVICE says, else "auto".
    masks : (N,) integers, optional
        A ray meets a sphere only when their masks share a bit. Default: all bits.
    velocities : (N, 3) array, optional
        At time t a centre is at ``center + t · velocity``; ``time_range`` says when that will be asked about.
    origin : three numbers or "auto", optional
        Is subtracted in float64 from all coordinates, of spheres, rays and points, before they are rounded: for coordinates in
        the millions. "auto" is the centre of the box around all spheres, and around the balls around all ellipsoids.
    pairwise : bool
        Ray i is cast against sphere i only.
    builder : "auto", "cpu" or "gpu"
        Who builds the tree that a GPU walks.
    precision : "fast", "standard" or "exact"
        What the device will be asked for: "auto" passes over GPUs that cannot promise it.

    Scenes of ellipsoids answer `closest`, `interval`, `occluded`, `count`, `all`, `nearest` and `contains`, and raise ValueError for
    the rest, for rays with radii, and for ``precision="exact"`` `PrecisionError`.

    A scene may be used by several threads at once, and pickles: spheres and options travel, the device is opened and the tree built anew.
    A process that was forked from one that had used umbracast cannot use it, and says so (`ForkError`).

    Raises `RecordError` for a sphere that cannot be used, TypeError and ValueError for arrays that are none, `DeviceError`, MemoryError, and
    KeyboardInterrupt soon after Ctrl-C, as do `update` and `rebuild`.
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
        spheres, radii, rotations = _spheres.shapes(spheres, radii, rotations)
        self.origin: Origin = _spheres.origin_of(origin, spheres, radii)
        """What is subtracted from all coordinates."""
        self._has_origin = origin is not None
        given = self._given(spheres, radii, rotations, masks, velocities)
        self._options = (
            _validate.several("time_range", time_range, 2),
            bool(pairwise),
            _validate.word("builder", builder),
        )
        self._device = opened(device, precision)
        self._native = _umbracast.Scene(self._device._native, given, builder, list(self._options[0]), bool(pairwise))

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
            shape, records, turned, self.rounded, self.largest_rounding = _input.ellipsoids(
                spheres, radii, rotations, self.origin
            )
        else:
            kind, fields = ("center", _input.POINT) if centers else ("sphere", _input.SPHERE)
            width = len(fields)
            shape, records, self.rounded, self.largest_rounding = _input.records(
                "spheres", kind, spheres, fields, self.origin
            )
        if len(shape) != 1:
            raise ValueError(f"spheres must have shape (N, {width}), and have {(*shape, width)}")
        if velocities is not None:
            there, velocities, _, _ = _input.records(
                "velocities", "velocity", velocities, ("vx", "vy", "vz"), (0.0, 0.0, 0.0)
            )
            if there != shape:
                raise ValueError(f"velocities must have shape {(*shape, 3)}, and have {(*there, 3)}")
        return _input.Spheres(records, turned, column("masks", masks, shape, np.uint32), velocities)

    @property
    def device(self) -> Device:
        """Where it lives."""
        return self._device

    @property
    def spheres(self) -> NDArray[np.float32]:
        """(N, 4) float32: a copy of centres and radii as they are used, less ``origin``; of ellipsoids the balls around them."""
        return self._native.parts()[0].reshape(-1, 4)

    @property
    def shapes(self) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        """Of ellipsoids copies of their radii, (N, 3) float32, and rotations, (N, 4); None of spheres."""
        return _spheres.parted(self._native.parts()[3])

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        kind = "ellipsoids" if self._native.stretched() else "spheres"
        return f"<umbracast.Scene of {len(self)} {kind} on {self._device.name}>"

    def _parts(self) -> tuple[Any, Any, Any, Any]:
        """What it was made of, less ``origin``: spheres, or the centres of ellipsoids; their shapes; masks; velocities."""
        spheres, masks, velocities, stretched = self._native.parts()
        spheres, shapes = spheres.reshape(-1, 4), _spheres.parted(stretched)
        if shapes is not None:
            spheres = spheres[:, :3]
        velocities = None if velocities is None else velocities.reshape(-1, 3)
        return spheres, shapes, masks, velocities

    def __reduce__(self) -> tuple[Any, ...]:
        return (_remade, (*self._parts(), self._asked_origin(), self._device, *self._options))

    def _asked_origin(self) -> Origin | None:
        """``origin``; None where none was asked for."""
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
        """Puts other spheres in the place of these, as many as there are; masks and velocities stay unless new ones are given.

        Ellipsoids that come as centres alone, (N, 3) or a table with columns x, y, z, keep radii and rotations; with new ``radii``
        they are turned by ``rotations``, or not at all.

        Queries under way in other threads end with the spheres that they began with. On a GPU the tree keeps its nodes: `rebuild`
        when the answer suggests it. After an error the scene is what it was.
        """
        spheres, radii, rotations = _spheres.shapes(spheres, radii, rotations)
        centers = radii is None and self._native.stretched() and _spheres.are_centers(spheres)
        return Update(*self._native.update(self._given(spheres, radii, rotations, masks, velocities, centers)))

    def rebuild(self) -> None:
        """Builds the tree anew, for the spheres as they are. Answers do not change; rays may be quicker."""
        self._native.rebuild()

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
        """For each ray the smallest valid ``t`` over all spheres, and the sphere's id.

        ``rays`` is (…, 6): origin and direction; or (…, 8): origin, direction, t_min, t_max; or origins (…, 3), beside ``directions``
        (…, 3), which are broadcast; or a table with columns ox, oy, oz, dx, dy, dz and perhaps t_min, t_max; or `Segments`. ``t_min`` and
        ``t_max`` (…) default to 0 and inf; ``-inf`` is allowed. Directions have any length but zero and are not normalised: ``t``
        counts in units of them. Rays go through a buffer of 262,144 at a time, float64 rounded once. A single ray gives arrays of shape ().

        ``out`` takes arrays to write into: C-contiguous float32 and uint32 of the leading shape; undefined after an error. For the
        rest see `Options`.

        Raises `RecordError` (a ValueError) that names row and field, ValueError, TypeError, `PrecisionError`, `DeviceError`,
        MemoryError, and KeyboardInterrupt soon after Ctrl-C.
        """
        given, asked, batch = self._ask("closest", rays, directions, t_min, t_max, options)
        t, id = _out.arrays(out, given.shape, Hits, ("f4", "u4"), batch)
        told = self._native.closest(batch, asked.policies, t.reshape(-1), id.reshape(-1), asked.progress)
        return _hits(t, id, Report(*told), given)

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
        """For each ray both roots of its closest sphere, never clipped to the ray's ends. Arguments and errors as for `closest`."""
        given, asked, batch = self._ask("interval", rays, directions, t_min, t_max, options)
        found = Interval(*_out.arrays(out, given.shape, Interval, ("f4", "f4", "u4"), batch))
        enter, exit, id = _out.flat(found)
        found.report = Report(*self._native.interval(batch, asked.policies, enter, exit, id, asked.progress))
        return found

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
        """For each ray where it passes nearest to a surface, within its ends: the least clearance, then the least t, then the lowest id.

        Of the policies only ``precision`` and ``on_bad`` matter. Arguments and errors as for `closest`.
        """
        given, asked, batch = self._ask("approach", rays, directions, t_min, t_max, options)
        found = Approach(*_out.arrays(out, given.shape, Approach, ("f4", "f4", "u4"), batch))
        t, clearance, id = _out.flat(found)
        found.report = Report(*self._native.approach(batch, asked.policies, t, clearance, id, asked.progress))
        return found

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
        """For each ray whether it meets any sphere: (…) bool. Arguments and errors as for `closest`."""
        return self._bare("occluded", rays, directions, t_min, t_max, out, options)[0]

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
        """For each ray how many spheres it meets: (…) uint32. Arguments and errors as for `closest`."""
        return self._bare("count", rays, directions, t_min, t_max, out, options)[0]

    def all(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> Lists:
        """For each ray every sphere it meets, with both raw roots, in order of (t, id). Arguments and errors as for `closest`."""
        return self._lists("all", None, rays, directions, t_min, t_max, options)

    def nearest(
        self,
        rays: ArrayLike | Any,
        directions: ArrayLike | None = None,
        *,
        k: int,
        t_min: ArrayLike | None = None,
        t_max: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> Lists:
        """For each ray the first ``k`` of `all`, or all when there are fewer. Arguments and errors as for `closest`."""
        k = _validate.whole("k", k, 1, 0xFFFF_FFFF)
        return self._lists("nearest", k, rays, directions, t_min, t_max, options)

    def contains(
        self,
        points: ArrayLike | Any,
        *,
        out: Holders | tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None,
        **options: Unpack[PointOptions],
    ) -> Holders:
        """For each point, (…, 3) or a table with columns x, y, z, how many spheres hold it, surfaces included, and the lowest id.

        Spheres that move are where they are at the point's own of ``times`` (default 0). For the rest see `PointOptions`.
        """
        shape, records, rounded, largest = _input.records("points", "point", points, _input.POINT, self.origin)
        asked = taken("contains", shape, dict(options), POINT_OPTIONS)
        found = Holders(*_out.arrays(out, shape, Holders, ("u4", "u4"), (records,)))
        count, id = _out.flat(found)
        told = self._native.contains(
            records, asked.masks, asked.skip_ids, asked.times, asked.policies, count, id, asked.progress
        )
        found.report = Report(*told[:6], rounded, largest)
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
        """What becomes of points, or balls of ``radii`` (M), that fly straight until they meet a sphere, and glance off it, through up
        to ``bounces`` ricochets.

        ``bullets`` is (M, 7): where each starts, any other point of its way, and how far it flies in a frame, above 0; or a table with
        columns x1, y1, z1, x2, y2, z2, speed and perhaps radius. Starts, ways and points are those of centres. Among spheres that move,
        bullets start at time 0, a frame is a unit of time, and they are followed until ``time_range`` ends. Raises as `closest`,
        and ValueError in scenes that are pairwise, hold ellipsoids, or whose time range does not hold 0.
        """
        table = _tables.columns(bullets)
        if table is not None:
            bullets, radii = table, table.get("radius") if radii is None else radii
        shape, records, rounded, largest = _input.records("bullets", "bullet", bullets, _input.BULLET, self.origin)
        asked = taken(
            "bullets", shape, {"precision": precision, "on_bad": on_bad, "progress": progress}, BULLET_OPTIONS
        )
        bounces = _validate.whole("bounces", bounces, 1, 0xFFFF_FFFF)
        offsets, status, id, distance, frames, point, angle, velocity, told = _umbracast.bullets(
            self._native, records, column("radii", radii, shape, np.float32), bounces, asked.policies, asked.progress
        )
        points = self._put_back(point.reshape(-1, 3))
        found = Flights(offsets, status, id, distance, frames, points, angle, velocity.reshape(-1, 3))
        found.report = Report(*told[:6], rounded, largest)
        return found

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
        """What each hit of `closest` was like, for the same rays: point, normal, angle and distance. NaN on a miss.

        ``times``, ``radii`` and ``motion`` are those of the query that found the hits. Of spheres that move, point and normal are
        where the sphere then is, and the angle is as the sphere sees the ray; a ray with a radius touches the sphere at the point.
        Computed in float64 from the foot of the perpendicular: points do not inherit the error of ``t``. ValueError for ellipsoids.
        """
        given, asked, batch = self._ask("attributes", rays, directions, t_min, t_max, options, HIT_OPTIONS)
        if not isinstance(hits, tuple) or len(hits) != 2:
            raise TypeError(f"hits must be those of closest, or a tuple of t and id, and are {type(hits).__name__}")
        shapes = [np.shape(part) for part in hits]
        if shapes != [given.shape, given.shape]:
            raise ValueError(f"hits have shape {shapes[0]} and {shapes[1]}, and the rays {given.shape}")
        t, id = column("hits.t", hits[0], given.shape, np.float32), column("hits.id", hits[1], given.shape, np.uint32)
        assert t is not None and id is not None
        point, normal, angle, distance = _umbracast.attributes(self._native, batch, asked.policies, t, id)
        vectors = (*given.shape, 3)
        return Attributes(
            self._put_back(point.reshape(vectors)),
            normal.reshape(vectors),
            angle.reshape(given.shape),
            distance.reshape(given.shape),
        )

    def _put_back(self, points: NDArray[np.float32]) -> NDArray[np.float32] | NDArray[np.float64]:
        """Points in the coordinates of those who asked: the origin that was subtracted is added again, in float64. An origin of zeros,
        which "auto" may find, has the same type as any other."""
        return points + np.array(self.origin) if self._has_origin else points

    def _ask(
        self,
        verb: str,
        rays: Any,
        directions: Any,
        t_min: Any,
        t_max: Any,
        options: Any,
        allowed: frozenset[str] = OPTIONS,
    ) -> tuple[_input.Given, Asked, _input.Batch]:
        given = _input.rays(rays, directions, t_min, t_max)
        if any(self.origin) and given.records is not None:
            # The origin is subtracted from what goes through the buffer.
            given = given._replace(records=None, columns=given.as_columns())
        asked = taken(verb, given.shape, dict(options), allowed)
        return given, asked, _input.batch(given, self.origin, asked)

    def _bare(
        self, verb: str, rays: Any, directions: Any, t_min: Any, t_max: Any, out: Any, options: Any
    ) -> tuple[NDArray[Any], Report]:
        """An answer that is an array, which has no place for a report, and the report."""
        given, asked, batch = self._ask(verb, rays, directions, t_min, t_max, options)
        (found,) = _out.arrays(out, given.shape, None, (BARE[verb],), batch)
        told = getattr(self._native, verb)(batch, asked.policies, found.reshape(-1), asked.progress)
        return found, Report(*told)

    def _lists(
        self, verb: str, k: int | None, rays: Any, directions: Any, t_min: Any, t_max: Any, options: Any
    ) -> Lists:
        _, asked, batch = self._ask(verb, rays, directions, t_min, t_max, options)
        offsets, enter, exit, id, told = _umbracast.lists(self._native, batch, asked.policies, k, asked.progress)
        found = Lists(offsets, enter, exit, id)
        found.report = Report(*told)
        return found


def _remade(
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
    """A scene from what was pickled: the origin has been subtracted."""
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
        scene.origin, scene._has_origin = origin, True
    return scene
