#!/bin/sh
# Who may include whom: core nothing of ours; analysis core; data core; reports core and data; job core, analysis, data;
# cli every room. Nothing below cli prints or exits. One file includes fftw3.h. One form of include.
#   layering_test.sh ROOT
set -eu
cd "$1"
failed=0

complain() {
  echo "layering: $*"
  failed=1
}

check_room() {
  room=$1
  shift
  for file in "$room"/*.h "$room"/*.cpp; do
    for included in $(sed -n 's|^ *# *include *["<]headwave/\([a-z]*\)/.*|\1|p' "$file" | sort -u); do
      allowed=no
      for other in "$room" "$@"; do [ "$included" = "$other" ] && allowed=yes; done
      [ $allowed = yes ] || complain "$file includes $included, which $room may not see"
    done
  done
}

check_room core
check_room analysis core
check_room data core
check_room reports core data
check_room job core analysis data
check_room cli core analysis data reports job

sources=$(find core analysis data reports job -name '*.h' -o -name '*.cpp')
for file in $sources $(find cli tests -name '*.h' -o -name '*.cpp'); do
  own=$(sed -n 's|^ *# *include *"\([^"]*\)".*|\1|p' "$file" | grep -v '^headwave/' || true)
  [ -z "$own" ] || complain "$file includes \"$own\"; write \"headwave/ROOM/FILE.h\""
done
for file in $sources; do
  if grep -nE '\b(std::)?(printf|puts|fputs|putchar|exit|abort|_Exit|quick_exit)\(|std::(cout|cerr|clog)|fmt::print' "$file"; then
    complain "$file prints or exits; only cli does"
  fi
done

fftw=$(grep -lE 'include *[<"]fftw3' $sources || true)
[ "$fftw" = core/fft.cpp ] || complain "fftw3.h is included by '$fftw', expected core/fft.cpp alone"

for header in hdf5 unicode/ pcre2 openssl CLI/ toml; do
  rooms=$(grep -lE "include *[<\"]$header" $sources | grep -v '^data/' || true)
  [ -z "$rooms" ] || complain "$header is included outside data: $rooms"
done
[ $failed = 0 ] && echo "layering: as drawn"
exit $failed
