#!/usr/bin/env bash
# Runs the unit tests of the library for 64-bit ARM, where the CPU engine uses NEON, in an emulator. The test of GPU compilers is left out: it
# starts its own program again.
# Needs rustup and qemu-user (apt-get install qemu-user); installs the Rust target. No C compiler is needed.
#   tests/arm.sh [FILTER]
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-musl
command -v qemu-aarch64 >/dev/null || { echo "tests/arm.sh: no qemu-aarch64; run: apt-get install -y --no-install-recommends qemu-user" >&2; exit 1; }
rustup target add "$target"
# Rust brings its own linker and musl, which has dlopen in libc. A crate still asks for libdl.
mkdir -p target/arm
printf '!<arch>\n' > target/arm/libdl.a
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="-C linker=rust-lld -L native=$PWD/target/arm" CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64 \
  cargo --config tests/checked.toml test --release --locked --target "$target" -p umbracast --lib -- --skip gpu::compiler_tests "$@"
