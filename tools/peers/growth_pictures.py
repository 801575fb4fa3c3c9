#!/usr/bin/env python3
"""Time of a picture as a function of the number of spheres, of the pixels, and of the radius of the floor.

    growth_pictures.py measure UMBRACAST OUT.csv     draws each picture twice, and writes the shorter time
    growth_pictures.py plot IN.csv OUT.png           needs matplotlib

Scenes: spheres of radius 0.9 to 2.1 at random in a cube above a floor, a light of 0.53 degrees; the side of the cube grows with the
number of spheres, so that they fill the same share of it.
"""

import array
import csv
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FIELDS = ("series", "device", "spheres", "width", "height", "floor_radius", "seconds")


def write_spheres(path, count, side):
    random.seed(1)
    rows = array.array("f")
    for _ in range(count):
        rows.extend(side * random.random() - side / 2 for _ in range(2))
        rows.extend((side * random.random() + 2.1, 1.5 * random.uniform(0.6, 1.4)))
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, 4), }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + rows.tobytes())


def seconds(program, folder, device, count, size, floor):
    """The shorter time of two pictures, in seconds."""
    side = 80 * (count / 5000) ** (1 / 3)
    spheres = folder / f"{count}.npy"
    if not spheres.exists():
        write_spheres(spheres, count, side)
    system = folder / "s.toml"
    ground = f"[[body]]\nname = 'floor'\ncenter = [0, 0, {-floor}]\nradius = {floor}\n" if floor else ""
    system.write_text(
        f"unit = 'm'\n[light]\ndirection = [0.3, -0.4, 0.9]\n[camera]\nkind = 'perspective'\n"
        f"position = [{1.6 * side}, {-1.8 * side}, {1.1 * side}]\ntarget = [0, 0, {0.3 * side}]\nup = [0, 0, 1]\n"
        f"field_of_view_deg = 42\n[[body]]\nname = 'cloud'\nspheres = '{spheres}'\n{ground}"
        f"[picture]\nsize = [{size[0]}, {size[1]}]\nsamples = 1\n"
    )
    times = []
    for _ in range(2):
        command = [program, "render", system, "-o", folder / "p.png", "--device", device]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        times.append(float(re.search(r"([\d.]+) s; wrote", done.stderr).group(1)))
    return min(times)


def measure(program, out):
    cases = [("spheres", "cpu", n, (400, 300), 1e5) for n in (1000, 10_000, 100_000, 1_000_000)]
    cases += [("spheres", "gpu", n, (400, 300), 1e5) for n in (1000, 10_000, 100_000)]
    sizes = [(200, 150), (400, 300), (800, 600), (1600, 1200)]
    cases += [("pixels", "cpu", 5000, size, 1e5) for size in sizes]
    cases += [("pixels", "gpu", 5000, size, 1e5) for size in sizes[:3]]
    cases += [("floor", device, 5000, (800, 600), r) for device in ("cpu", "gpu") for r in (1e3, 1e4, 1e5, 5e5)]
    with tempfile.TemporaryDirectory() as name, open(out, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        for series, device, count, size, floor in cases:
            time = seconds(program, Path(name), device, count, size, floor)
            table.writerow((series, device, count, *size, int(floor), time))
            file.flush()


def plot(source, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with open(source, newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), dpi=110)
    panels = {
        "spheres": ("spheres\n(400 × 300 pixels, floor of radius 100,000)", lambda row: int(row["spheres"])),
        "pixels": ("pixels\n(5,000 spheres)", lambda row: int(row["width"]) * int(row["height"])),
        "floor": ("radius of the floor\n(5,000 spheres, 800 × 600 pixels)", lambda row: float(row["floor_radius"])),
    }
    names = {"cpu": "CPU engine", "gpu": "GPU engine, llvmpipe"}
    for panel, (series, (label, position)) in zip(axes, panels.items(), strict=True):
        for device, mark in (("cpu", "o-"), ("gpu", "s-")):
            own = [row for row in rows if row["series"] == series and row["device"] == device]
            points = sorted((position(row), float(row["seconds"])) for row in own)
            panel.plot(*zip(*points, strict=True), mark, label=names[device])
            for x, y in points:
                panel.annotate(f"{y:.2g}", (x, y), textcoords="offset points", xytext=(0, 7), ha="center", fontsize=8)
        panel.set(xscale="log", yscale="log", xlabel=label, ylabel="time of the picture, s", ylim=(0.01, 20))
        # The labels of the first and the last point keep clear of the axes.
        panel.margins(x=0.12)
        panel.grid(True, alpha=0.3)
        panel.legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    figure.savefig(out)


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "measure":
        measure(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 4 and sys.argv[1] == "plot":
        plot(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
