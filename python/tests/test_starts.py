"""Rays from hit points, and surfaces nearer than the range of a sensor."""

import warnings

import numpy as np
import pandas as pd
import pytest

import umbracast

BALL = np.array([[5, 0, 0, 1]], np.float32)


def seen_ball(**options):
    """The hits of a sensor that sees a ball, with its scene."""
    rays = umbracast.rays_of_sensor(np.arange(-10, 11), np.arange(-10, 10, 20 / 21))
    scene = umbracast.Scene(BALL, device="cpu", **options)
    return scene, scene.closest(rays)


@pytest.mark.parametrize("options", [{}, {"origin": (1000.0, 2000.0, 3000.0)}])
def test_hit_points_see_the_sensor_and_are_hidden_behind_their_ball(options):
    shift = np.array(options.get("origin", (0.0, 0.0, 0.0)))
    rays = umbracast.rays_of_sensor(np.arange(-10, 11), np.arange(-10, 10, 20 / 21), shift[None])
    scene = umbracast.Scene(BALL + np.array([*shift, 0.0]), device="cpu", **options)
    hits = scene.closest(rays)
    back, behind = hits.rays_to(shift), hits.rays_to(shift + (20, 0, 0))
    assert len(back) == hits.hit.sum() == 403 and back.from_ids.tolist() == [0] * 403
    assert scene.occluded(back).sum() == 0
    assert scene.occluded(behind).sum() == 403
    assert scene.occluded(hits.rays_along((-1, 0, 0))).sum() == 0
    assert scene.occluded(hits.rays_along((1, 0, 0))).sum() == 403
    lit = np.zeros(hits.t.shape, bool)
    lit[hits.hit] = ~scene.occluded(back)
    assert (lit == hits.hit).all()
    # The same through a keyword and through a table; without the ids, rounding decides.
    points = hits.points()[hits.hit]
    towards = umbracast.rays_toward(points, shift)
    assert scene.occluded(towards, from_ids=0).sum() == 0
    frame = pd.DataFrame(towards, columns=["ox", "oy", "oz", "dx", "dy", "dz", "t_min", "t_max"]).assign(from_id=0)
    assert scene.occluded(frame).sum() == 0
    assert scene.occluded(towards).any()


def test_lists_and_reports_of_rays_that_start_on_a_surface():
    scene = umbracast.Scene([[0, 0, 0, 1]], device="cpu")
    lists = scene.all([[1, 0, 0, 1, 0, 0], [1, 0, 0, -1, 0, 0]], from_ids=[0, 0], precision="exact")
    assert lists.offsets.tolist() == [0, 0, 1]
    assert (lists.t_enter[0], lists.t_exit[0], lists.id[0]) == (0, 2, 0)
    with pytest.warns(RuntimeWarning, match="1 rays start farther") as caught:
        hits = scene.closest([[1.0001, 0, 0, 1, 0, 0]], from_ids=0)
        assert scene.all([[1.0001, 0, 0, 1, 0, 0]], from_ids=0).offsets.tolist() == [0, 0]
        assert scene.bullets([[1.0001, 0, 0, 2, 0, 0, 1]], from_ids=0).status.tolist() == [1]
    assert len(caught) == 3 and {one.filename for one in caught} == {__file__}
    assert not hits.hit.any() and hits.report.off_surface == 1
    with pytest.raises(umbracast.RecordError, match="does not lie on the surface"):
        scene.closest([[1.5, 0, 0, 1, 0, 0]], from_ids=0)
    with pytest.raises(umbracast.RecordError, match="no such sphere"):
        scene.closest([[1, 0, 0, 1, 0, 0]], from_ids=7)
    with pytest.raises(TypeError, match="from_ids"):
        scene.contains([[1, 0, 0]], from_ids=0)
    with pytest.raises(ValueError, match="from_id"):
        scene.contains(pd.DataFrame({"x": [1], "y": [0], "z": [0], "from_id": [0]}))


def test_bullets_leave_the_surface_on_which_they_start():
    scene, hits = seen_ball()
    points = hits.points()[hits.hit]
    for target, status in (((0, 0, 0), 1), ((20, 0, 0), 2)):
        bullets = np.concatenate([points, np.broadcast_to(target, points.shape), np.ones((len(points), 1))], axis=1)
        assert (scene.bullets(bullets, from_ids=np.zeros(len(points), int)).status == status).all()
        table = dict(zip(("x1", "y1", "z1", "x2", "y2", "z2", "speed"), bullets.T, strict=True), from_id=np.zeros(len(points)))
        assert (scene.bullets(table).status == status).all()


def test_times_and_radii_go_with_the_rays_from_hits():
    scene = umbracast.Scene([[0, 0, 0, 1]], velocities=[[20, 0, 0]], device="cpu")
    rays = [[20, 0.3, 0, -1, 0, 0], [20, 5, 0, 1, 0, 0], [20, 0.3, 0, -1, 0, 0]]
    hits = scene.closest(rays, times=[0.5, 0.5, 0.25])
    back = hits.rays_to((30, 0.3, 0))
    assert back.from_ids.tolist() == [0, 0] and scene.occluded(back).tolist() == [False, False]
    assert scene.occluded(hits.rays_to((-30, 0, 0))).tolist() == [True, True]
    thick = umbracast.Scene([[0, 0, 0, 1]], device="cpu")
    hits = thick.closest([[9, 0.3, 0, -1, 0, 0]], ray_radius=0.5)
    assert not thick.occluded(hits.rays_to((9, 0.3, 0))).any()
    assert thick.occluded(hits.rays_to((-9, 0, 0))).all()


