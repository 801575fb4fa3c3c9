#!/usr/bin/env python3
"""Writes the data of crates/sky/src/data, and the reference positions of its tests.

    python3 -m venv venv && venv/bin/pip install numpy jplephem skyfield skyfield-data
    venv/bin/python tools/make_ephemeris.py

* `ephemeris.bin`: JPL's DE421 (public domain, from the package skyfield-data) for 1900 to 2050, fitted again and rounded. The errors of the
  rounded series are printed. `crates/sky/src/ephemeris.rs` describes the format.
* `delta_t.csv`: TT - UT1. -720 to 1973 from Morrison, Stephenson, Hohenkerk and Zawilski (2020), then from IERS bulletins (finals2000A),
  both in the package skyfield. Beyond both ends, `crates/sky/src/delta_t.rs` extrapolates.
* `nutation.csv`: the largest terms of the nutation series IAU 2000A (IERS Conventions 2003, in the package skyfield).
* `tests/data/sky/positions.csv`: positions of Moon and Sun from the original DE421, and the rotation of the Earth, at 1,000 random dates.
"""

import math
import struct
from pathlib import Path

import numpy as np
import skyfield_data
from jplephem.spk import SPK
from skyfield.api import load
from skyfield.functions import load_bundled_npy

ROOT = Path(__file__).parent.parent
DATA = ROOT / "crates" / "sky" / "src" / "data"
DE421 = Path(skyfield_data.get_skyfield_data_path()) / "de421.bsp"

# Julian dates (TDB) of 1899-12-01 and 2051-02-01: a month more than promised on either side, for light time and for eclipses at the ends.
FIRST, LAST = 2414989.5, 2470203.5
J2000 = 2451545.0
# Ratio of the masses of Earth and Moon in DE421 (header constant EMRAT).
EMRAT = 81.3005690699153

# Body, centre (NAIF numbers; 0: the barycentre of the solar system), days per interval, coefficients, and the step of their values in km.
SERIES = [
    ("Moon", 301, 399, 8, 18, 0.0001),
    ("Sun", 10, 0, 64, 12, 0.02),
    ("Earth-Moon barycentre", 3, 0, 32, 14, 0.02),
    ("Mercury", 199, 0, 16, 18, 0.5),
    ("Venus", 299, 0, 32, 18, 0.5),
    ("Mars", 499, 0, 64, 18, 0.5),
    ("Jupiter", 5, 0, 128, 12, 2.0),
    ("Saturn", 6, 0, 256, 12, 2.0),
    ("Uranus", 7, 0, 256, 10, 4.0),
    ("Neptune", 8, 0, 256, 10, 4.0),
]


