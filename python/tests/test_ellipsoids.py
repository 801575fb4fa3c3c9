"""Ellipsoids: comparison with float64, tables, updates, pickling, and invalid input."""

import pickle

import numpy as np
import pandas
import pyarrow
import pytest
import umbracast
from conftest import beams
from oracle import ellipsoid_roots, valid

N = 200
TABLE = ("x", "y", "z", "rx", "ry", "rz", "qw", "qx", "qy", "qz")


def parts(seed=4):
    random = np.random.default_rng(seed)
    centers = random.uniform(-10, 10, (N, 3)).astype(np.float32)
    radii = np.exp(random.uniform(-2, 0.7, (N, 3))).astype(np.float32)
    return centers, radii, random.normal(size=(N, 4)).astype(np.float32)


def table(centers, radii, rotations):
    columns = np.concatenate([centers, radii, rotations], 1).T
    return {name: column.copy() for name, column in zip(TABLE, columns, strict=True)}


@pytest.fixture(scope="module")
def scene():
    return made(*parts())


def made(centers, radii=None, rotations=None, **options):
    return umbracast.Scene(centers, semi_axes=radii, rotations=rotations, device="cpu", **options)


def same(a, b, rays, verbs=("closest", "interval", "all")):
    for verb in verbs:
        for left, right in zip(getattr(a, verb)(rays), getattr(b, verb)(rays), strict=True):
            np.testing.assert_array_equal(left, right)


def test_the_closest_hit_agrees_with_float64(scene):
    rays = beams(1000)
    rays[::3, 6], rays[1::3, 7] = -np.inf, 0.75
    enter, leave, near = ellipsoid_roots(*parts(), rays)
    t, clear = valid(enter, leave, near, rays, "enter")
    hits = scene.closest(rays)
    first = t.min(1)
    assert clear.mean() > 0.9 and 0.1 < hits.hit.mean() < 0.99
    np.testing.assert_array_equal(hits.hit[clear], np.isfinite(first[clear]))
    sure = clear & np.isfinite(first)
    np.testing.assert_allclose(hits.t[sure], first[sure], 2e-5, 2e-5)
    np.testing.assert_allclose(t[sure, hits.id[sure]], first[sure], 2e-5, 2e-5)


def test_tables_are_recognised_by_their_columns(scene, rays):
    columns = table(*parts())
    for given in (columns, pandas.DataFrame(columns), pyarrow.table(columns)):
        same(umbracast.Scene(given, device="cpu"), scene, rays)
    straight = {name: column for name, column in columns.items() if name[0] != "q"}
    same(umbracast.Scene(straight, device="cpu"), made(*parts()[:2]), rays)
    assert (made(*parts()[:2]).closest(rays).id != scene.closest(rays).id).any()
    beside = {name: columns[name] for name in "xyz"}
    same(made(beside, parts()[1], parts()[2]), scene, rays)
    turned = {name: column for name, column in columns.items() if name[0] != "r"}
    same(made(turned, parts()[1]), scene, rays)


def test_an_origin_is_subtracted_from_centres(scene, rays):
    far = np.array([5e6 + 0.25, -3e6, 1e7])
    centers, radii, rotations = parts()
    moved = rays.astype(float)
    moved[:, :3] += far
    there = made(centers + far, radii, rotations, origin=tuple(far))
    same_ids = there.closest(moved)
    np.testing.assert_array_equal(same_ids.id, scene.closest(rays).id)
    np.testing.assert_array_equal(there.shapes[0], radii)
    auto = made(centers + far, radii, rotations, origin="auto")
    longest = radii.max(1, keepdims=True).astype(float)
    low, high = (centers + far - longest).min(0), (centers + far + longest).max(0)
    np.testing.assert_allclose(auto.origin, (low + high) / 2, rtol=1e-15)


