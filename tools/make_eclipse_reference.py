#!/usr/bin/env python3
"""Writes reference data of eclipses to tests/data/sky, from Skyfield, JPL's DE421 and ERFA. None of it is computed with this project.

    python3 -m venv venv && venv/bin/pip install numpy jplephem pyerfa skyfield skyfield-data
    venv/bin/python tools/make_eclipse_reference.py
    venv/bin/python tools/make_eclipse_reference.py --check

It writes:

* `de421_2024-04.bsp`, `spk.csv`: an excerpt of DE421 for three days as jplephem writes it, and positions and velocities that jplephem reads from the
  original.
* `elements.csv`: Besselian elements of five solar eclipses, from apparent places. Polynomials are least-squares fits within 3 hours.
* `position_angles.csv`: contacts of solar eclipses at places, with the position angles of the point at which the limbs touch. The radii are
  695,700 and 1,737.4 km.
* `lunar_places.csv`: lunar eclipses at places: the Moon's altitude and azimuth at each contact, and when it rises or sets during the eclipse.
  The shadow has Danjon's rule; the Moon's centre rises and sets, without refraction.

* `transits.csv`: transits of Mercury and Venus from the centre of the Earth (without a place) and at places: contacts, greatest transit, sunrise and
  sunset, with the separation of the centres, the position angle of the planet and the altitude of the Sun. The Sun's radius is 695,700 km.

With `--check`, nothing is written: rows of `reference/circumstances.csv` are compared with Skyfield, and the largest differences are printed.
"""

import csv
import datetime
import math
import sys
from pathlib import Path

import erfa
import numpy as np
import skyfield_data
from jplephem.excerpter import write_excerpt
from jplephem.spk import SPK
from skyfield.api import load, load_file, wgs84

DATA = Path(__file__).parent.parent / "tests" / "data" / "sky"
EPHEMERIS = load_file(str(Path(skyfield_data.get_skyfield_data_path()) / "de421.bsp"))
SUN, EARTH, MOON = (EPHEMERIS[name] for name in ("sun", "earth", "moon"))
EQUATOR_KM = 6378.137
AU_KM = 149597870.7
# TT - UT1 of all rows, so that tests need no table.
DELTA_T = 69.2
TIMES = load.timescale(delta_t=DELTA_T)


