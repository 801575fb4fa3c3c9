"""Visible fractions of arrays that broadcast."""

import csv
import warnings
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


def test_the_flux_has_laws_of_powers():
    for law, count in (("power-2", 2), ("four-parameter", 4)):
        for row in (row for row in table("limb_laws.csv") if row["law"] == law):
            radius, apart, expected = columns([row], "occluder_radius", "separation", "visible_flux_fraction")[0]
            coefficients = [float(row[f"a{k}"]) for k in range(1, count + 1)]
            seen = visible_fraction(
                [0, 0, 0], [0, 0, 2e6], 2, [[apart, 0, 1e6]], [radius], limb_darkening=coefficients, limb_law=law
            )
            assert abs(seen.flux - expected) < 1e-9, row
    with pytest.raises(ValueError, match=r"limb_darkening must have shape \(…, 4\), not \(2,\)"):
        visible_fraction(**BASE, limb_darkening=(0.4, 0.2), limb_law="four-parameter")
    with pytest.raises(
        ValueError, match=r"limb_law must be one of 'quadratic', 'power-2', 'four-parameter', not 'claret'"
    ):
        visible_fraction(**BASE, limb_darkening=(0.4, 0.2), limb_law="claret")
    with pytest.raises(ValueError, match=r"c must be between -10 and 1"):
        visible_fraction(**BASE, limb_darkening=(1.4, 0.2), limb_law="power-2")


def test_laws_broadcast_as_the_other_arrays():
    bodies = np.array([[0, 0.3, 5], [0.4, 0.2, 6]])[:, None]
    base = {"observers": [0, 0, 0], "light": [0, 0, 90], "light_radius": 20, "bodies": bodies, "radii": [0.3]}
    for law, laws in (
        ("quadratic", [[0.4, 0.2], [0.1, 0.5], [0, 0]]),
        ("quadratic", [[0.4], [0.1], [0]]),
        ("power-2", [[0.4, 0.2], [0.1, 0.5], [0, 1]]),
    ):
        seen = visible_fraction(**base, limb_darkening=np.array(laws)[:, None], limb_law=law)
        assert seen.flux.shape == (3, 2)
        for row, coefficients in zip(seen.flux, laws, strict=True):
            alone = visible_fraction(**base, limb_darkening=coefficients, limb_law=law).flux
            np.testing.assert_array_equal(row, alone)
        assert (abs(np.diff(seen.flux[:2], axis=0)) > 1e-4).all()


def test_one_coefficient_is_the_linear_law():
    one, two = (visible_fraction(**BASE | {"radii": [0.3, 0.3]}, limb_darkening=law) for law in ((0.6,), (0.6, 0)))
    assert one.flux == two.flux != one.fraction


def blocks(page):
    """Run the Python of a page, and return its names."""
    text = (ROOT / "docs" / page).read_text()
    names = {}
    for block in text.split("```python\n")[1:]:
        exec(compile(block.split("```")[0], page, "exec"), names)
    return names


