#!/usr/bin/env bash
# Runs the full test suite, also on a fresh Debian or Ubuntu with Rust.
#   tests/run.sh                all tests; installs a software Vulkan driver if there is no adapter, and venv for Python if it is missing
#   tests/run.sh core           only the Rust tests: no Python, no browser, no lints, no documentation
#   tests/run.sh --full         the long run: 100 times as many random cases, 10⁸ rays, archives above 4 GiB
#   tests/run.sh --no-install   installs nothing; if a package is missing, stops and prints the command that would install it
# UMBRACAST_INTENSITY scales the number of random cases; the default is 1, and --full sets it to 100.
set -euo pipefail
# A signal that is ignored when a program starts stays ignored (under nohup, for example). Tests send signals: restart with default ones.
if [ -z "${UMBRACAST_SIGNALS:-}" ] && env --default-signal true 2>/dev/null; then
  exec env --default-signal UMBRACAST_SIGNALS=default bash "$0" "$@"
fi
cd "$(dirname "$0")/.."

core= install=1
for argument in "$@"; do
  case $argument in
    core) core=1 ;;
    --full) export UMBRACAST_INTENSITY=100 ;;
    --no-install) install= ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "tests/run.sh: '$argument' is not core, --full or --no-install" >&2; exit 2 ;;
  esac
done

say() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }
fail() { printf 'tests/run.sh: %s\n' "$*" >&2; exit 1; }
get() { # WHY PACKAGE...: installs Debian packages; with --no-install, prints the command and fails
  why=$1
  shift
  [ -n "$install" ] || fail "$why; without --no-install this would run: apt-get install -y --no-install-recommends $*"
  command -v apt-get >/dev/null || fail "$why, and no apt-get to install $* with"
  if [ "$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi
  [ -z "$sudo" ] || command -v sudo >/dev/null || fail "$why; as root run: apt-get install -y --no-install-recommends $*"
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}
component() { # NAME COMMAND: installs a component that a minimal Rust toolchain lacks
  cargo "$2" --version >/dev/null 2>&1 && return
  [ -n "$install" ] && command -v rustup >/dev/null && rustup component add "$1" && return
  fail "cargo $2 is missing: rustup component add $1"
}

command -v cargo >/dev/null || fail "cargo is missing: install Rust 1.89 or newer from https://rustup.rs"
command -v cc >/dev/null || fail "a C linker is missing: apt-get install gcc libc6-dev"
# Valgrind counts instructions, on Linux and x86-64 only.
if [ "$(uname -sm)" = "Linux x86_64" ] && ! command -v valgrind >/dev/null; then get "no valgrind" valgrind; fi
work=$(mktemp -d) pip= rest=
trap 'kill $pip $rest 2>/dev/null || true; rm -rf "$work"' EXIT
unset PROPTEST_CASES # only UMBRACAST_INTENSITY sets the number of cases
# Without a desktop, Mesa's device-select layer prints two warnings per adapter.
[ -n "${XDG_RUNTIME_DIR:-}" ] || export NODEVICE_SELECT=1
if [ -z "$core" ]; then
  python3 -c 'import ensurepip, venv' 2>/dev/null || get "no Python with venv" python3 python3-venv
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "the Python tests need Python 3.11 or newer (the package 3.10)"
  component rustfmt fmt
  component clippy clippy
  rm -rf target/python target/wheels
  python3 -m venv target/python
  target/python/bin/pip install -q -r python/tests/requirements.txt >"$work/pip.log" 2>&1 &
  pip=$!
fi

crates="-p umbracast -p umbracast-sky -p umbracast-files -p umbracast-cli"
options="--release --locked --features umbracast-cli/parquet,umbracast-files/parquet"
programs="-p umbracast-capi --test integration --test sky --test files --test cli --test c"
say "building"
cargo build $options $crates -p umbracast-bench --bins --examples $programs

say "looking for an adapter"
has_adapter() { # also writes the devices to a file
  MESA_SHADER_CACHE_DISABLE=true ./target/release/umbracast devices --json >"$work/devices" &&
    grep -q '"backend":"\(Vulkan\|Metal\|Dx12\)"' "$work/devices"
}
if ! has_adapter; then
  get "no GPU adapter" mesa-vulkan-drivers libvulkan1
  has_adapter || fail "no GPU adapter even with mesa-vulkan-drivers: see umbracast devices --report"
fi
# Kernels are compiled once. The folder depends on the processor, because kernels for another vector width would be wrong.
MESA_SHADER_CACHE_DIR=$PWD/target/shaders/$(cat "$work/devices" <(grep -m 1 '^flags' /proc/cpuinfo || uname -mp) | cksum | tr -d ' ')
export MESA_SHADER_CACHE_DIR
mkdir -p "$MESA_SHADER_CACHE_DIR"
./target/release/umbracast devices
# A minimal container may have no pseudo-terminals, without which terminal output cannot be tested.
if [ "$(uname -s)" = Linux ] && ! grep -qs ' devpts ' /proc/self/mounts; then
  say "NOT TESTED: the progress bar, because there are no pseudo-terminals (mount -t devpts devpts /dev/pts)"
  export UMBRACAST_NO_TERMINAL=1
fi

lints() {
  local bad=
  step() { printf '\n== %s\n' "$1"; shift; "$@" || bad=1; }
  step "format" cargo fmt --all --check
  # Without libFuzzer, which needs a C++ compiler.
  step "lints" cargo clippy --release --locked --workspace --exclude umbracast-fuzz --all-targets --all-features -- -D warnings
  step "lints of the libraries without features" cargo clippy --release --locked -p umbracast -p umbracast-files --lib --no-default-features -- -D warnings
  RUSTDOCFLAGS="-D warnings" step "documentation" cargo doc --release --locked --no-deps --lib -p umbracast -p umbracast-sky -p umbracast-files --all-features
  if cargo deny --version >/dev/null 2>&1; then
    step "dependencies" cargo deny --locked --offline --workspace check licenses bans sources
  else
    printf '\n== NOT CHECKED: the dependencies, because cargo-deny is missing (cargo install cargo-deny)\n'
  fi
  [ -z "$bad" ]
}
python() { # the tests use the installed package, not the source folder
  target/python/bin/pip wheel -q --no-deps -w target/wheels ./python &&
    target/python/bin/pip install -q target/wheels/umbracast-*.whl &&
    touch "$work/wheel" && target/python/bin/pytest -c python/pyproject.toml python/tests
}
# Everything except the integration tests, which run at the same time. The Python tests start first, because they take longest.
rest() {
  bad= pytest=
  trap 'kill $pytest 2>/dev/null' TERM
  if [ -z "$core" ]; then
    python >"$work/pytest.log" 2>&1 &
    pytest=$!
    # Cargo builds run one after the other.
    while [ ! -e "$work/wheel" ] && kill -0 "$pytest" 2>/dev/null; do sleep 1; done
  fi
  # With debug assertions and overflow checks.
  cargo --config tests/checked.toml test --no-fail-fast $options,umbracast/serde $crates -p umbracast-fuzz --lib >"$work/units.log" 2>&1 || bad=1
  cargo test --no-fail-fast --doc $options $crates >>"$work/units.log" 2>&1 || bad=1
  [ -n "$core" ] || lints >"$work/lints.log" 2>&1 || bad=1
  [ -n "$core" ] || web/test.sh >"$work/browser.log" 2>&1 || bad=1
  [ -z "$pytest" ] || wait "$pytest" || bad=1
  [ -z "$bad" ]
}
if [ -n "$pip" ]; then wait "$pip" || { cat "$work/pip.log"; fail "the Python test dependencies could not be installed"; }; fi
say "integration tests; unit tests, the Python package, lints and documentation in the background"
rest &
rest=$! failed=
cargo test --no-fail-fast $options $crates $programs 2>&1 | tee "$work/rust.log" || failed=1
# Debian's Chromium has a second software adapter. It gets the tests of what adapters promise, and all of them with --full.
swiftshader=/usr/lib/chromium/vk_swiftshader_icd.json
if [ -f "$swiftshader" ] && [ -z "${VK_DRIVER_FILES:-}" ]; then
  say "integration tests with SwiftShader"
  promises=$([ -n "${UMBRACAST_INTENSITY:-}" ] || echo gpu::{encode,subnormal} queries::{agreement,contract,corner_cases,few} shadow::pictures)
  VK_DRIVER_FILES=$swiftshader cargo test $options $crates --test integration -- $promises 2>&1 | tee -a "$work/rust.log" || failed=1
fi
wait "$rest" || failed=1
for part in units pytest lints browser; do
  if [ -e "$work/$part.log" ]; then say "$part"; cat "$work/$part.log"; fi
done
say "done"
# A test that is not run prints a line that begins with NOT TESTED.
grep -h '^NOT TESTED' "$work"/*.log || true
count() { { grep -hoE "$1" "$work"/*.log || true; } | awk '{ sum += $1 } END { print sum + 0 }'; }
killed=$({ grep -h '(signal: ' "$work"/*.log || true; } | wc -l) # test programs that did not end by themselves
printf '%d passed, %d failed\n' "$(count '[0-9]+ passed')" "$(($(count '[0-9]+ failed') + $(count '[0-9]+ errors? in') + killed))"
[ -z "$failed" ] || fail "there were failures, see above"
