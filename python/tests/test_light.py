"""Visible fractions of arrays that broadcast."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
import umbracast
from umbracast import visible_fraction

ROOT = Path(__file__).parents[2]
SUN = [149_597_870.7, 0, 0]
RADIUS = 695_700


def table(name):
    with (ROOT / "tests" / "data" / name).open() as file:
        return list(csv.DictReader(file))


def columns(rows, *names):
    return np.array([[float(row[name]) for name in names] for row in rows])


def test_the_reference_tables_are_reproduced():
    rows = table("sphere_overlap.csv")
    seen = visible_fraction(
        columns(rows, "obs_x", "obs_y", "obs_z"),
        columns(rows, "src_x", "src_y", "src_z"),
        columns(rows, "src_r")[:, 0],
        columns(rows, "occ_x", "occ_y", "occ_z")[:, None],
        columns(rows, "occ_r"),
    )
    np.testing.assert_allclose(seen.fraction, columns(rows, "visible_fraction")[:, 0], rtol=0, atol=1e-9)
    rows = table("ellipsoid_overlap.csv")
    seen = visible_fraction(
        columns(rows, "obs_x", "obs_y", "obs_z"),
        columns(rows, "src_x", "src_y", "src_z"),
        columns(rows, "src_r")[:, 0],
        [[0, 0, 0]],
        columns(rows, "occ_a"),
        polar_radii=columns(rows, "occ_c"),
    )
    np.testing.assert_allclose(seen.fraction, columns(rows, "visible_fraction")[:, 0], rtol=0, atol=1e-9)
    words = {"none": "lit", "partial": "penumbra", "annular": "antumbra", "total": "umbra"}
    assert [umbracast.ShadowKind(kind).name.lower() for kind in seen.kind] == [words[row["kind"]] for row in rows]


def test_the_flux_has_the_law_of_the_reference():
    for law, group in itertools.groupby(sorted(table("limb_darkening.csv"), key=lambda row: row["law"]), lambda row: row["law"]):
        rows = list(group)
        u1, u2 = columns(rows, "u1", "u2")[0]
        bodies = np.stack([columns(rows, "separation")[:, 0], np.zeros(len(rows)), np.full(len(rows), 1e6)], -1)[:, None]
        seen = visible_fraction([0, 0, 0], [0, 0, 2e6], 2, bodies, columns(rows, "occluder_radius"), limb_darkening=(u1, u2))
        np.testing.assert_allclose(seen.flux, columns(rows, "visible_flux_fraction")[:, 0], rtol=0, atol=1e-9, err_msg=law)
        assert (seen.flux is seen.fraction) is False


def looped(observers, light, light_radius, bodies, radii, polar_radii=None, poles=None):
    """Call the function for one row at a time, with arrays that NumPy has broadcast."""
    per_body = [np.shape(bodies)[:-1], np.shape(radii), np.shape(polar_radii or 0), np.shape([0, 0, 1] if poles is None else poles)[:-1]]
    (*lead, count) = np.broadcast_shapes(*per_body)
    shape = np.broadcast_shapes(tuple(lead), np.shape(observers)[:-1], np.shape(light)[:-1], np.shape(light_radius))
    out = np.empty(shape)
    for place in np.ndindex(shape):
        def at(array, *tail, place=place):
            return np.broadcast_to(array, (*shape, *tail))[place]
        more = {} if polar_radii is None else {"polar_radii": at(polar_radii, count)}
        more |= {} if poles is None else {"poles": at(poles, count, 3)}
        row = visible_fraction(at(observers, 3), at(light, 3), at(light_radius), at(bodies, count, 3), at(radii, count), **more)
        assert row.fraction.shape == ()
        out[place] = row.fraction
    return out


def test_arrays_broadcast_as_numpy_does():
    rng = np.random.default_rng(3)

    def near(*shape):
        return rng.normal(0, 0.3, (*shape, 3))

    def far(*shape):
        return near(*shape) + [0, 0, 5]

    light = [0, 0, 20]
    cases = [
        (near(), light, 3, far(2), [0.4, 0.5], {}),
        (near(4), light, 3, far(2), [0.4, 0.5], {}),
        (near(4, 1), light + near(5), 3, far(2), [0.4, 0.5], {}),
        (near(5), light + near(4, 1), np.linspace(1, 4, 4)[:, None], far(4, 1, 2), [0.4, 0.5], {}),
        (near(), light, [2, 3, 4], far(3, 1), [[0.4, 0.5]], {}),
        (near(2, 1, 3), light, 3, far(1, 4, 1, 2), 0.4, {}),
        (near(3), light, 3, far(2), [0.4, 0.5], {"polar_radii": [0.3, 0.5]}),
        (near(3), light, 3, far(3, 2), [0.5], {"polar_radii": [[0.3], [0.4], [0.6]], "poles": [1, 2, 3]}),
        (near(3), light, 3, far(2), [0.4, 0.5], {"polar_radii": 0.3, "poles": near(3, 1)}),
        (near(3)[::-1], light, 3, far(4)[::2], np.array([0.4, 0.5], np.float32), {}),
        (near(3).astype(np.float32), light, 3, far(0), np.empty(0), {}),
        (np.empty((0, 3)), light, 3, far(2), [0.4, 0.5], {}),
    ]
    for observers, lights, radius, bodies, radii, more in cases:
        found = visible_fraction(observers, lights, radius, bodies, radii, **more).fraction
        np.testing.assert_array_equal(found, looped(observers, lights, radius, bodies, radii, **more))
        assert found.size == 0 or bodies.size == 0 or found.min() < 1


def test_the_result_is_a_table():
    angles = np.radians(np.arange(0, 360, 10))
    orbit = 7_000 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], -1)
    seen = visible_fraction(orbit, SUN, RADIUS, [[0, 0, 0]], [6378.137], polar_radii=[6356.752])
    assert repr(seen) == "<umbracast.Shadows: shape (36,), 23 lit, 13 umbra>"
    assert seen.flux is seen.fraction
    fraction, kind, _ = seen
    assert (kind[12:25] == umbracast.ShadowKind.UMBRA).all() and fraction[18] == 0


BASE = {"observers": [0, 0, 0], "light": [0, 0, 9], "light_radius": 1, "bodies": [[0, 0, 5], [0, 0, 7]], "radii": [1, 1]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"observers": [[0, 0, 0], [0, np.nan, 0]]}, r"observers\[1, 1\] is NaN: a coordinate must be between"),
        ({"light": np.full((2, 1, 3), np.inf)}, r"light\[0, 0, 0\] is inf"),
        ({"light_radius": [1, 2, 0]}, r"light_radius\[2\] is 0: the radius of a light must be above 0"),
        ({"light_radius": -1}, r"light_radius is -1"),
        ({"bodies": [[0, 0, 5], [0, 2e150, 7]]}, r"bodies\[1, 1\] is 2000"),
        ({"radii": [[1, 1], [1, -2]]}, r"radii\[1, 1\] is -2"),
        ({"polar_radii": [1, 500]}, r"polar_radii\[1\] is 500: it must be between 0.01 and 100 times the radius"),
        ({"polar_radii": [1, 0.5], "poles": np.zeros((2, 3))}, r"poles\[1\] is \[0, 0, 0\]"),
        ({"observers": [[0, 0, 0], [0, 0, 5.5]]}, r"observers\[1\] is \[0, 0, 5.5\]: it is inside body 0 of the row, 0.5 below"),
    ],
)
def test_invalid_values_are_named(given, message):
    with pytest.raises(umbracast.RecordError, match=message) as raised:
        visible_fraction(**BASE | given)
    assert raised.value.what == message.split("[")[0].split(" ")[0].rstrip("\\")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"observers": np.zeros((3, 3)), "light": np.ones((2, 3))}, r"observers \(3,\), light \(2,\)"),
        ({"radii": [1, 2, 3]}, r"bodies \(2,\), radii \(3,\)"),
        ({"bodies": [0, 0, 5]}, r"bodies must have shape \(…, B, 3\), not \(3,\)"),
        ({"observers": [0, 0]}, r"observers must have shape \(…, 3\), not \(2,\)"),
        ({"limb_darkening": (1, 2, 3)}, "limb_darkening must contain 2 numbers"),
        ({"limb_darkening": (2, 0)}, "must not be negative"),
        ({"observers": ["a", "b", "c"]}, "observers must be float32 or float64"),
        ({"poles": [0, 0, 1]}, "poles need polar_radii"),
    ],
)
def test_shapes_that_do_not_fit_are_named(given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        visible_fraction(**BASE | given)
