"""Moving spheres, and rays and bullets with a radius: comparison of hits and bullets with float64."""

import pickle

import numpy as np
import pytest
import umbracast
from conftest import beams, cloud

N, M = 100, 1000


def drift():
    return np.random.default_rng(6).uniform(-1, 1, (N, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def moving():
    return umbracast.Scene(cloud(N), velocities=drift(), time_range=(0, 4), device="cpu")


def lengths(vectors):
    return np.linalg.norm(vectors, axis=-1)


@pytest.mark.parametrize("motion", ["at-time", "with-ray"])
def test_moving_spheres_agree_with_spheres_moved_by_numpy(moving, motion):
    random, rays = np.random.default_rng(7), beams(M)
    rays[:, 7] = 2
    options = {"times": random.uniform(0, 2, M).astype(np.float32), "ray_radius": random.uniform(0, 0.5, M)}
    options["ray_radius"][::4] = 0
    hits = moving.closest(rays, motion=motion, **options)
    # Rays that start outside the sphere that they hit.
    there = np.flatnonzero(hits.hit & (hits.t > 0))
    assert len(there) > M // 4
    center, own, velocity = cloud(N)[hits.id[there], :3], cloud(N)[hits.id[there], 3], drift()[hits.id[there]]
    origin, direction = rays[there, :3].astype(float), rays[there, 3:6].astype(float)
    radius = own + options["ray_radius"][there]
    # With motion "with-ray", t is the time.
    own_motion = velocity.astype(float) if motion == "with-ray" else np.zeros((len(there), 3))
    if motion == "at-time":
        center = center + velocity * options["times"][there, None].astype(float)
    way, to = direction - own_motion, origin - center
    a, b, c = (way**2).sum(-1), (way * to).sum(-1), (to**2).sum(-1) - radius**2
    t = (-b - np.sqrt(np.maximum(b * b - a * c, 0))) / a
    clear = b * b - a * c > 1e-3 * a
    np.testing.assert_allclose(hits.t[there][clear], t[clear], 1e-4)
    center = center + t[:, None] * own_motion
    normal = (origin + t[:, None] * direction - center) / radius[:, None]
    were = moving.attributes(rays, hits=hits, motion=motion, **options)
    # The options of the query are those of its result.
    for given, kept in zip(were, moving.attributes(rays, hits=hits), strict=True):
        np.testing.assert_array_equal(given, kept)
    np.testing.assert_allclose(were.normal[there][clear], normal[clear], 1e-4, 1e-4)
    np.testing.assert_allclose(were.point[there][clear], (center + normal * own[:, None])[clear], 1e-4, 1e-4)
    angle = np.arccos(np.clip(-(way * normal).sum(-1) / lengths(way), -1, 1))
    np.testing.assert_allclose(were.incidence_rad[there][clear], angle[clear], 1e-3, 1e-3)
    np.testing.assert_allclose(were.distance[there], hits.t[there] * lengths(direction), 1e-6)
    assert np.isnan(were.point[~hits.hit]).all()
    # A scalar is broadcast, and options that do not affect hits are refused.
    one = moving.closest(rays, times=1, ray_radius=0.25)
    for a, b in zip(
        moving.attributes(rays, hits=one, times=1, ray_radius=0.25),
        moving.attributes(rays, hits=one, times=np.ones(M), ray_radius=np.full(M, 0.25)),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(TypeError, match="unexpected keyword argument 'inside': allowed are hits, motion, ray_radius, t_max, t_min, times"):
        moving.attributes(rays, hits=one, inside="exit")


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_points_have_their_own_times(device):
    moving = umbracast.Scene(cloud(N), velocities=drift(), time_range=(0, 4), device=device)
    random = np.random.default_rng(9)
    points, times = random.uniform(-10, 10, (M, 4, 3)), random.uniform(0, 4, (M, 1)).astype(np.float32)
    centers = cloud(N)[:, :3].astype(float) + drift() * times[..., None].astype(float)
    apart = lengths(np.float32(points)[:, :, None] - centers[:, None]) - cloud(N)[:, 3]
    inside, clear = apart <= 0, (np.abs(apart) > 1e-5).all(-1)
    found = moving.contains(points, times=times)
    np.testing.assert_array_equal(found.count[clear], inside.sum(-1)[clear])
    held = clear & (found.count > 0)
    np.testing.assert_array_equal(found.id[held], inside.argmax(-1)[held])
    assert held.sum() > M // 20 and (found.count != moving.contains(points).count).sum() > M // 20
    if device == "cpu":
        # More points than one chunk.
        many = moving.contains(np.tile(points.reshape(-1, 3), (270, 1)), times=np.tile(np.repeat(times, 4), 270))
        np.testing.assert_array_equal(many.count, np.tile(found.count.reshape(-1), 270))
    # A scalar is broadcast, and the default time is 0.
    for a, b in zip(moving.contains(points, times=0), moving.contains(points), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(umbracast.RecordError, match="outside the time range") as caught:
        moving.contains(points, times=np.where(np.arange(M) == 17, 5, 1)[:, None])
    assert (caught.value.what, caught.value.index, caught.value.field) == ("point", 4 * 17, "time")
    with pytest.raises(TypeError, match="unexpected keyword argument 'ray_radius'"):
        moving.contains(points, ray_radius=1)


def shots():
    random = np.random.default_rng(8)
    bullets = np.empty((M, 7), np.float32)
    bullets[:, :3] = random.uniform(-20, 20, (M, 3))
    bullets[:, 3:6] = random.uniform(-8, 8, (M, 3))
    bullets[:, 6] = random.uniform(2, 9, M)
    return bullets, random.uniform(0, 0.5, M).astype(np.float32)


@pytest.mark.parametrize("moves", [False, True])
def test_bullets_ricochet_off_moving_spheres(moving, moves):
    scene = moving if moves else umbracast.Scene(cloud(N), device="cpu")
    spheres, velocities = cloud(N).astype(float), drift().astype(float) if moves else np.zeros((N, 3))
    bullets, radii = shots()
    flights = scene.bullets(bullets, radius=radii)
    start, aim, speed = (part.astype(float) for part in (bullets[:, :3], bullets[:, 3:6], bullets[:, 6]))
    flown = (aim - start) / lengths(aim - start)[:, None] * speed[:, None]
    way, to = flown[:, None] - velocities, start[:, None] - spheres[:, :3]
    reach = spheres[:, 3] + radii[:, None]
    a, b, c = (way**2).sum(-1), (way * to).sum(-1), (to**2).sum(-1) - reach**2
    with np.errstate(invalid="ignore"):
        frames = (-b - np.sqrt(b * b - a * c)) / a
        frames = np.where((frames >= 0) & (frames <= (4 if moves else np.inf)), frames, np.inf)
    within = (c < 0).any(1)
    first, id = frames.min(1), frames.argmin(1)
    clear = (np.abs(b * b - a * c) > 1e-3 * a * reach**2).all(1) & (np.abs(c) > 1e-4).all(1)
    clear &= ~(np.abs(first - 4) < 1e-3)
    np.testing.assert_array_equal(flights.offsets, np.arange(M + 1))
    np.testing.assert_array_equal(
        flights.status[clear], np.where(within, 2, np.where(np.isfinite(first), 0, 1))[clear]
    )
    met = clear & (flights.status == 0)
    assert met.sum() > M // 5 and within.any() and np.isinf(first).any()
    i, j = np.flatnonzero(met), id[met]
    np.testing.assert_array_equal(flights.id[met], j)
    np.testing.assert_allclose(flights.frames[met], first[met], 1e-5)
    np.testing.assert_allclose(flights.distance[met], (first * speed)[met], 1e-5)
    np.testing.assert_allclose(flights.point[met], (start + first[:, None] * flown)[met], 1e-4, 1e-4)
    normal = (to[i, j] + first[met, None] * way[i, j]) / reach[i, j][:, None]
    into = (way[i, j] * normal).sum(-1, keepdims=True)
    np.testing.assert_allclose(flights.velocity[met], flown[met] - 2 * into * normal, 1e-3, 1e-3)
    np.testing.assert_allclose(flights.grazing_rad[met], np.arcsin(-into[:, 0] / lengths(way[i, j])), 1e-3, 1e-3)


def test_bullets_of_tables_have_radii(moving):
    bullets, radii = shots()
    names = ("x1", "y1", "z1", "x2", "y2", "z2", "speed")
    table = dict(zip(names, bullets.T, strict=True))
    expected, points = moving.bullets(bullets, radius=radii, bounces=4), moving.bullets(bullets, bounces=4)
    assert len(expected.id) != len(points.id)
    for given, own, same in (
        (table | {"radius": radii}, None, expected),
        (table, radii, expected),
        (table, None, points),
    ):
        for a, b in zip(moving.bullets(given, radius=own, bounces=4), same, strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(TypeError, match="radius is given twice"):
        moving.bullets(table | {"radius": radii}, radius=0)
    for a, b in zip(moving.bullets(bullets, radius=0), moving.bullets(bullets), strict=True):
        np.testing.assert_array_equal(a, b)


def test_bullets_are_refused(moving):
    bullets, radii = shots()
    radii[17] = -1
    with pytest.raises(umbracast.RecordError, match="bullet 17: radius is -1") as caught:
        moving.bullets(bullets, radius=radii)
    assert (caught.value.index, caught.value.field) == (17, "radius")
    assert moving.bullets(bullets, radius=radii, on_bad="skip").report.skipped == 1
    with pytest.raises(ValueError, match=r"radius: the shape \(3,\) cannot"):
        moving.bullets(bullets, radius=[1, 2, 3])
    late = umbracast.Scene(cloud(N), velocities=drift(), time_range=(1, 2), device="cpu")
    with pytest.raises(ValueError, match="bullets start at time 0"):
        pickle.loads(pickle.dumps(late)).bullets(bullets)
