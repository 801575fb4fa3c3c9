"""Progress reports of long calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def listener(
    verb: str, progress: bool | Callable[[int, int], object], things: str = "rays"
) -> Callable[[int, int], object] | None:
    """Return the callable that receives progress reports: the caller's own, a bar of tqdm for True, or None."""
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, (bool, np.bool_)):
        raise TypeError(f"progress must be True, False or a callable, not {progress!r}")
    if not progress:
        return None
    try:
        with warnings.catch_warnings():
            # In a notebook without ipywidgets the bar is text, and tqdm says so.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        warnings.warn("progress=True shows nothing without tqdm: pip install tqdm", RuntimeWarning, stacklevel=4)
        return None
    return Bar(tqdm(desc=verb, unit=f" {things}", unit_scale=True, delay=1))


class Bar:
    """A bar of tqdm, on a terminal or in a notebook. It appears after one second."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar

    def __call__(self, done: int, total: int) -> None:
        self.bar.total = total
        self.bar.update(done - self.bar.n)
        if done >= total:
            self.bar.close()
