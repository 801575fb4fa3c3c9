#!/usr/bin/env python3
"""Overhead of Python: CPU time of `Scene.closest` compared with the same call from Rust, on the same rays and the CPU engine, in turn.

    overhead.py [--umbracast PATH] [--spheres N] [--rays M] [--rounds N] [--repeat N]

    --umbracast PATH   the command line, built from the same sources [default: target/release/umbracast]
    --spheres N        spheres in a cube of side 20 [default: 1000]
    --rays M           random rays through the cube, contiguous float32 with eight columns [default: 10000000]
    --rounds N         processes of each kind, in turn [default: 5]
    --repeat N         timed casts per process, after one that is not timed [default: 3]

Both write into existing memory: Python with `out=`, Rust (`umbracast bench scenes`) with `closest_into`. CPU time is that of all threads
of a process, the median of its casts; the result is the median ratio over the rounds. Memory is the growth of the peak of a process
during its casts. Requires Linux and the wheel of umbracast.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import compare_packages
import numpy as np


def process(spheres, rays, repeat):
    """Measure the Python call. Runs in its own process and prints the figures."""
    import umbracast

    scene, rays = umbracast.Scene(np.load(spheres), device="cpu"), np.load(rays)
    out = umbracast.Hits(np.ones(len(rays), np.float32), np.ones(len(rays), np.uint32))
    scene.closest(rays[:1000], out=umbracast.Hits(out.t[:1000], out.id[:1000]))
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before, times = compare_packages.status("VmHWM"), []
    for _ in range(1 + repeat):
        begin = time.process_time()
        scene.closest(rays, out=out)
        times.append(time.process_time() - begin)
    mib = compare_packages.status("VmHWM") - before
    print(json.dumps({"cpu_seconds": statistics.median(times[1:]), "hits": int(out.hit.sum()), "mib": mib}))


def write_files(folder, spheres, rays):
    """Write random spheres and rays, and yield the paths of the two files."""
    random = np.random.default_rng(20261122)
    balls = np.c_[random.uniform(-10, 10, (spheres, 3)), random.uniform(0.1, 1, spheres)]
    lines = np.zeros((rays, 8), np.float32)
    lines[:, :3] = random.uniform(-20, 20, (rays, 3))
    lines[:, 3:6] = random.uniform(-10, 10, (rays, 3)) - lines[:, :3]
    lines[:, 7] = np.inf
    for name, array in (("spheres", np.float32(balls)), ("rays", lines)):
        np.save(pathlib.Path(folder, name), array)
        yield str(pathlib.Path(folder, f"{name}.npy"))


def run_json(words):
    """Run a program and parse its output as JSON."""
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--umbracast", default="target/release/umbracast")
    parser.add_argument("--spheres", type=int, default=1000)
    parser.add_argument("--rays", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        files = list(write_files(folder, args.spheres, args.rays))
        bench = [args.umbracast, "bench", "scenes", *files, "--device", "cpu", "--queries", "closest", "--json"]
        for _ in range(args.rounds):
            figures = run_json([sys.executable, __file__, "--process", *files, str(args.repeat)])
            (other,) = run_json([*bench, "--repeat", str(args.repeat)])["scenes"][0]["batches"]
            if figures["hits"] != other["hits"]:
                sys.exit(f"{figures['hits']} hits from Python, {other['hits']} from Rust")
            here, there = figures["cpu_seconds"], other["cpu_seconds"]
            ratios.append(here / there)
            print(f"{figures['hits']} hits: {here:.3f} CPU s from Python (+{figures['mib']:.1f} MiB), {there:.3f} from Rust")
    print(f"median {statistics.median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--process"]:
        balls, lines, times = sys.argv[2:]
        process(balls, lines, int(times))
    else:
        main()
