#!/bin/sh
# What --help gives as examples runs, on fewer and shorter documents. (A GPT-2 and a Marian with their tokenizers are not at hand here.)
#   examples_test.sh HEADWAVE SOURCE_DIR
set -u
headwave=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
"$headwave" -q demo --documents 3 --write-model "$work/minilm" >/dev/null || exit 1
cp -r "$2/tests/golden/families/bert-mlm" "$work/bert"
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' the cat on mat w1 w2 w3 >"$work/bert/vocab.txt"
cp "$2/tests/golden/profiles/profiles.h5" "$work/profiles.h5"
awk 'BEGIN { x = 1; for (i = 0; i < 2000; ++i) { x = x * 75 % 65537; printf "w%d %s ", 1 + x % 3, x % 2 ? "badi" : "dadi" }; print "" }' >"$work/text.txt"
for command in demo run spectrum figures inspect atlas; do
  "$headwave" $command --help | sed -n 's/^  headwave //p' >"$work/lines.txt"
  [ "$(wc -l <"$work/lines.txt")" -ge 2 ] || { echo "FAILED: $command --help has no two examples"; failed=1; }
  while read -r line; do
    case $line in *gpt2* | *marian*) continue ;; esac
    # The documents of one block, or of two, where a part of them is asked for.
    case $line in *--shard*) documents=8 ;; *) documents=2 ;; esac
    shorter=$(echo "$line" | sed "s/--documents [0-9]*/--documents $documents/; s/--length [0-9]*/--length 16/; s,--shard [0-9/]*,--shard 2/2,")
    case $line in *--profiles*) shorter="$shorter --reach 7" ;; esac  # its documents are short
    case $command in
      demo | run | figures | atlas) case $line in *--formats*) ;; *) shorter="$shorter --formats svg" ;; esac ;;
    esac
    (cd "$work" && eval "\"$headwave\" -q $shorter") >"$work/said" 2>"$work/complaint" </dev/null ||
      { echo "FAILED: an example: headwave $line"; cat "$work/complaint"; failed=1; }
  done <"$work/lines.txt"
done
[ $failed = 0 ] && echo "examples: as --help says"
exit $failed
