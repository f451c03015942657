#!/bin/sh
# What is compiled for wider vectors than the rest shares no template with it: of two of one name the linker keeps one, and on a
# processor without such vectors that would be an illegal instruction anywhere.
#   wide_test.sh ARCHIVE_OF_CORE
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ar x "$1" kernels_avx512.cpp.o
[ -s kernels_avx512.cpp.o ] || { echo "there is no kernels_avx512.cpp.o in $1"; exit 1; }
shared=$(nm -C kernels_avx512.cpp.o | awk '$2 ~ /^[WVu]$/' | grep -v "EigenOf512Bits\|headwave::avx512_kernels<\|DW.ref" || true)
[ -z "$shared" ] || { echo "shared with what is compiled for narrower vectors:"; echo "$shared"; exit 1; }
echo "wide kernels: alone"
