"""Helpers for Ray tests: clusters of several nodes on one machine, and faults in them."""

import atexit
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import umbracast
from umbracast._input import INPUT_ORDER

# Set before Ray is imported: no usage reports, and no token file in the home directory.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_TOKEN", os.urandom(32).hex())

from ray.cluster_utils import Cluster  # noqa: E402

MEMORY = 150 << 20
COUNT = 40_000
"""Number of rays in the small tests."""


def two_nodes(cpus=2):
    """Start two nodes with `cpus` logical CPUs each; one of them also has a GPU as far as Ray knows. The driver runs on neither."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Ray stores the address of the last cluster there, wherever the cluster's own folder is, and does not create the folder.
    os.makedirs("/tmp/ray", exist_ok=True)
    head = {"num_cpus": 0, "object_store_memory": MEMORY, "include_dashboard": False, "temp_dir": folder}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for gpus in range(2):
        cluster.add_node(num_cpus=cpus, num_gpus=gpus, object_store_memory=MEMORY)
    cluster.wait_for_nodes()
    return cluster


def processes(words):
    """Return the processes of this cluster whose command lines contain `words`."""
    token = f"RAY_AUTH_TOKEN={os.environ['RAY_AUTH_TOKEN']}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if words in (folder / "cmdline").read_text() and token in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def kill_a_worker():
    """Kill a worker, as the system does when memory is short."""
    worker = processes("ray::MapWorker")[0]
    os.kill(worker, signal.SIGKILL)
    return worker


def until(condition, seconds=900):
    """Wait until `condition()` is true, at most `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def table(rays, first=0):
    """Return rays as a table with a key and another column."""
    columns = {name: rays[:, place] for place, name in enumerate(INPUT_ORDER)}
    keys = np.arange(first, first + len(rays))
    return pa.table({**columns, "key": keys, "name": np.where(keys % 2, "odd", "even")})


def same(found, query, expected):
    """Check that results are equal bit for bit; a miss is null."""
    if query in ("occluded", "count"):
        columns = {query: pa.array(expected)}
    elif query in ("all", "nearest"):
        offsets = pa.array(expected.offsets.astype(np.int64))
        parts = {"t_enter": expected.t_enter, "t_exit": expected.t_exit, "id": expected.id}
        columns = {name: pa.LargeListArray.from_arrays(offsets, values) for name, values in parts.items()}
    else:
        miss = expected.id == umbracast.NO_SPHERE
        columns = {name: pa.array(values, mask=miss) for name, values in expected.columns().items()}
    for name, values in columns.items():
        column = found[name].combine_chunks()
        assert column.type == values.type and column.equals(values), name
