#!/usr/bin/env python3
"""Deterministic sphere scenes and ray batches for the comparison with peers.

    make_scene.py OUT_DIR SCENE [SCENE ...] [--rays KIND,KIND] [--count N] [--width W] [--seed S]

Scenes (N may carry a k or M suffix)
    uniform-N     unit cube, r = 0.5 * N^(-1/3): dense, about half the volume is filled
    sparse-N      unit cube, N * pi * r^2 = 1: about 60 % of crossing rays hit something
    clustered-N   Gaussian clusters of varied width, log-normal radii
    molecule-N    cubic lattice of exactly touching balls with 30 % vacancies
    chain-N       folded chains of atoms with van der Waals radii; each overlaps about ten others
    scan-N        thin sheets of points, as from LiDAR: terrain, walls and treetops
    power-N       unit cube, radii with a power law from 1 to 100 times the least: heavy overlap
    lattice-N     regular cubic lattice, r = 0.3 of the spacing
    planet        one sphere of radius 6371 and 2000 satellites at 7000 to 42000

Ray kinds
    primary       pinhole camera, scan-line order
    primary4x4    the same rays in 4 x 4 pixel tiles, so 16 consecutive rays are one tile
    random        from the bounding sphere towards random points in the bounding box
    shadow        from sphere surfaces towards a fixed sun, random order
    parallel      orthographic camera, scan-line order
    lidar         sweeps of 64 channels from 8 places inside the scene, in the order of a sensor
    short         ambient occlusion: from random sphere surfaces, cosine-weighted, tmax = 8 median radii

Files: OUT_DIR/SCENE.spheres (f32 x y z r) and OUT_DIR/SCENE-KIND.rays
(f32 ox oy oz dx dy dz tmin tmax), little-endian, no header.
Directions have unit length; tmin is 0, and tmax is +inf except for short rays.
"""

import argparse
import pathlib
import re
import zlib

import numpy as np

KINDS = ("primary", "primary4x4", "random", "shadow", "parallel", "lidar", "short")
SUN = np.array([0.4, 0.3, 0.866])


def parse_count(text):
    scale = {"k": 1_000, "M": 1_000_000}.get(text[-1], 1)
    return int(text[:-1] if scale > 1 else text) * scale


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def uniform(rng, n):
    return rng.random((n, 3)), np.full(n, 0.5 * n ** (-1 / 3))


def sparse(rng, n):
    return rng.random((n, 3)), np.full(n, (np.pi * n) ** -0.5)


