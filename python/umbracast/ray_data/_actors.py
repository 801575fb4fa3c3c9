"""Workers: stateful actors of Ray Data, each with one scene, and how many of them fit into a cluster."""

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
from ._query import BESIDE, Question, arrow, ask, merged, numpy
from ._partition import Part, Site

Concurrency = int | tuple[int, int] | None


class Job(NamedTuple):
    """What a worker is for."""

    part: Any
    """A reference to its `Part` in the object store: it goes to each node once."""
    site: Site
    question: Question
    device: str | int | None
    threads: int
    earlier: bool
    """Whether other parts have been asked before: their answers are in the table."""
    last: bool
    """Whether no part is asked after this one."""


class Worker:
    """A scene, built once and asked by several threads. The device is the GPU that Ray gave to this worker, or the CPU engine, or what the caller says."""

    def __init__(self, job: Job) -> None:
        # Read once, when the CPU engine or Arrow first works in this process.
        os.environ.setdefault("RAYON_NUM_THREADS", str(job.threads))
        pa.set_cpu_count(job.threads)
        self.job = job
        self.scene: Scene | None = None
        self.opening = Lock()

    def opened(self) -> Scene:
        # Not in the constructor: an error there would reach nobody by its kind.
        with self.opening:
            if self.scene is None:
                part = ray.get(self.job.part)
                self.ids = part.ids
                self.scene = self.job.site.build(part, own_device() if self.job.device is None else self.job.device)
            return self.scene

    def answers(self, table: pa.Table, earlier: pa.Table | None) -> tuple[dict[str, pa.Array], int]:
        """Columns of answers, merged with those of other parts, and how many rays were skipped."""
        scene, question = self.opened(), self.job.question
        answer, skipped = ask(scene, self.ids, question, table)
        if earlier is not None and isinstance(answer, dict):
            answer = merged(question.query, numpy(question, earlier), answer)
        return arrow(question, answer), skipped


class Caster(Worker):
    """Puts answers beside the columns of a batch."""

    def __init__(self, job: Job, keep: list[str] | None) -> None:
        super().__init__(job)
        self.keep = keep

    def __call__(self, batch: pa.Table) -> pa.Table:
        if not self.job.earlier:
            free(batch.column_names, self.keep, self.job.question)
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
            wanted = self.keep if self.job.last else {*RAY, *BESIDE, *self.keep}
            batch = batch.select([name for name in batch.column_names if name in wanted])
        for name, column in answers.items():
            batch = batch.append_column(name, column)
        return batch


def free(names: list[str], keep: list[str] | None, question: Question) -> None:
    """Refuses names that a table of answers would have twice, or that are not there."""
    missing = [name for name in keep or [] if name not in names]
    if missing:
        raise ValueError(f"keep: column {missing[0]!r} is missing; there are {', '.join(names) or 'none'}")
    twice = [name for name in question.columns if name in (names if keep is None else keep)]
    if twice:
        raise ValueError(
            f"the rays have a column {twice[0]!r}, and so have the answers: rename it, or leave it out of `keep`"
        )


def own_device() -> str | int:
    """The GPU that Ray gave to this worker, else the CPU engine.

    Vulkan does not look at CUDA_VISIBLE_DEVICES, so all GPUs of the node are seen here. Which of them answers to a number of Ray's
    does not matter as long as every number has its own.
    """
    given = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    if not given:
        return "cpu"
    from .._devices import devices

    gpus = [about.index for about in devices() if about.failure is None and about.kind.endswith("GPU")]
    number = int(given[0]) if given[0].isdigit() else 0
    # Without a GPU "gpu" says what to install, or takes a software adapter, as elsewhere.
    return gpus[number % len(gpus)] if gpus else "gpu"


class Pool(NamedTuple):
    """The workers of a part."""

    compute: ActorPoolStrategy
    takes: dict[str, Any]
    """What Ray reserves for each."""
    threads: int
    """Batches that each has under way at once: while one is cast others are read and written. Also the CPU engine's threads."""


def pool(
    concurrency: Concurrency, num_cpus: float | None, num_gpus: float | None, parts: int, spare: int, most: int
) -> Pool:
    """As many workers as there is room for, of the size of nodes, unless the caller decides.

    Ray Data's own tasks, which read and write, starve beside actors that hold every CPU: so many stay ``spare``.
    """
    for name, number in (("num_cpus", num_cpus), ("num_gpus", num_gpus)):
        if number is not None and not number >= 0:
            raise ValueError(f"{name} is {number}: it must be 0 at least")
    if num_cpus == 0 and not num_gpus:
        raise ValueError("num_cpus is 0: a worker needs a CPU, or num_gpus")
    few, many = concurrency if isinstance(concurrency, tuple) else (concurrency or 1, concurrency)
    if concurrency is not None and not 1 <= few <= (many or 0):
        raise ValueError(f"concurrency is {concurrency}: a part needs a worker at least, and no fewer at most")
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    if num_cpus is None:
        num_cpus = 1.0 if num_gpus else _share([node.get("CPU", 0.0) for node in nodes], parts, spare)
    takes = {"num_cpus": float(num_cpus), **({"num_gpus": float(num_gpus)} if num_gpus else {})}
    if many is None:
        many = _room(nodes, takes, spare) // parts
        if many == 0:
            wanted = " and ".join(f"{number:g} {name[4:-1].upper()}s" for name, number in takes.items())
            beside = f", {spare} CPU left to what reads and writes" if spare else ""
            raise ValueError(
                f"{parts} workers are needed, one a part, of {wanted} each: "
                f"the cluster has room for {_room(nodes, takes, spare)}{beside}"
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
    return Pool(compute, takes, threads)


def through(
    dataset: ray.data.Dataset,
    worker: type[Worker],
    hands: Pool,
    parts: list[Part],
    job: tuple[Site, Question, str | int | None],
    rest: tuple[Any, ...],
    **how: Any,
) -> ray.data.Dataset:
    """Sends the rows through workers of each part; ``rest`` is what these want besides their job, ``how`` how rows come to them."""
    for number, part in enumerate(parts):
        own = Job(ray.put(part), *job, hands.threads, number > 0, number == len(parts) - 1)
        dataset = dataset.map_batches(
            worker,
            fn_constructor_args=(own, *rest),
            batch_format="pyarrow",
            compute=hands.compute,
            **hands.takes,
            **how,
        )
    return dataset


def _share(cpus: list[float], parts: int, spare: int) -> int:
    """CPUs of a worker: the whole of the smallest node, divided when each has to hold several parts."""
    there = [int(count) for count in cpus if count >= 1]
    if not there:
        return 1
    return max((min(there) - spare) // math.ceil(parts / len(there)), 1)


def _room(nodes: list[dict[str, float]], takes: dict[str, float], spare: int) -> int:
    """How many workers the nodes can hold at once."""
    total = 0
    for node in nodes:
        places = [node.get(name[4:-1].upper(), 0.0) / number + 1e-9 for name, number in takes.items() if number]
        total += int(min(places))
    if takes["num_cpus"]:
        left = sum(node.get("CPU", 0.0) for node in nodes) - spare
        total = min(total, max(int(left // takes["num_cpus"]), 0))
    return total
