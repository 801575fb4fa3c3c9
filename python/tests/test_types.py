"""The type hints and the stub agree with the module."""

import inspect
import subprocess
import sys
import typing
from pathlib import Path

import umbracast

PACKAGE = Path(umbracast.__file__).parent
CONFIGURATION = Path(__file__).parent.parent / "pyproject.toml"


def mypy(folder, module, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=folder, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_is_the_module(tmp_path):
    mypy(tmp_path, "mypy.stubtest", "umbracast._umbracast")


def test_the_package_keeps_its_types(tmp_path):
    assert (PACKAGE / "py.typed").exists()
    mypy(tmp_path, "mypy", "--strict", "-p", "umbracast")


def test_type_checkers_see_the_types(tmp_path):
    (tmp_path / "use.py").write_text(
        "import datetime\n"
        "import numpy as np\n"
        "import umbracast\n"
        "scene = umbracast.Scene(np.zeros((1, 4)), device='cpu')\n"
        "hits: umbracast.Hits = scene.closest([0, 0, 0, 1, 0, 0], inside='exit', t_max=3, masks=[1])\n"
        "t: np.typing.NDArray[np.float32] = hits.t\n"
        "rays: int = hits.report.rays\n"
        "scene.nearest([0, 0, 0, 1, 0, 0], k=np.int64(3))\n"
        "scene.bullets([[0, 0, 0, 1, 0, 0, 1]], bounces=np.int64(3))\n"
        "umbracast.Scene.read('balls.csv', origin=[0, 0, 0])\n"
        "class Time:\n"
        "    def to_datetime(self, timezone: object = None, leap_second_strict: str = 'raise') -> object: ...\n"
        "class Instant:\n"
        "    def utc_datetime(self) -> object: ...\n"
        "for times in ([datetime.datetime.now()], [datetime.date(2026, 1, 1)], Time(), Instant()):\n"
        "    umbracast.sunlight(times, np.zeros((1, 3)), frame='gcrs')\n"
        "umbracast.sky.positions('sun', [np.datetime64('2026-01-02')])\n"
        "umbracast.sky.positions('sun', Instant())\n"
        "umbracast.sky.eclipse(Time())\n"
        "umbracast.sky.eclipse(3)  # type: ignore[arg-type]\n"
        "scene.closest([0, 0, 0, 1, 0, 0], inside='out')  # type: ignore[arg-type]\n"
        "scene.closest([0, 0, 0, 1, 0, 0], insides='exit')  # type: ignore[call-arg]\n"
    )
    mypy(tmp_path, "mypy", "--strict", "--warn-unused-ignores", "use.py")


def test_hints_of_types_can_be_read():
    for name, method in inspect.getmembers(umbracast.Scene, callable):
        assert name.startswith("_") or typing.get_type_hints(method) is not None, name


def test_everything_public_has_a_docstring():
    for name in umbracast.__all__:
        thing = getattr(umbracast, name)
        assert not callable(thing) or thing.__doc__, name
    for name, method in inspect.getmembers(umbracast.Scene):
        assert name.startswith("_") or method.__doc__, name
