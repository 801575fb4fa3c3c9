"""Results as tables, in notebooks and as text; progress; times and rotations of other packages."""

import copy
import datetime
import pickle
import sys
import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import umbracast
from conftest import beams, cloud
from umbracast import sky

RAYS = beams(60).reshape(5, 12, 8)
HITTING = (3, 3)
"""The index of a ray that hits several spheres."""


@pytest.fixture(scope="module")
def scene():
    return umbracast.Scene(cloud(300), device="cpu")


def results(scene):
    hits = scene.closest(RAYS)
    system = umbracast.System({"unit": "m", "light": {"center": [0, 0, 99], "radius": 1}, "body": [{"center": [0, 0, 9], "radius": 1}]})
    return {
        "Hits": hits,
        "Interval": scene.interval(RAYS),
        "Approach": scene.approach(RAYS),
        "Containment": scene.contains(RAYS[..., :3]),
        "HitLists": scene.all(RAYS),
        "RayHits": scene.all(RAYS).of(HITTING),
        "Attributes": scene.attributes(RAYS, hits=hits),
        "Flights": scene.bullets(np.c_[RAYS[..., :6].reshape(-1, 6), np.ones(60)], bounces=3),
        "Shadows": system.shadow(RAYS[..., :3], device="cpu"),
    }


def test_results_are_tables(scene):
    for name, result in results(scene).items():
        frame, table = result.to_pandas(), result.to_arrow()
        assert isinstance(frame, pd.DataFrame) and isinstance(table, pa.Table), name
        assert list(frame) == table.column_names == list(result.columns()), name
        for column in frame:
            assert [None if pd.isna(one) else one for one in frame[column]] == table[column].to_pylist(), (name, column)
        rows = {"HitLists": len(result.to_pandas()), "RayHits": len(result.to_pandas()), "Flights": len(result.to_pandas())}
        assert len(frame) == rows.get(name, 60), name
        with pytest.raises(AttributeError):
            setattr(result, next(iter(result._arrays())), None)
        copied = pickle.loads(pickle.dumps(copy.copy(result)))
        pd.testing.assert_frame_equal(copied.to_pandas(), frame)


def test_misses_are_missing_values_in_tables(scene):
    hits = results(scene)["Hits"]
    frame, missed = hits.to_pandas(), ~hits.hit.reshape(-1)
    assert 0 < missed.sum() < 60
    assert (frame.t.isna() == missed).all() and (frame.id.isna() == missed).all()
    assert frame.t.dtype == np.float32 and frame.id.dtype == "UInt32"
    assert frame.t.mean() == pytest.approx(hits.t[hits.hit].mean()) and hits.to_arrow()["id"].null_count == missed.sum()
    assert np.isinf(hits.t[~hits.hit]).all()


def test_columns_are_those_of_files(scene):
    made = results(scene)
    assert list(made["Hits"].to_pandas()) == ["t", "id"]
    assert list(made["Attributes"].to_pandas())[:6] == ["px", "py", "pz", "nx", "ny", "nz"]
    assert set(made["Shadows"].to_pandas().kind) <= {kind.name.lower() for kind in umbracast.ShadowKind}
    lists = made["HitLists"]
    frame = lists.to_pandas()
    assert list(frame) == ["ray", "t_enter", "t_exit", "id"] and len(frame) == len(lists.id)
    own = frame[frame.ray == HITTING[0] * 12 + HITTING[1]]
    one = lists.of(HITTING)
    assert own.id.tolist() == one.id.tolist() == lists.of(HITTING[0] * 12 + HITTING[1]).id.tolist() and len(own) > 0
    np.testing.assert_array_equal(one.t_enter, own.t_enter)
    with pytest.raises(IndexError):
        lists.of((5, 0))
    flights = made["Flights"].to_pandas()
    assert list(flights)[:8] == ["bullet", "status", "id", "distance", "frames", "px", "py", "pz"]
    assert list(flights)[8:] == ["grazing_rad", "vx", "vy", "vz"]
    assert flights.bullet.nunique() == 60


def test_results_unpack(scene):
    t, id = scene.closest(RAYS)
    first, last, ids = scene.interval(RAYS)
    assert t.shape == id.shape == first.shape == last.shape == ids.shape == (5, 12)
    hits = scene.closest(RAYS)
    assert scene.closest(RAYS[::-1], out=hits).t is hits.t
    np.testing.assert_array_equal(hits.t, t[::-1])
    # The result takes over what belongs to the hits: rays, options and statistics.
    np.testing.assert_array_equal(hits.points(), scene.closest(RAYS[::-1]).points())
    for one in (hits, scene.interval(RAYS), scene.approach(RAYS), scene.contains(RAYS[..., :3])):
        query = {"Hits": scene.closest, "Interval": scene.interval, "Approach": scene.approach, "Containment": scene.contains}[type(one).__name__]
        before = one.report
        given = np.full(RAYS.shape, np.nan)[..., : 3 if query == scene.contains else None]
        assert query(given, out=one, on_bad="skip") is one and (before.skipped, one.report.skipped) == (0, 60)


