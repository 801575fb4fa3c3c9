#!/usr/bin/env python3
"""Compares the speed of umbracast, NumPy and SPICE's `occult`: the visible fraction of the Sun for a million observers.

    shadow.py [--umbracast PROGRAM] [--count N] [--repeat N] [--spice N] [--json]

    --umbracast PROGRAM   [default: target/release/umbracast of this checkout]
    --count N             observers per scene [default: 1000000]
    --repeat N            number of runs, whose medians are printed [default: 5]
    --spice N             observers for SPICE, one call per observer [default: 20000]
    --json                prints JSON

The time is 2024-04-08 at 18:17:20 UTC, when the Moon's penumbra is on the Earth. Observers are random and uniform on spheres around the
Earth: `leo` at a height of 400 km, `gps` at 20,189 km, `ground` at 0; and in `penumbra` on the ground within the Moon's penumbra. The
occluders are Earth and Moon. SPICE's call takes one occluder, so it is compared with umbracast for the Earth alone.

All figures are fractions (SPICE: kinds) per second of CPU time of the process, from arrays in memory to arrays in memory. There are two
NumPy versions, both in f64 with the half-angle form of the spherical triangle: `whole` computes everything for all observers, `masked`
only for observers whose discs overlap partially. If both occluders overlap the Sun, they subtract both areas, which is less work than
the union and wrong. The kinds of SPICE must equal those of umbracast.

Needs Python 3.10 or newer, numpy and spiceypy: python3 -m venv venv && venv/bin/pip install numpy spiceypy
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# NumPy on one thread, because CPU time is compared.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import spiceypy as spice

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUN = np.array([-10_166_499.187541846, -148_161_748.2976715, 19_793_051.468534708])
MOON = np.array([-25_416.495482834707, -355_482.07845826703, 49_445.03724081092])
SUN_KM, EARTH_KM, MOON_KM = 695_700.0, 6_371.0, 1_737.4
EARTH = np.zeros(3)
# The codes of spice.occult with the Sun as the second target.
KINDS = {0: "none", 1: "partial", 2: "annular", 3: "total"}


def directions(random, count):
    v = random.normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=1)[:, None]


def scenes(count):
    random = np.random.default_rng(2024)
    for name, height in (("leo", 400.0), ("gps", 20_189.0), ("ground", 0.0)):
        yield name, directions(random, count) * (EARTH_KM + height)
    # The point where the axis of the Moon's shadow reaches the ground, and 3,000 km around it.
    ground = np.array([-1_410.3089733347551, -5_591.9432649401715, 2_707.5524226518246])
    points = ground + directions(random, count) * 3_000.0 * np.sqrt(random.random((count, 1)))
    yield "penumbra", points / np.linalg.norm(points, axis=1)[:, None] * EARTH_KM


def covered(a, b, c):
    """The part of a disc of angular radius a that is covered by a cap of radius b at distance c. The edges must cross."""
    s = 0.5 * (a + b + c)
    sine, less_a, less_b, less_c = np.sin(s), np.sin(s - a), np.sin(s - b), np.sin(s - c)
    # The angles of the spherical triangle at both centres; each is opposite to the radius of the other disc.
    at_a = 2.0 * np.arctan2(np.sqrt(less_a * less_c), np.sqrt(sine * less_b))
    at_b = 2.0 * np.arctan2(np.sqrt(less_b * less_c), np.sqrt(sine * less_a))
    excess = 4.0 * np.arctan(np.sqrt(np.tan(0.5 * s) * np.tan(0.5 * (s - a)) * np.tan(0.5 * (s - b)) * np.tan(0.5 * (s - c))))
    area = at_a * 2.0 * np.sin(0.5 * a) ** 2 + at_b * 2.0 * np.sin(0.5 * b) ** 2 - excess
    return 2.0 * area / (4.0 * np.pi * np.sin(0.5 * a) ** 2)


def geometry(observers, center, radius):
    to = center - observers
    square = np.einsum("ij,ij->i", to, to)
    return to, square, square - radius * radius


def numpy_whole(observers, occluders):
    to_sun, sun_square, sun_power = geometry(observers, SUN, SUN_KM)
    a = np.arctan2(SUN_KM, np.sqrt(sun_power))
    left = np.ones(len(observers))
    for center, radius in occluders:
        to, square, power = geometry(observers, center, radius)
        b = np.arctan2(radius, np.sqrt(np.maximum(power, 0.0)))
        c = np.arctan2(np.linalg.norm(np.cross(to_sun, to), axis=1), np.einsum("ij,ij->i", to_sun, to))
        with np.errstate(invalid="ignore", divide="ignore"):
            part = np.where(c + a <= b, 1.0, np.where(c + b <= a, (np.sin(0.5 * b) / np.sin(0.5 * a)) ** 2, covered(a, b, c)))
        left -= np.where((c >= a + b) | (power > sun_power), 0.0, part)
    return np.maximum(left, 0.0)


def numpy_masked(observers, occluders):
    to_sun, sun_square, sun_power = geometry(observers, SUN, SUN_KM)
    left = np.ones(len(observers))
    for center, radius in occluders:
        to, square, power = geometry(observers, center, radius)
        ahead = np.einsum("ij,ij->i", to_sun, to)
        tangents = np.sqrt(sun_power * np.maximum(power, 0.0))
        touches = (ahead > tangents - SUN_KM * radius) & (power < sun_power)
        full = touches & (ahead > tangents + SUN_KM * radius) & (radius * radius * sun_power > SUN_KM * SUN_KM * power)
        left[full] = 0.0
        some = np.flatnonzero(touches & ~full)
        s, o = to_sun[some], to[some]
        a = np.arctan2(SUN_KM, np.sqrt(sun_power[some]))
        b = np.arctan2(radius, np.sqrt(np.maximum(power[some], 0.0)))
        c = np.arctan2(np.linalg.norm(np.cross(s, o), axis=1), ahead[some])
        with np.errstate(invalid="ignore", divide="ignore"):
            left[some] -= np.where(c + b <= a, (np.sin(0.5 * b) / np.sin(0.5 * a)) ** 2, covered(a, b, c))
    return np.maximum(left, 0.0)


def timed(work):
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def umbracast(program, folder, observers, system):
    done = subprocess.run(
        [program, "shadow", observers, system, "-o", folder / "out.npz", "--device", "cpu", "--json"],
        check=True, capture_output=True, text=True)
    found = np.load(folder / "out.npz")
    return json.loads(done.stdout)["cpu_seconds"], found["fraction"], found["kind"]


def write_system(path, names):
    bodies = {"Earth": (EARTH, EARTH_KM), "Moon": (MOON, MOON_KM)}
    text = f'unit = "km"\n[light]\ncenter = {SUN.tolist()}\nradius = {SUN_KM}\n'
    for name in names:
        center, radius = bodies[name]
        text += f'[[body]]\nname = "{name}"\ncenter = {center.tolist()}\nradius = {radius}\n'
    path.write_text(text)


def spice_kernel(path, observers):
    """Writes a kernel with the observers as the positions of one body at whole seconds, with velocity 0, and the Sun at rest."""
    handle = spice.spkopn(str(path), "observers", 0)
    end = float(len(observers) - 1)
    epochs = [float(i) for i in range(len(observers))]
    states = np.zeros((len(observers), 6))
    states[:, :3] = observers
    spice.spkw13(handle, -1000, 399, "J2000", 0.0, end, "observers", 3, len(observers), states, epochs)
    still = np.zeros((2, 6))
    still[:, :3] = SUN
    spice.spkw13(handle, 10, 399, "J2000", 0.0, end, "sun", 1, 2, still, [0.0, end])
    spice.spkcls(handle)
    spice.furnsh(str(path))
    for body, radius in ((10, SUN_KM), (399, EARTH_KM)):
        spice.pdpool(f"BODY{body}_RADII", [radius] * 3)
        spice.pdpool(f"BODY{body}_POLE_RA", [0.0, 0.0, 0.0])
        spice.pdpool(f"BODY{body}_POLE_DEC", [90.0, 0.0, 0.0])
        spice.pdpool(f"BODY{body}_PM", [0.0, 0.0, 0.0])
    spice.boddef("OBSERVER", -1000)


def spice_kinds(count):
    ask = lambda et: spice.occult(
        "EARTH", "ELLIPSOID", "IAU_EARTH", "SUN", "ELLIPSOID", "IAU_SUN", "NONE", "OBSERVER", et)
    return [ask(float(et)) for et in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--umbracast", type=pathlib.Path, default=ROOT / "target/release/umbracast")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--spice", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        both, one = folder / "both.toml", folder / "one.toml"
        write_system(both, ["Earth", "Moon"])
        write_system(one, ["Earth"])
        for name, observers in scenes(args.count):
            path = folder / f"{name}.npy"
            np.save(path, observers)
            occluders = [(EARTH, EARTH_KM), (MOON, MOON_KM)]
            if name == "penumbra":
                # All observers are far from the night side: the Earth is left out.
                occluders, system = occluders[1:], folder / "moon.toml"
                write_system(system, ["Moon"])
            else:
                system = both
            times = {"umbracast": [], "whole": [], "masked": []}
            for _ in range(args.repeat):
                seconds, fraction, kind = umbracast(args.umbracast, folder, path, system)
                times["umbracast"].append(seconds)
                seconds, whole = timed(lambda: numpy_whole(observers, occluders))
                times["whole"].append(seconds)
                seconds, masked = timed(lambda: numpy_masked(observers, occluders))
                times["masked"].append(seconds)
            # On the ground, half of the observers are inside the Earth because of rounding, and NumPy treats them differently.
            apart = np.abs(masked - fraction)
            odd = int((apart > 1e-4).sum() + (np.abs(whole - fraction) > 1e-4).sum())
            rate = {k: args.count / statistics.median(v) * 1e-6 for k, v in times.items()}
            peer = max(rate["whole"], rate["masked"])
            rows.append({"scene": name, "partial": float(((kind == 1) | (kind == 2)).mean()), **rate,
                         "ratio": rate["umbracast"] / peer, "differ": odd})
        observers = np.load(folder / "leo.npy")[: args.spice]
        np.save(folder / "few.npy", observers)
        spice_kernel(folder / "few.bsp", observers)
        ours, theirs = [], []
        for _ in range(args.repeat):
            # The time for a few observers is too short to measure: measures the whole scene with the same single occluder.
            ours.append(umbracast(args.umbracast, folder, folder / "leo.npy", one)[0] / args.count)
            seconds, codes = timed(lambda: spice_kinds(len(observers)))
            theirs.append(seconds / len(observers))
        kind = umbracast(args.umbracast, folder, folder / "few.npy", one)[2]
        differ = sum(KINDS.get(code, "other") != list(KINDS.values())[k] for code, k in zip(codes, kind))
        ours, theirs = 1e-6 / statistics.median(ours), 1e-6 / statistics.median(theirs)
        rows.append({"scene": "leo, Earth alone", "umbracast": ours, "occult": theirs, "ratio": ours / theirs, "differ": differ})
    if args.json:
        print(json.dumps(rows))
        return
    print(f"{'scene':18}{'partial':>9}{'umbracast':>11}{'whole':>8}{'masked':>8}{'occult':>8}{'ratio':>8}{'differ':>8}   M/s of CPU time")
    for row in rows:
        cell = lambda key, form: format(row[key], form) if key in row else ""
        print(f"{row['scene']:18}{cell('partial', '.4f'):>9}{cell('umbracast', '.2f'):>11}{cell('whole', '.2f'):>8}"
              f"{cell('masked', '.2f'):>8}{cell('occult', '.4f'):>8}{cell('ratio', '.1f'):>8}{row['differ']:>8}")


if __name__ == "__main__":
    sys.exit(main())
