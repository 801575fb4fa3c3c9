#!/usr/bin/env bash
# Tests the npm package and the page, in Node and in headless Chromium. It needs web/build.sh's tools, Chromium (CHROMIUM: its path), and the
# program umbracast, to whose answers those of the browser must be equal (UMBRACAST: its path).
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x "${UMBRACAST:-target/release/umbracast}" ] || cargo build -q --release --locked -p umbracast-cli
web/build.sh sizes
cargo fmt --check -p umbracast-web
RUSTFLAGS='-C target-feature=+simd128' CARGO_TARGET_DIR=target/web \
  cargo clippy -q --profile web --locked --target wasm32-unknown-unknown -p umbracast-web -- -D warnings
if [ -x web/serve.sh ]; then web/serve.sh --build; fi
# Browsers of several files at once would share the cores, and take longer.
node --test --test-concurrency=1 --test-reporter=spec web/test/*.test.mjs
