"""Rendering of systems, and shadows."""

from pathlib import Path

import numpy as np
import pytest
import umbracast

# A ball lit by a distant light behind the camera, and a small ball between them that shadows it.
SYSTEM = """
unit = "km"
[light]
center = [0, 0, 1000]
radius = 1
[[body]]
name = "ball"
center = [0, 0, 0]
radius = 2
[[body]]
name = "moon"
center = [1, 0, 4]
radius = 0.5
[camera]
kind = "orthographic"
position = [0, 0, 10]
target = [0, 0, 0]
up = [0, 1, 0]
width = 8
[picture]
size = [80, 60]
samples = 2
"""


def test_a_picture_has_times_ids_and_fractions():
    picture = umbracast.System.parse(SYSTEM).render(device="cpu")
    assert picture.image.shape == (60, 80, 3) and picture.image.dtype == np.uint8
    assert picture.t.shape == picture.id.shape == picture.fraction.shape == (60, 80)
    assert picture.id[30, 20 + 15] == 0 and picture.id[29, 50] == 1 and picture.id[0, 0] == umbracast.NO_SPHERE
    np.testing.assert_allclose(picture.t[29, 50], 5.5, atol=0.02)
    assert np.isinf(picture.t[0, 0]) and picture.image[0, 0].max() == 0 and picture.image[30, 35].min() > 50
    larger = umbracast.System.parse(SYSTEM).render(device="cpu", size=(160, 120), samples=1)
    assert larger.image.shape == (120, 160, 3)


def test_a_picture_of_the_cpu_engine_on_a_gpu_has_a_reason():
    ambient = SYSTEM.replace("samples = 2", "samples = 1\nambient = 0.2\nambient_samples = 4")
    assert ambient != SYSTEM
    assert umbracast.System.parse(ambient).render(device="gpu").cpu_fallback == "it has ambient_samples"
    assert umbracast.System.parse(ambient).render(device="cpu").cpu_fallback is None
    assert umbracast.System.parse(SYSTEM).render(device="gpu").cpu_fallback is None


def test_files_and_errors(tmp_path):
    path = tmp_path / "system.toml"
    path.write_text(SYSTEM)
    np.testing.assert_array_equal(
        umbracast.System.read(path).render(device="cpu").image, umbracast.System.parse(SYSTEM).render(device="cpu").image
    )
    with pytest.raises(FileNotFoundError, match="nowhere"):
        umbracast.System.read(tmp_path / "nowhere.toml").render(device="cpu")
    with pytest.raises(ValueError, match="radius is missing"):
        umbracast.System.parse(SYSTEM.replace("radius = 2\n", "")).render(device="cpu")
    with pytest.raises(ValueError, match="unit"):
        umbracast.System.parse("unit = 'mile'\n").shadow([[0, 0, 0]], device="cpu")


def test_sizes_are_refused():
    with pytest.raises(ValueError, match="size must be \\(width, height\\), not 10"):
        umbracast.System.parse(SYSTEM).render(device="cpu", size=10)
    with pytest.raises(TypeError, match="width must be an integer, not 10.5"):
        umbracast.System.parse(SYSTEM).render(device="cpu", size=(10.5, 10))
    with pytest.raises(ValueError, match="height is -1"):
        umbracast.System.parse(SYSTEM).render(device="cpu", size=(10, -1))
    with pytest.raises(TypeError, match="samples must be an integer"):
        umbracast.System.parse(SYSTEM).render(device="cpu", samples=1.5)


def test_shadows_report_their_progress():
    calls = []
    system, observers = SYSTEM[: SYSTEM.index("[camera]")], np.random.default_rng(0).uniform(3, 9, (2_000_000, 3))
    umbracast.System.parse(system).shadow(observers, device="cpu", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (2_000_000, 2_000_000) and [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_a_picture_equals_that_of_the_command_line():
    root = Path(__file__).parents[2]
    image = umbracast.System.read(root / "systems/planet.toml").render(device="cpu").image
    from matplotlib.image import imread

    expected = (imread(root / "output/planet.png")[..., :3] * 255).round().astype(int)
    assert np.abs(image - expected).max() <= 1


def test_fluxes():
    sun = SYSTEM.split("[camera]")[0]
    observers = np.array([[1.35, 0, 2.2], [1.5, 0, 3], [-8, 0, 3]])
    plain = umbracast.System.parse(sun).shadow(observers, device="cpu")
    np.testing.assert_array_equal(plain.flux, plain.fraction)
    wide = sun.replace("radius = 1\n", "radius = 100\nlimb_darkening = [0.44, 0.23]\n", 1)
    seen = umbracast.System.parse(wide).shadow(observers.reshape(3, 1, 3), device="cpu")
    assert seen.flux.shape == seen.fraction.shape == (3, 1) and seen.flux.dtype == np.float64
    # The edge of the disc, which is left, is darker than the middle.
    assert 0 < seen.flux[0, 0] < seen.fraction[0, 0] < 1 and seen.flux[2, 0] == 1


def test_shadows():
    sun = (
        "unit = 'km'\n[light]\ncenter = [0, 0, 149_597_870.7]\nradius = 695_700\n"
        "[[body]]\nname = 'Moon'\ncenter = [0, 0, 370_000]\nradius = 1_737.4\n"
    )
    observers = np.array([[0, 0, 6_371.0], [1_000, 0, 6_291], [0, 6_371, 0]])
    seen = umbracast.System.parse(sun).shadow(observers, device="cpu")
    assert [umbracast.ShadowKind(kind).name for kind in seen.kind] == ["UMBRA", "PENUMBRA", "LIT"]
    assert seen.fraction[0] == 0 and seen.fraction[2] == 1 and 0 < seen.fraction[1] < 1
    table = {name: observers[:, k] for k, name in enumerate("xyz")}
    np.testing.assert_array_equal(umbracast.System.parse(sun).shadow(table, device="cpu").fraction, seen.fraction)
    assert umbracast.System.parse(sun).shadow(observers[0], device="cpu").fraction.shape == ()
    with pytest.raises(umbracast.RecordError, match="observer 1: y is NaN"):
        umbracast.System.parse(sun).shadow([[0, 0, 0], [0, np.nan, 0]], device="cpu")
    with pytest.raises(ValueError, match="observers must have shape"):
        umbracast.System.parse(sun).shadow([[0, 0]], device="cpu")
