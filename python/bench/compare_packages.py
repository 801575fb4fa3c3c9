#!/usr/bin/env python3
"""Compares umbracast with other Python packages: throughput, memory and error of t, all in one run.

    compare_packages.py [--scene NAME] [--spheres N,N,...] [--rays M] [--rounds N] [--repeat N] [--device NAME] [--memory GIB] [--json FILE]

    --scene NAME        volume or cloud, see below [default: volume]
    --spheres N,N,...   sizes of the scene [default: 100,10000,100000]
    --rays M            random rays per batch [default: 1000000]
    --rounds N          processes per method, with the methods in turn; one process at 100,000 spheres and more [default: 2]
    --repeat N          timed casts per process, after one that is not timed [default: 3]
    --device NAME       device of umbracast [default: cpu]
    --memory GIB        memory limit per process; the table shows the error of a process that exceeds it [default: 12]
    --only TEXT,...     run only methods whose names contain one of the texts
    --json FILE         also write the figures as JSON

In a volume, spheres lie in a cube of side 2 and fill a twentieth of it; radii differ by a factor of at most 2. Rays start on a sphere of
radius 3 around the cube and aim at points in the cube, so that none starts inside a sphere. A cloud is that of docs/recipes/picking.md:
points of a rolling surface of 100 by 100, with one radius that shrinks with the distance of neighbours, and the rays of a square picture,
row by row. Directions have length 1 to within float32. All inputs are float32.

The timed part is a whole call from arrays in memory to arrays in memory, in the layout that the package takes (`peers.py`): Mrays/s of wall
time, and of CPU time over all threads of the process. Memory is the peak of a new process while it builds and casts, minus its memory after
imports and with spheres and rays. All figures are medians over processes and casts.

The exact t is the root of the quadratic of the closest sphere, in long double from the float32 inputs. The closest sphere comes from
umbracast with precision `exact`; a part of the rays is also tested against every sphere in float64 and long double, and both must agree.
Errors are |t - t_exact| / t_exact over rays for which both find the same sphere.

Requires Linux, Python 3.10 or newer, the wheel of umbracast, and: pip install -r python/bench/requirements.txt
"""

import argparse
import ctypes
import json
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import peers

CHECKED_PAIRS = 50_000_000
"""Number of ray–sphere pairs that are tested by brute force."""


def volume(spheres, rays):
    """Return random spheres, (N, 4), and rays, (M, 6), in float64."""
    random = np.random.default_rng(20261122)
    middle = (0.05 * 8 * 3 / (4 * np.pi * spheres)) ** (1 / 3)
    balls = np.c_[random.uniform(-1, 1, (spheres, 3)), middle * random.uniform(2 / 3, 4 / 3, spheres)]
    start = random.normal(size=(rays, 3))
    start *= 3 / np.linalg.norm(start, axis=-1, keepdims=True)
    return balls, start, random.uniform(-1, 1, (rays, 3)) - start


def cloud(spheres, rays):
    """Return the points of a rolling surface as spheres, and the rays of a picture of it; M is rounded down to a square number."""
    random = np.random.default_rng(4)
    x, y = random.uniform(-50, 50, (2, spheres))
    balls = np.c_[x, y, 2 * np.sin(x / 5) * np.cos(y / 7), np.full(spheres, 80 / np.sqrt(spheres))]
    eye, side = np.array([0.0, -70.0, 35.0]), int(np.sqrt(rays))
    ahead = -eye / np.linalg.norm(eye)
    right = np.array([1.0, 0.0, 0.0])
    up = np.cross(right, ahead)
    across = np.tan(np.radians(22.5)) * (2 * (np.arange(side) + 0.5) / side - 1)
    way = ahead + across[None, :, None] * right - across[:, None, None] * up
    return balls, np.tile(eye, (side * side, 1)), way.reshape(-1, 3)


SCENES = {"volume": volume, "cloud": cloud}


def scene(name, spheres, rays):
    """Return spheres, (N, 4), and rays, (M, 6), in float32; the same on every machine."""
    balls, start, way = SCENES[name](spheres, rays)
    return np.float32(balls), np.float32(np.c_[start, way / np.linalg.norm(way, axis=-1, keepdims=True)])


