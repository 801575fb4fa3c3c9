"""Progress reports of long calls."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np


def listener(
    verb: str, progress: bool | Callable[[int, int], object], things: str = ""
) -> Callable[[int, int], object] | None:
    """Return the callable that receives progress reports: the caller's own, a `ProgressLine` for True, or None."""
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, (bool, np.bool_)):
        raise TypeError(f"progress must be True, False or a callable, not {progress!r}")
    return ProgressLine(verb, things) if progress else None


class ProgressLine:
    """A progress line on stderr. It appears after one second and is updated at most every 0.25 seconds."""

    def __init__(self, verb: str, things: str = "") -> None:
        self.verb = verb
        self.things = things
        """Name of the items counted, for a count in place of a rate."""
        self.start = time.monotonic()
        self.shown = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        seconds = now - self.start
        last = done >= total and self.shown > 0.0
        if seconds < 1.0 or (now - self.shown < 0.25 and not last):
            return
        self.shown = now
        share = 100 * done // max(total, 1)
        rate = f" of {total:,}, {done / seconds / 1e6:.2f} million per second" if not self.things else ""
        end = "\n" if last else ""
        sys.stderr.write(f"\r{self.verb}: {share:3d} %{rate}{end}")
        sys.stderr.flush()
