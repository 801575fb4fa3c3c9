"""Ray Data: results equal those of one process, whatever the batches, workers and parts."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import umbracast
from clusters import COUNT, same, table
from conftest import beams, cloud
from umbracast._input import INPUT_ORDER
from umbracast._options import Policies

import ray
import umbracast.ray_data
from umbracast.ray_data import _actors, _partition, _query


@pytest.fixture(scope="module")
def driver(cluster):
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def gathered(dataset):
    """Return all rows, sorted by key."""
    return pa.concat_tables(ray.get(dataset.to_arrow_refs())).sort_by("key")


@pytest.mark.parametrize(("query", "parts"), [("closest", 1), ("closest", 2), ("nearest", 1)])
def test_answers_are_those_of_one_process(driver, scene, spheres, many, query, parts):
    options = {"k": 3} if query == "nearest" else {}
    blocks = [table(many[start:end], start) for start, end in ((0, 7), (7, 7), (7, 30_008), (30_008, COUNT))]
    found = gathered(umbracast.ray_data.cast(ray.data.from_arrow(blocks), spheres, query=query, parts=parts, **options))
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
    expected = moving.closest(many, masks=mask, times=time, radii=radius, skip_ids=skips)
    given = {"masks": masks, "velocities": velocities, "parts": 2}
    # A column of the rays may have the name of a result column if it is not kept.
    rays = rays.append_column("t", pa.array(np.zeros(COUNT)))
    same(
        gathered(umbracast.ray_data.cast(ray.data.from_arrow(rays), spheres, keep=["key"], **given)),
        "closest",
        expected,
    )


def test_workers_with_gpus_cast_on_them(driver, spheres, many):
    # The GPU exists only in Ray's bookkeeping; the workers use a software adapter.
    rays = many[:2000]
    found = umbracast.ray_data.cast(ray.data.from_arrow(table(rays)), spheres, num_gpus=0.5, num_cpus=0, parts=2)
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
        assert _actors.assigned_device() == device
    found[:3] = []
    assert _actors.assigned_device() == "gpu"


def test_without_rays_there_are_no_answers(driver, spheres):
    dataset = ray.data.from_arrow(table(np.empty((0, 8), np.float32)))
    assert umbracast.ray_data.cast(dataset, spheres, concurrency=1).count() == 0


def test_a_bad_ray_is_named_by_its_row(driver, spheres, many):
    rays = many.copy()
    rays[777, 1] = np.nan
    dataset = ray.data.from_arrow(table(rays))
    with pytest.raises(ray.exceptions.RayTaskError, match="oy is NaN: an origin must be finite .*key 777"):
        umbracast.ray_data.cast(dataset, spheres, concurrency=1).materialize()
    found = gathered(umbracast.ray_data.cast(dataset, spheres, on_bad="skip", concurrency=1))
    assert not found["t"][777].is_valid and found["t"].null_count < COUNT


DATASETS = {
    "a column is missing": (lambda r: r.drop_columns(["oy"]), {}, "rays: column 'oy' is missing; existing columns: ox, oz"),
    "a column is there twice": (lambda r: r.append_column("id", r["key"]), {}, "have a column 'id'"),
    "nothing to keep": (lambda r: r, {"keep": ["nothing"]}, "keep: column 'nothing' is missing"),
    "no query": (lambda r: r, {"query": "best"}, "query is 'best': allowed are 'closest', 'occluded'"),
    "no k": (lambda r: r, {"query": "nearest"}, "k is required for query 'nearest'"),
    "no word": (lambda r: r, {"inside": "out"}, "inside is 'out': allowed are 'enter'"),
    "no builder": (lambda r: r, {"builder": "me"}, "builder is 'me'"),
    "parts of lists": (lambda r: r, {"query": "all", "parts": 2}, "needs all spheres in one part"),
    "no parts": (lambda r: r, {"parts": 0}, "parts is 0"),
    "many parts": (lambda r: r, {"parts": 301}, "parts is 301, but there are only 300 spheres"),
    "more parts than CPUs": (lambda r: r, {"parts": 4}, "4 workers are needed.*room for 3, with 1 CPU kept free"),
    "no GPUs": (lambda r: r, {"num_gpus": 2}, "2 GPUs each: the cluster has room for 0"),
    "no workers": (lambda r: r, {"concurrency": 0}, "concurrency is 0"),
    "workers of nothing": (lambda r: r, {"num_cpus": 0}, "num_cpus is 0"),
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


def in_parts(query, parts, spheres, given, policies, **options):
    """Do what the workers do, one after the other and without Ray."""
    spec = _query.parse_query(query, None, parts, Policies(**policies))
    arguments = {"memory": None, "origin": None, **options}
    arguments.pop("device", None)
    config, cut = _partition.prepare_parts(spheres, spec, parts, time_range=(0, 1), builder="auto", **arguments)
    assert sorted(np.concatenate([part.ids for part in cut])) == list(range(len(spheres)))
    assert all((np.diff(part.ids.astype(int)) > 0).all() for part in cut)
    whole = None
    for part in cut:
        answer, _ = _query.run_query(config.build(part, options.get("device", "cpu")), part.ids, spec, given)
        if whole is not None:
            # Convert as for the transfer from part to part.
            before = _query.from_arrow(spec, pa.table(_query.to_arrow(spec, whole)))
            answer = _query.merge_results(query, before, answer)
        whole = answer
    return pa.table(_query.to_arrow(spec, whole))


@pytest.mark.parametrize("precision", ["fast", "standard", "exact"])
@pytest.mark.parametrize("query", _query.MERGEABLE)
def test_parts_of_a_scene_give_the_same_answers(query, precision):
    # Duplicate spheres have equal t, so the id decides.
    spheres = np.tile(cloud(500, seed=5), (4, 1))
    spheres[1500:] = cloud(500, seed=6)
    rays = beams(3000, seed=7)
    rays[::3, 7] = 0.5
    for inside in ("enter", "exit", "ignore"):
        policies = {"precision": precision, "inside": inside}
        expected = getattr(umbracast.Scene(spheres, device="cpu"), query)(rays, **policies)
        for parts in (2, 7, 2000) if inside == "enter" else (5,):
            if parts < 2000 or precision == "standard":
                same(in_parts(query, parts, spheres, table(rays), policies), query, expected)


def test_parts_of_ellipsoids_and_of_maps():
    centers, random = cloud(300, seed=8)[:, :3], np.random.default_rng(9)
    shapes = {"radii": random.uniform(0.2, 1, (300, 3)), "rotations": random.normal(size=(300, 4))}
    eggs, rays = umbracast.Scene(centers, device="cpu", **shapes), beams(3000)
    same(in_parts("closest", 4, centers, table(rays), {}, **shapes), "closest", eggs.closest(rays))
    far, moved = cloud(300) + np.array([1e6, 0, 0, 0]), beams(3000).astype(float) + [1e6, 0, 0, 0, 0, 0, 0, 0]
    given = pa.table({name: moved[:, place] for place, name in enumerate(INPUT_ORDER)})
    expected = umbracast.Scene(far, device="cpu", origin="auto").closest(moved)
    same(in_parts("closest", 4, far, given, {}, origin="auto"), "closest", expected)


def test_workers_multiply_transmittances():
    spheres, rays = cloud(300), beams(3000)
    left = np.linspace(0, 1, 300)
    spec = _query.parse_query("transmittance", None, 1, Policies())
    config, (whole,) = _partition.prepare_parts(
        spheres, spec, 1, builder="auto", memory=None, time_range=(0, 1), origin=None, transmittances=left
    )
    answer, _ = _query.run_query(config.build(whole, "cpu"), None, spec, table(rays))
    expected = umbracast.Scene(spheres, device="cpu", transmittances=left).transmittance(rays)
    np.testing.assert_array_equal(answer["transmittance"], expected)
    assert _query.count_hits(spec, _query.to_arrow(spec, answer)) == (expected < 1).sum() > 100
    with pytest.raises(ValueError, match="'transmittance' needs all spheres in one part"):
        _query.parse_query("transmittance", None, 2, Policies())


def test_the_example_of_the_page_runs(driver, files, many, scene, tmp_path):
    page = (Path(__file__).parent.parent / "RAY.md").read_text()
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    for file in files:
        (tmp_path / file.name).symlink_to(file)
    exec(compile(block.replace("/data/", f"{tmp_path}/"), "RAY.md", "exec"), {})
    same(pq.read_table(tmp_path / "hits").sort_by("key"), "closest", scene.closest(many))
