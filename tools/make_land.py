#!/usr/bin/env python3
"""Writes the coastlines of the Earth and the borders of its countries, land.bin and borders.bin, from Natural Earth (public domain).

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
    tools/make_land.py package crates/sky/src/data

The inputs are TopoJSON files. The outputs have lines of longitudes and latitudes in hundredths of a degree, simplified to a hundredth of a
degree (Douglas and Peucker, 1973). Islands and lakes below a thousandth of a square degree are dropped. A border is a line that two
countries share, with points at most a degree apart. Format:

    lines:  u16, little-endian
    line:   flags (one byte; bit 0: ice), number of points (zigzag varint), then the points. Coastlines are closed: the first point follows
            the last one.
    point:  longitude, beyond 180 degrees where a line crosses that meridian, and latitude, each as the difference from the previous point
            (the first one from 0), zigzag varint
"""

import json
import math
import struct
import sys

SCALE = 100
LEAST_AREA = 1e-3


def arcs_of(topology):
    (sx, sy), (tx, ty) = topology["transform"]["scale"], topology["transform"]["translate"]
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((x * sx + tx, y * sy + ty))
        yield points


def simplified(points, tolerance):
    """The points of a line that are needed to stay within the tolerance."""
    keep = {0, len(points) - 1}
    ranges = [(0, len(points) - 1)]
    while ranges:
        first, last = ranges.pop()
        (ax, ay), (bx, by) = points[first], points[last]
        dx, dy = bx - ax, by - ay
        length = dx * dx + dy * dy
        most, at = tolerance * tolerance, None
        for i in range(first + 1, last):
            px, py = points[i][0] - ax, points[i][1] - ay
            part = min(max((px * dx + py * dy) / length, 0), 1) if length else 0
            apart = (px - part * dx) ** 2 + (py - part * dy) ** 2
            if apart > most:
                most, at = apart, i
        if at is not None:
            keep.add(at)
            ranges += [(first, at), (at, last)]
    return [points[i] for i in sorted(keep)]


def unwrapped(points):
    """The ring with longitudes that continue beyond 180 degrees. A ring around the south pole is closed along it."""
    out = [points[0]]
    for x, y in points[1:]:
        x += 360 * round((out[-1][0] - x) / 360)
        out.append((x, y))
    if abs(out[-1][0] - out[0][0]) > 180:
        out += [(out[-1][0], -90), (out[0][0], -90)]
    return out


def area(points):
    return 0.5 * sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1]))


def contains(points, x, y):
    inside = False
    for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1]):
        if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
            inside = not inside
    return inside


def varint(value):
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return out


def rounded(points):
    whole = [(round(x * SCALE), round(y * SCALE)) for x, y in points]
    return [p for p, before in zip(whole, [None] + whole[:-1]) if p != before]


def coastlines(topology):
    """The rings of the land, each with whether ice covers it."""
    arcs = list(arcs_of(topology))
    rings = []
    for geometry in topology["objects"]["land"]["geometries"]:
        for polygon in geometry["arcs"]:
            for ring in polygon:
                points = []
                for number in ring:
                    arc = arcs[number] if number >= 0 else arcs[~number][::-1]
                    points += arc[1:] if points else arc
                rings.append(unwrapped(points))
    for ring in rings:
        if abs(area(ring)) < LEAST_AREA:
            continue
        # Split a ring at its farthest point: the two parts of a closed line have two ends.
        if ring[0] == ring[-1]:
            ring = ring[:-1]
        far = max(range(len(ring)), key=lambda i: (ring[i][0] - ring[0][0]) ** 2 + (ring[i][1] - ring[0][1]) ** 2)
        whole = rounded(simplified(ring[: far + 1], 0.01)[:-1] + simplified(ring[far:] + ring[:1], 0.01))
        if whole[0] == whole[-1]:
            whole.pop()
        if len(whole) < 3:
            continue
        # Antarctica and its islands, and Greenland, are under ice.
        low = min(y for _, y in whole)
        ice = max(y for _, y in whole) < -6000 or low < -6500 or contains(ring, -40, 75)
        yield ice, whole


def dense(points):
    """The line with points at most a degree apart: a border along a parallel follows it in every projection."""
    out = points[:1]
    for (ax, ay), (bx, by) in zip(points, points[1:]):
        count = math.ceil(max(abs(bx - ax), abs(by - ay), 1e-9))
        out += [(ax + (bx - ax) * i / count, ay + (by - ay) * i / count) for i in range(1, count + 1)]
    return out


def borders(topology):
    """The arcs that two countries share."""
    users = {}

    def visit(country, arcs):
        for arc in arcs:
            if isinstance(arc, int):
                users.setdefault(max(arc, ~arc), set()).add(country)
            else:
                visit(country, arc)

    for country, geometry in enumerate(topology["objects"]["countries"]["geometries"]):
        visit(country, geometry.get("arcs", []))
    for number, arc in enumerate(arcs_of(topology)):
        line = rounded(dense(simplified(arc, 0.01)))
        if len(users.get(number, ())) == 2 and len(line) > 1:
            yield False, line


def write(target, lines):
    out = bytearray()
    for ice, points in lines:
        out += bytes([int(ice)]) + varint(len(points))
        x = y = 0
        for px, py in points:
            out += varint(px - x) + varint(py - y)
            x, y = px, py
    with open(target, "wb") as file:
        file.write(struct.pack("<H", len(lines)) + out)
    print(f"{target}: {len(lines)} lines, {sum(len(points) for _, points in lines)} points, {len(out) + 2} bytes")


def main():
    source, target = sys.argv[1:3]
    for name, lines, output in [("land", coastlines, "land.bin"), ("countries", borders, "borders.bin")]:
        with open(f"{source}/{name}-50m.json") as file:
            write(f"{target}/{output}", list(lines(json.load(file))))


main()
