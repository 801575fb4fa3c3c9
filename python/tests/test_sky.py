"""Eclipses, circumstances and positions."""

import csv
import dataclasses
import datetime
import json
import pathlib
import warnings

import numpy as np
import pandas
import pytest
import umbracast
from umbracast import sky

SCHEMAS = pathlib.Path(__file__).parents[2] / "docs/schema"


def seconds(found, expected):
    return abs((found - np.datetime64(expected, "us")) / np.timedelta64(1, "s"))


def test_eclipses_of_a_day():
    total = sky.eclipse("2024-04-08", delta_t=69.2)
    assert isinstance(total, sky.SolarEclipse) and total.kind == "total" == str(total.kind) and total.kind is sky.EclipseKind.TOTAL
    assert seconds(total.greatest, "2024-04-08T18:17:20.2") < 0.2
    np.testing.assert_allclose([total.latitude_deg, total.longitude_deg, total.gamma], [25.2896, -104.1479, 0.34314], atol=2e-4)
    assert total.central_duration_s is not None and abs(total.central_duration_s - 272.1) < 0.2
    assert total.begins < total.axis_begins < total.greatest < total.axis_ends < total.ends
    partial = sky.eclipse("2025-03-29")
    assert isinstance(partial, sky.SolarEclipse) and np.isnat(partial.axis_begins) and partial.path_width_km is None
    lunar = sky.eclipse("2025-03-14", lunar_rule="chauvenet")
    assert isinstance(lunar, sky.LunarEclipse) and lunar.kind == "total" and lunar.total_begins < lunar.total_ends
    assert lunar.umbral_magnitude > 1 and lunar.partial_duration_s > lunar.total_duration_s > 3000
    assert sky.eclipse("2024-05-01") is None
    assert (total.saros, total.lunation, lunar.saros, lunar.lunation) == (139, 300, 123, 311)
    years = sky.eclipses(2024, 2025, kind="solar")
    assert [one.kind for one in years] == ["total", "annular", "partial", "partial"]


def test_moons_of_a_file_have_positions():
    """Against Skyfield (tests/data/sky/moons.csv)."""
    data = pathlib.Path(__file__).parents[2] / "tests/data/sky"
    with (data / "moons.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["body"] in ("501", "503")]
    for name, number in (("io", "501"), ("Ganymede", "503"), ("503", "503")):
        own = [row for row in rows if row["body"] == number]
        times = sky.julian_date([2_451_545 + float(row["tdb_s"]) / 86_400 for row in own], "tdb")
        found = sky.positions(name, times, frame="gcrs", ephemeris=data / "moons.bsp")
        expected = [[float(row[f"apparent_{axis}_km"]) for axis in "xyz"] for row in own]
        # An instant is rounded to 40 µs, in which a moon moves by less than 2 m.
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-3)
    with pytest.raises(ValueError, match="there are no positions of 'io': .*others need an SPK file as the ephemeris"):
        sky.positions("io", "2015-03-03T03:00:00")
    with pytest.raises(ValueError, match="moons.bsp has no positions of 'titan'"):
        sky.positions("titan", "2015-03-03T03:00:00", ephemeris=data / "moons.bsp")


def test_besselian_elements():
    found = sky.besselian_elements("2024-04-08")
    # Of NASA's canon; they do not depend on radii and delta T.
    np.testing.assert_allclose([found.x0, found.x1, found.y0, found.y1], [-0.318244, 0.5117116, 0.219764, 0.2709589], atol=3e-5)
    np.testing.assert_allclose([found.d0, found.d1, found.mu0, found.mu1], [7.5862, 0.014844, 89.591217, 15.00408], atol=2e-5)
    assert found.t0_tt.dtype == "datetime64[us]" and found.t0_tt == np.datetime64("2024-04-08T18:00") and found.kind is sky.EclipseKind.TOTAL
    assert abs(sky.besselian_elements("2024-04-08", radii="nasa").l10 - 0.535814) < 5e-6 < 0.535814 - found.l10
    assert found.l20 < 0 < sky.besselian_elements("2023-10-14").l20
    with pytest.raises(ValueError, match="no solar eclipse on 2025-03-14"):
        sky.besselian_elements("2025-03-14")