def write(name, header, rows):
    with open(DATA / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(name, len(rows))


def root(function, low, high):
    """A root by bisection, to 1e-8 of a day."""
    sign = function(low) > 0
    while high - low > 1e-8:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (function(middle) > 0) == sign else (low, middle)
    return low


def elements():
    """Besselian elements by the formulas of the Explanatory Supplement; the hour angle is that for UT1 = TT."""
    sun_km = AU_KM * math.sin(math.radians(959.63 / 3600))
    penumbra_k, umbra_k = 0.272488, 0.272281

    def at(jd):
        t = TIMES.tt_jd(jd)
        here = EARTH.at(t)
        sun, moon = (np.array(t.M) @ here.observe(body).apparent().position.km for body in (SUN, MOON))
        distance = np.linalg.norm(sun - moon)
        k = (sun - moon) / distance
        a, d = math.atan2(k[1], k[0]), math.asin(k[2])
        i = np.array([-math.sin(a), math.cos(a), 0])
        x, y, z = (vector @ moon / EQUATOR_KM for vector in (i, np.cross(k, i), k))
        f1 = math.asin((sun_km + penumbra_k * EQUATOR_KM) / distance)
        f2 = math.asin((sun_km - umbra_k * EQUATOR_KM) / distance)
        l1 = z * math.tan(f1) + penumbra_k / math.cos(f1)
        l2 = z * math.tan(f2) - umbra_k / math.cos(f2)
        mu = math.degrees(erfa.gst06a(jd, 0, jd, 0) - a)
        return x, y, math.degrees(d), l1, l2, mu, math.tan(f1), math.tan(f2)

    rows = []
    hours = np.linspace(-3, 3, 61)
    for date, hour in [("1999-08-11", 11), ("2017-08-21", 18), ("2023-10-14", 18), ("2024-04-08", 18), ("2026-08-12", 18)]:
        jd = TIMES.tt(*map(int, date.split("-")), hour).tt
        columns = [np.array(column) for column in zip(*(at(jd + hour / 24) for hour in hours))]
        columns[5] = np.unwrap(columns[5], period=360)
        row = [date, hour]
        for column, degree in zip(columns[:6], (3, 3, 2, 2, 2, 2)):
            fitted = np.polynomial.polynomial.polyfit(hours, column, degree)
            if column is columns[5]:
                fitted[0] %= 360
            row += [f"{value:.8f}" for value in fitted]
        # At the greatest eclipse: where the axis is nearest to the centre of the Earth.
        nearest = np.argmin(np.hypot(columns[0], columns[1]))
        rows.append(row + [f"{column[nearest]:.7f}" for column in columns[6:]])
    names = [f"{name}{power}" for name, count in [("x", 4), ("y", 4), ("d", 3), ("l1", 3), ("l2", 3), ("mu", 3)] for power in range(count)]
    write("elements.csv", ["date", "t0_tt_h", *names, "tan_f1", "tan_f2"], rows)


def seen(place, jd, times=TIMES):
    """Apparent (right ascension, declination, distance in km) of Sun and Moon of date at a place, and the local sidereal time; in radians."""
    t = times.tt_jd(jd)
    here = (EARTH + place).at(t)
    discs = []
    for body in (SUN, MOON):
        ra, dec, distance = here.observe(body).apparent().radec("date")
        discs.append((ra.radians, dec.radians, distance.km))
    return *discs, math.radians(t.gast * 15) + place.longitude.radians


def bearing(from_ra, from_dec, to_ra, to_dec):
    """Position angle of one point of the sky seen from another, from the north pole through east (spherical trigonometry)."""
    turn = to_ra - from_ra
    return math.atan2(
        math.sin(turn) * math.cos(to_dec),
        math.sin(to_dec) * math.cos(from_dec) - math.cos(to_dec) * math.sin(from_dec) * math.cos(turn),
    )


def gaps(place, jd, times=TIMES):
    """Separation of the centres, radii of Sun and Moon; in radians."""
    (sun_ra, sun_dec, sun_km), (moon_ra, moon_dec, moon_km), _ = seen(place, jd, times)
    half = math.sin((sun_dec - moon_dec) / 2) ** 2 + math.cos(sun_dec) * math.cos(moon_dec) * math.sin((sun_ra - moon_ra) / 2) ** 2
    return 2 * math.asin(math.sqrt(half)), math.asin(695700 / sun_km), math.asin(1737.4 / moon_km)


def position_angles():
    rows = []
    for date, latitude, longitude in [
        ("2024-04-08", 32.7767, -96.797),
        ("2024-04-08", 45.5, -73.57),
        ("2024-04-08", 23.2494, -106.4111),
        ("2023-10-14", 29.4241, -98.4936),
        ("2023-10-14", -5.8, -35.2),
        ("2026-08-12", 64.1466, -21.9426),
        ("2026-08-12", 40.4168, -3.7038),
        ("2027-08-02", 25.6872, 32.6396),
        ("2028-07-22", -33.8688, 151.2093),
        ("2030-06-01", 43.06, 141.35),
    ]:
        place = wgs84.latlon(latitude, longitude)
        start = TIMES.tt(*map(int, date.split("-")), -6).tt
        steps = [start + minute / 1440 for minute in range(0, 36 * 60, 15)]
        outer = lambda jd: (lambda s, a, b: s - a - b)(*gaps(place, jd))
        inner = lambda jd: (lambda s, a, b: s - abs(a - b))(*gaps(place, jd))
        # The minimum of the separation, then the contacts before and after it.
        middle = min(steps, key=lambda jd: gaps(place, jd)[0])
        low, high = middle - 15 / 1440, middle + 15 / 1440
        for _ in range(30):
            thirds = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, thirds[1]) if gaps(place, thirds[0])[0] < gaps(place, thirds[1])[0] else (thirds[0], high)
        contacts = {"c1": root(outer, middle - 3 / 24, low), "c4": root(outer, low, middle + 3 / 24)}
        if inner(low) < 0:
            contacts |= {"c2": root(inner, middle - 0.5 / 24, low), "c3": root(inner, low, middle + 0.5 / 24)}
        for contact, jd in sorted(contacts.items()):
            (sun_ra, sun_dec, _), (moon_ra, moon_dec, _), sidereal = seen(place, jd)
            position = bearing(sun_ra, sun_dec, moon_ra, moon_dec)
            _, sun, moon = gaps(place, jd)
            if contact in ("c2", "c3") and moon > sun:
                position += math.pi
            zenith = bearing(sun_ra, sun_dec, sidereal, math.radians(latitude))
            angles = [math.degrees(angle) % 360 for angle in (position, position - zenith)]
            rows.append([date, latitude, longitude, contact, f"{jd:.8f}", *(f"{angle:.3f}" for angle in angles)])
    write("position_angles.csv", ["date", "lat", "lon", "contact", "jd_tt", "position_angle_deg", "zenith_angle_deg"], rows)


