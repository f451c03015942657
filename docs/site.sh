#!/bin/sh
# Makes the documentation site:  sh docs/site.sh OUT
# Pages are docs/, README, CHANGELOG and CONTRIBUTING; the Python reference comes from docstrings, the C++ reference from headers (Doxygen).
# Sphinx and its theme come into build/site/tools, from docs/site/requirements.txt. Warnings are errors.
set -eu
[ $# = 1 ] || { echo "usage: sh docs/site.sh OUT" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
build=$PWD/build/site
command -v doxygen >/dev/null || { echo "docs/site.sh: doxygen is missing; apt-get install doxygen" >&2; exit 1; }

# The tools, once for each requirements.txt.
if ! cmp -s docs/site/requirements.txt "$build/tools/requirements.txt"; then
  rm -rf "$build/tools"
  mkdir -p "$build"
  python3 -m venv "$build/tools"
  "$build/tools/bin/pip" install --quiet --disable-pip-version-check -r docs/site/requirements.txt
  cp docs/site/requirements.txt "$build/tools/requirements.txt"
fi

# One folder of pages, README the first of them.
pages=$build/pages
rm -rf "$pages"
mkdir -p "$pages"
cp -r docs/*.md docs/*.ipynb docs/*.toml docs/gallery docs/site/*.md "$pages"
rm "$pages/README.md" "$pages/contents.md" "$pages/cpp.md"
cat README.md docs/site/contents.md >"$pages/index.md"
cp CHANGELOG.md "$pages/changelog.md"
cp CONTRIBUTING.md "$pages/contributing.md"
sed -i 's#](docs/README.md)#](index.md)#g; s#](docs/#](#g; s#](CONTRIBUTING.md)#](contributing.md)#g; s#](CHANGELOG.md)#](changelog.md)#g; s#\[\([^]]*\)\](\(bench\|examples\)/[^)]*)#\1#g' \
  "$pages/index.md" "$pages/changelog.md" "$pages/contributing.md"
"$build/tools/bin/sphinx-build" --quiet -W --keep-going -j auto -c docs/site -d "$build/doctrees" "$pages" "$out"

# The headers that are installed. Comments are plain text: <s> is no tag, \t no command; names of unused parameters are in comments.
doors() { sed -n "/set(HEADWAVE_DOORS_$1/,/)/p" cmake/install.cmake | grep -oE '[a-z0-9_]+/[a-z0-9_]+\.h' | sed "s#^#$1/#"; }
rm -rf "$out/cpp"  # pages of headers that are gone
{
  cat docs/site/Doxyfile
  echo "PROJECT_NUMBER = $(cat VERSION)"
  echo "OUTPUT_DIRECTORY = $out"
  echo INPUT = docs/site/cpp.md $(find core analysis job -name '*.h') $(doors data) $(doors reports)
} | doxygen -

"$build/tools/bin/python" docs/site/check.py "$out"