def test_circumstances_are_arrays():
    found = sky.circumstances("2024-04-08", [[32.7767], [51.5], [-60.0]], [-96.797, -0.1], delta_t=69.2, radii="nasa")
    assert found.kind.shape == found.c1.shape == found.obscuration.shape == (3, 2)
    assert found.kind[0, 0] == "total" and found.kind[2, 1] == "none"
    assert (found.kind == "total").sum() == 1 and set(found.kind.flat) <= {kind.value for kind in sky.EclipseKind}
    assert seconds(found.c2[0, 0], "2024-04-08T18:40:43") < 1 and seconds(found.c3[0, 0], "2024-04-08T18:44:34") < 1
    assert np.isnat(found.c1[2, 1]) and found.magnitude[2, 1] == 0
    assert found.maximum_sun_altitude_deg[1, 1] < 0 and found.visible_obscuration[1, 1] == 0 < found.obscuration[1, 1]
    assert np.isnat(found.visible[1, 1]) and found.visible[0, 0] == found.maximum[0, 0]
    # Altitude, azimuth and horizon at each contact; durations are those between contacts.
    assert 60 < found.c1_sun_altitude_deg[0, 0] < found.c2_sun_altitude_deg[0, 0] < 65
    assert found.c1_sun_azimuth_deg[0, 0] < 180 < found.c2_sun_azimuth_deg[0, 0] < found.c4_sun_azimuth_deg[0, 0]
    # At C2 of a total eclipse, the limbs touch on the side away from the Moon.
    assert abs(found.c2_position_angle_deg[0, 0] - found.c1_position_angle_deg[0, 0]) > 90
    duration = (found.c3 - found.c2)[0, 0] / np.timedelta64(1, "s")
    assert abs(duration - found.central_duration_s[0, 0]) < 1e-5 and np.isnan(found.central_duration_s[2, 1])
    assert (found.latitude_deg[:, 0] == [32.7767, 51.5, -60]).all() and set(found.radii.flat) == {"nasa"}


def test_an_ephemeris_from_a_file(tmp_path):
    path = SCHEMAS.parents[1] / "tests/data/sky/de421_2024-04.bsp"
    # The built-in ephemeris is an excerpt of the same one, within 1 m for the Moon.
    own, other = (sky.circumstances("2024-04-08", 32.7767, -96.797, ephemeris=file) for file in (None, str(path)))
    assert seconds(own.c2.item(), other.c2.item()) < 0.01 and own.c2 != other.c2
    moon = sky.positions("moon", "2024-04-08T18:00Z", ephemeris=path)
    np.testing.assert_allclose(moon, sky.positions("moon", "2024-04-08T18:00Z"), atol=1e-3)
    assert (moon != sky.positions("moon", "2024-04-08T18:00Z")).any()
    with pytest.raises(ValueError, match="outside 2024-04-06T23:58:51Z to 2024-04-09T23:58:51Z"):
        sky.positions("moon", "2025-04-08T18:00Z", ephemeris=path)
    (tmp_path / "none.bsp").write_bytes(path.read_bytes()[:1500])
    with pytest.raises(ValueError, match=r"none.bsp: the SPK file is invalid"):
        sky.eclipse("2024-04-08", ephemeris=tmp_path / "none.bsp")
    with pytest.raises(FileNotFoundError):
        sky.eclipse("2024-04-08", ephemeris="nowhere.bsp")


def test_lunar_circumstances_are_arrays():
    # Nairobi, from the ground and from 400 km above it, Houston and Tokyo.
    found = sky.lunar_circumstances("2022-05-16", [-1.2921, -1.2921, 29.7604, 35.6762], [36.8219, 36.8219, -95.3698, 139.6503], [0, 4e5, 0, 0])
    assert found.visible_kind.tolist() == ["partial", "total", "total", ""]
    # Skyfield, in tests/data/sky/lunar_places.csv: the Moon sets in Nairobi.
    table = pandas.read_csv(SCHEMAS.parents[1] / "tests/data/sky/lunar_places.csv")
    row = table[(table.date == "2022-05-16") & (table.lat == -1.2921) & (table.event == "moonset")].iloc[0]
    assert seconds(found.moonset[0], sky.julian_date(row.jd_tt, "tt")) < 2 and np.isnat(found.moonset[2:]).all()
    assert abs(found.moonset_moon_azimuth_deg[0] - row.moon_azimuth_deg) < 0.01 and abs(found.moonset_moon_altitude_deg[0]) < 1e-3
    assert (found.greatest == found.greatest[0]).all() and "3 of 4 places with a visible eclipse" in repr(found)
    # Conventions reach the result: a larger shadow, and the date of the list.
    other, eclipse = sky.lunar_circumstances("2022-05-16", 0, 0, lunar_rule="chauvenet"), sky.eclipse("2022-05-16", lunar_rule="chauvenet")
    assert other.partial_begins < found.partial_begins[0] and other.partial_begins == eclipse.partial_begins and other.lunar_rule == "chauvenet"
    with pytest.raises(ValueError, match="no lunar eclipse on 2024-04-08"):
        sky.lunar_circumstances("2024-04-08", 0, 0)


