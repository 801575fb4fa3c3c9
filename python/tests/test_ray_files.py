"""``python -m umbracast.ray_data``: output files, invalid input, workers and nodes that die, and cleanup."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import umbracast
from clusters import COUNT, cpu_seconds, kill_a_worker, processes, same, table, two_nodes, until
from conftest import INTENSITY, beams, cloud
from umbracast.ray_data.__main__ import main


def ask_files(cluster, spheres, rays, out, *options):
    assert main([str(spheres), str(rays), str(out), "--quiet", "--address", cluster.address, *options]) == 0
    return pq.read_table(out), json.loads((out / "_umbracast.json").read_text())


def test_files_do_not_depend_on_batches_workers_and_parts(cluster, files, scene, many, tmp_path):
    spheres, rays = files
    expected = scene.closest(many)
    ways = {
        "a": ("--batch-size", "3334"),
        "b": ("--concurrency", "1", "--keep", "name,key"),
        # Batches smaller than a row group: several batches per file.
        "c": ("--parts", "2", "--batch-size", "1000", "--num-cpus", "2"),
    }
    for way, options in ways.items():
        found, told = ask_files(cluster, spheres, rays, tmp_path / way, *options)
        same(found, "closest", expected)
        assert found["ray"].to_pylist() == list(range(COUNT))
        assert (
            told["hits"] == expected.hit.sum()
            and told["rays"] == COUNT
            and told["files"] == {"a": 12, "b": 1, "c": 12}[way]
        )
    assert pq.read_table(tmp_path / "b").column_names == ["ray", "name", "key", "t", "id"]
    assert not list(tmp_path.glob(".*")), "nothing else stays"


def test_a_folder_is_one_set_of_rays(cluster, files, scene, many, tmp_path):
    folder = tmp_path / "rays"
    folder.mkdir()
    for name, start, end in (("0", 0, 100), ("1", 100, 100), ("2", 100, COUNT)):
        pq.write_table(table(many[start:end]), folder / f"{name}.parquet", row_group_size=9000)
    pq.write_table(table(many), folder / "_ignored.parquet")
    found, told = ask_files(cluster, files[0], folder, tmp_path / "out", "--query", "all", "--on-bad", "skip")
    same(found, "all", scene.all(many))
    assert found["ray"].to_pylist() == list(range(COUNT)) and told["pieces"][1]["from"].endswith("2.parquet")
    none, told = ask_files(cluster, files[0], folder / "1.parquet", tmp_path / "none")
    assert none.column_names == ["ray", "t", "id"] and len(none) == told["hits"] == 0


full = pytest.mark.skipif(INTENSITY < 100, reason="minutes of CPU: with UMBRACAST_INTENSITY=100")


@pytest.mark.parametrize("count", [500_000, pytest.param(10**7, marks=full)])
def test_every_ray_is_answered_once_when_a_worker_and_a_node_die(tmp_path, count):
    rays, spheres = tmp_path / "rays.parquet", tmp_path / "spheres.npy"
    np.save(spheres, cloud(2000))
    given = beams(count)
    # A hundred chunks.
    pq.write_table(table(given), rays, row_group_size=count // 100)
    made = two_nodes()
    try:
        out = tmp_path / "out"
        command = [sys.executable, "-m", "umbracast.ray_data", spheres, rays, out, "--address", made.address]
        work = subprocess.Popen([*command, "--query", "approach", "--batch-size", str(count // 100)])

        def done():
            return len(list(tmp_path.glob(".out.*/rays-*.parquet")))

        until(lambda: done() > 8 or work.poll() is not None)
        kill_a_worker()
        at = done()
        until(lambda: done() > at + 4 or work.poll() is not None)
        made.remove_node(next(iter(made.worker_nodes)), allow_graceful=False)
        at = done()
        assert at < 90 and work.poll() is None, "it was over before the node died"
        assert work.wait(1800) == 0
    finally:
        work.kill()
        made.shutdown()
    found = pq.read_table(out)
    assert (found["ray"].to_numpy() == np.arange(count)).all()
    same(found, "approach", umbracast.Scene(cloud(2000), device="cpu").approach(given))


def test_a_dataset_is_complete_when_a_worker_and_a_node_die(tmp_path):
    script = f"""
