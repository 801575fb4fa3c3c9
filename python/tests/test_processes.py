"""Processes, threads, signals and memory."""

import copy
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import umbracast
from conftest import beams, cloud

HERE = Path(__file__).parent
START = "import os, sys, time, resource, json\nimport numpy as np, umbracast\nfrom conftest import beams, cloud\n"


def run(script, **options):
    """Run a script in the folder of the tests, and return the last line that it prints, parsed as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", START + script], cwd=HERE, capture_output=True, text=True, timeout=1800, **options
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


class Balls(umbracast.Scene):
    pass


class Pair(umbracast.System):
    pass


def test_pickles_keep_classes_and_what_rounding_changed():
    scene = Balls([[0.1, 0.2, 5, 1]], device="cpu")
    for other in (pickle.loads(pickle.dumps(scene)), copy.copy(scene)):
        assert type(other) is Balls and scene.rounded == other.rounded == 2
        assert scene.largest_rounding == other.largest_rounding > 0
    system = Pair({"unit": "m", "light": {"center": [0, 0, 9], "radius": 1}})
    assert type(pickle.loads(pickle.dumps(system))) is type(copy.copy(system)) is Pair


def test_scenes_are_pickled(spheres, rays):
    velocities = np.broadcast_to(np.float32([0, 1, 0]), (300, 3))
    masks = np.arange(300, dtype=np.uint32) % 3 + 1
    device = umbracast.Device("cpu", memory=1 << 32)
    scene = umbracast.Scene(
        spheres.astype(float) + [1e6, 0, 0, 0],
        device=device,
        masks=masks,
        velocities=velocities,
        time_range=(1, 2),
        origin=(1e6, 0, 0),
    )
    there = pickle.loads(pickle.dumps(scene))
    assert there.origin == scene.origin and there.device.estimate_bytes(1, 1) == device.estimate_bytes(1, 1)
    moved = rays.astype(float) + [1e6, 0, 0, 0, 0, 0, 0, 0]
    for a, b in zip(there.closest(moved, times=1.5, masks=2), scene.closest(moved, times=1.5, masks=2), strict=True):
        np.testing.assert_array_equal(a, b)
    hits = scene.closest(moved, times=1)
    back = pickle.loads(pickle.dumps(hits))
    np.testing.assert_array_equal(back.t, hits.t)
    assert back.report == hits.report and isinstance(back, umbracast.Hits)
    with pytest.raises(umbracast.RecordError, match="outside the time range"):
        there.closest(moved, times=3)
    error = pickle.loads(pickle.dumps(umbracast.RecordError("ray 1: x", "ray", 1, "x", "0")))
    assert (str(error), error.index) == ("ray 1: x", 1)


def cast(job):
    scene, rays = job
    return scene.closest(rays)


def test_scenes_go_to_spawned_processes(scene, rays):
    expected = scene.closest(rays)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        parts = pool.map(cast, [(scene, part) for part in np.array_split(rays, 4)])
    np.testing.assert_array_equal(np.concatenate([part.t for part in parts]), expected.t)
    np.testing.assert_array_equal(np.concatenate([part.id for part in parts]), expected.id)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_use_after_a_fork_is_an_error():
    script = """
scene = umbracast.Scene(cloud(300), device="cpu")
rays = beams(100000)
scene.closest(rays)
said = []
new_scene = lambda: umbracast.Scene(cloud(3), device="cpu")
for ask in (lambda: scene.closest(rays), lambda: scene.closest(rays[0]), new_scene, umbracast.devices):
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            ask()
            os.write(write, b"nothing")
        except umbracast.ForkError as error:
            os.write(write, str(error).encode())
        del scene
        os._exit(0)
    os.close(write)
    said.append(os.read(read, 1000).decode())
    os.wait()
