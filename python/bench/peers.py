"""The methods that `compare_packages.py` compares: one class per package.

A method has `prepare(spheres, rays)`, which converts the input to the package's layout and is not timed; `build(given)`, which builds the
package's scene, including meshes; and `cast(kept, given)`, which returns ``t`` in units of the direction, inf on a miss, and the id of the
sphere, -1 on a miss.
"""

import contextlib
import os

import numpy as np

SUBDIVISIONS = 2
"""Subdivisions of the icosphere that stands for a sphere: 320 triangles and 162 vertices. Without any it is an
icosahedron, with 20 and 12."""
BRUTE_CELLS = 1 << 20
"""Ray–sphere pairs per step in NumPy, so that intermediate arrays stay in the caches."""


def triangles(subdivisions=SUBDIVISIONS):
    """Return the number of triangles of an icosphere."""
    return 20 * 4**subdivisions


def mesh(spheres, fit, subdivisions=SUBDIVISIONS):
    """Return an icosphere per sphere: vertices (162 N, 3) and faces (320 N, 3); 12 N and 20 N without subdivisions.

    With ``fit="inscribed"`` the vertices lie on the sphere, else the icosphere has the volume of the sphere.
    """
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=subdivisions, radius=1.0)
    scale = 1.0 if fit == "inscribed" else (4 / 3 * np.pi / ball.volume) ** (1 / 3)
    unit, faces = np.float32(ball.vertices * scale), np.uint32(ball.faces)
    assert len(faces) == triangles(subdivisions)
    vertices = (spheres[:, None, 3:] * unit + spheres[:, None, :3]).reshape(-1, 3)
    numbers = np.arange(len(spheres), dtype=np.uint32)[:, None, None] * np.uint32(len(unit))
    return vertices, (faces + numbers).reshape(-1, 3)


class Umbracast:
    """umbracast, with rays of 8 columns that are read without a copy of the array."""

    def __init__(self, precision, device):
        self.precision, self.device = precision, device

    def prepare(self, spheres, rays):
        import umbracast  # noqa: F401 - its import is not part of what is measured

        whole = np.zeros((len(rays), 8), np.float32)
        whole[:, 0:6], whole[:, 7] = rays, np.inf
        return spheres, whole

    def build(self, given):
        import umbracast

        return umbracast.Scene(given[0], device=self.device, precision=self.precision)

    def cast(self, scene, given):
        hits = scene.closest(given[1], precision=self.precision)
        return hits.t, hits.id.view(np.int32)


class Open3D:
    """Open3D's `RaycastingScene.cast_rays`, which also computes normals, texture coordinates and geometry ids; these cannot be left out."""

    def __init__(self, fit="inscribed", subdivisions=SUBDIVISIONS):
        self.fit, self.subdivisions = fit, subdivisions

    def prepare(self, spheres, rays):
        import open3d

        return spheres, open3d.core.Tensor(rays)

    def build(self, given):
        import open3d

        scene = open3d.t.geometry.RaycastingScene()
        vertices, faces = mesh(given[0], self.fit, self.subdivisions)
        scene.add_triangles(open3d.core.Tensor(vertices), open3d.core.Tensor(faces))
        # The BVH is built at the first query.
        scene.cast_rays(given[1][:1])
        return scene

    def cast(self, scene, given):
        answer = scene.cast_rays(given[1])
        t, triangle = answer["t_hit"].numpy(), answer["primitive_ids"].numpy()
        sphere = triangle // np.uint32(triangles(self.subdivisions))
        return t, np.where(np.isfinite(t), sphere, np.uint32(0xFFFF_FFFF)).view(np.int32)


