#!/usr/bin/env python3
"""Writes the sphere files of three systems, molecule.csv, scan.ply and foam.csv, and those of the recipes, peptide.pdb and trees.csv. They
are made up.

    gallery_scenes.py [OUT_DIR]      [default: systems/samples]
"""

import math
import pathlib
import random
import struct
import sys


def length(v):
    return math.sqrt(sum(a * a for a in v))


def molecule(out):
    """A helix of atoms, folded into a globule: backbone and side chains with van der Waals radii in angstrom."""
    rng = random.Random(7)
    radius = {1: 1.1, 6: 1.7, 7: 1.55, 8: 1.52, 16: 1.8}
    atoms = []

    def add(element, place):
        if all(math.dist(place, other) > 0.8 for _, other in atoms[-60:]):
            atoms.append((element, place))

    # The axis of the helix turns back at the edge of the globule.
    axis, place = [1.0, 0.0, 0.0], [-14.0, 0.0, 0.0]
    for residue in range(170):
        axis = [a + rng.gauss(0, 0.12) - 0.0105 * max(length(place) - 8, 0) * p for a, p in zip(axis, place)]
        axis = [a / length(axis) for a in axis]
        place = [p + 1.5 * a for p, a in zip(place, axis)]
        seed = [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0]
        u = [axis[1] * seed[2] - axis[2] * seed[1], axis[2] * seed[0] - axis[0] * seed[2], axis[0] * seed[1] - axis[1] * seed[0]]
        u = [a / length(u) for a in u]
        v = [axis[1] * u[2] - axis[2] * u[1], axis[2] * u[0] - axis[0] * u[2], axis[0] * u[1] - axis[1] * u[0]]

        def at(out, degrees, along):
            angle = math.radians(degrees)
            return tuple(
                p + out * (math.cos(angle) * a + math.sin(angle) * b) + along * c for p, a, b, c in zip(place, u, v, axis)
            )

        turn = 100 * residue
        add(7, at(1.5, turn, 0.0))
        add(6, at(2.3, turn + 28, 0.9))
        add(6, at(1.7, turn + 55, 1.9))
        add(8, at(2.0, turn + 60, 3.1))
        for step in range(rng.choice([1, 2, 2, 3, 4, 4])):
            element = rng.choice([6, 6, 6, 6, 7, 8, 16 if rng.random() < 0.3 else 6])
            add(element, at(3.3 + 1.25 * step, turn + 28 + rng.uniform(-16, 16), 0.9 + rng.uniform(-0.5, 0.5)))
            for _ in range(2):
                add(1, at(3.6 + 1.25 * step, turn + 28 + rng.uniform(-30, 30), 0.9 + rng.uniform(-1.2, 1.2)))
    rows = [f"{x:.3f},{y:.3f},{z:.3f},{radius[element]},{element}" for element, (x, y, z) in atoms]
    out.write_text("x,y,z,r,element\n" + "\n".join(rows) + "\n")


def color_of(share):
    """A colour between blue and orange, interpolated between five."""
    colors = [(70, 120, 235), (35, 170, 215), (75, 205, 140), (200, 215, 65), (255, 165, 50)]
    position = min(max(share, 0.0), 0.9999) * (len(colors) - 1)
    k = int(position)
    return tuple(round(a + (position - k) * (b - a)) for a, b in zip(colors[k], colors[k + 1]))