def test_refraction_moves_sunset_and_no_contact():
    # Madrid in 2026: the Sun sets during the partial eclipse.
    plain, raised = (sky.circumstances("2026-08-12", 40.4168, -3.7038, refraction=on) for on in (False, True))
    assert plain.c1 == raised.c1 and plain.c4 == raised.c4 and plain.c4_sun_altitude_deg < 0
    # Bennett: 3.07 minutes of arc at 17.7 degrees.
    assert abs(raised.c1_sun_altitude_deg - plain.c1_sun_altitude_deg - 3.07 / 60) < 0.1 / 60
    moons = [sky.lunar_circumstances("2022-05-16", -1.2921, 36.8219, refraction=on).moonset.item() for on in (False, True)]
    assert 130 < (moons[1] - moons[0]).total_seconds() < 160
    suns = [sky.transit_circumstances("2012-06-06", 40.4168, -3.7038, refraction=on).sunrise.item() for on in (False, True)]
    assert 150 < (suns[0] - suns[1]).total_seconds() < 300


def test_transits():
    found = sky.transits(2004, 2012)
    assert [(one.planet, str(one.greatest)[:10]) for one in found] == [("venus", "2004-06-08"), ("mercury", "2006-11-08"), ("venus", "2012-06-06")]
    table = pandas.read_csv(SCHEMAS.parents[1] / "tests/data/sky/transits.csv")
    table = table[table.date == "2012-06-06"].set_index("event")
    center = table[table.lat.isna()]
    for name in ("c1", "c2", "greatest", "c3", "c4"):
        assert seconds(getattr(found[2], name), sky.julian_date(center.jd_tt[name], "tt")) < 2, name
        assert abs(getattr(found[2], f"{name}_position_angle_deg") - center.position_angle_deg[name]) < 0.02
    partial, = sky.transits(1937, 1937)
    assert np.isnat(partial.c1) and partial.duration_s is None and partial.separation_arcsec > 955
    # Madrid sees the end after sunrise; Rio de Janeiro nothing.
    local = sky.transit_circumstances("2012-06-06", [40.4168, -22.9], [-3.7038, -43.2], delta_t=69.2)
    madrid = table[table.lat == 40.4168]
    for name in ("c3", "c4", "sunrise"):
        assert seconds(getattr(local, name)[0], sky.julian_date(madrid.jd_tt[name], "tt")) < 2, name
    assert local.c1_sun_altitude_deg[0] < 0 < local.c4_sun_altitude_deg[0] and np.isnat(local.sunrise[1])
    assert "1 of 2 places with a visible transit" in repr(local)
    assert "venus" in sky.system("2012-06-06", ["sun", "venus"], view="to-sun").text.lower()
    with pytest.raises(ValueError, match="no transit of Mercury or Venus on 2012-06-08"):
        sky.transit_circumstances("2012-06-08", 0, 0)
    with pytest.raises(ValueError, match="1882-01-01T00:00:00 UT1 is outside the years 1900 to 2050"):
        sky.transits(1882, 1883)


@pytest.mark.parametrize(
    ("result", "name"),
    [
        (sky.Transit, "transit"),
        (sky.TransitCircumstances, "transit-circumstances"),
        (sky.SolarEclipse, "solar-eclipse"),
        (sky.LunarEclipse, "lunar-eclipse"),
        (sky.Circumstances, "circumstances"),
        (sky.LunarCircumstances, "lunar-circumstances"),
        (sky.CentralLine, "path-point"),
        (sky.BesselianElements, "besselian-elements"),
    ],
)
def test_fields_are_those_of_the_schema(result, name):
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    # Places have names on the command line only.
    assert [field.name for field in dataclasses.fields(result)] == [key for key in schema["required"] if key != "name"]
    kind = schema["properties"].get("visible_kind" if result is sky.LunarCircumstances else "kind", {"enum": [None]})
    kinds = kind["enum"]
    assert set(kinds) - {None} <= {kind.value for kind in sky.EclipseKind}


