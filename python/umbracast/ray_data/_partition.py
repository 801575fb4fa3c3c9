"""Spheres for the workers: validated once, split into parts if one device is too small, and built into scenes by the workers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._devices import Device
from .._scene import Scene, _unpickle_scene
from .._spheres import Origin
from ._query import QuerySpec


class Part(NamedTuple):
    """Some or all spheres of a scene. The workers of a node share these arrays, which are read-only there."""

    ids: NDArray[np.uint32] | None
    """Ids of the spheres in the whole scene, ascending, so that ties of t have the same winner as in the whole scene. None for all."""
    spheres: NDArray[np.float32]
    shapes: tuple[NDArray[np.float32], NDArray[np.float32]] | None
    masks: NDArray[np.uint32] | None
    velocities: NDArray[np.float32] | None
    transmittances: NDArray[np.float32] | None


class SceneConfig(NamedTuple):
    """What workers need in addition to the spheres to build a scene."""

    origin: Origin | None
    time_range: tuple[float, float]
    builder: str
    precision: str
    memory: int | None

    def build(self, part: Part, choice: str | int | None) -> Scene:
        """Build the scene of a part, in the worker."""
        precision: Any = self.precision
        device = Device(choice, precision=precision, memory=self.memory)
        return _unpickle_scene(*part[1:], self.origin, device, self.time_range, False, self.builder)


def prepare_parts(
    spheres: ArrayLike | Any,
    spec: QuerySpec,
    parts: int,
    *,
    builder: Any,
    memory: int | None,
    **arguments: Any,
) -> tuple[SceneConfig, list[Part]]:
    """Validate spheres and options, and split the spheres into parts. ``arguments`` are others of `Scene`. Loads no driver.

    Raises what `umbracast.Scene` raises, and ValueError if there are more parts than spheres.
    """
    # A pairwise scene has no BVH: this only validates and rounds.
    scene = Scene(spheres, device="cpu", pairwise=True, **arguments)
    if parts > max(len(scene), 1):
        raise ValueError(f"parts is {parts}, but there are only {len(scene)} spheres: every part needs at least one")
    whole = Part(None, *scene._parts())
    begin, end = scene._options[0]
    config = SceneConfig(scene._given_origin(), (begin, end), builder, spec.policies.precision, memory)
    _dry_run(config, whole, spec)
    return config, [whole] if parts == 1 else _split(whole, parts)


def _dry_run(config: SceneConfig, whole: Part, spec: QuerySpec) -> None:
    """Run the query on one sphere without rays, so that invalid options fail here and not in every worker."""
    if config.builder not in ("auto", "cpu", "gpu"):
        raise ValueError(f"builder is {config.builder!r}: allowed are 'auto', 'cpu', 'gpu'")
    few = config._replace(builder="auto").build(_select(whole, slice(0, 1)), "cpu")
    options: dict[str, Any] = spec.policies._asdict()
    if spec.k is not None:
        options["k"] = spec.k
    getattr(few, spec.query)(np.empty((0, 8), np.float32), **options)


def _split(whole: Part, parts: int) -> list[Part]:
    """Split the spheres into equal ranges of the Morton order, which keeps neighbours together."""
    order = np.argsort(_morton(whole.spheres[:, :3]), kind="stable")
    return [_select(whole, np.sort(rows)) for rows in np.array_split(order, parts)]


def _select(whole: Part, rows: Any) -> Part:
    def some(array: NDArray[Any] | None) -> Any:
        return None if array is None else np.ascontiguousarray(array[rows])

    ids = rows.astype(np.uint32) if isinstance(rows, np.ndarray) else None
    shapes = None if whole.shapes is None else (some(whole.shapes[0]), some(whole.shapes[1]))
    return Part(
        ids, some(whole.spheres), shapes, some(whole.masks), some(whole.velocities), some(whole.transmittances)
    )


def _morton(centers: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Compute 63-bit Morton codes: 21 bits per coordinate, interleaved."""
    low = centers.min(0).astype(np.float64)
    side = (centers.max(0) - low).max() or 1.0
    cells = np.minimum((centers - low) / side * 2.0**21, 2.0**21 - 1).astype(np.uint64)
    code = np.zeros(len(centers), np.uint64)
    for axis in range(3):
        bits = cells[:, axis]
        for shift, mask in (
            (32, 0x001F00000000FFFF),
            (16, 0x001F0000FF0000FF),
            (8, 0x100F00F00F00F00F),
            (4, 0x10C30C30C30C30C3),
            (2, 0x1249249249249249),
        ):
            bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
        code |= bits << np.uint64(axis)
    return code
