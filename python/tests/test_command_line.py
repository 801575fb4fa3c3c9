"""The command line of the package: ``python -m umbracast`` behaves as the program does."""

import os
import signal
import subprocess
import sys
import time

import pytest
import umbracast

PROGRAM = [sys.executable, "-m", "umbracast"]


def run(*arguments, **options):
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=300, **options)


def test_it_prints_to_standard_output():
    done = run("-V")
    assert (done.returncode, done.stdout) == (0, f"umbracast {umbracast.__version__}\n")
    done = run("eclipse", "2026-08-12")
    assert done.returncode == 0 and "Total solar eclipse" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["cast"], 2, "Usage: umbracast cast"),
        (["eclipse", "2026-02-30"], 2, "error: "),
        (["render", "--device", "no such device"], 3, "error: "),
        (["eclipse", "2026-08-12", "--view", "sun", "-o", "missing/x.png"], 5, "error: "),
    ],
)
def test_exit_codes_are_those_of_the_program(tmp_path, arguments, code, message):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code and message in done.stderr and "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "s.parquet r.csv -o out.csv",
        "s.csv r.parquet -o out.csv",
        "s.csv r.csv -o out.parquet",
        "s.csv r.csv --query all -o out.parquet",
    ],
)
def test_without_parquet_the_error_names_the_feature_and_no_file_changes(tmp_path, arguments):
    (tmp_path / "s.csv").write_text("x,y,z,r\n0,0,5,1\n")
    (tmp_path / "r.csv").write_text("ox,oy,oz,dx,dy,dz\n0,0,0,0,0,1\n")
    for name in ["s.parquet", "r.parquet", "out.parquet"]:
        (tmp_path / name).write_text("before")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    done = run("cast", *arguments.split(), "--device", "cpu", cwd=tmp_path)
    words = "built without Parquet: build it with `cargo build --release --features parquet`, or use .csv"
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_bad_memory_limit_is_an_error_of_the_command_line():
    done = run("devices", env={**os.environ, "UMBRACAST_MEMORY": "much"})
    assert done.returncode == 2 and "UMBRACAST_MEMORY is 'much'" in done.stderr and "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error():
    shell = '"$@" eclipse --list 1900..2050 | head -n 1; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(["bash", "-c", shell, "bash", *PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1] == "0" and "error" not in done.stderr, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_signal_ends_it_and_removes_its_files(tmp_path):
    """A cast whose rays come from a pipe that stays open: the first Ctrl-C cancels it."""
    spheres = tmp_path / "spheres.csv"
    spheres.write_text("x,y,z,r\n0,0,5,1\n")
    arguments = ["cast", "spheres.csv", "-", "-o", "hits.csv", "--device", "cpu"]
    running = subprocess.Popen(
        [*PROGRAM, *arguments], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    running.stdin.write("ox,oy,oz,dx,dy,dz\n" + "0,0,0,0,0,1\n" * 400_000)
    running.stdin.flush()
    deadline = time.monotonic() + 60
    while list(tmp_path.iterdir()) == [spheres] and time.monotonic() < deadline:
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, messages = running.communicate(timeout=60)
    assert running.returncode == 130 and "Traceback" not in messages, messages
    assert list(tmp_path.iterdir()) == [spheres]