def test_results_are_tables():
    found = sky.circumstances("2024-04-08", [[32.7767], [51.5]], [-96.797, 90.0])
    frame = found.to_pandas()
    assert frame.shape == (4, len(dataclasses.fields(found))) and frame.c2[0] == found.c2[0, 0]
    assert found.to_arrow().column("kind").to_pylist() == [*found.kind.flat] and frame.kind[0] == "total"
    assert repr(found) == "<umbracast.Circumstances: shape (2, 2), 2 of 4 places with a visible eclipse>"
    assert "<td>total</td>" in found._repr_html_()
    assert "1 of 2 places with the eclipsed Sun up" in repr(sky.obscuration("2024-04-08", [32.7767, 51.5], [-96.797, 90.0]))
    assert "points" in repr(sky.central_line("2024-04-08", 600))
    # pandas makes a table of a list of eclipses.
    table = pandas.DataFrame(sky.eclipses(2024, 2025))
    assert table.kind.tolist() == ["penumbral", "total", "partial", "annular", "total", "partial", "total", "partial"]


def test_free_radii():
    nasa = sky.circumstances("2024-04-08", 32.7767, -96.797, radii="nasa")
    # The radii of NASA for total phases, as values.
    same = sky.circumstances("2024-04-08", 32.7767, -96.797, sun_radius=959.63, moon_k=0.272281)
    assert abs(same.c2 - nasa.c2) < np.timedelta64(10, "ms") and same.c1 != nasa.c1
    # A larger Sun: a shorter total eclipse.
    larger = sky.circumstances("2024-04-08", 32.7767, -96.797, sun_radius=959.95, moon_k=0.272281)
    assert 1 < same.central_duration_s - larger.central_duration_s < 3 and larger.radii == 'Sun 959.950", k 0.2722810'


def test_heights_lower_the_horizon():
    # An aeroplane, the sea, below the sea, and a satellite; numbers of Skyfield and pymap3d.
    found = sky.circumstances("2026-08-12", 40, [8, 8, 8, 9.5], [11_000, 0, -400, 400_000])
    np.testing.assert_allclose(found.maximum_horizon_altitude_deg, [-3.361, 0, 0, -19.771], atol=2e-3)
    np.testing.assert_allclose(found.visible_obscuration, [0.9909, 0.8973, 0.8973, 0.8522], atol=4e-4)
    assert (found.maximum_sun_altitude_deg < 0).all()


def test_a_hybrid_eclipse_is_nowhere_partial_on_its_centre_line():
    assert [sky.eclipse("1966-05-20", radii=radii).kind for radii in ("iau", "nasa")] == ["hybrid", "annular"]
    line = sky.central_line("1966-05-20", 15)
    assert set(line.kind) == {"annular", "total"} and (line.central_duration_s >= 0).all()


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
    assert line.north_latitude_deg[middle] > line.latitude_deg[middle] > line.south_latitude_deg[middle]
    assert abs(line.path_width_km[middle] - 199) < 5
    assert len(sky.central_line("2025-03-29").time) == 0


def test_positions_and_systems():
    times = ["2024-04-08T18:17:20Z", "2030-01-01"]
    moon = sky.positions("moon", times, delta_t=69.20057)
    assert moon.shape == (2, 3)
    np.testing.assert_allclose(moon[0], [-25416.4955, -355482.0785, 49445.0372], atol=0.02)
    gcrs = sky.positions("moon", np.datetime64("2024-04-08T18:17:20"), frame="gcrs")
    np.testing.assert_allclose(np.linalg.norm(gcrs), np.linalg.norm(moon[0]), rtol=1e-12)
    system = sky.system("2024-04-08", view="sun", size=(64, 48))
    assert system.render(device="cpu").image.shape == (48, 64, 3)


