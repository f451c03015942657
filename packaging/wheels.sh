#!/bin/sh
# Wheels of headwave, which ./headwave python makes for this machine: for Linux with glibc 2.28 or newer, Python 3.11 and newer, with the command `headwave` inside.
#   sh packaging/wheels.sh [x86_64|aarch64]           makes build/wheels/headwave-*.whl, one for Python 3.11, one for newer ones
#   sh packaging/wheels.sh x86_64 libraries           builds only the libraries that headwave is linked with
# Runs on Debian 12 or 13 on x86-64, as root or with sudo where packages are missing, and needs 4 GB of memory and 5 GB of disk. What was
# built stays in build/wheels/work. The first time takes 18 minutes of processor time per machine (libraries 6, headwave 9, modules 3).
# HEADWAVE_JOBS=1 compiles one source at a time.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
machine=${1-x86_64} only=${2-}
work=$root/build/wheels/work
here=$work/$machine
case $machine in
  x86_64) debian=amd64 ;;
  aarch64) debian=arm64 ;;
  *) echo "wheels: there is no wheel for '$machine'; expected x86_64 or aarch64" >&2; exit 1 ;;
esac
triple=$machine-linux-gnu
glibc=2.28
release=$(cat "$root/VERSION")
jobs=${HEADWAVE_JOBS-$(nproc)}
. "$root/packaging/apt_of.sh"
packages="cmake ninja-build make perl pkg-config python3-venv dpkg-dev debian-archive-keyring icu-devtools git"
# Headers alone: unpacked, not installed. Sources: built as static libraries.
headers="libeigen3-dev/trixie libboost1.83-dev/trixie libcli11-dev/trixie nlohmann-json3-dev/trixie libtomlplusplus-dev/trixie
  libpython3.11-dev/bookworm libpython3.13-dev/trixie"
sources="zlib openssl libonig fmtlib hdf5 icu"

say() { echo "wheels: $*" >&2; }
logged() {  # logged NAME COMMAND...: the command's words go to a file, and its last ones to the screen if it fails
  log=$here/log/$1.log
  shift
  set +e
  (set -e; "$@") >"$log" 2>&1 </dev/null
  code=$?
  set -e
  [ $code = 0 ] || { tail -n 30 "$log" >&2; say "that failed; all of it is in ${log#"$root"/}"; exit 1; }
}
once() {  # once NAME FUNCTION: what was built stays
  [ -f "$here/made/$1" ] && return
  say "$1"
  logged "$1" "$2" "$1"
  touch "$here/made/$1"
}

install_packages() {
  missing=$(for package in $packages; do dpkg -s "$package" 2>/dev/null | grep -q '^Status: .* installed' || echo "$package"; done)
  [ -n "$missing" ] || return 0
  as_root=; [ "$(id -u)" = 0 ] || as_root=sudo
  say "installing" $missing
  $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}

# A virtual environment with the compiler (zig's clang can link with any glibc), nanobind and what packs a wheel.
python_tools() {
  python3 -m venv "$work/tools"
  "$work/tools/bin/pip" install "ziglang==0.17.*" "nanobind==3.1.*" "scikit-build-core>=0.10" auditwheel
}

# Debian 12 has headers of Python 3.11.
debian_lists() { apt_of "$here/apt" "$debian" "deb deb-src:trixie" deb:bookworm; }

# The compilers as programs: zig spells x86-64-v4 as x86_64_v4.
compilers() {
  zig=$("$work/tools/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib") + "/ziglang/zig")')
  mkdir -p "$here/bin"
  for tool in cc c++ ar ranlib; do
    cat >"$here/bin/$tool" <<END
#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig"
END
    case $tool in
      c*) cat >>"$here/bin/$tool" <<END
for flag; do
  shift
  case \$flag in -march=x86-64-v*) flag=-march=x86_64_v\${flag##*v} ;; esac
  set -- "\$@" "\$flag"
done
exec "$zig" $tool -target $triple.$glibc -fno-sanitize=all "\$@"
END
        ;;
      *) echo "exec \"$zig\" $tool \"\$@\"" >>"$here/bin/$tool" ;;
    esac
    chmod +x "$here/bin/$tool"
  done
  cat >"$here/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $machine)