def test_exposures_and_mutual_events_of_the_documents_are_right():
    names = blocks("shadows.md")
    # An exposure as the mean of 2,000 instants.
    flux, days = names["flux"], names["days"]
    offsets = (np.arange(2000) + 0.5) / 2000 - 0.5
    fine = np.array([flux(day + names["exposure"] * offsets).mean() for day in days[::5]])
    apart = abs(names["smeared"][::5] - fine)
    assert 1e-7 < apart.max() < 4e-6
    # One moon before the other: the lens of two discs, by angles as seen from the Earth.
    earth, io, europa = np.array(names["earth"]), names["io"], names["europa"]

    def lens(r, s, d):
        near = np.clip(d, abs(r - s), r + s)
        a = np.arccos(np.clip((near**2 + r**2 - s**2) / (2 * near * r), -1, 1))
        b = np.arccos(np.clip((near**2 + s**2 - r**2) / (2 * near * s), -1, 1))
        return r * r * (a - np.sin(a) * np.cos(a)) + s * s * (b - np.sin(b) * np.cos(b))

    def angles(at, front, behind):
        towards = [place - at for place in (front, behind)]
        far = [np.linalg.norm(v, axis=-1) for v in towards]
        sine = np.linalg.norm(np.cross(*towards), axis=-1) / (far[0] * far[1])
        return np.arcsin(1821.6 / far[0]), far[1], np.arcsin(sine)

    cover, far, apart = angles(earth, io, europa)
    disc = np.arcsin(1560.8 / far)
    np.testing.assert_allclose(names["occulted"], 1 - lens(disc, cover, apart) / (np.pi * disc**2), atol=1e-9)
    # A Sun that is a point: the shadow of one moon on the other has a sharp edge.
    sun = np.array(names["sun"])
    seen = visible_fraction(europa[:, None] + names["disc"].T, sun, 1e-3, io[:, None, None], [1821.6]).fraction.mean(1)
    shadow = 1821.6 * (sun[0] - europa[0, 0]) / (sun[0] - io[0, 0])
    apart = np.hypot(europa[:, 1] - io[:, 1] * shadow / 1821.6, europa[:, 2] - io[:, 2] * shadow / 1821.6)
    exact = 1 - lens(1560.8, shadow, apart) / (np.pi * 1560.8**2)
    assert 0.001 < abs(seen - exact).max() < 0.005 and exact.min() < 0.4
    # The penumbra of the real Sun, at points: discs of uniform brightness again.
    at = europa[:, None] + names["disc"].T[::100]
    cover, far, apart = angles(at, io[:, None], sun)
    star = np.arcsin(695_700 / far)
    whole = visible_fraction(at, sun, 695_700, io[:, None, None], [1821.6]).fraction
    np.testing.assert_allclose(whole, 1 - lens(star, cover, apart) / (np.pi * star**2), atol=1e-5)


def test_sums_of_the_documents_are_those_of_the_intervals():
    names = blocks("sunlight.md")
    seen, passages = names["seen"].intervals, names["passages"]
    assert abs(passages.dark_s.sum() - seen.duration_s.sum()) < 1e-6
    np.testing.assert_allclose((passages.ends - passages.begins).dt.total_seconds(), passages.dark_s, atol=1e-5)


def looped(observers, light, light_radius, bodies, radii, polar_radii=None, poles=None):
    """Call the function for one row at a time, with arrays that NumPy has broadcast."""
    per_body = [
        np.shape(bodies)[:-1],
        np.shape(radii),
        np.shape(polar_radii or 0),
        np.shape([0, 0, 1] if poles is None else poles)[:-1],
    ]
    (*lead, count) = np.broadcast_shapes(*per_body)
    shape = np.broadcast_shapes(tuple(lead), np.shape(observers)[:-1], np.shape(light)[:-1], np.shape(light_radius))
    out = np.empty(shape)
    for place in np.ndindex(shape):

        def at(array, *tail, place=place):
            return np.broadcast_to(array, (*shape, *tail))[place]

        more = {} if polar_radii is None else {"polar_radii": at(polar_radii, count)}
        more |= {} if poles is None else {"poles": at(poles, count, 3)}
        row = visible_fraction(
            at(observers, 3), at(light, 3), at(light_radius), at(bodies, count, 3), at(radii, count), **more
        )
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
        (near(), light, [2, 3, 4], far(3, 2), [[0.4, 0.5]], {}),
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
    # Each body has its own radii and pole, so their order does not matter.
    observers, bodies, poles, radii, polar = near(9), far(9, 2), near(9, 2), np.array([0.4, 0.5]), np.array([0.3, 0.1])
    first, second = (
        visible_fraction(observers, light, 3, bodies[:, i], radii[i], polar_radii=polar[i], poles=poles[:, i]).fraction
        for i in ([0, 1], [1, 0])
    )
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-12)


