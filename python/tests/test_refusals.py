"""Invalid input is refused with messages that say what is wrong."""

import numpy as np
import pandas
import pyarrow
import pytest
import umbracast

N = 5000


def bad(rays, row, column, value):
    other = rays.copy()
    other[row, column] = value
    return other


def read_only(array):
    array.flags.writeable = False
    return array


def outs(t=None, id=None):
    return (np.empty(N, np.float32) if t is None else t, np.empty(N, np.uint32) if id is None else id)


RAYS = {
    "no numbers": (lambda s, r: s.closest(r.astype(complex)), TypeError, "float32 or float64.*complex128"),
    "words": (lambda s, r: s.closest([["a"] * 6]), TypeError, "dtype <U1"),
    "truth values": (lambda s, r: s.closest(r > 0), TypeError, "dtype bool"),
    "objects": (lambda s, r: s.closest(r.astype(object)), TypeError, "dtype object"),
    "large whole numbers": (lambda s, r: s.closest([[2**60, 0, 0, 1, 0, 0]]), ValueError, "2\\*\\*53"),
    "seven columns": (lambda s, r: s.closest(r[:, :7]), ValueError, r"\(…, 6\) or \(…, 8\), not \(5000, 7\)"),
    "a number": (lambda s, r: s.closest(3.0), ValueError, r"not \(\)"),
    "origins alone": (lambda s, r: s.closest(r[:, :3]), ValueError, r"not \(5000, 3\)"),
    "shapes apart": (lambda s, r: s.closest(r[:, :3], r[:7, 3:6]), ValueError, r"origins \(5000,\), directions \(7,\)"),
    "wide directions": (lambda s, r: s.closest(r[:, :3], r), ValueError, r"directions must have shape \(…, 3\)"),
    "ends apart": (
        lambda s, r: s.closest(r[:, :6], t_max=[1, 2]),
        ValueError,
        r"t_max has shape \(2,\)",
    ),
    "ends twice": (lambda s, r: s.closest(r, t_max=1), TypeError, "t_max is given twice"),
    "NaN": (
        lambda s, r: s.closest(bad(r, 17, 1, np.nan)),
        umbracast.RecordError,
        "ray 17: oy is NaN: an origin must be finite",
    ),
    "NaN of float64": (
        lambda s, r: s.closest(bad(r.astype(float), 17, 4, np.nan)),
        umbracast.RecordError,
        "ray 17: dy is NaN",
    ),
    "another order": (
        lambda s, r: s.closest([[0, 0, 0, 0, 0, 0, 1, np.inf]]),
        umbracast.RecordError,
        "ray 0: direction is 0,0,0: a direction must not be zero; the columns are origin, direction, t_min, t_max$",
    ),
    "another order of float32": (
        lambda s, r: s.occluded(bad(r, 3, slice(6, 8), (2, 1))),
        umbracast.RecordError,
        "ray 3: t_min is 2 with t_max 1: t_min must not exceed t_max; the columns are origin, direction, t_min, t_max$",
    ),
    "one order only": (
        lambda s, r: s.closest(r[:, :3], np.zeros(3)),
        umbracast.RecordError,
        "ray 0: direction is 0,0,0: a direction must not be zero$",
    ),
    "infinite": (
        lambda s, r: s.closest(bad(r, 3, 5, np.inf)),
        umbracast.RecordError,
        "ray 3: dz is inf: a direction must be finite",
    ),
    "no direction": (
        lambda s, r: s.count(bad(r, 4999, slice(3, 6), 0)),
        umbracast.RecordError,
        "ray 4999: direction is 0,0,0",
    ),
    "ends in disorder": (
        lambda s, r: s.all(bad(r, 8, 7, -1)),
        umbracast.RecordError,
        "ray 8: t_min is 0 with t_max -1",
    ),
    "too large": (
        lambda s, r: s.closest(bad(r.astype(float), 9, 0, 1e39)),
        umbracast.RecordError,
        "ray 9: ox is 1e39: it exceeds",
    ),
    "a bad radius": (lambda s, r: s.closest(r, ray_radius=-1), umbracast.RecordError, "ray 0: radius is -1"),
    "a missing column": (
        lambda s, r: s.closest({"ox": [1.0]}),
        ValueError,
        "column 'oy' is missing; existing columns: ox",
    ),
    "uneven columns": (
        lambda s, r: s.closest({n: np.ones(2 + (n == "oz")) for n in ("ox", "oy", "oz", "dx", "dy", "dz")}),
        ValueError,
        "differ",
    ),
    "a null": (
        lambda s, r: s.closest(pyarrow.table({n: [1.0, None] for n in ("ox", "oy", "oz", "dx", "dy", "dz")})),
        umbracast.RecordError,
        "ray 1: ox is NaN",
    ),
    "what is masked": (
        lambda s, r: s.closest(np.ma.masked_array(r, r == r[7, 2])),
        ValueError,
        r"rays: the value at \[7, 2\] is masked",
    ),
    "masked masks": (
        lambda s, r: s.closest(r, masks=np.ma.masked_array([1], [True])),
        ValueError,
        "masks: .* is masked",
    ),
    "a masked column": (
        lambda s, r: s.contains({n: np.ma.masked_less([3.0, 1.0], 2) for n in "xyz"}),
        umbracast.RecordError,
        "point 1: x is NaN",
    ),
    "no progress": (lambda s, r: s.closest(r, progress="yes"), TypeError, "progress must be True, False or a callable"),
    "part of them": (lambda s, r: s.nearest(r, k=1.5), TypeError, "k must be an integer, not 1.5"),
    "part of a ricochet": (
        lambda s, r: s.bullets([[0, 0, 9, 1, 1, 1, 1]], bounces="2"),
        TypeError,
        "bounces must be an integer, not '2'",
    ),
    "hits in a list": (lambda s, r: s.attributes(r, hits=[1, 2]), TypeError, "hits must be the result of closest"),
    "hits before the first": (
        lambda s, r: s.attributes(r[:1], hits=([4.0], [-1])),
        ValueError,
        "hits.id must be in 0",
    ),
    "unknown options": (lambda s, r: s.closest(r, insides="enter"), TypeError, "unexpected keyword argument 'insides'"),
    "an unknown end": (lambda s, r: s.closest(r, tmin=3), TypeError, "argument 'tmin': allowed are ends, .*, out, .*, t_max, t_min, times"),
    "unknown words": (
        lambda s, r: s.closest(r, inside="out"),
        ValueError,
        "inside is 'out': allowed are 'enter', 'exit', 'ignore'",
    ),
    "no word": (lambda s, r: s.closest(r, ends=None), TypeError, "ends must be a string"),
    "few masks": (lambda s, r: s.closest(r, masks=np.ones(7, int)), ValueError, r"masks: the shape \(7,\)"),
    "broken masks": (lambda s, r: s.closest(r, masks=0.5), TypeError, "masks must be integers"),
    "negative ids": (lambda s, r: s.closest(r, skip_ids=-1), ValueError, "skip_ids must be in 0"),
    "none of them": (lambda s, r: s.nearest(r, k=0), ValueError, "k is 0"),
    "flat points": (lambda s, r: s.contains(r[:, :2]), ValueError, r"points must have shape \(…, 3\)"),
    "a point of NaN": (lambda s, r: s.contains([[0, 0, np.nan]]), umbracast.RecordError, "0: z is NaN"),
    "bullets at rest": (lambda s, r: s.bullets([[0, 0, 9, 1, 1, 1, 0]]), umbracast.RecordError, "bullet 0: speed is 0"),
    "no ricochets": (lambda s, r: s.bullets([[0, 0, 9, 1, 1, 1, 1]], bounces=0), ValueError, "bounces is 0"),
    "hits of others": (lambda s, r: s.attributes(r, hits=s.closest(r[:5])), ValueError, "hits have shape"),
    "out of lists": (lambda s, r: s.closest(r, out=[1, 2]), TypeError, "out must be a tuple of 2 arrays"),
    "out of one": (lambda s, r: s.closest(r, out=(np.empty(N, np.float32),)), TypeError, "tuple of 2 arrays"),
    "out of float64": (lambda s, r: s.closest(r, out=outs(t=np.empty(N))), TypeError, "out.t must have dtype float32"),
    "out of int32": (
        lambda s, r: s.closest(r, out=outs(id=np.empty(N, np.int32))),
        TypeError,
        "out.id must have dtype uint32",
    ),
    "out of shape": (
        lambda s, r: s.closest(r, out=outs(t=np.empty(N - 1, np.float32))),
        ValueError,
        r"out.t must have shape \(5000,\)",
    ),
    "out with gaps": (
        lambda s, r: s.closest(r, out=outs(t=np.empty(2 * N, np.float32)[::2])),
        ValueError,
        "out.t must be C-contiguous",
    ),
    "out for reading": (
        lambda s, r: s.closest(r, out=outs(id=read_only(np.empty(N, np.uint32)))),
        ValueError,
        "out.id is read-only",
    ),
    "out of the rays": (
        lambda s, r: s.closest(q := r.copy(), out=outs(t=q.reshape(-1)[:N])),
        ValueError,
        "shares memory",
    ),
    "out in out": (
        lambda s, r: s.closest(r, out=outs(t=(t := np.empty(N, np.float32)), id=t.view(np.uint32))),
        ValueError,
        "shares memory",
    ),
    "out of numbers for truth": (
        lambda s, r: s.occluded(r, out=np.empty(N, np.uint8)),
        TypeError,
        "out must have dtype bool",
    ),
}

