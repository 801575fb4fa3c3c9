"""Ray Data: results equal those of one process, whatever the batches and workers, and although workers die."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import umbracast
from clusters import COUNT, kill_a_worker, same, table, two_nodes, until
from conftest import beams, cloud
from umbracast._input import INPUT_ORDER

import ray
import umbracast.ray_data


@pytest.fixture(scope="module")
def driver(cluster):
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def gathered(dataset):
    """Return all rows, sorted by key."""
    return pa.concat_tables(ray.get(dataset.to_arrow_refs())).sort_by("key")


@pytest.mark.parametrize("query", ["closest", "occluded", "approach", "nearest"])
def test_answers_are_those_of_one_process(driver, scene, spheres, many, query):
    options = {"k": 3} if query == "nearest" else {}
    blocks = [table(many[start:end], start) for start, end in ((0, 7), (7, 7), (7, 30_008), (30_008, COUNT))]
    found = gathered(umbracast.ray_data.cast(ray.data.from_arrow(blocks), spheres, query=query, **options))
    same(found, query, getattr(scene, query)(many, **options))
    assert found.column_names[:10] == [*INPUT_ORDER, "key", "name"]
    assert found["key"].to_pylist() == list(range(COUNT)) and found["name"][1].as_py() == "odd"


def test_ray_reads_and_writes_files(driver, scene, spheres, many, files, tmp_path):
    dataset = ray.data.read_parquet(str(files[1]))
    cast = umbracast.ray_data.cast(dataset, spheres, keep=["key"], batch_size=3000, concurrency=(1, 2))
    cast.write_parquet(str(tmp_path / "hits"))
    found = pq.read_table(tmp_path / "hits").sort_by("key")
    assert found.column_names == ["key", "t", "id"]
    same(found, "closest", scene.closest(many))


def test_attribute_columns_affect_the_answers(driver, spheres, many):
    random = np.random.default_rng(3)
    masks, velocities = random.integers(1, 4, len(spheres)), random.uniform(-1, 1, (len(spheres), 3))
    mask, time, radius = random.integers(1, 4, COUNT), random.uniform(0, 1, COUNT), random.uniform(0, 0.1, COUNT)
    skip = random.integers(0, len(spheres), COUNT)
    rays = table(many).append_column("mask", pa.array(mask)).append_column("time", pa.array(time))
    rays = rays.append_column("radius", pa.array(radius)).append_column("skip_id", pa.array(skip, mask=skip > 150))
    moving = umbracast.Scene(spheres, device="cpu", masks=masks, velocities=velocities)
    skips = np.where(skip > 150, umbracast.NO_SPHERE, skip)
    expected = moving.closest(many, masks=mask, times=time, ray_radius=radius, skip_ids=skips)
    given = {"masks": masks, "velocities": velocities}
    # A column of the rays may have the name of a result column if it is not kept.
    rays = rays.append_column("t", pa.array(np.zeros(COUNT)))
    same(
        gathered(umbracast.ray_data.cast(ray.data.from_arrow(rays), spheres, keep=["key"], **given)),
        "closest",
        expected,
    )


def test_ellipsoids_and_maps(driver):
    centers, random = cloud(300, seed=8)[:, :3], np.random.default_rng(9)
    shapes = {"semi_axes": random.uniform(0.2, 1, (300, 3)), "rotations": random.normal(size=(300, 4))}
    eggs, rays = umbracast.Scene(centers, device="cpu", **shapes), beams(3000)
    same(gathered(umbracast.ray_data.cast(ray.data.from_arrow(table(rays)), centers, **shapes)), "closest", eggs.closest(rays))
    with pytest.raises(ray.exceptions.RayTaskError, match="ellipsoids"):
        umbracast.ray_data.cast(ray.data.from_arrow(table(rays)), centers, query="approach", **shapes).materialize()
    far, moved = cloud(300) + np.array([1e6, 0, 0, 0]), rays.astype(float) + [1e6, 0, 0, 0, 0, 0, 0, 0]
    expected = umbracast.Scene(far, device="cpu", origin="auto").closest(moved)
    same(gathered(umbracast.ray_data.cast(ray.data.from_arrow(table(moved)), far, origin="auto")), "closest", expected)


def test_rays_that_start_on_spheres_leave_them(driver, scene, many):
    starts = scene.closest(many, inside="exit").rays_along([0, 0, 1])
    rays = table(starts.rays).append_column("from_id", pa.array(starts.from_ids))
    cast = umbracast.ray_data.cast(ray.data.from_arrow(rays), scene.spheres)
    same(gathered(cast), "closest", scene.closest(starts))


def test_workers_with_gpus_cast_on_them(driver, spheres, many):
    # The GPU exists only in Ray's bookkeeping; the workers use a software adapter.
    rays = many[:2000]
    found = umbracast.ray_data.cast(ray.data.from_arrow(table(rays)), spheres, num_gpus=0.5, num_cpus=0)
    same(gathered(found), "closest", umbracast.Scene(spheres, device="gpu").closest(rays))


def test_each_number_of_rays_gets_a_gpu_of_its_own(monkeypatch):
    class Context:
        given = ()

        def get_accelerator_ids(self):
            return {"GPU": list(self.given)}

    kinds = ("discrete GPU", "discrete GPU", "integrated GPU", "software", "CPU engine")
    found = [
        umbracast.DeviceInfo(place, kind, kind, "", "", 0, (), "broken" if place == 1 else None)
        for place, kind in enumerate(kinds)
    ]
    monkeypatch.setattr(ray, "get_runtime_context", Context)
    monkeypatch.setattr(umbracast._devices, "devices", lambda: found)
    for given, device in (((), "cpu"), (("0",), 0), (("1",), 2), (("2",), 0), (("GPU-6af1",), 0)):
        Context.given = given
        assert umbracast.ray_data._assigned_device() == device
    found[:3] = []
    assert umbracast.ray_data._assigned_device() == "gpu"


def test_without_rays_there_are_no_answers(driver, spheres):
    dataset = ray.data.from_arrow(table(np.empty((0, 8), np.float32)))
    assert umbracast.ray_data.cast(dataset, spheres, concurrency=1).count() == 0


def test_a_bad_ray_is_named_by_its_row(driver, spheres, many):
    rays = many.copy()
    rays[777, 1] = np.nan
    dataset = ray.data.from_arrow(table(rays))
    with pytest.raises(ray.exceptions.RayTaskError, match="oy is NaN: an origin must be finite .*key 777"):
        umbracast.ray_data.cast(dataset, spheres, concurrency=1).materialize()
    masked = table(many).append_column("mask", pa.array(np.ones(COUNT, int), mask=np.arange(COUNT) == 99))
    with pytest.raises(ray.exceptions.RayTaskError, match="ray 99: mask is null: every row needs a value .*key 99"):
        umbracast.ray_data.cast(ray.data.from_arrow(masked), spheres, concurrency=1).materialize()
    blank = table(rays).append_column("radius", pa.array(np.zeros(COUNT), mask=np.arange(COUNT) == 99))
    for given, bad in ((dataset, [777]), (ray.data.from_arrow(blank), [99, 777])):
        found = gathered(umbracast.ray_data.cast(given, spheres, on_bad="skip", concurrency=1))
        assert not any(found["t"][row].is_valid for row in bad) and found["t"].null_count < COUNT


DATASETS = {
    "a column is missing": (lambda r: r.drop_columns(["oy"]), {}, "rays: column 'oy' is missing; existing columns: ox, oz"),
    "a column is there twice": (lambda r: r.append_column("id", r["key"]), {}, "have a column 'id'"),
    "nothing to keep": (lambda r: r, {"keep": ["nothing"]}, "keep: column 'nothing' is missing"),
    "no query": (lambda r: r, {"query": "best"}, "query is 'best': allowed are 'closest', 'occluded'"),
    "no k": (lambda r: r, {"query": "nearest"}, "k is required for query 'nearest'"),
    "no word": (lambda r: r, {"inside": "out"}, "inside is 'out': allowed are 'enter'"),
    "a device of its own": (lambda r: r, {"memory": -1}, "memory is -1"),
    "no workers": (lambda r: r, {"concurrency": 0}, "concurrency is 0"),
    "no batches": (lambda r: r, {"batch_size": 0}, "batch_size is 0"),
}


@pytest.mark.parametrize("case", DATASETS)
def test_invalid_queries_are_refused_at_once(driver, spheres, many, case):
    change, options, words = DATASETS[case]
    with pytest.raises(ValueError, match=words):
        umbracast.ray_data.cast(ray.data.from_arrow(change(table(many[:100]))), spheres, **options)


def test_bad_spheres_are_refused_at_once(driver, spheres, many):
    bad = spheres.copy()
    bad[17, 3] = -1
    with pytest.raises(umbracast.RecordError, match="sphere 17: r is -1"):
        umbracast.ray_data.cast(ray.data.from_arrow(table(many[:100])), bad)


def test_workers_multiply_transmittances(driver, spheres, many):
    left = np.linspace(0, 1, len(spheres))
    cast = umbracast.ray_data.cast(ray.data.from_arrow(table(many)), spheres, query="transmittance", transmittances=left)
    expected = umbracast.Scene(spheres, device="cpu", transmittances=left).transmittance(many)
    np.testing.assert_array_equal(gathered(cast)["transmittance"].to_numpy(), expected)
    assert (expected < 1).sum() > 100


def test_the_example_of_the_page_runs(driver, files, many, scene, tmp_path):
    page = (Path(__file__).parent.parent / "RAY.md").read_text()
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    for file in files:
        (tmp_path / file.name).symlink_to(file)
    exec(compile(block.replace("/data/", f"{tmp_path}/"), "RAY.md", "exec"), {})
    same(pq.read_table(tmp_path / "hits").sort_by("key"), "closest", scene.closest(many))


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
