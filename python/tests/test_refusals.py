"""What cannot be used is refused in words that say what is wrong."""

import numpy as np
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
    "seven columns": (lambda s, r: s.closest(r[:, :7]), ValueError, r"\(…, 6\) or \(…, 8\), and have \(5000, 7\)"),
    "a number": (lambda s, r: s.closest(3.0), ValueError, r"and have \(\)"),
    "origins alone": (lambda s, r: s.closest(r[:, :3]), ValueError, r"and have \(5000, 3\)"),
    "shapes apart": (lambda s, r: s.closest(r[:, :3], r[:7, 4:7]), ValueError, r"origins \(5000,\), directions \(7,\)"),
    "wide directions": (lambda s, r: s.closest(r[:, :3], r), ValueError, r"directions must have shape \(…, 3\)"),
    "ends apart": (
        lambda s, r: s.closest(r[:, [0, 1, 2, 4, 5, 6]], t_max=[1, 2]),
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
        lambda s, r: s.closest(bad(r.astype(float), 17, 5, np.nan)),
        umbracast.RecordError,
        "ray 17: dy is NaN",
    ),
    "infinite": (
        lambda s, r: s.closest(bad(r, 3, 6, np.inf)),
        umbracast.RecordError,
        "ray 3: dz is inf: a direction must be finite",
    ),
    "no direction": (
        lambda s, r: s.count(bad(r, 4999, slice(4, 7), 0)),
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
    "a bad radius": (lambda s, r: s.closest(r, radii=-1), umbracast.RecordError, "ray 0: radius is -1"),
    "a missing column": (lambda s, r: s.closest({"ox": [1.0]}), ValueError, "column 'oy' is missing; there are ox"),
    "uneven columns": (
        lambda s, r: s.closest({n: np.ones(2 + (n == "oz")) for n in ("ox", "oy", "oz", "dx", "dy", "dz")}),
        ValueError,
        "differ",
    ),
    "a null": (
        lambda s, r: s.closest(pyarrow.table({n: [1.0, None] for n in ("ox", "oy", "oz", "dx", "dy", "dz")})),
        ValueError,
        "column 'ox' is null in row 1",
    ),
    "unknown options": (lambda s, r: s.closest(r, insides="enter"), TypeError, "unexpected keyword argument 'insides'"),
    "unknown words": (
        lambda s, r: s.closest(r, inside="out"),
        ValueError,
        "inside is 'out': allowed are 'enter', 'exit', 'ignore'",
    ),
    "no word": (lambda s, r: s.closest(r, ends=None), TypeError, "ends must be a word"),
    "few masks": (lambda s, r: s.closest(r, masks=np.ones(7, int)), ValueError, r"masks have shape \(7,\)"),
    "broken masks": (lambda s, r: s.closest(r, masks=0.5), TypeError, "masks must be whole numbers"),
    "negative ids": (lambda s, r: s.closest(r, skip_ids=-1), ValueError, "skip_ids must lie in 0"),
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
    "three columns": (lambda s: umbracast.Scene(s[:, :3]), ValueError, r"spheres must have shape \(…, 4\)"),
    "three dimensions": (lambda s: umbracast.Scene(s[None]), ValueError, r"spheres must have shape \(N, 4\)"),
    "a negative radius": (lambda s: umbracast.Scene(bad(s, 5, 3, -1)), umbracast.RecordError, "sphere 5: r is -1"),
    "NaN": (lambda s: umbracast.Scene(bad(s, 299, 0, np.nan)), umbracast.RecordError, "sphere 299: x is NaN"),
    "too large": (
        lambda s: umbracast.Scene(bad(s.astype(float), 2, 1, -1e40)),
        umbracast.RecordError,
        "sphere 2: y is -1",
    ),
    "few velocities": (
        lambda s: umbracast.Scene(s, velocities=np.zeros((3, 3))),
        ValueError,
        r"velocities must have shape \(300, 3\)",
    ),
    "few masks": (lambda s: umbracast.Scene(s, masks=[1, 2]), ValueError, "masks have shape"),
    "no device": (lambda s: umbracast.Scene(s, device="abacus"), umbracast.NoDeviceError, "no device 'abacus'"),
    "no name": (lambda s: umbracast.Scene(s, device=1.5), TypeError, "device must be a name"),
    "a GPU's builder": (lambda s: umbracast.Scene(s, device="cpu", builder="gpu"), ValueError, "needs a GPU"),
    "no builder": (lambda s: umbracast.Scene(s, device="cpu", builder="me"), ValueError, "builder is 'me'"),
    "no times": (lambda s: umbracast.Scene(s, device="cpu", time_range=(1, 0)), ValueError, "time range"),
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


def test_errors_know_where(scene, rays):
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