SCENES = {
    "three columns": (lambda s: umbracast.Scene(s[:, :3]), ValueError, r"shape \(N, 4\) with .*Scene.from_points"),
    "three dimensions": (lambda s: umbracast.Scene(s[None]), ValueError, r"spheres must have shape \(N, 4\)"),
    "a negative radius": (lambda s: umbracast.Scene(bad(s, 5, 3, -1)), umbracast.RecordError, "sphere 5: r is -1"),
    "NaN": (lambda s: umbracast.Scene(bad(s, 299, 0, np.nan)), umbracast.RecordError, "sphere 299: x is NaN"),
    "too large": (
        lambda s: umbracast.Scene(bad(s.astype(float), 2, 1, -1e40)),
        umbracast.RecordError,
        "sphere 2: y is -1",
    ),
    "too far from the origin": (
        lambda s: umbracast.Scene([[5.0, 0, 0, 1]], origin=[1e300, 0, 0]),
        umbracast.RecordError,
        "sphere 0: x is 5.0: the difference from 1e300 exceeds the largest f32",
    ),
    "few velocities": (
        lambda s: umbracast.Scene(s, velocities=np.zeros((3, 3))),
        ValueError,
        r"velocities must have shape \(300, 3\)",
    ),
    "few masks": (lambda s: umbracast.Scene(s, masks=[1, 2]), ValueError, "masks: the shape"),
    "no device": (lambda s: umbracast.Scene(s, device="abacus"), umbracast.NoDeviceError, "no device 'abacus'"),
    "no name": (lambda s: umbracast.Scene(s, device=1.5), TypeError, "device must be a name"),
    "no times": (lambda s: umbracast.Scene(s, device="cpu", time_range=(1, 0)), ValueError, "time range"),
    "no time range": (
        lambda s: umbracast.Scene(s, time_range=3),
        ValueError,
        "time_range must contain 2 numbers, but is 3",
    ),
    "no point for an origin": (
        lambda s: umbracast.Scene(s, origin=3),
        ValueError,
        "origin must contain 3 numbers, but is 3",
    ),
    "no word": (
        lambda s: umbracast.Scene(s, device="cpu", precision=None),
        TypeError,
        "precision must be a string, not None",
    ),
    "what is masked": (
        lambda s: umbracast.Scene(np.ma.masked_array(s, s == s[4, 3])),
        ValueError,
        r"spheres: the value at \[4, 3\] is masked",
    ),
    "no memory": (lambda s: umbracast.Device("cpu", memory=-1), ValueError, "memory is -1"),
    "memory in parts": (lambda s: umbracast.Device("cpu", memory=1e9), TypeError, "memory must be an integer"),
    "fewer than none": (lambda s: umbracast.Device("cpu").estimate_bytes(-1, 1), ValueError, "spheres is -1"),
    "no origin": (lambda s: umbracast.Scene(s, origin="middle"), ValueError, "origin is 'middle'"),
    "too much": (
        lambda s: umbracast.Scene(s, device=umbracast.Device("cpu", memory=100)),
        MemoryError,
        "bytes needed, 100 allowed",
    ),
}