print(json.dumps(said))
"""
    said = run(script)
    assert len(said) == 4 and all("spawn" in words for words in said), said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_before_any_work_may_work():
    script = """
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, str(umbracast.Scene([[5, 0, 0, 1]], device="cpu").closest(np.tile([0, 0, 0, 1, 0, 0], (9999, 1))).t[-1]).encode())
    os._exit(0)
print(os.read(read, 100).decode())
"""
    assert run(script) == 4


def test_a_device_that_is_named_is_opened_once(monkeypatch):
    opened, start = [], umbracast.Device.__init__

    def counted(self, choice=None, **arguments):
        opened.append((choice, arguments))
        time.sleep(0.05)
        start(self, choice, **arguments)

    monkeypatch.setattr(umbracast.Device, "__init__", counted)
    monkeypatch.setattr(umbracast._devices, "_shared", {})
    ball = {"name": "ball", "center": [0, 0, 0], "radius": 1}
    camera = {"kind": "perspective", "position": [9, 0, 0], "target": [0, 0, 0], "up": [0, 0, 1], "field_of_view_deg": 40}
    system = {"unit": "m", "light": {"center": [0, 0, 100], "radius": 10}, "body": [ball], "camera": camera}
    for named in ({}, {"device": "cpu"}):
        opened.clear()
        ask = [lambda: umbracast.System(system).shadow([[0, 0, -20]], **named), lambda: umbracast.Scene([[5, 0, 0, 1]], **named)]
        ask.append(lambda: umbracast.System(system).render(size=(8, 8), samples=1, **named))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda call: call(), ask * 6))
        # Scenes need every precision.
        assert sorted(arguments["precision"] for _, arguments in opened) == ["auto", "fast"], named
    opened.clear()
    first = umbracast.Scene([[5, 0, 0, 1]])
    assert pickle.loads(pickle.dumps(first)).device is first.device and not opened
    monkeypatch.setenv("UMBRACAST_DEVICE", "cpu")
    assert umbracast.Scene([[5, 0, 0, 1]]).device.is_cpu and len(opened) == 1
    with pytest.raises(umbracast.NoDeviceError):
        umbracast.Scene([[5, 0, 0, 1]], device="abacus")
    assert umbracast.Device("cpu") is not umbracast.Device("cpu")


def test_a_gpu_that_fails_is_opened_again():
    device = umbracast.Scene([[5, 0, 0, 1]], device="cpu").device
    assert umbracast.Scene([[5, 0, 0, 1]], device="cpu").device is device
    impatient = umbracast.Scene(cloud(3000), device=umbracast.Device("gpu", patience_s=1e-9))
    with pytest.raises(umbracast.DeviceError):
        impatient.closest(beams(1000))
    assert umbracast.Scene([[5, 0, 0, 1]], device="cpu").device is not device


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_another_thread_opens_a_device_does_not_hang():
    script = """
system = {"unit": "m", "light": {"center": [0, 0, 100], "radius": 10}, "body": [{"name": "a", "center": [0, 0, 0], "radius": 1}]}
ask = lambda: umbracast.System(system).shadow([[0, 0, -20]]).fraction[0]
def in_child():
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            os.write(write, str(ask() < 1).encode())
        except umbracast.ForkError:
            os.write(write, b"ForkError")
        os._exit(0)
    os.close(write)
    said = os.read(read, 100).decode()
    os.wait()
    return said
with umbracast._devices._opening:
    before = in_child()
ask()
print(json.dumps([before, in_child()]))
"""
    assert run(script, env=os.environ | {"UMBRACAST_DEVICE": "cpu"}) == ["True", "ForkError"]


def test_importing_opens_no_device():
    script = """