import glob, sys
import ray, umbracast.ray_data
import numpy as np, pyarrow.parquet as pq
ray.init(address=sys.argv[1], log_to_driver=False)
# One block per file: Ray's own reader would read them all at once.
paths = [{{"path": path}} for path in glob.glob({str(tmp_path / "rays")!r} + "/*")]
read = ray.data.from_items(paths, override_num_blocks=len(paths))
rays = read.map_batches(lambda batch: pq.read_table(batch["path"][0]), batch_size=1)
found = umbracast.ray_data.cast(rays, np.load({str(tmp_path / "spheres.npy")!r}), query="approach", keep=["key"])
found.write_parquet({str(tmp_path / "out")!r})
"""
    given = beams(300_000)
    (tmp_path / "rays").mkdir()
    for first in range(0, len(given), 5000):
        pq.write_table(table(given[first : first + 5000], first), tmp_path / "rays" / f"{first}.parquet")
    np.save(tmp_path / "spheres.npy", cloud(20_000))
    made = two_nodes()
    try:
        work = subprocess.Popen([sys.executable, "-c", script, made.address])

        def done():
            return len(list(tmp_path.glob("out/*.parquet")))

        until(lambda: done() > 0 or work.poll() is not None)
        kill_a_worker()
        made.remove_node(next(iter(made.worker_nodes)), allow_graceful=False)
        assert done() < 50 and work.poll() is None, "it was over before the node died"
        assert work.wait(1800) == 0
    finally:
        work.kill()
        made.shutdown()
    found = pq.read_table(tmp_path / "out").sort_by("key")
    assert found["key"].to_pylist() == list(range(len(given)))
    same(found, "approach", umbracast.Scene(cloud(20_000), device="cpu").approach(given))


PLAIN = """
import sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, umbracast
spheres, rays, out, query = sys.argv[1:]
scene, writer = umbracast.Scene(np.load(spheres), device="cpu"), None
for batch in pq.ParquetFile(rays).iter_batches(1 << 20):
    found = getattr(scene, query)(batch)
    miss = found.id == umbracast.NO_SPHERE
    written = pa.table({name: pa.array(values, mask=miss) for name, values in found._asdict().items()})
    writer = writer or pq.ParquetWriter(out, written.schema, use_dictionary=["id"])
    writer.write_table(written)
writer.close()
"""


def plain(given, out, query):
    """Measure the CPU seconds of one process that does the same without Ray."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", PLAIN, *given, out, query], check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime


@full
@pytest.mark.parametrize(("count", "query", "size"), [(10**7, "approach", 6), (10**8, "closest", 3)])
def test_a_cluster_takes_little_more_cpu_time_than_one_process(cluster, tmp_path, count, query, size):
    # Two copies of the scene fit into a cache of 32 MB, because both nodes are on one machine here. The work takes minutes, because Ray
    # itself takes up to 20 CPU seconds. With 10⁵ spheres, or with less work, the ratio exceeds this limit: see RAY.md.
    np.save(tmp_path / "spheres.npy", cloud(20_000) * np.float32([1, 1, 1, size]))
    with pq.ParquetWriter(tmp_path / "rays.parquet", table(beams(2)).schema.remove(9), compression="none") as writer:
        for first in range(0, count, 10**6):
            writer.write_table(table(beams(10**6, first), first).drop_columns(["name"]), row_group_size=250_000)
    given = [tmp_path / "spheres.npy", tmp_path / "rays.parquet"]
    # Measure before and after, because the speed of a shared machine changes in between.
    before = plain(given, tmp_path / "one.parquet", query)
    command = [sys.executable, "-m", "umbracast.ray_data", *given, tmp_path / "out", "--query", query]
    work = subprocess.Popen([*command, "--address", cluster.address])
    many = cpu_seconds(work)
    assert work.returncode == 0
    after = plain(given, tmp_path / "one.parquet", query)
    ratio = 2 * many / (before + after)
    told = f"{count:,} rays: {before:.1f} and {after:.1f} CPU s in one process, {many:.1f} on the cluster"
    print(f"{told}: {ratio:.2f}")
    expected = pq.read_table(tmp_path / "one.parquet")
    first = 0
    for path in sorted((tmp_path / "out").glob("*.parquet")):
        found = pq.read_table(path)
        assert (found["ray"].to_numpy() == np.arange(first, first + len(found))).all()
        for name in expected.column_names:
            assert found[name].combine_chunks().equals(expected[name].slice(first, len(found)).combine_chunks())
        first += len(found)
    assert first == count
    assert ratio < 1.15


def test_a_local_cluster_leaves_no_process_and_no_file(files, scene, many, tmp_path):
    before = set(Path("/tmp").glob("umbracast-*"))
    command = [sys.executable, "-m", "umbracast.ray_data", *files, tmp_path / "out", "--json", "--query", "count"]
    token = "f" * 64
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1800, env=os.environ | {"RAY_AUTH_TOKEN": token}
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["rays"] == COUNT and "error" not in done.stderr
    same(pq.read_table(tmp_path / "out"), "count", scene.count(many))
    until(lambda: not processes("ray", token), 20)
    assert set(Path("/tmp").glob("umbracast-*")) == before and not list(tmp_path.glob(".*"))


def test_ctrl_c_leaves_no_file(files, tmp_path):
    before = set(Path("/tmp").glob("umbracast-*"))
    rays = tmp_path / "rays.parquet"
    pq.write_table(table(beams(10**6)), rays, row_group_size=10_000)
    np.save(tmp_path / "spheres.npy", cloud(20_000))
    command = [sys.executable, "-m", "umbracast.ray_data", tmp_path / "spheres.npy", rays, tmp_path / "out"]
    token = "e" * 64
    work = subprocess.Popen(
        [*command, "--query", "approach", "--batch-size", "10000"],
        env=os.environ | {"RAY_AUTH_TOKEN": token},
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: len(list(tmp_path.glob(".out.*/rays-*.parquet"))) > 2 or work.poll() is not None)
    work.send_signal(signal.SIGINT)
    _, said = work.communicate(timeout=900)
    assert work.returncode == 130 and said.endswith("interrupted\n"), said
    until(lambda: not processes("ray", token), 30)
    assert set(Path("/tmp").glob("umbracast-*")) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rays.parquet", "spheres.npy"]


