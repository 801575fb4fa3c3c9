"""Eclipses, circumstances and positions."""

import datetime
import warnings

import numpy as np
import pytest
import umbracast
from umbracast import sky


def seconds(found, expected):
    return abs((found - np.datetime64(expected, "us")) / np.timedelta64(1, "s"))


def test_eclipses_of_a_day():
    total = sky.eclipse("2024-04-08", delta_t=69.2)
    assert isinstance(total, sky.SolarEclipse) and total.kind == "total"
    assert seconds(total.greatest, "2024-04-08T18:17:20.2") < 0.2
    np.testing.assert_allclose([total.latitude, total.longitude, total.gamma], [25.2896, -104.1479, 0.34314], atol=2e-4)
    assert total.central_duration_s is not None and abs(total.central_duration_s - 272.1) < 0.2
    assert total.begins < total.axis_begins < total.greatest < total.axis_ends < total.ends
    partial = sky.eclipse("2025-03-29")
    assert isinstance(partial, sky.SolarEclipse) and np.isnat(partial.axis_begins) and partial.path_width_km is None
    lunar = sky.eclipse("2025-03-14", lunar_rule="chauvenet")
    assert isinstance(lunar, sky.LunarEclipse) and lunar.kind == "total" and lunar.u2 < lunar.u3
    assert sky.eclipse("2024-05-01") is None
    years = sky.eclipses(2024, 2025, kind="solar")
    assert [one.kind for one in years] == ["total", "annular", "partial", "partial"]


def test_circumstances_are_arrays():
    found = sky.circumstances("2024-04-08", [[32.7767], [51.5], [-60.0]], [-96.797, -0.1], delta_t=69.2, radii="nasa")
    assert found.kind.shape == found.c1.shape == found.obscuration.shape == (3, 2)
    assert found.kind[0, 0] == "total" and found.kind[2, 1] == "none"
    assert (found.kind == "total").sum() == 1 and set(found.kind.flat) <= set(sky.KINDS)
    assert seconds(found.c2[0, 0], "2024-04-08T18:40:43") < 1 and seconds(found.c3[0, 0], "2024-04-08T18:44:34") < 1
    assert np.isnat(found.c1[2, 1]) and found.magnitude[2, 1] == 0
    assert found.sun_altitude[1, 1] < 0 and found.visible_obscuration[1, 1] == 0 < found.obscuration[1, 1]


def test_maps_and_lines():
    latitude, longitude = np.mgrid[80:-81:-10, -170:180:20]
    at_maximum = sky.obscuration("2024-04-08", latitude, longitude)
    instant = sky.obscuration("2024-04-08T18:17:20Z", latitude, longitude)
    assert at_maximum.obscuration.shape == latitude.shape
    assert (at_maximum.obscuration >= instant.obscuration - 1e-12).all() and instant.obscuration.max() > 0.5
    table = sky.circumstances("2024-04-08", latitude, longitude)
    np.testing.assert_allclose(table.obscuration, at_maximum.obscuration, atol=1e-9)
    line = sky.central_line("2024-04-08", 300, delta_t=69.2)
    assert len(line.time) > 35 and (line.kind == "total").all()
    middle = len(line.time) // 2
    assert line.north[middle, 0] > line.center[middle, 0] > line.south[middle, 0]
    assert abs(line.width_km[middle] - 199) < 5
    assert len(sky.central_line("2025-03-29").time) == 0


def test_positions_and_systems():
    times = ["2024-04-08T18:17:20Z", "2030-01-01"]
    moon = sky.positions("moon", times, delta_t=69.20057)
    assert moon.shape == (2, 3)
    np.testing.assert_allclose(moon[0], [-25416.4955, -355482.0785, 49445.0372], atol=0.02)
    gcrs = sky.positions("moon", np.datetime64("2024-04-08T18:17:20"), frame="gcrs")
    np.testing.assert_allclose(np.linalg.norm(gcrs), np.linalg.norm(moon[0]), rtol=1e-12)
    text = sky.system("2024-04-08", view="sun", size=(64, 48))
    assert umbracast.render(text, device="cpu").image.shape == (48, 64, 3)


