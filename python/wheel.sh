#!/usr/bin/env bash
# Builds one Linux wheel for CPython 3.10 and newer: manylinux_2_28, that is glibc 2.28 or newer, whatever glibc this machine has.
# The linker is Zig's, from PyPI, because it can target other processors, and a glibc older than that of the machine.
#   python/wheel.sh [FOLDER]                                       for this machine's processor; writes to target/wheels, or FOLDER
#   python/wheel.sh --target aarch64-unknown-linux-gnu [FOLDER]    for another one, whose Rust target is installed (rustup target add)
#   python/wheel.sh --target x86_64-unknown-linux-musl [FOLDER]    for musl, such as Alpine (musllinux_1_2)
#   python/wheel.sh --sdist [FOLDER]                               the source archive instead, which needs a compiler where it is installed
# A package index shows the tutorial without the files next to it. So before an upload, set UMBRACAST_URL to the address of the project's
# files, such as https://example.org/umbracast/raw/main: links and pictures of the tutorial then begin with it.
set -euo pipefail
cd "$(dirname "$0")/.."
cross=() sdist=
case ${1:-} in
  --target) cross=(--target "$2"); shift 2 ;;
  --sdist) sdist=1; shift ;;
  -*) echo "python/wheel.sh: '$1' is not --target or --sdist" >&2; exit 2 ;;
esac
target=${CARGO_TARGET_DIR:-target}
out=${1:-$target/wheels}
tools=$target/wheel-tools
[ -x "$tools/bin/maturin" ] || python3 -m venv "$tools"
"$tools/bin/pip" install -q "maturin[zig]==1.16.0" "auditwheel==6.8.2" "twine==7.0.0"
readme=python/README.md
if [ -n "${UMBRACAST_URL:-}" ]; then
  own=$(mktemp)
  cp "$readme" "$own"
  trap 'cp "$own" "$readme"; rm "$own"' EXIT
  sed -E -i "s|\]\(\.\./|](${UMBRACAST_URL%/}/|g; s|\]\(([A-Za-z]+\.md)|](${UMBRACAST_URL%/}/python/\1|g" "$readme"
fi
if [ -n "$sdist" ]; then
  "$tools/bin/maturin" sdist -m python/Cargo.toml -o "$out"
  "$tools/bin/twine" check --strict "$out"/umbracast-*.tar.gz
  exit
fi
platform=manylinux_2_28
case "${cross[*]}" in *musl*) platform=musllinux_1_2 ;; esac
# maturin looks for Zig in the first Python on PATH.
PATH="$(cd "$tools/bin" && pwd):$PATH" maturin build --release --locked --zig --compatibility "$platform" "${cross[@]}" \
  -m python/Cargo.toml -o "$out"
# maturin has checked the wheel. auditwheel checks it again, but knows only the C library of this machine.
[ "$platform" = musllinux_1_2 ] || for wheel in "$out"/umbracast-*"$platform"*.whl; do "$tools/bin/auditwheel" show "$wheel"; done
"$tools/bin/twine" check --strict "$out"/umbracast-*"$platform"*.whl