@pytest.mark.parametrize("view", [None, "33.87S,151.21E", "0,180", "to-moon", "sun"])
def test_a_view_keeps_the_shadow_of_the_earth(view):
    system = sky.system("2026-03-20T12:00:00+12:00", ["sun", "earth", "moon"], view=view)
    seen = system.shadow([[7000, 231, 30], [-7000, -231, -30]], device="cpu")
    assert seen.fraction.tolist() == [0, 1]


def test_dates_have_many_types():
    east = datetime.timezone(datetime.timedelta(hours=2))
    instants = [
        "2024-04-08T18:17:20.5Z",
        datetime.datetime(2024, 4, 8, 18, 17, 20, 500_000),
        datetime.datetime(2024, 4, 8, 20, 17, 20, 500_000, tzinfo=east),
        np.datetime64("2024-04-08T18:17:20.5"),
        np.array("2024-04-08T18:17:20.5", "datetime64[ns]"),
        "2024-04-08T13:17:20.5-05:00",
        str(datetime.datetime(2024, 4, 8, 20, 17, 20, 500_000, tzinfo=east)),
    ]
    found = [sky.obscuration(instant, 32.78, -96.8).obscuration.item() for instant in instants]
    assert len(set(found)) == 1 and 0.1 < found[0] < 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moons = sky.positions("moon", [instants[2], *instants[:2], *instants[5:]])
        texts = sky.positions("moon", [[instants[0], *instants[5:]]])
    assert texts.shape == (1, 3, 3) and (texts == moons[0]).all()
    assert moons.shape == (5, 3) and (moons == sky.positions("moon", np.array(instants[3]))).all()
    days = ["2024-04-08", datetime.date(2024, 4, 8), np.datetime64("2024-04-08")]
    assert len({sky.eclipse(day) for day in days}) == 1
    # The whole eclipse, not midnight, which is not within four hours of it.
    assert [sky.obscuration(day, 32.78, -96.8).obscuration.item() for day in days] == [1, 1, 1]
    # In the night before, in the east, it is another day in UTC.
    assert sky.eclipse(datetime.datetime(2024, 4, 9, 1, tzinfo=east)) == sky.eclipse("2024-04-08")
    assert sky.eclipse(datetime.datetime(2024, 4, 9, 1)) is None


@pytest.mark.parametrize("ask", [lambda times: sky.positions("moon", times), lambda times: umbracast.sunlight(times, np.full((len(times), 3), 7000.0), frame="gcrs")], ids=["positions", "sunlight"])
def test_times_are_neither_masked_nor_beyond_64_bits(ask):
    times = np.array(["2024-04-08T18:00", "2024-04-08T18:10"], "M8[s]")
    with pytest.raises(ValueError, match=r"times: the value at \[1\] is masked"):
        ask(np.ma.masked_array(times, mask=[0, 1]))
    # NumPy wraps the microseconds of this day to those of 2023-12-31.
    day = np.array([213503982 + 19723], "M8[D]")
    for given in (day, day.astype("M8[s]"), list(day.astype("M8[h]"))):
        with pytest.raises(ValueError, match="times is 586578-01-18.*, which is outside the years -1999 to 3000"):
            ask(given)
    with pytest.raises(ValueError, match="NaT"):
        ask(np.array(["NaT"], "M8[s]"))


def test_a_leap_second_is_the_last_microsecond_before_it():
    time = pytest.importorskip("astropy.time").Time
    ts = pytest.importorskip("skyfield.api").load.timescale(builtin=True)
    last = np.datetime64("2016-12-31T23:59:59.999999")
    expected = sky.positions("moon", [last, "2016-12-31T23:59:59.5", "2017-01-01"])
    texts = ["2016-12-31T23:59:60.5", "2016-12-31T23:59:59.5", "2017-01-01T00:00:00"]
    np.testing.assert_array_equal(sky.positions("moon", [f"{text}Z" for text in texts]), expected)
    np.testing.assert_array_equal(sky.positions("moon", time(texts)), expected)
    np.testing.assert_array_equal(sky.positions("moon", time(texts[0])), expected[0])
    skyfield = ts.utc(2016, 12, 31, 23, 59, [60.5, 59.5, 61])
    np.testing.assert_array_equal(sky.positions("moon", skyfield), expected)
    np.testing.assert_array_equal(sky.positions("moon", skyfield[0]), expected[0])


