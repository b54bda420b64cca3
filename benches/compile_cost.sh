#!/usr/bin/env bash
# What compiling a crate that uses keyway costs, with cargo's default profiles: seconds, of `ui-tests/downstream`, cold and
# after a change of a constant in its model (median of seven). Takes minutes.
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
cargo fetch --quiet

build() {
    local TIMEFORMAT=%R
    # `time` reports where stderr went before the redirection of the command.
    { time cargo build --quiet --offline "$@" 1>&3 2>&4; } 3>&1 4>&2 2>&1 1>/dev/null
}

rebuild() {
    for width in 17 18 19 20 21 22 23; do
        sed -i "s/^const HIDDEN: usize = [0-9]*;/const HIDDEN: usize = $width;/" src/model.rs
        build "$@"
    done | sort -n | sed -n 4p
}

rustc --version
printf '%s cores\n' "$(nproc)"
for profile in dev release; do
    printf '%-8s cold %7s s' "$profile" "$(build --profile "$profile")"
    printf '   model changed %7s s\n' "$(rebuild --profile "$profile")"
done
