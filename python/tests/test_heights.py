"""Rays that start near the surface of a large sphere: the warning about rounding, and ``origin=rays``."""

import warnings

import numpy as np
import pandas as pd
import pytest

import umbracast

PLANET = np.array([[0, 0, 0, 6_371_000.0]])
OFF_GRID = [[0, 0, -6_378_149.3, 6_378_137.0]]
HORIZON = np.array([[0, 0, 6_371_001.7, 0.9999997324349534, 0, -0.0007315258174390383], [0, 0, 6_371_001.7, 0, 0, -1]])
COLUMNS = ["ox", "oy", "oz", "dx", "dy", "dz"]
WARNING = r"can move the start of a ray by .* relative to the nearest surface.*origin=rays"


def quiet(scene, rays, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return scene.closest(rays, **options).t


@pytest.mark.parametrize(
    "origin",
    [HORIZON, HORIZON[:, :3], HORIZON.tolist(), pd.DataFrame(HORIZON, columns=COLUMNS), (0, 0, 6_371_001.5)],
    ids=["rays", "starts", "lists", "table", "numbers"],
)
def test_an_origin_near_rays_keeps_their_heights(origin):
    with umbracast.Scene(PLANET, origin=origin, device="cpu") as scene:
        assert scene.origin == (0.0, 0.0, 6_371_001.5)
        np.testing.assert_allclose(quiet(scene, HORIZON), [4416.946, 1.7], rtol=1e-6)


def test_heights_that_rounding_changes_are_warned_of_once():
    scene = umbracast.Scene(PLANET, device="cpu")
    with pytest.warns(RuntimeWarning, match=WARNING) as caught:
        t = scene.closest(HORIZON).t
    assert caught[0].filename == __file__
    assert abs(t[1] - 1.5) < 1e-6
    quiet(scene, HORIZON)
    for query in (lambda s: s.all(HORIZON), lambda s: s.contains(HORIZON[:, :3]), lambda s: s.occluded(HORIZON)):
        with pytest.warns(RuntimeWarning, match="relative to the nearest surface") as caught:
            query(umbracast.Scene(PLANET, origin="auto", device="cpu"))
        assert caught[0].filename == __file__
    bullet = [[0, 0, 6_371_001.7, 0, 0, 0, 1]]
    with pytest.warns(RuntimeWarning, match="the start of a bullet") as caught:
        umbracast.Scene(PLANET, device="cpu").bullets(bullet)
    assert caught[0].filename == __file__
    segments = umbracast.Segments(HORIZON[:, :3], HORIZON[:, :3] * 0.5)
    with pytest.warns(RuntimeWarning, match=WARNING):
        umbracast.Scene(PLANET, device="cpu").occluded(segments)
    oblate = umbracast.Scene([[0, 0, 0]], semi_axes=[[6378137, 6378137, 6356752]], device="cpu")
    pole = [[0, 0, 6_356_753.7, 0, 0, -1]]
    with pytest.warns(RuntimeWarning, match=WARNING):
        oblate.closest(pole)
    oblate = umbracast.Scene([[0, 0, 0]], semi_axes=[[6378137, 6378137, 6356752]], origin=pole, device="cpu")
    np.testing.assert_allclose(quiet(oblate, pole), 1.7, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_centre_that_float32_does_not_have_is_warned_of(dtype):
    down = np.array([[0, 0, 0, 0, 0, -1, 0, np.inf]], dtype)
    for query in (lambda s: s.closest(down), lambda s: s.approach(down), lambda s: s.all(down)):
        with pytest.warns(RuntimeWarning, match=WARNING):
            query(umbracast.Scene(OFF_GRID, device="cpu"))
    np.testing.assert_allclose(quiet(umbracast.Scene(OFF_GRID, origin=down, device="cpu"), down), 12.3, rtol=1e-6)
    above = [[0, 0, -12.2]]
    assert umbracast.Scene(OFF_GRID, origin=above, device="cpu").contains(above).count == 0


def test_digits_of_other_centres_are_not_those_of_the_nearest_radius():
    spheres, down = [[0, 0, 0, 6_371_000.0], [2000, 0, 6_371_000.2, 500]], [[0, 0, 6_371_001.7, 0, 0, -1]]
    with pytest.warns(RuntimeWarning, match=WARNING.replace(".*", "2.0e-01", 1)):
        umbracast.Scene(spheres, device="cpu").closest(down)
    np.testing.assert_allclose(quiet(umbracast.Scene(spheres, origin=down, device="cpu"), down), 1.7, rtol=1e-6)


@pytest.mark.parametrize(
    ("spheres", "rays", "options"),
    [
        (PLANET, [[6_771_000.3, 0, 0, -1, 0, 0]], {}),
        (PLANET, [[0, 0, 6_371_002.0, 0, 0, -1]], {}),
        (PLANET, HORIZON.astype(np.float32), {}),
        ([[0, 0, 0, 1]], [[0.577350269, 0.577350269, 0.577350269, 1, 1, 1]], {"skip_ids": 0}),
        (np.random.default_rng(1).uniform(1, 2, (500, 4)) * [20, 20, 20, 1], 25 * np.random.default_rng(2).random((5000, 6)), {}),
    ],
    ids=["satellite", "exact", "float32", "skipped", "random"],
)
def test_harmless_starts_cause_no_warning(spheres, rays, options):
    quiet(umbracast.Scene(spheres, device="cpu"), rays, **options)


def test_advice_that_would_not_help_is_not_given():
    both = [[0, 0, 6_371_001.7, 0, 0, -1], [0, 0, -6_371_001.7, 0, 0, 1]]
    with pytest.warns(RuntimeWarning, match="more digits than float32 keeps"):
        umbracast.Scene(PLANET, device="cpu").closest(both)
    # ``origin=rays`` keeps all digits of the planet, but the Sun hides this.
    sun = [[-933384.39, 0, 291759.7, 921350], [4_973_276_470, 3_825_188_169, -3_602_791_090, 7e8]]
    down = [[-933384.39, 0, 1213155.048, 0, 0, -1]]
    scene = umbracast.Scene(sun, origin=down, device="cpu")
    with pytest.warns(RuntimeWarning, match="more digits than float32 keeps"):
        np.testing.assert_allclose(scene.closest(down).t, 45.348, rtol=1e-6)
    with pytest.warns(RuntimeWarning, match="from_ids"):
        umbracast.Scene([[0, 0, 0, 1]], device="cpu").closest([[0.577350269, 0.577350269, 0.577350269, 1, 1, 1]])


@pytest.mark.parametrize("origin", ["centre", [1, 2], [1, 2, np.inf], np.zeros((2, 5))])
def test_wrong_origins_are_refused(origin):
    with pytest.raises((ValueError, TypeError)):
        umbracast.Scene(PLANET, origin=origin, device="cpu")
