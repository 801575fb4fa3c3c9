#!/usr/bin/env bash
# Runs the full test suite, also on a fresh Debian or Ubuntu with Rust.
#   tests/run.sh                all tests; installs a software Vulkan driver if there is no adapter, and venv for Python if it is missing
#   tests/run.sh core           only the Rust tests: no Python, no lints, no documentation
#   tests/run.sh --full         the long run: 100 times as many random cases, 10⁸ rays, archives above 4 GiB
#   tests/run.sh --no-install   installs nothing; if a package is missing, stops and prints the command that would install it
# UMBRACAST_INTENSITY scales the number of random cases; the default is 1, and --full sets it to 100.
set -euo pipefail
# Tests send signals to programs. A signal that is ignored when a program starts stays ignored (under nohup, for example), and the
# program would never end. So restart with default signals.
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

packages="--release --locked -p umbracast -p umbracast-cli -p umbracast-fuzz --features umbracast-cli/parquet"
programs() { # CARGO_ARGUMENT...: builds test programs and prints the path of each
  cargo "$@" $packages --message-format json-render-diagnostics |
    sed -n '/"overflow_checks":[a-z]*,"test":true/s/.*"executable":"\([^"]*\)".*/\1/p'
}
say() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }
fail() { printf 'tests/run.sh: %s\n' "$*" >&2; exit 1; }

