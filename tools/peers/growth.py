#!/usr/bin/env python3
"""Time per ray as a function of the number of spheres: figures and a plot, from the output of `umbracast bench scenes --json`.

    growth.py OUT < LINES

Writes OUT.json and OUT.png. LINES has one table per line with one scene each, as in output/bench/README.md. Needs matplotlib.
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: growth.py OUT < LINES")
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
    with open(sys.argv[1] + ".json", "w") as out:
        out.write(json.dumps({**about, "rows": rows}, indent=1) + "\n")

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
    figure.savefig(sys.argv[1] + ".png")


if __name__ == "__main__":
    main()
