"""Tables go by the names of their columns, wherever a table is accepted."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import umbracast
from astropy.table import Table

CASES = Path(__file__).parent.parent.parent / "tests" / "data" / "cases"
# The ray meets sphere 0 at t = 4 and sphere 1, behind it, at t = 8; sphere 2 moves into its way at time 1.
SPHERES = [[5, 0, 0, 1], [9, 0, 0, 1], [3, 0, 9, 0.5]]
RAY = {"ox": [0.0], "oy": [0.0], "oz": [0.0], "dx": [1.0], "dy": [0.0], "dz": [0.0]}


def structured(columns):
    kinds = [(name, np.asarray(values).dtype) for name, values in columns.items()]
    table = np.empty(len(next(iter(columns.values()))), kinds)
    for name, values in columns.items():
        table[name] = values
    return table


TABLES = {
    "dict": dict,
    "structured": structured,
    "recarray": lambda columns: structured(columns).view(np.recarray),
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "astropy": Table,
}


@pytest.fixture(scope="module")
def scene():
    velocities = np.float32([[0, 0, 0], [0, 0, 0], [0, 0, -9]])
    return umbracast.Scene(SPHERES, velocities=velocities, masks=[1, 2, 4], device="cpu")


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(
    ("columns", "id", "t"),
    [
        ({}, 0, 4),
        ({"skip_id": [0]}, 1, 8),
        ({"mask": [2]}, 1, 8),
        ({"time": [1.0]}, 2, 2.5),
        ({"radius": [0.5]}, 0, 3.5),
        ({"t_min": [7.0]}, 1, 8),
        ({"t_max": [2.0]}, umbracast.NO_SPHERE, np.inf),
        ({"skip_id": [umbracast.NO_SPHERE], "mask": [3], "time": [1], "t_max": [5]}, 0, 4),
    ],
)
def test_columns_of_rays_are_honoured_in_any_order(scene, kind, columns, id, t):
    table = TABLES[kind](dict(reversed({**columns, **RAY}.items())))
    hits = scene.closest(table)
    assert (hits.id.item(), hits.t.item()) == (id, t)
    assert scene.occluded(table).item() == hits.hit.item()
    # The same table describes the hits, whatever its other columns are.
    np.testing.assert_allclose(scene.attributes(table, hits=hits).distance, hits.t)


@pytest.mark.parametrize("kind", TABLES)
def test_columns_of_other_records_are_honoured_in_any_order(scene, kind):
    made = TABLES[kind]
    inside = {"z": [0.0, 0.0], "y": [0.0, 0.0], "x": [5.0, 5.0]}
    assert scene.contains(made({"skip_id": [0, 1], **inside})).count.tolist() == [0, 1]
    assert scene.contains(made({"mask": [2, 1], **inside})).count.tolist() == [0, 1]
    below = {"z": [0.0, 0.0], "y": [0.0, 0.0], "x": [3.0, 3.0]}
    assert scene.contains(made({"time": [0.0, 1.0], **below})).count.tolist() == [0, 1]
    ends = {"z2": [0.0], "y2": [0.0], "x2": [20.0], "z1": [0.0], "y1": [0.0], "x1": [0.0]}
    assert scene.closest(umbracast.Segments(made({"skip_id": [0], **ends}))).id == [1]
    assert scene.closest(umbracast.Segments(made({"radius": [0.5], **ends}))).t == [np.float32(3.5 / 20)]
    still = umbracast.Scene(SPHERES, device="cpu")
    flights = still.bullets(made({"radius": [0.5], "speed": [1.0], **ends}))
    assert flights.distance[0] == 3.5
    velocity = {"vz": [1.0], "vy": [0.0], "vx": [0.0]}
    table = made({"transmittance": [0.5], "mask": [6], **velocity, "r": [1.0], "z": [0.0], "y": [0.0], "x": [5.0]})
    for one in (umbracast.Scene(table, device="cpu"), still_moving(table)):
        assert one.transmittance([0, 0, 0, 1, 0, 0], masks=2) == 0.5 and one.count([0, 0, 0, 1, 0, 0], masks=1) == 0
        assert one.closest([0, 0, 1, 1, 0, 0], times=1).t == 4
    around = umbracast.Scene.from_points(made({"mask": [4], "z": [0.0], "y": [0.0], "x": [5.0]}), 1, device="cpu")
    assert around.count([[0, 0, 0, 1, 0, 0]] * 2, masks=[3, 4]).tolist() == [0, 1]
    system = {"unit": "m", "light": {"center": [100, 0, 0], "radius": 1}, "body": [{"name": "a", "center": [0, 0, 0], "radius": 2}]}
    seen = umbracast.System(system).shadow(made({"z": [0.0], "y": [0.0], "x": [-9.0]}), device="cpu")
    assert seen.fraction == [0]
    np.testing.assert_array_equal(umbracast.rays_along(made({"z": [3.0], "y": [2.0], "x": [1.0]}), [0, 0, 1])[0, :3], [1, 2, 3])


def still_moving(table):
    """Return a scene that has got its spheres by an update."""
    scene = umbracast.Scene([[0, 0, 0, 1]], velocities=[[0, 0, 0]], transmittances=[0], device="cpu")
    scene.update(table)
    return scene


@pytest.mark.parametrize("kind", TABLES)
def test_poses_go_by_name_as_ros_and_scipy_order_them(kind):
    columns = dict(zip("xyz", np.arange(6.0).reshape(3, 2), strict=True))
    # A quarter and a half turn about z.
    columns |= {"qx": [0.0, 0.0], "qy": [0.0, 0.0], "qz": [0.5**0.5, 1.0], "qw": [0.5**0.5, 0.0]}
    rays = umbracast.rays_of_sensor([0], [0], TABLES[kind](columns))
    np.testing.assert_allclose(rays[:, 0, 0, 3:6], [[0, 1, 0], [-1, 0, 0]], atol=1e-7)
    np.testing.assert_array_equal(rays[:, 0, 0, :3], [[0, 2, 4], [1, 3, 5]])
    places = umbracast.rays_of_sensor([0], [0], TABLES[kind]({"y": [2.0], "z": [3.0], "x": [1.0]}))
    np.testing.assert_array_equal(places[0, 0, 0, :6], [1, 2, 3, 1, 0, 0])


def test_radius_is_another_name_for_r():
    np.testing.assert_array_equal(umbracast.Scene({**POINT, "radius": [2.0]}).spheres, [[0, 0, 0, 2]])
    with pytest.raises(ValueError, match="unknown column 'radius'"):
        umbracast.Scene({**BALL, "radius": [2.0]})


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("column", ["oy", "time", "radius"])
def test_a_row_without_a_number_is_named_or_skipped(kind, column):
    scene = umbracast.Scene(SPHERES[:1], velocities=[[0, 0, 0]], device="cpu")
    values = {name: given * 3 for name, given in RAY.items()} | {column: [0.0, None, 0.0]}
    make = {"pandas": lambda v: pd.DataFrame(v).convert_dtypes(), "polars": pl.DataFrame, "arrow": pa.table}[kind]
    hits = scene.closest(make(values), on_bad="skip")
    assert hits.id.tolist() == [0, umbracast.NO_SPHERE, 0] and hits.report.skipped == 1
    with pytest.raises(umbracast.RecordError, match=f"ray 1: {column} is NaN") as caught:
        scene.closest(make(values))
    assert (caught.value.index, caught.value.field) == (1, column)


def test_spheres_of_a_system_can_have_a_column_radius():
    table = {"x": [0.0], "y": [0.0], "z": [5.0], "radius": [2.0]}
    system = umbracast.System({"unit": "m", "light": {"center": [0, 0, 9], "radius": 1}, "body": [{"spheres": table}]})
    assert system.contents["body"][0]["spheres"] == [[0, 0, 5, 2]]


def test_a_missing_skip_id_skips_none(scene):
    rays = {name: values * 3 for name, values in RAY.items()}
    frame = pd.DataFrame({**rays, "skip_id": [0, None, 1]})
    assert frame["skip_id"].dtype == np.float64
    for table in (
        frame,
        frame.astype({"skip_id": "Int64"}),
        frame.astype({"skip_id": "uint32[pyarrow]"}),
        pa.table({**rays, "skip_id": pa.array([0, None, 1], pa.int32())}),
        pl.DataFrame({**rays, "skip_id": [0, None, 1]}),
        pl.concat([pl.DataFrame({**RAY, "skip_id": [one]}, schema_overrides={"skip_id": pl.Int64}) for one in (0, None, 1)], rechunk=False),
        {**rays, "skip_id": np.ma.masked_array([0, 7, 1], [False, True, False])},
        {**rays, "skip_id": [0, None, 1]},
    ):
        assert scene.closest(table).id.tolist() == [1, 0, 0]
    none = {**rays, "skip_id": [None] * 3}
    for table in (none, pd.DataFrame(none), pa.table(none), pl.DataFrame(none)):
        assert scene.closest(table).id.tolist() == [0, 0, 0]
    with pytest.raises(TypeError, match="rays: column 'skip_id' must be integers"):
        scene.closest({**RAY, "skip_id": [0.5]})


def ray(**columns):
    return {**RAY, **columns}


POINT = {"x": [0.0], "y": [0.0], "z": [0.0]}
LIT = umbracast.System({"unit": "m", "light": {"center": [0, 0, 9], "radius": 1}})
BALL = {**POINT, "r": [1.0]}
QUARTER = {"qw": [1.0], "qx": [0.0], "qy": [0.0], "qz": [1.0]}
ENDS = {**{f"{axis}1": [0.0] for axis in "xyz"}, **{f"{axis}2": [1.0] for axis in "xyz"}}
WRONG = {
    "tmax": (lambda s, m: s.closest(m(ray(tmax=[2.0]))), r"rays: unknown column 'tmax' \(did you mean 't_max'\?\)"),
    "skip": (lambda s, m: s.occluded(m(ray(skipid=[0]))), r"'skipid' \(did you mean 'skip_id'\?\)"),
    "option": (lambda s, m: s.count(m(ray(skip_ids=[0]))), r"'skip_ids' \(did you mean 'skip_id'\?\)"),
    "case": (lambda s, m: s.all(m(ray(Mask=[1]))), r"'Mask' \(did you mean 'mask'\?\)"),
    "words": (lambda s, m: s.closest(m(ray(name=["a"]))), "unknown column 'name'.*known columns are ox, .*, optional t_min"),
    "points": (lambda s, m: s.contains(m({**POINT, "radius": [1.0]})), "points: unknown column 'radius'"),
    "toward": (lambda s, m: umbracast.rays_toward(m({**POINT, "mask": [1]}), [0, 0, 1]), "points: unknown column 'mask'"),
    "segments": (lambda s, m: umbracast.Segments(m({**ENDS, "t_max": [1.0]})), "segments: unknown column 't_max'"),
    "bullets": (lambda s, m: s.bullets(m({**ENDS, "speed": [1.0], "mask": [1]})), "bullets: unknown column 'mask'"),
    "spheres": (lambda s, m: umbracast.Scene(m({**POINT, "radii": [1.0]})), r"'radii' \(did you mean 'r'\?\)"),
    "colours": (lambda s, m: umbracast.Scene(m({**BALL, "red": [1.0]})), "spheres: unknown column 'red'"),
    "velocity": (lambda s, m: umbracast.Scene(m({**BALL, "vy": [1.0]})), "velocities: column 'vx' is missing"),
    "light": (lambda s, m: umbracast.Scene(m({**BALL, "transmitance": [1.0]})), "did you mean 'transmittance'"),
    "from points": (lambda s, m: umbracast.Scene.from_points(m({**POINT, "intensity": [1]}), 1), "'intensity'"),
    "poses": (lambda s, m: umbracast.rays_of_sensor([0], [0], m({**POINT, "time": [1.0]})), "poses: unknown column 'time'"),
    "part": (lambda s, m: umbracast.rays_of_sensor([0], [0], m({**POINT, "qw": [1.0]})), "column 'qx' is missing"),
    "length": (lambda s, m: umbracast.rays_of_sensor([0], [0], m({**POINT, **QUARTER})), r"pose 0: \|q\| is 1.414"),
    "observers": (lambda s, m: LIT.shadow(m({**POINT, "height": [1.0]})), "observers: unknown column"),
    "type": (lambda s, m: s.closest(m(ray(ox=["a"]))), "column 'ox' must be float32 or float64"),
    "skip twice": (lambda s, m: s.closest(m(ray(skip_id=[0])), skip_ids=1), "skip_ids is given twice: .* column 'skip_id'"),
    "mask twice": (lambda s, m: s.contains(m({**POINT, "mask": [1]}), masks=1), "masks is given twice"),
    "time twice": (lambda s, m: s.count(umbracast.Segments(m({**ENDS, "time": [0.0]})), times=0), "times is given twice"),
    "t_max twice": (lambda s, m: s.closest(m(ray(t_max=[1.0])), t_max=1), "t_max is given twice"),
    "described": (lambda s, m: s.attributes(m(ray(radius=[0.0])), hits=([4], [0]), ray_radius=0), "ray_radius is given twice"),
    "bullet twice": (lambda s, m: s.bullets(m({**ENDS, "speed": [1.0], "radius": [0.0]}), radius=0), "radius is given twice"),
    "ball twice": (lambda s, m: umbracast.Scene(m({**BALL, "mask": [1]}), masks=[1]), "masks is given twice"),
    "moved twice": (
        lambda s, m: umbracast.Scene(m({**BALL, "vx": [1.0], "vy": [1.0], "vz": [1.0]}), velocities=[[0, 0, 1]]),
        "velocities is given twice",
    ),
    "radius twice": (lambda s, m: umbracast.Scene.from_points(m(BALL), 1), "radius is given twice"),
    "another radius twice": (lambda s, m: umbracast.Scene.from_points(m({**POINT, "radius": [1]}), 1), "radius is given .* column 'radius'"),
    "two radii": (lambda s, m: umbracast.Scene(m(BALL), semi_axes=[[1, 1, 1]]), "semi_axes is given twice"),
}


@pytest.mark.parametrize("kind", ["dict", "structured", "pandas", "polars"])
@pytest.mark.parametrize("case", WRONG)
def test_unknown_columns_and_columns_given_twice_are_refused(scene, case, kind):
    ask, words = WRONG[case]
    with pytest.raises((TypeError, ValueError), match=words):
        ask(scene, TABLES[kind])


def test_an_arrow_stream_is_read_once(scene):
    """A reader, as those of DuckDB and of scanners of Parquet, has nothing left when it is read again."""
    def reader(columns):
        return pa.table(columns).to_reader()

    ray, far = {name: values * 2 for name, values in RAY.items()}, {"x": [1e6, 2e6], "y": [0.0, 0.0], "z": [0.0, 0.0]}
    assert scene.closest(reader(ray)).id.tolist() == [0, 0]
    eye = {**RAY, "ox": [6371001.7]}
    starts = umbracast.Scene([[0, 0, 0, 6371000]], origin=pa.table(eye), device="cpu").origin
    assert starts != (0, 0, 0) and umbracast.Scene([[0, 0, 0, 6371000]], origin=reader(eye), device="cpu").origin == starts
    axes, turns = {"rx": [1.0, 2.0], "ry": [1.0, 1.0], "rz": [1.0, 1.0]}, {"qw": [1.0] * 2, "qx": [0.0] * 2, "qy": [0.0] * 2, "qz": [0.0] * 2}
    made = umbracast.Scene(reader(far), semi_axes=reader(axes), rotations=reader(turns), origin="auto", device="cpu")
    assert made.shapes[0][1].tolist() == [2, 1, 1] and made.origin == pytest.approx((1500000.5, 0, 0), abs=1)
    speeds = {"vx": [1.0, 2.0], "vy": [0.0, 0.0], "vz": [0.0, 0.0]}
    moving = umbracast.Scene(reader({**far, "r": [1.0, 1.0]}), velocities=reader(speeds), device="cpu")
    assert moving.contains([[2e6 + 2, 0, 0]], times=1).id == [1]
    system = umbracast.System({"unit": "m", "light": {"center": [0, 0, 9], "radius": 1}, "body": [{"center": [0, 0, 5], "radius": 1}]})
    seen = {"x": [0.0, 3.0], "y": [0.0, 0.0], "z": [0.0, 9.0]}
    assert system.shadow(reader(seen)).fraction.tolist() == system.shadow(seen).fraction.tolist() == [0, 1]


def test_a_column_of_arrow_is_an_array(scene):
    frame = pd.DataFrame({"x": [5.0], "y": [0.0], "z": [0.0]})
    for row in (frame.iloc[0], pl.Series([5.0, 0.0, 0.0]), pa.chunked_array([[5.0, 0.0, 0.0]])):
        assert umbracast.Scene(SPHERES, origin=row, device="cpu").origin == (5, 0, 0)
        assert scene.contains(row).id == 0
    structs = pa.array([{name: values[0] for name, values in RAY.items()}])
    for table in (structs, pa.chunked_array([structs]), pa.RecordBatch.from_struct_array(structs)):
        assert scene.closest(table).id.tolist() == [0]


def test_a_table_is_no_array(scene):
    """The order of the columns of a table is not meant, so a table is read by name or refused."""
    right, up = pd.DataFrame({"oz": [0.0], "oy": [0.0], "ox": [2.0]}), pl.DataFrame({"z": [0.0], "y": [0.0], "x": [1.0]})
    assert scene.closest(right, up).t == [2]
    assert scene.closest(umbracast.Segments(up, right.rename(columns=lambda name: name[1]))).t == [np.inf]
    for ask in (
        lambda: umbracast.rays_of_sensor([0], pd.DataFrame({"azimuth": [0.0]})),
        lambda: scene.closest([0, 0, 0, 1, 0, 0], times=pd.DataFrame({"time": [0.0]})),
        lambda: umbracast.Scene.from_points([[0, 0, 0]], pl.DataFrame({"r": [1.0]})),
        lambda: umbracast.Scene(SPHERES, masks=pa.table({"mask": [1, 2, 3]})),
        lambda: umbracast.sky.circumstances("2024-04-08", pd.DataFrame({"lon": [0.0], "lat": [1.0]}), 0),
    ):
        with pytest.raises(TypeError, match="must be an array, not a table"):
            ask()
    with pytest.raises(TypeError, match="rays must be an array or a table, not a LazyFrame: pass what its collect"):
        scene.closest(pl.LazyFrame(RAY))
    double = pd.DataFrame([[0.0, 1.0]], columns=["x", "x"])
    for table in (double, pa.table([[0.0], [1.0]], names=["x", "x"])):
        with pytest.raises(ValueError, match="column 'x' appears twice"):
            scene.contains(table)


def test_rows_go_by_name(scene):
    frame = pd.DataFrame({"oy": [0.0, 7.0], "t_max": [9.0, 9.0], "dx": 1.0, "t_min": [5.0, 0.0], "ox": 0.0, "oz": 0.0, "dy": 0.0, "dz": 0.0})
    row, points = frame.iloc[0], pd.DataFrame({"z": [3.0], "y": [2.0], "x": [1.0]})
    (named,) = frame.head(1).itertuples(index=False)
    for one in (row, named):
        assert scene.closest(one).t == 5 and scene.closest(one).t.shape == ()
    apart = row[["oz", "oy", "ox"]], row[["dz", "dy", "dx"]]
    assert scene.closest(*apart).t == 4
    (point,) = points.itertuples(index=False)
    for one in (points.iloc[0], point):
        assert umbracast.Scene([[1, 2, 3, 0.5]], device="cpu").contains(one).count == 1
        np.testing.assert_array_equal(umbracast.rays_along(one, [0, 0, 1])[:3], [1, 2, 3])
        np.testing.assert_array_equal(umbracast.rays_along([0, 0, 0], one)[3:6], [1, 2, 3])
        np.testing.assert_array_equal(umbracast.rays_toward([0, 0, 0], one)[3:6], [1, 2, 3])
        np.testing.assert_array_equal(umbracast.rays_of_camera(one, [0, 0, 0], size=(1, 1))[0, 0, :3], [1, 2, 3])
        assert umbracast.Scene(SPHERES, origin=one, device="cpu").origin == (1, 2, 3)
        assert umbracast.visible_fraction([0, 0, 0], one, 0.1, [[0.5, 1, 1.5]], [1e-3]).fraction < 1
    with pytest.raises(TypeError, match="^target has the labels oz, oy, ox, not x, y, z: rename them, or pass plain numbers"):
        umbracast.rays_toward([0, 0, 0], apart[0])
    balls = points.assign(r=1.0)
    for given in ([frame], [row, row], list(frame.itertuples(index=False)), [pl.DataFrame(frame)], [[row]]):
        with pytest.raises(TypeError, match=r"^rays: the value at \[0.*\] has names, .*: pass one table, as pandas.DataFrame\(rows\)"):
            scene.closest(given)
    with pytest.raises(TypeError, match="has names"):
        umbracast.Scene([row for _, row in balls.iterrows()])
    # Labels of the rows of a column say nothing of its order, and a column of numbers has none.
    labelled = pd.Series([0.0, 0.5], index=["b", "a"])
    np.testing.assert_array_equal(scene.closest([[0, 0, 0, 1, 0, 0]] * 2, ray_radius=labelled).t, [4, 3.5])
    for plain in ((0.0, 0, 0, 1, 0, 0), pd.Series([0.0, 0, 0, 1, 0, 0]), [pd.Series([0.0, 0, 0, 1, 0, 0])]):
        assert scene.closest(plain).t == 4


def test_quaternions_of_few_digits_are_normalised_with_a_warning():
    with pytest.warns(RuntimeWarning, match=r"1 of 2 poses were normalised: \|q\| of pose 1 is 0.999849") as found:
        table = pd.DataFrame([[0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.707, 0, 0, 0.707]], columns=["x", "y", "z", "qw", "qx", "qy", "qz"])
        rays = umbracast.rays_of_sensor([0], [0], table)
    assert found[0].filename == __file__
    np.testing.assert_allclose(rays[1, 0, 0, 3:6], [0, 1, 0], atol=1e-7)
    # Rotations of SciPy, rounded to three digits, in a table that pandas wrote.
    poses = pd.read_csv(CASES / "pandas_poses.csv", index_col=0)
    with pytest.raises(ValueError, match="poses: unknown column 'time'"):
        umbracast.rays_of_sensor([0], [0], poses)
    with pytest.warns(RuntimeWarning, match="4 of 5 poses were normalised"):
        rays = umbracast.rays_of_sensor([0], [0], poses.drop(columns=["time", "frame"]))
    np.testing.assert_allclose(np.linalg.norm(rays[..., 3:6], axis=-1), 1, atol=1e-6)
    with umbracast.Scene(pd.read_csv(CASES / "pandas_poses_seen.csv"), device="cpu") as scene:
        hits = scene.closest(rays)
    assert hits.id.ravel().tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(hits.t.ravel(), 4.75, atol=1e-3)


def test_arrays_and_datasets_of_xarray():
    xarray = pytest.importorskip("xarray")
    scene = umbracast.Scene(SPHERES, velocities=[[0, 0, 1]] * 3, device="cpu")
    rays = np.broadcast_to([0.0, 0, 0, 1, 0, 0], (2, 3, 6)).copy()
    rays[1, :, 1] = 7
    given = xarray.DataArray(rays, dims=("row", "column", "field"))
    np.testing.assert_array_equal(scene.closest(given).t, scene.closest(rays).t)
    turned = xarray.DataArray(rays[..., ::-1], dims=given.dims, coords={"field": list(RAY)[::-1]})
    np.testing.assert_array_equal(scene.closest(turned).t, scene.closest(rays).t)
    # The coordinate time is the row, not the time of a ray.
    fields = {name: (("time", "column"), rays[..., k]) for k, name in enumerate(RAY)}
    data = xarray.Dataset(fields, coords={"time": [2.0, 3.0]})
    np.testing.assert_array_equal(scene.closest(data).t, scene.closest(rays).t)
    turned = data.assign(oy=data.oy.transpose())
    with pytest.raises(ValueError, match=r"the same order, not ox \('time', 'column'\), oy \('column', 'time'\), .*: use xarray.broadcast"):
        scene.closest(turned)
    np.testing.assert_array_equal(scene.closest(xarray.broadcast(turned)[0]).t, scene.closest(rays).t)
