"""Reference results by brute force in NumPy and float64, and which of them are too close to a limit for float32 to agree."""

import numpy as np

# Minimum distance from a limit, such as tangency, at which float32 must agree: far above its error for these sizes.
APART = 1e-4


def roots(spheres, rays):
    """Return t_enter and t_exit, NaN where a line misses, and the distance of the line from tangency; each (M, N)."""
    center, radius = spheres[:, :3].astype(float), spheres[:, 3].astype(float)
    origin, direction = rays[:, None, :3].astype(float), rays[:, None, 3:6].astype(float)
    to = center - origin
    length = np.sqrt((direction**2).sum(-1))
    middle = (to * direction).sum(-1) / length**2
    foot = to - middle[..., None] * direction
    aside = np.sqrt((foot**2).sum(-1))
    with np.errstate(invalid="ignore"):
        half = np.sqrt(radius**2 - aside**2) / length
    return middle - half, middle + half, np.abs(aside - radius)


def met(spheres, rays, inside="enter"):
    """Return the valid t of each pair, (M, N), inf if there is none, and whether each ray is clear: none of its pairs is near a limit."""
    enter, leave, margin = roots(spheres, rays)
    return valid(enter, leave, margin < APART * (1 + spheres[:, 3]), rays, inside)


def ellipsoid_roots(centers, radii, rotations, rays):
    """Return t_enter and t_exit, NaN where a line misses, and whether the line is near tangency; each (M, N).

    Computed in the space in which each ellipsoid is a unit ball.
    """
    w, x, y, z = (rotations.astype(float) / np.linalg.norm(rotations.astype(float), axis=1)[:, None]).T
    axes = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
            [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
            [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
        ]
    )  # [own axis, axis of the scene, N]
    to_ball = axes / radii.astype(float).T[:, None]
    origin = np.einsum("ijn,mnj->mni", to_ball, rays[:, None, :3].astype(float) - centers.astype(float))
    direction = np.einsum("ijn,mj->mni", to_ball, rays[:, 3:6].astype(float))
    length = np.sqrt((direction**2).sum(-1))
    middle = -(origin * direction).sum(-1) / length**2
    aside = np.sqrt(((origin + middle[..., None] * direction) ** 2).sum(-1))
    with np.errstate(invalid="ignore"):
        half = np.sqrt(1 - aside**2) / length
    return middle - half, middle + half, np.abs(aside - 1) < APART


def valid(enter, leave, near, rays, inside):
    """Return the valid t of each pair and the clear rays, as `met` does."""
    first, last = rays[:, None, 6].astype(float), rays[:, None, 7].astype(float)
    if inside == "enter":
        t = np.where(leave >= first, np.maximum(enter, first), np.inf)
    elif inside == "exit":
        t = np.where(enter >= first, enter, leave)
    else:
        t = enter
    with np.errstate(invalid="ignore"):
        t = np.where((t >= first) & (t <= last), t, np.inf)
        for root in (enter, leave):
            for end in (first, last):
                near = near | np.isfinite(root) & (np.abs(root - end) < APART * (1 + np.abs(root)))
    return np.where(np.isnan(t), np.inf, t), ~near.any(1)
