#!/usr/bin/env python3
"""What Python adds: `Scene.closest` beside the same call from Rust, on the same rays, the CPU engine's, in turn.

    overhead.py [--umbracast PATH] [--spheres N] [--rays M] [--rounds N] [--repeat N]

    --umbracast PATH   the command line, built from the same sources [default: target/release/umbracast]
    --spheres N        in a cube of side 20 [default: 1000]
    --rays M           random rays through it, contiguous float32 of eight columns [default: 10000000]
    --rounds N         processes of each, in turn [default: 5]
    --repeat N         casts in each after one that does not count [default: 3]

Both write into memory that is there (`out=` here, `closest_into` there, by `umbracast bench scenes`). CPU time is the process's over all
threads, the median of a process's casts; told is the median of the rounds' ratios. Memory is what the peak of a process grows by in its
casts. Linux, the wheel of umbracast.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import beside
import numpy as np


def process(spheres, rays, repeat):
    """What runs in a process of its own, and prints its figures."""
    import umbracast

    scene, rays = umbracast.Scene(np.load(spheres), device="cpu"), np.load(rays)
    out = umbracast.Hits(np.ones(len(rays), np.float32), np.ones(len(rays), np.uint32))
    scene.closest(rays[:1000], out=umbracast.Hits(out.t[:1000], out.id[:1000]))
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before, times = beside.status("VmHWM"), []
    for _ in range(1 + repeat):
        begin = time.process_time()
        scene.closest(rays, out=out)
        times.append(time.process_time() - begin)
    mib = beside.status("VmHWM") - before
    print(json.dumps({"cpu_seconds": statistics.median(times[1:]), "hits": int(out.hit.sum()), "mib": mib}))


def made(folder, spheres, rays):
    """Files of both."""
    random = np.random.default_rng(20261122)
    balls = np.c_[random.uniform(-10, 10, (spheres, 3)), random.uniform(0.1, 1, spheres)]
    lines = np.zeros((rays, 8), np.float32)
    lines[:, :3] = random.uniform(-20, 20, (rays, 3))
    lines[:, 3:6] = random.uniform(-10, 10, (rays, 3)) - lines[:, :3]
    lines[:, 7] = np.inf
    for name, array in (("spheres", np.float32(balls)), ("rays", lines)):
        np.save(pathlib.Path(folder, name), array)
        yield str(pathlib.Path(folder, f"{name}.npy"))


def said(words):
    """What a program prints, as JSON."""
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--umbracast", default="target/release/umbracast")
    parser.add_argument("--spheres", type=int, default=1000)
    parser.add_argument("--rays", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        files = list(made(folder, asked.spheres, asked.rays))
        bench = [asked.umbracast, "bench", "scenes", *files, "--device", "cpu", "--queries", "closest", "--json"]
        for _ in range(asked.rounds):
            told = said([sys.executable, __file__, "--process", *files, str(asked.repeat)])
            (other,) = said([*bench, "--repeat", str(asked.repeat)])["scenes"][0]["batches"]
            if told["hits"] != other["hits"]:
                sys.exit(f"{told['hits']} hits from Python, {other['hits']} from Rust")
            here, there = told["cpu_seconds"], other["cpu_seconds"]
            ratios.append(here / there)
            print(f"{told['hits']} hits: {here:.3f} CPU s from Python (+{told['mib']:.1f} MiB), {there:.3f} from Rust")
    print(f"median {statistics.median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--process"]:
        balls, lines, times = sys.argv[2:]
        process(balls, lines, int(times))
    else:
        main()
