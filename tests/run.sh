#!/usr/bin/env bash
# Makes everything pass from a bare Debian or Ubuntu machine with Rust on it.
#   tests/run.sh                everything: installs a software Vulkan driver where there is no adapter, and venv for Python
#   tests/run.sh core           stops after Rust: no Python, no lints, no documentation, no commands of the README
#   tests/run.sh --full         adds the long checks: a hundred times as many random cases, 10⁸ rays, archives above 4 GiB
#   tests/run.sh --no-install   installs nothing, and says what it would
set -euo pipefail
cd "$(dirname "$0")/.."

core= full= install=1
for argument in "$@"; do
  case $argument in
    core) core=1 ;;
    --full) full=1 ;;
    --no-install) install= ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "tests/run.sh: '$argument' is not core, --full or --no-install" >&2; exit 2 ;;
  esac
done

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'tests/run.sh: %s\n' "$*" >&2; exit 1; }

get() { # WHY PACKAGE...: installs Debian's packages, or says what it would
  why=$1
  shift
  if [ -z "$install" ]; then
    fail "$why; without --no-install this would run: apt-get install -y --no-install-recommends $*"
  fi
  command -v apt-get >/dev/null || fail "$why, and no apt-get to install $* with"
  sudo=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "$why; as root run: apt-get install -y --no-install-recommends $*"
    sudo=sudo
  fi
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

command -v cargo >/dev/null || fail "cargo is missing: install Rust 1.89 or newer from https://rustup.rs"
command -v cc >/dev/null || fail "a C linker is missing: apt-get install gcc libc6-dev"

# A second software adapter comes with Debian's Chromium; tried when it is there.
swiftshader=/usr/lib/chromium/vk_swiftshader_icd.json
if [ -f "$swiftshader" ] && [ -z "${VK_DRIVER_FILES:-}" ]; then
  export VK_ADD_DRIVER_FILES=${VK_ADD_DRIVER_FILES:-$swiftshader}
fi

say "building"
cargo build --release --locked

say "looking for an adapter"
has_adapter() { ./target/release/umbracast devices --json | grep -q '"backend":"\(Vulkan\|Metal\|Dx12\)"'; }
if ! has_adapter; then
  get "no GPU adapter" mesa-vulkan-drivers libvulkan1
  has_adapter || fail "no GPU adapter even with mesa-vulkan-drivers: see umbracast devices --report"
fi
./target/release/umbracast devices

say "tests"
# A cached kernel may have been compiled for another vector width than the one now reported.
export MESA_SHADER_CACHE_DISABLE=true
# Mesa's desktop layer complains on stderr, twice an adapter, where there is no desktop.
[ -n "${XDG_RUNTIME_DIR:-}" ] || export NODEVICE_SELECT=1
# A bare container may lack them; nothing else can show what a terminal shows.
if [ "$(uname -s)" = Linux ] && ! grep -qs ' devpts ' /proc/self/mounts; then
  say "NOT TESTED: the progress bar, for want of pseudo-terminals (mount -t devpts devpts /dev/pts)"
  export UMBRACAST_NO_TERMINAL=1
fi
if [ -n "$full" ]; then
  export UMBRACAST_FULL=1 PROPTEST_CASES=${PROPTEST_CASES:-50000}
fi
cargo test --release --locked --features parquet
say "tests of what a build without Parquet says"
cargo test --release --locked --test parquet

if [ -n "$core" ]; then exit 0; fi

say "the Python package"
python3 -c 'import ensurepip, venv' 2>/dev/null || get "no Python with venv" python3 python3-venv
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "the Python tests need Python 3.11 or newer (the package 3.10)"
rm -rf target/python target/wheels
python3 -m venv target/python
target/python/bin/pip wheel -q --no-deps -w target/wheels ./python
target/python/bin/pip install -q -r python/tests/requirements.txt target/wheels/umbracast-*.whl
# The package that was installed is tested, not the folder.
target/python/bin/pytest -c python/pyproject.toml python/tests

component() { # NAME COMMAND: a toolchain part that a minimal Rust lacks
  cargo "$2" --version >/dev/null 2>&1 && return
  [ -n "$install" ] && command -v rustup >/dev/null && rustup component add "$1" && return
  fail "cargo $2 is missing: rustup component add $1"
}
say "format"
component rustfmt fmt
cargo fmt --all --check
say "lints"
component clippy clippy
cargo clippy --release --locked --all-targets --features parquet -- -D warnings
cargo clippy --release --locked --all-targets -- -D warnings
say "the library without the command line"
cargo clippy --release --locked --no-default-features --lib --tests -- -D warnings
say "the Python package's Rust"
cargo clippy --release --locked -p umbracast-python -- -D warnings
say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --release --locked --no-deps --features parquet

say "all passed"
