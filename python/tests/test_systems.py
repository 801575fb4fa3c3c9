"""The class `System` and its pictures."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import umbracast
from matplotlib.image import imread
from test_pictures import SYSTEM

PAIR = umbracast.System.parse(SYSTEM)


def test_a_system_comes_from_a_file_a_text_and_a_mapping(tmp_path):
    path = tmp_path / "pair.toml"
    path.write_text(SYSTEM)
    made = [PAIR, umbracast.System.read(path), umbracast.System(PAIR.contents), copy.copy(PAIR), pickle.loads(pickle.dumps(PAIR))]
    images = [system.render(device="cpu").image for system in made]
    for image in images[1:]:
        np.testing.assert_array_equal(image, images[0])
    assert PAIR.text == SYSTEM and PAIR.contents["body"][1] == {"name": "moon", "center": [1, 0, 4], "radius": 0.5}
    assert repr(PAIR) == "<umbracast.System: light and ball, moon, in km>"
    with pytest.raises(TypeError, match="System.read reads a file"):
        umbracast.System(str(path))
    with pytest.raises(FileNotFoundError, match="nowhere.toml"):
        umbracast.System.read(tmp_path / "nowhere.toml")
    path.write_bytes(b"\xef\xbb\xbf" + SYSTEM.replace("radius = 2", "radius = -2").encode())
    with pytest.raises(ValueError, match=r"pair.toml: body\[0\] 'ball': radius is -2"):
        umbracast.System.read(path)


def test_values_are_replaced():
    moved = PAIR.replace(body={"moon": {"center": (0, 1, 4), "color": "#ff0000"}}, picture={"samples": 1})
    assert moved.contents["body"][1] == {"name": "moon", "center": [0, 1, 4], "radius": 0.5, "color": "#ff0000"}
    assert moved.contents["picture"] == {"size": [80, 60], "samples": 1} and PAIR.contents["picture"]["samples"] == 2
    seen = [system.shadow([0, 1, 2.3], device="cpu").fraction for system in (PAIR, moved)]
    assert seen == [1, 0]
    assert [body["name"] for body in PAIR.replace(body={"ball": None}).contents["body"]] == ["moon"]
    wide = PAIR.replace(camera={"width": None, "field_of_view_deg": 40})
    assert wide.camera["field_of_view_deg"] == 40 and PAIR.replace(camera=wide.camera).camera == wide.camera
    with pytest.raises(ValueError, match="camera: either field_of_view_deg or width is needed"):
        PAIR.replace(camera={"width": None}).render(device="cpu")
    assert PAIR.replace(light={"color": None}).contents == PAIR.contents
    with pytest.raises(ValueError, match="camera: only one of field_of_view_deg and width is allowed"):
        PAIR.replace(camera={"field_of_view_deg": 40}).render(device="cpu")
    with pytest.raises(FileNotFoundError, match=r"none.png: texture of body\[0\] 'ball' in system: "):
        PAIR.replace(body={"ball": {"texture": "none.png"}}).render(device="cpu")
    with pytest.raises(ValueError, match="no body of the name 'mars'; existing bodies: 'ball', 'moon'"):
        PAIR.replace(body={"mars": {}})
    with pytest.raises(ValueError, match="unknown key `lights`"):
        PAIR.replace(lights=1)


def test_bodies_are_arrays_and_tables():
    spheres = np.array([[0, 0, 0, 2], [1, 0, 4, 0.5]])
    table = dict(zip("xyzr", spheres.T, strict=True))
    expected = PAIR.render(device="cpu")
    for given in (spheres, spheres.tolist(), table):
        contents = {**PAIR.contents, "body": [{"spheres": given}]}
        np.testing.assert_array_equal(umbracast.System(contents).render(device="cpu").image, expected.image)
    for given, words in [([[0, 0, 0]], "shape"), (np.empty((0, 4)), "empty list"), (spheres * -1, "radius is -2"), ({"x": [1]}, "column 'y' is missing")]:
        with pytest.raises(ValueError, match=rf"body\[0\].*{words}"):
            umbracast.System({**contents, "body": [{"spheres": given}]})
    with pytest.raises(ValueError, match="their own radii"):
        umbracast.System({**contents, "body": [{"spheres": spheres, "radius": 1}]})


def test_a_camera_makes_the_rays_of_its_picture():
    system = PAIR.replace(camera=None)
    picture = system.render(device="cpu")
    assert picture.camera == system.camera and picture.camera["width"] is None
    rays = umbracast.rays_of_camera(**picture.camera, size=(80, 60))
    scene = umbracast.Scene([[0, 0, 0, 2], [1, 0, 4, 0.5]], device="cpu")
    hits = scene.closest(rays)
    np.testing.assert_array_equal(hits.id, picture.id)
    # Rays of a perspective camera have a t along the viewing direction.
    np.testing.assert_allclose(hits.t[hits.hit], picture.view_distance[hits.hit], rtol=1e-5)
    np.testing.assert_allclose(scene.attributes(rays, hits=hits).normal[hits.hit], picture.normal[hits.hit], atol=2e-3)
    inside = PAIR.replace(camera={"position": [0, 0, 1]})
    assert inside.shadow([9, 0, 0], device="cpu").fraction == 1
    with pytest.raises(ValueError, match="the camera is inside"):
        inside.render(device="cpu")


def test_pictures_have_all_channels():
    picture = PAIR.render(device="cpu")
    np.testing.assert_array_equal(picture.flux, picture.fraction)
    ball = picture.id == 0
    assert picture.normal.shape == (60, 80, 3) and (picture.normal[~np.isfinite(picture.t)] == 0).all()
    np.testing.assert_allclose(np.linalg.norm(picture.normal[ball], axis=-1), 1, rtol=1e-6)
    np.testing.assert_array_equal(picture.view_distance, picture.t)
    assert picture.linear.max() <= 1 and picture.alpha is None and np.array_equal(picture.image == 0, picture.linear < 0.5 / 255 / 12.92)
    dark = PAIR.replace(light={"radius": 100, "limb_darkening": [0.44, 0.23]}).render(device="cpu")
    part = (dark.fraction > 0) & (dark.fraction < 1)
    assert part.any() and (dark.flux[part] != dark.fraction[part]).any() and dark.flux[~part].tolist() == dark.fraction[~part].tolist()
    again = pickle.loads(pickle.dumps(dark))
    np.testing.assert_array_equal(again.flux, dark.flux)
    assert repr(picture) == f"<umbracast.Picture: 80×60 pixels, {np.isfinite(picture.t).sum():,} show a body or the light>"


def test_channels_and_camera_are_those_of_the_size_of_the_picture():
    dark = PAIR.replace(light={"radius": 100, "limb_darkening": [0.44, 0.23]}, camera=None)
    for size in [(30, 90), (300, 225)]:
        found, expected = dark.render(size=size, device="cpu"), dark.replace(picture={"size": size}).render(device="cpu")
        assert found.camera == expected.camera and (expected.flux != expected.fraction).any()
        for name in ("flux", "normal", "view_distance"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("background", [None, "transparent"])
def test_pictures_are_saved(tmp_path, background):
    picture = PAIR.replace(picture={"background": background}).render(device="cpu")
    picture.save(tmp_path / "pair.png")
    np.testing.assert_array_equal((imread(tmp_path / "pair.png") * 255).round(), picture.image)
    picture.save(tmp_path / "deep.PNG", bits=16)
    # Pillow reads only the upper byte of 16 bits. Byte 24 of a PNG is the number of bits.
    deep = (tmp_path / "deep.PNG").read_bytes()
    assert deep[24] == 16 and np.abs(imread(tmp_path / "deep.PNG") * 255 - picture.image).max() <= 1.001
    assert picture._repr_png_() == (tmp_path / "pair.png").read_bytes()
    for path, bits, words in [("pair.jpg", 8, "extension must be .png"), ("pair.png", 12, "bits must be 8 or 16")]:
        with pytest.raises(ValueError, match=words):
            picture.save(tmp_path / path, bits=bits)
    with pytest.raises(FileNotFoundError, match="missing"):
        picture.save(tmp_path / "missing" / "pair.png")


def test_observers_inside_a_body_are_a_warning():
    bodies = [{"name": "ball", "center": [0, 0, 0], "radius": 1}]
    ball = umbracast.System({"unit": "m", "light": {"center": [0, 0, 100], "radius": 9}, "body": bodies})
    observers = np.zeros((2, 2, 3))
    observers[..., 2] = [[-9, 1], [0.5, 0.75]]
    message = r"2 observers are inside a body, .*: the first is observers\[1, 0\], at a depth of 0.5 below the surface of 'ball'"
    with pytest.warns(RuntimeWarning, match=message) as found:
        assert ball.shadow(observers, device="cpu").fraction[1].tolist() == [0, 0]
    assert [one.filename for one in found] == [__file__]
    with pytest.warns(RuntimeWarning, match=r"1 observer is inside a body, .*: the first is observers\[\], at"):
        ball.shadow([0, 0, 0.5], device="cpu")
    # On the surface, and of later chunks.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ball.shadow(observers[0], device="cpu")
    many = np.broadcast_to([0.0, 0, -9], (300_000, 3)).copy()
    many[299_999] = 0
    with pytest.warns(RuntimeWarning, match=r"observers\[299999\], at a depth of 1 below"):
        ball.shadow(many, device="cpu")
