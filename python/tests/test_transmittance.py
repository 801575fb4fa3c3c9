"""`Scene.transmittance`: products of the spheres' transmittances, and the column of spheres."""

import pickle

import numpy as np
import pytest
import umbracast
from conftest import beams, cloud

LIGHT = np.float32([[0, 0, 0, 1, 0, 0, 0, 7], [0, 0, 0, 1, 0, 0, 0, np.inf], [0, 5, 0, 1, 0, 0, 0, np.inf]])
DUST = np.float32([[3, 0, 0, 1], [6, 0, 0, 1], [9, 0, 0, 1]])


@pytest.fixture(scope="module")
def dust():
    """Return a scene of 300 spheres, and their transmittances, of which some are 0 and some 1."""
    left = np.random.default_rng(4).uniform(0, 1, 300).astype(np.float32)
    left[::7], left[::11] = 1, 0
    return umbracast.Scene(cloud(300), device="cpu", transmittances=left), left


def test_transmittances_of_the_spheres_are_multiplied(dust):
    scene, left = dust
    rays = beams(5000)
    found = scene.transmittance(rays, precision="exact")
    lists = scene.all(rays, precision="exact")
    expected = np.ones(len(rays))
    np.multiply.at(expected, lists.rays(), left[lists.id].astype(float))
    assert found.dtype == np.float32 and (found == 0).any() and (found == 1).any()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_shapes_are_those_of_other_queries():
    scene = umbracast.Scene(DUST, device="cpu", transmittances=[0.5, 0.25, 0])
    np.testing.assert_array_equal(scene.transmittance(LIGHT), np.float32([0.125, 0, 1]))
    np.testing.assert_array_equal(scene.transmittance(LIGHT[:, None]), np.float32([[0.125], [0], [1]]))
    assert scene.transmittance(LIGHT[0]).shape == () and scene.transmittance(np.empty((0, 8))).shape == (0,)
    np.testing.assert_array_equal(scene.transmittance([0, 0, 0], [1, 0, 0], t_max=[4, 7]), np.float32([0.5, 0.125]))
    out = np.full(3, 7, np.float32)
    assert scene.transmittance(LIGHT, out=out) is out and out[0] == 0.125
    with pytest.raises(TypeError, match="out must have dtype float32"):
        scene.transmittance(LIGHT, out=np.empty(3))


def test_spheres_are_opaque_by_default():
    columns = dict(zip("xyzr", DUST.T, strict=True))
    opaque = umbracast.Scene(DUST, device="cpu")
    np.testing.assert_array_equal(opaque.transmittance(LIGHT), np.float32([0, 0, 1]))
    with_column = umbracast.Scene({**columns, "transmittance": [0.5, 0.25, 1]}, device="cpu")
    np.testing.assert_array_equal(with_column.transmittance(LIGHT), np.float32([0.125, 0.125, 1]))
    with pytest.raises(TypeError, match="transmittances is given twice"):
        umbracast.Scene({**columns, "transmittance": [0.5, 0.25, 1]}, device="cpu", transmittances=0.5)
    eggs = umbracast.Scene(DUST[:, :3], semi_axes=np.ones((3, 3)), device="cpu", transmittances=0.5)
    np.testing.assert_array_equal(eggs.transmittance(LIGHT), np.float32([0.25, 0.125, 1]))


def test_updates_and_pickles_keep_transmittances(dust):
    scene, left = dust
    rays = beams(2000)
    np.testing.assert_array_equal(scene._parts()[4], left)
    there = pickle.loads(pickle.dumps(scene))
    np.testing.assert_array_equal(there.transmittance(rays), scene.transmittance(rays))
    moved = cloud(300) + np.float32([1, 0, 0, 0])
    there.update(moved)
    expected = umbracast.Scene(moved, device="cpu", transmittances=left)
    np.testing.assert_array_equal(there.transmittance(rays), expected.transmittance(rays))
    there.update(moved, transmittances=left[::-1])
    there.rebuild()
    np.testing.assert_array_equal(there._parts()[4], left[::-1])
    other = umbracast.Scene(moved, device="cpu", transmittances=left[::-1])
    np.testing.assert_array_equal(there.transmittance(rays), other.transmittance(rays))
    assert (other.transmittance(rays) != expected.transmittance(rays)).any()


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ([0.5, 2, 0], umbracast.RecordError, r"sphere 1: transmittance is 2: .* from 0 \(opaque\) to 1 \(invisible\)"),
        ([0.5, 1, np.nan], umbracast.RecordError, "sphere 2: transmittance is NaN"),
        ([0.5, 1], ValueError, r"transmittances: the shape \(2,\) cannot be broadcast to \(3,\)"),
        (["half"] * 3, TypeError, "transmittances must be numbers"),
    ],
)
def test_invalid_transmittances_are_refused(given, kind, words):
    with pytest.raises(kind, match=words):
        umbracast.Scene(DUST, device="cpu", transmittances=given)
