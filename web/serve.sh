#!/usr/bin/env bash
# Builds the page into web/dist, a folder of static files, and serves it on this computer. The first run installs the tools.
#   web/serve.sh [PORT]       default 8080
#   web/serve.sh --build      only builds: any server of static files can serve web/dist
# It needs what web/build.sh needs: Rust with rustup, and Node 20 with npm.
set -euo pipefail
cd "$(dirname "$0")"
./build.sh
rm -rf dist
mkdir -p dist/package
cp -r page/. dist
cp -r package/{index,api,calls,worker}.js package/wasm dist/package
[ "${1:-}" = --build ] || exec node serve.mjs dist "${1:-8080}"
