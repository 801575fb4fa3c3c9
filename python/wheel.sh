#!/usr/bin/env bash
# Builds one Linux wheel for CPython 3.10 and newer: manylinux_2_28, that is glibc 2.28 or newer, whatever glibc this machine has.
# The linker is Zig's, from PyPI, because only it can target a glibc older than that of the machine.
#   python/wheel.sh [FOLDER]     writes to target/wheels, or FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
out=${1:-$target/wheels}
tools=$target/wheel-tools
[ -x "$tools/bin/maturin" ] || python3 -m venv "$tools"
"$tools/bin/pip" install -q "maturin[zig]==1.16.0" "auditwheel==6.8.2"
# maturin looks for Zig in the first Python on PATH.
PATH="$(cd "$tools/bin" && pwd):$PATH" maturin build --release --locked --zig --compatibility manylinux_2_28 \
  -m python/Cargo.toml -o "$out"
for wheel in "$out"/umbracast-*manylinux_2_28*.whl; do "$tools/bin/auditwheel" show "$wheel"; done
