"""How rounding to float32 changes the input, and the warning if that can change results."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

COARSE = 1e-3
"""A rounding larger than this fraction of the smallest radius can change results. The command line warns at the same fraction."""


class Rounding(NamedTuple):
    """Statistics of rounding, as the extension module returns them."""

    changed: int = 0
    """Number of values that float32 could not represent."""
    largest: float = 0.0
    """Largest change of them."""
    position: float = 0.0
    """Largest change of a coordinate of a position."""
    radius: float = 0.0
    """Largest change of a radius or a semi-axis."""
    travel: float = 0.0
    """Largest change of an end of a ray, a time, a velocity or a speed."""
    field: str = ""
    """Name of the field with this change."""

    def joined(self, other: Rounding) -> Rounding:
        """Return the statistics of the values of both."""
        return Rounding(
            self.changed + other.changed,
            max(self.largest, other.largest),
            max(self.position, other.position),
            max(self.radius, other.radius),
            *max(self[4:], other[4:]),
        )

    def warn_if_coarse(self, smallest: float, remedy: str, stacklevel: int) -> bool:
        """Warn if this can change results for spheres whose smallest radius is ``smallest``. The remedy is for positions.

        Returns whether it warned.
        """
        kinds = (("positions", self.position, remedy), ("radii", self.radius, ""), (f"values of {self.field}", self.travel, ""))
        for what, by, then in kinds:
            if by > COARSE * smallest:
                message = f"rounding to float32 changed {what} by up to {by:.1e}; the smallest radius is {smallest:.1e}{then}"
                warnings.warn(message, RuntimeWarning, stacklevel=stacklevel + 1)
                return True
        return False


def of_column(name: str, given: NDArray[Any], made: NDArray[Any], records: int) -> Rounding:
    """Return how rounding changed the values of an argument with one value per record, or fewer that are broadcast."""
    if made.dtype != np.float32 or given.dtype == np.float32 or given.size == 0:
        return Rounding()
    with np.errstate(invalid="ignore"):
        changes = np.abs(np.atleast_1d(made).astype(np.float64) - given)
    changes[~np.isfinite(changes)] = 0.0
    changed, largest = int(np.count_nonzero(changes)) * (records // given.size), float(changes.max())
    if name == "times":
        return Rounding(changed, largest, travel=largest, field="time")
    return Rounding(changed, largest, radius=0.0 if name == "transmittances" else largest)
