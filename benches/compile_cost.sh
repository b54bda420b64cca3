#!/usr/bin/env bash
# What compiling a crate that uses keyway costs, of `ui-tests/downstream` with cargo's default profiles: seconds, and of the
# processor in brackets, cold and after a change of a constant in its model (the median of seven). Takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

# A copy, so that the constant changes there.
work=$PWD/target/compile_cost
rm -rf "$work"
mkdir -p "$work"
cp -r ui-tests/downstream "$work/crate"
cp Cargo.lock "$work/crate"
sed -i "s|path = \"../..\"|path = \"$PWD\"|" "$work/crate/Cargo.toml"
cd "$work/crate"
export CARGO_TARGET_DIR=$work/target
TIMEFORMAT='%1R s (%1U)'

build() {
    { time cargo build --quiet --offline "$@" 2>&3; } 3>&2 2>&1
}

rebuild() {
    for width in 17 18 19 20 21 22 23; do
        sed -i "s/^const HIDDEN: usize = [0-9]*;/const HIDDEN: usize = $width;/" src/model.rs
        build "$@"
    done | sort -n | sed -n 4p
}

rustc --version
printf '%s cores\n' "$(nproc)"
cargo fetch --quiet
printf 'dev, cold:               %s\n' "$(build)"
printf 'dev, model changed:      %s\n' "$(rebuild)"
printf 'release, cold:           %s\n' "$(build --release)"
printf 'release, model changed:  %s\n' "$(rebuild --release)"
export CARGO_PROFILE_RELEASE_INCREMENTAL=true
build --release >/dev/null
printf 'with incremental = true: %s\n' "$(rebuild --release)"
