#!/bin/sh
# help2man reads --help, and the version is the same everywhere. What is not installed is skipped by name.
#   man_test.sh HEADWAVE SOURCE_DIR
set -u
case $1 in /*) headwave=$1 ;; *) headwave=$PWD/$1 ;; esac
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
complain() {
  echo "FAILED: $*"
  failed=1
}
# --- man pages, which help2man makes from --help where it is installed
if command -v help2man >/dev/null; then
  help2man --no-info --name "follow heads" --version-string=0 "$headwave run" >run.1 2>said || { complain "help2man run"; cat said; }
  grep -q 'model' run.1 || complain "the page of run lacks its options"
  if command -v groff >/dev/null; then
    groff -man -ww -z -Tutf8 run.1 2>said || complain "groff cannot read the page of run"
  fi
else
  echo "left out: help2man is not there"
fi

# --- the version is said in one voice
version=$("$headwave" --version | sed 's/headwave //; s/ .*//')
grep -qx "version: $version" "$source/CITATION.cff" || complain "CITATION.cff is not of version $version"
[ $failed = 0 ] && echo "man: as the help says"
exit $failed
