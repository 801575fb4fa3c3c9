#!/usr/bin/env bash
# Runs benchmarks on a GPU, compares its hit counts with those of the CPU engine, and writes JSON files to a folder. Needs neither Rust
# nor a network: the program and the test programs may come from another machine.
#
#   tools/measure-gpu.sh [OPTIONS] FOLDER [TEST BINARY...]
#
#   FOLDER             folder for the JSON files; created if it does not exist
#   TEST BINARY        test programs built by cargo, which are run first: target/release/deps/integration-…
#   --binary FILE      the umbracast program [default: target/release/umbracast]
#   --device DEVICE    a device, as named by `umbracast devices` [default: gpu]
#   --spheres N        spheres of the large scenes [default: 1000000]
#   --rays N           rays per batch for the large scenes [default: 8000000]
#   --built N          spheres of the scenes for which BVH builds are timed [default: 10000000]
set -euo pipefail

binary=target/release/umbracast device=gpu spheres=1000000 rays=8000000 built=10000000 folder= tests=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    --binary | --device | --spheres | --rays | --built)
      [ $# -gt 1 ] || { printf 'measure-gpu.sh: %s needs a value\n' "$1" >&2; exit 2; }
      case $1 in
        --binary) binary=$2 ;;
        --device) device=$2 ;;
        --spheres) spheres=$2 ;;
        --rays) rays=$2 ;;
        --built) built=$2 ;;
      esac
      shift 2 ;;
    -*) printf 'measure-gpu.sh: there is no option %s; --help lists them\n' "$1" >&2; exit 2 ;;
    *) if [ -z "$folder" ]; then folder=$1; else tests+=("$1"); fi; shift ;;
  esac
done
[ -n "$folder" ] || { printf 'measure-gpu.sh: name a folder for the results; --help says more\n' >&2; exit 2; }
[ -x "$binary" ] || { printf 'measure-gpu.sh: %s is no program; cargo build --release makes it\n' "$binary" >&2; exit 2; }
mkdir -p "$folder"

failed=0
run() { # NAME COMMAND...: writes its output to NAME.json and its messages to NAME.log
  local name=$1
  shift
  printf '== %s\n' "$*"
  "$@" >"$folder/$name.json" 2>"$folder/$name.log" || { failed=1; cat "$folder/$name.log"; }
}

run devices "$binary" devices --json
for test in ${tests[@]+"${tests[@]}"}; do
  name=$(basename "$test")
  run "test-${name%-*}" "$test"
done
for precision in fast standard; do
  large=(bench scenes --precision "$precision" --spheres "$spheres" --rays "$rays" --json)
  run "scenes-$precision" "$binary" "${large[@]}" --device "$device"
  run "scenes-$precision-cpu" "$binary" "${large[@]}" --device cpu --repeat 1
  hits() { grep -o '"rays_hit":[0-9]*' "$folder/$1.json"; }
  # At `fast`, devices may differ for grazing rays.
  if [ "$precision" = standard ] && ! cmp -s <(hits "scenes-$precision") <(hits "scenes-$precision-cpu"); then
    printf 'the CPU engine hits otherwise: compare %s/scenes-standard*.json\n' "$folder"
    failed=1
  fi
done
run build "$binary" bench scenes --spheres "$built" --rays 65536 --repeat 1 --device "$device" --builder gpu --json
run small "$binary" bench small --device "$device" --json
exit $failed
