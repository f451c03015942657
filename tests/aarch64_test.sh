#!/bin/sh
# core for aarch64: compiled by Debian's cross compiler, its tests run by qemu, but for those tagged [long], which take minutes there.
#   aarch64_test.sh SOURCE_DIR BUILD_DIR [core] [analysis]
# Needs g++-aarch64-linux-gnu and qemu-user. The libraries are arm64 packages, unpacked into BUILD_DIR/root.
set -eu
source=$1 rooms=core
[ $# -le 2 ] || rooms=$(shift 2 && echo "$*")
mkdir -p "$2/deb"
build=$(cd "$2" && pwd)
qemu="qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu"
. "$source/packaging/apt_of.sh"

# depends PACKAGE PATTERN: the package of that name that it depends on.
depends() { apt-cache -c "$build/apt/conf" depends "$1" | sed -n "s/^ *Depends: \($2\)\$/\1/p" | head -n 1; }

libraries() (
  cd "$build/deb" && apt_of "$build/apt" arm64 "deb:$(. /etc/os-release && echo "$VERSION_CODENAME")" &&
    apt-get -c "$build/apt/conf" download libeigen3-dev libfmt-dev "$(depends libfmt-dev 'libfmt[0-9]*')" \
      "$(depends libboost-dev 'libboost[0-9.]*-dev')" nlohmann-json3-dev catch2 &&
    for package in *.deb; do dpkg -x "$package" "$build/root" || exit; done
)
[ -d "$build/root" ] || libraries >"$build/libraries.log" 2>&1 || { rm -rf "$build/root"; tail -n 20 "$build/libraries.log"; exit 1; }

cat >"$build/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR $qemu)
set(CMAKE_FIND_ROOT_PATH "$build/root")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
END
cmake -S "$source" -B "$build" -G Ninja -D CMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu -D HEADWAVE_PROGRAM=OFF -D HEADWAVE_FFT=Eigen -D HEADWAVE_STRICT=ON -D CMAKE_CXX_FLAGS=-Wno-psabi >"$build/configure.log"
for room in $rooms; do
  cmake --build "$build" --target "${room}_tests" -- --quiet
  $qemu "$build/tests/${room}_tests" '~[long]'
done
