"""Ray queries on a Ray Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike
from ray.data import Dataset

from .._input import RAY
from .._options import Policies
from .._spheres import Origin
from .._tables import OPTIONAL
from ._actors import Caster, Concurrency, check_columns, map_parts, plan_workers
from ._query import QuerySpec, parse_query
from ._partition import prepare_parts

if TYPE_CHECKING:
    from .._queries import Query

BATCH = 1 << 20
"""Default number of rays per batch on GPUs. Ray Data requires a batch size there."""


def cast(
    dataset: Dataset,
    spheres: ArrayLike | Any,
    *,
    query: Query = "closest",
    k: int | None = None,
    keep: list[str] | None = None,
    num_gpus: float | None = None,
    num_cpus: float | None = None,
    concurrency: Concurrency = None,
    batch_size: int | None = None,
    parts: int = 1,
    device: str | int | None = None,
    memory: int | None = None,
    radii: ArrayLike | None = None,
    rotations: ArrayLike | None = None,
    masks: ArrayLike | None = None,
    velocities: ArrayLike | None = None,
    transmittances: ArrayLike | None = None,
    time_range: tuple[float, float] = (0.0, 1.0),
    origin: Origin | Literal["auto"] | None = None,
    builder: Literal["auto", "cpu", "gpu"] = "auto",
    inside: Literal["enter", "exit", "ignore"] = "enter",
    touch: Literal["hit", "miss"] = "hit",
    ends: Literal["closed", "half-open"] = "closed",
    precision: Literal["fast", "standard", "exact"] = "standard",
    on_bad: Literal["refuse", "skip"] = "refuse",
    motion: Literal["at-time", "with-ray"] = "at-time",
    near: Literal["auto", "pass", "block"] = "auto",
) -> Dataset:
    """Add the results of a query to the rays of a dataset, lazily, with ``map_batches`` and one scene per actor.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Columns ox, oy, oz, dx, dy, dz and optionally t_min, t_max, mask, skip_id (null skips none), time, radius, of floats or
        integers. Other columns, such as a key of your own, are kept.
    spheres, radii, rotations, masks, velocities, transmittances, time_range, origin, builder
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
        Resources per actor. An actor processes as many batches at once as it has CPUs: while one is cast, others are read and written.
        With ``num_gpus`` it casts on the GPU that Ray assigned to it (default ``num_cpus``: 1). Without, it casts with ``num_cpus``
        threads of the CPU engine (default: all CPUs of a node but one).
    concurrency : int or (int, int), optional
        Number of actors per part, or its minimum and maximum. Default: as many as the cluster has room for now, with one CPU left free
        for Ray Data's own tasks, which read and write; without a free CPU they would wait forever.
    batch_size : int, optional
        Rays per batch. Default: one block of the dataset; on GPUs 2²⁰.
    parts : int, default 1
        Number of parts to split the spheres into, by ranges of the Morton order, for scenes larger than a device. Each part has its own
        actors, and every ray goes through all parts. For "closest", "occluded", "count" and "approach".
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
    Results depend only on the spheres, the ray and the options, not on batches, actors or parts. Ray Data does not preserve the order of
    rows unless told to (``DataContext.execution_options.preserve_order``): join by a column of your own. Batches of an actor or node that
    died are repeated, and each row appears exactly once.
    """
    spec = parse_query(query, k, parts, Policies(inside, touch, ends, precision, on_bad, motion, near))
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}: it must be at least 1")
    keep = None if keep is None else list(keep)
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None:
        check_ray_columns(list(schema.names), keep, spec)
    config, split = prepare_parts(
        spheres,
        spec,
        parts,
        radii=radii,
        rotations=rotations,
        masks=masks,
        velocities=velocities,
        transmittances=transmittances,
        time_range=time_range,
        origin=origin,
        builder=builder,
        memory=memory,
    )
    pool = plan_workers(concurrency, num_cpus, num_gpus, parts, 1, 1 << 30)
    size = BATCH if batch_size is None and num_gpus else batch_size
    job = (config, spec, device)
    return map_parts(dataset, Caster, pool, split, job, (keep,), batch_size=size, udf_modifying_row_count=False)


def check_ray_columns(names: list[str], keep: list[str] | None, spec: QuerySpec) -> None:
    """Raise ValueError if a required column of rays is missing, or if `check_columns` refuses the columns."""
    missing = [name for name in RAY if name not in names and name not in OPTIONAL]
    if missing:
        raise ValueError(f"rays: column {missing[0]!r} is missing; existing columns: {', '.join(names) or 'none'}")
    check_columns(names, keep, spec)