def clustered(rng, n):
    clusters = max(4, n // 4000)
    centres = rng.random((clusters, 3))
    widths = rng.lognormal(np.log(0.25 * clusters ** (-1 / 3)), 0.6, clusters)
    member = rng.integers(0, clusters, n)
    points = centres[member] + rng.standard_normal((n, 3)) * widths[member, None]
    return points, rng.lognormal(np.log(0.12 * n ** (-1 / 3)), 0.7, n)


def molecule(rng, n):
    side = int(np.ceil((n / 0.7) ** (1 / 3)))
    sites = rng.choice(side**3, size=n, replace=False)
    points = np.stack(np.unravel_index(sites, (side,) * 3), axis=1).astype(float)
    return points, np.full(n, 0.5)


def planet(rng, satellites=2000):
    distance = rng.uniform(7000.0, 42000.0, satellites)
    points = unit(rng.standard_normal((satellites, 3))) * distance[:, None]
    radii = np.exp(rng.uniform(np.log(0.01), np.log(1.0), satellites))
    return np.vstack([np.zeros((1, 3)), points]), np.concatenate([[6371.0], radii])


def chain(rng, n):
    """Random walks of 1.5 per step, each turned back at a ball of its own with a tenth of an atom per unit volume."""
    length = 5000
    points = np.empty((n, 3))
    side = int(np.ceil((n / length) ** (1 / 3)))
    for first in range(0, n, length):
        count = min(length, n - first)
        room = (30 * count / (4 * np.pi)) ** (1 / 3)
        turns = rng.normal(0, 0.7, (count, 3)).tolist()
        place, heading, walk = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], []
        for turn in turns:
            heading = [a + b for a, b in zip(heading, turn)]
            scale = 1.5 / max(sum(a * a for a in heading) ** 0.5, 1e-9)
            if sum((p + scale * a) ** 2 for p, a in zip(place, heading)) > room * room:
                heading = [0.3 * a - p / room for p, a in zip(place, heading)]
                scale = 1.5 / max(sum(a * a for a in heading) ** 0.5, 1e-9)
            heading = [scale / 1.5 * a for a in heading]
            place = [p + 1.5 * a for p, a in zip(place, heading)]
            walk.append(place)
        k = first // length
        site = np.array([k % side, k // side % side, k // side**2])
        points[first : first + count] = np.array(walk) + site * 1.9 * (30 * length / (4 * np.pi)) ** (1 / 3)
    # Hydrogen, carbon, nitrogen, oxygen and sulfur, as frequent as in proteins.
    return points, rng.choice([1.1, 1.7, 1.55, 1.52, 1.8], size=n, p=[0.5, 0.32, 0.085, 0.09, 0.005])


def scan(rng, n):
    """60 % terrain, 25 % walls, 15 % treetops, in a square of side 1; the radius is half the spacing of the points."""
    height = lambda x, y: 0.03 * np.sin(5 * x + 1) * np.cos(4 * y) + 0.01 * np.sin(17 * x) * np.sin(13 * y + 2)
    walls, trees = n // 4, n * 15 // 100
    ground = np.column_stack([rng.random((n - walls - trees, 2)), np.zeros(n - walls - trees)])
    ground[:, 2] = height(ground[:, 0], ground[:, 1])
    houses = np.column_stack([rng.random((40, 2)) * 0.9, rng.uniform(0.02, 0.08, (40, 3))])  # corner, sides, height
    house = houses[rng.integers(0, 40, walls)]
    along, side = rng.random(walls), rng.integers(0, 4, walls)
    x = house[:, 0] + house[:, 2] * np.where(side < 2, along, side - 2)
    y = house[:, 1] + house[:, 3] * np.where(side < 2, side, along)
    wall = np.column_stack([x, y, height(x, y) + house[:, 4] * rng.random(walls)])
    trunks = np.column_stack([rng.random((60, 2)), rng.uniform(0.01, 0.03, 60)])
    trunk = trunks[rng.integers(0, 60, trees)]
    top = trunk[:, 2:] * unit(rng.standard_normal((trees, 3))) * rng.normal(1, 0.08, (trees, 1))
    top += np.column_stack([trunk[:, :2], height(trunk[:, 0], trunk[:, 1]) + 2 * trunk[:, 2]])
    points = np.vstack([ground, wall, top])
    points += rng.normal(0, 1e-3 * n**-0.5, points.shape)  # noise of the range
    return points, np.full(n, 0.5 * n**-0.5)


def power(rng, n):
    return rng.random((n, 3)), 0.12 * n ** (-1 / 3) * np.minimum((1 - rng.random(n)) ** -0.5, 100)


def lattice(rng, n):
    side = int(np.ceil(n ** (1 / 3)))
    sites = np.arange(n)
    return np.stack(np.unravel_index(sites, (side,) * 3), axis=1).astype(float), np.full(n, 0.3)


FAMILIES = {
    "uniform": uniform,
    "sparse": sparse,
    "clustered": clustered,
    "molecule": molecule,
    "chain": chain,
    "scan": scan,
    "power": power,
    "lattice": lattice,
}


def is_scene(name):
    return name == "planet" or re.fullmatch(rf"({'|'.join(FAMILIES)})-[1-9]\d*[kM]?", name)


def build_scene(name, rng):
    if name == "planet":
        points, radii = planet(rng)
    else:
        family, _, count = name.partition("-")
        points, radii = FAMILIES[family](rng, parse_count(count))
    return np.column_stack([points, radii]).astype("<f4")


def pack(origins, directions, tmin=0.0, tmax=np.inf):
    rays = np.empty((len(origins), 8), dtype="<f4")
    rays[:, 0:3], rays[:, 3:6], rays[:, 6], rays[:, 7] = origins, unit(directions), tmin, tmax
    return rays


def bounds(spheres):
    low = (spheres[:, :3] - spheres[:, 3:]).min(axis=0).astype(float)
    high = (spheres[:, :3] + spheres[:, 3:]).max(axis=0).astype(float)
    return low, high


def primary(spheres, width, tile=1):
    low, high = bounds(spheres)
    centre, radius = (low + high) / 2, np.linalg.norm(high - low) / 2
    forward = -unit(np.array([1.0, 0.7, 0.5]))
    right = unit(np.cross(forward, [0.0, 0.0, 1.0]))
    up = np.cross(right, forward)
    half = np.tan(np.radians(20.0))  # 40 degree field of view
    eye = centre - forward * radius / np.sin(np.radians(20.0)) * 0.9
    y, x = np.mgrid[0:width, 0:width]
    if tile > 1:
        n = width // tile
        y, x = (a.reshape(n, tile, n, tile).swapaxes(1, 2) for a in (y, x))
    sx = (2 * (x.ravel() + 0.5) / width - 1) * half
    sy = (1 - 2 * (y.ravel() + 0.5) / width) * half
    directions = forward + sx[:, None] * right + sy[:, None] * up
    return pack(np.broadcast_to(eye, directions.shape), directions)


def random(spheres, count, rng):
    low, high = bounds(spheres)
    centre, radius = (low + high) / 2, np.linalg.norm(high - low) / 2
    origins = centre + unit(rng.standard_normal((count, 3))) * radius
    targets = low + rng.random((count, 3)) * (high - low)
    return pack(origins, targets - origins)


def shadow(spheres, count, rng):
    """Half of the rays start on a random sphere, half on one chosen with a probability proportional to its area."""
    area = spheres[:, 3].astype(float) ** 2
    by_area = np.searchsorted(np.cumsum(area) / area.sum(), rng.random(count))
    by_index = rng.integers(0, len(spheres), count)
    chosen = spheres[np.where(rng.random(count) < 0.5, by_index, np.minimum(by_area, len(spheres) - 1))].astype(float)
    sun = unit(SUN)
    normals = unit(rng.standard_normal((count, 3)))
    facing = normals @ sun
    normals[facing < 0] -= 2 * facing[facing < 0, None] * sun
    origins = chosen[:, :3] + normals * chosen[:, 3:] * 1.001
    return pack(origins, np.broadcast_to(sun, origins.shape))


def parallel(spheres, width):
    low, high = bounds(spheres)
    centre, radius = (low + high) / 2, np.linalg.norm(high - low) / 2
    forward = -unit(np.array([1.0, 0.7, 0.5]))
    right = unit(np.cross(forward, [0.0, 0.0, 1.0]))
    up = np.cross(right, forward)
    y, x = np.mgrid[0:width, 0:width]
    sx, sy = (2 * (x.ravel() + 0.5) / width - 1) * radius, (1 - 2 * (y.ravel() + 0.5) / width) * radius
    origins = centre - 1.5 * radius * forward + sx[:, None] * right + sy[:, None] * up
    return pack(origins, np.broadcast_to(forward, origins.shape))


def lidar(spheres, count, rng):
    """Places are centres of the scene's spheres, raised by 2 % of its diagonal; the channels lie between -25 and 15 degrees."""
    low, high = bounds(spheres)
    places = spheres[rng.integers(0, len(spheres), 8), :3] + np.array([0, 0, 0.02]) * np.linalg.norm(high - low)
    turns = max(1, count // (64 * 8))
    place, turn, channel = (a.ravel() for a in np.mgrid[0:8, 0:turns, 0:64])
    azimuth, elevation = 2 * np.pi * turn / turns, np.radians(-25 + 40 * channel / 63)
    flat = np.cos(elevation)
    return pack(places[place], np.column_stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)]))


