#!/usr/bin/env bash
# Tests the npm package and the page, in Node and in headless Chromium (CHROMIUM: its path). The answers are compared with those of the
# program umbracast (UMBRACAST: its path). Where something is missing, one line says so, and nothing is tested.
set -euo pipefail
cd "$(dirname "$0")/.."

lacks=
[ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ] || rustup target add wasm32-unknown-unknown >/dev/null 2>&1 || lacks="the target wasm32-unknown-unknown of Rust"
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || lacks=Chromium
node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null || lacks="Node 20 with npm"
if [ -z "$lacks" ] && [ ! -d web/node_modules ]; then
  npm --prefix web ci --ignore-scripts --no-audit --no-fund >/dev/null 2>&1 || lacks="npm's registry"
fi
if [ -n "$lacks" ]; then
  echo "NOT TESTED: the browser, because this is missing: $lacks"
  exit
fi
[ -x "${UMBRACAST:-target/release/umbracast}" ] || cargo build -q --release --locked -p umbracast-cli
web/build.sh sizes
RUSTFLAGS='-C target-feature=+simd128' CARGO_TARGET_DIR=target/web \
  cargo clippy -q --profile web --locked --target wasm32-unknown-unknown -p umbracast-web --no-deps -- -D warnings
if [ -x web/serve.sh ]; then web/serve.sh --build; fi
# Browsers of several files at once would share the cores, and take longer.
node --test --test-concurrency=1 --test-reporter=spec web/test/*.test.mjs | sed -E 's/^ℹ (pass|fail) ([0-9]+)$/\2 \1ed/'
