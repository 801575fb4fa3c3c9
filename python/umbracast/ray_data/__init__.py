"""Ray queries on a cluster: batches of a Ray Dataset are cast by actors that each contain a scene.

::

    import ray, umbracast.ray_data

    rays = ray.data.read_parquet("rays/")                              # columns ox, oy, oz, dx, dy, dz
    hits = umbracast.ray_data.cast(rays, spheres, num_gpus=1)          # adds columns t and id
    hits.write_parquet("hits/")

From the shell: ``python -m umbracast.ray_data SPHERES RAYS.parquet OUT/``. RAY.md of the project describes the costs and what
happens when a machine fails. Needs Ray Data: ``pip install "umbracast[ray]"``.
"""

try:
    import pyarrow as _pyarrow  # type: ignore[import-untyped]  # noqa: F401
    import ray.data as _data  # noqa: F401
except ImportError as error:
    raise ImportError(f'umbracast.ray_data needs Ray Data: pip install "ray[data]" pyarrow ({error})') from error

from ._dataset import cast

__all__ = ["cast"]
