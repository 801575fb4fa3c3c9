#!/usr/bin/env bash
# Makes and tests everything that a release needs, in one folder, and publishes nothing: docs/releasing.md says what to do with it.
#   tools/release.sh [FOLDER]          default: target/release-VERSION, which must not exist or be empty
#   tools/release.sh --crates [FOLDER] only the packaged crates
# The folder has the command line, `measure_gpu` and wheels for Linux on x86-64 and aarch64 (glibc 2.28), a wheel for musl, the crates, the source archives
# of the project and of the Python package, the notes and SHA256SUMS. A line starting with "skipped:" names what this machine cannot build.
set -euo pipefail
cd "$(dirname "$0")/.."
only_crates=
if [ "${1:-}" = --crates ]; then only_crates=1; shift; fi
crates=(umbracast umbracast-sky umbracast-files umbracast-cli)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
target=${CARGO_TARGET_DIR:-target}
folder=${1:-$target/release-$version}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ -z "$(ls -A "$folder")" ] || { echo "tools/release.sh: '$folder' is not empty" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo "tools/release.sh: there are changes without a commit" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { printf '== %s\n' "$*"; }
has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; }
skip() { printf 'skipped: %s: Rust has no target %s here (rustup target add %s)\n' "$1" "$2" "$2" | tee -a "$work/skipped"; }

step "crates, and unit tests and examples in the documentation from their archives alone"
packages=()
for crate in "${crates[@]}"; do packages+=(-p "$crate"); done
cargo publish --dry-run --locked --no-verify "${packages[@]}"
for crate in "${crates[@]}"; do
  cp "$target/package/tmp-registry/$crate-$version.crate" "$folder"
  tar -xzf "$folder/$crate-$version.crate" -C "$work"
done
{
  printf '[workspace]\nresolver = "3"\nmembers = ["umbracast*"]\n[patch.crates-io]\n'
  for crate in "${crates[@]}"; do printf '%s = { path = "%s-%s" }\n' "$crate" "$crate" "$version"; done
} >"$work/Cargo.toml"
cp Cargo.lock "$work"
for crate in "${crates[@]}"; do
  kinds=(--lib --doc)
  [ "$crate" != umbracast-cli ] || kinds=(--lib)
  features=()
  [ "$crate" != umbracast ] || features=(--features serde,shadow)
  for kind in "${kinds[@]}"; do
    CARGO_TARGET_DIR=$work/target cargo test --release --manifest-path "$work/Cargo.toml" -p "$crate" "${features[@]}" "$kind"
  done
done
[ -z "$only_crates" ] || exit 0

step "source archives"
python/wheel.sh --sdist "$folder"
missing=$(comm -13 <(tar -tzf "$folder/umbracast-$version.tar.gz" | cut -d / -f 2- | sort) \
  <(git ls-files src shaders crates/files/src crates/sky/src cli/src python/src | sort))
[ -z "$missing" ] || { printf 'the source archive of the Python package lacks:\n%s\n' "$missing" >&2; exit 1; }
git archive --prefix="umbracast-$version/" -o "$folder/umbracast-$version-source.tar.gz" HEAD

tools=$target/wheel-tools
"$tools/bin/pip" install -q "cargo-zigbuild==0.24.1"
for machine in x86_64 aarch64; do
  triple=$machine-unknown-linux-gnu
  step "command line and wheel for $triple"
  if ! has_target "$triple"; then
    skip "command line and wheel for $machine" "$triple"
    continue
  fi
  # The linker is Zig's, as for the wheels: it can target an old glibc, and other processors.
  PATH="$(cd "$tools/bin" && pwd):$PATH" cargo-zigbuild rustc --release --locked -p umbracast-cli --bin umbracast --features parquet \
    --target "$triple.2.28" -- -C strip=symbols
  PATH="$(cd "$tools/bin" && pwd):$PATH" UMBRACAST_COMMIT=$(git rev-parse --short HEAD) cargo-zigbuild rustc --release --locked \
    -p umbracast-bench --bin measure_gpu --target "$triple.2.28" -- -C strip=symbols
  tar -C "$target/$triple/release" --owner=0 --group=0 -czf "$folder/umbracast-measure-gpu-$version-$triple.tar.gz" measure_gpu
  name=umbracast-$version-$triple
  mkdir "$work/$name"
  cp "$target/$triple/release/umbracast" README.md CHANGELOG.md LICENSE-* cli/LICENSE-DejaVu "$work/$name"
  tar -C "$work" --owner=0 --group=0 --sort=name -czf "$folder/$name.tar.gz" "$name"
  python/wheel.sh --target "$triple" "$folder"
done
triple=x86_64-unknown-linux-musl
step "wheel for $triple"
if has_target "$triple"; then python/wheel.sh --target "$triple" "$folder"; else skip "wheel for musl" "$triple"; fi

step "notes and checksums"
{
  awk -v heading="## $version" 'index($0, "## ") == 1 { inside = index($0, heading) == 1; next } inside' CHANGELOG.md
  if [ -f "$work/skipped" ]; then printf '\nNot in this release:\n\n'; sed 's/^skipped: /* /' "$work/skipped"; fi
} >"$folder/NOTES.md"
(cd "$folder" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
ls -l "$folder"
