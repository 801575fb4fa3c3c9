#!/usr/bin/env python3
"""A table of ratios from what `umbracast bench scenes --json` and embree_spheres printed.

    ratios.py UMBRACAST.jsonl EMBREE.jsonl

Rates are millions of rays a second of CPU time, times the threads, where umbracast ran on the CPU engine: what both reach
on free cores. For a GPU they are of the wall clock. Exits with 1 when hits differ by more than grazing rays explain.
"""

import collections
import json
import math
import sys


def rows(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def may_differ(rays):
    """Embree's solve is plain f32: a ray in ten thousand may graze, and a handful in a small batch."""
    return 2 + rays // 10_000


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: ratios.py UMBRACAST.jsonl EMBREE.jsonl")
    ours, theirs = rows(sys.argv[1]), rows(sys.argv[2])
    builds, traces = {}, collections.defaultdict(dict)
    for row in theirs:
        if row["record"] == "build":
            builds[row["scene"]] = row
        else:
            traces[row["rays"], row["query"]][row["variant"]] = row
    if not ours or not builds:
        sys.exit("ratios.py: one of the runs printed nothing")

    first, embree = ours[0], next(iter(builds.values()))
    free = all(batch["mrays_per_second_free"] for run in ours for scene in run["scenes"] for batch in scene["batches"])
    rate = "mrays_per_second_free" if free else "mrays_per_second"
    print(f"umbracast {first['version']} on {first['device']} ({first['kind']}, {first['threads']} threads), {first['precision']};", end=" ")
    print(f"Embree {embree['embree']} robust, {embree['threads']} threads; medians of {first['repeat']};", end=" ")
    print("Mrays/s of CPU time x threads" if free else "Mrays/s of wall time")
    print("\n| rays | query | count | hits | Embree's hits | umbracast | Embree single | best | | / single | / best |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    ratios, wrong = collections.defaultdict(list), []
    for batch in (batch for run in ours for scene in run["scenes"] for batch in scene["batches"]):
        found = traces.get((batch["rays"], batch["query"]))
        if not found:
            sys.exit(f"ratios.py: Embree did not run {batch['rays']} {batch['query']}")
        single, best = found["single"], max(found.values(), key=lambda row: row[rate])
        to_single, to_best = batch[rate] / single[rate], batch[rate] / best[rate]
        ratios[batch["query"]].append((to_single, to_best))
        for row in found.values():
            if abs(row["hits"] - batch["hits"]) > may_differ(batch["ray_count"]):
                wrong.append(f"{batch['rays']} {batch['query']}: {batch['hits']} hits, Embree's {row['variant']} {row['hits']}")
        print(
            f"| {batch['rays']} | {batch['query']} | {batch['ray_count']} | {batch['hits']} | {single['hits']} |"
            f" {batch[rate]:.3f} | {single[rate]:.3f} | {best[rate]:.3f} | {best['variant']} | {to_single:.3f} | {to_best:.3f} |"
        )

    print("\n| ratio of rates, geometric mean | / single | / best |\n|---|---|---|")
    ratios["all"] = [pair for pairs in ratios.values() for pair in pairs]
    for query, pairs in ratios.items():
        means = [math.exp(sum(map(math.log, column)) / len(column)) for column in zip(*pairs)]
        print(f"| {query} | {means[0]:.3f} | {means[1]:.3f} |")

    print("\n| scene | spheres | build, CPU ms | Embree | MB | Embree |\n|---|---|---|---|---|---|")
    for scene in (scene for run in ours for scene in run["scenes"]):
        other = builds[scene["scene"]]
        times = f"{1e3 * scene['build_cpu_seconds']:.2f} | {1e3 * other['build_cpu_seconds']:.2f}"
        print(f"| {scene['scene']} | {scene['spheres']} | {times} | {scene['bytes'] / 1e6:.2f} | {other['bytes'] / 1e6:.2f} |")

    if wrong:
        sys.exit("\nhits differ by more than grazing rays explain:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