def lunar_places():
    sun_km, moon_km, danjon = 695700.0, 1737.4, 1.01

    def gap(jd, kind):
        """Separation of the Moon from the axis of the shadow, less the distance of the contact, in radians; without a kind, the separation."""
        here = EARTH.at(TIMES.tt_jd(jd))
        sun, moon = (here.observe(body).apparent().position.km for body in (SUN, MOON))
        sun_far, moon_far = np.linalg.norm(sun), np.linalg.norm(moon)
        apart = math.acos(np.clip(-(sun @ moon) / (sun_far * moon_far), -1, 1))
        parallaxes = danjon * math.asin(EQUATOR_KM / moon_far) + math.asin(EQUATOR_KM / sun_far)
        sun_radius, moon_radius = math.asin(sun_km / sun_far), math.asin(moon_km / moon_far)
        reach = {"p": parallaxes + sun_radius + moon_radius, "u": parallaxes - sun_radius + moon_radius, "t": parallaxes - sun_radius - moon_radius}
        return apart - reach.get(kind, 0)

    places = [(29.7604, -95.3698), (51.5074, -0.1278), (-33.8688, 151.2093), (35.6762, 139.6503), (-1.2921, 36.8219), (64.1466, -21.9426), (78.22, 15.65), (-77.85, 166.67), (21.3, -157.85), (40.4168, -3.7038)]
    rows = []
    for date in ("2022-05-16", "2023-10-28", "2024-03-25", "2025-03-14", "2025-09-07", "2028-12-31"):
        start = TIMES.tt(*map(int, date.split("-")), -12).tt
        middle = min((start + minute / 1440 for minute in range(0, 48 * 60, 20)), key=lambda jd: gap(jd, None))
        low, high = middle - 20 / 1440, middle + 20 / 1440
        # The greatest eclipse: the Moon's distance from the axis in km, not in angle.
        def offset(jd):
            here = EARTH.at(TIMES.tt_jd(jd))
            sun, moon = (here.observe(body).apparent().position.km for body in (SUN, MOON))
            return np.linalg.norm(np.cross(sun / np.linalg.norm(sun), moon))
        for _ in range(30):
            thirds = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, thirds[1]) if offset(thirds[0]) < offset(thirds[1]) else (thirds[0], high)
        contacts = {"greatest": low}
        for kind, first, last in [("p", "begins", "ends"), ("u", "partial_begins", "partial_ends"), ("t", "total_begins", "total_ends")]:
            if gap(low, kind) < 0:
                contacts[first] = root(lambda jd: gap(jd, kind), low - 4 / 24, low)
                contacts[last] = root(lambda jd: gap(jd, kind), low, low + 4 / 24)
        for latitude, longitude in places:
            place = EARTH + wgs84.latlon(latitude, longitude)
            def moon_at(jd):
                altitude, azimuth, _ = place.at(TIMES.tt_jd(jd)).observe(MOON).apparent().altaz()
                return altitude.degrees, azimuth.degrees
            events = dict(contacts)
            steps = np.linspace(contacts["begins"], contacts["ends"], 20)
            for one, next_one in zip(steps, steps[1:]):
                before, after = moon_at(one)[0], moon_at(next_one)[0]
                if (before < 0) != (after < 0):
                    events["moonrise" if before < 0 else "moonset"] = root(lambda jd: moon_at(jd)[0], one, next_one)
            for event, jd in events.items():
                altitude, azimuth = moon_at(jd)
                rows.append([date, latitude, longitude, event, f"{jd:.8f}", f"{altitude:.4f}", f"{azimuth:.4f}"])
    write("lunar_places.csv", ["date", "lat", "lon", "event", "jd_tt", "moon_altitude_deg", "moon_azimuth_deg"], rows)