def roots(spheres, rays):
    """Return the first root of ray i with sphere i in long double, inf on a miss.

    Uses the foot of the perpendicular, which is accurate enough here.
    """
    spheres, rays = spheres.astype(np.longdouble), rays.astype(np.longdouble)
    to, d = spheres[:, :3] - rays[:, :3], rays[:, 3:]
    a = (d * d).sum(-1)
    middle = (to * d).sum(-1) / a
    across = to - middle[:, None] * d
    rest = spheres[:, 3] ** 2 - (across * across).sum(-1)
    with np.errstate(invalid="ignore"):
        return np.where(rest >= 0, middle - np.sqrt(rest / a), np.longdouble(np.inf))


def brute_force(spheres, rays):
    """Return t and id by brute force: float64 selects candidate pairs with a wide margin, long double computes their roots."""
    s, t, id = np.float64(spheres), np.full(len(rays), np.inf), np.full(len(rays), -1, np.int32)
    step = max(1, (1 << 22) // len(spheres))
    for first in range(0, len(rays), step):
        r = np.float64(rays[first : first + step])
        to = s[None, :, :3] - r[:, None, :3]
        along = np.einsum("rnk,rk->rn", to, r[:, 3:])
        rest = s[:, 3] ** 2 * np.einsum("rk,rk->r", r[:, 3:], r[:, 3:])[:, None]
        rest -= (np.cross(to, r[:, None, 3:]) ** 2).sum(-1)
        ray, sphere = np.nonzero((rest > -1e-10) & (along > 0))
        found = roots(spheres[sphere], rays[first + ray])
        for i in np.lexsort((sphere, found))[::-1]:
            if np.isfinite(found[i]):
                t[first + ray[i]], id[first + ray[i]] = found[i], sphere[i]
    return t, id


def exact_results(name, spheres, rays, folder):
    """Return the exact t and id of every ray, and the number of rays that were also tested by brute force."""
    found = run("umbracast, exact", name, len(spheres), len(rays), 1, "cpu", 0, folder)
    id = found["id"]
    hit, t = id >= 0, np.full(len(rays), np.inf)
    t[hit] = roots(spheres[id[hit]], rays[hit])
    count = min(len(rays), CHECKED_PAIRS // len(spheres))
    want, brute_id = brute_force(spheres, rays[:count])
    differing = (brute_id != id[:count]).sum()
    assert differing == 0, f"{differing} of {count} rays differ from brute force"
    assert (want == t[:count]).all()
    return t, id, count


def process(name, place, spheres, rays, repeat, device, memory, folder):
    """Measure one method. Runs in its own process, prints the figures and saves the results as arrays."""
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory << 30, memory << 30))
    method, limit = next((method, limit) for one, method, limit in peers.methods(device) if one == name)
    balls, lines = scene(place, spheres, rays)
    lines = lines[: limit(rays, spheres)]
    given = method.prepare(balls, lines)
    # Warm up with a few rays that hit, so that everything is imported; trimesh fails if all rays miss.
    aimed = np.c_[lines[:9, :3], balls[0, :3] - lines[:9, :3]]
    little = method.prepare(balls[:1], aimed)
    method.cast(method.build(little), little)
    del little
    # Return freed memory to the system: reused memory would not show in the peak.
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before, clocks = status("VmRSS"), (time.perf_counter(), time.process_time())
    kept = method.build(given)
    figures = {"build_s": time.perf_counter() - clocks[0], "build_cpu_s": time.process_time() - clocks[1]}
    figures["held_mib"] = status("VmRSS") - before
    t, id = method.cast(kept, given)
    for column, array in (("t", t), ("id", id)):
        if array is not None:
            np.save(pathlib.Path(folder, column), array)
    del t, id
    figures |= {"rays": len(lines), "cast_s": [], "cast_cpu_s": []}
    for _ in range(repeat):
        clocks = time.perf_counter(), time.process_time()
        method.cast(kept, given)
        figures["cast_s"].append(time.perf_counter() - clocks[0])
        figures["cast_cpu_s"].append(time.process_time() - clocks[1])
    print(json.dumps(figures | {"peak_mib": status("VmHWM") - before}))


