"""The answers in plain NumPy and float64, every sphere against every ray; and which of them float64 and float32 may tell differently."""

import numpy as np

# What must lie between two cases before float32's answer has to agree: far above its error at these sizes.
APART = 1e-4


def roots(spheres, rays):
    """(M, N) t_enter and t_exit, NaN where a line passes; and (M, N) how far the line is from tangency, in radii."""
    center, radius = spheres[:, :3].astype(float), spheres[:, 3].astype(float)
    origin, direction = rays[:, None, :3].astype(float), rays[:, None, 4:7].astype(float)
    to = center - origin
    length = np.sqrt((direction**2).sum(-1))
    middle = (to * direction).sum(-1) / length**2
    foot = to - middle[..., None] * direction
    aside = np.sqrt((foot**2).sum(-1))
    with np.errstate(invalid="ignore"):
        half = np.sqrt(radius**2 - aside**2) / length
    return middle - half, middle + half, np.abs(aside - radius)


def met(spheres, rays, inside="enter"):
    """(M, N) the valid t of each pair, inf where there is none; and whether a ray is clear: no pair of it near to another case."""
    enter, leave, margin = roots(spheres, rays)
    first, last = rays[:, None, 3].astype(float), rays[:, None, 7].astype(float)
    if inside == "enter":
        t = np.where(leave >= first, np.maximum(enter, first), np.inf)
    elif inside == "exit":
        t = np.where(enter >= first, enter, leave)
    else:
        t = enter
    with np.errstate(invalid="ignore"):
        t = np.where((t >= first) & (t <= last), t, np.inf)
        near = np.zeros(t.shape, bool)
        for root in (enter, leave):
            for end in (first, last):
                near |= np.isfinite(root) & (np.abs(root - end) < APART * (1 + np.abs(root)))
    near |= margin < APART * (1 + spheres[:, 3])
    return np.where(np.isnan(t), np.inf, t), ~near.any(1)
