"""Scenes of files."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import umbracast
from conftest import beams, cloud

SAMPLES = Path(__file__).parents[2] / "systems/samples"


def test_a_file_is_the_same_scene(tmp_path):
    spheres = cloud(300)
    np.save(tmp_path / "s.npy", spheres)
    expected = umbracast.Scene(spheres, device="cpu").closest(beams(2000))
    with umbracast.Scene.read(tmp_path / "s.npy", device="cpu") as scene:
        hits = scene.closest(beams(2000))
        np.testing.assert_array_equal(hits.id, expected.id)
        np.testing.assert_array_equal(hits.t, expected.t)
        assert scene.rounded == 0


def test_optional_columns_of_a_file(tmp_path):
    table = {"x": [5.0, 9.0], "y": [0.0, 0.0], "z": [0.0, 0.0], "r": [1.0, 1.0]}
    own = {"mask": [1, 2], "vx": [0.0, 0.0], "vy": [0.0, 0.0], "vz": [1.0, 0.0], "transmittance": [0.5, 0.25]}
    pd.DataFrame({**table, **own}).to_csv(tmp_path / "own.csv", index=False)
    with umbracast.Scene.read(tmp_path / "own.csv", device="cpu", time_range=(0, 4)) as scene:
        ray = [0, 0, 0, 1, 0, 0]
        assert scene.closest(ray, masks=2).id == 1 and scene.closest(ray, times=3).id == 1 and scene.transmittance(ray) == 0.125
    del table["r"]
    eggs = {**table, "rx": [2.0, 1.0], "ry": [1.0, 1.0], "rz": [1.0, 1.0]}
    pd.DataFrame(eggs).to_csv(tmp_path / "eggs.csv", index=False)
    with umbracast.Scene.read(tmp_path / "eggs.csv", device="cpu") as scene:
        assert scene.closest([0, 0, 0, 1, 0, 0]).t == 3 and scene.shapes is not None
    pd.DataFrame(table).to_csv(tmp_path / "points.csv", index=False)
    assert umbracast.Scene.read(tmp_path / "points.csv", radius=2, device="cpu").closest([0, 0, 0, 1, 0, 0]).t == 3
    with pytest.raises(ValueError, match="points.csv.*'r'"):
        umbracast.Scene.read(tmp_path / "points.csv", device="cpu")
    pd.DataFrame({**table, "r": 1, "note": 0}).to_csv(tmp_path / "note.csv", index=False)
    with pytest.raises(ValueError, match="note.csv.*unknown column 'note'"):
        umbracast.Scene.read(tmp_path / "note.csv", device="cpu")
    assert len(umbracast.Scene.read(tmp_path / "note.csv", ignore_extra=True, device="cpu")) == 2


def test_an_origin_keeps_the_digits_of_a_file(tmp_path):
    base = np.array([512_000.3, 5_412_000.7, 0])
    near = cloud(300).astype(float)
    far = near + [*base, 0]
    pd.DataFrame(far, columns=["x", "y", "z", "r"]).to_csv(tmp_path / "far.csv", index=False)
    with pytest.warns(RuntimeWarning, match="origin='auto' keeps more digits") as found:
        umbracast.Scene.read(tmp_path / "far.csv", device="cpu")
    assert found[0].filename == __file__
    rays = beams(2000).astype(float)
    rays[:, :3] += base
    for origin in ("auto", base):
        scene = umbracast.Scene.read(tmp_path / "far.csv", origin=origin, device="cpu")
        same = umbracast.Scene(far, origin=origin, device="cpu")
        np.testing.assert_array_equal(scene.closest(rays).t, same.closest(rays).t)
        assert scene.origin == same.origin and scene.rounded == same.rounded
    refused = [([1, 2], "origin must contain 3 numbers"), ([np.nan, 0, 0], "finite"), ("centre", "rays or 'auto'")]
    for origin, words in refused:
        with pytest.raises(ValueError, match=words):
            umbracast.Scene.read(tmp_path / "far.csv", origin=origin, device="cpu")


@pytest.mark.parametrize("shape", ["sphere", "ellipsoid"])
def test_an_origin_near_rays_keeps_their_heights_above_a_body_of_a_file(tmp_path, shape):
    path = tmp_path / "planet.csv"
    sizes = ["r"] if shape == "sphere" else ["rx", "ry", "rz"]
    # A planet, a boulder, and a moon so far away that f32 steps are 32.
    table = {name: [0.0, 0.0, 0.0] for name in "xyz"} | {name: [6_371_000.0, 1.0, 1000.0] for name in sizes}
    table["x"] = [-0.3, 6_371_010.0, -3e8]
    pd.DataFrame(table).to_csv(path, index=False)
    rays = [[6_371_005.3, 0.1, 0, 1, 0, 0], [6_371_005.3, 0.1, 0, -1, 0, 0]]
    with pytest.warns(RuntimeWarning, match="origin=rays"):
        umbracast.Scene.read(path, device="cpu").closest(rays)
    frame = pd.DataFrame(rays, columns=["ox", "oy", "oz", "dx", "dy", "dz"])
    for origin in (rays, np.array(rays)[:, :3], frame):
        # Only the planet keeps all digits.
        with pytest.warns(RuntimeWarning, match="choose an origin nearer to the spheres"):
            scene = umbracast.Scene.read(path, origin=origin, device="cpu")
            assert scene.origin == umbracast.Scene(table, origin=origin, device="cpu").origin != (0.0, 0.0, 0.0)
        np.testing.assert_allclose(scene.closest(rays).t, [3.705, 5.6], atol=1e-3)
    with pytest.warns(RuntimeWarning, match="choose an origin nearer to the spheres"):
        middles = [
            umbracast.Scene.read(path, origin=origin, device="cpu").origin for origin in (np.empty((0, 6)), "auto")
        ]
    assert middles[0] == middles[1]


def test_columns_that_a_file_lacks_are_arguments(tmp_path):
    ray, path = [0, 0, 0, 1, 0, 0], tmp_path / "balls.csv"
    path.write_text("x,y,z,r\n5,0,0,1\n9,0,0,1\n")
    read = lambda **given: umbracast.Scene.read(path, device="cpu", **given)  # noqa: E731
    assert read(masks=[1, 2]).closest(ray, masks=2).id == 1
    assert read(velocities=[[0, 0, 9], [0, 0, 0]]).closest(ray, times=1).id == 1
    assert read(transmittances=[0.5, 0.1]).rounded == 1
    assert read(transmittances=0.5).transmittance(ray) == 0.25
    for name, given, shape in (("masks", [1, 2, 3], "(2,)"), ("velocities", [[0, 0, 1]], "(2, 3)")):
        with pytest.raises(ValueError, match=f"^{name}.*{re.escape(shape)}"):
            read(**{name: given})
    with pytest.raises(TypeError, match=r"^semi_axes must be columns of the file \(rx, ry, rz\); or read first, then"):
        read(semi_axes=[[1, 1, 1], [1, 1, 1]])
    scene = read(masks=[1, 2], origin=(5, 0, 0))
    scene.update(scene.spheres[:, :3] + scene.origin, semi_axes=[[2, 1, 1], [2, 1, 1]])
    assert scene.closest(ray).t == 3 and scene.closest(ray, masks=2).t == 7
    path.write_text("x,y,z,r,mask,vx,vy,vz,transmittance\n5,0,0,1,0,1,0,0,0.5\n")
    twice = (("masks", [1], "mask"), ("velocities", [[1, 0, 0]], "vx"), ("transmittances", [1], "transmittance"))
    for name, given, column in twice:
        with pytest.raises(TypeError, match=f"{name} is given twice: as an argument and as the column '{column}'"):
            read(**{name: given})


def test_masks_of_atoms_do_not_show_atoms_that_are_left_out(tmp_path):
    path = tmp_path / "two.xyz"
    path.write_text("3\nwater\nO 0 0 5\nXx 0 0 7\nO 0 0 9\n")
    with pytest.warns(RuntimeWarning, match="unknown_atoms"):
        scene = umbracast.Scene.read(path, masks=[1, 3, 2], velocities=np.zeros((3, 3)), device="cpu")
    assert scene.masks.tolist() == [1, 0, 2]
    assert scene.closest([0, 0, 0, 0, 0, 1], masks=2).id == 2
    with pytest.warns(RuntimeWarning), pytest.raises(ValueError, match=r"^masks: the shape \(2,\)"):
        umbracast.Scene.read(path, masks=[1, 3], device="cpu")


def test_atoms_of_a_file(tmp_path):
    assert len(umbracast.Scene.read(SAMPLES / "peptide.pdb", device="cpu")) > 20
    path = tmp_path / "two.xyz"
    path.write_text("2\nfirst\nO 0 0 5\nXx 0 0 9\n1\nsecond\nH 0 0 1\n")
    with pytest.warns(RuntimeWarning) as found:
        scene = umbracast.Scene.read(path, device="cpu")
    assert ["unknown_atoms=RADIUS" in str(found[0].message), "models='all'" in str(found[1].message)] == [True, True]
    assert scene.count([0, 0, 0, 0, 0, 1]) == 1 and scene.masks.tolist() == [0xFFFF_FFFF, 0]
    every = umbracast.Scene.read(path, unknown_atoms=1.0, models="all", device="cpu")
    assert every.count([0, 0, 0, 0, 0, 1]) == 3
    with pytest.raises(ValueError, match="models must be 'first' or 'all'"):
        umbracast.Scene.read(path, models="last")
    with pytest.raises(FileNotFoundError, match="none.csv"):
        umbracast.Scene.read(tmp_path / "none.csv", device="cpu")