@pytest.mark.parametrize("case", RAYS)
def test_rays_are_refused(case, scene, rays):
    ask, error, words = RAYS[case]
    with pytest.raises(error, match=words):
        ask(scene, rays)


@pytest.mark.parametrize("case", SCENES)
def test_spheres_are_refused(case, spheres):
    ask, error, words = SCENES[case]
    with pytest.raises(error, match=words):
        ask(spheres)


def test_numpy_and_lists_give_numbers_and_hits(scene, rays):
    index = len(umbracast.devices()) - 1
    assert umbracast.Device(np.int64(index)).is_cpu and umbracast.Device("cpu", memory=np.uint32(1 << 31)).is_cpu
    np.testing.assert_array_equal(scene.nearest(rays, k=np.int8(1)).id, scene.nearest(rays, k=1).id)
    hits, unmasked = scene.closest(rays), np.ma.masked_array(rays)
    np.testing.assert_array_equal(scene.closest(unmasked).t, hits.t)
    lists = hits.t.tolist(), hits.id.tolist()
    for a, b in zip(scene.attributes(rays, hits=lists), scene.attributes(rays, hits=hits), strict=True):
        np.testing.assert_array_equal(a, b)
    assert "(5000,)" in repr(umbracast.Segments(rays[:, :3], rays[:, 3:6]))


