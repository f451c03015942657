#!/bin/sh
# Installs the build into a folder of its own, and builds and runs a consumer that knows nothing but that folder.
#   consumer_test.sh SOURCE_DIR BUILD_DIR
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$2" --prefix "$work/prefix" >"$work/install.log"
cmake -S "$1/tests/consumer" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >"$work/configure.log" ||
  { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
"$work/build/mathematics"
"$work/build/look_on"
command -v help2man >/dev/null && pages='man/man1/headwave.1 man/man1/headwave-run.1' || pages=
for file in $pages; do
  [ -s "$work/prefix/share/$file" ] || { echo "share/$file is not installed"; exit 1; }
done
[ -z "$pages" ] || grep -qx 'headwave-run \\- follow every head .*' "$work/prefix/share/man/man1/headwave-run.1" ||
  { echo "headwave-run.1 does not say what the command does, as man -k shows it"; exit 1; }
"$work/prefix/bin/headwave" demo --write-model "$work/planted" >/dev/null
"$work/build/everything/atlas" "$work/planted" | grep -qx 'L0H1 +3' || { echo "the atlas of the planted model lacks L0H1 +3"; exit 1; }
"$work/build/everything/everything" "$work/results.h5"
"$work/prefix/bin/headwave" inspect "$work/results.h5" >/dev/null
echo "consumer: installed, found, built, run"