def test_the_result_is_a_table():
    angles = np.radians(np.arange(0, 360, 10))
    orbit = 7_000 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], -1)
    seen = visible_fraction(orbit, SUN, RADIUS, [[0, 0, 0]], [6378.137], polar_radii=[6356.752])
    assert repr(seen) == "<umbracast.Shadows: shape (36,), 23 lit, 13 umbra>"
    assert seen.flux is seen.fraction
    fraction, kind, _ = seen
    assert (kind[12:25] == umbracast.ShadowKind.UMBRA).all() and fraction[18] == 0


BASE = {
    "observers": [0, 0, 0],
    "light": [0, 0, 9],
    "light_radius": 1,
    "bodies": [[0, 0, 5], [0, 0, 7]],
    "radii": [1, 1],
}


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
        (
            {"observers": [[0, 0, 0], [0, 0, 5.5]]},
            r"observers\[1\] is \[0, 0, 5.5\]: it is inside body 0 of the row, 0.5 below",
        ),
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
        ({"radii": [1, 2, 3]}, r"radii have 3 bodies, but bodies have 2; radii per row need shape \(3, 1\)"),
        ({"radii": np.ones((4, 3))}, r"radii have 3 bodies, but bodies have 2$"),
        ({"radii": np.ones((3, 2)), "light_radius": [1, 2]}, r"light_radius \(2,\), bodies \(\), radii \(3,\)"),
        ({"bodies": [0, 0, 5]}, r"bodies must have shape \(…, B, 3\), not \(3,\)"),
        ({"observers": [0, 0]}, r"observers must have shape \(…, 3\), not \(2,\)"),
        ({"limb_darkening": (1, 2, 3)}, r"limb_darkening must have shape \(…, 1\) or \(…, 2\), not \(3,\)"),
        ({"limb_darkening": np.full((5, 2), 0.2), "light_radius": [1, 2]}, r"limb_darkening \(5,\)"),
        ({"limb_darkening": [[0.2, 0.2], [0.9, 0.9]]}, r"limb_darkening is \[0.9, 0.9\]: the brightness"),
        ({"limb_law": "power-2"}, "limb_law 'power-2' needs limb_darkening"),
        ({"limb_law": "quadratic"}, "limb_law 'quadratic' needs limb_darkening"),
        ({"limb_darkening": (0.9, 0.9)}, "must not be negative"),
        ({"limb_darkening": (2, 0)}, "must not be negative"),
        ({"observers": ["a", "b", "c"]}, "observers must be float32 or float64"),
        ({"poles": [0, 0, 1]}, "poles need polar_radii"),
    ],
)
def test_shapes_that_do_not_fit_are_named(given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        visible_fraction(**BASE | given)


@pytest.mark.parametrize(
    ("name", "values", "per_row"),
    [
        ("radii", [0.2, 0.4, 0.6], "(3, 1)"),
        ("polar_radii", [0.2, 0.4, 0.6], "(3, 1)"),
        ("poles", np.eye(3), "(3, 1, 3)"),
    ],
)
def test_bodies_set_the_number_of_bodies(name, values, per_row):
    """Values per row are not taken as more bodies."""
    bodies = np.array([[[0, 0.5, 5]], [[0, 0.6, 6]], [[0, 0.7, 7]]])
    base = {"observers": [0, 0, 0], "light": [0, 0, 90], "light_radius": 20, "bodies": bodies, "radii": 1.5}
    base |= {"polar_radii": 1.2} if name == "poles" else {}
    with pytest.raises(ValueError) as raised:
        visible_fraction(**base | {name: values})
    assert str(raised.value) == f"{name} have 3 bodies, but bodies have 1; {name} per row need shape {per_row}"
    # One per row, and the same for each row alone.
    values = np.asarray(values, float)
    found = visible_fraction(**base | {name: values[:, None]}).fraction
    alone = [
        visible_fraction(**base | {"bodies": bodies[row], name: values[row : row + 1]}).fraction for row in range(3)
    ]
    np.testing.assert_array_equal(found, alone)
    assert len(set(found)) == 3
    # One for all: with every axis, with that of bodies alone, and with none.
    forms = [values[None, :1], values[:1], values[0]]
    first, *others = (visible_fraction(**base | {name: form}).fraction for form in forms)
    assert first.shape == (3,)
    for other in others:
        np.testing.assert_array_equal(other, first)


START = np.datetime64("2026-03-21T00:00:00")
PERIOD = 5400.0


def orbit(seconds, lead=0.0):
    """Return positions and velocities of a circular orbit of 6,900 km."""
    rate = 2 * np.pi / PERIOD
    turn = rate * (np.asarray(seconds) + lead)
    across = np.array([0, 0.8, 0.6])
    along = np.array([1, 0, 0])
    position = 6900 * (np.cos(turn)[..., None] * along + np.sin(turn)[..., None] * across)
    velocity = 6900 * rate * (np.cos(turn)[..., None] * across - np.sin(turn)[..., None] * along)
    return position, velocity


def times_of(seconds):
    return START + (np.asarray(seconds) * 1e6).astype("timedelta64[us]")


def test_sunlight_has_the_positions_and_the_geometry_of_the_other_functions():
    seconds = np.arange(0, 6000, 60.0)
    position, velocity = orbit(seconds)
    seen = umbracast.sunlight(times_of(seconds), position, frame="gcrs", velocities=velocity)
    assert seen.fraction.shape == seen.kind.shape == (100,)
    assert seen.interpolation_error_km < 1e-6
    # Sun and Moon by the function for positions; the pole of the Earth is within 0.2 degrees of the z axis of the GCRS.
    sun, moon = (umbracast.sky.positions(body, times_of(seconds), frame="gcrs") for body in ("sun", "moon"))
    bodies = np.stack([np.zeros_like(moon), moon], 1)
    expected = visible_fraction(position, sun, RADIUS, bodies, [6378.137, 1737.4], polar_radii=[6356.752314245, 1737.4])
    np.testing.assert_allclose(seen.fraction, expected.fraction, rtol=0, atol=0.02)
    assert (seen.kind == expected.kind).mean() > 0.97
    # At the contacts, the fraction becomes 1 or 0.
    intervals = seen.intervals
    assert (intervals.body == 0).all() and len(intervals.kind) >= 3
    for begins, ends, kind in zip(intervals.begins, intervals.ends, intervals.kind, strict=True):
        if kind != umbracast.ShadowKind.UMBRA:
            continue
        for contact, sign in ((begins, 1), (ends, -1)):
            own = ((contact - START) / np.timedelta64(1, "us")) / 1e6
            around = own + sign * np.array([-0.02, -0.001, 0.001, 0.02])
            near = umbracast.sunlight(times_of(around)[::sign], orbit(around)[0][::sign], frame="gcrs").fraction[::sign]
            assert near[0] > 0 and near[1] < 1e-4 and near[3] == 0, near


def test_sunlight_takes_the_radii_of_sun_and_moon():
    # In line with Moon and Sun, 600,000 km behind the Moon, at the last quarter: a ring of the Sun is left.
    times = np.array(["2026-03-11T12:00"], "datetime64[us]")
    sun, moon = (umbracast.sky.positions(body, times, frame="gcrs") for body in ("sun", "moon"))
    place = moon - 600_000 * (sun - moon) / np.linalg.norm(sun - moon)

    def hidden(**options):
        seen = umbracast.sunlight(times, place, frame="gcrs", **options)
        assert seen.kind == umbracast.ShadowKind.ANTUMBRA
        return 1 - seen.fraction[0]

    own = hidden()
    assert 0.3 < own < 0.5 and hidden(radii="iau", sun_radius=None, moon_k=None) == own
    assert hidden(moon_k=0.2745) / own == pytest.approx((0.2745 * 6378.137 / 1737.4) ** 2, rel=1e-4)
    arcseconds = np.degrees(np.arcsin(RADIUS / 149_597_870.7)) * 3600
    assert hidden(sun_radius=969) / own == pytest.approx((arcseconds / 969) ** 2, rel=1e-4)
    assert hidden(radii="nasa") != own
    assert hidden(radii="nasa", sun_radius=969, moon_k=0.2745) == hidden(sun_radius=969, moon_k=0.2745)


def test_trajectories_are_the_leading_axes():
    seconds = np.arange(0, 6000, 60.0)
    positions = np.stack(
        [[orbit(seconds, lead)[0] for lead in (0, 900)], [orbit(seconds, lead)[0] for lead in (1800, 2700)]]
    )
    assert positions.shape == (2, 2, 100, 3)
    seen = umbracast.sunlight(times_of(seconds), positions, frame="icrf")
    assert seen.fraction.shape == (2, 2, 100)
    for number, place in enumerate(np.ndindex(2, 2)):
        alone = umbracast.sunlight(np.datetime_as_string(times_of(seconds)), positions[place], frame="gcrs")
        np.testing.assert_array_equal(seen.fraction[place], alone.fraction)
        own = seen.intervals.trajectory == number
        np.testing.assert_array_equal(seen.intervals.begins[own], alone.intervals.begins)
        np.testing.assert_array_equal(seen.intervals.kind[own], alone.intervals.kind)
    assert (seen.intervals.begins_earlier == (seen.intervals.begins == times_of(0))).all()
    table = seen.intervals.to_pandas()
    assert list(table)[:4] == ["trajectory", "body", "kind", "begins"] and set(table.body) == {"earth"}
    assert repr(seen).startswith("<umbracast.Sunlight: shape (2, 2, 100), ") and "s in all" in repr(seen.intervals)
    fraction, kind = seen
    assert fraction is seen.fraction and kind is seen.kind and list(seen.columns()) == ["trajectory", "time", "fraction", "kind"]
    # One row per state, with its trajectory and its time.
    states = seen.to_pandas()
    assert list(states.trajectory) == [i // 100 for i in range(400)]
    np.testing.assert_array_equal(states.time.to_numpy().astype("datetime64[us]"), np.tile(times_of(seconds), 4))
    np.testing.assert_array_equal(states.fraction, seen.fraction.reshape(-1))
    # Later times of the same rows.
    shifted = umbracast.sunlight(
        times_of(seconds + [[0], [60]]), orbit(seconds + np.array([[0], [60]]))[0], frame="gcrs"
    )
    np.testing.assert_allclose(shifted.fraction[0, 1:], shifted.fraction[1, :-1], rtol=0, atol=1e-9)
    # Each row has its own times: half a year later, the Sun is on the other side.
    days = np.array([[0], [180 * 86_400]])
    apart = umbracast.sunlight(times_of(seconds + days), positions[:, 0][[0, 0]], frame="gcrs")
    alone = umbracast.sunlight(times_of(seconds + days[1]), positions[0, 0], frame="gcrs")
    np.testing.assert_array_equal(apart.fraction[1], alone.fraction)
    assert (apart.fraction[0] != apart.fraction[1]).any()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"radii": "esa"}, ValueError, "esa"),
        ({"radii": 1}, TypeError, "radii must be a str, not int"),
        ({"sun_radius": -1}, ValueError, "the radius of the Sun is -1"),
        ({"moon_k": 30}, ValueError, "the radius of the Moon is 30"),
        ({"frame": "tod"}, ValueError, "the frame is 'tod': expected gcrs"),
        ({"times": times_of(np.zeros(5))}, umbracast.RecordError, r"times\[1\] is 0 s after the state before it"),
        (
            {"times": times_of(1e5 * np.arange(5))},
            umbracast.RecordError,
            r"times\[1\] is 100000 s after .* at most a day apart",
        ),
        (
            {"times": times_of(np.arange(4))},
            ValueError,
            r"times have shape \(4,\), which cannot be broadcast to \(5,\)",
        ),
        ({"times": np.arange(5)}, TypeError, "julian_date; for seconds since 1970, datetime64"),
        (
            {"velocities": -orbit(60.0 * np.arange(5))[1]},
            umbracast.RecordError,
            r"velocities\[1\] is .* velocities do not belong to these positions \(frame, unit\?\)",
        ),
        ({"times": np.array(["NaT"] * 5, "datetime64[us]")}, ValueError, "NaT"),
        (
            {"times": times_of(60.0 * np.arange(5)) + np.timedelta64(365 * 100, "D")},
            umbracast.RecordError,
            r"times\[0\] is .* 1900 to 2050",
        ),
        ({"positions": np.full((5, 3), np.nan)}, umbracast.RecordError, r"positions\[0, 0\] is NaN"),
        (
            {"positions": np.full((5, 3), 3.0)},
            umbracast.RecordError,
            r"positions\[0\] is 5.19.* km from the centre: it is inside the Earth",
        ),
        (
            {
                "positions": [
                    [[7000, i, 0] for i in range(5)],
                    [[7000, 0, 4 - i] if i != 3 else [3, 3, 3] for i in range(5)],
                ]
            },
            umbracast.RecordError,
            r"positions\[1, 3\] is 5.19",
        ),
        ({"positions": np.zeros((5, 2))}, ValueError, r"positions must have shape \(…, N, 3\)"),
        ({"positions": np.zeros(3)}, ValueError, r"positions must have shape \(…, N, 3\)"),
        ({"velocities": np.zeros((4, 3))}, ValueError, r"velocities must have shape \(5, 3\)"),
        ({"velocities": np.full((5, 3), np.inf)}, umbracast.RecordError, r"velocities\[0\] is \[inf, inf, inf\]"),
    ],
)
def test_invalid_trajectories_are_named(change, error, message):
    given = {"times": times_of(60.0 * np.arange(5)), "positions": orbit(60.0 * np.arange(5))[0], "frame": "gcrs"}
    with pytest.raises(error, match=message):
        umbracast.sunlight(**given | change)


