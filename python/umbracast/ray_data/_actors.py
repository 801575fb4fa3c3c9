"""Workers: stateful actors of Ray Data with one scene each, and the number of them that fits into a cluster."""

from __future__ import annotations

import math
import os
from threading import Lock
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import ray
import ray.data
from ray.data import ActorPoolStrategy

from .._input import RAY
from .._errors import RecordError
from .._scene import Scene
from ._query import OPTION_COLUMNS, QuerySpec, from_arrow, merge_results, run_query, to_arrow
from ._partition import Part, SceneConfig

Concurrency = int | tuple[int, int] | None


class Job(NamedTuple):
    """The task of a worker."""

    part: Any
    """Reference to its `Part` in the object store, which sends it to each node once."""
    config: SceneConfig
    spec: QuerySpec
    device: str | int | None
    threads: int
    earlier: bool
    """Whether other parts were queried before this one. Their results are then columns of the table."""
    last: bool
    """Whether this part is the last one to be queried."""


class Worker:
    """A scene that is built once and queried by several threads.

    Its device is the one that the caller chose, else the GPU that Ray assigned to this worker, else the CPU engine.
    """

    def __init__(self, job: Job) -> None:
        # These settings are read once, when the CPU engine or Arrow first runs in this process.
        os.environ.setdefault("RAYON_NUM_THREADS", str(job.threads))
        pa.set_cpu_count(job.threads)
        self.job = job
        self.scene: Scene | None = None
        self.opening = Lock()

    def opened(self) -> Scene:
        # Not in the constructor: Ray would not pass on the type of an exception raised there.
        with self.opening:
            if self.scene is None:
                part = ray.get(self.job.part)
                self.ids = part.ids
                device = assigned_device() if self.job.device is None else self.job.device
                self.scene = self.job.config.build(part, device)
            return self.scene

    def answers(self, table: pa.Table, earlier: pa.Table | None) -> tuple[dict[str, pa.Array], int]:
        """Cast the rays of a table. Returns the result columns, merged with those of earlier parts, and the number of skipped rays."""
        scene, spec = self.opened(), self.job.spec
        answer, skipped = run_query(scene, self.ids, spec, table)
        if earlier is not None and isinstance(answer, dict):
            answer = merge_results(spec.query, from_arrow(spec, earlier), answer)
        return to_arrow(spec, answer), skipped


class Caster(Worker):
    """Adds the result columns to a batch."""

    def __init__(self, job: Job, keep: list[str] | None) -> None:
        super().__init__(job)
        self.keep = keep

    def __call__(self, batch: pa.Table) -> pa.Table:
        if not self.job.earlier:
            check_columns(batch.column_names, self.keep, self.job.spec)
        try:
            answers, _ = self.answers(batch, batch if self.job.earlier else None)
        except RecordError as error:
            row = batch.slice(error.index, 1).to_pylist()[0]
            said = ", ".join(f"{name} {value}" for name, value in row.items())
            message = f"{error} (counted from the start of a batch; its row: {said})"
            raise RecordError(message, error.what, error.index, error.field, error.value) from None
        if self.job.earlier:
            batch = batch.drop_columns(list(answers))
        if self.keep is not None:
            wanted = self.keep if self.job.last else {*RAY, *OPTION_COLUMNS, *self.keep}
            batch = batch.select([name for name in batch.column_names if name in wanted])
        for name, column in answers.items():
            batch = batch.append_column(name, column)
        return batch


def check_columns(names: list[str], keep: list[str] | None, spec: QuerySpec) -> None:
    """Raise ValueError if a column of ``keep`` is missing, or if a kept column has the name of a result column."""
    missing = [name for name in keep or [] if name not in names]
    if missing:
        raise ValueError(f"keep: column {missing[0]!r} is missing; existing columns: {', '.join(names) or 'none'}")
    twice = [name for name in spec.columns if name in (names if keep is None else keep)]
    if twice:
        raise ValueError(
            f"the rays and the results both have a column {twice[0]!r}: rename it, or leave it out of `keep`"
        )


def assigned_device() -> str | int:
    """Return the device that Ray assigned to this worker: a GPU, else the CPU engine.

    Vulkan ignores CUDA_VISIBLE_DEVICES, so this process sees all GPUs of the node. The mapping from Ray's GPU ids to devices is arbitrary,
    as long as different ids get different devices.
    """
    given = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    if not given:
        return "cpu"
    from .._devices import devices

    gpus = [about.index for about in devices() if about.failure is None and about.kind.endswith("GPU")]
    number = int(given[0]) if given[0].isdigit() else 0
    # If there is no GPU, "gpu" opens a software adapter, or its error says what to install, as elsewhere.
    return gpus[number % len(gpus)] if gpus else "gpu"


