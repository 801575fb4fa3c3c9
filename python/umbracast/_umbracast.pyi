from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ._input import PictureParts, RayBatch, Spheres
from ._options import Policies

__all__ = [
    "Device",
    "Scene",
    "Sky",
    "System",
    "attributes",
    "bullets",
    "camera_rays",
    "cast",
    "choose_origin",
    "command_line",
    "contains",
    "devices",
    "lidar_rays",
    "lists",
    "point_rays",
    "read_spheres",
    "round_records",
    "save_png",
    "sunlight",
    "visible_fraction",
]

_Floats: TypeAlias = NDArray[np.float32]
_Ids: TypeAlias = NDArray[np.uint32]
_Offsets: TypeAlias = NDArray[np.uint64]
_ReportTuple: TypeAlias = tuple[int, int, int, int, int, int, str, float]
_RoundingTuple: TypeAlias = tuple[int, float, float, float, float, str]
_Progress: TypeAlias = Callable[[int, int], object] | None

@final
class Device:
    def __new__(
        cls, choice: str | None, precision_word: str, memory: int | None, patience_s: float | None
    ) -> Device: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def is_cpu(self) -> bool: ...
    def estimate_bytes(self, spheres: int, rays: int) -> int: ...

@final
class Scene:
    def __new__(cls, device: Device, spheres: Spheres, time_range: Sequence[float], pairwise: bool) -> Scene: ...
    def __len__(self) -> int: ...
    def parts(self) -> tuple[_Floats, _Ids | None, _Floats | None, _Floats | None, _Floats | None]: ...
    def coarse_start(
        self, starts: NDArray[np.float64], skip_ids: Sequence[int] | None, changes: Sequence[float], has_origin: bool
    ) -> tuple[float, float, bool] | None: ...
    def has_ellipsoids(self) -> bool: ...
    def update(self, spheres: Spheres) -> tuple[float, bool]: ...
    def rebuild(self) -> None: ...

