#!/usr/bin/env bash
# Builds the WebAssembly module of the npm package into web/package, and checks its compressed size.
#   web/build.sh          the whole engine
#   web/build.sh sizes    also a module that only casts rays, for its size
# It needs Rust 1.89 with rustup, or with the target wasm32-unknown-unknown, and Node 20 with npm. It installs the other tools.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { printf 'web/build.sh: %s\n' "$*" >&2; exit 1; }

target=wasm32-unknown-unknown
[ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || rustup target add $target || fail "Rust has no target $target"
command -v npm >/dev/null || fail "npm is missing: install Node 20 or newer"
# The crate and the command must have the same version.
version=$(sed -n 's/^wasm-bindgen = "=\(.*\)"/\1/p' web/engine/Cargo.toml)
bindgen=target/web-tools/bin/wasm-bindgen
if [ "$($bindgen --version 2>/dev/null)" != "wasm-bindgen $version" ]; then
  # Compiled without optimisation: it runs for seconds, and is compiled faster.
  cargo install -q --debug wasm-bindgen-cli --version "=$version" --root target/web-tools
fi
[ -d web/node_modules ] || npm --prefix web ci --ignore-scripts --no-audit --no-fund

features=(--enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals
  --enable-reference-types --enable-multivalue)
build() { # FOLDER LIMIT FEATURE...: builds with these features, and checks the size
  local out=$1 limit=$2 module=target/web/$target/web/umbracast_web.wasm
  shift 2
  RUSTFLAGS='-C target-feature=+simd128' CARGO_TARGET_DIR=target/web \
    cargo build -q --profile web --locked --target $target -p umbracast-web --no-default-features --features "$*"
  # Features have folders of their own, so an older module has not changed.
  if [ "$out/umbracast_bg.wasm" -nt "$module" ]; then return; fi
  $bindgen --target web --omit-default-module-path --no-typescript --out-name umbracast --out-dir "$out" "$module"
  web/node_modules/.bin/wasm-opt -O3 "${features[@]}" "$out/umbracast_bg.wasm" -o "$out/umbracast_bg.wasm"
  local bytes
  bytes=$(gzip -9 -c "$out/umbracast_bg.wasm" | wc -c)
  printf '%s: %d bytes, compressed; at most %d\n' "${*:-rays only}" "$bytes" "$limit"
  [ "$bytes" -le "$limit" ] || fail "the module is too large"
}
[ "${1:-}" != sizes ] || build target/web/rays 620000
build web/package/wasm 1230000 sky
cp crates/sky/src/data/ephemeris.bin web/package/wasm
cp LICENSE-* web/package
node web/types.mjs
node web/inline.mjs
