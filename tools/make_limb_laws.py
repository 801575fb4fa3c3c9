#!/usr/bin/env python3
"""Writes tests/data/limb_laws.csv: visible fluxes past one disc by quadrature with 30 digits. Nothing is computed with this project.

    python3 -m venv venv && venv/bin/pip install mpmath
    venv/bin/python tools/make_limb_laws.py

The light is a flat disc of radius 1. Its brightness at the distance r from the centre, with mu = sqrt(1 - r^2), is 1 - c (1 - mu^alpha) in the
law "power-2", and 1 less the sum of a_k (1 - mu^(k/2)) in the law "four-parameter". The covered flux is the integral of the brightness over the
occluding disc, in polar coordinates about the light: an occluder of radius p at the distance d covers the angle 2 acos((r^2 + d^2 - p^2) / 2rd)
of the circle r.
"""

import csv
from pathlib import Path

from mpmath import acos, mp, mpf, pi, quad, sqrt

mp.dps = 30

# Coefficients of stars between 3,500 and 6,000 K, and some that no star has.
LAWS = [
    ("power-2", ["0.72", "0.64"]),
    ("power-2", ["0.55", "0.35"]),
    ("power-2", ["1", "2.5"]),
    ("power-2", ["-0.4", "0.8"]),
    ("four-parameter", ["0.5", "-0.1", "0.6", "-0.3"]),
    ("four-parameter", ["0.73", "-0.69", "1.23", "-0.52"]),
    ("four-parameter", ["0.2", "0.3", "0.1", "0.4"]),
]
DISCS = [
    ("0.1", "0"), ("0.1", "0.55"), ("0.1", "0.95"), ("0.1", "1.04"), ("0.02", "0.999"), ("0.7", "0.3"), ("0.7", "0.9"), ("0.9", "0.05"),
    ("1", "0.5"), ("1.5", "0.7"), ("40", "40.2"), ("40", "39.3"),
]  # fmt: skip


def brightness(law, values, mu):
    if law == "power-2":
        return 1 - values[0] * (1 - mu ** values[1])
    return 1 - sum(a * (1 - mu ** (mpf(k) / 2)) for k, a in enumerate(values, 1))


def integral(of, low, high):
    """In s with r = sin s, in which the brightness at the edge is smooth enough; tanh-sinh quadrature copes with the ends."""
    return quad(lambda s: of(mp.sin(s), mp.cos(s)) * mp.cos(s), [mp.asin(low), mp.asin(high)])


def flux(law, values, p, d):
    whole = integral(lambda r, mu: 2 * pi * r * brightness(law, values, mu), mpf(0), mpf(1))
    lost = mpf(0)
    if p > d:
        lost += integral(lambda r, mu: 2 * pi * r * brightness(law, values, mu), mpf(0), min(p - d, mpf(1)))
    if d > 0 and abs(p - d) < 1:
        def arc(r, mu):
            cosine = (r * r + d * d - p * p) / (2 * r * d) if r else mpf(1)
            return 2 * r * acos(max(mpf(-1), min(mpf(1), cosine))) * brightness(law, values, mu)

        lost += integral(arc, abs(p - d), min(p + d, mpf(1)))
    return 1 - lost / whole


def main():
    path = Path(__file__).parent.parent / "tests" / "data" / "limb_laws.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["law", "a1", "a2", "a3", "a4", "occluder_radius", "separation", "visible_flux_fraction"])
        for law, texts in LAWS:
            for p, d in DISCS:
                found = flux(law, [mpf(text) for text in texts], mpf(p), mpf(d))
                writer.writerow([law, *texts, *["0"] * (4 - len(texts)), p, d, mp.nstr(found, 17)])


main()