get() { # WHY PACKAGE...: installs Debian packages; with --no-install, prints the command and fails
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

# Valgrind counts the instructions of the CPU engine. The counts are for Linux on x86-64 only.
if [ "$(uname -sm)" = "Linux x86_64" ] && ! command -v valgrind >/dev/null; then
  get "no valgrind" valgrind
fi

# Debian's Chromium has a second software adapter, which is tested if it is installed.
swiftshader=/usr/lib/chromium/vk_swiftshader_icd.json
if [ -f "$swiftshader" ] && [ -z "${VK_DRIVER_FILES:-}" ]; then
  export VK_ADD_DRIVER_FILES=${VK_ADD_DRIVER_FILES:-$swiftshader}
fi

work=$(mktemp -d)
pip= rest=
trap 'kill $pip $rest 2>/dev/null || true; rm -rf "$work"' EXIT
log=$work/rust.log
# Only UMBRACAST_INTENSITY sets the number of cases.
unset PROPTEST_CASES
# No shader cache until the adapters are known, because its folder is named after them.
export MESA_SHADER_CACHE_DISABLE=true
# Without a desktop, Mesa's device-select layer prints two warnings per adapter.
[ -n "${XDG_RUNTIME_DIR:-}" ] || export NODEVICE_SELECT=1

if [ -z "$core" ]; then
  python3 -c 'import ensurepip, venv' 2>/dev/null || get "no Python with venv" python3 python3-venv
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "the Python tests need Python 3.11 or newer (the package 3.10)"
  rm -rf target/python target/wheels
  python3 -m venv target/python
  # Downloads in the background, during the build.
  target/python/bin/pip install -q -r python/tests/requirements.txt >"$work/pip.log" 2>&1 &
  pip=$!
fi

say "building"
# The integration tests and the programs that they run. The unit tests are compiled while the integration tests run.
integration=$(programs build --test integration --examples)
[ -x "$integration" ] || fail "cargo built no program of integration tests: '$integration'"

say "looking for an adapter"
has_adapter() { ./target/release/umbracast devices --json | grep -q '"backend":"\(Vulkan\|Metal\|Dx12\)"'; }
if ! has_adapter; then
  get "no GPU adapter" mesa-vulkan-drivers libvulkan1
  has_adapter || fail "no GPU adapter even with mesa-vulkan-drivers: see umbracast devices --report"
fi
./target/release/umbracast devices >"$work/devices"
cat "$work/devices"
# The first process that needs a kernel compiles it, and the others load it from this folder. The name of the folder depends on the
# features of the processor, because kernels for another vector width would be wrong.
unset MESA_SHADER_CACHE_DISABLE
MESA_SHADER_CACHE_DIR=$PWD/target/shaders/$(cat "$work/devices" <(grep -m 1 '^flags' /proc/cpuinfo || uname -mp) | cksum | tr -d ' ')
export MESA_SHADER_CACHE_DIR
mkdir -p "$MESA_SHADER_CACHE_DIR"

# A minimal container may have no pseudo-terminals, without which terminal output cannot be tested.
if [ "$(uname -s)" = Linux ] && ! grep -qs ' devpts ' /proc/self/mounts; then
  say "NOT TESTED: the progress bar, because there are no pseudo-terminals (mount -t devpts devpts /dev/pts)"
  export UMBRACAST_NO_TERMINAL=1
fi

run_program() { # PROGRAM LOG: runs the tests of a program; if it crashes, runs each test without a result in a process of its own
  status=0
  "$1" 2>&1 | tee "$2" || status=$?
  [ "$status" -ge 128 ] || return "$status"
  say "$1 crashed ($status): running the tests without a result one by one"
  "$1" --list 2>/dev/null | sed -n 's/: test$//p' | sort >"$2.all"
  sed -n 's/^test \(.*\) \.\.\. \(ok\|FAILED\|ignored\).*/\1/p' "$2" | sort >"$2.done"
  for name in $(comm -23 "$2.all" "$2.done"); do
    "$1" --exact "$name" >"$2.one" 2>&1 || true
    grep "^test $name \.\.\. " "$2.one" || { cat "$2.one"; echo "test $name ... FAILED"; }
  done | tee -a "$2"
  return 1
}

unit_tests() { # runs unit tests and doctests
  local bad=
  list=$(programs test --no-run --lib --bins) || bad=1
  [ -n "$list" ] || bad=1
  for program in $list; do
    run_program "$program" "$work/unit.log" || bad=1
  done
  cargo test --doc $packages 2>&1 || bad=1
  [ -z "$bad" ]
}

component() { # NAME COMMAND: installs a component that a minimal Rust toolchain lacks
  cargo "$2" --version >/dev/null 2>&1 && return
  [ -n "$install" ] && command -v rustup >/dev/null && rustup component add "$1" && return
  fail "cargo $2 is missing: rustup component add $1"
}

lints() {
  local bad=
  step() { # WHAT COMMAND...
    printf '\n== %s\n' "$1"
    shift
    "$@" || bad=1
  }
  step "format" cargo fmt --all --check
  step "lints" cargo clippy --release --locked --workspace --all-targets --all-features -- -D warnings
  step "lints of the library alone" cargo clippy --release --locked -p umbracast --lib -- -D warnings
  RUSTDOCFLAGS="-D warnings" step "documentation" cargo doc --release --locked --no-deps -p umbracast --all-features
  # --offline: nothing needs to be downloaded, and the crates are not compiled again.
  step "packages" cargo package --quiet --workspace --no-verify --allow-dirty --offline
  dependencies || bad=1
  [ -z "$bad" ]
}

dependencies() { # checks licences, duplicates and sources; and advisories if their database can be fetched
  local bad=
  if ! cargo deny --version >/dev/null 2>&1; then
    printf '\n== NOT CHECKED: the dependencies, because cargo-deny is missing (cargo install cargo-deny)\n'
    return
  fi
  printf '\n== dependencies\n'
  cargo deny --locked --offline check licenses bans sources || bad=1
  # Without a network there may be no database, or an outdated one.
  if cargo deny --locked fetch db >"$work/advisories.log" 2>&1; then
    cargo deny --locked --offline check advisories || bad=1
  else
    printf '\n== NOT CHECKED: advisories, because their database cannot be fetched\n'
    tail -n 3 "$work/advisories.log"
  fi
  [ -z "$bad" ]
}

wheel() { # builds and installs the Python package, with the same target folder and profile, so that wgpu is not compiled again
  target/python/bin/pip wheel -q --no-deps -w target/wheels ./python &&
    target/python/bin/maturin sdist -m python/Cargo.toml -o target/wheels &&
    target/python/bin/twine check --strict target/wheels/umbracast-*.whl target/wheels/umbracast-*.tar.gz &&
    holds_the_library target/wheels/umbracast-*.tar.gz &&
    target/python/bin/pip install -q target/wheels/umbracast-*.whl
}

holds_the_library() { # ARCHIVE: whether the source archive has the files that git has of the library, the shaders and the package
  local missing
  missing=$(comm -13 <(tar -tzf "$1" | cut -d / -f 2- | sort) <(git ls-files src shaders python/src | sort)) || return 1
  [ -z "$missing" ] || { printf 'the source archive lacks:\n%s\n' "$missing" >&2; return 1; }
}

# Runs everything except the integration tests, which run at the same time. Cargo builds run one after the other. The Python tests
# start first, because they take longest and mostly wait for Ray's processes. They test the installed package, not the source folder.
rest() {
  bad= pytest=
  trap 'kill $pytest 2>/dev/null' TERM
  if [ -z "$core" ]; then
    if wheel >"$work/pytest.log" 2>&1; then
      target/python/bin/pytest -c python/pyproject.toml python/tests >>"$work/pytest.log" 2>&1 &
      pytest=$!
    else
      bad=1
    fi
    renice -n 5 -p "$BASHPID" >/dev/null
  fi
  unit_tests >"$work/units.log" 2>&1 || bad=1
  if [ -z "$core" ]; then
    lints >"$work/lints.log" 2>&1 || bad=1
  fi
  [ -z "$pytest" ] || wait "$pytest" || bad=1
  [ -z "$bad" ]
}

if [ -z "$core" ]; then
  component rustfmt fmt
  component clippy clippy
  wait "$pip" || { cat "$work/pip.log"; fail "the Python test dependencies could not be installed"; }
fi
failed=
say "tests; unit tests, the Python package, lints and documentation in the background"
rest &
rest=$!
renice -n 5 -p $$ >/dev/null
run_program "$integration" "$log" || failed=1
wait "$rest" || failed=1
say "unit tests, examples in the documentation"
tee -a "$log" <"$work/units.log"

summary() { # prints the number of passed and failed tests, including Python's
  passed=$(grep -cE '^test .* \.\.\. ok$' "$log" || true)
  broken=$(grep -cE '^test .* \.\.\. FAILED$' "$log" || true)
  if [ -z "$core" ]; then
    count() { tail -n 1 "$work/pytest.log" | grep -oE "[0-9]+ $1" | grep -oE '^[0-9]+' || echo 0; }
    passed=$((passed + $(count passed)))
    broken=$((broken + $(count failed) + $(count error)))
  fi
  printf '\n'
  # A test that is not run prints a line that begins with NOT TESTED.
  grep -h '^NOT TESTED' "$log" || true
  printf '%d passed, %d failed\n' "$passed" "$broken"
}

if [ -n "$core" ]; then
  summary
  [ -z "$failed" ] || fail "there were failures, see above"
  exit 0
fi

say "tests of the Python package"
cat "$work/pytest.log"

say "format, lints, documentation"
cat "$work/lints.log"

say "done"
summary
[ -z "$failed" ] || fail "there were failures, see above"