def scan(out):
    """One sweep of a LiDAR sensor with 72 channels in a street: ground, houses, trees and cars, coloured by height."""
    rng = random.Random(3)
    fronts = [(-62, 14, 9), (-44, 17, 13), (-23, 12, 7), (-7, 16, 11), (13, 13, 15), (30, 18, 8), (52, 12, 12)]
    houses = [((x, side * 11 if side > 0 else -11 - 9), (x + w, side * 11 + 9 if side > 0 else -11), h)
              for side in (1, -1) for x, w, h in fronts]
    parked = [(-30, -4.5), (-12, 4.6), (6, -4.6), (9, 4.5), (27, 4.4), (-47, 4.6), (21, -4.4)]
    cars = [((x, y - 0.9), (x + 4.2, y + 0.9), 1.5) for x, y in parked]
    trees = [((x, side * 8.0, 4.6 + 0.6 * math.sin(x)), 2.0 + 0.4 * math.cos(3 * x)) for side in (1, -1) for x in range(-56, 60, 9)]
    boxes = [(low, high, top) for low, high, top in houses + cars]
    sensor = (0.0, 0.0, 2.2)
    points = []
    for turn in range(900):
        azimuth = 2 * math.pi * turn / 900
        for channel in range(72):
            elevation = math.radians(-24 + 48 * channel / 71)
            d = (math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation))
            t = sensor[2] / -d[2] if d[2] < 0 else math.inf
            for low, high, top in boxes:
                near, far = 0.0, math.inf
                for k, (a, b) in enumerate([(low[0], high[0]), (low[1], high[1]), (0.0, top)]):
                    if d[k] == 0:
                        near = math.inf if not a < sensor[k] < b else near
                        continue
                    ends = sorted(((a - sensor[k]) / d[k], (b - sensor[k]) / d[k]))
                    near, far = max(near, ends[0]), min(far, ends[1])
                t = near if near < min(far, t) else t
            for center, radius in trees:
                v = [c - s for c, s in zip(center, sensor)]
                along = sum(a * b for a, b in zip(v, d))
                square = radius * radius - (sum(a * a for a in v) - along * along)
                if along > 0 and square > 0:
                    # The laser penetrates the leaves.
                    t = min(t, along - math.sqrt(square) + abs(rng.gauss(0, 0.7)))
                trunk = (v[0] * d[0] + v[1] * d[1]) / (d[0] ** 2 + d[1] ** 2)
                if trunk > 0 and abs(v[0] * d[1] - v[1] * d[0]) < 0.2 * math.hypot(d[0], d[1]) and sensor[2] + trunk * d[2] < center[2]:
                    t = min(t, trunk)
            t += rng.gauss(0, 0.015)
            if t < 75:
                place = tuple(s + t * a for s, a in zip(sensor, d))
                points.append((place, 0.035 + 0.0026 * t, color_of(place[2] / 12)))
    header = "ply\nformat binary_little_endian 1.0\nelement vertex %d\n" % len(points)
    header += "".join(f"property float {name}\n" for name in ("x", "y", "z", "radius"))
    header += "".join(f"property uchar {name}\n" for name in ("red", "green", "blue")) + "end_header\n"
    rows = b"".join(struct.pack("<4f3B", *place, radius, *color) for place, radius, color in points)
    out.write_bytes(header.encode() + rows)


def foam(out):
    """Bubbles in a dome: each new one touches the nearest of the others, or the ground, or the dome."""
    rng = random.Random(11)
    bubbles = []
    for largest, tries in [(0.30, 300), (0.16, 1500), (0.09, 5000), (0.05, 14000), (0.028, 20000)]:
        for _ in range(tries):
            place = (rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(0, 1))
            radius = min(largest, place[2], 1 - length(place))
            for other, size in bubbles:
                radius = min(radius, math.dist(place, other) - size)
                if radius < 0.5 * largest:
                    break
            else:
                if radius >= 0.5 * largest:
                    bubbles.append((place, radius))
    tints = [(244, 241, 232), (168, 208, 219), (231, 168, 140), (111, 160, 186), (240, 205, 145)]
    rows = [f"{x:.4f},{y:.4f},{z:.4f},{r:.4f}," + ",".join(map(str, rng.choice(tints))) for (x, y, z), r in bubbles]
    out.write_text("x,y,z,r,red,green,blue\n" + "\n".join(rows) + "\n")


def peptide(out, molecule):
    """The first 420 atoms of the molecule as a PDB file, with the element in columns 77 and 78."""
    symbols = {1: "H", 6: "C", 7: "N", 8: "O", 16: "S"}
    lines = ["REMARK   A made-up helix: the first atoms of molecule.csv."]
    for serial, row in enumerate(molecule.read_text().splitlines()[1:421], 1):
        x, y, z, _, element = row.split(",")
        symbol = symbols[int(element)]
        place = "".join(f"{float(axis):8.3f}" for axis in (x, y, z))
        lines.append(f"HETATM{serial:5d}  {symbol:<3s} UNK A   1    {place}  1.00  0.00          {symbol:>2s}")
    out.write_text("\n".join(lines) + "\nEND\n")


def trees(out):
    """2,000 spheres: the crowns of 400 trees, five to each, on a plain."""
    rng = random.Random(5)
    rows = []
    while len(rows) < 2000:
        x, y = rng.uniform(-60, 60), rng.uniform(-60, 60)
        if math.hypot(x, y) < 4:
            continue
        height = rng.uniform(3, 8)
        for _ in range(5):
            place = (x + rng.gauss(0, 0.5), y + rng.gauss(0, 0.5), height * rng.uniform(0.5, 1))
            rows.append("%.3f,%.3f,%.3f,%.3f" % (*place, rng.uniform(0.4, 1.1)))
    out.write_text("x,y,z,r\n" + "\n".join(rows) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "systems/samples")
    molecule(folder / "molecule.csv")
    scan(folder / "scan.ply")
    foam(folder / "foam.csv")
    peptide(folder / "peptide.pdb", folder / "molecule.csv")
    trees(folder / "trees.csv")


if __name__ == "__main__":
    main()
