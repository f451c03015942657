#!/bin/sh
# What the documentation says of the code holds: paths and links lead somewhere, every source of a header is a reference,
# the programs shown are those that the consumer test builds, and lists of commands, options and analyses are complete.
#   docs_test.sh HEADWAVE SOURCE_DIR
set -u
headwave=$1
cd "$2" || exit 1
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
complain() {
  echo "docs: $*"
  failed=1
}
pages="README.md AGENTS.md llms.txt CONTRIBUTING.md CHANGELOG.md bench/README.md $(echo docs/*.md docs/*.ipynb)"

# Links to files of the repository, and to headings of pages.
for page in $pages; do
  folder=$(dirname "$page")
  for link in $(grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//; s/#.*//' | grep '[./]' | grep -v '^[a-z]*:' | sort -u); do
    [ -e "$folder/$link" ] || complain "$page links to $link, which is not there"
  done
  for link in $(grep -o '](\([^)]*\.md\)*#[^)]*)' "$page" | sed 's/^](//; s/)$//' | sort -u); do
    target=${link%%#*}
    [ -n "$target" ] && target=$folder/$target || target=$page
    [ -e "$target" ] && grep -E '^#+ ' "$target" | tr '[:upper:]' '[:lower:]' | sed 's/^#* //; s/[^a-z0-9 _-]//g; s/ /-/g' | grep -qx -- "${link#*#}" ||
      complain "$page links to $link, and there is no such heading"
  done
  # Source files that it names. CHANGELOG tells of what was.
  [ "$page" = CHANGELOG.md ] && continue
  for path in $(grep -oE '`(analysis|core|data|reports|job|cli|python|tests|cmake)/[A-Za-z0-9_./-]*`' "$page" | tr -d '`' | grep -vE 'NAME|WING' | sort -u); do
    [ -e "$path" ] || [ -e "$path.h" ] || complain "$page names $path, which is not there"
  done
done
for file in $(git ls-files '*.h' '*.cpp' 2>/dev/null); do
  for path in $(grep -oE '\b(analysis|core|data|reports|job|cli|python)/[a-z0-9_/]+\.(h|cpp)\b' "$file" | sort -u); do
    [ -e "$path" ] || [ -e "tests/$path" ] || complain "$file names $path, which is not there"
  done
done

# Tests that are called by name.
for name in $(grep -ohE '\./headwave test [a-z_]+' headwave CONTRIBUTING.md | awk '{ print $3 }' | sort -u); do
  ls tests/*/"${name}_test.cpp" >/dev/null 2>&1 || complain "headwave or CONTRIBUTING.md names the test $name, and there is no tests/*/${name}_test.cpp"
done

# Every golden family is in the table of what was measured.
for folder in tests/golden/families/*/; do
  grep -q "^| $(basename "$folder") |" tests/golden/families/measured.md || complain "tests/golden/families/measured.md lacks $folder: tests/golden/make_families_page.py"
done

# Name and year of every source that a header names.
grep -hrE -A3 '/// (@)?Source:' analysis core data reports job --include='*.h' | sed 's|^ *///||' | tr -s ' \n' ' ' |
  grep -oE '[A-Z][A-Za-z-]+( et al\.| and [A-Z][A-Za-z-]+|, [A-Z][A-Za-z-]+ and [A-Z][A-Za-z-]+)? (1[89]|20)[0-9][0-9]' | sort -u >"$work/sources"
[ "$(wc -l <"$work/sources")" -ge 20 ] || complain "fewer than 20 sources were found in headers: is this test still reading them?"
while read -r source; do
  year=${source##* } name=${source%% *}
  grep -E "$year" docs/references.md | grep -qF "$name" || complain "docs/references.md lacks $source"
done <"$work/sources"

# What is shown of a program stands in a program built.
for program in tests/consumer/look_on.cpp; do
  awk -v file="$program" 'BEGIN { while ((getline line < file) > 0) all = all line "\n" }
    /^```cpp/ { inside = 1; got = ""; next } /^```/ { if (inside && index(all, got)) found = 1; inside = 0; next } inside { got = got $0 "\n" }
    END { exit !found }' docs/library.md || complain "docs/library.md shows lines that $program does not have"
done

# What the Python package gives, and nothing that it does not.
sed -n '/^__all__/,/^]/p' python/headwave/__init__.py | grep -oE '"[a-zA-Z_]+"' | tr -d '"' >"$work/public"
[ "$(wc -l <"$work/public")" -ge 15 ] || complain "python/headwave/__init__.py lists fewer than 15 names"
for name in $(grep -oE 'headwave\.[a-zA-Z_]+\(' docs/python.md | sed 's/headwave\.//; s/(//' | sort -u); do
  grep -qx "$name" "$work/public" || complain "docs/python.md names headwave.$name, which is not there"
done
for name in $(grep -x '[a-z_]*' "$work/public"); do
  [ "$name" = commit ] || grep -q "headwave\.$name(" docs/python.md || complain "docs/python.md lacks headwave.$name"
done

# Every analysis.
"$headwave" analyses | grep -oE '^  [a-z_]+' | tr -d ' ' >"$work/analyses"
while read -r name; do grep -q "\`$name\`" docs/analyses.md || complain "docs/analyses.md lacks the analysis $name"; done <"$work/analyses"
"$headwave" inspect --help >/dev/null || complain "headwave does not run"

# One version: VERSION's. A release's packages and citation say the same, and at its tag CHANGELOG has a section for it.
version=$(cat VERSION)
case $("$headwave" --version) in "headwave $version "*) ;; *) complain "$headwave --version is not the $version of VERSION" ;; esac
for place in "CITATION.cff:version: $version" "packaging/debian/changelog:headwave ($version-"; do
  grep -qF -- "${place#*:}" "${place%%:*}" || complain "${place%%:*} does not say '${place#*:}', as VERSION does"
done
if git describe --tags --exact-match --match 'v[0-9]*' >/dev/null 2>&1; then
  grep -q "^## $version\>" CHANGELOG.md || complain "CHANGELOG.md has no section for $version, which is tagged here"
fi

# The page of commands is what --help says now.
sh docs/commands.sh "$headwave" >"$work/commands.md" && cmp -s "$work/commands.md" docs/commands.md ||
  complain "docs/commands.md is older than --help: sh docs/commands.sh HEADWAVE >docs/commands.md"

[ $failed = 0 ] && echo "docs: as the code"
exit $failed