before = len(os.listdir("/proc/self/task"))
maps = open("/proc/self/maps").read()
print(json.dumps([before, "libvulkan" in maps]))
"""
    if not Path("/proc/self/task").exists():
        pytest.skip("no /proc to look at")
    threads, driver = run(script, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    assert threads == 1 and not driver


def test_listing_devices_without_a_desktop_prints_nothing():
    hidden = ("XDG_RUNTIME_DIR", "NODEVICE_SELECT")
    environment = {name: text for name, text in os.environ.items() if name not in hidden}
    script = "import umbracast; print(len(umbracast.devices()))"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0 and int(done.stdout) > 0
    assert not done.stderr


def test_threads_share_a_scene(scene):
    rays = beams(200_000)
    expected = scene.closest(rays)
    with ThreadPoolExecutor(4) as pool:
        for hits in pool.map(lambda _: scene.closest(rays), range(8)):
            np.testing.assert_array_equal(hits.t, expected.t)
            np.testing.assert_array_equal(hits.id, expected.id)


def test_other_threads_run_during_a_query():
    scene, rays = umbracast.Scene(cloud(20_000), device="cpu"), beams(1 << 17)
    seconds = turns = 0
    while turns <= 50 and seconds < 1:
        rays, turns, start = np.tile(rays, (2, 1)), 0, time.monotonic()
        worker = threading.Thread(target=lambda: scene.approach(rays))
        worker.start()
        while worker.is_alive():
            time.sleep(0.001)
            turns += 1
        seconds = time.monotonic() - start
    # A query that kept the other threads waiting left them a few turns, however long it took.
    assert turns > 50, (turns, seconds)


def test_queries_end_with_the_spheres_they_began_with():
    small, large = cloud(300), cloud(300) * np.float32([1, 1, 1, 2])
    scene, rays = umbracast.Scene(small, device="cpu"), beams(50_000)
    answers = [umbracast.Scene(spheres, device="cpu").closest(rays).t for spheres in (small, large)]
    done = threading.Event()

    def update():
        while not done.is_set():
            scene.update(large)
            scene.update(small)

    worker = threading.Thread(target=update)
    worker.start()
    try:
        for _ in range(20):
            t = scene.closest(rays).t
            assert any(np.array_equal(t, answer) for answer in answers)
    finally:
        done.set()
        worker.join()


RAYS = "scene = umbracast.Scene(cloud(20_000), device=device); rays = np.tile(beams(1 << 12), (n, 1))"
# Operations to interrupt with Ctrl-C: a first size `n`, the code that prepares them, and the code that is interrupted.
LONG = {
    "closest": (64, RAYS, "scene.closest(rays)"),
    "all": (8, RAYS, "scene.all(rays)"),
    "approach": (16, RAYS, "scene.approach(rays)"),
    "a scene": (1 << 19, "spheres = cloud(n)", "umbracast.Scene(spheres, device=device)"),
    "an update": (
        1 << 21,
        "spheres = cloud(n); scene = umbracast.Scene(spheres, device=device)",
        "scene.update(spheres)",
    ),
    "a picture": (
        1 << 7,
        "from test_pictures import SYSTEM; system = umbracast.System.parse(SYSTEM); system.render(size=(8, 6), device=device)",
        "system.render(size=(n, n), samples=5, device=device)",
    ),
    "shadows": (
        1 << 18,
        """system = "unit = 'km'\\n[light]\\ncenter = [0, 0, 1e6]\\nradius = 7e3\\n" + "".join(
    f"[[body]]\\nname = '{i}'\\ncenter = [{i}, 0, 3000]\\nradius = 3\\n" for i in range(400))
system = umbracast.System.parse(system)
observers = np.random.default_rng(0).uniform(-1000, 1000, (n, 3))""",
        "system.shadow(observers, device=device)",
    ),
    "sunlight": (
        1 << 7,
        """minutes = np.arange(1440)
angle = minutes * (2 * np.pi / 95)
orbit = 6898 * np.stack([np.cos(angle), 0.8 * np.sin(angle), 0.6 * np.sin(angle)], -1)
times = np.datetime64("2026-03-21") + minutes.astype("timedelta64[m]")""",
        "umbracast.sunlight(times, np.broadcast_to(orbit, (n, 1440, 3)), frame='gcrs', device=device)",
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
@pytest.mark.parametrize(
    ("what", "device"), [*((what, "cpu") for what in LONG), ("a scene", "gpu"), ("a picture", "gpu")]
)
def test_ctrl_c_ends_the_work(what, device):
    n, before, work = LONG[what]
    script = f"""
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
device = umbracast.Device({device!r})
def seconds():
    start = time.monotonic()
    {work}
    return time.monotonic() - start