def short(spheres, count, rng):
    chosen = spheres[rng.integers(0, len(spheres), count)].astype(float)
    normals = unit(rng.standard_normal((count, 3)))
    directions = normals + 0.9999 * unit(rng.standard_normal((count, 3)))
    origins = chosen[:, :3] + normals * chosen[:, 3:] * 1.001
    return pack(origins, directions, tmax=8 * np.median(spheres[:, 3]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("scenes", nargs="+")
    parser.add_argument("--rays", default="primary,primary4x4,random,shadow")
    parser.add_argument("--count", type=parse_count, default=2_000_000, help="rays in batches without a picture")
    parser.add_argument("--width", type=int, default=1024, help="side of the pictures in pixels")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    kinds = [k for k in args.rays.split(",") if k]
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"unknown ray kinds: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    if unknown := [name for name in args.scenes if not is_scene(name)]:
        parser.error(f"unknown scenes: {', '.join(unknown)}; there are {'-N, '.join(FAMILIES)}-N and planet")
    if not kinds or args.count < 1 or args.width < 1:
        parser.error("there must be rays")

    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.scenes:
        stream = lambda part: np.random.default_rng([args.seed, zlib.crc32(f"{name}/{part}".encode())])
        spheres = build_scene(name, stream("spheres"))
        spheres.tofile(args.out / f"{name}.spheres")
        for kind in kinds:
            rays = {
                "primary": lambda: primary(spheres, args.width),
                "primary4x4": lambda: primary(spheres, args.width, tile=4),
                "random": lambda: random(spheres, args.count, stream("random")),
                "shadow": lambda: shadow(spheres, args.count, stream("shadow")),
                "parallel": lambda: parallel(spheres, args.width),
                "lidar": lambda: lidar(spheres, args.count, stream("lidar")),
                "short": lambda: short(spheres, args.count, stream("short")),
            }[kind]()
            rays.tofile(args.out / f"{name}-{kind}.rays")
        print(f"{name}: {len(spheres)} spheres, radius {spheres[:, 3].min():.4g} to {spheres[:, 3].max():.4g}")


if __name__ == "__main__":
    main()
