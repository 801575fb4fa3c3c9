"""``python/bench/compare_packages.py``: its table has the figures of every method, and names packages that are not installed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[1] / "bench" / "compare_packages.py"
NEEDS = {"Open3D": "open3d", "embreex": "embreex", "trimesh": "trimesh", "umbracast": "umbracast", "NumPy": "numpy"}


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_every_method_has_a_row(tmp_path):
    out = tmp_path / "figures.json"
    words = ["--spheres", "60", "--rays", "3000", "--rounds", "1", "--repeat", "1", "--json", out]
    done = subprocess.run([sys.executable, BENCHMARK, *words], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    told = json.loads(out.read_text())
    assert told["about"]["tried"] == {"60": 3000}, "every ray was tried against every sphere"
    table = done.stdout.splitlines()
    assert len(told["rows"]) == 12 == len(table) - 2
    for row, line in zip(told["rows"], table[2:], strict=True):
        assert line.startswith(f"| 60 | {row['way']} | ")
        package = NEEDS[row["way"].replace(",", " ").split()[0]]
        if importlib.util.find_spec(package) is None:
            assert f"No module named '{package}'" in row["failed"] and row["failed"] in line
        elif package in ("umbracast", "numpy"):
            assert row["lost"] == row["invented"] == row["other_sphere"] == 0 and 1000 < row["hits"] < 2000, row
            # "exact" is within half a step of float32; the other limits are the errors with more spheres.
            most = {"fast": 1e-4, "standard": 1e-6, "exact": 6.1e-8, "float64": 1e-9}
            assert row["error_worst"] < most[row["way"].split()[-1]]
            assert row["rays"] == 3000 and row["cast_cpu_s"] > 0 and row["peak_mib"] > 0
