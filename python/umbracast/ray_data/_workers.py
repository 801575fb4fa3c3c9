"""Workers: stateful actors of Ray Data, each with one scene, and how many of them fit into a cluster."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import ray
from ray.data import ActorPoolStrategy

from .._arrays import RAY
from .._errors import RecordError
from .._scene import Scene
from ._asking import BESIDE, Question, arrow, ask, merged, numpy
from ._spheres import Site

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
    """A scene, built once. The device is the GPU that Ray gave to this worker, or the CPU engine, or what the caller says."""

    def __init__(self, job: Job) -> None:
        # Read once, when the CPU engine or Arrow first works in this process.
        os.environ.setdefault("RAYON_NUM_THREADS", str(job.threads))
        pa.set_cpu_count(job.threads)
        self.job = job
        self.scene: Scene | None = None

    def opened(self) -> Scene:
        # Not in the constructor: an error there would reach nobody by its kind.
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


def room(num_cpus: float, num_gpus: float) -> int:
    """How many workers the nodes of the cluster can hold at once."""
    total = 0
    for node in ray.nodes():  # type: ignore[no-untyped-call]
        if node["Alive"]:
            there = node["Resources"]
            places = [there.get("CPU", 0.0) // num_cpus] if num_cpus else []
            places += [there.get("GPU", 0.0) / num_gpus + 1e-9] if num_gpus else []
            total += int(min(places))
    return total


def pool(
    concurrency: Concurrency, num_cpus: float | None, num_gpus: float | None, parts: int, spare: float, most: int
) -> tuple[ActorPoolStrategy, dict[str, Any]]:
    """A pool of workers for a part, as large as there is room for unless the caller decides, and what each of them takes.

    Ray Data's own tasks, which read and write, starve beside actors that hold every CPU: so many stay ``spare``.
    """
    for name, number in (("num_cpus", num_cpus), ("num_gpus", num_gpus)):
        if number is not None and not number >= 0:
            raise ValueError(f"{name} is {number}: it must be 0 at least")
    if num_cpus == 0 and not num_gpus:
        raise ValueError("num_cpus is 0: a worker needs a CPU, or num_gpus")
    takes: dict[str, Any] = {"num_cpus": 1.0 if num_cpus is None else float(num_cpus)}
    if num_gpus:
        takes["num_gpus"] = float(num_gpus)
    if isinstance(concurrency, tuple):
        few, many = concurrency
        if not 1 <= few <= many:
            raise ValueError(f"concurrency is {concurrency}: it must be (least, most), 1 at least")
        return ActorPoolStrategy(min_size=few, max_size=many), takes
    if concurrency is not None:
        if concurrency < 1:
            raise ValueError(f"concurrency is {concurrency}: a part needs a worker at least")
        return ActorPoolStrategy(size=concurrency), takes
    cpus, gpus = takes["num_cpus"], takes.get("num_gpus", 0.0)
    places = room(cpus, gpus)
    if cpus:
        there = ray.cluster_resources()  # type: ignore[no-untyped-call]
        places = min(places, int((there.get("CPU", 0.0) - spare) // cpus))
    if places < parts:
        wanted = " and ".join(f"{number:g} {name[4:-1].upper()}s" for name, number in takes.items())
        beside = f", {spare:g} CPU left to what reads and writes" if cpus and spare else ""
        raise ValueError(
            f"{parts} workers are needed, one for each part, of {wanted} each: the cluster has room for {max(places, 0)}{beside}"
        )
    many = min(places // parts, max(most, 1))
    return ActorPoolStrategy(min_size=1, max_size=many, initial_size=many), takes