def transits():
    rows = []
    places = [None, (40.4168, -3.7038), (35.6762, 139.6503), (-33.8688, 151.2093), (21.3, -157.85), (-22.9, -43.2), (70.0, 25.0)]
    for date, name, radius_km in [
        ("1937-05-11", "mercury", 2440.53),
        ("1999-11-15", "mercury", 2440.53),
        ("2003-05-07", "mercury", 2440.53),
        ("2004-06-08", "venus", 6051.8),
        ("2006-11-08", "mercury", 2440.53),
        ("2012-06-06", "venus", 6051.8),
        ("2016-05-09", "mercury", 2440.53),
        ("2019-11-11", "mercury", 2440.53),
        ("2032-11-13", "mercury", 2440.53),
        ("2049-05-07", "mercury", 2440.53),
    ]:
        start = TIMES.tt(*map(int, date.split("-")), -10).tt
        for where in places:
            place = EARTH if where is None else EARTH + wgs84.latlon(*where)

            def discs(jd):
                here = place.at(TIMES.tt_jd(jd))
                sun, planet = (here.observe(EPHEMERIS[body]).apparent() for body in ("sun", name))
                u, v = (body.position.km / np.linalg.norm(body.position.km) for body in (sun, planet))
                apart = 2 * math.atan2(np.linalg.norm(u - v), np.linalg.norm(u + v))
                return apart, math.asin(695700 / sun.distance().km), math.asin(radius_km / planet.distance().km), sun, planet

            gap = lambda jd, sign: (lambda found: found[0] - found[1] - sign * found[2])(discs(jd))
            middle = min((start + step / 48 for step in range(44 * 2)), key=lambda jd: discs(jd)[0])
            low, high = middle - 1 / 48, middle + 1 / 48
            for _ in range(36):
                thirds = low + (high - low) / 3, high - (high - low) / 3
                low, high = (low, thirds[1]) if discs(thirds[0])[0] < discs(thirds[1])[0] else (thirds[0], high)
            events = {"greatest": low}
            for sign, first, last in [(1, "c1", "c4"), (-1, "c2", "c3")]:
                if gap(low, sign) < 0:
                    events[first] = root(lambda jd: gap(jd, sign), low - 4.5 / 24, low)
                    events[last] = root(lambda jd: gap(jd, sign), low, low + 4.5 / 24)
            altitude = lambda jd: discs(jd)[3].altaz()[0].degrees
            if where and "c1" in events:
                steps = np.linspace(events["c1"], events["c4"], 20)
                for one, after in zip(steps, steps[1:]):
                    if (altitude(one) < 0) != (altitude(after) < 0):
                        events["sunrise" if altitude(one) < 0 else "sunset"] = root(altitude, one, after)
            for event, jd in sorted(events.items()):
                apart, _, _, sun, planet = discs(jd)
                (sun_ra, sun_dec, _), (ra, dec, _) = (body.radec("date") for body in (sun, planet))
                angle = math.degrees(bearing(sun_ra.radians, sun_dec.radians, ra.radians, dec.radians)) % 360
                shown = ["", "", ""] if where is None else [*where, f"{altitude(jd):.4f}"]
                rows.append([date, name, *shown[:2], event, f"{jd:.8f}", f"{math.degrees(apart) * 3600:.3f}", f"{angle:.3f}", shown[2]])
    write("transits.csv", ["date", "planet", "lat", "lon", "event", "jd_tt", "separation_arcsec", "position_angle_deg", "sun_altitude_deg"], rows)


def spk():
    de421 = Path(skyfield_data.get_skyfield_data_path()) / "de421.bsp"
    bodies = {"Sun": [(0, 10)], "Earth": [(0, 3), (3, 399)], "Moon": [(0, 3), (3, 301)], "Mercury": [(0, 1), (1, 199)], "Venus": [(0, 2), (2, 299)]}
    pairs = sorted({pair for chain in bodies.values() for pair in chain})
    kernel = SPK.open(str(de421))
    wanted = [summary for summary, segment in zip(kernel.daf.summaries(), kernel.segments) if (segment.center, segment.target) in pairs]
    with open(DATA / "de421_2024-04.bsp", "w+b") as out:
        write_excerpt(kernel, out, 2460407.5, 2460410.5, wanted)
    rows = []
    # Instants that a double represents without error.
    for quarter in range(12 * 4):
        jd = 2460407.5 + quarter / 16
        for body, chain in bodies.items():
            parts = [kernel[pair].compute_and_differentiate(jd) for pair in chain]
            position, velocity = (sum(part[i] for part in parts) for i in (0, 1))
            rows.append([body, jd, *(f"{value:.7f}" for value in position), *(f"{value / 86400:.12f}" for value in velocity)])
    write("spk.csv", ["body", "jd_tdb", "x_km", "y_km", "z_km", "vx_km_s", "vy_km_s", "vz_km_s"], rows)


