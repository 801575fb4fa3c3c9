#!/usr/bin/env python3
"""Writes tests/data/sky/light_time.csv: where the shadow of a moon is seen on its planet. None of it is computed with this project.

    python3 tools/make_light_time.py

The bodies move in made-up ways: Sun, Earth and planet on straight lines, the moon on a circle about the planet, as large as Io's. At t seconds of TDB
since J2000, in km and axes of the ICRF:

    Sun     (0, 0, 0) + (0.01, -0.005, 0.002) t
    Earth   (-1.1e8, 0.9e8, 0.4e8) + (-18, -20, -9) t
    planet  (7.0e8, 2.5e8, 0.9e8) + (-4.2, 11.5, 5.1) t, a sphere of 71,492 km
    moon    planet + 421,800 (u cos a + v sin a), a = 3.1 + 4.11e-5 t, u = (0.942, 0.335, 0) / |u|, v = (-0.3, 0.85, 0.43) perpendicular to u

A ray leaves the Sun's centre at some instant toward the place where it meets the moon's centre, goes on, and meets the planet. From there light
goes to the Earth. For an instant at the Earth, bisection finds the ray. The columns are the place from the centre of the planet, in the axes of the
ICRF, and the instant when the light is there. Nothing is iterated from retarded positions, so that errors of that are found.
"""

import csv
from pathlib import Path

import numpy as np

LIGHT = 299792.458
RADIUS = 71492.0
U = np.array([0.942, 0.335, 0.0]) / np.linalg.norm([0.942, 0.335, 0.0])
V = np.array([-0.3, 0.85, 0.43])
V = (V - U * (U @ V)) / np.linalg.norm(V - U * (U @ V))


def sun(t):
    return np.array([0.01, -0.005, 0.002]) * t


def earth(t):
    return np.array([-1.1e8, 0.9e8, 0.4e8]) + np.array([-18.0, -20.0, -9.0]) * t


def planet(t):
    return np.array([7.0e8, 2.5e8, 0.9e8]) + np.array([-4.2, 11.5, 5.1]) * t


def moon(t):
    angle = 3.1 + 4.11e-5 * t
    return planet(t) + 421800 * (U * np.cos(angle) + V * np.sin(angle))


def bisect(function, low, high):
    """Where an increasing function is 0."""
    assert function(low) < 0 < function(high)
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


def hit(left):
    """The instant and the place at which the ray that leaves the Sun at `left` meets the planet."""
    start = sun(left)
    passed = bisect(lambda t: LIGHT * (t - left) - np.linalg.norm(moon(t) - start), left, left + 5000)
    direction = (moon(passed) - start) / np.linalg.norm(moon(passed) - start)
    ray = lambda t: start + direction * LIGHT * (t - left)
    # The nearest point to the planet's centre, and before it the surface.
    nearest = bisect(lambda t: direction @ (ray(t) - planet(t)), left, left + 6000)
    assert np.linalg.norm(ray(nearest) - planet(nearest)) < RADIUS
    there = bisect(lambda t: RADIUS - np.linalg.norm(ray(t) - planet(t)), nearest - 3, nearest)
    return there, ray(there) - planet(there)


def seen(left):
    """The instant at which the place is seen on the Earth."""
    there, place = hit(left)
    point = planet(there) + place
    return there + bisect(lambda after: LIGHT * after - np.linalg.norm(earth(there + after) - point), 0, 10000)


def main():
    rows = []
    for instant in (3500, 4500, 5500, 6500, 7300):
        left = bisect(lambda t: seen(t) - instant, instant - 5300.0, instant - 5200.0)
        there, place = hit(left)
        rows.append([instant, f"{there:.6f}", *(f"{x:.5f}" for x in place)])
    path = Path(__file__).parent.parent / "tests" / "data" / "sky" / "light_time.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["tdb_s", "there_tdb_s", "x_km", "y_km", "z_km"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
