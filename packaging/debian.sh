#!/bin/sh
# Makes the Debian packages headwave and libheadwave-dev, into build/debian:  sh packaging/debian.sh
# From the last commit in a checkout, from all files in an unpacked archive. Needs dpkg-dev and the build dependencies, which it names
# if they are missing; they are installed by: cp -r packaging/debian debian; apt-get build-dep ./; rm -r debian. Tried on Debian 12 and 13.
set -eu
cd "$(dirname "$0")/.."
source=build/debian/headwave-$(cat VERSION)
rm -rf build/debian
mkdir -p "$source"
if [ -e .git ]; then git archive HEAD; else tar -c --exclude=./build .; fi | tar -x -C "$source"
cp -r packaging/debian "$source/debian"
cd "$source"
dpkg-buildpackage -us -uc -b
cd ..
ls ./*.deb