def status(name):
    """Return a memory figure of /proc/self/status in MiB."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def run(name, place, spheres, rays, repeat, device, memory, folder):
    """Run one process. Returns its figures and results, or the last line of its error."""
    for old in pathlib.Path(folder).glob("*.npy"):
        old.unlink()
    words = (name, place, spheres, rays, repeat, device, memory, folder)
    done = subprocess.run(
        [sys.executable, __file__, "--process", *map(str, words)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"signal {-done.returncode}"])[-1]}
    arrays = {path.stem: np.load(path) for path in pathlib.Path(folder).glob("*.npy")}
    return json.loads(done.stdout.splitlines()[-1]) | arrays


def compare(found, t_exact, id_exact):
    """Compare results with the exact ones."""
    id, count = found["id"], found["rays"]
    t_exact, id_exact = t_exact[:count], id_exact[:count]
    figures = {
        "hits": int((id >= 0).sum()),
        "lost": int(((id < 0) & (id_exact >= 0)).sum()),
        "invented": int(((id >= 0) & (id_exact < 0)).sum()),
        "other_sphere": int(((id >= 0) & (id_exact >= 0) & (id != id_exact)).sum()),
    }
    if "t" in found:
        same = (id == id_exact) & (id >= 0)
        error = np.abs(np.float64(found["t"])[same] / t_exact[same] - 1)
        figures |= {"error_median": float(np.median(error)), "error_worst": float(error.max())}
    return figures


def medians(runs):
    """Return the medians over processes."""
    casts = {key: statistics.median(value for one in runs for value in one[key]) for key in ("cast_s", "cast_cpu_s")}
    rest = ("build_s", "build_cpu_s", "held_mib", "peak_mib")
    return {"rays": runs[0]["rays"]} | casts | {key: statistics.median(one[key] for one in runs) for key in rest}


def row(spheres, name, figures):
    """Format a row of the table."""
    if "failed" in figures:
        return f"| {spheres:,} | {name} | {figures['failed']} |"
    rate = figures["rays"] / figures["cast_s"] / 1e6
    per_cpu = figures["rays"] / figures["cast_cpu_s"] / 1e6
    shown = [f"{x:.3g}" if x < 100 else f"{x:.0f}" for x in (rate, per_cpu)]
    error = [f"{figures[key]:.1e}" if key in figures else "no t" for key in ("error_median", "error_worst")]
    wrong = figures["lost"] + figures["invented"]
    cells = [f"{spheres:,}", name, *shown, f"{figures['build_cpu_s']:.2g} s", f"{figures['peak_mib']:,.0f}", *error]
    share = f"{wrong:,}" if figures["rays"] == figures["asked"] else f"{wrong:,} of {figures['rays']:,}"
    return f"| {' | '.join(cells)} | {share} |"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--scene", choices=SCENES, default="volume")
    parser.add_argument("--spheres", default="100,10000,100000")
    parser.add_argument("--rays", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--memory", type=int, default=12)
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    args = parser.parse_args()
    about = {"scene": args.scene, "python": platform.python_version(), "machine": platform.machine()} | peers.versions()
    print(json.dumps(about), file=sys.stderr)
    print(
        "| spheres | method | Mrays/s | Mrays per CPU second | build, CPU | MiB | error of t, median | worst | hits that differ |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count in map(int, args.spheres.split(",")):
            t, id, checked = exact_results(args.scene, *scene(args.scene, count, args.rays), folder)
            about.setdefault("tried", {})[count] = checked
            methods = [
                (name, limit)
                for name, _, limit in peers.methods(args.device)
                if limit(args.rays, count) and any(text in name for text in args.only.split(","))
            ]
            found = {name: [] for name, _ in methods}
            answers = {}
            for _ in range(args.rounds if count < 100_000 else 1):
                for name, _ in methods:
                    one = run(name, args.scene, count, args.rays, args.repeat, args.device, args.memory, folder)
                    answers[name] = {"failed": one["failed"]} if "failed" in one else compare(one, t, id)
                    found[name].append(one)
            for name, runs in found.items():
                figures = {"spheres": count, "way": name, "asked": args.rays} | answers[name]
                if "failed" not in figures:
                    figures |= medians(runs)
                rows.append(figures)
                print(row(count, name, figures), flush=True)
            if args.json:
                text = ",\n".join(json.dumps(one) for one in rows)
                pathlib.Path(args.json).write_text(f'{{"about": {json.dumps(about)}, "rows": [\n{text}\n]}}\n')


if __name__ == "__main__":
    if sys.argv[1:2] == ["--process"]:
        one, kind, balls, lines, times, where, gib, place = sys.argv[2:]
        process(one, kind, int(balls), int(lines), int(times), where, int(gib), place)
    else:
        main()
