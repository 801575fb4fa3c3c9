"""Scenes of files."""

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
    for origin, words in [(rays, "origin must contain 3 numbers"), ([np.nan, 0, 0], "finite")]:
        with pytest.raises(ValueError, match=words):
            umbracast.Scene.read(tmp_path / "far.csv", origin=origin, device="cpu")


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
