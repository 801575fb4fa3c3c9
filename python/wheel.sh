#!/usr/bin/env bash
# Builds the wheel for Linux, one for every CPython from 3.10 on: manylinux_2_28, which means glibc 2.28 or newer, whatever this machine has.
# The linker is Zig's, from PyPI, for it alone can aim at an older glibc than the machine's own.
#   python/wheel.sh [FOLDER]     into target/wheels, or FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
out=${1:-$target/wheels}
tools=$target/wheel-tools
[ -x "$tools/bin/maturin" ] || python3 -m venv "$tools"
"$tools/bin/pip" install -q "maturin[zig]==1.16.0" "auditwheel==6.8.2"
# maturin looks for Zig in the Python that it finds first.
PATH="$(cd "$tools/bin" && pwd):$PATH" maturin build --release --locked --zig --compatibility manylinux_2_28 \
  -m python/Cargo.toml -o "$out"
for wheel in "$out"/umbracast-*manylinux_2_28*.whl; do "$tools/bin/auditwheel" show "$wheel"; done