def test_numbers_with_a_unit_are_refused(scene, rays):
    """NumPy drops the unit of such an array: a radius of 1 km would become 1 m."""
    units = pytest.importorskip("astropy.units")
    column = pytest.importorskip("astropy.table").Column
    for call, name in [
        (lambda: umbracast.visible_fraction([0, 0, 9], [0, 0, 0], 1 * units.R_sun, [[0, 0, 5]], [1]), "light_radius"),
        (lambda: umbracast.visible_fraction([0, 0, 9], [0, 0, 0], 1, [[0, 0, 5] * units.km], [1]), "bodies"),
        (lambda: scene.closest(rays * units.m), "rays"),
        (lambda: scene.closest(rays[:, :3], rays[:, 3:6], t_max=3 * units.m), "t_max"),
        (
            lambda: scene.closest(
                {name: rays[:, k] * units.m for k, name in enumerate(("ox", "oy", "oz", "dx", "dy", "dz"))}
            ),
            "column 'ox'",
        ),
        (lambda: scene.closest(rays, times=1 * units.s), "times"),
        (lambda: umbracast.Scene([[0, 0, 0, 1]] * units.m), "spheres"),
        (lambda: umbracast.Scene([[0, 0, 0, 1]], origin=[0, 0, 0] * units.m), "origin"),
        (lambda: umbracast.sky.julian_date(2_460_000.5 * units.day, "utc"), "jd"),
        (
            lambda: umbracast.visible_fraction([0, 0, 9], [0, 0, 0], column([1.0], unit="km"), [[0, 0, 5]], [1]),
            "light_radius",
        ),
    ]:
        with pytest.raises(TypeError, match=f"{name}.* has the unit .*: pass plain numbers, as .to_value"):
            call()
    # Without a unit, the numbers are plain.
    seen = umbracast.visible_fraction([0, 0, 9], [0, 0, 0], 1 * units.dimensionless_unscaled, [[0, 0, 5]], [0.2])
    assert seen.fraction < 1