def test_copies_of_hits_keep_their_rays():
    scene = umbracast.Scene([[0, 0, 5, 1]], velocities=[[1, 0, 0]], time_range=(0, 10), device="cpu")
    ray = np.array([[5.0, 0, 0, 0, 0, 1]])
    hits = scene.closest(ray, times=5.5)
    expected = scene.attributes(ray, hits=hits)
    assert expected.normal[0, 0] == -0.5
    deep = copy.deepcopy(hits)
    for one in (copy.copy(hits), deep):
        np.testing.assert_array_equal(scene.attributes(ray, hits=one).normal, expected.normal)
    ray[0, 0] = 7
    assert hits.points()[0, 0] == 7 and deep.points()[0, 0] == 5


def test_copies_have_arrays_of_their_own(scene):
    hits = scene.closest(RAYS)
    deep = copy.deepcopy(hits)
    deep.id[:] = 0
    assert (hits.id != 0).any()
    with pytest.raises(TypeError, match="out must be a tuple of 2 arrays"):
        scene.closest(RAYS, out=scene.interval(RAYS))


def test_texts_are_short(scene):
    for name, result in results(scene).items():
        assert repr(result).startswith(f"<umbracast.{name}: ") and len(repr(result)) < 100, repr(result)
        page = result._repr_html_()
        assert page.startswith("<p>") and page.count("<tr>") <= 11 and len(page) < 4000, page
    hits = scene.closest(RAYS)
    assert repr(hits) == f"<umbracast.Hits: shape (5, 12), {hits.hit.sum()} of 60 rays hit a sphere>"
    assert repr(scene.closest(RAYS[0, 0])).startswith("<umbracast.Hits: shape (), ")
    assert "and 50 more rows" in hits._repr_html_() and "<td>60</td>" in hits.report._repr_html_()
    assert hits._repr_html_().count("<td>none</td>") == np.count_nonzero(~hits.hit.reshape(-1)[:10])
    empty = scene.closest(RAYS[:0])
    assert "0 of 0 rays" in repr(empty) and empty.to_pandas().empty and empty._repr_html_()


def test_tables_need_their_packages(scene, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError):
        scene.closest(RAYS).to_pandas()


def test_progress_is_a_bar_of_tqdm(scene, monkeypatch):
    made = []

    class Bar:
        def __init__(self, **options):
            self.options, self.n, self.total, self.closed = options, 0, None, False
            made.append(self)

        def update(self, more):
            self.n += more

        def close(self):
            self.closed = True

    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    scene.closest(RAYS, progress=True)
    assert (made[0].n, made[0].total, made[0].closed) == (60, 60, True)
    assert made[0].options["desc"] == "closest" and made[0].options["unit"] == " rays"
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.warns(RuntimeWarning, match="pip install tqdm"):
        scene.closest(RAYS, progress=True)


def test_times_of_astropy_and_skyfield():
    astropy = pytest.importorskip("astropy.time").Time
    skyfield = pytest.importorskip("skyfield.api").load.timescale().tt_jd
    # Before 1972, between its first instants in TT and in UTC, and later.
    dates = np.array([2422108.05, 2441317.5, 2441317.51, 2460409.25])
    expected = sky.positions("moon", sky.julian_date(dates, "tt"), frame="gcrs")
    given = astropy(dates.reshape(2, 2), format="jd", scale="tt")
    for found in (
        sky.positions("moon", given, frame="gcrs").reshape(4, 3),
        sky.positions("moon", given.tdb, frame="gcrs").reshape(4, 3),
        # TT is TT, whatever ΔT is.
        sky.positions("moon", skyfield(dates), frame="gcrs", delta_t=100),
        sky.positions("moon", list(skyfield(dates)), frame="gcrs"),
        [sky.positions("moon", one, frame="gcrs") for one in given.reshape(-1)],
    ):
        # Skyfield rounds UTC to a millisecond, in which the Moon moves by a metre.
        np.testing.assert_allclose(found, expected, atol=1.2e-3)
    later = datetime.datetime(2024, 4, 8, 18, 17, 20)
    np.testing.assert_array_equal(sky.positions("moon", astropy(later, scale="utc").tdb), sky.positions("moon", later))
    for one in (skyfield(dates[0]), astropy(dates[0], format="jd", scale="tt")):
        assert sky.eclipse(one) == sky.eclipse("1919-05-29")
        instant = sky.julian_date(dates[0], "tt")
        assert [*sky.obscuration(one, 4.3, -30)] == [*sky.obscuration(instant, 4.3, -30)] > [0.1]
    given[1, 1] = np.ma.masked
    assert sky.positions("moon", given[0]).shape == (2, 3)
    for masked, words in [(given, r"the value at \[1, 1\] is masked"), (given[1, 1], "is masked")]:
        with pytest.raises(ValueError, match=words):
            sky.positions("moon", masked)


