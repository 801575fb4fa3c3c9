"""Batch ray–sphere queries and physically accurate shadows, on the CPU or on a GPU through wgpu.

Which sphere does each ray hit, where along the ray, and how close does the ray pass? Queries take arrays and return one result per ray::

    import numpy as np, umbracast

    scene = umbracast.Scene([[5, 0, 0, 1], [0, 8, 0, 2]])   # x, y, z, radius
    hits = scene.closest([[0, 0, 0, 1, 0, 0]])              # origin, direction
    hits.t, hits.id, hits.hit                               # 4.0, 0, True

A ray is the set of points ``origin + t · direction`` with t in [t_min, t_max]. Directions may have any length except zero and are never
normalised. A sphere's id is its row. A miss has ``t = inf`` and ``id = umbracast.NO_SPHERE``. If several spheres have the same t, the
lowest id wins. The result for a ray depends only on the spheres, the ray and the options, not on the batch, the ray's position in it or
the threads. All lengths share one unit.

Importing the package opens no device. Large batches release the GIL, can be interrupted with Ctrl-C, and report their progress
(``progress=True``).
"""

from importlib.metadata import version as _version

from . import sky
from ._input import Segments, SurfaceRays
from ._devices import Device, DeviceInfo, devices
from ._errors import DeviceError, ForkError, NoDeviceError, PrecisionError, RecordError
from ._light import ShadowIntervals, Sunlight, sunlight, visible_fraction
from ._options import NO_SPHERE, Options, PointOptions
from ._pictures import Picture, ShadowKind, Shadows, System
from ._raygen import rays_along, rays_of_camera, rays_of_sensor, rays_toward
from ._results import (
    Approach,
    Attributes,
    Containment,
    Flights,
    HitLists,
    Hits,
    Interval,
    LegStatus,
    RayHits,
    Report,
    Update,
)
from ._scene import Scene

__version__ = _version("umbracast")

__all__ = [
    "NO_SPHERE",
    "Approach",
    "Attributes",
    "Containment",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "Flights",
    "ForkError",
    "HitLists",
    "Hits",
    "Interval",
    "LegStatus",
    "NoDeviceError",
    "Options",
    "Picture",
    "PointOptions",
    "PrecisionError",
    "RayHits",
    "RecordError",
    "Report",
    "Scene",
    "Segments",
    "SurfaceRays",
    "ShadowIntervals",
    "ShadowKind",
    "Shadows",
    "Sunlight",
    "System",
    "Update",
    "devices",
    "rays_along",
    "rays_of_camera",
    "rays_of_sensor",
    "rays_toward",
    "sky",
    "sunlight",
    "visible_fraction",
]
