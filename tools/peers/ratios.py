#!/usr/bin/env python3
"""Prints tables of speed ratios and of differing results, from a folder of compare.sh.

    ratios.py FOLDER

For the CPU engine, rates are millions of rays per second of CPU time, times the number of threads: the rates on otherwise idle cores.
For a GPU they are per second of elapsed time. With several runs, medians are used. Exits with 1 if more results differ than grazing rays
explain.
"""

import collections
import json
import math
import pathlib
import statistics
import sys

import numpy as np

# Embree intersects in plain f32. If both hit the same sphere, the allowed error of its t, relative to the distance travelled,
CLOSE = 1e-3
# plus this, relative to the distance of the origin from (0, 0, 0): its digits cancel if the ray starts near the sphere that it hits.
CANCELLED = 1e-5


def rows(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def may_differ(rays):
    """The number of rays that may differ: one in ten thousand may graze, and two more."""
    return 2 + rays // 10_000


def differences(folder, rays, query):
    """The numbers of rays that differ in hit or miss, only in the sphere, and only in t; and the largest relative difference of t."""
    answers = folder / "answers"
    ours = np.load(answers / f"{rays}-{query}.npz")
    if query == "occluded":
        theirs = np.fromfile(answers / f"{rays}-occluded.u8", "u1") != 0
        return int((ours["occluded"].astype(bool) != theirs).sum()), 0, 0, 0.0
    t, ids = np.fromfile(answers / f"{rays}-closest.f32", "<f4"), np.fromfile(answers / f"{rays}-closest.u32", "<u4")
    hit, their_hit = np.isfinite(ours["t"]), np.isfinite(t)
    both = hit & their_hit
    other = both & (ours["id"] != ids)
    same = both & ~other
    with np.errstate(invalid="ignore", divide="ignore"):
        mine = ours["t"][same].astype("f8")
        off = np.abs(mine - t[same])
    records = np.fromfile(folder / "data" / f"{rays}.rays", "<f4").reshape(-1, 8)[same].astype("f8")
    # Directions have unit length.
    wrong = off > CLOSE * mine + CANCELLED * np.linalg.norm(records[:, :3], axis=1)
    largest = float((off / np.maximum(mine, 1e-30)).max(initial=0.0))
    return int((hit != their_hit).sum()), int(other.sum()), int(wrong.sum()), largest


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: ratios.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    ours, theirs = rows(folder / "umbracast.jsonl"), rows(folder / "embree.jsonl")
    busy = [float(line) for line in (folder / "busy").read_text().split()]
    builds, traces = collections.defaultdict(list), collections.defaultdict(lambda: collections.defaultdict(list))
    for row in theirs:
        if row["record"] == "build":
            builds[row["scene"]].append(row)
        else:
            traces[row["rays"], row["query"]][row["variant"]].append(row)
    if not ours or not builds:
        sys.exit("ratios.py: one of the runs printed nothing")

    batches, scenes = collections.defaultdict(list), collections.defaultdict(list)
    for scene in (scene for run in ours for scene in run["scenes"]):
        scenes[scene["scene"]].append(scene)
        for batch in scene["batches"]:
            batches[batch["rays"], batch["query"]].append(batch)
    first, embree = ours[0], theirs[0]
    free = all(batch["mrays_per_second_free"] for found in batches.values() for batch in found)
    rate = "mrays_per_second_free" if free else "mrays_per_second"

    def median(found, key=rate):
        return statistics.median(row[key] for row in found)

    threads = first["threads"]
    print(f"umbracast {first['version']} on {first['device']} ({first['kind']}, {threads} threads), {first['precision']};", end=" ")
    runs = len(next(iter(batches.values())))
    print(f"Embree {embree['embree']} robust, {embree['threads']} threads;", end=" ")
    print(f"medians of {runs} runs, each the median of {first['repeat']};", end=" ")
    print("Mrays/s of CPU time x threads." if free else "Mrays/s of wall time.", end=" ")
    print(f"Before the runs others used {statistics.median(busy):.1f} % of the cores (at most {max(busy):.1f} %).")
    print("\nDiffer: rays that hit according to only one program; that hit different spheres; whose t differs by more than a thousandth")
    print("of t plus a hundred-thousandth of the origin's coordinates. Largest: the largest difference of t relative to t, for rays")
    print("that hit the same sphere.")
    print("\n| rays | query | count | hits | differ: hit | sphere | t | largest | umbracast | Embree single | best | | / single | / best |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    ratios, wrong = collections.defaultdict(list), []
    for (rays, query), found in batches.items():
        variants = traces.get((rays, query))
        if not variants:
            sys.exit(f"ratios.py: Embree did not run {rays} {query}")
        rates = {name: median(runs) for name, runs in variants.items()}
        best = max(rates, key=rates.get)
        mine, single = median(found), rates["single"]
        ratios[query].append((mine / single, mine / rates[best]))
        count, hits = found[0]["ray_count"], found[0]["rays_hit"]
        hit, sphere, t, largest = differences(folder, rays, query)
        if hit + sphere + t > may_differ(count):
            wrong.append(f"{rays} {query}: {hit} + {sphere} + {t} of {count} rays differ")
        for name, runs in variants.items():
            if runs[0]["differ"] > may_differ(count):
                wrong.append(f"{rays} {query}: Embree's {name} and single rays differ for {runs[0]['differ']} of {count} rays")
        print(
            f"| {rays} | {query} | {count} | {hits} | {hit} | {sphere} | {t} | {largest:.1e} |"
            f" {mine:.3f} | {single:.3f} | {rates[best]:.3f} | {best} | {mine / single:.3f} | {mine / rates[best]:.3f} |"
        )

    print("\n| ratio of rates, geometric mean | / single | / best |\n|---|---|---|")
    ratios["all"] = [pair for pairs in ratios.values() for pair in pairs]
    for query, pairs in ratios.items():
        means = [math.exp(sum(map(math.log, column)) / len(column)) for column in zip(*pairs)]
        print(f"| {query} | {means[0]:.3f} | {means[1]:.3f} |")

    print("\n| scene | spheres | build, CPU ms | Embree | MB | Embree |\n|---|---|---|---|---|---|")
    for name, found in scenes.items():
        other = builds[name]
        times = f"{1e3 * median(found, 'build_cpu_seconds'):.2f} | {1e3 * median(other, 'build_cpu_seconds'):.2f}"
        print(f"| {name} | {found[0]['spheres']} | {times} | {found[0]['bytes'] / 1e6:.2f} | {other[0]['bytes'] / 1e6:.2f} |")

    if wrong:
        sys.exit("\nanswers differ by more than grazing rays explain:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
