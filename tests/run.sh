#!/usr/bin/env bash
# Makes everything pass from a bare Debian or Ubuntu machine with Rust on it.
#   tests/run.sh                everything: installs a software Vulkan driver where there is no adapter
#   tests/run.sh core           stops after Rust: no lints, no documentation, no commands of the README
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
  packages="mesa-vulkan-drivers libvulkan1"
  if [ -z "$install" ]; then
    fail "no GPU adapter; without --no-install this would run: apt-get install -y --no-install-recommends $packages"
  fi
  command -v apt-get >/dev/null || fail "no GPU adapter, and no apt-get to install $packages with"
  sudo=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "no GPU adapter; as root run: apt-get install -y --no-install-recommends $packages"
    sudo=sudo
  fi
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages
  has_adapter || fail "no GPU adapter even with $packages: see umbracast devices --report"
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
say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --release --locked --no-deps --features parquet

say "all passed"