def test_ellipsoids_are_pickled(scene, rays):
    there = pickle.loads(pickle.dumps(scene))
    same(there, scene, rays)
    for a, b in zip(there.shapes, parts()[1:], strict=True):
        np.testing.assert_array_equal(a, b)
    assert "200 ellipsoids" in repr(there)
    masks, velocities = np.arange(N) % 3 + 1, np.broadcast_to(np.float32([1, 0, 0]), (N, 3))
    moving = made(*parts(), masks=masks, velocities=velocities, time_range=(0, 2))
    back = pickle.loads(pickle.dumps(moving))
    for a, b in zip(
        back.closest(rays, times=1.5, masks=2), moving.closest(rays, times=1.5, masks=2), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    shifted = made(parts()[0] + np.float32([1.5, 0, 0]), *parts()[1:], masks=masks)
    assert (shifted.closest(rays, masks=2).id == back.closest(rays, times=1.5, masks=2).id).mean() > 0.999
    balls = pickle.loads(pickle.dumps(umbracast.Scene(scene.spheres, device="cpu")))
    assert balls.shapes is None and "200 spheres" in repr(balls)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_updates(device, rays):
    centers, radii, rotations = parts()
    others = parts(9)
    # Unpickling opens the device again, and compiling the shaders for a GPU takes seconds.
    verbs = ("closest", "interval", "all") if device == "cpu" else ("closest",)
    device = umbracast.Device(device)
    scene = umbracast.Scene(centers, semi_axes=radii, rotations=rotations, device=device)

    def fresh(*given):
        again = umbracast.Scene(given[0], semi_axes=given[1], rotations=given[2], device=device)
        same(scene, again, rays, verbs)
        if device.is_cpu:
            same(pickle.loads(pickle.dumps(scene)), again, rays)

    scene.update(others[0])
    fresh(others[0], radii, rotations)
    scene.update({name: centers[:, k] for k, name in enumerate("xyz")})
    fresh(centers, radii, rotations)
    scene.update(others[0], semi_axes=others[1], rotations=others[2])
    fresh(*others)
    scene.update(centers, semi_axes=radii)
    fresh(centers, radii, None)
    scene.update(table(*parts()))
    scene.rebuild()
    fresh(*parts())
    for bad, words in (
        (lambda: scene.update(scene.spheres), "contains ellipsoids"),
        (lambda: scene.update(centers[:-1]), "199 centres"),
        (lambda: scene.update(centers[:-1], semi_axes=radii[:-1]), "199 spheres"),
        (lambda: scene.update(centers, semi_axes=-radii), "ellipsoid 0: rx is -"),
    ):
        with pytest.raises(ValueError, match=words):
            bad()
        fresh(*parts())
    balls = umbracast.Scene(scene.spheres, device=device)
    balls.update(centers, semi_axes=radii, rotations=rotations)
    same(balls, scene, rays, verbs)


def changed(place, row, column, value):
    given = [part.astype(float) for part in parts()]
    given[place][row, column] = value
    return given


BAD = {
    "a centre of NaN": (lambda: made(*changed(0, 3, 1, np.nan)), umbracast.RecordError, "3: y is NaN"),
    "a huge centre": (lambda: made(*changed(0, 3, 1, 1e39)), umbracast.RecordError, "ellipsoid 3: y is 1e39"),
    "a flat one": (lambda: made(*changed(1, 199, 2, 0)), umbracast.RecordError, "ellipsoid 199: rz is 0"),
    "a radius of NaN": (lambda: made(*changed(1, 7, 0, np.nan)), umbracast.RecordError, "ellipsoid 7: rx is NaN"),
    "a huge radius": (lambda: made(*changed(1, 7, 0, 1e39)), umbracast.RecordError, "ellipsoid 7: rx is 1e39"),
    "a needle": (lambda: made(*changed(1, 8, 1, 1e-8)), umbracast.RecordError, "ellipsoid 8: ry is 0.00000001"),
    "no rotation": (lambda: made(*changed(2, 9, slice(None), 0)), umbracast.RecordError, "ellipsoid 9: qw is 0"),
    "a rotation of NaN": (lambda: made(*changed(2, 9, 3, np.nan)), umbracast.RecordError, "ellipsoid 9: qz is NaN"),
    "balls with radii": (
        lambda: made(np.ones((N, 4)), parts()[1]),
        ValueError,
        r"centres of ellipsoids must have shape \(…, 3\), not \(200, 4\)",
    ),
    "a radius each": (lambda: made(parts()[0], parts()[1][:, 0]), ValueError, r"semi_axes must have shape \(…, 3\)"),
    "few radii": (lambda: made(parts()[0], parts()[1][1:]), ValueError, r"semi_axes must have shape \(200, 3\)"),
    "few radii, auto": (
        lambda: made(parts()[0], parts()[1][1:], origin="auto"),
        ValueError,
        r"semi_axes must have shape \(200, 3\)",
    ),
    "few rotations": (lambda: made(*parts()[:2], parts()[2][1:]), ValueError, r"rotations must have shape \(200, 4\)"),
    "angles": (lambda: made(*parts()[:2], parts()[0]), ValueError, r"rotations must have shape \(…, 4\)"),
    "words": (lambda: made(parts()[0], [["a"] * 3] * N), TypeError, "semi_axes must be float32"),
    "rotations alone": (lambda: made(parts()[0], None, parts()[2]), ValueError, r"semi_axes \(rx, ry, rz\) are missing"),
    "two dimensions": (lambda: made(parts()[0][None], parts()[1][None]), ValueError, r"shape \(N, 3\)"),
    "r and rx": (lambda: made(table(*parts()) | {"r": np.ones(N)}), ValueError, "cannot have both"),
    "two of three": (lambda: made({n: np.ones(N) for n in ("x", "y", "z", "rx", "ry")}), ValueError, "'rz' is missing"),
    "three of four": (lambda: made({n: np.ones(N) for n in TABLE[:-1]}), ValueError, "'qz' is missing"),
    "turned balls": (lambda: made({n: np.ones(N) for n in ("x", "y", "z", "r", "qw")}), ValueError, r"semi_axes \(rx, ry, rz\) are missing"),
    "radii twice": (lambda: made(table(*parts()), parts()[1]), TypeError, "semi_axes is given twice"),
    "rotations twice": (lambda: made(table(*parts()), None, parts()[2]), TypeError, "rotations is given twice"),
    "exact": (lambda: made(*parts()).closest(beams(1), precision="exact"), umbracast.PrecisionError, "ellipsoids"),
    "near passes": (lambda: made(*parts()).approach(beams(1)), ValueError, "do not support ellipsoids"),
    "wide rays": (lambda: made(*parts()).closest(beams(1), ray_radius=1), ValueError, "do not support ellipsoids"),
    "bullets": (lambda: made(*parts()).bullets(np.ones((1, 7))), ValueError, "do not support ellipsoids"),
    "attributes": (
        lambda: (s := made(*parts())).attributes(beams(9), hits=s.closest(beams(9))),
        ValueError,
        "do not support ellipsoids",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_ellipsoids_are_refused(case):
    ask, error, words = BAD[case]
    with pytest.raises(error, match=words):
        ask()


def test_errors_name_the_row():
    with pytest.raises(umbracast.RecordError) as caught:
        made(*changed(1, 17, 1, -2))
    error = caught.value
    assert (error.what, error.index, error.field, error.value) == ("ellipsoid", 17, "ry", "-2")


def test_a_scene_may_have_no_ellipsoids(rays):
    empty = made(np.empty((0, 3)), np.empty((0, 3)), np.empty((0, 4)))
    assert len(empty) == 0 and not empty.closest(rays).hit.any()
    assert len(pickle.loads(pickle.dumps(empty))) == 0
