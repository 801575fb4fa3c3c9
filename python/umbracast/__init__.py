"""Batch ray–sphere queries and physically accurate shadows, on GPUs that wgpu reaches and on CPUs.

Which sphere does each ray meet, when, and how near does it pass? Arrays go in, one answer a ray comes out::

    import numpy as np, umbracast

    scene = umbracast.Scene([[5, 0, 0, 1], [0, 8, 0, 2]])   # x, y, z, radius
    hits = scene.closest([[0, 0, 0, 1, 0, 0]])              # origin, direction
    hits.t, hits.id, hits.hit                               # 4.0, 0, True

A ray is the points ``origin + t · direction`` with t in [t_min, t_max]; directions have any length but zero and are never normalised.
A sphere's row is its id. A miss is ``t = inf`` and ``id = umbracast.NO_SPHERE``. Equal t: the lowest id wins. A ray's answer
depends on nothing but the spheres, the ray and the options: not on its batch, its place or the threads. All lengths share one unit.

Nothing is opened when this is imported. Big batches run without the interpreter's lock, stop on Ctrl-C, and tell how far they are
(``progress=True``).
"""

from importlib.metadata import version as _version

from ._input import Segments
from ._devices import Device, DeviceInfo, devices
from ._errors import DeviceError, ForkError, NoDeviceError, PrecisionError, RecordError
from ._options import Options, PointOptions
from ._pictures import SHADOW_KINDS, Picture, Shadows, render, shadow
from ._results import NO_SPHERE, Approach, Attributes, Flights, Hits, Holders, Interval, Lists, Report, Update
from ._scene import Scene

__version__ = _version("umbracast")

__all__ = [
    "NO_SPHERE",
    "SHADOW_KINDS",
    "Approach",
    "Attributes",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "Flights",
    "ForkError",
    "Hits",
    "Holders",
    "Interval",
    "Lists",
    "NoDeviceError",
    "Options",
    "Picture",
    "PointOptions",
    "PrecisionError",
    "RecordError",
    "Report",
    "Scene",
    "Segments",
    "Shadows",
    "Update",
    "devices",
    "render",
    "shadow",
]