HIDDEN = np.ma.array([0, 0, 5, 1.0], mask=[0, 0, 1, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: umbracast.Scene([[0, 0, 0, 1], HIDDEN]), r"spheres: the value at \[1, 2\] is masked"),
        (lambda s: s.contains((HIDDEN[:3], HIDDEN[:3])), r"points: the value at \[0, 2\] is masked"),
        (lambda s: s.contains([[[0, 0, 0]], [[0, np.ma.masked, 0]]]), r"points: the value at \[1, 0, 1\] is masked"),
        (lambda s: umbracast.rays_toward([[0, 0, 0]], HIDDEN[:3]), r"target: the value at \[2\] is masked"),
        (lambda s: umbracast.Scene([[0, 0, 0, 1]], origin=HIDDEN[:3]), r"origin: the value at \[2\] is masked"),
        (lambda s: umbracast.sky.julian_date([HIDDEN[2:3] + 2.46e6], "utc"), r"jd: the value at \[0, 0\] is masked"),
        (
            lambda s: umbracast.sky.positions("sun", [np.ma.array(["2026-01-01"], "M8[us]", mask=[1])]),
            r"times: the value at \[0, 0\] is masked",
        ),
        (
            lambda s: umbracast.System({"light": {"center": HIDDEN[:3], "radius": 1}, "body": []}),
            r"light.center: the value at \[2\] is masked",
        ),
        (
            lambda s: umbracast.System({"light": {"center": [0, 0, np.ma.masked], "radius": 1}, "body": []}),
            r"light.center\[2\]: it is masked",
        ),
    ],
)
def test_masked_values_are_refused_within_lists_and_systems(scene, call, message):
    with pytest.raises(ValueError, match=message):
        call(scene)


def test_masked_values_of_astropy_are_refused(scene):
    masked = pytest.importorskip("astropy.utils.masked").Masked
    target = masked(np.array([0, 0, 5.0]), mask=[0, 0, 1])
    for call, name in (
        (lambda: umbracast.rays_toward([[0, 0, 0]], target), "target"),
        (lambda: scene.contains([target]), "points"),
        (lambda: umbracast.System({"light": {"center": target, "radius": 1}, "body": []}), "light.center"),
    ):
        with pytest.raises(ValueError, match=f"{name}: the value at .*2\\] is masked"):
            call()


def test_values_of_a_system_have_no_unit():
    units = pytest.importorskip("astropy.units")
    with pytest.raises(TypeError, match="light.center has the unit km"):
        umbracast.System({"unit": "m", "light": {"center": [0, 0, 5] * units.km, "radius": 1}, "body": []})


@pytest.mark.parametrize("missing", ["NaT", "40000-01-01"])
def test_times_of_sunlight_that_are_none_name_their_row(missing):
    times = np.datetime64("2026-03-21", "s") + np.arange(9).astype("timedelta64[m]")
    times[5] = missing
    orbit = np.broadcast_to([7000.0, 0, 0], (9, 3))
    given = [times] if missing != "NaT" else [times, pandas.to_datetime(times).tz_localize("Europe/Berlin"), list(times)]
    for one in given:
        with pytest.raises(umbracast.RecordError, match=rf"times\[5\] is {missing}.*: it must be in the years -1999 to 3000") as caught:
            umbracast.sunlight(one, orbit, frame="gcrs")
        assert (caught.value.what, caught.value.index, caught.value.field) == ("times", 5, "time")
    with pytest.raises(ValueError, match="date is NaT"):
        umbracast.sky.eclipse(pandas.NaT)


def test_the_output_of_points_shares_no_memory_with_their_options(scene):
    masks, other = np.ones(2, np.uint32), np.empty(2, np.uint32)
    with pytest.raises(ValueError, match="out.count shares memory with an input"):
        scene.contains([[0, 0, 0], [1, 0, 0]], masks=masks, out=(masks, other))


