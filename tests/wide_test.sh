#!/bin/sh
# What is compiled for wider vectors than the rest shares no template with it: of two of one name the linker keeps one, and on a
# processor without such vectors that would be an illegal instruction anywhere.
#   wide_test.sh ARCHIVE_OF_CORE
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for wide in avx2:EigenOf256Bits avx512:EigenOf512Bits; do
  object=kernels_${wide%%:*}.cpp.o
  ar x "$1" "$object"
  [ -s "$object" ] || { echo "there is no $object in $1"; exit 1; }
  shared=$(nm -C "$object" | awk '$2 ~ /^[WVu]$/' | grep -v "${wide#*:}\|headwave::avx[0-9]*_kernels<\|DW.ref" || true)
  [ -z "$shared" ] || { echo "$object shares with what is compiled for narrower vectors:"; echo "$shared"; exit 1; }
done
echo "wide kernels: alone"
