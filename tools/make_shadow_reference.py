#!/usr/bin/env python3
"""Writes reference/shadows.csv and reference/caps.csv: visible fractions behind several bodies and areas of unions of caps, by quadrature with 30 digits.
Nothing is computed with this project.

    python3 -m venv venv && venv/bin/pip install mpmath
    venv/bin/python tools/make_shadow_reference.py

Polar coordinates about an axis: the direction to the centre of the light for shadows, the z axis for caps. In each azimuth, a body or a cap covers an
interval of angles from the axis, whose ends are roots of a quadratic. The solid angle of the union of the intervals is exact, and is integrated over
the azimuth by tanh-sinh quadrature. The integral is split where the order of the ends changes; those azimuths are found on a grid, and then by bisection.
The grid is refined until 25 digits stay.
"""

import csv
import random
from pathlib import Path

from mpmath import asin, cos, mp, mpf, pi, quad, sin, sqrt

REFERENCE = Path(__file__).parent.parent / "reference"


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def scaled(v, k):
    return [x * k for x in v]


def added(*vectors):
    return [sum(parts) for parts in zip(*vectors)]


def axes(z):
    """Two unit vectors across a unit vector."""
    least = min(range(3), key=lambda k: abs(z[k]))
    helper = [mpf(k == least) for k in range(3)]
    x = added(helper, scaled(z, -dot(helper, z)))
    x = scaled(x, 1 / sqrt(dot(x, x)))
    y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]]
    return x, y


def positive(a, b, c, ahead, across, limit):
    """The intervals of T in 0...limit with a T^2 + 2 b T + c >= 0 and ahead + across T > 0, as at most two pairs."""
    ends = [mpf(0), limit]
    reach = b * b - a * c
    if reach > 0 and a != 0:
        ends += [(-b - sqrt(reach)) / a, (-b + sqrt(reach)) / a]
    ends = sorted(end for end in ends if 0 <= end <= limit)
    middles = [(low + high) / 2 for low, high in zip(ends, ends[1:])]
    inside = [a * t * t + 2 * b * t + c >= 0 and ahead + across * t > 0 for t in middles]
    return [pair for pair, yes in zip(zip(ends, ends[1:]), inside) if yes]


def covered(intervals_of, limit, measure, grid):
    """The integral over all azimuths of the measure of the union of the intervals."""

    def ends(azimuth):
        found = []
        for number, intervals in enumerate(intervals_of(azimuth)):
            for low, high in intervals:
                found.append((low, 0, number if low > 0 else -1))
                found.append((high, 1, number if high < limit else -1))
        return sorted(found)

    def order(azimuth):
        return [end[1:] for end in ends(azimuth)]

    def share(azimuth):
        total, reached = mpf(0), mpf(0)
        intervals = sorted(pair for intervals in intervals_of(azimuth) for pair in intervals)
        for low, high in intervals:
            if high > reached:
                total += measure(high) - measure(max(low, reached))
                reached = high
        return total

    # The offset keeps the grid off azimuths that are special by symmetry.
    azimuths = [2 * pi * (k + mpf("0.3137")) / grid for k in range(grid + 1)]
    splits = [azimuths[0]]
    orders = [order(azimuth) for azimuth in azimuths]
    for k in range(grid):
        start, last = azimuths[k], orders[k]
        while last != orders[k + 1]:
            low, high = start, azimuths[k + 1]
            for _ in range(int(3.4 * mp.dps)):
                middle = (low + high) / 2
                low, high = (middle, high) if order(middle) == last else (low, middle)
            splits.append(high)
            start, last = high, order(high)
    splits.append(azimuths[-1])
    pieces = []
    for low, high in zip(splits, splits[1:]):
        count = int((high - low) / (pi / 2)) + 1
        pieces += [(low + (high - low) * k / count, low + (high - low) * (k + 1) / count) for k in range(count)]
    return sum(quad(share, [low, high]) for low, high in pieces)


def measure(t):
    """1 - cos(atan t), without cancellation."""
    root = sqrt(1 + t * t)
    return t * t / (root * (1 + root))


def visible_fraction(observer, light, light_radius, bodies, grid):
    """The fraction of a spherical light past bodies (centre, radius, polar radius, pole)."""
    to_light = added(light, scaled(observer, -1))
    distance = sqrt(dot(to_light, to_light))
    z = scaled(to_light, 1 / distance)
    x, y = axes(z)
    half = asin(light_radius / distance)
    limit = mp.tan(half)

    def intervals_of(azimuth):
        u = added(scaled(x, cos(azimuth)), scaled(y, sin(azimuth)))
        found = []
        for center, radius, polar_radius, pole in bodies:
            pole = scaled(pole, 1 / sqrt(dot(pole, pole)))
            stretch = (radius / polar_radius) ** 2 - 1
            o = added(center, scaled(observer, -1))

            def product(a, b):
                return dot(a, b) + stretch * dot(a, pole) * dot(b, pole)

            # The direction z + T u hits where its product with o, squared, is at least the product of its square and the power.
            power = product(o, o) - radius**2
            ahead, across = product(z, o), product(u, o)
            a = across**2 - power * product(u, u)
            b = ahead * across - power * product(z, u)
            c = ahead**2 - power * product(z, z)
            found.append(positive(a, b, c, ahead, across, limit))
        return found

    lost = covered(intervals_of, limit, measure, grid)
    return 1 - lost / (2 * pi * measure(limit))


