"""Rays of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike
from ray.data import Dataset

from .._input import RAY
from .._options import Policies
from .._spheres import Origin
from .._tables import OPTIONAL
from ._actors import Caster, Concurrency, free, pool, through
from ._query import Question, question
from ._partition import checked

if TYPE_CHECKING:
    Query = Literal["closest", "occluded", "interval", "count", "all", "nearest", "approach"]

BATCH = 1 << 20
"""Rays of a batch on GPUs, for which Ray Data wants a number."""


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
    time_range: tuple[float, float] = (0.0, 1.0),
    origin: Origin | Literal["auto"] | None = None,
    builder: Literal["auto", "cpu", "gpu"] = "auto",
    inside: Literal["enter", "exit", "ignore"] = "enter",
    touch: Literal["hit", "miss"] = "hit",
    ends: Literal["closed", "half-open"] = "closed",
    precision: Literal["fast", "standard", "exact"] = "standard",
    on_bad: Literal["refuse", "skip"] = "refuse",
    motion: Literal["at-time", "with-ray"] = "at-time",
) -> Dataset:
    """Puts the answers to a query beside the rays of a dataset, lazily, by ``map_batches`` with one scene an actor.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Columns ox, oy, oz, dx, dy, dz and perhaps t_min, t_max, mask, skip_id (null skips none), time, radius, of floating point or
        whole numbers; any others, such as a key of yours, come along.
    spheres, radii, rotations, masks, velocities, time_range, origin, builder
        As `umbracast.Scene` takes them. They are checked here and sent to each node once.
    query : str
        A verb of `umbracast.Scene`: "closest" (columns ``t``, ``id``), "occluded" (``occluded``), "interval" (``t_enter``,
        ``t_exit``, ``id``), "count" (``count``), "all", "nearest" with ``k`` (lists ``t_enter``, ``t_exit``, ``id``), "approach" (``t``,
        ``clearance``, ``id``). A miss is null.
    keep : list of str, optional
        The columns of the rays that stay beside the answers. Default: all.
    num_gpus, num_cpus : float, optional
        What each actor takes. It has as many batches under way as CPUs: while one is cast others are read and written. With
        ``num_gpus`` it casts on the GPU that Ray gave to it (``num_cpus`` 1 by default), else by so many threads of the CPU engine
        (by default all CPUs of a node but one).
    concurrency : int or (int, int), optional
        How many actors a part has, or how few and many. Default: as many as the cluster has room for now, with a CPU left free
        for what reads and writes; with none free Ray Data would wait for ever.
    batch_size : int, optional
        Rays of a batch. Default: a block as it comes; on GPUs 2²⁰.
    parts : int
        Cuts the spheres by ranges of the Morton curve, for scenes larger than a device. Each part has actors of its own, and every
        ray goes through all of them: for "closest", "occluded", "count" and "approach".
    device : str or int, optional
        Where actors cast, if Ray is not to decide: as `umbracast.Device` takes it.
    memory : int, optional
        How many bytes a scene and a query may take on a device.
    inside, touch, ends, precision, on_bad, motion
        As the verbs of `umbracast.Scene` take them. With ``on_bad="skip"`` rays that cannot be used miss.

    Answers depend on nothing but the spheres, the ray and the options: not on batches, actors or parts. Ray Data does not keep the
    order of rows unless told to (``DataContext.execution_options.preserve_order``): join by a column of your own. Batches of an
    actor or a node that died are done again, and each row is there once.

    Raises what `umbracast.Scene` raises about spheres and words, at once; ValueError about columns, at once where the dataset knows them,
    and else, as about rays, as ``ray.exceptions.RayTaskError`` when the dataset is read (its ``cause`` is a `umbracast.RecordError` with
    the row).
    """
    asked = question(query, k, parts, Policies(inside, touch, ends, precision, on_bad, motion))
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}: it must be 1 at least")
    keep = None if keep is None else list(keep)
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None:
        suit(list(schema.names), keep, asked)
    site, cut = checked(
        spheres,
        asked,
        parts,
        radii=radii,
        rotations=rotations,
        masks=masks,
        velocities=velocities,
        time_range=time_range,
        origin=origin,
        builder=builder,
        memory=memory,
    )
    hands = pool(concurrency, num_cpus, num_gpus, parts, 1, 1 << 30)
    size = BATCH if batch_size is None and num_gpus else batch_size
    job = (site, asked, device)
    return through(dataset, Caster, hands, cut, job, (keep,), batch_size=size, udf_modifying_row_count=False)


def suit(names: list[str], keep: list[str] | None, question: Question) -> None:
    """Refuses columns that are no rays."""
    missing = [name for name in RAY if name not in names and name not in OPTIONAL]
    if missing:
        raise ValueError(f"rays: column {missing[0]!r} is missing; there are {', '.join(names) or 'none'}")
    free(names, keep, question)