def test_coarse_states_are_a_warning():
    for seconds in (np.array([0.0, 30.0]), np.arange(0.0, 90, 30)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            umbracast.sunlight(times_of(seconds), orbit(seconds)[0], frame="gcrs")
        few = ["1 object has only two states: too few to estimate the error of the path between them"]
        assert [str(one.message) for one in caught] == (few if len(seconds) == 2 else [])
    seconds = np.arange(0, 20 * 2400, 2400.0)
    with pytest.warns(RuntimeWarning, match="the path from 2026-03-2.* may be wrong by .* its states are too far apart"):
        umbracast.sunlight(times_of(seconds), orbit(seconds)[0], frame="gcrs")


def test_quantities_have_their_own_units():
    units = pytest.importorskip("astropy.units")
    seconds = np.arange(0, 6000, 60.0)
    position, velocity = orbit(seconds)
    expected = umbracast.sunlight(times_of(seconds), position, frame="gcrs", velocities=velocity)
    given = {"positions": position * 1e3 * units.m, "velocities": velocity * 3600 * units.km / units.h}
    found = umbracast.sunlight(times_of(seconds), frame="gcrs", **given)
    np.testing.assert_allclose(found.fraction, expected.fraction, rtol=0, atol=1e-9)
    with pytest.raises(units.UnitConversionError):
        umbracast.sunlight(times_of(seconds), position * units.s, frame="gcrs")
    # Seconds since 1970, as the documentation passes them.
    unix_s = times_of(seconds).astype("datetime64[us]").astype(np.int64) / 1e6
    times = np.datetime64(0, "us") + (1e6 * unix_s).astype("timedelta64[us]")
    np.testing.assert_array_equal(umbracast.sunlight(times, position, frame="gcrs").times, times_of(seconds))
