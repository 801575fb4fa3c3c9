#!/usr/bin/env python3
"""Writes tests/data/sky/teme.csv: states in the frame TEME of two-line elements, and in the GCRS. None of it is computed with this project.

    python3 -m venv venv && venv/bin/pip install numpy skyfield
    venv/bin/python tools/make_teme.py

The states are those of circular orbits, whose angles are made up. Skyfield turns them: `skyfield.sgp4lib.TEME` has the axes that SGP4 uses, after
Vallado and others, "Revisiting Spacetrack Report #3" (AIAA 2006-6753): the true equator of date, and the mean equinox by the sidereal time of 1982.
Lengths are in km and km/s, times in UTC.
"""

import csv
from pathlib import Path

import numpy as np
from skyfield.api import load
from skyfield.sgp4lib import TEME

GM = 398600.4418
DATES = [
    "1979-07-11T16:37:00",
    "1994-03-05T02:00:00.5",
    "2000-01-01T12:00:00",
    "2006-09-22T23:59:30",
    "2012-06-30T08:15:00",
    "2019-12-26T05:00:00",
    "2024-04-08T18:17:20",
    "2026-11-27T03:33:33",
]


def main():
    scale = load.timescale(builtin=True)
    rows = []
    for number, date in enumerate(DATES):
        day, clock = date.split("T")
        hour, minute, second = clock.split(":")
        time = scale.utc(*map(int, day.split("-")), int(hour), int(minute), float(second))
        radius = [6800.0, 7200.0, 26560.0, 42164.0][number % 4]
        node, tilt, angle = 0.7 * number, 0.3 + 0.35 * number, 1.1 + 2.3 * number
        u = np.array([np.cos(node), np.sin(node), 0.0])
        v = np.array([-np.sin(node) * np.cos(tilt), np.cos(node) * np.cos(tilt), np.sin(tilt)])
        position = radius * (u * np.cos(angle) + v * np.sin(angle))
        velocity = np.sqrt(GM / radius) * (v * np.cos(angle) - u * np.sin(angle))
        to_gcrs = TEME.rotation_at(time).T
        state = [*position, *velocity, *(to_gcrs @ position), *(to_gcrs @ velocity)]
        rows.append([date + "Z", *(f"{number:.9f}" for number in state)])
    path = Path(__file__).parent.parent / "tests/data/sky/teme.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = [f"{frame}_{axis}" for frame in ("teme", "gcrs") for axis in ("x", "y", "z", "vx", "vy", "vz")]
        writer.writerow(["time", *names])
        writer.writerows(rows)


main()
