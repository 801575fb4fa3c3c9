#!/usr/bin/env bash
# Runs Embree 4.4 and umbracast on the same files, compares the sphere and the t of every ray, and prints the ratios.
#
#   tools/peers/compare.sh [OPTIONS] [SCENE...]
#
#   SCENE              a scene of tools/peers/make_scene.py: uniform-N, sparse-N, clustered-N, molecule-N, chain-N, scan-N,
#                      power-N, lattice-N (N as 10k or 1M), planet [default: uniform-10k]
#   -o FOLDER          folder for all files, which later runs use again [default: a temporary folder, removed at the end]
#   --rays KINDS       primary, primary4x4, random, shadow, parallel, lidar, short, separated by commas [default: primary4x4,random,shadow]
#   --count N          rays per batch of the other kinds [default: 2M]
#   --width N          side of a picture (primary, parallel), in pixels [default: 1024]
#   --repeat N         number of timed repetitions, after a first one that is not timed [default: 5]
#   --runs N           number of complete runs; the ratios are those of the medians [default: 3]
#   --force            runs even if other programs use the cores; do not publish such figures
#   --precision P      precision of umbracast: fast, standard or exact [default: standard]
#   --device DEVICE    device of umbracast [default: cpu]
#
# In Embree, rays that start inside a sphere hit its far side, so umbracast runs with --inside exit. Before each program runs, the CPU time
# used by other programs is measured for two seconds. Above 5 % nothing is measured, because that slows Embree more than umbracast.
#
# Needs Linux on x86-64, Rust, g++, and Python 3.10 or newer with venv. Python's package index gives numpy and the wheel
# `embreex`, which contains Embree's release build; headers of Embree are not needed. Everything else is in this folder.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
fail() { printf 'compare.sh: %s\n' "$*" >&2; exit 1; }
say() { printf '== %s\n' "$*" >&2; }

folder= kinds=primary4x4,random,shadow count=2M width=1024 repeat=5 runs=3 force= precision=standard device=cpu scenes=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    --force) force=1; shift ;;
    -o | --rays | --count | --width | --repeat | --runs | --precision | --device)
      [ $# -gt 1 ] || { printf 'compare.sh: %s needs a value\n' "$1" >&2; exit 2; }
      case $1 in
        -o) folder=$2 ;;
        --rays) kinds=$2 ;;
        --count) count=$2 ;;
        --width) width=$2 ;;
        --repeat) repeat=$2 ;;
        --runs) runs=$2 ;;
        --precision) precision=$2 ;;
        --device) device=$2 ;;
      esac
      shift 2 ;;
    -*) printf 'compare.sh: there is no option %s; --help lists them\n' "$1" >&2; exit 2 ;;
    *) scenes+=("$1"); shift ;;
  esac
done
[ ${#scenes[@]} -gt 0 ] || scenes=(uniform-10k)

[ "$(uname -sm)" = "Linux x86_64" ] || fail "this is $(uname -sm): the wheel and the harness are for Linux x86_64"
command -v cargo >/dev/null || fail "cargo is missing: install Rust"
command -v g++ >/dev/null || fail "g++ is missing: apt-get install g++"
command -v python3 >/dev/null || fail "python3 is missing: apt-get install python3 python3-venv"
python3 -c 'import ensurepip, venv' 2>/dev/null || fail "python3 has no venv: apt-get install python3-venv"

if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

say "Embree"
python=$folder/venv/bin/python
[ -x "$python" ] || python3 -m venv "$folder/venv"
"$python" -m pip install --quiet --disable-pip-version-check numpy 'embreex>=4.4,<4.5' \
  || fail "numpy and embreex 4.4 could not be installed: see pip's message above"
libraries=$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/embreex.libs
embree=$(find "$libraries" -name 'libembree4*' 2>/dev/null | head -n 1 || true)
[ -n "$embree" ] || fail "the wheel has no libembree4 in $libraries"
g++ -O3 -march=native -std=c++17 "$here/embree_spheres.cpp" -o "$folder/embree_spheres" "$embree" \
  -Wl,-rpath,"$libraries" -pthread || fail "the harness does not build: see g++'s message above"

say "umbracast"
(cd "$here/../.." && cargo build --release --locked --quiet)
target=$(cd "$here/../.." && cargo metadata --format-version 1 --no-deps --locked | "$python" -c \
  'import json, sys; print(json.load(sys.stdin)["target_directory"])')
umbracast=$target/release/umbracast

say "scenes"
"$python" "$here/make_scene.py" "$folder/data" "${scenes[@]}" --rays "$kinds" --count "$count" --width "$width" >&2

# Prints the percentage of CPU time used by all programs during two seconds, including stolen time.
busy() {
  read -r before_idle before_all < <(awk '/^cpu / {print $5 + $6, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9}' /proc/stat)
  sleep 2
  read -r idle all < <(awk '/^cpu / {print $5 + $6, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9}' /proc/stat)
  awk "BEGIN {printf \"%.1f\", 100 - 100 * ($idle - $before_idle) / ($all - $before_all)}"
}
quiet() { # waits at most half a minute for an idle machine, and records the load
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    share=$(busy)
    if [ -n "$force" ] || awk "BEGIN {exit !($share <= 5)}"; then
      echo "$share" >>"$folder/busy"
      return
    fi
  done
  fail "other programs use $share % of the cores: end them, or use --force and do not publish the figures"
}

mkdir -p "$folder/answers"
: >"$folder/embree.jsonl"
: >"$folder/umbracast.jsonl"
: >"$folder/busy"
for run in $(seq "$runs"); do
  for scene in "${scenes[@]}"; do
    say "run $run: $scene"
    rays=()
    for kind in ${kinds//,/ }; do rays+=("$folder/data/$scene-$kind.rays"); done
    files=("$folder/data/$scene.spheres" "${rays[@]}")
    quiet
    "$folder/embree_spheres" "${files[@]}" --repeat "$repeat" --answers "$folder/answers" >>"$folder/embree.jsonl"
    quiet
    "$umbracast" bench scenes "${files[@]}" --repeat "$repeat" --precision "$precision" --inside exit --device "$device" --json \
      >>"$folder/umbracast.jsonl"
  done
done

say "answers"
for scene in "${scenes[@]}"; do
  for kind in ${kinds//,/ }; do
    for query in closest occluded; do
      "$umbracast" cast "$folder/data/$scene.spheres" "$folder/data/$scene-$kind.rays" -o "$folder/answers/$scene-$kind-$query.npz" \
        --query "$query" --precision "$precision" --inside exit --device "$device" -q
    done
  done
done
"$python" "$here/ratios.py" "$folder"
