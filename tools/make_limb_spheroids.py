#!/usr/bin/env python3
"""Writes tests/data/limb_spheroids.csv: fluxes that spheroids hide, by quadrature over their outlines. Nothing is computed with this project.

    python3 -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python tools/make_limb_spheroids.py

The light is a flat disc of radius 1 with the laws of make_limb_laws.py, or the quadratic one. A spheroid with the pole n is seen from afar as an
ellipse: its long semi-axis, or the short one of a prolate spheroid, is the radius, at right angles to the projected pole, and the other is
sqrt(polar^2 (1 - nz^2) + radius^2 nz^2) along it.

The hidden part is cut into lines of equal y. On each, the brightness is integrated between the ends of the intervals inside the outlines. In
y, the integral is split where an outline or the rim begins, ends or meets another. Both integrals are tanh-sinh sums, so ends do no harm.
"""

import csv
import itertools
import math
import random
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

STEPS = np.arange(-60, 61) * (6.2 / 120)
_ARGUMENTS = 0.5 * math.pi * np.sinh(STEPS)
# Nodes of the tanh-sinh rule as distances from the nearer end, in units of the interval, and their weights.
FROM_LOW = 1 / (1 + np.exp(-2 * _ARGUMENTS))
FROM_HIGH = 1 / (1 + np.exp(2 * _ARGUMENTS))
WEIGHTS = 0.5 * (6.2 / 120) * 0.5 * math.pi * np.cosh(STEPS) / np.cosh(_ARGUMENTS) ** 2

LAWS = [
    ("quadratic", [0.0, 0.0]),
    ("quadratic", [0.4, 0.25]),
    ("power-2", [0.7, 0.6]),
    ("four-parameter", [0.5, -0.2, 0.6, -0.1]),
]


def brightness(law, c, mu):
    if law == "quadratic":
        return 1 - c[0] * (1 - mu) - c[1] * (1 - mu) ** 2
    if law == "power-2":
        return 1 - c[0] * (1 - mu ** c[1])
    return 1 - sum(a * (1 - mu ** (k / 2)) for k, a in enumerate(c, 1))


def whole(law, c):
    if law == "quadratic":
        return math.pi * (1 - c[0] / 3 - c[1] / 6)
    powers = [(c[0], c[1])] if law == "power-2" else [(a, k / 2) for k, a in enumerate(c, 1)]
    return math.pi * (1 - sum(a * (1 - 2 / (p + 2)) for a, p in powers))


def ellipse(x, y, radius, polar, pole):
    """Centre, and the matrix that maps the offset from it to the unit circle."""
    nx, ny, nz = pole
    length = math.hypot(nx, ny)
    along = np.array([nx, ny]) / length if length > 0 else np.array([1.0, 0.0])
    short = math.sqrt(polar**2 * (1 - nz**2) + radius**2 * nz**2)
    aside = np.array([-along[1], along[0]])
    return np.array([x, y]), np.array([along / short, aside / radius]), np.array([along * short, aside * radius]).T


DISC = (np.zeros(2), np.eye(2), np.eye(2))


def level(shape, point):
    return np.sum((shape[1] @ (point - shape[0])) ** 2) - 1


def outline(shape, t):
    return shape[0] + shape[2] @ np.array([math.cos(t), math.sin(t)])


def crossings(one, other):
    """The y of the points in which two outlines meet."""
    turns = np.linspace(0.1234, 0.1234 + 2 * math.pi, 4001)
    values = [level(other, outline(one, t)) for t in turns]
    for i in range(4000):
        if (values[i] < 0) != (values[i + 1] < 0):
            t = brentq(lambda t: level(other, outline(one, t)), turns[i], turns[i + 1], xtol=1e-16, rtol=1e-15)
            yield outline(one, t)[1]


def interval(shape, y):
    """The interval of x inside an outline, on the line y."""
    a = shape[1][:, 0]
    b = shape[1] @ (np.array([0.0, y]) - shape[0])
    aa, ab, bb = a @ a, a @ b, b @ b - 1
    # The discriminant ab^2 - aa bb, with the squares of the cross product, does not cancel.
    reach = aa - (a[0] * b[1] - a[1] * b[0]) ** 2
    half = math.sqrt(max(reach, 0.0)) / aa
    return -ab / aa - half, -ab / aa + half