def position(kernel, target, center, jd, fraction=0.0):
    """Position in km. `jd` and `fraction` are arrays."""
    if (target, center) == (301, 399):
        return kernel[3, 301].compute(jd, fraction) - kernel[3, 399].compute(jd, fraction)
    if target in (199, 299, 499):
        return kernel[0, target // 100].compute(jd, fraction) + kernel[target // 100, target].compute(jd, fraction)
    return kernel[center, target].compute(jd, fraction)


class Bits:
    """Signed integers of given widths, the lowest bit first."""

    def __init__(self):
        self.value, self.length = [], 0

    def add(self, number, width):
        assert -(1 << (width - 1)) <= number < (1 << (width - 1)) if width else number == 0, (number, width)
        mask = (1 << width) - 1
        self.value.append((number & mask, width))
        self.length += width

    def bytes(self):
        out, held, count = bytearray(), 0, 0
        for number, width in self.value:
            held |= number << count
            count += width
            whole = count // 8
            out += (held & ((1 << 8 * whole) - 1)).to_bytes(whole, "little")
            held >>= 8 * whole
            count -= 8 * whole
        if count:
            out.append(held)
        return bytes(out)


def series(kernel, name, target, center, days, size, step):
    """Coefficients of one body, as integers (interval, axis, coefficient), and their widths in bits (axis, coefficient)."""
    intervals = math.ceil((LAST - FIRST) / days)
    nodes = np.cos(np.pi * (np.arange(2 * size) + 0.5) / (2 * size))
    basis = np.polynomial.chebyshev.chebvander(nodes, size - 1)
    weights = basis * np.where(np.arange(size) == 0, 1, 2) / len(nodes)
    middle = FIRST + days * (np.arange(intervals) + 0.5)
    jd = np.repeat(middle, len(nodes))
    # The end of the last interval may lie beyond the data of the kernel by no more than a part of a day of it.
    fraction = np.tile(nodes * days / 2, intervals)
    values = position(kernel, target, center, jd, fraction).reshape(3, intervals, len(nodes))
    fitted = np.einsum("ain,nc->iac", values, weights)
    scaled = np.rint(fitted / step).astype(np.int64)
    most = np.maximum(np.abs(scaled), np.abs(scaled + 1)).max(axis=0)
    widths = np.array([[int(m).bit_length() + 1 if s.any() else 0 for m, s in zip(row, columns)]
                       for row, columns in zip(most, scaled.transpose(1, 2, 0))])
    used = max(c for c in range(size) if widths[:, c].any()) + 1
    assert used < size, f"{name}: {size} coefficients are too few for a step of {step} km"
    return scaled[:, :, :used], widths[:, :used]


def write_ephemeris(kernel):
    header, blocks = b"", []
    random = np.random.default_rng(421)
    table = 8 + 16 + 8 + 8 + 8 + 4
    offset = table
    chosen = []
    for name, target, center, days, size, step in SERIES:
        scaled, widths = series(kernel, name, target, center, days, size, step)
        bits = Bits()
        for interval in scaled:
            for axis in range(3):
                for number, width in zip(interval[axis], widths[axis]):
                    bits.add(int(number), int(width))
        chosen.append((name, target, center, days, step, scaled, widths, bits.bytes()))
        offset += 2 + 2 + 4 + 4 + 8 + 4 + 4 + 3 * widths.shape[1]
    for name, target, center, days, step, scaled, widths, block in chosen:
        header += struct.pack("<hhIIdII", target, center, days, len(scaled), step, widths.shape[1], offset)
        header += widths.astype(np.uint8).tobytes()
        offset += len(block)
        blocks.append(block)
        # Error at random dates.
        jd = np.floor(random.uniform(FIRST + 1, LAST - 2, 20000))
        fraction = random.uniform(0, 1, len(jd))
        since = (jd - FIRST) + fraction
        index = np.floor(since / days).astype(int)
        x = 2 * (since / days - index) - 1
        values = np.einsum("nc,nac->an", np.polynomial.chebyshev.chebvander(x, scaled.shape[2] - 1), scaled[index] * step)
        error = np.linalg.norm(values - position(kernel, target, center, jd, fraction), axis=0)
        print(f"{name}: {len(block)} bytes, {widths.sum()} bits per {days} days, error at most {error.max() * 1000:.3f} m")
    head = b"UMBSKY01" + b"JPL DE421".ljust(16, b"\0") + struct.pack("<dddI", FIRST - J2000, LAST - J2000, EMRAT, len(SERIES))
    assert len(head) == table and len(head + header + b"".join(blocks)) == offset
    # The reader loads eight bytes at a time.
    data = head + header + b"".join(blocks) + bytes(8)
    (DATA / "ephemeris.bin").write_bytes(data)
    print(f"ephemeris.bin: {len(data)} bytes")


def write_delta_t(scale):
    """Every 10 years before 1600, half-yearly before 1973, monthly after; up to the last value of the bulletins that skyfield has."""
    last = scale.delta_t_table[0][-1]
    lines = ["# Year (UT), and TT - UT1 in seconds. Written by tools/make_ephemeris.py, which names the sources.", "year,delta_t_s"]
    for month in range(-720 * 12, 2052 * 12):
        year = month / 12
        tt = 2451544.5 + (year - 2000) * 365.25
        if tt > last or (year < 1600 and month % 120) or (year < 1973 and month % 6):
            continue
        lines.append(f"{year:.4f},{float(scale.tt_jd(tt).delta_t):.3f}")
    (DATA / "delta_t.csv").write_text("\n".join(lines) + "\n")
    print(f"delta_t.csv: {len(lines) - 2} values, the last is {lines[-1]}")


def write_nutation():
    """Terms with an amplitude of at least 0.1 mas. Amplitudes are in 0.1 microarcseconds."""
    source = load_bundled_npy("nutation.npz")
    multiples = source["nals_t"]
    longitude, obliquity = source["lunisolar_longitude_coefficients"], source["lunisolar_obliquity_coefficients"]
    lines = ["# Nutation IAU 2000A: multiples of l, l', F, D and Omega; then in 0.1 microarcseconds the coefficients in longitude",
             "# (sin, t sin, cos) and in obliquity (cos, t cos, sin). Written by tools/make_ephemeris.py.",
             "l,l1,f,d,om,psi_sin,psi_t_sin,psi_cos,eps_cos,eps_t_cos,eps_sin"]
    for angles, psi, eps in zip(multiples, longitude, obliquity):
        if max(abs(psi[0]), abs(psi[2]), abs(eps[0]), abs(eps[2])) >= 1000:
            lines.append(",".join(f"{float(number):.0f}" for number in [*angles, *psi, *eps]))
    (DATA / "nutation.csv").write_text("\n".join(lines) + "\n")
    print(f"nutation.csv: {len(lines) - 3} terms")


def write_reference(kernel, scale):
    random = np.random.default_rng(2024)
    lines = ["tdb_seconds_j2000,moon_x_km,moon_y_km,moon_z_km,sun_x_km,sun_y_km,sun_z_km,zenith_x,zenith_y,zenith_z"]
    # Whole minutes, so that every column of time is exact. `zenith`: the ITRS vector (1, 2, 2) / 3 in GCRS axes, with UT1 = TT - 60 s.
    for minutes in np.sort(random.integers(-52596000, 26297000, 1000)):
        days, rest = divmod(int(minutes), 1440)
        jd, fraction = J2000 + days, rest / 1440
        moon = position(kernel, 301, 399, jd, fraction)
        earth = kernel[0, 3].compute(jd, fraction) + kernel[3, 399].compute(jd, fraction)
        sun = kernel[0, 10].compute(jd, fraction) - earth
        time = scale.tdb_jd(jd, fraction)
        time.delta_t = 60.0
        zenith = time.M.T @ rotation(time.gast) @ np.array([1, 2, 2]) / 3
        row = [f"{int(minutes) * 60}", *(f"{v:.6f}" for v in moon), *(f"{v:.4f}" for v in sun), *(f"{v:.12f}" for v in zenith)]
        lines.append(",".join(row))
    (ROOT / "tests" / "data" / "sky" / "positions.csv").write_text("\n".join(lines) + "\n")


def rotation(hours):
    angle = hours * math.pi / 12
    return np.array([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]])


def main():
    kernel = SPK.open(DE421)
    scale = load.timescale(builtin=True)
    DATA.mkdir(exist_ok=True)
    write_delta_t(scale)
    write_nutation()
    write_reference(kernel, scale)
    write_ephemeris(kernel)


if __name__ == "__main__":
    main()