def test_poses_are_matrices_rotations_and_named_quaternions():
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation.random(50, rng=1)
    places = np.random.default_rng(2).uniform(-9, 9, (50, 3))
    matrices = np.tile(np.eye(4), (50, 1, 1))
    matrices[:, :3, :3], matrices[:, :3, 3] = rotation.as_matrix(), places
    x, y, z, w = rotation.as_quat().T
    frame = pd.DataFrame({"qx": x, "qw": w, "qz": z, "qy": y, "x": places[:, 0], "y": places[:, 1], "z": places[:, 2]})
    angles = ([-10, 0, 30], [0, 90, 200])
    expected = umbracast.rays_of_sensor(*angles, frame)
    assert expected.shape == (50, 3, 3, 8)
    ahead = rotation.apply([1, 0, 0])
    np.testing.assert_allclose(expected[:, 1, 0, 3:6], ahead, atol=1e-6)
    for rays in (
        umbracast.rays_of_sensor(*angles, matrices),
        umbracast.rays_of_sensor(*angles, types.SimpleNamespace(as_matrix=lambda: matrices)),
        umbracast.rays_of_sensor(*angles, places, rotations=rotation),
        umbracast.rays_of_sensor(*angles, frame[["x", "y", "z"]], rotations=rotation),
    ):
        np.testing.assert_allclose(rays, expected, atol=1e-6)
    assert umbracast.rays_of_sensor(*angles, matrices[0]).shape == (3, 3, 8)
    one = umbracast.rays_of_sensor(*angles, places, rotations=rotation[0])
    np.testing.assert_allclose(one[:, 1, 0, 3:6], np.tile(ahead[0], (50, 1)), atol=1e-6)
    turned = umbracast.Scene(places, semi_axes=np.tile([1, 2, 3], (50, 1)), rotations=rotation, device="cpu")
    named = umbracast.Scene(frame.assign(rx=1.0, ry=2.0, rz=3.0), device="cpu")
    np.testing.assert_array_equal(turned.shapes[1], named.shapes[1])


def test_half_turns_are_exact():
    turns = np.tile(np.eye(4), (4, 1, 1))
    for k in (1, 2, 3):
        turns[k, :3, :3] = -np.eye(3)
        turns[k, k - 1, k - 1] = 1
    rays = umbracast.rays_of_sensor([0], [0, 90], turns)
    np.testing.assert_allclose(rays[:, 0, 0, 3:6], [[1, 0, 0], [1, 0, 0], [-1, 0, 0], [-1, 0, 0]], atol=1e-7)
    np.testing.assert_allclose(rays[:, 0, 1, 3:6], [[0, 1, 0], [0, -1, 0], [0, 1, 0], [0, -1, 0]], atol=1e-7)


def test_wrong_poses_are_refused():
    for change, bad in [("scaled", np.diag([2, 1, 1, 1])), ("mirrored", np.diag([-1, 1, 1, 1])), ("divided", np.diag([1, 1, 1, 2]))]:
        with pytest.raises(umbracast.RecordError, match="pose 1: the matrix is .* must be a rotation") as error:
            umbracast.rays_of_sensor([0], [0], np.stack([np.eye(4), bad]))
        assert error.value.index == 1, change
    with pytest.raises(TypeError, match="poses are rotations: pass them as rotations="):
        umbracast.rays_of_sensor([0], [0], types.SimpleNamespace(as_quat=lambda: [0, 0, 0, 1], as_matrix=lambda: np.eye(3)))
    with pytest.raises(ValueError, match="quaternions go by name"):
        umbracast.rays_of_sensor([0], [0], [[0, 0, 0, 1, 0, 0, 0]])
    with pytest.raises(TypeError, match="scipy.spatial.transform.Rotation, not list"):
        umbracast.rays_of_sensor([0], [0], [[0, 0, 0]], rotations=[[1, 0, 0, 0]])
    turn = types.SimpleNamespace(as_quat=lambda: [[0, 0, 0, 1]] * 2)
    with pytest.raises(ValueError, match="2 rotations and 3 positions"):
        umbracast.rays_of_sensor([0], [0], np.zeros((3, 3)), rotations=turn)
    with pytest.raises(TypeError, match="given twice"):
        umbracast.rays_of_sensor([0], [0], np.eye(4), rotations=turn)
