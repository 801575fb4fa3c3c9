"""Command line of the Ray queries: ``python -m umbracast.ray_data SPHERES RAYS.parquet OUT/``."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import pickle
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import _progress
from .._errors import DeviceError, NoDeviceError, PrecisionError
from .._options import Policies

EXAMPLES = """\
RAYS is a Parquet file or a folder of Parquet files, with columns ox, oy, oz, dx, dy, dz and optionally t_min, t_max, mask, skip_id (null
skips none), time, radius. SPHERES is a .parquet or .csv file (columns x, y, z, r, optionally mask, vx, vy, vz; for ellipsoids rx, ry, rz,
qw, qx, qy, qz instead of r), .npy, or raw float32 (.f32, .spheres). OUT becomes a folder of Parquet files with one row per ray: `ray`, the
index among all rays in the order of files and rows; the columns of --keep; and the results, null on a miss. Sorted by name, the files are
in the order of the rays. OUT appears only when it is complete; _umbracast.json in it lists the files. An interrupted run leaves nothing
behind. Every node of the cluster must see RAYS and OUT at the same paths.

Queries: closest (t, id), occluded, interval (t_enter, t_exit, id), count, all and nearest (lists t_enter, t_exit, id), approach (t,
clearance, id). Rays are split into chunks by row groups: write them with row groups of a million rays or fewer.

Examples:
  python -m umbracast.ray_data spheres.csv rays.parquet hits/
  python -m umbracast.ray_data spheres.npy rays/ dark/ --query occluded --keep key --address auto
  python -m umbracast.ray_data spheres.parquet rays/ hits/ --num-gpus 1 --address ray-head:6379
  python -m umbracast.ray_data large.npy rays/ hits/ --num-gpus 1 --parts 4 --concurrency 2

