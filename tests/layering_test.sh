#!/bin/sh
# Who may include whom: core nothing of ours; analysis core; data core; reports core and data; job core, analysis, data;
# cli and python every room but each other. Within a room the wings stand above one another too, in no circle. Nothing below cli prints or exits. One
# file includes fftw3.h. Every include resolves from a bare checkout, and what is installed includes only what is installed.
#   layering_test.sh ROOT
set -eu
cd "$1"
failed=0

complain() {
  echo "layering: $*"
  failed=1
}

every=$(find core analysis data reports job cli python tests bench -name '*.h' -o -name '*.cpp' | grep -v '^tests/consumer/')
doors=$(awk '/^set\(HEADWAVE_DOORS_/ { sub(/^set\(HEADWAVE_DOORS_/, ""); room = $1; inside = 1; sub(/^[a-z]*/, "") }
  inside { for (i = 1; i <= NF; ++i) { name = $i; if (sub(/\.h\)?$/, ".h", name)) print room "/" name } }
  inside && /\)/ { inside = 0 }' cmake/install.cmake)
[ -n "$doors" ] || complain "cmake/install.cmake lists no headers of data and reports"

# shellcheck disable=SC2086
awk -v every="$every" -v doors="$doors" '
function complain(text) { print "layering: " text; failed = 1 }
function room_of(file) { return substr(file, 1, index(file, "/") - 1) }
function wing_of(file) { sub(/\/[^\/]*$/, "", file); return file }
function resolved(file, included,   parts, kept, count, i, n) {
  n = split(wing_of(file) "/" included, parts, "/"); count = 0
  for (i = 1; i <= n; ++i)
    if (parts[i] == "..") --count
    else if (parts[i] != ".") kept[++count] = parts[i]
  included = kept[1]
  for (i = 2; i <= count; ++i) included = included "/" kept[i]
  return included
}
function installed(file) { return room_of(file) ~ /^(core|analysis|job)$/ || (file in door) }
function walk(wing,   next_wing) {
  state[wing] = 1
  for (next_wing in wings)
    if ((wing, next_wing) in arrow) {
      if (state[next_wing] == 1) complain("the wings " wing " and " next_wing " include each other (" arrow[wing, next_wing] "): one must stand above the other")
      else if (!state[next_wing]) walk(next_wing)
    }
  state[wing] = 2
}
BEGIN {
  count = split(every, list, "\n"); for (i = 1; i <= count; ++i) known[list[i]]
  count = split(doors, list, "\n")
  for (i = 1; i <= count; ++i) { door[list[i]]; if (!(list[i] in known)) complain("cmake/install.cmake names " list[i] ", which is not there") }
  sees["core"] = ""; sees["analysis"] = sees["data"] = "core"; sees["reports"] = "core data"
  sees["job"] = "core analysis data"; sees["cli"] = sees["python"] = "core analysis data reports job"
}
/^ *# *include *"/ {
  split($0, quoted, "\""); target = resolved(FILENAME, quoted[2])
  if (!(target in known)) { complain(FILENAME " includes \"" quoted[2] "\": no such file beside it; name it by where it stands"); next }
  from = room_of(FILENAME); to = room_of(target)
  if ((from in sees) && from != to && index(" " sees[from] " ", " " to " ") == 0) complain(FILENAME " includes " target ": " from " may not see " to)
  if (from == to && (from in sees) && wing_of(FILENAME) != wing_of(target)) {
    wings[wing_of(FILENAME)]; wings[wing_of(target)]; arrow[wing_of(FILENAME), wing_of(target)] = FILENAME
  }
  if (FILENAME ~ /\.h$/ && installed(FILENAME) && !installed(target)) complain(FILENAME " is installed and includes " target ", which is not: add it to cmake/install.cmake")
}
/^ *# *include *<headwave\// { complain(FILENAME ": " $0 " is for consumers; name the file by where it stands") }
END { for (wing in wings) if (!state[wing]) walk(wing); exit failed }
' $every || failed=1

sources=$(echo "$every" | grep -E '^(core|analysis|data|reports|job)/')
for file in $sources $(echo "$every" | grep '^python/'); do
  if grep -nE '\b(std::)?(printf|puts|fputs|putchar|exit|abort|_Exit|quick_exit)\(|std::(cout|cerr|clog)|fmt::print' "$file"; then
    complain "$file prints or exits; only cli does"
  fi
done

# An error carries facts; cli makes flags of them, Python arguments.
# shellcheck disable=SC2086
flags=$(grep -nHE '"([^"]*[ (])?--[a-z]' $sources $(echo "$every" | grep '^python/') | grep -vE ':[0-9]+: *//|"--version"' || true)
[ -z "$flags" ] || complain "an option of the command line is named below cli; give the error a remedy (core/errors/error.h): $flags"

fftw=$(grep -lE 'include *[<"]fftw3' $sources || true)
[ "$fftw" = core/numbers/fft_fftw.cpp ] || complain "fftw3.h is included by '$fftw', expected core/numbers/fft_fftw.cpp alone"
boost=$(grep -lE 'include *<boost/' $sources || true)
[ "$boost" = analysis/statistics/quantile.cpp ] || complain "Boost is included by '$boost', expected analysis/statistics/quantile.cpp alone"

# Two types of one name would pass every compiler and be mixed up by the linker.
twice=$(grep -hoE '^(struct|class|enum class) [A-Za-z0-9]+ *(:|\{)' $(echo "$every" | grep -E '^(core|analysis|data|reports|job)/.*\.h$') |
  sed -E 's/ *[:{]$//; s/.* //' | sort | uniq -d)
[ -z "$twice" ] || complain "headers of two rooms define types of one name: $twice"

# ctest calls every case by its name, and CMake takes a semicolon apart.
names=$(grep -rnE '^TEST_CASE\("[^"]*;' tests --include='*.cpp' || true)
[ -z "$names" ] || complain "a test's name has a semicolon, which CMake takes apart: $names"

for header in hdf5 unicode/ oniguruma openssl CLI/ toml; do
  rooms=$(grep -lE "include *<$header" $sources | grep -v '^data/' || true)
  [ -z "$rooms" ] || complain "$header is included outside data: $rooms"
done
[ $failed = 0 ] && echo "layering: as drawn"
exit $failed
