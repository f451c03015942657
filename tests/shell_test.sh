#!/bin/sh
# What shells and man are told of the program holds: commands, options and words complete in bash, every shell reads its
# file, and help2man reads --help. What is not installed is skipped by name.
#   shell_test.sh HEADWAVE SOURCE_DIR
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
commands=$("$headwave" help | awk '/^Commands:/ { inside = 1; next } /^[A-Z]/ { inside = 0 } inside && /^  [a-z]/ { print $1 }')
[ "$(echo "$commands" | wc -l)" -ge 15 ] || complain "headwave help lists fewer than 15 commands"

# --- bash, asked as readline asks it: completes WORDS, the last of which is begun
: >a.txt
for shell in bash zsh fish; do "$headwave" completion $shell >completion.$shell || complain "completion $shell"; done
PATH=${headwave%/*}:$PATH # the scripts ask the program
cat >query.bash <<'EOF'
source "$PWD/completion.bash"
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_headwave # files are completed by readline, where the program offers nothing
printf '%s\n' "${COMPREPLY[@]}"
EOF
# completes EXPECTED WORDS...: all that is offered, in the order of the alphabet, with spaces between
completes() {
  expected=$1
  shift
  got=$(bash --norc query.bash "$@" | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')
  [ "$got" = "$expected" ] || complain "bash: $* completes to '$got', expected '$expected'"
}
if command -v bash >/dev/null; then
  completes "inspect" headwave ins
  completes "$(echo "$commands" | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')" headwave ""
  completes "--map --map-document --map-tokens --map-window" headwave run --map
  completes "png" headwave run --formats pn
  completes "pdf,svg" headwave run --formats pdf,s
  completes "cividis" headwave run --palette = ci
  completes "cividis grey magma viridis" headwave run --palette =
  completes "" headwave run --documents ""
  completes "" headwave run --text a
  completes "run" headwave help ru
  completes "bash" headwave completion b
  completes "--quiet" headwave run --text a.txt --qui
  for command in $commands; do # every option that help shows
    for option in $("$headwave" help "$command" | grep -oE '^  (-[a-z], )?--[a-z0-9-]+' | grep -oE -- '--.*'); do
      bash --norc query.bash headwave "$command" "$option" | grep -qx -- "$option" || complain "bash: $command lacks $option"
    done
  done
else
  echo "left out: bash is not there"
fi
command -v zsh >/dev/null && { zsh -n completion.zsh || complain "zsh does not read its completion"; } || echo "left out: zsh is not there"
command -v fish >/dev/null && { fish --no-execute completion.fish || complain "fish does not read its completion"; } || echo "left out: fish is not there"

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
[ $failed = 0 ] && echo "shells and man: as the help says"
exit $failed
