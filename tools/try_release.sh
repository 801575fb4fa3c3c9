#!/usr/bin/env bash
# Tries what a release needs, and publishes nothing: packages each crate, tests each from its archive alone, and builds the source archive and
# the wheels of the Python package.
#   tools/try_release.sh          all of it
#   tools/try_release.sh crates   only the crates
set -euo pipefail
cd "$(dirname "$0")/.."
crates=(umbracast umbracast-sky umbracast-files umbracast-cli)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
target=${CARGO_TARGET_DIR:-target}

printf '== cargo publish --dry-run\n'
packages=()
for crate in "${crates[@]}"; do packages+=(-p "$crate"); done
cargo publish --dry-run --locked --allow-dirty --no-verify "${packages[@]}"

printf '== unit tests and examples in the documentation, from the archives alone\n'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for crate in "${crates[@]}"; do tar -xzf "$target/package/tmp-registry/$crate-$version.crate" -C "$work"; done
{
  printf '[workspace]\nresolver = "3"\nmembers = ["*"]\n[patch.crates-io]\n'
  for crate in "${crates[@]}"; do printf '%s = { path = "%s-%s" }\n' "$crate" "$crate" "$version"; done
} >"$work/Cargo.toml"
cp Cargo.lock "$work"
for crate in "${crates[@]}"; do
  kinds=(--lib --doc)
  [ "$crate" != umbracast-cli ] || kinds=(--lib)
  features=()
  [ "$crate" != umbracast ] || features=(--features serde,shadow)
  for kind in "${kinds[@]}"; do
    CARGO_TARGET_DIR=$target/from-archives cargo test --release --manifest-path "$work/Cargo.toml" -p "$crate" "${features[@]}" "$kind"
  done
done
[ "${1:-}" != crates ] || exit 0

printf '== the Python package\n'
python/wheel.sh --sdist
missing=$(comm -13 <(tar -tzf "$target"/wheels/umbracast-"$version".tar.gz | cut -d / -f 2- | sort) \
  <(git ls-files src shaders crates/files/src crates/sky/src python/src | sort))
[ -z "$missing" ] || { printf 'the source archive lacks:\n%s\n' "$missing" >&2; exit 1; }
python/wheel.sh
python/wheel.sh --target "$(uname -m)-unknown-linux-musl"