Exit codes: 0 success, 2 invalid usage or input, 3 no such device or precision, 4 device failure or too little memory,
  5 error in reading, writing or Ray, 130 interrupted by Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. An error is printed as one line on stderr."""
    args = parser().parse_args(arguments)
    try:
        summary = run(args)
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except Exception as error:
        say(f"error: {str(error) or repr(error)}")
        return exit_code(error)
    if args.json:
        print(json.dumps(summary))
    elif not args.quiet:
        rate = summary["rays"] / max(summary["seconds"], 1e-9) / 1e6
        say(
            f"{summary['query']}: {summary['rays']:,} rays, {summary['spheres']:,} spheres, {summary['hits']:,} hits, "
            f"{summary['seconds']:.1f} s, {rate:.2f} Mrays/s, {summary['files']} files"
        )
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m umbracast.ray_data",
        description="Cast rays against spheres on a Ray cluster, or with Ray on this machine.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    add("spheres", metavar="SPHERES", type=Path, help="spheres or ellipsoids")
    add("rays", metavar="RAYS", type=Path, help="a Parquet file, or a folder of Parquet files")
    add("out", metavar="OUT", type=Path, help="output folder, which must be empty or not exist")
    from ._query import COLUMNS

    add("--query", default="closest", choices=list(COLUMNS), help="query to run (default closest)")
    add("--k", type=int, help="maximum number of hits per ray, for --query nearest")
    add("--keep", type=lambda text: text.split(","), default=[], metavar="A,B", help="columns of the rays to copy")
    add("--address", help="address of the cluster: auto, or host:port (default: RAY_ADDRESS, else Ray on this machine)")
    add("--num-gpus", type=float, metavar="N", help="GPUs per worker; with a fraction several workers share a GPU")
    add(
        "--num-cpus",
        type=float,
        metavar="N",
        help="CPUs per worker, and chunks that it processes at once (default: all of a node; 1 with --num-gpus)",
    )
    add(
        "--concurrency",
        type=workers,
        metavar="N",
        help="workers per part, or a range such as 2-8 (default: as many as the cluster has room for)",
    )
    add("--batch-size", type=int, default=1 << 20, metavar="RAYS", help="rays per file of OUT (default 1048576)")
    add("--parts", type=int, default=1, metavar="N", help="split the spheres into N parts, each with its own workers")
    add("--device", help="device of the workers, as for umbracast cast (default: the one that Ray assigns)")
    add("--memory", type=int, metavar="BYTES", help="bytes that a scene and a query may use on a device")
    add("--origin", type=origin, metavar="X,Y,Z|auto", help="point to subtract from all coordinates in float64")
    add("--time-range", type=numbers(2), default=(0.0, 1.0), metavar="A,B", help="for moving spheres (default 0,1)")
    words = {
        "inside": ("enter", "exit", "ignore"),
        "touch": ("hit", "miss"),
        "ends": ("closed", "half-open"),
        "precision": ("fast", "standard", "exact"),
        "on_bad": ("refuse", "skip"),
        "motion": ("at-time", "with-ray"),
        "near": ("auto", "pass", "block"),
    }
    for name, default in Policies._field_defaults.items():
        add(f"--{name.replace('_', '-')}", choices=words[name], default=default, help=f"default {default}")
    add("--quiet", action="store_true", help="print no progress and no summary")
    add("--json", action="store_true", help="print the summary as JSON on stdout")
    return made


def numbers(count: int) -> Any:
    def read(text: str) -> tuple[float, ...]:
        found = tuple(float(part) for part in text.split(","))
        if len(found) != count:
            raise argparse.ArgumentTypeError(f"'{text}': {count} numbers separated by commas are needed")
        return found

    read.__name__ = "numbers"
    return read


def origin(text: str) -> Any:
    return text if text == "auto" else numbers(3)(text)


def workers(text: str) -> int | tuple[int, int]:
    few, _, many = text.partition("-")
    return (int(few), int(many)) if many else int(few)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Cast all rays, write the output folder and return the summary."""
    from ._query import parse_query
    from ._shards import inputs, split_files
    from ._partition import prepare_parts

    start = time.monotonic()
    if args.out.exists() and (not args.out.is_dir() or any(args.out.iterdir())):
        raise ValueError(f"{args.out}: it must be an empty folder or not exist")
    if args.batch_size < 1:
        raise ValueError(f"--batch-size is {args.batch_size}: it must be at least 1")
    policies = Policies(**{name: getattr(args, name) for name in Policies._fields})
    spec = parse_query(args.query, args.k, args.parts, policies)
    config, parts = prepare_parts(
        read_spheres(args.spheres),
        spec,
        args.parts,
        time_range=args.time_range,
        origin=args.origin,
        builder="auto",
        memory=args.memory,
    )
    chunks = split_files(inputs(args.rays), args.batch_size, args.keep, spec)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    partial = args.out.absolute().with_name(f".{args.out.name}.{uuid.uuid4().hex[:8]}")
    partial.mkdir()
    try:
        with cluster(args.address, sum(part.spheres.nbytes for part in parts)):
            hits, skipped = cast(args, config, parts, spec, chunks, str(partial))
        summary = {
            "query": args.query,
            "rays": sum(chunk.rays for chunk in chunks),
            "spheres": sum(len(part.spheres) for part in parts),
            "hits": hits,
            "skipped": skipped,
            "seconds": round(time.monotonic() - start, 3),
            "parts": args.parts,
            "files": len(chunks),
        }
        listed = [{"name": chunk.name, "from": chunk.path, "row": chunk.row, "rays": chunk.rays} for chunk in chunks]
        with open(partial / "_umbracast.json", "w", encoding="utf-8") as file:
            json.dump({**summary, "policies": policies._asdict(), "pieces": listed}, file, indent=1)
        os.replace(partial, args.out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return summary


def cast(args: argparse.Namespace, config: Any, parts: Any, spec: Any, chunks: Any, out: str) -> tuple[int, int]:
    """Send the chunks through the workers of each part. Returns the numbers of rays that hit a sphere and of skipped rays."""
    import ray
    from ray.data import DataContext

    from ._shards import ChunkCaster
    from ._actors import map_parts, plan_workers

    context = DataContext.get_current()
    context.enable_progress_bars = False
    # The constructors of these workers cannot fail. A worker that dies there was killed or lost by Ray, and another can replace it; by
    # default Ray gives up at once.
    context.max_consecutive_actor_init_deaths = 10
    # No CPU stays free: only these workers need CPUs.
    pool = plan_workers(args.concurrency, args.num_cpus, args.num_gpus, len(parts), 0, len(chunks))
    rows = [{**chunk._asdict(), "error": b""} for chunk in chunks]
    dataset: ray.data.Dataset = ray.data.from_items(rows, override_num_blocks=len(rows))
    job, rest = (config, spec, args.device), (args.keep, out, min(args.batch_size, 1 << 20))
    dataset = map_parts(dataset, ChunkCaster, pool, parts, job, rest, batch_size=1)
    listener = _progress.listener("ray_data", not args.quiet)
    total = sum(chunk.rays for chunk in chunks)
    reported: set[int] = set()
    done = hits = skipped = 0
    with contextlib.closing(finished_rows(dataset)) as answers:
        for row in answers:
            if row["error"]:
                raise pickle.loads(row["error"])
            if row["number"] in reported:
                continue
            reported.add(row["number"])
            done += row["rays"]
            hits += row["hits"]
            skipped += row["skipped"]
            if listener is not None:
                listener(done, total)
    lost = [chunk.name for chunk in chunks if chunk.number not in reported or not Path(out, chunk.name).exists()]
    if lost:
        raise OSError(f"{lost[0]} is missing: every node must see {out} at the same path")
    return hits, skipped


def finished_rows(dataset: Any) -> Generator[dict[str, Any], None, None]:
    """Yield rows in the order in which the workers finish them.

    `iter_rows` is not used: its threads outlive a loop that is left early, and a thread that calls Ray during its shutdown ends the
    process.
    """
    import ray

    for bundle in dataset.iter_internal_ref_bundles():
        for block in bundle.block_refs:
            yield from ray.get(block).to_pylist()


@contextlib.contextmanager
def cluster(address: str | None, spheres: int) -> Iterator[None]:
    """Connect to the cluster at an address, or run Ray on this machine and remove its processes and files afterwards."""
    folder = None
    options: dict[str, Any] = {"address": address or os.environ.get("RAY_ADDRESS") or "local"}
    if options["address"] == "local":
        # Ray's sockets need a short path.
        folder = tempfile.mkdtemp(prefix="umbracast-", dir="/tmp" if os.name == "posix" else None)
        for name, value in (
            ("RAY_USAGE_STATS_ENABLED", "0"),
            ("RAY_AUTH_TOKEN", secrets.token_hex(32)),
        ):
            os.environ.setdefault(name, value)
        # Space for the spheres and for the results that go from part to part. If there are more, Ray spills to disk.
        options |= {
            "include_dashboard": False,
            "object_store_memory": (256 << 20) + 2 * spheres,
            "_temp_dir": folder,
        }
    # Suppress Ray's warning about every actor that it may restart (Ray issue 53727).
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    import ray.data

    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
        yield
    finally:
        # Wait for the threads of Ray Data, which itself waits only two seconds.
        for thread in threading.enumerate():
            if thread.name.startswith("StreamingExecutor"):
                thread.join(60)
        ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def read_spheres(path: Path) -> Any:
    """Read spheres from a file, by its suffix. Raises ValueError for an unknown suffix or an invalid file."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.csv  # type: ignore[import-untyped]
    import pyarrow.parquet  # type: ignore[import-untyped]

    kind = path.suffix.lower()
    try:
        if kind == ".parquet":
            return pa.parquet.read_table(path)
        if kind == ".csv":
            return pa.csv.read_csv(path)
        if kind == ".npy":
            return np.load(path, allow_pickle=False)
        if kind in (".f32", ".spheres"):
            return np.fromfile(path, "<f4").reshape(-1, 4)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    raise ValueError(f"{path}: unknown type of file: spheres must be .parquet, .csv, .npy, .f32 or .spheres")


def exit_code(error: BaseException) -> int:
    """Return the exit code of an error, the same as those of the command line `umbracast`."""
    if isinstance(error, (NoDeviceError, PrecisionError)):
        return 3
    if isinstance(error, (DeviceError, MemoryError)):
        return 4
    return 2 if isinstance(error, (ValueError, TypeError)) else 5


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    # Clean up on SIGTERM as on Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