class Trimesh:
    """trimesh with embreex or rtree: `intersects_location` returns points, from which t follows; `intersects_first` only triangles."""

    def __init__(self, question, embree=True):
        self.question, self.embree = question, embree

    def prepare(self, spheres, rays):
        return spheres, np.float64(rays[:, :3]), np.float64(rays[:, 3:])

    def build(self, given):
        import trimesh
        from trimesh.ray import ray_pyembree, ray_triangle

        vertices, faces = mesh(given[0], "inscribed")
        whole = trimesh.Trimesh(vertices, faces, process=False)
        rays = (ray_pyembree if self.embree else ray_triangle).RayMeshIntersector(whole)
        # Warm up with a few hundred rays, because it fails if all rays miss.
        self.cast(rays, (None, given[1][:300], given[2][:300]))
        return rays

    def cast(self, rays, given):
        _, origins, directions = given
        t, id = np.full(len(origins), np.inf), np.full(len(origins), -1, np.int32)
        if self.question == "first":
            triangle = rays.intersects_first(origins, directions)
            id[triangle >= 0] = triangle[triangle >= 0] // triangles()
            return None, id
        places, ray, triangle = rays.intersects_location(origins, directions, multiple_hits=False)
        along = directions[ray]
        t[ray] = ((places - origins[ray]) * along).sum(-1) / (along * along).sum(-1)
        id[ray] = triangle // triangles()
        return t, id


class Embreex:
    """embreex in float32, called directly as trimesh does, without the overhead of trimesh."""

    def prepare(self, spheres, rays):
        return spheres, rays[:, :3].copy(), rays[:, 3:].copy()

    def build(self, given):
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        vertices, faces = mesh(given[0], "inscribed")
        scene = EmbreeScene()
        TriangleMesh(scene, vertices, faces.view(np.int32))
        scene.run(given[1][:1], given[2][:1])
        return scene

    def cast(self, scene, given):
        answer = scene.run(given[1], given[2], output=1)
        triangle = answer["primID"]
        return np.where(triangle < 0, np.inf, answer["tfar"]), np.where(triangle < 0, -1, triangle // triangles())


class Brute:
    """NumPy in float64: brute force, with matrix products by BLAS."""

    def prepare(self, spheres, rays):
        return np.float64(spheres), np.float64(rays)

    def build(self, given):
        return (given[0][:, :3] ** 2).sum(-1) - given[0][:, 3] ** 2

    def cast(self, squares, given):
        spheres, rays = given
        t, id = np.empty(len(rays)), np.empty(len(rays), np.int32)
        step = max(1, BRUTE_CELLS // len(spheres))
        for first in range(0, len(rays), step):
            o, d = rays[first : first + step, :3], rays[first : first + step, 3:]
            a = (d * d).sum(-1)[:, None]
            b = d @ spheres[:, :3].T - (d * o).sum(-1)[:, None]
            c = squares - 2 * (o @ spheres[:, :3].T) + (o * o).sum(-1)[:, None]
            with np.errstate(invalid="ignore"):
                root = (b - np.sqrt(b * b - a * c)) / a
            root[~(root >= 0)] = np.inf
            nearest = root.argmin(-1)
            t[first : first + step] = root[np.arange(len(o)), nearest]
            id[first : first + step] = nearest
        id[np.isinf(t)] = -1
        return t, id


def methods(device):
    """Yield all methods: name in the table, method, and a function that returns how many rays to cast, given how many rays and spheres."""

    def every(rays, spheres):
        return rays

    yield "umbracast, fast", Umbracast("fast", device), every
    yield "umbracast, standard", Umbracast("standard", device), every
    yield "umbracast, exact", Umbracast("exact", device), every
    yield "Open3D, inscribed", Open3D(), every
    yield "Open3D, equal volume", Open3D("volume"), every
    yield "Open3D, icosahedra inscribed", Open3D("inscribed", 0), every
    yield "Open3D, icosahedra of equal volume", Open3D("volume", 0), every
    yield "embreex alone", Embreex(), every
    yield "trimesh + embreex, intersects_location", Trimesh("location"), every
    yield "trimesh + embreex, intersects_first", Trimesh("first"), every
    # About 200 rays per second, and 4 GB for 2,000 rays; with more triangles it takes too long.
    yield (
        "trimesh + rtree, intersects_location",
        Trimesh("location", False),
        lambda m, n: min(m, 500) if n <= 100 else 0,
    )
    yield "NumPy, float64", Brute(), lambda m, n: min(m, 50_000_000 // n)


def versions():
    """Return the versions of the packages, None for a missing one, and the number of threads."""
    from importlib.metadata import PackageNotFoundError, version

    found = dict.fromkeys(("umbracast", "open3d-cpu", "trimesh", "embreex", "rtree", "numpy"))
    for name in found:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found | {"threads": len(os.sched_getaffinity(0))}