def on_line(law, c, y, low, high):
    """Integral of the brightness over low...high of the line y, in phi with x = X sin phi and mu = X cos phi."""
    reach = math.sqrt(max((1 - y) * (1 + y), 0.0))
    if reach == 0 or high <= low:
        return 0.0
    start, end = (math.asin(max(-1.0, min(1.0, x / reach))) for x in (low, high))
    # The distance from the nearer end of a quarter turn keeps the digits of a small cosine.
    nodes_low, nodes_high = start + (end - start) * FROM_LOW, end - (end - start) * FROM_HIGH
    cosine = np.where(STEPS < 0, np.cos(nodes_low), np.cos(nodes_high))
    mu = reach * np.maximum(cosine, 0.0)
    return (end - start) * float(np.sum(WEIGHTS * brightness(law, c, mu) * mu))


def hidden(shapes, law, c):
    edges = []
    for i, shape in enumerate(shapes):
        tall = math.hypot(*shape[2][1])
        edges += [shape[0][1] - tall, shape[0][1] + tall, *crossings(shape, DISC)]
        for other in shapes[:i]:
            edges += crossings(shape, other)
    edges = sorted({min(1.0, max(-1.0, y)) for y in edges})
    total = 0.0
    for low, high in itertools.pairwise(edges):
        if high - low < 1e-15:
            continue
        for k, weight in enumerate(WEIGHTS):
            y = low + (high - low) * FROM_LOW[k] if STEPS[k] < 0 else high - (high - low) * FROM_HIGH[k]
            rim = math.sqrt(max((1 - y) * (1 + y), 0.0))
            spans = []
            for shape in shapes:
                if abs(y - shape[0][1]) < math.hypot(*shape[2][1]):
                    x1, x2 = interval(shape, y)
                    spans.append((max(x1, -rim), min(x2, rim)))
            reached = -2.0
            for x1, x2 in sorted(spans):
                total += weight * (high - low) * on_line(law, c, y, max(x1, reached), x2)
                reached = max(reached, x2)
    return total / whole(law, c)


def cases():
    numbers = random.Random(4)
    uniform = numbers.uniform

    def pole():
        while True:
            v = [numbers.gauss(0, 1) for _ in range(3)]
            length = math.sqrt(sum(x * x for x in v))
            return [x / length for x in v]

    def at(distance):
        angle = uniform(0, 2 * math.pi)
        return distance * math.cos(angle), distance * math.sin(angle)

    for p in (0.5, 0.1, 0.05, 0.01, 1e-3, 1e-4):
        for ratio in (0.5, 0.9, 1.5):
            tall = p * max(ratio, 1)
            for distance in (
                uniform(0, 1) * max(1 - tall, 0),
                uniform(0, 0.9) * p,
                (1 - tall) * (1 - 1e-6),
                uniform(1 - 0.4 * p, 1 + 0.4 * p),
            ):
                yield [(*at(distance), p, p * ratio, pole())]
            x, y = at(uniform(0, 0.9))
            yield [(x, y, p, p * ratio, pole()), (x + uniform(-p, p), y + uniform(-p, p), p * 1.2, p, pole())]
    # The Earth before the Sun: the first is the case of a transit, its pole 23.4 degrees from the ecliptic.
    for x in (0.0, 0.37, -0.8, 0.985):
        yield [
            (
                x,
                0.2 if abs(x) < 0.9 else 0.1,
                0.00917,
                0.00917 * (1 - 1 / 298.257),
                [0.0, math.cos(0.409), math.sin(0.409)],
            )
        ]
    # The position of a report: 1.0 was found, in mid-transit.
    length = math.sqrt(0.3**2 + 1 + 0.2**2)
    yield [(-0.68, 0.45, 0.05, 0.045, [0.3 / length, 1 / length, 0.2 / length])]


def main():
    path = Path(__file__).parent.parent / "tests" / "data" / "limb_spheroids.csv"
    body = ["x", "y", "radius", "polar_radius", "pole_x", "pole_y", "pole_z"]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            [*(f"{name}_{i}" for i in (1, 2) for name in body), *("_".join([law, *map(str, c)]) for law, c in LAWS)]
        )
        for bodies in cases():
            shapes = [ellipse(*one) for one in bodies]
            cells = [repr(float(x)) for x, y, r, q, n in bodies for x in (x, y, r, q, *n)]
            cells += ["0"] * (14 - len(cells))
            writer.writerow([*cells, *(f"{hidden(shapes, law, c):.15g}" for law, c in LAWS)])


main()
