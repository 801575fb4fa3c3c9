#!/usr/bin/env python3
"""Time per ray as a function of the number of spheres: figures and a plot, from the output of `umbracast bench scenes --json`.

    growth.py numbers < LINES > OUT.json     LINES has one table per line with one scene each, as in output/bench/README.md
    growth.py plot IN.json OUT.png           needs matplotlib
"""

import json
import sys


def numbers():
    tables = [json.loads(line) for line in sys.stdin]
    rows = [
        {
            "spheres": scene["spheres"],
            "build_cpu_seconds": round(scene["build_cpu_seconds"], 4),
            "bytes": scene["bytes"],
            "kind": batch["rays"].rsplit("-", 1)[-1],
            "query": batch["query"],
            "hits": batch["rays_hit"],
            "rays": batch["ray_count"],
            "ns_per_ray": round(1e3 * table["threads"] / batch["mrays_per_second_free"], 1),
        }
        for table in tables
        for scene in table["scenes"]
        for batch in scene["batches"]
    ]
    about = {key: tables[0][key] for key in ("version", "device", "threads", "precision", "repeat")}
    print(json.dumps({**about, "rows": rows}, indent=1))


def plot(numbers, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with open(numbers) as file:
        rows = json.load(file)["rows"]
    figure, axes = plt.subplots(figsize=(7, 4.5), dpi=120)
    for kind, query in sorted({(row["kind"], row["query"]) for row in rows}):
        points = sorted((row["spheres"], row["ns_per_ray"]) for row in rows if (row["kind"], row["query"]) == (kind, query))
        axes.plot(*zip(*points), "o-" if query == "closest" else "s--", label=f"{query}, {kind} rays")
        for x, y in points:
            axes.annotate(f"{y:.0f}", (x, y), textcoords="offset points", xytext=(0, 7), ha="center", fontsize=8)
    axes.set(xscale="log", yscale="log", xlabel="spheres", ylabel="CPU time a ray on one core, ns")
    axes.set_title("Rays through spheres that fill half a cube")
    axes.margins(0.08)
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(picture)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["numbers"]:
            numbers()
        case ["plot", source, picture]:
            plot(source, picture)
        case _:
            sys.exit(__doc__)