def test_years_before_0_are_those_of_text():
    # NumPy writes -584-05-22.
    for ask in (lambda: sky.eclipses(-584, -580), lambda: sky.transits(-584, 5), lambda: sky.eclipse(np.datetime64("-0584-01-01T00"))):
        with pytest.raises(ValueError, match="^-0584-01-01T00:00:00 UT1 is outside the years 1900 to 2050"):
            ask()


# Computed with astropy 8.0.2: Time(jd, format="jd", scale=scale).utc.
JULIAN_DATES = [
    (2461120.5, "utc", "2026-03-21T00:00:00"),
    (2461120.5, "tt", "2026-03-20T23:58:50.816"),
    (2461120.5, "tdb", "2026-03-20T23:58:50.814416"),
    (2460409.262, "tdb", "2024-04-08T18:16:07.614372"),
    (2457754.5, "tt", "2016-12-31T23:58:51.816"),
    (2446247.3, "tt", "1985-06-30T19:11:05.815984"),
    (2441500.25, "tdb", "1972-07-01T17:59:16.815934"),
]


def test_julian_dates_have_a_scale():
    for jd, scale, expected in JULIAN_DATES:
        # One number resolves 40 µs.
        assert seconds(sky.julian_date(jd, scale), expected) <= 45e-6, (jd, scale)
    dates = np.array([[2460409.25, 2460409.5]])
    times = sky.julian_date(dates, "utc")
    assert times.dtype == "datetime64[us]" and times.tolist() == np.array([["2024-04-08T18", "2024-04-09"]], "M8[us]").tolist()
    instant = sky.julian_date(2460409.25, "utc")
    np.testing.assert_array_equal(sky.positions("moon", times), sky.positions("moon", times.tolist()))
    assert sky.eclipse(instant) == sky.eclipse("2024-04-08")
    assert [*sky.obscuration(instant, 32.78, -96.8)] == [*sky.obscuration("2024-04-08T18:00Z", 32.78, -96.8)]
    # UT1, before 1972: TT is later by delta T.
    assert seconds(sky.julian_date(2439126.5, "tt", delta_t=37), "1965-12-31T23:59:23") < 45e-6
    for jd, scale, error, words in [
        (2461120.5, "ut1", ValueError, "scale must be 'utc', 'tt' or 'tdb'"),
        (61120.0, "utc", ValueError, "jd is 61120.0: Julian dates of the years -1999 to 3000 are 990940.5 to 2817152.5"),
        ([2461120.5, np.nan], "utc", ValueError, "jd is nan"),
        ("2461120.5", "utc", TypeError, "jd must be float32 or float64"),
    ]:
        with pytest.raises(error, match=words):
            sky.julian_date(jd, scale)
    with pytest.raises(TypeError, match="scale"):
        sky.julian_date(2461120.5)


NUMBERS = [2461120.5, 1_774_000_000, np.float64(2461120.5), np.int32(5), True, np.array([60, 120]), np.array([2461120.5]), [[1.5]]]
NUMBERS += [np.array([5], "m8[s]"), [datetime.datetime(2024, 4, 8), 5], np.array([True]), 1j]


@pytest.mark.parametrize("given", NUMBERS, ids=repr)
def test_plain_numbers_are_no_instants(given):
    for ask in (
        lambda: sky.positions("sun", given),
        lambda: sky.eclipse(given),
        lambda: sky.circumstances(given, 0, 0),
        lambda: sky.obscuration(given, 0, 0),
        lambda: sky.central_line(given),
        lambda: sky.system(given),
    ):
        with pytest.raises(TypeError, match="must be a str, datetime, date, numpy.datetime64 or time"):
            ask()


