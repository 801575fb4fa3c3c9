"""Comparison of every query with NumPy in float64."""

import numpy as np
import pytest
import umbracast
from oracle import met, roots

CLOSE = 1e-5


@pytest.mark.parametrize("inside", ["enter", "exit", "ignore"])
def test_queries_agree_with_numpy(scene, spheres, rays, inside):
    rays = rays[:300].copy()
    rays[::3, 6], rays[1::3, 7] = -np.inf, 0.75
    rays[::5, :3] = spheres[:60, :3]
    t, clear = met(spheres, rays, inside)
    count = np.isfinite(t).sum(1)
    hits = scene.closest(rays, inside=inside)
    np.testing.assert_array_equal(hits.hit[clear], count[clear] > 0)
    np.testing.assert_array_equal(scene.occluded(rays, inside=inside)[clear], count[clear] > 0)
    np.testing.assert_array_equal(scene.count(rays, inside=inside)[clear], count[clear])
    first = t.min(1)
    sure = clear & np.isfinite(first)
    np.testing.assert_allclose(hits.t[sure], first[sure], CLOSE, CLOSE)
    assert (hits.id[clear & ~sure] == umbracast.NO_SPHERE).all() and np.isinf(hits.t[clear & ~sure]).all()
    # The reported sphere is hit at the reported t.
    own = np.take_along_axis(t, np.where(hits.hit, hits.id, 0)[:, None].astype(int), 1)[:, 0]
    np.testing.assert_allclose(own[sure], first[sure], CLOSE, CLOSE)

    lists = scene.all(rays, inside=inside)
    assert lists.offsets[0] == 0 and lists.offsets[-1] == len(lists.id)
    enter, leave, _ = roots(spheres, rays)
    for ray in np.flatnonzero(clear):
        t_enter, t_exit, ids = lists.of(ray)
        assert sorted(ids) == list(np.flatnonzero(np.isfinite(t[ray])))
        np.testing.assert_allclose(t_enter, enter[ray][ids], 1e-4, 1e-4)
        np.testing.assert_allclose(t_exit, leave[ray][ids], 1e-4, 1e-4)
        assert (np.diff(t[ray][ids]) >= -1e-3).all()
        few = scene.nearest(rays[ray], k=2, inside=inside)
        np.testing.assert_array_equal(few.id, ids[:2])
    interval = scene.interval(rays, inside=inside)
    np.testing.assert_array_equal(interval.id, hits.id)
    some = interval.hit & clear
    np.testing.assert_allclose(interval.t_enter[some], enter[some, interval.id[some]], 1e-4, 1e-4)


def test_contains_agrees_with_numpy(scene, spheres):
    points = spheres[:, :3] + np.float32([0.3, 0.2, 0.1])
    holders = scene.contains(points)
    apart = np.sqrt(((points[:, None] - spheres[:, :3]).astype(float) ** 2).sum(-1)) - spheres[:, 3]
    clear = (np.abs(apart) > 1e-4).all(1)
    held = apart <= 0
    np.testing.assert_array_equal(holders.count[clear], held.sum(1)[clear])
    lowest = np.where(held.any(1), held.argmax(1), umbracast.NO_SPHERE)
    np.testing.assert_array_equal(holders.id[clear], lowest[clear])


def test_approach_agrees_with_numpy(scene, spheres, rays):
    rays = rays[:500]
    found = scene.approach(rays)
    origin, direction = rays[:, None, :3].astype(float), rays[:, None, 3:6].astype(float)
    to = spheres[:, :3] - origin
    t = np.maximum((to * direction).sum(-1) / (direction**2).sum(-1), 0)
    clearance = np.sqrt(((to - t[..., None] * direction) ** 2).sum(-1)) - spheres[:, 3]
    np.testing.assert_allclose(found.clearance, clearance.min(1), 1e-5, 1e-5)
    own = np.take_along_axis(t, found.id[:, None].astype(int), 1)[:, 0]
    np.testing.assert_allclose(found.t, own, 1e-5, 1e-5)


def test_attributes_and_points_agree(scene, spheres, rays):
    hits = scene.closest(rays)
    were = scene.attributes(rays, hits=hits)
    there = hits.hit
    assert 0.2 < there.mean() < 1
    np.testing.assert_allclose(hits.points()[there], were.point[there], 1e-4, 1e-4)
    assert np.isnan(hits.points()[~there]).all() and np.isnan(were.point[~there]).all()
    ball = spheres[hits.id[there]]
    outside = np.abs(were.normal[there] * ball[:, 3:] + ball[:, :3] - were.point[there]).max(1) < 1e-4
    assert outside.mean() > 0.99  # all but rays that start inside
    length = np.linalg.norm(rays[:, 3:6].astype(float), axis=1)
    np.testing.assert_allclose(were.distance[there], (hits.t * length)[there], 1e-6)


def test_bullets_ricochet():
    scene = umbracast.Scene([[4, 4, 0, 4]], device="cpu")
    flights = scene.bullets([[0, 0, 0, 4, 4, 4, 3], [0, 0, 9, 0, 0, 10, 1]])
    np.testing.assert_array_equal(flights.status, [0, 1])
    np.testing.assert_allclose(flights.distance[0], 2.309401, 1e-6)
    np.testing.assert_allclose(flights.point[0], [4 / 3] * 3, 1e-6)
    np.testing.assert_allclose(flights.velocity[0], [-0.57735026, -0.57735026, 2.8867514], 1e-6)
    np.testing.assert_allclose(flights.grazing_rad[0], 0.6154797, 1e-6)
    between = umbracast.Scene([[0, 0, 0, 1], [4, 0, 0, 1]], device="cpu").bullets([[2, 0, 0, 3, 0, 0, 1]], bounces=5)
    np.testing.assert_array_equal(between.id, [1, 0, 1, 0, 1])
    np.testing.assert_array_equal(between.distance, [1, 3, 5, 7, 9])


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_every_kind_of_device_gives_the_same_answers(device, spheres, rays):
    if device == "gpu" and len(umbracast.devices()) == 1:
        pytest.fail("no adapter: apt-get install mesa-vulkan-drivers")
    hits = umbracast.Scene(spheres, device=device).closest(rays, precision="exact")
    expected = umbracast.Scene(spheres, device="cpu").closest(rays, precision="exact")
    np.testing.assert_array_equal(hits.t, expected.t)
    np.testing.assert_array_equal(hits.id, expected.id)
