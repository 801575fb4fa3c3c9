#!/usr/bin/env python3
"""Writes tests/data/sky/states.bsp, states.csv, moons.bsp and moons.csv: segments of SPK files, and what NAIF's SPICE and Skyfield read from them.

    pip install numpy skyfield spiceypy
    python3 tools/make_spk_states.py

The states are those of an ellipse about the Earth, at steps that are not equal. Body -9 has a segment of type 9 (Lagrange) and body -13 one of type 13
(Hermite); -91 and -131 have the same with an odd number of states per polynomial. The columns are body, seconds of TDB since J2000, position in km
and velocity in km/s relative to the Earth. spkgeo interpolates, so its errors are in the table, too.
"""

import csv
import tempfile
from pathlib import Path

import numpy as np
import skyfield.api
import spiceypy

DATA = Path(__file__).resolve().parent.parent / "tests/data/sky"
GM = 398_600.4418
COLUMNS = ["body", "tdb_s", "x_km", "y_km", "z_km", "vx_km_s", "vy_km_s", "vz_km_s"]


def state(t):
    """Return a state on an ellipse of 8,000 km with the eccentricity 0.15."""
    a, e = 8000.0, 0.15
    n = np.sqrt(GM / a**3)
    anomaly = m = n * t
    for _ in range(50):
        anomaly = m + e * np.sin(anomaly)
    b = a * np.sqrt(1 - e * e)
    rate = n / (1 - e * np.cos(anomaly))
    turn = np.array([[1, 0, 0], [0, 0.6, -0.8], [0, 0.8, 0.6]])
    position = turn @ [a * (np.cos(anomaly) - e), b * np.sin(anomaly), 0]
    velocity = turn @ [-a * np.sin(anomaly) * rate, b * np.cos(anomaly) * rate, 0]
    return np.concatenate([position, velocity])


# 150 states: the epochs have a directory.
epochs = np.cumsum(60.0 + 25.0 * np.sin(np.arange(150.0)))
states = np.array([state(t) for t in epochs])
path = DATA / "states.bsp"
path.unlink(missing_ok=True)
handle = spiceypy.spkopn(str(path), "states", 0)
for write, body, degree in [
    (spiceypy.spkw09, -9, 7),
    (spiceypy.spkw13, -13, 7),
    (spiceypy.spkw09, -91, 6),
    (spiceypy.spkw13, -131, 9),
]:
    write(handle, body, 399, "J2000", epochs[0], epochs[-1], str(body), degree, len(epochs), states, epochs)
spiceypy.spkcls(handle)

spiceypy.furnsh(str(path))
times = [*(epochs[0] + 30.0 * np.arange(0, 296, 5)), epochs[-1]]
with open(DATA / "states.csv", "w", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for body in (-9, -13, -91, -131):
        for t in times:
            found = spiceypy.spkgeo(body, t, "J2000", 399)[0]
            rows.writerow([body, f"{t:.9f}", *(f"{one:.9f}" for one in found)])


def moons():
    """Write moons.bsp and moons.csv.

    The former is an excerpt of JPL's jup310, which Skyfield carries for its tests: the large moons and Jupiter relative to the barycentre of Jupiter (type 3), and the
    bodies that lead to the Earth (type 2). Body -501 is Io in a segment of type 2, a fit of that of type 3.
    """
    data = (Path(skyfield.__file__).parent / "tests/data/jup310-2015-03-02.bsp").read_bytes()
    source = str(Path(tempfile.mkdtemp()) / "jup310.bsp")
    Path(source).write_bytes(data + bytes(-len(data) % 1024))  # SPICE reads whole records only
    begin, end = (86_400 * (5540 - 0.5) + 3600 * hours for hours in (1, 6))  # from 2015-03-03 01:00 to 06:00
    path = DATA / "moons.bsp"
    path.unlink(missing_ok=True)
    out = spiceypy.spkopn(str(path), "moons", 0)
    given = spiceypy.dafopr(source)
    spiceypy.dafbfs(given)
    while spiceypy.daffna():
        summary = spiceypy.dafgs()[:5]
        span, (target, *_) = spiceypy.dafus(summary, 2, 6)
        if target in (501, 502, 503, 504, 599):
            spiceypy.spksub(given, summary, str(target), begin, end, out)
        elif target < 500:
            spiceypy.spksub(given, summary, str(target), *span, out)
    spiceypy.furnsh(source)
    length, degree = (end - begin) / 4, 13
    nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    coefficients = []
    for i in range(4):
        times = begin + length * (i + 0.5 + 0.5 * nodes)
        io = np.array([spiceypy.spkgeo(501, t, "J2000", 5)[0][:3] for t in times])
        coefficients += list(np.polynomial.chebyshev.chebfit(nodes, io, degree).T.ravel())
    spiceypy.spkw02(out, -501, 5, "J2000", begin, end, "-501", length, 4, degree, np.array(coefficients), begin)
    spiceypy.spkcls(out)
    spiceypy.kclear()

    spiceypy.furnsh(str(path))
    kernel, scale = skyfield.api.load_file(str(path)), skyfield.api.load.timescale(builtin=True)
    with open(DATA / "moons.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*COLUMNS, "apparent_x_km", "apparent_y_km", "apparent_z_km"])
        for body in (501, 502, 503, 504, 599, -501):
            for t in np.arange(begin + 4000, end, 1200):
                found = spiceypy.spkgeo(body, t, "J2000", 399)[0]
                time = scale.tdb_jd(2_451_545.0, t / 86_400)
                apparent = kernel[399].at(time).observe(kernel[body]).apparent(deflectors=()).position.km
                rows.writerow([body, f"{t:.1f}", *(f"{one:.9f}" for one in [*found, *apparent])])


moons()