def test_vectors(tmp_path):
    path = tmp_path / "rock.csv"
    path.write_text("jd_tdb,x,y,z,vx,vy,vz\n2460409,421800,0,0,0,17,0\n2460410,400000,90000,0,-3,16,0\n")
    names, vectors = ["sun", "jupiter", "rock"], {"rock@jupiter": path}
    with pytest.raises(ValueError, match="positions of 'rock'"):
        sky.system("2024-04-08T18:00Z", names)
    with pytest.raises(ValueError, match="vectors of 'rock@jupiter', which is not one of the bodies"):
        sky.system("2024-04-08T18:00Z", names[:2], vectors=vectors, radius_km={"rock": 5})
    text = sky.system("2024-04-08T18:00Z", names, vectors=vectors, radius_km={"rock": 5}).text
    assert 'name = "Rock"' in text and "radius = 5.0" in text
    for radius, words in [({}, "the radius of rock is not known: give it in km, as radius_km={'rock': KM}"), ({"rock": 5, "io": 6}, "a radius of 'io', which is not one")]:
        with pytest.raises(ValueError, match=words):
            sky.system("2024-04-08T18:00Z", names, vectors=vectors, radius_km=radius)
    light = sky.system("2024-04-08T18:00Z", names, vectors=vectors, radius_km={"rock": 5}, light_time="jupiter").text
    assert "by the light that reaches Jupiter and then the Earth" in light and light != text
    with pytest.raises(ValueError, match="light time 'mars': expected earth, off, or one of the bodies"):
        sky.system("2024-04-08T18:00Z", names, vectors=vectors, radius_km={"rock": 5}, light_time="mars")
    with pytest.raises(ValueError, match="rock.csv: the vectors of Rock are for"):
        sky.system("2024-04-12T18:00Z", names, vectors=vectors, radius_km={"rock": 5})
    with pytest.raises(FileNotFoundError, match="none"):
        sky.system("2024-04-08T18:00Z", ["sun", "io"], vectors={"io": tmp_path / "none"})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sky.eclipse("2024-02-30"), "has 29 days"),
        (lambda: sky.eclipse("1899-01-01"), "1900 to 2050"),
        (lambda: sky.eclipse(np.datetime64("NaT")), "date is NaT"),
        (lambda: sky.eclipse(np.datetime64("2024-04")), "date is 2024-04: expected a day or an instant"),
        (lambda: sky.eclipse(datetime.date(1899, 12, 31)), "1900 to 2050"),
        (lambda: sky.eclipse("2024-04-08", radii="esa"), "expected iau or nasa"),
        (lambda: sky.eclipse("2024-04-08", sun_radius=695700), "expected 950 to 970 arcseconds at 1 au"),
        (lambda: sky.circumstances("2024-04-08", 0, 0, moon_k=float("nan")), "is NaN: expected 0.27 to 0.275 equatorial radii"),
        (lambda: sky.eclipse("2024-04-08", lunar_rule="mean"), "expected danjon"),
        (lambda: sky.eclipse("2024-04-08", delta_t=float("nan")), "delta_t is NaN"),
        (lambda: sky.eclipses(2000, 2100), "2100-12-31T23:59:59Z is outside the years 1900 to 2050"),
        (lambda: sky.eclipses(-2000, 5), "first is -2000: it must be in -1999 … 3000"),
        (lambda: sky.eclipses(2000, 3001), "last is 3001: it must be in -1999 … 3000"),
        (lambda: sky.eclipses(2001, 2000), "2001, after last"),
        (lambda: sky.eclipses(2001, 2002, kind="stellar"), "'stellar'"),
        (lambda: sky.circumstances("2024-04-09", 0, 0), "no solar eclipse"),
        (lambda: sky.circumstances("2024-04-08", [0, 91], 0), "place 1: latitude is 91"),
        (lambda: sky.obscuration("2024-04-08T02:00Z", 0, 0), "4 hours"),
        (lambda: sky.central_line("2024-04-08", 0), "between 1 and 86400"),
        (lambda: sky.positions("pluto", "2024-04-08"), "'pluto'"),
        (lambda: sky.positions("moon", "2060-01-01"), "1900 to 2050"),
        (lambda: sky.positions("moon", "NaT"), "NaT"),
        (lambda: sky.positions("moon", np.array(["2024-04-08", "NaT"], "M8[s]")), "NaT"),
        (lambda: sky.positions("moon", "now"), "'now' is not a date or an instant"),
        (lambda: sky.positions("moon", ["2024-04-08", "2024"]), "'2024' is not a date or an instant"),
        (lambda: sky.positions("moon", "2461120.5"), "'2461120.5' is not a date or an instant"),
        (lambda: sky.positions("moon", np.array(["2024-04"], "M8[M]")), "times is 2024-04: expected a day or an instant"),
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
    with pytest.raises(TypeError, match="date must be a str, datetime, date, numpy.datetime64 or time of Astropy or Skyfield, not int: for a Julian date, use"):
        sky.eclipse(20240408)