def refused(tmp_path, capsys, code, *words, spheres="spheres.npy", rays="rays.parquet", out="out", options=()):
    assert main([str(tmp_path / spheres), str(tmp_path / rays), str(tmp_path / out), *options]) == code
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1, said
    for word in words:
        assert word in said, said
    assert not list(tmp_path.glob(".*"))


def test_invalid_options_are_refused_before_ray_starts(tmp_path, capsys, spheres, many):
    np.save(tmp_path / "spheres.npy", spheres)
    np.save(tmp_path / "three.npy", spheres[:, :3])
    bad = spheres.copy()
    bad[7, 0] = np.nan
    np.save(tmp_path / "nan.npy", bad)
    rays = table(many[:100])
    pq.write_table(rays, tmp_path / "rays.parquet")
    pq.write_table(rays.drop_columns(["dz"]), tmp_path / "five.parquet")
    words = rays.set_column(0, "ox", rays["name"])
    pq.write_table(words, tmp_path / "words.parquet")
    (tmp_path / "text.parquet").write_text("ox,oy,oz\n")
    (tmp_path / "spheres.txt").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "of something").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")

    refused(tmp_path, capsys, 5, "none.npy", spheres="none.npy")
    refused(tmp_path, capsys, 5, "none.parquet", rays="none.parquet")
    refused(tmp_path, capsys, 2, "spheres.txt: unknown type of file: spheres must be .parquet, .csv", spheres="spheres.txt")
    refused(tmp_path, capsys, 2, "spheres must have shape", spheres="three.npy")
    refused(tmp_path, capsys, 2, "sphere 7: x is NaN", spheres="nan.npy")
    refused(tmp_path, capsys, 2, "five.parquet: rays: column 'dz' is missing", rays="five.parquet")
    refused(tmp_path, capsys, 2, "words.parquet: column 'ox' has type string", rays="words.parquet")
    refused(tmp_path, capsys, 2, "text.parquet: not a Parquet file", rays="text.parquet")
    refused(tmp_path, capsys, 2, "the folder contains no .parquet file", rays="empty")
    refused(tmp_path, capsys, 2, "full: it must be an empty folder", out="full")
    refused(tmp_path, capsys, 2, "file: it must be an empty folder", out="file")
    refused(tmp_path, capsys, 2, "--batch-size is 0", options=["--batch-size", "0"])
    refused(tmp_path, capsys, 2, "parts is 301", options=["--parts", "301"])
    refused(tmp_path, capsys, 2, "k is required", options=["--query", "nearest"])
    refused(tmp_path, capsys, 2, "column 'it' is missing", options=["--keep", "it"])
    with pytest.raises(SystemExit) as ended:
        main(["a", "b", "c", "--query", "best"])
    assert ended.value.code == 2 and "invalid choice: 'best'" in capsys.readouterr().err


def test_a_bad_ray_is_named_by_file_and_row(cluster, files, many, tmp_path, capsys):
    rays = many[:1000].copy()
    rays[777, 1] = np.nan
    np.save(tmp_path / "spheres.npy", np.load(files[0]))
    pq.write_table(table(rays), tmp_path / "rays.parquet", row_group_size=100)
    options = ["--address", cluster.address, "--batch-size", "300", "--quiet"]
    where = f"{tmp_path}/rays.parquet: row 778 (index 777): oy is NaN: an origin must be finite"
    # Repeatedly: threads of a run that ended early must not interfere with the next run or with the shutdown of their own cluster.
    for _ in range(4):
        refused(tmp_path, capsys, 2, where, options=[*options, "--concurrency", "1"])
    refused(tmp_path, capsys, 3, "no device 'abacus'", options=[*options, "--device", "abacus", "--concurrency", "1"])
    # Add a second invalid ray. Without "skip" either one could be named, because on a busy machine a later batch may finish first.
    given = table(rays).set_column(0, "ox", pa.array(rays[:, 0], mask=np.arange(1000) == 900))
    pq.write_table(given, tmp_path / "rays.parquet", row_group_size=100)
    for query, blank in (("closest", None), ("occluded", False), ("all", [])):
        asked = ("--query", query, "--on-bad", "skip")
        found, told = ask_files(cluster, files[0], tmp_path / "rays.parquet", tmp_path / query, *asked)
        answers = found["occluded" if query == "occluded" else "id"]
        assert told["skipped"] == 2 and answers[777].as_py() == answers[900].as_py() == blank, query


def test_ray_is_imported_only_by_its_module(tmp_path):
    script = """
import sys
sys.modules["ray"] = None
import umbracast
umbracast.Scene([[5, 0, 0, 1]], device="cpu").closest([0, 0, 0, 1, 0, 0])
try:
    import umbracast.ray_data
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert 'umbracast.ray_data needs Ray Data: pip install "ray[data]" pyarrow' in done.stdout, done.stderr
