"""Ray queries on a cluster: actors of Ray Data, each with a scene, cast batches of a Ray Dataset.

::

    import ray, umbracast.ray_data

    rays = ray.data.read_parquet("rays/")                              # columns ox, oy, oz, dx, dy, dz
    hits = umbracast.ray_data.cast(rays, spheres, num_gpus=1)          # adds columns t and id
    hits.write_parquet("hits/")

Needs Ray Data: ``pip install "umbracast[ray]"``.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from . import _devices
from ._errors import RecordError
from ._input import RAY
from ._options import NO_SPHERE, RAY_COLUMNS, Policies
from ._queries import Query
from ._results import HitLists
from ._scene import Scene
from ._spheres import Origin
from ._tables import OPTIONAL

try:
    import pyarrow as pa  # type: ignore[import-untyped]
    import ray
    from ray.data import ActorPoolStrategy, Dataset
except ImportError as error:
    raise ImportError(f'umbracast.ray_data needs Ray Data: pip install "ray[data]" pyarrow ({error})') from error

__all__ = ["cast"]


def cast(
    dataset: Dataset,
    spheres: ArrayLike | Any,
    *,
    query: Query = "closest",
    k: int | None = None,
    keep: list[str] | None = None,
    num_gpus: float | None = None,
    num_cpus: float | None = None,
    concurrency: int | tuple[int, int] | None = None,
    batch_size: int | None = None,
    device: str | int | None = None,
    memory: int | None = None,
    semi_axes: ArrayLike | None = None,
    rotations: ArrayLike | None = None,
    masks: ArrayLike | None = None,
    velocities: ArrayLike | None = None,
    transmittances: ArrayLike | None = None,
    time_range: tuple[float, float] = (0.0, 1.0),
    origin: Origin | Literal["auto"] | None = None,
    inside: Literal["enter", "exit", "ignore"] = "enter",
    touch: Literal["hit", "miss"] = "hit",
    ends: Literal["closed", "half-open"] = "closed",
    precision: Literal["auto", "fast", "standard", "exact"] = "auto",
    on_bad: Literal["refuse", "skip"] = "refuse",
    motion: Literal["at-time", "with-ray"] = "at-time",
    near: Literal["auto", "pass", "block"] = "auto",
) -> Dataset:
    """Add the results of a query to the rays of a dataset, lazily, with ``map_batches`` and one scene per actor.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Columns ox, oy, oz, dx, dy, dz and optionally t_min, t_max, mask, skip_id, from_id (null is none), time, radius, of floats or
        integers. Other columns, such as a key of your own, are kept.
    spheres, semi_axes, rotations, masks, velocities, transmittances, time_range, origin
        As for `umbracast.Scene`. They are validated here and sent to each node once.
    query : str, default "closest"
        A query of `umbracast.Scene`. The result columns have the names of its arrays, such as ``t`` and ``id``; a query with a plain array
        has one column with the name of the query. "all" and "nearest" with ``k`` have lists ``t_enter``, ``t_exit``, ``id``. A miss is
        null.
    k : int, optional
        Maximum number of hits per ray, for "nearest" only.
    keep : list of str, optional
        Columns of the rays to keep in addition to the results. Default: all.
    num_gpus, num_cpus : float, optional
        Resources per actor. With ``num_gpus`` it casts on the GPU that Ray assigned to it, else with ``num_cpus`` threads (default 1) of
        the CPU engine. Leave CPUs free for Ray Data's own tasks, which read and write: without one they wait forever.
    concurrency : int or (int, int), optional
        Number of actors, or its minimum and maximum. Default: as many as Ray Data finds useful.
    batch_size : int, optional
        Rays per batch. Default: one block of the dataset; on GPUs 2²⁰.
    device : str or int, optional
        Device that the actors cast on instead of the one that Ray assigns; see `umbracast.Device`.
    memory : int, optional
        Number of bytes that a scene and a query may use on a device.
    inside, touch, ends, precision, on_bad, motion, near
        Policies, as for the queries of `umbracast.Scene`. With ``on_bad="skip"`` invalid rays are misses.

    Returns
    -------
    ray.data.Dataset
        The kept columns and the result columns.

    Raises
    ------
    RecordError, TypeError, ValueError and others
        At once, as `umbracast.Scene`, for invalid spheres or options.
    ValueError
        For missing or duplicate columns; at once if the dataset knows its columns.
    ray.exceptions.RayTaskError
        When the dataset is read: for invalid rays (its ``cause`` is a `umbracast.RecordError` with the row), and for columns that were not
        known before.

    Notes
    -----
    Results depend only on the spheres, the ray and the options, not on batches or actors. Ray Data does not preserve the order of rows
    unless told to (``DataContext.execution_options.preserve_order``): join by a column of your own. Batches of an actor or node that died
    are repeated, and each row appears exactly once.
    """
    if query not in get_args(Query):
        raise ValueError(f"query is {query!r}: allowed are {', '.join(map(repr, get_args(Query)))}")
    if (k is not None) != (query == "nearest"):
        raise ValueError("k is required for query 'nearest', and allowed for no other")
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}: it must be at least 1")
    least, most = concurrency if isinstance(concurrency, tuple) else (concurrency or 1, concurrency)
    if concurrency is not None and not 1 <= least <= (most or 0):
        raise ValueError(f"concurrency is {concurrency}: it must be at least 1, or (minimum, maximum) in this order")
    policies = Policies(inside, touch, ends, precision, on_bad, motion, near)
    options = policies._asdict() | ({} if k is None else {"k": k})
    # A pairwise scene has no BVH: this only validates and rounds.
    scene = Scene(
        spheres,
        device="cpu",
        semi_axes=semi_axes,
        rotations=rotations,
        masks=masks,
        velocities=velocities,
        transmittances=transmittances,
        time_range=time_range,
        origin=origin,
        pairwise=True,
    )
    parts, times = (*scene._parts(), scene._given_origin()), scene._options[0]
    # One sphere and no rays, so that invalid options fail here and not in every actor.
    few: Any = [tuple(a[:1] for a in one) if isinstance(one, tuple) else one if one is None else one[:1] for one in (*parts[:5], None)]
    own = _devices.Device("cpu", precision=precision, memory=memory)
    tried = Scene._of_parts(*few, device=own, time_range=times)
    added = list(_columns(query, getattr(tried, query)(np.empty((0, 8), np.float32), **options)))
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None:
        _check(list(schema.names), keep, added)
    return dataset.map_batches(
        _Caster,
        fn_constructor_args=(ray.put(parts), times, (device, precision, memory), query, options, keep, added),
        batch_size=1 << 20 if batch_size is None and num_gpus else batch_size,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=num_cpus,
        num_gpus=num_gpus,
        udf_modifying_row_count=False,
    )


class _Caster:
    """Adds the results to batches. The parts of its scene are in the object store, which sends them to each node once."""

    def __init__(self, parts: Any, time_range: Any, device: Any, query: Query, options: Any, keep: Any, added: Any) -> None:
        # The CPU engine reads this once, when it first runs in this process.
        context: Any = ray.get_runtime_context()
        threads = int(context.get_assigned_resources().get("CPU", 1))
        os.environ.setdefault("RAYON_NUM_THREADS", str(max(threads, 1)))
        self.parts, self.time_range, self.device = parts, time_range, device
        self.query, self.options, self.keep, self.added = query, options, keep, added

    @cached_property
    def scene(self) -> Scene:
        # Not in the constructor: Ray would not pass on the type of an exception raised there.
        choice, precision, memory = self.device
        choice = _assigned_device() if choice is None else choice
        device = _devices.Device(choice, precision=precision, memory=memory)
        parts: Any = ray.get(self.parts)
        return Scene._of_parts(*parts, device=device, time_range=self.time_range)

    def __call__(self, batch: pa.Table) -> pa.Table:
        _check(batch.column_names, self.keep, self.added)
        names = [name for name in (*RAY, *RAY_COLUMNS) if name in batch.column_names]
        try:
            rays = {name: _numbers(name, batch[name]) for name in names}
            found = _columns(self.query, getattr(self.scene, self.query)(rays, **self.options))
        except RecordError as error:
            row = ", ".join(f"{name} {value}" for name, value in batch.slice(error.index, 1).to_pylist()[0].items())
            message = f"{error} (counted from the start of a batch; its row: {row})"
            raise RecordError(message, error.what, error.index, error.field, error.value) from None
        if self.keep is not None:
            batch = batch.select([name for name in batch.column_names if name in self.keep])
        for name, column in found.items():
            batch = batch.append_column(name, column)
        return batch


def _check(names: list[str], keep: list[str] | None, added: list[str]) -> None:
    """Raise ValueError if a column of rays or of ``keep`` is missing, or if a kept column has the name of a result column."""
    for what, needed in (("rays", [name for name in RAY if name not in OPTIONAL]), ("keep", keep or [])):
        missing = [name for name in needed if name not in names]
        if missing:
            raise ValueError(f"{what}: column {missing[0]!r} is missing; existing columns: {', '.join(names) or 'none'}")
    twice = [name for name in added if name in (names if keep is None else keep)]
    if twice:
        raise ValueError(
            f"the rays and the results both have a column {twice[0]!r}: rename it, or leave it out of `keep`"
        )


def _numbers(name: str, column: pa.ChunkedArray) -> Any:
    """Return a column of rays, where a null is NaN: the core rejects such a ray and reports its row, or skips it. Masks are no floats."""
    if column.null_count and name == "mask":
        row = int(np.argmax(column.is_null().to_numpy()))
        raise RecordError(f"ray {row}: {name} is null: every row needs a value", "ray", row, name, "null")
    return column.to_numpy()


def _columns(query: str, found: Any) -> dict[str, Any]:
    """Return the results of a query as Arrow columns, where a miss is null."""
    if isinstance(found, np.ndarray):
        return {query: pa.array(found)}
    columns = found._arrays()
    if isinstance(found, HitLists):
        offsets = pa.array(columns.pop("offsets").astype(np.int64))
        return {name: pa.LargeListArray.from_arrays(offsets, pa.array(values)) for name, values in columns.items()}
    return {name: pa.array(values, mask=found.id == NO_SPHERE) for name, values in columns.items()}


def _assigned_device() -> str | int:
    """Return the device that Ray assigned to this actor: a GPU, else the CPU engine.

    Vulkan ignores CUDA_VISIBLE_DEVICES, so this process sees all GPUs of the node. The mapping from Ray's GPU ids to devices is arbitrary,
    as long as different ids get different devices.
    """
    given = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    if not given:
        return "cpu"
    gpus = [about.index for about in _devices.devices() if about.failure is None and about.kind.endswith("GPU")]
    number = int(given[0]) if given[0].isdigit() else 0
    # If there is no GPU, "gpu" opens a software adapter, or its error says what to install, as elsewhere.
    return gpus[number % len(gpus)] if gpus else "gpu"