# Signals are looked for every 50 ms, so the work must take much longer on any machine.
n, whole = {n // 2}, 0
while whole < 0.5:
    n *= 2
    {before.replace(chr(10), chr(10) + "    ")}
    {work}
    whole = seconds()
def late(share):
    sent = []
    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Timer(share * whole, send).start()
    try:
        while True:
            {work}
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
# The least of three, because the cores may be busy with other work.
print(json.dumps([n, max(whole, seconds()), [min(late(share) for _ in range(3)) for share in (0.1, 0.2, 0.3)]]))
"""
    n, whole, late = run(script)
    print(f"{what} of {n}, {device}: {whole:.2f} s, stopped after {', '.join(f'{one:.2f}' for one in late)} s")
    # Work that cannot be interrupted runs on for 0.7, 0.8 and 0.9 of the time.
    assert sorted(late)[1] < 0.6 * whole, (whole, late)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc to read memory from")
def test_memory_stays_flat_over_a_thousand_calls():
    script = """
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
scene, rays = umbracast.Scene(cloud(300), device="cpu"), beams(10000)
wide = rays.astype(float)
def calls(n):
    for i in range(n):
        scene.closest(rays), scene.occluded(wide), scene.all(rays[:500]), scene.contains(rays[:500, :3])
        try:
            scene.closest(rays[:, :5])
        except ValueError:
            pass
        if i % 100 == 0:
            scene.update(cloud(300))
            umbracast.Scene(cloud(300), device="cpu").closest(rays)
calls(100)
before = resident()
calls(1000)
print(json.dumps([before, resident()]))
"""
    before, after = run(script)
    print(f"resident {before / 2**20:.1f} MiB before, {after / 2**20:.1f} MiB after 1,000 rounds")
    assert after - before < 2 * 2**20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are told in KiB on Linux")
@pytest.mark.parametrize(
    ("form", "most"), [("rays", 24), ("rays.astype(float)", 24), ("rays[:, [0, 1, 2, 3, 4, 5]]", 24)]
)
def test_queries_do_not_copy_their_rays(form, most):
    script = f"""
scene, rays = umbracast.Scene(cloud(300), device="cpu"), beams(4_000_000)
rays = {form}
out = np.ones(4_000_000, np.float32), np.ones(4_000_000, np.uint32)
scene.closest(rays[:100_000], out=tuple(array[:100_000] for array in out))
# Reset the peak memory (VmHWM).
open("/proc/self/clear_refs", "w").write("5")
def peak():
    return [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
before = peak()
scene.closest(rays, out=out)
print(json.dumps([(peak() - before) / 1024, rays.nbytes / 2**20]))
"""
    more, size = run(script)
    print(f"{form}: {size:.0f} MiB of rays, {more:.1f} MiB more at the peak")
    assert more < most


def test_progress_of_sunlight_counts_the_intervals():
    minutes = np.arange(1440)
    angle = minutes * (2 * np.pi / 95)
    orbit = 6898 * np.stack([np.cos(angle), 0.8 * np.sin(angle), 0.6 * np.sin(angle)], -1)
    times = np.datetime64("2026-03-21") + minutes.astype("timedelta64[m]")
    seen, objects = [], 128
    while not any(0 < done < total for done, total in seen):
        seen, objects = [], 2 * objects
        states = np.broadcast_to(orbit, (objects, *orbit.shape))
        umbracast.sunlight(times, states, frame="gcrs", progress=lambda *counts: seen.append(counts))
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert {total for _, total in seen} == {objects * 1440} and seen[-1][0] == objects * 1440

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        umbracast.sunlight(times, states, frame="gcrs", progress=stop)
