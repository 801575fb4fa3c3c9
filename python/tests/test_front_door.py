"""Rays from points, sensors and cameras, scenes from points, closing, systems as dictionaries, progress of pictures, and signatures."""

import inspect
import typing
import warnings

import numpy as np
import pytest
import umbracast
from conftest import cloud
from test_pictures import SYSTEM
from umbracast import _queries


def test_rays_from_points_end_at_the_target_or_go_along_a_direction():
    points = np.array([[[0, 0, 0], [3, 0, 0]]], np.float32)
    rays = umbracast.rays_toward(points, [0, 0, 10])
    np.testing.assert_array_equal(rays[0], [[0, 0, 0, 0, 0, 10, 0, 1], [3, 0, 0, -3, 0, 10, 0, 1]])
    ball = umbracast.Scene([[0, 0, 5, 1]], device="cpu")
    np.testing.assert_array_equal(ball.occluded(rays), [[True, False]])
    # The target itself, a sphere in the scene, does not block its rays.
    lamp = umbracast.Scene([[0, 0, 10, 2]], device="cpu")
    assert lamp.occluded(rays).all() and not lamp.occluded(umbracast.rays_toward(points, [0, 0, 10], 2)).any()
    # Nor does one that float32 rounds, whether the scene subtracts an origin or not.
    middle, way = np.array([1000.5123, 999.8, 1000.2]), np.random.default_rng(3).normal(size=(1000, 3))
    around = middle + way / np.linalg.norm(way, axis=1)[:, None] * np.linspace(1.001, 4, 1000)[:, None]
    for points_around in (around, around.astype(np.float32)):
        towards = umbracast.rays_toward(points_around, middle, 1)
        far = 1 - 1 / np.linalg.norm(towards[:, 3:6], axis=1)
        # Three roundings of at most half a step of 2⁻¹⁴ per axis, and the margin of `fast`.
        assert (towards[:, 7] <= far).all() and (towards[:, 7] >= far - 2e-4 - 2**-16).all()
        for origin in (None, "auto"):
            assert not umbracast.Scene([[*middle, 1]], device="cpu", origin=origin).occluded(towards).any()
    along = umbracast.rays_along({"x": [1], "y": [2], "z": [3]}, (0, 0, -2))
    np.testing.assert_array_equal(along, [[1, 2, 3, 0, 0, -2, 0, np.inf]])
    for call, words in (
        (lambda: umbracast.rays_toward(points, [0, 0, np.nan]), "target is"),
        (lambda: umbracast.rays_toward(points, [0, 0, 1], -1), "radius is -1"),
        (lambda: umbracast.rays_along(points, [0, 0, 0]), "not all zero"),
        (lambda: umbracast.rays_along(points, [0, 0]), "3 numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def poses(*rows):
    """A table of positions and quaternions."""
    return dict(zip(("x", "y", "z", "qw", "qx", "qy", "qz"), np.array(rows).T, strict=True))


def test_rays_of_a_sensor_have_poses_elevations_and_azimuths():
    one = umbracast.rays_of_sensor([0, 90], [0, 90, 180])
    assert one.shape == (2, 3, 8) and one.dtype == np.float32
    np.testing.assert_allclose(one[0, :, 3:6], [[1, 0, 0], [0, 1, 0], [-1, 0, 0]], atol=1e-7)
    np.testing.assert_allclose(one[1, :, 3:6], [[0, 0, 1]] * 3, atol=1e-7)
    # The second pose turns the sensor by 90 degrees about z.
    half = np.sqrt(0.5)
    both = umbracast.rays_of_sensor([0], [0], poses([1, 2, 3, 1, 0, 0, 0], [4, 5, 6, half, 0, 0, half]), range=(0.5, 120))
    np.testing.assert_allclose(both[:, 0, 0], [[1, 2, 3, 1, 0, 0, 0.5, 120], [4, 5, 6, 0, 1, 0, 0.5, 120]], atol=1e-6)
    with pytest.raises(umbracast.RecordError, match="elevation"):
        umbracast.rays_of_sensor([91], [0])
    with pytest.raises(ValueError, match=r"\(P, 3\), \(P, 4, 4\) or \(4, 4\)"):
        umbracast.rays_of_sensor([0], [0], [[1, 2]])
    for pose, words in (
        ([0, 0, 0, 2, 0, 0, 0], r"pose 1: \|q\| is 2: a rotation must be a quaternion of length 1"),
        ([0, np.nan, 0, 1, 0, 0, 0], "pose 1: y is NaN: a position must be finite"),
    ):
        with pytest.raises(umbracast.RecordError, match=words):
            umbracast.rays_of_sensor([0], [0], poses([0, 0, 0, 1, 0, 0, 0], pose))


def test_float64_rays_keep_the_digits_of_their_origin():
    base = np.array([500000.3, 5000000.3, 0])
    near, points = cloud(500), cloud(60)[:, :3]
    far = np.c_[near[:, :3] + base, near[:, 3]]
    with umbracast.Scene(near, device="cpu") as local, umbracast.Scene(far, origin=base, device="cpu") as mapped:
        for here, there in (
            (
                umbracast.rays_of_sensor([-20, 0, 20], range(0, 360, 5), np.float32([[0, 0, 0.25]])),
                umbracast.rays_of_sensor([-20, 0, 20], range(0, 360, 5), [base + [0, 0, 0.25]]),
            ),
            (
                umbracast.rays_toward(points, [0, 0, 9], 0.5),
                umbracast.rays_toward(points + base, base + [0, 0, 9], 0.5),
            ),
            (umbracast.rays_along(points, [0, 1, 2]), umbracast.rays_along(points + base, [0, 1, 2])),
            (
                umbracast.rays_of_camera(np.float32([9, 0, 0]), [0, 0, 0], size=(20, 10)),
                umbracast.rays_of_camera(base + [9, 0, 0], base, size=(20, 10)),
            ),
            (
                umbracast.rays_of_camera(np.float32([9, 0, 0]), [0, 0, 0], size=(20, 10), width=8),
                umbracast.rays_of_camera(base + [9, 0, 0], base, size=(20, 10), width=8),
            ),
        ):
            assert here.dtype == np.float32 and there.dtype == np.float64 and here.shape == there.shape
            want, hits = local.closest(here), mapped.closest(there)
            assert want.hit.any()
            # Coordinates of 5e6 have steps of 1e-9 in float64 and of 0.5 in float32.
            np.testing.assert_array_equal(want.id, hits.id)
            np.testing.assert_allclose(want.t, hits.t, rtol=1e-5)


def test_rays_of_a_camera_fill_a_picture():
    rays = umbracast.rays_of_camera([0, 0, 10], [0, 0, 0], size=(4, 2), up=[0, 1, 0], field_of_view_deg=90)
    assert rays.shape == (2, 4, 8)
    np.testing.assert_allclose(rays[0, 0, 3:6], [-1.5, 0.5, -1])
    flat = umbracast.rays_of_camera([0, 0, 10], [0, 0, 0], size=(4, 2), up=[0, 1, 0], width=8)
    np.testing.assert_allclose(flat[1, 3], [3, -1, 10, 0, 0, -1, 0, np.inf])
    ball = umbracast.Scene([[0, 0, 0, 1]], device="cpu")
    assert ball.closest(umbracast.rays_of_camera([9, 0, 0], [0, 0, 0], size=(9, 9))).hit[4, 4]
    with pytest.raises(TypeError, match="one of the two"):
        umbracast.rays_of_camera([0, 0, 1], [0, 0, 0], size=(1, 1), width=1, field_of_view_deg=1)
    with pytest.raises(ValueError, match="parallel"):
        umbracast.rays_of_camera([0, 0, 1], [0, 0, 0], size=(1, 1))


def test_a_scene_from_points_has_one_radius_or_many():
    points = cloud(20)[:, :3]
    one = umbracast.Scene.from_points(points, 0.25, device="cpu")
    np.testing.assert_array_equal(one.spheres, np.c_[points, np.full(20, 0.25, np.float32)])
    many = umbracast.Scene.from_points(points.astype(float), np.arange(1, 21), device="cpu")
    np.testing.assert_array_equal(many.spheres[:, 3], np.arange(1, 21))
    # Rounding of the radius counts, whatever the type of the points.
    assert [umbracast.Scene.from_points(points.astype(kind), 0.1, device="cpu").rounded for kind in ("f4", "f8")] == [20, 20]
    assert len(umbracast.Scene.from_points(np.empty((0, 3)), 0.1, device="cpu")) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(umbracast.RecordError, match=r"sphere 0: r is 1e\+?39: it exceeds the largest f32"):
            umbracast.Scene.from_points(points, 1e39, device="cpu")
    for radius, shape in ((0.5, (3, 2)), ([1, 2], (3, 3))):
        with pytest.raises(ValueError, match="must have shape|must be a number"):
            umbracast.Scene.from_points(np.zeros(shape), radius, device="cpu")
    table = np.zeros(2, [("x", "f4"), ("y", "f4"), ("z", "f4")])
    table["x"] = [1, 2]
    np.testing.assert_array_equal(
        umbracast.Scene.from_points(table, 0.5, device="cpu").spheres, [[1, 0, 0, 0.5], [2, 0, 0, 0.5]]
    )
    with pytest.raises(ValueError, match=r"not \(20, 3\): for points, use Scene.from_points"):
        umbracast.Scene(points, device="cpu")


def test_a_coarse_rounding_of_spheres_is_a_warning():
    far = [[5000000.3, 0, 0, 0.1]]
    with pytest.warns(RuntimeWarning, match=r"up to 2.0e-01; the smallest radius is 1.0e-01: origin='auto'") as found:
        scene = umbracast.Scene(far, device="cpu")
    assert found[0].filename == __file__
    assert scene.rounded == 2 and 0.19 < scene.largest_rounding < 0.21 and scene.origin == (0, 0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        umbracast.Scene(far, origin="auto", device="cpu")
        umbracast.Scene([[0.1, 0.2, 0.3, 1]], device="cpu")


NARROW = 2**-7


@pytest.mark.parametrize(
    ("sphere", "scene", "query", "message"),
    [
        ([1e7, 0, 5, NARROW], {}, lambda s: s.closest([1e7 + 0.3, 0, -1000, 0, 0, 1]), "positions by up to 3.0e-01.*an origin near them"),
        ([1e7, 0, 5, NARROW], {}, lambda s: s.all([1e7 + 0.3, 0, -1000, 0, 0, 1]), "positions by up to 3.0e-01"),
        (
            [1e7, 0, 5, NARROW],
            {},
            lambda s: s.occluded(umbracast.Segments([1e7 + 0.3, 0, -1000], [1e7 + 0.3, 0, 1000])),
            "positions by up to 3.0e-01",
        ),
        ([1e7, 0, 5, NARROW], {}, lambda s: s.bullets([[1e7 + 0.3, 0, -1000, 1e7 + 0.3, 0, 9, 1]]), "positions by up to 3.0e-01"),
        ([0, 0, 5, NARROW], {}, lambda s: s.bullets([[0, 0, 0, 0, 0, 9, 1]], radius=1e4 + 1e-4), "radii by up to 1.0e-04"),
        (
            [1e7, 0, 5, 1],
            {"origin": (1e7, 0, 0)},
            lambda s: s.closest([9e8 + 7, 0, 5, -1, 0, 0]),
            "positions by up to .*choose an origin nearer to them",
        ),
        (
            [-2e6, 0, 5, 0.0625],
            {"velocities": [[100, 0, 0]], "time_range": (0, 30000)},
            lambda s: s.closest([0, 0, 0, 0, 0, 1], times=20000.0009),
            "values of time by up to 9.0e-04; the smallest radius is 6.2e-02",
        ),
        (
            [-2e6, 0, 5, 0.0625],
            {"velocities": [[100, 0, 0]], "time_range": (0, 30000)},
            lambda s: s.contains([0, 0, 5], times=20000.0009),
            "values of time by up to 9.0e-04",
        ),
        ([0, 0, 1e8, NARROW], {}, lambda s: s.closest([0, 0, 0, 0, 0, 1], t_max=99999999), "values of t_max by up to 1.0e"),
        ([0, 0, 5, 1], {}, lambda s: s.closest([0, 0, 0, 0, 0, 1], ray_radius=1e5 + 1e-3), "radii by up to 1.0e-03"),
    ],
)
def test_a_coarse_rounding_of_a_query_is_one_warning(sphere, scene, query, message):
    made = umbracast.Scene([sphere], device="cpu", **scene)
    with pytest.warns(RuntimeWarning, match=message) as found:
        answer = query(made)
        query(made)
    assert [one.filename for one in found] == [__file__]
    if hasattr(answer, "report"):
        assert answer.report.rounded >= 1 and answer.report.largest_rounding > 0


@pytest.mark.filterwarnings("error")
def test_all_values_that_rounding_changes_are_counted():
    scene = umbracast.Scene([[0, 0, 5, 1]], velocities=[[0.1, 0, 0]], transmittances=[0.3], time_range=(0, 9), device="cpu")
    assert scene.rounded == 2 and scene.largest_rounding == float(np.float32(0.3)) - 0.3
    rays = np.broadcast_to([0.0, 0, 0, 0, 0, 1], (3, 6))
    assert scene.closest(rays, ray_radius=0.1).report.rounded == 3
    report = scene.closest(rays, times=[0.5, 0.1, 0.7]).report
    assert report.rounded == 2 and report.largest_rounding == 0.7 - float(np.float32(0.7))
    assert scene.contains([[0, 0, 5]], times=0.1).report.rounded == 1
    assert scene.closest(rays, ray_radius=np.float32(0.1)).report.rounded == 0
    # float32 cannot hold an end of a ray that is none.
    assert scene.occluded(rays, t_max=1e30 + 1e20).all()


def test_a_coarse_rounding_of_velocities_is_a_warning():
    with pytest.warns(RuntimeWarning, match=r"values of vz by up to 1.0e\+00; the smallest radius is 1.0e\+00") as found:
        scene = umbracast.Scene([[0, 0, 5, 1]], velocities=[[1, 0, 1e8 + 1]], device="cpu")
    assert scene.rounded == 1 and found[0].filename == __file__


def test_a_segment_without_length_is_named():
    scene = umbracast.Scene([[0, 0, 0, 1]], device="cpu")
    path = umbracast.Segments([[0, 0, 3], [0, 0, 0.5]], [[0, 0, 2], [0, 0, 0.5]])
    with pytest.raises(umbracast.RecordError, match="segment 1: end is the start: both ends are the same point"):
        scene.occluded(path)


def test_a_closed_scene_raises_an_error():
    with umbracast.Scene([[5, 0, 0, 1]], device="cpu") as scene:
        assert scene.closest([0, 0, 0, 1, 0, 0]).hit
    assert repr(scene) == "<umbracast.Scene, closed>"
    for call in (lambda: scene.closest([0, 0, 0, 1, 0, 0]), lambda: len(scene), lambda: scene.spheres, scene.rebuild):
        with pytest.raises(ValueError, match="the scene is closed"):
            call()
    scene.close()


def test_a_system_can_be_a_dictionary():
    system = {
        "unit": "km",
        "light": {"center": [0, 0, 1000], "radius": 1},
        "body": [
            {"name": 'a "ball"', "center": np.zeros(3), "radius": np.float64(2)},
            {"name": "moon", "center": (1, 0, 4), "radius": 0.5, "casts": True, "color": None},
        ],
        "camera": {"kind": "orthographic", "position": [0, 0, 10], "target": [0, 0, 0], "up": [0, 1, 0], "width": 8},
        "picture": {"size": [80, 60], "samples": 2},
    }
    drawn, expected = umbracast.System(system).render(device="cpu"), umbracast.System.parse(SYSTEM).render(device="cpu")
    np.testing.assert_array_equal(drawn.image, expected.image)
    seen = umbracast.System(system).shadow([[1, 0, 0]], device="cpu")
    np.testing.assert_array_equal(seen.fraction, umbracast.System.parse(SYSTEM).shadow([[1, 0, 0]], device="cpu").fraction)
    with pytest.raises(TypeError, match=r"body\[0\].radius is"):
        umbracast.System({**system, "body": [{"radius": 1j}]}).render(device="cpu")
    with pytest.raises(TypeError, match="keys"):
        umbracast.System({1: 2}).render(device="cpu")


def test_pictures_report_their_progress():
    reports = []
    umbracast.System.parse(SYSTEM).render(device="cpu", size=(160, 120), progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (1000, 1000) and reports == sorted(reports)
    with pytest.raises(TypeError, match="progress"):
        umbracast.System.parse(SYSTEM).render(device="cpu", progress=1)


def test_signatures_name_the_options():
    for verb in typing.get_args(_queries.Query):
        parameters = inspect.signature(getattr(umbracast.Scene, verb)).parameters
        assert parameters["precision"].default == "auto" and parameters["inside"].default == "enter", verb
        assert "options" not in parameters
    assert "inside" not in inspect.signature(umbracast.Scene.contains).parameters
    assert list(inspect.signature(umbracast.Scene.attributes).parameters)[-3:] == ["motion", "times", "ray_radius"]