def area_of_caps(caps, grid):
    """The solid angle of the union of caps (longitude, latitude, radius in degrees) within 80 degrees of the pole of latitude 90."""
    limit = mp.tan(80 * pi / 180)
    rad = pi / 180

    def intervals_of(azimuth):
        found = []
        for longitude, latitude, radius in caps:
            up = sin(latitude * rad)
            aside = cos(latitude * rad) * cos(azimuth - longitude * rad)
            # up + T aside >= cos r sqrt(1 + T^2), squared.
            edge = cos(radius * rad) ** 2
            found.append(positive(aside**2 - edge, up * aside, up**2 - edge, up, aside, limit))
        return found

    return covered(intervals_of, limit, measure, grid)


def shadow_cases():
    """Name, and the row as text: observer, light, radius of the light, bodies of 8 numbers each."""
    earth = ["0", "0", "0", "6378.137", "6356.752314245", "0", "0", "1"]
    sun = ["-149597870.7", "0", "0", "695700"]
    for aside in ("6360", "6368", "6375", "6381"):
        yield "low orbit", ["2800", aside, "300", *sun], [earth]
    for aside, moon in (("6320", "3400"), ("6480", "4900"), ("6600", "5500")):
        yield "Earth and Moon", ["42000", aside, "900", *sun], [earth, ["-380000", moon, "200", "1737.4", "1737.4", "0", "0", "1"]]
    numbers = random.Random(20)

    def near(spread):
        return format(numbers.uniform(-spread, spread), ".3f")

    for count in (1, 2, 2, 2, 3, 3, 3, 3, 4, 4):
        bodies = []
        for _ in range(count):
            radius = numbers.uniform(0.4, 1.6)
            polar = radius * numbers.uniform(0.55, 1.3)
            place = [near(1.6), near(1.6), format(numbers.uniform(15, 25), ".3f")]
            bodies.append([*place, f"{radius:.3f}", f"{polar:.3f}", near(1), near(1), near(1)])
        yield "oblate bodies", [near(0.3), near(0.3), near(0.3), "0", "0", "40", "3"], bodies


def cap_cases():
    yield [["0", "70", "15"], ["40", "72", "10"]]
    yield [["0", "70", "15"], ["180", "70", "15"]]
    yield [["0", "60", "25"], ["90", "60", "25"], ["45", "75", "12"]]
    numbers = random.Random(5)
    for k in range(17):
        count = 2 + k % 2
        caps = []
        for _ in range(count):
            radius = numbers.uniform(3, 30)
            latitude = 90 - numbers.uniform(0, min(45, 78 - radius))
            caps.append([f"{numbers.uniform(-180, 180):.2f}", f"{latitude:.2f}", f"{radius:.2f}"])
        yield caps


def converged(compute):
    """A number with 20 digits: the grid is refined until 25 digits stay."""
    mp.dps = 30
    grid = 1440
    coarse = compute(grid)
    while True:
        mp.dps, grid = 40, 2 * grid
        fine = compute(grid)
        if abs(fine - coarse) < mpf(10) ** -25:
            return mp.nstr(fine, 20)
        assert grid < 50_000, (coarse, fine)
        coarse = fine


def write(name, columns, rows):
    with open(REFERENCE / f"{name}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    print(name, len(rows))


def padded(parts, count, width):
    flat = [cell for part in parts for cell in part]
    return flat + [None] * (count * width - len(flat))


def main():
    fields = ("x", "y", "z", "radius", "polar_radius", "pole_x", "pole_y", "pole_z")
    columns = ["name", "observer_x", "observer_y", "observer_z", "light_x", "light_y", "light_z", "light_radius", "bodies"]
    columns += [f"body{k}_{field}" for k in range(1, 5) for field in fields] + ["visible_fraction"]
    rows = []
    for name, row, bodies in shadow_cases():
        def compute(grid, row=row, bodies=bodies):
            v = [mpf(cell) for cell in row]
            wide = [[mpf(cell) for cell in body] for body in bodies]
            return visible_fraction(v[:3], v[3:6], v[6], [(b[:3], b[3], b[4], b[5:]) for b in wide], grid)

        rows.append([name, *row, str(len(bodies)), *padded(bodies, 4, 8), converged(compute)])
        print(name, rows[-1][-1], flush=True)
    write("shadows", columns, rows)

    columns = ["caps"] + [f"cap{k}_{field}_deg" for k in range(1, 4) for field in ("longitude", "latitude", "radius")]
    rows = []
    for caps in cap_cases():
        def compute(grid, caps=caps):
            return area_of_caps([[mpf(cell) for cell in cap] for cap in caps], grid)

        rows.append([str(len(caps)), *padded(caps, 3, 3), converged(compute)])
        print(rows[-1][-1], flush=True)
    write("caps", [*columns, "solid_angle_sr"], rows)


main()
