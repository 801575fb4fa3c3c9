"""Results do not depend on the array or table type of the input."""

import pickle

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import umbracast
from conftest import beams

NAMES = ("ox", "oy", "oz", "dx", "dy", "dz", "t_min", "t_max")


def same(a, b):
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left.reshape(-1), right.reshape(-1))


def six(rays):
    return rays[:, :6]


FORMS = {
    "six columns": six,
    "float64": lambda rays: rays.astype(np.float64),
    "six of float64": lambda rays: six(rays).astype(np.float64),
    "big endian": lambda rays: rays.astype(">f4"),
    "Fortran order": np.asfortranarray,
    "every other": lambda rays: np.repeat(rays, 2, 0)[::2],
    "backwards twice": lambda rays: rays[::-1].copy()[::-1],
    "unaligned": lambda rays: np.frombuffer(b"x" + rays.tobytes(), np.uint8)[1:].view("f4").reshape(-1, 8),
    "two dimensions": lambda rays: rays.reshape(50, 100, 8),
    "read-only": lambda rays: np.frombuffer(rays.tobytes(), np.float32).reshape(-1, 8),
    "a list": lambda rays: rays.tolist(),
    "a dictionary": lambda rays: dict(zip(NAMES, rays.T, strict=True)),
    "a structured array": lambda rays: np.ascontiguousarray(rays).view([(name, "f4") for name in NAMES])[:, 0],
    "pandas": lambda rays: pandas.DataFrame(rays, columns=NAMES),
    "pandas of float64": lambda rays: pandas.DataFrame(rays.astype(float), columns=NAMES),
    "PyArrow": lambda rays: pyarrow.table({name: column.copy() for name, column in zip(NAMES, rays.T, strict=True)}),
    "PyArrow in chunks": lambda rays: pyarrow.concat_tables(
        pyarrow.table({name: column.copy() for name, column in zip(NAMES, part.T, strict=True)}).slice(1)
        for part in (np.r_[rays[:1], rays[:7]], rays[6:])
    ),
    "PyArrow without words": lambda rays: pyarrow.table(
        {"name": ["a"] * len(rays)} | {name: column.copy() for name, column in zip(NAMES, rays.T, strict=True)}
    ).select(NAMES),
    "PyArrow in structs": lambda rays: pyarrow.chunked_array(
        [
            pyarrow.StructArray.from_arrays([pyarrow.array(column) for column in part.T], NAMES).slice(2)
            for part in (np.r_[rays[:2], rays[:7]], rays[5:])
        ]
    ),
    "Polars": lambda rays: polars.DataFrame({name: column.copy() for name, column in zip(NAMES, rays.T, strict=True)}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_rays_gives_the_same_answers(form, scene, rays):
    given = FORMS[form](rays)
    hits = scene.closest(given)
    same(hits, scene.closest(rays))
    assert hits.t.shape == ((50, 100) if form == "two dimensions" else (5000,))
    assert 0.2 < hits.hit.mean() < 0.9 and hits.report.rays_hit == hits.hit.sum() and hits.report.rounded == 0
    same((hits.points(),), (scene.closest(rays).points(),))


def test_eight_numbers_of_a_ray_have_the_order_of_the_command_line():
    scene = umbracast.Scene([[2, 4, 6, 1]], device="cpu")
    o, d, t0, t1 = np.zeros((1, 3)), np.array([[1, 2, 3]]), [0.5], [100]
    expected = scene.closest(o, d, t_min=t0, t_max=t1)
    assert expected.hit.all()
    for kind in (np.float32, np.float64):
        same(scene.closest(np.c_[o, d, t0, t1].astype(kind)), expected)
    assert not scene.closest(np.c_[o, d, t0, [1.5]].astype(np.float32)).hit.any()


def test_large_batches_give_the_answers_of_single_rays(scene):
    rays = beams((1 << 20) + 77)
    hits = scene.closest(rays)
    same(hits, scene.closest(rays.astype(np.float64)))
    for at in (0, (1 << 20) - 1, 1 << 20, len(rays) - 1):
        same((hits.t[at], hits.id[at]), scene.closest(rays[at]))
    np.testing.assert_array_equal(scene.occluded(rays), hits.hit)
    lists = scene.all(rays, t_max=None)
    np.testing.assert_array_equal(np.diff(lists.offsets.astype(int)), scene.count(rays))
    first = lists.offsets[:-1][hits.hit].astype(int)
    np.testing.assert_array_equal(lists.id[first], hits.id[hits.hit])
    rays[(1 << 20) + 5, 3:6] = 0
    with pytest.raises(umbracast.RecordError) as caught:
        scene.closest(rays)
    assert (caught.value.what, caught.value.index, caught.value.field) == ("ray", (1 << 20) + 5, "direction")
    bad = scene.closest(rays, on_bad="skip")
    assert bad.report.skipped == 1 and not bad.hit[(1 << 20) + 5]


def test_origins_and_directions_are_broadcast(scene, rays):
    directions = rays[:60, 3:6].reshape(6, 10, 3)
    wide = np.concatenate([np.broadcast_to(np.float32([1, 2, 3]), (6, 10, 3)), directions], -1)
    hits = scene.closest([1, 2, 3], directions)
    assert hits.t.shape == (6, 10)
    same(hits, scene.closest(wide))
    ends = np.float32([[5], [1], [9], [2], [3], [0.5]])
    limited = scene.closest([1, 2, 3], directions, t_min=0.25, t_max=ends)
    full = np.empty((6, 10, 8), np.float32)
    full[..., :6], full[..., 6], full[..., 7] = wide, 0.25, ends
    same(limited, scene.closest(full))
    same(limited, scene.closest(wide, t_min=0.25, t_max=ends))
    assert scene.closest(rays[0]).t.shape == () and scene.occluded(rays[0]).shape == ()


def test_empty_batches_and_scenes_are_valid(scene, rays):
    for shape in ((0, 6), (0, 8), (3, 0, 8)):
        assert scene.closest(np.empty(shape)).t.shape == shape[:-1]
        assert scene.occluded(np.empty(shape, np.float32)).shape == shape[:-1]
        np.testing.assert_array_equal(scene.all(np.empty(shape)).offsets, [0])
    assert scene.contains(np.empty((0, 3))).count.shape == (0,)
    assert scene.bullets(np.empty((0, 7))).offsets.tolist() == [0]
    empty = umbracast.Scene(np.empty((0, 4)), device="cpu")
    assert len(empty) == 0 and not empty.closest(rays).hit.any() and np.isinf(empty.closest(rays).t).all()
    assert np.isinf(empty.approach(rays).clearance).all()


def test_out_is_written_to(scene, rays):
    expected = scene.closest(rays)
    out = (np.full(5000, 7, np.float32), np.full(5000, 7, np.uint32))
    hits = scene.closest(rays, out=out)
    assert hits.t is out[0] and hits.id is out[1]
    same(out, expected)
    again = scene.closest(rays[::-1].copy(), out=hits)
    assert again.t is out[0]
    same((again.t[::-1].copy(), again.id[::-1].copy()), expected)
    bits = np.ones(5000, bool)
    assert scene.occluded(rays, out=bits) is bits
    np.testing.assert_array_equal(bits, scene.closest(rays).hit)
    for verb in (scene.interval, scene.approach):
        found = verb(rays)
        for array in found:
            array.fill(3)
        same(verb(rays, out=found), verb(rays))
    same((scene.count(rays, out=np.empty(5000, np.uint32)),), (scene.count(rays),))


def test_float64_is_rounded_once_and_counted(scene):
    ray = np.array([0.1, -20, 0, 0, 1, 0])
    hits = scene.closest(ray)
    assert hits.report.rounded == 1
    assert hits.report.largest_rounding == abs(0.1 - float(np.float32(0.1)))
    same(hits, scene.closest(ray.astype(np.float32)))
    assert umbracast.Scene([[0.1, 0, 0, 1]], device="cpu").rounded == 1


def test_an_origin_is_subtracted_before_rounding(spheres, rays):
    far = np.array([5e6 + 0.25, -3e6, 1e7])
    expected = umbracast.Scene(spheres, device="cpu").closest(rays)
    away = spheres.astype(np.float64) + [*far, 0]
    moved = rays.astype(np.float64)
    moved[:, :3] += far
    scene = umbracast.Scene(away, device="cpu", origin=tuple(far))
    hits = scene.closest(moved)
    np.testing.assert_array_equal(hits.id, expected.id)
    same(hits, expected)
    np.testing.assert_allclose(hits.points()[hits.hit] - far, expected.points()[hits.hit], atol=1e-6)
    # Points are returned in the caller's coordinates, not relative to the origin.
    were = scene.attributes(moved, hits=hits)
    near_scene = umbracast.Scene(spheres, device="cpu")
    near = near_scene.attributes(rays, hits=expected)
    assert were.point.dtype == np.float64 and near.point.dtype == np.float32
    np.testing.assert_array_equal(were.point[hits.hit], near.point[hits.hit] + far)
    np.testing.assert_allclose(were.point[hits.hit], hits.points()[hits.hit], atol=1e-3)
    assert np.isnan(were.point[~hits.hit]).all()
    flights = scene.bullets([[*(far + [-20, 0, 0]), *far, 1]])
    same_way = umbracast.Scene(spheres, device="cpu").bullets([[-20, 0, 0, 0, 0, 0, 1]])
    np.testing.assert_array_equal(flights.point, same_way.point + far)
    auto = umbracast.Scene(away, device="cpu", origin="auto")
    low, high = (away[:, :3] - away[:, 3:]).min(0), (away[:, :3] + away[:, 3:]).max(0)
    np.testing.assert_allclose(auto.origin, (low + high) / 2, rtol=1e-15)
    assert (auto.closest(moved).id == expected.id).mean() > 0.999
    with pytest.warns(RuntimeWarning, match="origin='auto' keeps more digits"):
        coarse = umbracast.Scene(away, device="cpu")
    assert (coarse.closest(moved).id != expected.id).any()
    centers = away[:20, :3]
    assert (scene.contains(centers).count > 0).all()
    # A zero origin counts as an origin, so that the result types do not depend on what "auto" finds. Pickling preserves this.
    even = umbracast.Scene([[-5, 0, 0, 1], [5, 0, 0, 1]], device="cpu", origin="auto")
    asked = umbracast.Scene([[5, 0, 0, 1]], device="cpu", origin=(0, 0, 0))
    for none in (even, pickle.loads(pickle.dumps(asked))):
        assert none.origin == (0, 0, 0)
        found = none.closest([0, 0, 0, 1, 0, 0])
        assert none.attributes([0, 0, 0, 1, 0, 0], hits=found).point.dtype == found.points().dtype == np.float64
        assert none.bullets([[0, 0, 0, 1, 0, 0, 1]]).point.dtype == np.float64
    assert pickle.loads(pickle.dumps(near_scene)).attributes(rays, hits=expected).point.dtype == np.float32
    # The origin is also subtracted from float32 rays.
    near = umbracast.Scene(spheres, device="cpu", origin=(1, 2, 3))
    assert (near.closest(rays).id == expected.id).mean() > 0.999


def test_attribute_columns_of_rays_and_spheres(spheres, rays):
    scene = umbracast.Scene(spheres, device="cpu", masks=np.arange(300) % 2 + 1)
    plain = umbracast.Scene(spheres, device="cpu")
    odd = scene.closest(rays, masks=2)
    assert (odd.id[odd.hit] % 2 == 1).all() and odd.hit.any()
    first = plain.closest(rays)
    second = plain.closest(rays, skip_ids=first.id)
    both = plain.nearest(rays, k=2)
    expected = np.array([both.of(i).id[1] if len(both.of(i).id) > 1 else umbracast.NO_SPHERE for i in range(5000)])
    np.testing.assert_array_equal(second.id, expected)
    fat = plain.closest(rays, ray_radius=np.float32(0.125))
    larger = spheres + np.float32([0, 0, 0, 0.125])
    assert (
        fat.id == umbracast.Scene(larger, device="cpu").closest(rays).id
    ).mean() > 0.999 and fat.hit.sum() > first.hit.sum()
    velocities = np.broadcast_to(np.float32([1, 0, 0]), (300, 3))
    moving = umbracast.Scene(spheres, device="cpu", velocities=velocities, time_range=(0, 4))
    later = moving.closest(rays, times=4)
    shifted = umbracast.Scene(spheres + np.float32([4, 0, 0, 0]), device="cpu").closest(rays)
    assert (later.id == shifted.id).mean() > 0.999 and not (later.id == first.id).all()
    table = {name: spheres[:, k] for k, name in enumerate("xyzr")} | {
        "vx": velocities[:, 0],
        "vy": velocities[:, 1],
        "vz": velocities[:, 2],
    }
    same(umbracast.Scene(table, device="cpu", time_range=(0, 4)).closest(rays, times=4), later)
    together = scene.contains(spheres[:, :3], masks=1, skip_ids=np.arange(300))
    assert (
        together.count.max() < plain.contains(spheres[:, :3]).count.max() + 1 and (together.id != np.arange(300)).all()
    )


def test_policies_change_the_answers():
    scene = umbracast.Scene([[0, 0, 0, 2]], device="cpu")
    assert [float(scene.closest([0, 0, 0, 1, 0, 0], inside=how).t) for how in ("enter", "exit", "ignore")] == [
        0,
        2,
        np.inf,
    ]
    assert [bool(scene.occluded([-5, 2, 0, 1, 0, 0], touch=how)) for how in ("hit", "miss")] == [True, False]
    assert [bool(scene.occluded([-5, 0, 0, 1, 0, 0], t_max=3, ends=how)) for how in ("closed", "half-open")] == [
        True,
        False,
    ]
    assert scene.closest([-5, 2, 0, 1, 0, 0], precision="exact").report.resolved_exactly == 1
    racing = umbracast.Scene([[0, 0, 0, 1]], velocities=[[1, 0, 0]], time_range=(0, 10), device="cpu")
    assert float(racing.closest([-5, 0, 0, 3, 0, 0], motion="with-ray", t_max=10).t) == 2


def test_segments_end_at_their_second_point(scene, spheres):
    starts, ends = np.float32([-20, 0.5, 0]), spheres[:, :3]
    segments = umbracast.Segments(starts, ends)
    hits = scene.closest(segments)
    assert hits.hit.all() and (hits.t <= 1).all() and hits.t.shape == (300,)
    table = {"x1": np.full(300, -20.0), "y1": np.full(300, 0.5), "z1": np.zeros(300)}
    table |= {name: ends[:, k] for k, name in enumerate(("x2", "y2", "z2"))}
    same(scene.closest(umbracast.Segments(table)), hits)
    points = hits.points()
    apart = np.linalg.norm(points - spheres[hits.id, :3], axis=1)
    np.testing.assert_allclose(apart, spheres[hits.id, 3], atol=1e-4)


def test_pairs(spheres, rays):
    scene = umbracast.Scene(spheres, device="cpu", pairwise=True)
    hits = scene.closest(rays[:300])
    np.testing.assert_array_equal(hits.id[hits.hit], np.flatnonzero(hits.hit))
    with pytest.raises(ValueError, match="as many"):
        scene.closest(rays[:299])
    # More than one chunk.
    many = umbracast.Scene(np.ones(((1 << 20) + 5, 4), np.float32), device="cpu", pairwise=True)
    with pytest.raises(ValueError, match="1048578 rays and 1048581 spheres"):
        many.closest(np.ones(((1 << 20) + 2, 8), np.float32))


def test_update_and_rebuild(spheres, rays):
    scene = umbracast.Scene(spheres, device="cpu")
    moved = spheres + np.float32([1, 0, 0, 0])
    scene.update(moved)
    scene.rebuild()
    same(scene.closest(rays), umbracast.Scene(moved, device="cpu").closest(rays))
    np.testing.assert_array_equal(scene.spheres, moved)
    with pytest.raises(ValueError, match="299 spheres"):
        scene.update(moved[:299])
    with pytest.raises(umbracast.RecordError, match="r is -0.1"):
        scene.update(np.tile([0.1, 0, 0, -0.1], (300, 1)))
    np.testing.assert_array_equal(scene.spheres, moved)
    assert (scene.rounded, scene.largest_rounding) == (0, 0)
    scene.update(np.tile([0.1, 0, 0, 0.1], (300, 1)))
    assert (scene.rounded, scene.largest_rounding) == (600, float(np.float32(0.1)) - 0.1)


def test_centres_alone_keep_the_radii(spheres, rays):
    moved = spheres.astype(float) + [0.1, 0, 0, 0]
    for origin in (None, (1000.0, 2000.0, 3000.0)):
        shift = np.array(origin or (0.0, 0.0, 0.0))
        scene = umbracast.Scene(spheres + [*shift, 0], origin=origin, masks=np.arange(300), device="cpu")
        there = moved[:, :3] + shift
        away = rays + [*shift, *[0] * (rays.shape[-1] - 3)]
        expected = umbracast.Scene(np.c_[there, spheres[:, 3]], origin=origin, masks=np.arange(300), device="cpu")
        for centers in (there, there.tolist(), dict(zip("xyz", there.T, strict=True))):
            scene.update(spheres + [*shift, 0])
            scene.update(centers)
            np.testing.assert_array_equal(scene.spheres, expected.spheres)
            np.testing.assert_array_equal(scene.masks, expected.masks)
        same(scene.closest(away), expected.closest(away))
        for bad in (there[:299], there[0], there.reshape(100, 3, 3)):
            with pytest.raises(ValueError, match=r"centres of 300 spheres must have shape \(300, 3\)"):
                scene.update(bad)
        with pytest.raises(umbracast.RecordError, match="sphere 7: x is NaN"):
            scene.update(np.where(np.arange(300)[:, None] == 7, np.nan, there))
        np.testing.assert_array_equal(scene.spheres, expected.spheres)


def test_progress_is_reported(scene):
    calls = []
    scene.approach(beams(200_000), progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (200_000, 200_000) and calls == sorted(calls)

    def stop(done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        scene.approach(beams(200_000), progress=stop)


def test_arrow_columns_without_numbers_are_refused():
    words = pyarrow.array(["a", "b"]).dictionary_encode()
    table = pyarrow.table({"ox": words} | {name: [1.0, 2.0] for name in ("oy", "oz", "dx", "dy", "dz")})
    with pytest.raises(TypeError, match="rays: column 'ox' must be float32 or float64"):
        umbracast.Scene(np.zeros((1, 4)), device="cpu").closest(table)
