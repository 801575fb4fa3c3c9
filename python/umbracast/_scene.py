"""Scenes: spheres on a device."""

from __future__ import annotations

import os
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _input, _spheres, _tables, _umbracast, _validate
from ._devices import Device, open_device
from ._options import column
from ._queries import Queries
from ._results import Update
from ._rounding import Rounding
from ._spheres import Origin, SphereInputs

if sys.version_info >= (3, 11):
    from typing import Self
elif TYPE_CHECKING:
    from typing_extensions import Self


_READ_ARGUMENTS = {
    "--ignore-extra or --keep": "ignore_extra=True",
    "--ignore-extra": "ignore_extra=True",
    "--sphere-radius": "radius=RADIUS",
    "--unknown-atoms RADIUS": "unknown_atoms=RADIUS",
}
"""Options of the command line in messages about files, and the arguments of `Scene.read`."""


class Scene(Queries):
    """Spheres, resident on a device, that rays are cast against.

    Parameters
    ----------
    spheres : (N, 4) array, or a table with columns x, y, z, r
        Centres and radii, in any unit. The row is the id of the sphere. float32 is used as it is, float64 is rounded once.
        A table may also have columns vx, vy, vz, mask and transmittance. An unknown column is an error, and so is one that is given as
        an argument, too. With ``semi_axes``: (N, 3), the centres of ellipsoids.
    semi_axes : (N, 3) array, optional
        Semi-axes of ellipsoids along their own axes, > 0, the longest at most 2²⁰ times the shortest. In a table: columns rx, ry, rz
        instead of r.
    rotations : (N, 4) array or scipy.spatial.transform.Rotation, optional
        Quaternions w, x, y, z of any length except zero that rotate the ellipsoids' own axes into those of the scene, or rotations of
        SciPy. In a table: columns qw, qx, qy, qz. Default: not rotated.
    device : str, int or `Device`, optional
        Device to use; see `Device`. A device that is named is opened once per process, and then shared. Default: the environment variable
        UMBRACAST_DEVICE, or "auto" if it is unset.
    masks : (N,) integers, optional
        A ray can hit a sphere only if their masks share a bit. Default: all bits.
    velocities : (N, 3) array, optional
        Velocities of the centres: at time t a centre is at ``center + t · velocity``. Queries use times within ``time_range``.
    transmittances : (N,) array or number, optional
        Fraction of light that each sphere lets through, from 0 (opaque) to 1 (invisible), for `transmittance`. float64 is rounded to
        float32. Default: all are opaque.
    time_range : (float, float), default (0, 1)
        First and last time at which moving spheres may be queried, in the time unit of the velocities.
    origin : three numbers, "auto" or rays, optional
        Subtracted in float64 from all coordinates of spheres, rays and points before they are rounded, for coordinates in the
        millions. "auto" is the centre of the AABB of all spheres, or of the bounding spheres of all ellipsoids. Rays, an (M, 6) or
        (M, 8) array or a table, or their starts, (M, 3): the same, or a point near their starts if that keeps more digits, as for an eye
        above a planet in metres. Default: none.
    pairwise : bool, default False
        Cast ray i against sphere i only.
    precision : {"auto", "fast", "standard", "exact"}, default "auto"
        Precision that the device must guarantee: the device "auto" skips GPUs that cannot. The precision "auto" is every precision.

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
    Scenes of ellipsoids support `closest`, `interval`, `occluded`, `count`, `transmittance`, `all`, `nearest` and `contains`. They raise
    ValueError for other queries and for rays with a radius, and `PrecisionError` for ``precision="exact"``.

    A RuntimeWarning says if rounding to float32 changed positions, radii, velocities, times or ends of rays by more than a thousandth of the
    smallest radius, or moved the starts of rays by more than a thousandth of their distance from the nearest surface, in the mean over a
    sample. The queries of a scene warn once.

    Several threads can use a scene at once. Pickling stores the spheres and options; unpickling opens the device and builds the BVH again.
    """

    def __init__(
        self,
        spheres: ArrayLike | Any,
        *,
        semi_axes: ArrayLike | None = None,
        rotations: ArrayLike | None = None,
        device: Device | str | int | None = None,
        masks: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        transmittances: ArrayLike | None = None,
        time_range: tuple[float, float] = (0.0, 1.0),
        origin: Origin | Literal["auto"] | ArrayLike | Any | None = None,
        pairwise: bool = False,
        precision: Literal["auto", "fast", "standard", "exact"] = "auto",
    ) -> None:
        inputs = SphereInputs(spheres, semi_axes, rotations, masks, velocities, transmittances)
        inputs = _spheres.sphere_inputs(inputs)
        self._origin: Origin = _spheres.parse_origin(origin, inputs.spheres, inputs.semi_axes, inputs.rotations)
        self._has_origin = origin is not None
        self._starts_left = 1024
        self._is_rounding_known = False
        given, self._rounding, self._smallest = self._given(inputs)
        self._options = (_validate.numbers("time_range", time_range, 2), bool(pairwise))
        self._device = open_device(device, precision)
        self._handle: _umbracast.Scene | None = _umbracast.Scene(
            self._device._native, given, list(self._options[0]), bool(pairwise)
        )

    @classmethod
    def from_points(cls, points: ArrayLike | Any, radius: ArrayLike, **arguments: Any) -> Self:
        """Create a scene of spheres around points, as of a point cloud or of particles.

        Parameters
        ----------
        points : (N, 3) array, or a table with columns x, y, z
            Centres of the spheres. A table may also have the optional columns of spheres, such as mask.
        radius : float or (N,) array
            Radius of all spheres, or of each.
        **arguments
            Keyword arguments of `Scene`, such as ``device``.
        """
        table, sizes = _tables.columns(points), _validate.floats("radius", radius)
        if table is None:
            centers = _validate.floats("points", points)
            if centers.ndim != 2 or centers.shape[1] != 3:
                raise ValueError(f"points must have shape (N, 3), not {centers.shape}")
            table = dict(zip(_input.POINT, centers.T, strict=True))
        for own in table.keys() & {"r", "radius"}:
            _validate.check_once("radius", sizes, own)
        shape = np.shape(next(iter(table.values()), ()))
        if sizes.shape not in ((), shape):
            raise ValueError(f"radius must be a number or have shape {shape}, not {sizes.shape}")
        return cls({**table, "r": np.broadcast_to(sizes, shape)}, **arguments)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        radius: float | None = None,
        unknown_atoms: float | None = None,
        models: Literal["first", "all"] = "first",
        ignore_extra: bool = False,
        masks: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        transmittances: ArrayLike | None = None,
        origin: Origin | Literal["auto"] | ArrayLike | Any | None = None,
        **arguments: Any,
    ) -> Self:
        """Read the spheres of a file, as the command line does: ``.npy``, ``.npz``, ``.csv``, ``.ply``, ``.xyz``, ``.pdb``, ``.f32``, ``.spheres``.

        The columns of a file may have masks, velocities, transmittances, and the shapes of ellipsoids. Ids are rows of the file. An atom
        that is left out, such as an alternate location, keeps its row: its mask is 0, so ``scene.spheres[scene.masks != 0]`` are the others.

        Parameters
        ----------
        path : str or path
            The file. For ``.parquet``, pass the frame of ``pandas.read_parquet`` to `Scene`.
        radius : float, optional
            Radius of all spheres of a file of points.
        unknown_atoms : float, optional
            Radius of atoms of unknown elements. By default they are left out, with a RuntimeWarning.
        models : {"first", "all"}, default "first"
            Which models of a ``.pdb``, or frames of a ``.xyz``, to read. A RuntimeWarning says if there are more.
        ignore_extra : bool, default False
            Whether to ignore unknown columns. By default they are an error, because a misspelt one would otherwise go unnoticed.
        masks, velocities, transmittances : arrays, optional
            As for `Scene`, if the file has no such columns. Masks of atoms that are left out stay 0.
        origin : three numbers, "auto" or rays, optional
            As for `Scene`; it is subtracted from all digits of the file.
        **arguments
            Keyword arguments of `Scene`: device, time_range, pairwise, precision.

        Raises
        ------
        FileNotFoundError, OSError
            If the file does not exist or cannot be read.
        ValueError
            For an invalid file; the message names file, row and column.
        TypeError
            For an argument whose values the file has, too.
        """
        if models not in ("first", "all"):
            raise ValueError(f"models must be 'first' or 'all', not {models!r}")
        if Path(path).suffix.lower() == ".parquet":
            raise ValueError(f"{path}: Scene.read reads no Parquet: pass the frame of pandas.read_parquet to Scene")
        for name in ("semi_axes", "rotations"):
            if arguments.get(name) is not None:
                remedy = "read first, then scene.update(scene.spheres[:, :3] + scene.origin, semi_axes=…, rotations=…)"
                raise TypeError(f"{name} must be columns of the file ({', '.join(_spheres.PARTS[name])}); or {remedy}")

        starts = _spheres.starts_of(origin)
        start = _spheres.parse_origin(origin, None, None, None) if starts is None else starts
        try:
            found: Any = _umbracast.read_spheres(
                Path(path), start, radius, unknown_atoms, models == "all", bool(ignore_extra)
            )
        except ValueError as error:
            if type(error) is not ValueError:
                raise
            # There is only one file.
            message = re.sub("; the order of the files is SPHERES, then [A-Z]+( or POINTS)?", "", str(error))
            for option, argument in _READ_ARGUMENTS.items():
                message = message.replace(option, argument)
            raise ValueError(message) from None
        chosen, spheres, shapes, own_masks, own_velocities, own_transmittances, changes, left_out = found
        for line in left_out:
            warnings.warn(f"{path}: {line}", RuntimeWarning, stacklevel=2)
        if masks is not None and own_masks is not None and Path(path).suffix.lower() in (".pdb", ".xyz"):
            # A file of atoms has no masks: these are of atoms that are left out.
            masks = own_masks & column("masks", masks, own_masks.shape, np.uint32)[0]
            own_masks = None
        if own_velocities is not None:
            own_velocities = own_velocities.reshape(-1, 3)
        optional = (
            _spheres.one_of("masks", masks, own_masks),
            _spheres.one_of("velocities", velocities, own_velocities),
            _spheres.one_of("transmittances", transmittances, own_transmittances),
        )
        given = None if origin is None else (chosen[0], chosen[1], chosen[2])
        scene = cls._of_parts(spheres.reshape(-1, 4), _spheres.split_shapes(shapes), *optional, given, **arguments)
        rounding = Rounding(*changes)
        scene._rounding = rounding.joined(scene._rounding)
        scene._warn_if_coarse(rounding, scene._smallest, 2)
        return scene

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

    def _given(self, inputs: SphereInputs, centers: bool = False) -> tuple[_input.Spheres, Rounding, float]:
        """Return the spheres, how rounding changed them, and the smallest radius."""
        spheres, semi_axes, rotations, masks, velocities, transmittances = inputs
        turned = None
        if semi_axes is not None:
            width = 3
            shape, records, turned, rounding = _input.ellipsoids(spheres, semi_axes, rotations, self._origin)
        else:
            if not isinstance(spheres, dict) and not centers and (given := np.shape(spheres))[-1:] == (3,):
                remedy = "for points, use Scene.from_points(points, radius); ellipsoids need semi_axes="
                raise ValueError(f"spheres must have shape (N, 4) with x, y, z and radius, not {given}: {remedy}")
            kind, fields = ("center", _input.POINT) if centers else ("sphere", _input.SPHERE)
            width = len(fields)
            shape, records, rounding = _input.records("spheres", kind, spheres, fields, self._origin)
        if len(shape) != 1:
            raise ValueError(f"spheres must have shape (N, {width}), not {(*shape, width)}")
        if velocities is not None:
            there, velocities, changed = _input.records(
                "velocities", "velocity", velocities, _spheres.VELOCITY, (0.0, 0.0, 0.0)
            )
            rounding = rounding.joined(changed)
            if there != shape:
                raise ValueError(f"velocities must have shape {(*shape, 3)}, not {(*there, 3)}")
        masks, _ = column("masks", masks, shape, np.uint32)
        transmittances, changed = column("transmittances", transmittances, shape, np.float32)
        rounding = rounding.joined(changed)
        # New centres of ellipsoids have no radii, which stay as they were.
        smallest = self._smallest if centers else _spheres.smallest_radius(records)
        self._warn_if_coarse(rounding, smallest, 3)
        return _input.Spheres(records, turned, masks, velocities, transmittances), rounding, smallest

    def _warn_if_coarse(self, rounding: Rounding, smallest: float, stacklevel: int) -> None:
        remedy = ": choose an origin nearer to the spheres" if self._has_origin else ": origin='auto' keeps more digits"
        rounding.warn_if_coarse(smallest, remedy, stacklevel + 1)

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
        """Number of values given last for the spheres that float32 could not represent, and that were rounded."""
        return self._rounding.changed

    @property
    def largest_rounding(self) -> float:
        """Largest rounding of these values, in the unit of the spheres."""
        return self._rounding.largest

    @property
    def spheres(self) -> NDArray[np.float32]:
        """(N, 4) float32: a copy of the centres and radii in use, relative to ``origin``. For ellipsoids: their bounding spheres.

        An atom that `read` left out has a copy of another atom in its row, and 0 in `masks`.
        """
        return self._native.parts()[0].reshape(-1, 4)

    @property
    def masks(self) -> NDArray[np.uint32] | None:
        """(N,) uint32: a copy of the masks, or None if all have all bits. No ray hits a sphere with mask 0."""
        return self._native.parts()[1]

    @property
    def shapes(self) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        """For ellipsoids: copies of the semi-axes, (N, 3) float32, and the rotations, (N, 4) float32. For spheres: None."""
        return _spheres.split_shapes(self._native.parts()[3])

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<umbracast.Scene, closed>"
        kind = "ellipsoids" if self._native.has_ellipsoids() else "spheres"
        return f"<umbracast.Scene of {len(self)} {kind} on {self._device.name}>"

    def _parts(self) -> tuple[Any, Any, Any, Any, Any]:
        """Return the spheres, or the centres of ellipsoids, after ``origin`` is subtracted; shapes; masks; velocities; transmittances."""
        spheres, masks, velocities, shape_array, transmittances = self._native.parts()
        spheres, shapes = spheres.reshape(-1, 4), _spheres.split_shapes(shape_array)
        if shapes is not None:
            spheres = spheres[:, :3]
        velocities = None if velocities is None else velocities.reshape(-1, 3)
        return spheres, shapes, masks, velocities, transmittances

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle_scene, (type(self), self._rounding, *self._parts(), self._given_origin(), self._device, *self._options))

    @classmethod
    def _of_parts(
        cls,
        spheres: NDArray[np.float32],
        shapes: tuple[NDArray[np.float32], NDArray[np.float32]] | None,
        masks: Any,
        velocities: Any,
        transmittances: Any,
        origin: Origin | None,
        **arguments: Any,
    ) -> Self:
        """Make a scene of the result of `_parts`, from whose coordinates the origin is subtracted already."""
        semi_axes, rotations = (None, None) if shapes is None else shapes
        scene = cls(
            spheres if shapes is None else spheres[:, :3],
            semi_axes=semi_axes,
            rotations=rotations,
            masks=masks,
            velocities=velocities,
            transmittances=transmittances,
            **arguments,
        )
        if origin is not None:
            scene._origin, scene._has_origin = origin, True
        return scene

    def _given_origin(self) -> Origin | None:
        """Return ``origin``, or None if the scene was made without one."""
        return self.origin if self._has_origin else None

    def update(
        self,
        spheres: ArrayLike | Any,
        *,
        semi_axes: ArrayLike | None = None,
        rotations: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        transmittances: ArrayLike | None = None,
    ) -> Update:
        """Replace all spheres by the same number of new ones. Masks, velocities and transmittances are kept unless new ones are given.

        With centres only, (N, 3) or a table with columns x, y, z, spheres keep their radii, and ellipsoids their
        semi-axes and rotations. With new ``semi_axes`` they are rotated by ``rotations``, or not at all if there are none.

        Queries that run in other threads finish with the old spheres. The BVH keeps its nodes and is refitted. If that makes queries slower
        by a quarter or more, the CPU engine builds a new one; on a GPU, the result suggests to call `rebuild`. After an error the scene
        is unchanged.

        Parameters
        ----------
        spheres, semi_axes, rotations, masks, velocities, transmittances
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
        inputs = SphereInputs(spheres, semi_axes, rotations, masks, velocities, transmittances)
        inputs = _spheres.sphere_inputs(inputs)
        centers = inputs.semi_axes is None and _spheres.are_centers(inputs.spheres)
        if centers and not self._native.has_ellipsoids():
            shape, columns = _input.split("spheres", inputs.spheres, {3: _input.POINT}, _input.POINT)
            if shape != (len(self),):
                raise ValueError(f"centres of {len(self)} spheres must have shape ({len(self)}, 3), not {(*shape, 3)}")
            columns.append(self.spheres[:, 3])
            inputs, centers = inputs._replace(spheres=dict(zip(_input.SPHERE, columns, strict=True))), False
        given, rounding, smallest = self._given(inputs, centers)
        done = Update(*self._native.update(given))
        self._rounding, self._smallest = rounding, smallest
        return done

    def rebuild(self) -> None:
        """Rebuild the BVH for the current spheres. Results do not change; queries may become faster. Raises device errors as `update`."""
        self._native.rebuild()


def _unpickle_scene(*arguments: Any) -> Scene:
    """Rebuild a pickled scene from its class, its rounding, the parts that `Scene._of_parts` takes, its device, and its options."""
    kind, rounding, *parts, device, time_range, pairwise = arguments
    scene: Scene = kind._of_parts(*parts, device=device, time_range=time_range, pairwise=pairwise)
    scene._rounding = rounding
    return scene