def test_rays_from_hits_that_travel_with_spheres_have_the_times_of_the_hits():
    scene = umbracast.Scene([[5, 0, 0, 1]], velocities=[[0, 0.1, 0]], time_range=(0, 10), device="cpu")
    hits = scene.closest([[0, 0, 0, 1, 0, 0]], t_max=10, times=3, motion="with-ray")
    back = hits.rays_to((0, 0, 0))
    assert back.options["times"].tolist() == hits.t.tolist() and back.from_ids.tolist() == [0]
    assert not scene.occluded(back).any() and scene.occluded(hits.rays_to((9, 0, 0))).all()


def test_rays_from_the_start_of_a_ray_inside_a_sphere_have_no_sphere():
    scene = umbracast.Scene([[0, 0, 0, 1], [5, 0, 0, 1]], device="cpu")
    inside = [[0.2, 0, 0, 1, 0, 0], [3, 0, 0, 1, 0, 0]]
    hits = scene.closest(inside)
    for rays in (hits.rays_to((3, 0, 0)), hits.rays_along((-1, 0, 0))):
        assert rays.from_ids.tolist() == [umbracast.NO_SPHERE, 1]
        assert scene.occluded(rays).tolist() == [True, rays.rays[1, 7] > 1]
    late = scene.closest(inside, t_min=0.5)
    assert late.rays_to((3, 0, 0)).from_ids.tolist() == [umbracast.NO_SPHERE, 1]
    assert scene.closest(umbracast.Segments(inside)).rays_to((3, 0, 0)).from_ids.tolist() == [umbracast.NO_SPHERE, 0]
    # Where rays leave the sphere, and where they go into the one on which they start, they are on its surface.
    assert scene.closest(inside, inside="exit").rays_to((3, 0, 0)).from_ids.tolist() == [0, 1]
    into = scene.closest([[1, 0, 0, -1, 0, 0]], from_ids=0)
    assert into.t.tolist() == [0] and into.rays_to((3, 0, 0)).from_ids.tolist() == [0]
    assert not scene.occluded(into.rays_to((3, 0, 0))).any()


def test_a_surface_nearer_than_the_range_blocks_the_rays_of_a_sensor():
    scene = umbracast.Scene([[0.3, 0, 0, 0.1], [10, 0, 0, 1]], device="cpu")
    rays = umbracast.rays_of_sensor([0], [0], range=(0.5, 120))
    assert not scene.closest(rays).hit.any()
    assert not scene.closest(rays[0]).hit.any()
    assert not scene.interval(rays).hit.any()
    assert scene.all(rays).offsets.tolist() == [0, 0]
    assert scene.closest(rays, near="pass").t.tolist() == [[9.0]]
    # Rays that are joined stay rays of a sensor.
    arrays = (np.concatenate([rays, rays]), np.vstack([rays, rays]), np.stack([rays, rays]), rays.reshape(-1, 8).copy())
    for joined in (*arrays, [rays, rays], tuple(rays)):
        assert not scene.closest(joined).hit.any()
    assert scene.closest(np.concatenate([rays, np.array(rays)])).hit.all()
    # Other queries cannot obey it, and arrays that are not of a sensor pass.
    assert scene.count(rays).tolist() == [[1]]
    assert scene.closest(np.array(rays)).t.tolist() == [[9.0]]
    assert not scene.closest(np.array(rays), near="block").hit.any()
    with pytest.raises(ValueError, match="near: block"):
        scene.count(rays, near="block")
    with pytest.raises(ValueError, match="near is 'no'"):
        scene.closest(rays, near="no")


def test_what_is_computed_from_the_rays_of_a_sensor_is_not_blocked():
    scene = umbracast.Scene([[5, 0, 0, 1], [5, 0, 4, 1]], device="cpu")
    sweep = umbracast.rays_of_sensor([0, 2], [-5, 0, 5], [[0, 0, 0]], range=(0.5, 100))
    points = sweep[..., :3] + scene.closest(sweep).t[..., None] * sweep[..., 3:6]
    up = [0, 0, 1]
    plain = scene.closest(np.array(points), up, t_min=1e-3, from_ids=0)
    assert plain.hit.all()
    np.testing.assert_array_equal(scene.closest(points, up, t_min=1e-3, from_ids=0).t, plain.t)
    np.testing.assert_array_equal(scene.closest(sweep[..., :3], sweep[..., 3:6], t_min=4.5).t, np.full((1, 2, 3), 4.5))


def test_rays_of_sensors_with_different_ranges_can_be_joined():
    scene = umbracast.Scene([[1, 0, 0, 0.2], [5, 0, 0, 1]], device="cpu")
    near = umbracast.rays_of_sensor([0], [0], range=(0, 9))
    far = umbracast.rays_of_sensor([0], [0], range=(2, 99))
    for joined in (np.concatenate([far, near]), np.block([[far], [near]])):
        assert scene.closest(joined).id.ravel().tolist() == [umbracast.NO_SPHERE, 0]
    # Among spheres that move while rays travel, none may have a minimum range.
    moving = umbracast.Scene([[5, 0, 0, 1]], velocities=[[0, 0, 0]], device="cpu", time_range=(0, 9))
    assert moving.closest(near, motion="with-ray").id.tolist() == [[0]]


def test_rays_from_hits_are_not_combined_with_other_ends():
    _, hits = seen_ball()
    scene = umbracast.Scene(BALL, device="cpu")
    with pytest.raises(TypeError, match="rays from hits"):
        scene.closest(hits.rays_to((0, 0, 0)), t_max=3)
    with pytest.raises(ValueError, match="target must contain 3 numbers"):
        hits.rays_to((0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(hits.rays_to((0, 0, 0))) == "<umbracast.SurfaceRays, 403 rays>"