def test_messages_about_files_name_arguments_of_python(tmp_path):
    path = tmp_path / "balls.csv"
    for text, words in (
        ("x,y,z,r,label\n0,0,0,1,a\n", "unknown column 'label'.*; other columns need ignore_extra=True$"),
        ("x,y,z\n0,0,0\n", "points need a column with a radius, or radius=RADIUS$"),
        ("ox,oy,oz,dx,dy,dz\n", "column 'ox' belongs to rays; known columns are"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            umbracast.Scene.read(path, device="cpu")
    for suffix in (".parquet", ".PARQUET"):
        with pytest.raises(ValueError, match=f"balls{suffix}: Scene.read reads no Parquet: pass the frame of pandas.read_parquet to Scene"):
            umbracast.Scene.read(path.with_suffix(suffix), device="cpu")
    np.save(tmp_path / "points.npy", np.zeros((2, 3)))
    system = {"unit": "m", "light": {"center": [0, 0, 9], "radius": 1}, "body": [{"spheres": str(tmp_path / "points.npy")}]}
    with pytest.raises(ValueError, match="points need a column with a radius, or `radius` in the table of the body"):
        umbracast.System(system)


def test_columns_that_are_not_aligned_are_copied(scene, rays):
    def unaligned(values, kind):
        made = np.frombuffer(bytes(1) + np.asarray(values, kind).tobytes(), kind, offset=1)
        assert not made.flags.aligned
        return made

    few, hits = rays[:3], scene.closest(rays[:3])
    for name, kind, value in (
        ("ray_radius", np.float32, 0.5),
        ("times", np.float32, 0.5),
        ("masks", np.uint32, 1),
        ("skip_ids", np.uint32, 0),
    ):
        found = scene.closest(few, **{name: unaligned([value] * 3, kind)})
        np.testing.assert_array_equal(found.t, scene.closest(few, **{name: np.array([value] * 3, kind)}).t)
    attributes = scene.attributes(few, hits=(unaligned(hits.t, np.float32), unaligned(hits.id, np.uint32)))
    np.testing.assert_array_equal(attributes.point, scene.attributes(few, hits=hits).point)
    glass = umbracast.Scene([[0, 0, 0, 1]] * 3, transmittances=unaligned([0.5] * 3, np.float32), device="cpu")
    assert glass.transmittance([-5, 0, 0, 1, 0, 0]) == 0.125


@pytest.mark.filterwarnings("error")
def test_values_beyond_float32_are_refused_without_a_warning(scene, rays):
    with pytest.raises(umbracast.RecordError, match="ray 0: radius is inf"):
        scene.closest(rays, ray_radius=1e300)


def test_errors_name_the_row(scene, rays):
    with pytest.raises(ValueError) as caught:
        scene.occluded(bad(rays, 17, 1, np.nan))
    error = caught.value
    assert (error.what, error.index, error.field, error.value) == ("ray", 17, "oy", "NaN")
    assert issubclass(umbracast.NoDeviceError, umbracast.DeviceError)


def test_skipped_rays_miss_and_are_counted(scene, rays):
    given = bad(bad(rays.astype(float), 17, 1, np.nan), 18, 0, 1e39)
    hits = scene.closest(given, on_bad="skip")
    assert hits.report.skipped == 2 and not hits.hit[17:19].any()
    np.testing.assert_array_equal(hits.id[19:], scene.closest(rays).id[19:])


def test_skipped_points_and_bullets_are_counted():
    ball = umbracast.Scene([[0, 0, 0, 1]], device="cpu")
    found = ball.contains([[0, 0, 0], [1e300, 0, 0], [0, 0, 2]], on_bad="skip")
    assert found.count.tolist() == [1, 0, 0] and found.report.skipped == 1
    flights = ball.bullets([[9, 0, 0, 0, 0, 0, 1], [1e300, 0, 0, 0, 0, 0, 1]], on_bad="skip")
    assert flights.report.skipped == 1 and flights.id.tolist()[0] == 0
    for call in (ball.contains, ball.bullets):
        with pytest.raises(umbracast.RecordError, match=r"1: x1? is 1e\+?300: it exceeds"):
            call([[1] * (3 if call == ball.contains else 7), [1e300] + [0] * (2 if call == ball.contains else 6)])
        with pytest.raises(ValueError, match="on_bad is 'no': allowed are 'refuse', 'skip'"):
            call(np.ones((1, 3 if call == ball.contains else 7)), on_bad="no")