def test_dates_have_many_types():
    east = datetime.timezone(datetime.timedelta(hours=2))
    instants = [
        "2024-04-08T18:17:20.5Z",
        datetime.datetime(2024, 4, 8, 18, 17, 20, 500_000),
        datetime.datetime(2024, 4, 8, 20, 17, 20, 500_000, tzinfo=east),
        np.datetime64("2024-04-08T18:17:20.5"),
        np.array("2024-04-08T18:17:20.5", "datetime64[ns]"),
    ]
    found = [sky.obscuration(instant, 32.78, -96.8).obscuration.item() for instant in instants]
    assert len(set(found)) == 1 and 0.1 < found[0] < 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moons = sky.positions("moon", [instants[2], *instants[:2]])
    assert moons.shape == (3, 3) and (moons == sky.positions("moon", np.array(instants[3]))).all()
    days = ["2024-04-08", datetime.date(2024, 4, 8), np.datetime64("2024-04-08")]
    assert len({sky.eclipse(day) for day in days}) == 1
    # The whole eclipse, not midnight, which is not within four hours of it.
    assert [sky.obscuration(day, 32.78, -96.8).obscuration.item() for day in days] == [1, 1, 1]
    # In the night before, in the east, it is another day in UTC.
    assert sky.eclipse(datetime.datetime(2024, 4, 9, 1, tzinfo=east)) == sky.eclipse("2024-04-08")
    assert sky.eclipse(datetime.datetime(2024, 4, 9, 1)) is None


def test_vectors(tmp_path):
    path = tmp_path / "rock.csv"
    path.write_text("jd_tdb,x,y,z,vx,vy,vz\n2460409,421800,0,0,0,17,0\n2460410,400000,90000,0,-3,16,0\n")
    names, vectors = ["sun", "jupiter", "rock"], {"rock@jupiter": path}
    with pytest.raises(ValueError, match="positions of 'rock'"):
        sky.system("2024-04-08T18:00Z", names)
    text = sky.system("2024-04-08T18:00Z", names[:2], vectors=vectors, radius_km={"rock": 5})
    assert 'name = "Rock"' in text and "radius = 5.0" in text
    for radius, words in [({}, "the radius of rock is not known"), ({"rock": 5, "io": 6}, "radius_km has io")]:
        with pytest.raises(ValueError, match=words):
            sky.system("2024-04-08T18:00Z", names[:2], vectors=vectors, radius_km=radius)
    with pytest.raises(ValueError, match="rock.csv: the vectors of Rock are for"):
        sky.system("2024-04-12T18:00Z", names[:2], vectors=vectors, radius_km={"rock": 5})
    with pytest.raises(FileNotFoundError, match="none"):
        sky.system("2024-04-08T18:00Z", names[:2], vectors={"io": tmp_path / "none"})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sky.eclipse("2024-02-30"), "has 29 days"),
        (lambda: sky.eclipse("1899-01-01"), "1900 to 2050"),
        (lambda: sky.eclipse(np.datetime64("NaT")), "date is NaT"),
        (lambda: sky.eclipse(np.datetime64("2024-04")), "date is 2024-04: expected a day or an instant"),
        (lambda: sky.eclipse(datetime.date(1899, 12, 31)), "1900 to 2050"),
        (lambda: sky.eclipse("2024-04-08", radii="esa"), "expected iau or nasa"),
        (lambda: sky.eclipse("2024-04-08", lunar_rule="mean"), "expected danjon"),
        (lambda: sky.eclipse("2024-04-08", delta_t=float("nan")), "delta_t is NaN"),
        (lambda: sky.eclipses(2000, 2100), "not in 1900 to 2050"),
        (lambda: sky.eclipses(2001, 2000), "2001, after last"),
        (lambda: sky.eclipses(2001, 2002, kind="stellar"), "'stellar'"),
        (lambda: sky.circumstances("2024-04-09", 0, 0), "no solar eclipse"),
        (lambda: sky.circumstances("2024-04-08", [0, 91], 0), "place 1: latitude is 91"),
        (lambda: sky.obscuration("2024-04-08T02:00Z", 0, 0), "4 hours"),
        (lambda: sky.central_line("2024-04-08", 0), "between 1 and 86400"),
        (lambda: sky.positions("pluto", "2024-04-08"), "'pluto'"),
        (lambda: sky.positions("moon", "2060-01-01"), "1900 to 2050"),
        (lambda: sky.positions("moon", "NaT"), "NaT"),
        (lambda: sky.positions("moon", "2024-01-01", frame="icrs"), "'icrs'"),
        (lambda: sky.system("2024-04-08", ["moon"]), "the Sun"),
        (lambda: sky.system("2024-04-10"), "give an instant"),
        (lambda: sky.system("2024-04-08", view="mars"), "expected moon"),
    ],
)
def test_invalid_requests(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_wrong_types():
    with pytest.raises(TypeError, match="date must be a str, datetime, date or numpy.datetime64, not int"):
        sky.eclipse(20240408)