@final
class Sky:
    def __new__(
        cls,
        delta_t: float | None,
        radii: str,
        sun_radius: float | None,
        moon_k: float | None,
        lunar_rule: str,
        refraction: bool,
        ephemeris: Path | None,
    ) -> Sky: ...
    def ephemeris(self) -> str: ...
    def eclipse_on(self, date: str) -> tuple[bool, dict[str, Any]] | None: ...
    def eclipses(self, first: int, last: int, solar: bool | None) -> list[tuple[bool, dict[str, Any]]]: ...
    def besselian_elements(self, date: str) -> dict[str, Any]: ...
    def circumstances(self, date: str, rows: NDArray[np.float64]) -> dict[str, Any]: ...
    def transits(self, first: int, last: int) -> list[dict[str, Any]]: ...
    def transit_circumstances(self, date: str, rows: NDArray[np.float64]) -> dict[str, Any]: ...
    def lunar_circumstances(self, date: str, rows: NDArray[np.float64]) -> dict[str, Any]: ...
    def obscuration(
        self, date: str, rows: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def instants(self, texts: Sequence[str]) -> NDArray[np.int64]: ...
    def julian_dates(self, dates: NDArray[np.float64], scale: str) -> NDArray[np.int64]: ...
    def positions(self, body: str, times: NDArray[np.int64], earth_fixed: bool) -> NDArray[np.float64]: ...
    def central_line(self, date: str, step_s: float) -> dict[str, Any]: ...
    def system(
        self,
        date: str,
        bodies: Sequence[str],
        vectors: Sequence[tuple[str, Path | None, float | None]],
        light_time: str,
        view: str | None,
        size: Sequence[int],
    ) -> str: ...

@final
class System:
    def __new__(cls, text: str | None, path: Path) -> System: ...
    @property
    def text(self) -> str: ...
    @property
    def path(self) -> Path: ...
    def contents(self) -> dict[str, Any]: ...
    def camera(self, size: tuple[int, int] | None) -> tuple[list[float], list[float], list[float], float | None, float | None]: ...
    def render(
        self, device: Device, size: Sequence[int] | None, samples: int | None, progress: _Progress
    ) -> tuple[list[int], _Floats, _Floats, NDArray[np.uint8], _Floats, _Ids, _Floats, str | None]: ...
    def channel(self, picture: PictureParts, name: str) -> _Floats: ...
    def shadow(
        self,
        device: Device,
        observers: NDArray[np.float64],
        fraction: NDArray[np.float64],
        kind: NDArray[np.uint8],
        flux: NDArray[np.float64],
        progress: _Progress,
    ) -> tuple[bool, tuple[int, int, str, float] | None]: ...

def command_line(arguments: Sequence[str]) -> int: ...
def cast(
    scene: Scene,
    verb: str,
    rays: RayBatch,
    policies: Policies,
    out: Sequence[NDArray[Any]],
    progress: _Progress,
) -> tuple[_ReportTuple, _RoundingTuple]: ...
def contains(
    scene: Scene,
    points: _Floats,
    masks: _Ids | None,
    skip_ids: _Ids | None,
    times: _Floats | None,
    policies: Policies,
    count: _Ids,
    id: _Ids,
    progress: _Progress,
) -> _ReportTuple: ...
def choose_origin(
    spheres: Sequence[NDArray[np.float64]], starts: NDArray[np.float64]
) -> list[float]: ...
def round_records(
    kind: str, columns: Sequence[NDArray[Any] | None], origin: Sequence[float], on_bad: str
) -> tuple[_Floats, _RoundingTuple]: ...
def lists(
    scene: Scene, rays: RayBatch, policies: Policies, k: int | None, progress: _Progress
) -> tuple[_Offsets, _Floats, _Floats, _Ids, tuple[_ReportTuple, _RoundingTuple]]: ...
def bullets(
    scene: Scene,
    bullets: _Floats,
    radii: _Floats | None,
    from_ids: _Ids | None,
    bounces: int,
    policies: Policies,
    progress: _Progress,
) -> tuple[_Offsets, NDArray[np.uint8], _Ids, _Floats, _Floats, _Floats, _Floats, _Floats, _ReportTuple]: ...
def attributes(
    scene: Scene, rays: RayBatch, policies: Policies, t: _Floats, id: _Ids
) -> tuple[_Floats, _Floats, _Floats, _Floats]: ...
def devices() -> list[dict[str, Any]]: ...
def point_rays(points: _Floats, toward: Sequence[float], radius: float | None) -> _Floats: ...
def lidar_rays(
    poses: Sequence[Sequence[float]],
    elevations_deg: Sequence[float],
    azimuths_deg: Sequence[float],
    range: Sequence[float],
) -> tuple[_Floats, str | None]: ...
def camera_rays(
    position: Sequence[float],
    target: Sequence[float],
    up: Sequence[float],
    lens: float,
    orthographic: bool,
    size: Sequence[int],
) -> _Floats: ...
def read_spheres(
    path: Path,
    origin: Sequence[float] | NDArray[np.float64],
    radius: float | None,
    unknown_atoms: float | None,
    all_models: bool,
    ignore_extra: bool,
) -> tuple[
    list[float],
    _Floats,
    _Floats | None,
    _Ids | None,
    _Floats | None,
    _Floats | None,
    _RoundingTuple,
    list[str],
]: ...
def save_png(picture: PictureParts, deep: bool, path: Path | None) -> bytes: ...
def sunlight(
    sky: Sky,
    device: Device,
    frame: str,
    states: int,
    times: NDArray[np.int64],
    positions: NDArray[np.float64],
    velocities: NDArray[np.float64] | None,
    fraction: NDArray[np.float64],
    kind: NDArray[np.uint8],
    progress: _Progress,
) -> tuple[
    tuple[int, str, str, str] | None,
    tuple[
        NDArray[np.uint32],
        NDArray[np.uint8],
        NDArray[np.uint8],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
    ]
    | None,
    float | None,
    list[str],
]: ...
def visible_fraction(
    device: Device,
    shape: Sequence[int],
    bodies: int,
    given: Sequence[tuple[NDArray[np.float64], list[int]]],
    polar: tuple[tuple[NDArray[np.float64], list[int]] | None, ...],
    limb_darkening: tuple[tuple[NDArray[np.float64], list[int]], int] | None,
    limb_law: str,
    fraction: NDArray[np.float64],
    kind: NDArray[np.uint8],
    flux: NDArray[np.float64],
    progress: _Progress,
) -> tuple[str, int, int | None, str, str, str] | None: ...
