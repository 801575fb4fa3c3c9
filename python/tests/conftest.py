"""Scenes and rays that are shared by many tests."""

import numpy as np
import pytest
import umbracast

def cloud(count, seed=0):
    """Return random spheres in a cube of side 20: (count, 4)."""
    random = np.random.default_rng(seed)
    return np.c_[random.uniform(-10, 10, (count, 3)), random.uniform(0.1, 1, count)].astype(np.float32)


def beams(count, seed=1):
    """Return random rays through that cube: (count, 8)."""
    random = np.random.default_rng(seed)
    rays = np.empty((count, 8), np.float32)
    rays[:, :3] = random.uniform(-20, 20, (count, 3))
    rays[:, 3:6] = random.uniform(-10, 10, (count, 3)) - rays[:, :3]
    rays[:, 6] = 0
    rays[:, 7] = np.inf
    return rays


@pytest.fixture(scope="session")
def spheres():
    return cloud(300)


@pytest.fixture(scope="session")
def rays():
    return beams(5000)


@pytest.fixture(scope="session")
def scene(spheres):
    return umbracast.Scene(spheres, device="cpu")


@pytest.fixture(scope="session")
def cluster():
    """A Ray cluster with two nodes of two logical CPUs each."""
    from clusters import two_nodes

    made = two_nodes()
    yield made
    made.shutdown()


@pytest.fixture(scope="session")
def many():
    return beams(40_000)


@pytest.fixture(scope="session")
def files(tmp_path_factory, many, spheres):
    """A file of spheres, and a file of rays with twelve row groups."""
    import pyarrow.parquet as pq
    from clusters import table

    folder = tmp_path_factory.mktemp("given")
    np.save(folder / "spheres.npy", spheres)
    pq.write_table(table(many), folder / "rays.parquet", row_group_size=len(many) // 12 + 1)
    return folder / "spheres.npy", folder / "rays.parquet"