def covered(apart, sun, moon):
    """The covered part of a disc, from the area of the lens."""
    if apart >= sun + moon:
        return 0.0
    if apart <= abs(sun - moon):
        return min(1.0, (moon / sun) ** 2)
    a = math.acos((apart**2 + sun**2 - moon**2) / (2 * apart * sun))
    b = math.acos((apart**2 + moon**2 - sun**2) / (2 * apart * moon))
    lens = sun**2 * (a - math.sin(2 * a) / 2) + moon**2 * (b - math.sin(2 * b) / 2)
    return lens / (math.pi * sun**2)


def check():
    """Largest differences between `reference/circumstances.csv` and Skyfield."""
    scales = {}
    worst = dict.fromkeys(["c1", "c2", "maximum", "c3", "c4", "obscuration", "sun_altitude", "sun_azimuth", "position_angle", "zenith_angle"], (0, ""))

    def note(name, difference, row):
        worst[name] = max(worst[name], (abs(difference), f"{row['date']} {row['place']}"))

    second = 1 / 86400
    with open(DATA.parents[2] / "reference" / "circumstances.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] != "none"]
    # Skyfield needs a second per row: every sixth one, and all total and annular eclipses.
    rows = [row for at, row in enumerate(rows) if at % 6 == 0 or row["c2"]]
    for row in rows:
        delta_t = float(row["delta_t_s"])
        times = scales.setdefault(delta_t, load.timescale(delta_t=delta_t))
        place = wgs84.latlon(float(row["latitude_deg"]), float(row["longitude_deg"]))

        def jd(name):
            # TT - UTC: leap seconds and 32.184 s.
            when = datetime.datetime.fromisoformat(row[name].rstrip("Z"))
            leap = 32 + sum(when >= datetime.datetime(*day) for day in [(2006, 1, 1), (2009, 1, 1), (2012, 7, 1), (2015, 7, 1), (2017, 1, 1)])
            return 2451544.5 + ((when - datetime.datetime(2000, 1, 1)).total_seconds() + leap + 32.184) / 86400

        def slope(function, at, step):
            return (function(at + step) - function(at - step)) / (2 * step)

        for names, gap in [(("c1", "c4"), lambda s, a, b: s - a - b), (("c2", "c3"), lambda s, a, b: s - abs(a - b))]:
            for name in names:
                if row[name]:
                    function = lambda at: gap(*gaps(place, at, times))
                    at = jd(name)
                    # Near a grazing contact, one step of Newton's method is not enough.
                    for _ in range(2 if row["c2"] else 1):
                        before, after = function(at - 0.2 * second), function(at + 0.2 * second)
                        at -= (before + after) / 2 / (after - before) * 0.4 * second
                    note(name, (at - jd(name)) / second, row)
        at = jd("maximum")
        magnitude = lambda at: (lambda s, a, b: (a + b - s) / (2 * a))(*gaps(place, at, times))
        if row["kind"] == "partial":
            bend = (magnitude(at + 60 * second) - 2 * magnitude(at) + magnitude(at - 60 * second)) / (60 * second) ** 2
            note("maximum", slope(magnitude, at, 60 * second) / bend / second, row)
        note("obscuration", covered(*gaps(place, at, times)) - float(row["obscuration"]), row)
        sun = (EARTH + place).at(times.tt_jd(at)).observe(SUN).apparent()
        altitude, azimuth, _ = sun.altaz()
        note("sun_altitude", altitude.degrees - float(row["maximum_sun_altitude_deg"]), row)
        turn = (azimuth.degrees - float(row["maximum_sun_azimuth_deg"]) + 180) % 360 - 180
        note("sun_azimuth", turn * math.cos(altitude.radians), row)
        for name in ("c1", "c4"):
            (sun_ra, sun_dec, _), (moon_ra, moon_dec, _), sidereal = seen(place, jd(name), times)
            position = bearing(sun_ra, sun_dec, moon_ra, moon_dec)
            zenith = position - bearing(sun_ra, sun_dec, sidereal, place.latitude.radians)
            for kind, angle in (("position_angle", position), ("zenith_angle", zenith)):
                note(kind, (math.degrees(angle) - float(row[f"{name}_{kind}_deg"]) + 180) % 360 - 180, row)
    print(len(rows), "rows with an eclipse")
    for name, (difference, where) in worst.items():
        print(f"{name:16} {difference:.6f}  {where}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        elements()
        position_angles()
        lunar_places()
        transits()
        spk()
