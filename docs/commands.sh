#!/bin/sh
# Writes docs/commands.md from the program's own --help. A test compares the two.
#   sh docs/commands.sh build/release/headwave >docs/commands.md
set -eu
headwave=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$headwave" --help >"$work/program"
commands=$(awk '/^Commands:/ { inside = 1; next } /^[^ ]/ { inside = 0 } inside && /^  [a-z]/ { print $1 }' "$work/program")

# Help of a command in one file for each section, "Options", "Figures", ...; the text before is "about".
for command in $commands; do
  mkdir "$work/$command"
  "$headwave" "$command" --help | awk -v folder="$work/$command" '
    /^[A-Z][A-Za-z ]*:$/ { section = substr($0, 1, length($0) - 1); gsub(" ", "-", section); next }
    /^Usage: / { usage = $0; print > (folder "/usage"); next }
    { print > (folder "/" (section ? section : "about")) }'
done
shared='Stored-states Interventions Table Figures Analysis'

echo '# Commands

Made from `--help` by `docs/commands.sh`; edit the help texts, not this page. Every command also has `-h, --help`. `-q` prints only results and
errors. Exit codes: 0 done, 1 input or run-time error, 2 wrong usage, 3 compared and found different.
'
echo '| command | |'
echo '|---|---|'
for command in $commands; do
  printf '| [`%s`](#%s) | %s |\n' "$command" "$command" "$(tr '\n' ' ' <"$work/$command/about" | sed 's/\. *$//; s/|/\\|/g')"
done

# entries FILE [KNOWN]: its options or examples, without --help and without those that stand in KNOWN.
entries() {
  awk -v known="${2-}" '
    function flush() { if (entry != "" && entry !~ /^ *-h, *--help/ && !(entry in seen)) printf "%s", entry; entry = "" }
    BEGIN { if (known) { while ((getline line < known) > 0) { if (line ~ /^  -/ || line == "") { if (one) seen[one] = 1; one = "" }
                                                             if (line != "") one = one line "\n" }
                         if (one) seen[one] = 1 } }
    /^$/ { flush(); next } /^  (-|[A-Za-z])/ { flush() } { entry = entry $0 "\n" } END { flush() }' "$1"
}
# names FILE: its options.
names() { grep -oE '^  -(-[a-z-]+|[a-z], --[a-z-]+)' "$1" | grep -oE '\-\-[a-z-]+' | grep -vx -e --help; }
for command in $commands; do
  folder=$work/$command
  printf '\n## %s\n\n```\n%s\n' "$command" "$(sed 's/^Usage: //' "$folder/usage")"
  also='' same=''
  for part in Arguments Options $shared Examples; do
    [ -f "$folder/$part" ] || continue
    known=''
    if case " $shared " in *" $part "*) true ;; *) false ;; esac && [ "$(names "$folder/$part")" = "$(names "$work/run/$part")" ]; then
      known=$work/run/$part
      also="$also${also:+, }[$(echo "$part" | tr - ' ')](#$(echo "$part" | tr '[:upper:]' '[:lower:]'))"
    elif [ "$part" != Examples ] && [ "$command" != run ] && [ -f "$work/run/$part" ]; then
      known=$work/run/$part
    fi
    own=$(entries "$folder/$part" ${known:+"$known"})
    [ -z "$own" ] || printf '\n%s\n' "$own"
    if [ -n "$known" ] && ! echo "$also" | grep -q "(#$(echo "$part" | tr '[:upper:]' '[:lower:]'))"; then
      same=$same$(for name in $(names "$folder/$part"); do
        echo "$own" | grep -qE "^  (-[a-z], )?$name( |\$)" || printf '`%s` ' "$name"
      done)
    fi
  done
  echo '```'
  [ -z "$same" ] || printf '\nThe same as for [run](#run): %s.\n' "$(echo "$same" | sed 's/ $//; s/ /, /g')" | fold -s -w 140 | sed 's/ $//'
  [ -z "$also" ] || printf '\nAlso the options under %s.\n' "$also"
done

for part in $shared; do
  printf '\n## %s\n\n```\n%s\n```\n' "$(echo "$part" | tr - ' ')" "$(entries "$work/run/$part")"
done
