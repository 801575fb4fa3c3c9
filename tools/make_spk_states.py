#!/usr/bin/env python3
"""Writes tests/data/sky/states.bsp and states.csv: segments of states in an SPK file, and what NAIF's SPICE reads from them.

    pip install numpy spiceypy
    python3 tools/make_spk_states.py

The states are those of an ellipse about the Earth, at steps that are not equal. Body -9 has a segment of type 9 (Lagrange) and body -13 one of type 13
(Hermite); -91 and -131 have the same with an odd number of states per polynomial. The columns are body, seconds of TDB since J2000, position in km
and velocity in km/s relative to the Earth. spkgeo interpolates, so its errors are in the table, too.
"""

import csv
from pathlib import Path

import numpy as np
import spiceypy

DATA = Path(__file__).resolve().parent.parent / "tests/data/sky"
GM = 398_600.4418


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
    rows.writerow(["body", "tdb_s", "x_km", "y_km", "z_km", "vx_km_s", "vy_km_s", "vz_km_s"])
    for body in (-9, -13, -91, -131):
        for t in times:
            found = spiceypy.spkgeo(body, t, "J2000", 399)[0]
            rows.writerow([body, f"{t:.9f}", *(f"{one:.9f}" for one in found)])