class WorkerPool(NamedTuple):
    """The workers of one part."""

    compute: ActorPoolStrategy
    resources: dict[str, Any]
    """Resources that Ray reserves for each worker."""
    threads: int
    """Batches that each worker processes at once: while one is cast, others are read and written. Also the CPU engine's thread count."""


def plan_workers(
    concurrency: Concurrency, num_cpus: float | None, num_gpus: float | None, parts: int, spare: int, most: int
) -> WorkerPool:
    """Choose the number and size of the workers. By default a worker takes a node, and there are as many as the cluster has room for.

    ``spare`` CPUs stay free: Ray Data's own tasks, which read and write, would never run if actors occupied all CPUs. ``most`` limits the
    number of workers of a part. Raises ValueError for invalid resources, or if the cluster is too small.
    """
    for name, number in (("num_cpus", num_cpus), ("num_gpus", num_gpus)):
        if number is not None and not number >= 0:
            raise ValueError(f"{name} is {number}: it must be at least 0")
    if num_cpus == 0 and not num_gpus:
        raise ValueError("num_cpus is 0: a worker needs CPUs unless num_gpus is set")
    few, many = concurrency if isinstance(concurrency, tuple) else (concurrency or 1, concurrency)
    if concurrency is not None and not 1 <= few <= (many or 0):
        raise ValueError(
            f"concurrency is {concurrency}: it must be at least 1, or (minimum, maximum) with 1 <= minimum <= maximum"
        )
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    if num_cpus is None:
        num_cpus = 1.0 if num_gpus else _cpus_per_worker([node.get("CPU", 0.0) for node in nodes], parts, spare)
    resources = {"num_cpus": float(num_cpus), **({"num_gpus": float(num_gpus)} if num_gpus else {})}
    if many is None:
        many = _worker_capacity(nodes, resources, spare) // parts
        if many == 0:
            wanted = " and ".join(f"{number:g} {name[4:-1].upper()}s" for name, number in resources.items())
            reserved = f", with {spare} CPU kept free for reading and writing" if spare else ""
            raise ValueError(
                f"{parts} workers are needed, one per part, with {wanted} each: "
                f"the cluster has room for {_worker_capacity(nodes, resources, spare)}{reserved}"
            )
        many = min(many, max(most, 1))
    threads = max(int(num_cpus), 1)
    compute = ActorPoolStrategy(
        min_size=few,
        max_size=many,
        initial_size=few if isinstance(concurrency, tuple) else many,
        max_tasks_in_flight_per_actor=2 * threads,
        max_concurrent_calls_per_actor=threads,
        enable_true_multi_threading=threads > 1,
    )
    return WorkerPool(compute, resources, threads)


def map_parts(
    dataset: ray.data.Dataset,
    worker: type[Worker],
    pool: WorkerPool,
    parts: list[Part],
    job: tuple[SceneConfig, QuerySpec, str | int | None],
    rest: tuple[Any, ...],
    **how: Any,
) -> ray.data.Dataset:
    """Send the rows through the workers of each part in turn.

    ``rest`` contains further constructor arguments of the workers, ``how`` further arguments of ``map_batches``.
    """
    for number, part in enumerate(parts):
        own = Job(ray.put(part), *job, pool.threads, number > 0, number == len(parts) - 1)
        dataset = dataset.map_batches(
            worker,
            fn_constructor_args=(own, *rest),
            batch_format="pyarrow",
            compute=pool.compute,
            **pool.resources,
            **how,
        )
    return dataset


def _cpus_per_worker(cpus: list[float], parts: int, spare: int) -> int:
    """Return the CPUs per worker: those of the smallest node, divided if a node has to run workers of several parts."""
    there = [int(count) for count in cpus if count >= 1]
    if not there:
        return 1
    return max((min(there) - spare) // math.ceil(parts / len(there)), 1)


def _worker_capacity(nodes: list[dict[str, float]], resources: dict[str, float], spare: int) -> int:
    """Return the number of workers that the nodes can run at once."""
    total = 0
    for node in nodes:
        places = [node.get(name[4:-1].upper(), 0.0) / number + 1e-9 for name, number in resources.items() if number]
        total += int(min(places))
    if resources["num_cpus"]:
        left = sum(node.get("CPU", 0.0) for node in nodes) - spare
        total = min(total, max(int(left // resources["num_cpus"]), 0))
    return total