set(CMAKE_C_COMPILER "$here/bin/cc")
set(CMAKE_CXX_COMPILER "$here/bin/c++")
set(CMAKE_AR "$here/bin/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "$here/bin/ranlib" CACHE FILEPATH "")
set(CMAKE_LIBRARY_ARCHITECTURE $triple)
set(CMAKE_FIND_ROOT_PATH "$here/root")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
END
}

header_packages() {
  mkdir -p "$here/deb"
  rm -f "$here"/deb/*
  cd "$here/deb"
  apt-get -c "$here/apt/conf" download $headers
  for package in *.deb; do dpkg -x "$package" "$here/root"; done
  # toml++ is compiled in, Debian's library of it is not linked.
  sed -i -e 's/^Libs:.*/Libs:/' -e 's/ -DTOML[A-Z_]*=[01]//g' "$here/root/usr/lib/$triple/pkgconfig/tomlplusplus.pc"
}

# The newest version that the mirror has: an update may be listed and missing.
source_package() {
  [ ! -f "$work/sources/$1/unpacked" ] || return 0
  mkdir -p "$work/sources/$1"
  cd "$work/sources/$1"
  versions=$(apt-cache -c "$here/apt/conf" showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -rV)
  for version in $versions; do
    apt-get -c "$here/apt/conf" source --only-source "$1=$version" && touch unpacked && return
  done
  return 1
}
source_folder() { echo "$work/sources/$1"/*/; }

cmake_library() {  # cmake_library NAME OPTIONS...
  name=$1
  shift
  cmake -S "$(source_folder "$name")" -B "$here/build/$name" -G Ninja -D CMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" \
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX=/usr -D CMAKE_INSTALL_LIBDIR=lib -D CMAKE_POSITION_INDEPENDENT_CODE=ON \
    -D BUILD_SHARED_LIBS=OFF -D CMAKE_POLICY_VERSION_MINIMUM=3.5 "$@"
  cmake --build "$here/build/$name" -j "$jobs"
  DESTDIR="$here/root" cmake --install "$here/build/$name"
}

build_folder() { rm -rf "$here/build/$1"; mkdir -p "$here/build/$1"; cd "$here/build/$1"; }

build_zlib() {
  build_folder zlib
  cp -r "$(source_folder zlib)/." .
  CC="$here/bin/cc" AR="$here/bin/ar" RANLIB="$here/bin/ranlib" CFLAGS="-O2 -fPIC" ./configure --static --prefix=/usr
  make -j "$jobs" libz.a
  DESTDIR="$here/root" make install
}

# Of OpenSSL only digests and base64 are used.
build_openssl() {
  build_folder openssl
  CC="$here/bin/cc" AR="$here/bin/ar" RANLIB="$here/bin/ranlib" perl "$(source_folder openssl)/Configure" "linux-$machine" --prefix=/usr \
    --libdir=lib --openssldir=/etc/ssl no-shared no-apps no-tests no-docs no-module no-legacy no-engine no-dso no-autoload-config no-ssl no-tls no-dtls \
    no-quic no-ec no-dh no-dsa no-cms no-ct no-ocsp no-ts no-srp no-psk no-ml-dsa no-ml-kem no-slh-dsa no-cmp no-deprecated no-comp \
    no-camellia no-aria no-idea no-seed no-sm2 no-sm3 no-sm4 no-rc2 no-rc4 no-cast no-bf no-des no-blake2 no-mdc2 no-md4 no-whirlpool no-rmd160 \
    no-siphash no-scrypt no-argon2 no-ui-console no-sock no-async no-http
  make -j "$jobs" build_generated
  make -j "$jobs" libcrypto.a
  cp libcrypto.a "$here/root/usr/lib/"
  cp -r "$(source_folder openssl)/include/openssl" include/openssl "$here/root/usr/include/"
}

build_libonig() { cmake_library libonig -D ENABLE_BINARY_COMPATIBLE_POSIX_API=OFF -D BUILD_TEST=OFF; }
build_fmtlib() { cmake_library fmtlib -D FMT_TEST=OFF -D FMT_DOC=OFF; }
build_hdf5() {
  cmake_library hdf5 -D BUILD_TESTING=OFF -D HDF5_BUILD_EXAMPLES=OFF -D HDF5_BUILD_TOOLS=OFF -D HDF5_BUILD_CPP_LIB=OFF -D HDF5_BUILD_FORTRAN=OFF \
    -D HDF5_BUILD_HL_LIB=ON -D HDF5_ENABLE_Z_LIB_SUPPORT=ON -D HDF5_ENABLE_SZIP_SUPPORT=OFF -D BUILD_STATIC_LIBS=ON \
    -D HDF5_ENABLE_ROS3_VFD=OFF -D HDF5_ENABLE_HDFS=OFF -D HDF5_ENABLE_PLUGIN_SUPPORT=OFF
}

# Of ICU only the common library is compiled. Of its data: normal forms and bounds of characters;
# no languages, no dates, no encodings.
icu_data='nfkc\.nrm|brkitr/(root\.res|char\.brk)'
build_icu() {
  build_folder icu
  folder=$(source_folder icu)/source
  ls "$folder"/common/*.cpp | xargs -P "$jobs" -n 1 "$here/bin/c++" -std=c++17 -O2 -DNDEBUG -fPIC -w -c -I "$folder/common" \
    -DU_COMMON_IMPLEMENTATION -DU_STATIC_IMPLEMENTATION
  full=$(echo "$folder"/data/in/icudt*l.dat)
  name=$(basename "$full" l.dat)
  icupkg -l "$full" | grep -v -x -E "$icu_data" >removed.txt
  icupkg --ignore-deps -r removed.txt "$full" "${name}l.dat"  # entries are named after the file, and ICU finds them as icudtNNl/...
  printf '.section .rodata\n.balign 16\n.globl %s_dat\n.type %s_dat, %%object\n%s_dat:\n.incbin "%sl.dat"\n.section .note.GNU-stack,"",%%progbits\n' \
    "$name" "$name" "$name" "$name" >data.S
  "$here/bin/cc" -c data.S
  "$here/bin/ar" rcs "$here/root/usr/lib/libicuuc.a" ./*.o
  cp -r "$folder/common/unicode" "$here/root/usr/include/"
}

build_library() { mkdir -p "$here/root/usr/lib" "$here/root/usr/include"; source_package "$1"; "build_$1" "$1"; }

install_packages
mkdir -p "$here/log" "$here/made"
[ -x "$work/tools/bin/auditwheel" ] || { say "Python tools"; logged tools python_tools; }
compilers
once apt debian_lists
once headers header_packages
for library in $sources; do once "$library" build_library; done
[ "$only" != libraries ] || exit 0

# The libraries of headwave and the program, by CMake.
build_headwave() {
  export PKG_CONFIG_LIBDIR="$here/root/usr/lib/pkgconfig:$here/root/usr/lib/$triple/pkgconfig:$here/root/usr/share/pkgconfig"
  export PKG_CONFIG_SYSROOT_DIR="$here/root"
  cmake -S "$root" -B "$here/build/headwave" -G Ninja -D CMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -D CMAKE_BUILD_TYPE=Release \
    -D CMAKE_CXX_FLAGS=-DEIGEN_MPL2_ONLY -D CMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -D CMAKE_EXE_LINKER_FLAGS=-s \
    -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON -D HDF5_USE_STATIC_LIBRARIES=ON -D HEADWAVE_FFT=Eigen -D HEADWAVE_ARCH= -D HEADWAVE_TESTS=OFF
  cmake --build "$here/build/headwave" --target headwave -- -j "$jobs"
}

# The extension module, without CMake: FindPython wants an interpreter of the version that it compiles for. nanobind's stable ABI begins
# with Python 3.12, so Python 3.11 has a module of its own.
build_module() {  # build_module HEADERS FILE FLAGS...
  headers_of=$1 file=$2
  shift 2
  build_folder "$file"
  nanobind=$("$work/tools/bin/python" -m nanobind --include_dir)
  ls "$root"/python/*.cpp "$nanobind/../src/nb_combined.cpp" | xargs -P "$jobs" -n 1 "$here/bin/c++" -std=c++20 -O2 -DNDEBUG -fPIC -fvisibility=hidden \
    -fno-strict-aliasing -w -include cstdio -c "$@" -DEIGEN_MPL2_ONLY -DEIGEN_MAX_ALIGN_BYTES=64 -DEIGEN_MAX_STATIC_ALIGN_BYTES=64 -DHEADWAVE_VERSION="\"$release\"" \
    -DNB_COMPACT_ASSERTIONS -I "$nanobind" -I "$nanobind/../ext/robin_map/include" -I "$here/root/usr/include/$headers_of" -I "$here/root/usr/include/eigen3" \
    -I "$here/root/usr/include"
  echo '{ global: PyInit_*; local: *; };' >exported  # its C++ library is not another module's
  libraries=$(for room in job reports analysis data core; do echo "$here/build/headwave/libheadwave_$room.a"; done)
  libraries="$libraries $(for name in hdf5_hl hdf5 icuuc onig fmt crypto z; do echo "$here/root/usr/lib/lib$name.a"; done)"
  "$here/bin/c++" -shared -s -o "$file" ./*.o $libraries -Wl,--version-script=exported -lpthread -ldl -lm
}

stubs() {
  suffix=abi3
  python3 -c 'import sys; sys.exit(sys.version_info >= (3, 12))' && suffix=cpython-311-$triple
  cd "$here/build/_core.$suffix.so"
  "$work/tools/bin/python" -m nanobind.stubgen -m _core -O "$work"
}

packed() {  # packed TAG MODULE
  "$work/tools/bin/python" "$root/packaging/pack.py" --work "$work" --machine "$machine" --tag "$1-manylinux_$(echo $glibc | tr . _)_$machine" \
    --program "$here/build/headwave/headwave" --module "$here/build/$2/$2" --stub "$work/_core.pyi" --out "$root/build/wheels"
}

# Installed where nothing of this machine's is used but Python.
tried() {
  rm -rf "$here/tried"
  python3 -m venv "$here/tried"
  "$here/tried/bin/pip" install "$(tried_wheel)"
  said=$("$here/tried/bin/python" -c 'import headwave; print("headwave", headwave.__version__, headwave.commit)')
  case $said in "headwave $release "*) echo "$said" ;; *) echo "expected release $release, the module says: $said"; exit 1 ;; esac
  # A tokenizer that needs ICU's data.
  cp -r "$root/tests/golden/models/bert" "$here/tried/model"
  echo '{"normalizer": {"type": "NFKC"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "fi": 2}, "unk_token": "b"}}' >"$here/tried/model/tokenizer.json"
  "$here/tried/bin/headwave" run --model "$here/tried/model" --text "a \357\254\201 a a" --no-figures --out "$here/tried/result" >/dev/null
  "$here/tried/bin/headwave" --version
}
tried_wheel() {
  tag=abi3
  python3 -c 'import sys; sys.exit(sys.version_info >= (3, 12))' && tag=cp311
  grep "$tag-manylinux" "$here/log/packed.log"
}

say "headwave"
logged headwave build_headwave
say "the modules for Python"
logged cp311 build_module python3.11 "_core.cpython-311-$triple.so"
logged abi3 build_module python3.13 _core.abi3.so -DPy_LIMITED_API=0x030C0000
if [ "$machine" = "$(uname -m)" ]; then
  logged stubs stubs
elif [ ! -f "$work/_core.pyi" ]; then
  say "the stubs are made with this machine's module: run packaging/wheels.sh $(uname -m) first"
  exit 1
fi
for wheel in "cp311-cp311 _core.cpython-311-$triple.so" "cp312-abi3 _core.abi3.so"; do
  packed $wheel
done | tee "$here/log/packed.log"
[ "$machine" != "$(uname -m)" ] || { say "installing the wheel, and running it"; logged tried tried; tail -n 2 "$here/log/tried.log"; }
for wheel in $(grep '\.whl$' "$here/log/packed.log"); do "$work/tools/bin/auditwheel" show "$wheel"; done
