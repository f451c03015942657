#!/bin/sh
# The program as a user meets it: exit codes, one-line errors that name the file, nothing half-written.
#   command_line_test.sh HEADWAVE SOURCE_DIR
set -u
case $1 in /*) headwave=$1 ;; *) headwave=$PWD/$1 ;; esac
golden=$2/tests/golden/models/bert
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect CODE TEXT COMMAND...: exit code (124: not within 5 minutes), and for errors one line on standard error that holds TEXT
expect() {
  code=$1 text=$2
  shift 2
  timeout 300 "$headwave" "$@" >"$work/out" 2>"$work/err" </dev/null
  got=$?
  if [ $got != "$code" ]; then
    echo "FAILED: headwave $*: exit code $got, expected $code"; cat "$work/err"; failed=1
  elif ! grep -qF -- "$text" "$work/err" "$work/out" && ! tr '\n' ' ' <"$work/out" | grep -qF -- "$text"; then  # lines wrap
    echo "FAILED: headwave $*: expected '$text' in"; cat "$work/err"; failed=1
  elif [ "$code" = 1 ] && [ "$(wc -l <"$work/err")" != 1 ]; then
    echo "FAILED: headwave $*: expected one line, came"; cat "$work/err"; failed=1
  fi
}

# The numbers of a result as text.
digests() { "$headwave" export "$1/results.h5" --csv "$1/tables" >/dev/null 2>&1 && (cd "$1/tables" && rm heads.csv && cat *.csv) | grep -v wall_time; }  # heads.csv names its input

printf 'a b c\n' >"$work/text.txt"
: >"$work/empty.txt"
expect 0 "Usage" --help
expect 0 "(kernels: " --version
for command in demo run merge spectrum figures report export inspect atlas compare; do expect 0 "Usage" $command --help; done
expect 2 "there is no command 'nonsense'" nonsense

# One line says what is wrong with a command line, and what may have been meant.
expect_line() {
  expect "$@"
  [ "$(wc -l <"$work/err")" = 1 ] || { echo "FAILED: headwave $*: expected one line, came"; cat "$work/err"; failed=1; }
}
expect_line 2 "no command 'rnu'; did you mean 'run'?" rnu --model x
expect_line 2 "no --txt; did you mean '--text'?" run --txt x
expect_line 2 "no --modle; did you mean '--model'?" run --modle=x
expect_line 2 "no --sideways; \`headwave run --help\`" run --sideways
expect_line 2 "--documents was given before the command" --documents 5 run
expect_line 2 "expected a command" -q
expect_line 2 "unexpected argument 'b'" inspect a b
expect_line 2 "--text: 1 required FILE missing" run --text
expect_line 2 "1 required but received 2" run --threads 1 --threads 2
expect_line 2 "--length: expected a whole number, 1 to 1048576, got 'abc'" run --length abc
expect_line 2 "--documents: expected a whole number, 1 to 10000000, got '0'" run --documents 0
expect_line 2 "--documents: expected a whole number, 1 to 10000000, got '010'" run --documents 010
expect_line 2 "--documents: expected a whole number, 1 to 10000000, got '5.5'" run --documents 5.5
expect_line 2 "--level: expected a number, 1e-12 to 0.5, got 'small'" run --level small
expect_line 2 "--level: expected a number, 1e-12 to 0.5, got 'nan'" run --level nan
expect_line 2 "--level: expected a number, 1e-12 to 0.5, got '0.7'" run --level 0.7
for size in 4 GB 0MB -1GB 1e3MB 4gb '4 GB' 4GBs infGB nanMB; do
  expect_line 2 "--max-memory: expected a size such as 512MB, 1.5GB or 2GiB, got '$size'" run "--max-memory=$size"
done
expect_line 2 "--formats: there is no 'sgv'; did you mean 'svg'?" demo --formats pdf,sgv
expect_line 2 "--figure-width: expected column: 3.4, page: 7, or 2 to 7, got '1.5'" demo --figure-width 1.5
expect_line 2 "--figure-width: expected column: 3.4, page: 7, or 2 to 7, got 'a4'" spectrum --model x --figure-width a4 --out y
expect_line 2 "--only: there is no 'phase_delays'; did you mean 'phase_delay'?" demo --only phase_delays
expect_line 2 "no --head; did you mean '--heads'?" figures --head L0H2

# By default a run does what says where heads look, and why; an option that only another analysis reads names it.
expect 0 "Run by default" analyses
expect 0 "  head_account         Why does each head look there" analyses
expect_line 2 "--only excludes --everything" run --only head_types --everything
expect_line 2 "--atlas-draws: is read by position_atlas, which is not among the analyses of this run; add position_atlas to --only" run --model x --ids y --only head_types --atlas-draws 5 --out z
expect_line 2 "--map-document: is read by attention_map" demo --only head_types --map-document 1

# Where an option would do nothing a command does not offer it, and says why.
expect_line 2 "--allow-unknown: applies to --text only" run --model x --ids y --allow-unknown --out z
expect_line 2 "no --map-tokens; \`headwave atlas --help\` lists" atlas --map-tokens 5
expect_line 2 "--shuffles: applies to --intervene shuffled-words" run --model x --text y --shuffles 3 --out z
for absent in 'atlas --map-tokens' 'atlas --heads' 'compare --heads'; do
  "$headwave" "${absent% *}" --help | grep -qF -- "  ${absent#* } " && { echo "FAILED: $absent is offered"; failed=1; }
done
for present in 'run --states' 'run --atlas-draws' 'run --shuffles' 'figures --heads'; do
  "$headwave" "${present% *}" --help | grep -qF -- "  ${present#* } " || { echo "FAILED: $present is not offered"; failed=1; }
done
expect 0 "--clusters N              number of clusters of heads (k-means) (default 6)" run --help
expect 0 "--level X " run --help
expect 0 "Commands:"
expect 2 "give one of --text, --ids, --random-tokens, --states and --profiles" run --model "$golden" --out "$work/r"
expect 2 "" run --model "$golden" --text "$work/text.txt" --ids "$work/text.txt" --out "$work/r"
expect 2 "--text: needs --model" run --text "$work/text.txt" --out "$work/r"
expect 1 "$work/missing.txt" run --model "$golden" --ids "$work/missing.txt" --out "$work/r"
expect 1 "the file is empty" run --model "$golden" --ids "$work/empty.txt" --length 8 --out "$work/r"
expect 1 "nothing: not found" run --model "$work/nothing" --text "$work/text.txt" --out "$work/r"
expect 1 "positions" run --model "$golden" --text "$work/text.txt" --length 1000 --out "$work/r"
expect 1 "tokenizer" run --model "$golden" --text "$work/text.txt" --length 8 --out "$work/r"
expect 1 "$work/text.txt" inspect "$work/text.txt"

# An option that has no meaning for the input is wrong usage, not ignored.
stored=$2/tests/golden/stored/causal.h5
expect 2 "--length: does not apply to --states" run --states "$stored" --length 5 --out "$work/r"
expect 2 "does not apply to --states" run --states "$stored" --no-special-tokens --out "$work/r"
expect 2 "does not apply with --model" run --states "$stored" --model "$golden" --head-count 2 --out "$work/r"
expect 1 "already given by a name or an axis; omit --layer" -q run --states "$stored" --layer 1 --out "$work/r"
expect 2 "--layer" run --states "$stored" --layer -1 --out "$work/r"
expect 2 "at least 0" run --states "$stored" --seed -1 --out "$work/r"
printf '[[7, 8, 9, 10], [11, 12]]\n' >"$work/ids.json"
expect 2 "applies to --states only" run --model "$golden" --ids "$work/ids.json" --head-count 2 --out "$work/r"
expect 2 "applies to --states only" run --model "$golden" --ids "$work/ids.json" --layer 1 --out "$work/r"
expect 2 "does not apply to --ids" run --model "$golden" --ids "$work/ids.json" --no-special-tokens --out "$work/r"
expect 2 "states the length of each document" run --model "$golden" --ids "$work/ids.json" --documents 2 --length 4 --out "$work/r"
expect 2 "does not apply to --states" run --states "$stored" --intervene words-only --out "$work/r"
[ -e "$work/r/results.h5" ] && { echo "FAILED: an error left a result behind"; failed=1; }

# States of others: named, mapped, normalised, or refused.
others=$2/tests/golden/families/gpt2
raw="--states $others/expected.safetensors --model $others --dataset {document}.hidden_states --axes layer,token,width"
# shellcheck disable=SC2086
expect 2 "- is standard input, which --text reads" run --model x --text - --target - --out "$work/r"
expect 1 "give --apply-norm if these are raw" -q run $raw --only measured_offset --no-figures --out "$work/raw"
# shellcheck disable=SC2086
expect 0 "" -q run $raw --apply-norm --only measured_offset --no-figures --out "$work/raw"
expect 1 "it holds 'full.hidden_states', 'short.hidden_states'" -q run --states "$others/expected.safetensors" --model "$others" --dataset full.hiden_states --out "$work/r"
expect 2 "--axes" run --states x --axes token --dataset y --out "$work/r"
expect 2 "--axes: says the axes of --dataset; give that too" run --states x --axes token,width --out "$work/r"
expect 2 "give --model too" run --states x --apply-norm --out "$work/r"
expect 2 "--dataset: applies to --states only" run --model "$golden" --ids "$work/ids.json" --dataset x --out "$work/r"
# Finished attention needs no model; what it cannot give is left out by name, and what it is not is refused.
finished="--states $others/expected.safetensors --dataset full.attentions --axes layer,head,query,key"
# shellcheck disable=SC2086
expect 0 "" -q run $finished --only measured_offset,head_types,head_account --no-figures --out "$work/finished"
expect 0 "needs queries and keys, but the file holds only attention weights" inspect -a "$work/finished"
# shellcheck disable=SC2086
expect 0 "--only head_account: gave no result: needs queries and keys" run $finished --only measured_offset,head_account --no-figures --force --out "$work/finished"
# shellcheck disable=SC2086
expect 2 "does not apply to --states" -q run $finished --model "$others" --intervene words-only --out "$work/r"
# shellcheck disable=SC2086
expect 1 "have 4 heads, but head_count is 3" -q run $finished --head-count 3 --out "$work/r"
expect 1 "are these scores before the softmax" -q run --states "$2/tests/golden/families/bloom/expected.safetensors" --dataset full.position_bias --axes head,query,key --out "$work/r"
expect 2 "query and key in their place" run --states x --dataset y --axes head,query,token --out "$work/r"
[ -e "$work/r/results.h5" ] && { echo "FAILED: what is no attention left a result behind"; failed=1; }
printf '[[7, 8, 9, 10], [11, 12, 3, 4]]\n' >"$work/even.json"
# No command replaces its input, under whatever name the input goes; what is not written may lie beside it.
mkdir -p "$work/own/figures" "$work/own/causal"
cp "$stored" "$work/own/results.h5"
for name in even.json report.html figures/offset_profile.svg causal/report.html; do cp "$work/even.json" "$work/own/$name"; done
ln "$work/own/report.html" "$work/hard.json"
ln -s own/report.html "$work/soft.json"
own="--model $golden --only measured_offset --no-figures --out $work/own --force"
expect 1 "results.h5: would replace the input $work/own/results.h5" run --states "$work/own/results.h5" --model "$golden" --no-figures --out "$work/own" --force
for ids in own/report.html own/figures/offset_profile.svg own/causal/report.html hard.json soft.json; do
  expect 1 "would replace the input $work/$ids; choose another --out" run --model "$golden" --ids "$work/$ids" --out "$work/own"
done
cmp -s "$work/even.json" "$work/own/report.html" && cmp -s "$stored" "$work/own/results.h5" || { echo "FAILED: an input was replaced"; failed=1; }
# shellcheck disable=SC2086
expect 0 "" -q run $own --ids "$work/own/even.json"
# shellcheck disable=SC2086
expect 0 "" -q run $own --ids "$work/own/even.json"
# Equal documents count once, and the run says so; where lengths differ it says which analyses used fewer.
echo '[[3,1,4,1,5,9,2,6],[2,7,1,8,2,8],[1,4,1,4,2,1,3,5],[3,1,4,1,5,9,2,6],[2,7,1,8,2,8]]' >"$work/again.json"
expect 0 "again.json: 2 of 5 documents are equal to an earlier one; each counts once, so 3 remain" run --model "$golden" --ids "$work/again.json" --no-figures --out "$work/again-run"
expect 0 "used only 2 of 3 documents, those of 8 tokens; --length makes all equally long" run --model "$golden" --ids "$work/again.json" --no-figures --out "$work/again-run" --force
expect 0 "@equal_documents 2" inspect -a "$work/again-run"
echo '[[3,1,4,1,5,9,2,6],[2,7,1,8,2,8],[1,4,1,4,2,1,3,5]]' >"$work/once.json"
expect 0 "" run --model "$golden" --ids "$work/once.json" --no-figures --out "$work/once-run"
digests "$work/once-run" >"$work/a.csv"; digests "$work/again-run" | cmp -s - "$work/a.csv" || { echo "FAILED: documents that come twice change the result"; failed=1; }
cp -r "$golden" "$work/beside"
for i in 1 2; do expect 0 "" -q run --model "$work/beside" --ids "$work/even.json" --only measured_offset --no-figures --out "$work/beside" --force; done
expect 1 "results.h5: would replace the input $work/own/results.h5" compare "$work/own" "$work/beside" --out "$work/own" --force
expect 1 "results.h5: would replace the input $work/own/results.h5" compare "$work/beside" "$work/own/results.h5" --no-figures --out "$work/own" --force
cp "$work/own/results.h5" "$work/own/all-columns.csv"
expect 1 "all-columns.csv: would replace the input $work/own/all-columns.csv; choose another --csv" export "$work/own/all-columns.csv" --csv "$work/own" --force
# A finished run is what was asked for, and no other.
read="run $raw --apply-norm --only measured_offset --no-figures --out $work/read"
expect 0 "wrote" $read
expect 1 "belongs to another run (states_read: " -q $read --any-states --resume
expect 0 "the job is finished" $read --resume
printf '[[%s], [%s]]\n' "$(seq -s , 5 28)" "$(seq -s , 6 29)" >"$work/longer.json"
one="run --model $golden --ids $work/longer.json --only measured_offset --no-figures --out $work/known"
expect 0 "wrote" $one --intervene without-heads=L0H1
expect 1 "belongs to another run (interventions: without-heads=L0H1 there, nothing here); give --force in place of --resume" -q $one --resume
expect 0 "the job is finished" $one --intervene without-heads=L0H1 --resume
expect 0 "wrote" $one --layers 0-0 --force
expect 1 "belongs to another run (first_layers: 1 there, nothing here)" -q $one --resume
# A text is UTF-8 or is refused with the place.
cp "$2/tests/golden/models/bert/config.json" "$2/tests/golden/models/bert/model.safetensors" "$work/" && mkdir "$work/bert" && mv "$work/config.json" "$work/model.safetensors" "$work/bert/"
printf '[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n' >"$work/bert/vocab.txt"
quick="--only measured_offset --no-figures"
printf 'a b\nc \351 a\n' >"$work/latin1.txt"
printf 'a\000 \000b\000' >"$work/utf16.txt"
expect 1 "latin1.txt: line 2, byte offset 6: byte 0xE9 is not UTF-8" run --model "$work/bert" --text "$work/latin1.txt" --out "$work/e"
expect 1 'utf16.txt: line 1, byte offset 1: a NUL byte, which text never contains; expected text in UTF-8; convert it with `iconv -f UTF-16 -t UTF-8`' run --model "$work/bert" --text "$work/utf16.txt" --out "$work/e"
expect 1 "model.safetensors: this is a safetensors file, expected text in UTF-8" run --model "$work/bert" --text "$work/bert/model.safetensors" --out "$work/e"

# One sentence is a document of its own length, also from standard input; what is asked for and is not there is an error.
printf 'a b c\n' >"$work/sentence.txt"
expect 0 "sentence.txt: one document of 5 tokens; statistics over so few are rough, 100 documents are usual" run --model "$work/bert" --text "$work/sentence.txt" --out "$work/one" $quick
expect 1 "3 tokens, enough for 0 documents of 6, but 1 are requested" run --model "$work/bert" --text "$work/sentence.txt" --length 6 --out "$work/e"
expect 1 "enough for 0 documents of 40, but 2 are requested" run --model "$work/bert" --text "$work/sentence.txt" --documents 2 --out "$work/e"
expect 1 "standard input: it is empty; expected text" run --model "$work/bert" --text - --out "$work/e"
expect_of_input() {  # as expect, with standard input
  "$headwave" run --model "$work/bert" "$2" - --out "$work/piped" --force $quick >"$work/out" 2>"$work/err" <"$3" || { echo "FAILED: headwave run $2 - <$3"; cat "$work/err"; failed=1; }
  grep -qF -- "$1" "$work/err" || { echo "FAILED: headwave run $2 -: expected '$1' in"; cat "$work/err"; failed=1; }
}
printf '[[5, 6, 7]]' >"$work/line.txt"
expect_of_input "standard input: one document of 3 tokens" --ids "$work/line.txt"
expect_of_input "standard input: one document of 5 tokens" --text "$work/sentence.txt"
expect 0 "$(sha256sum <"$work/sentence.txt")" inspect "$work/piped/results.h5" --attributes
"$headwave" inspect "$work/piped/results.h5" --job | grep -qx "text = ['\"]-['\"]" || { echo "FAILED: a job from standard input does not say so"; failed=1; }
yes 'a b c' | "$headwave" -q run --model "$work/bert" --text - --documents 2 --length 10 --out "$work/endless" $quick >"$work/out" || { echo "FAILED: a stream without end is not read as far as is needed"; failed=1; }
# A sentence in place of a file; a name that looks like one is a file.
expect 0 "a b c: one document of 5 tokens" run --model "$work/bert" --text "a b c" --out "$work/typed" $quick
expect 0 "text = 'a b c'" inspect "$work/typed" --job
expect 1 "a b.txt: cannot be opened" run --model "$work/bert" --text "a b.txt" --out "$work/e" $quick
# A text that the vocabulary cannot spell: told, or refused.
echo 'a b nothing c nowhere never' >"$work/strange.txt"
expect 0 "strange.txt: 50 % of its tokens are unknown" run --model "$work/bert" --text "$work/strange.txt" --out "$work/e" $quick --force
expect 0 "unknown_share" inspect "$work/e/results.h5" --attributes
printf 'a b <unk> c a b <unk> a\n' >"$work/unk.txt"
expect 0 "unk.txt: contains the string <unk> 2 times, which this tokenizer does not read as one token" run --model "$work/bert" --text "$work/unk.txt" --allow-unknown --out "$work/e" $quick --force
echo 'nothing nowhere never' >"$work/strange.txt"
expect 1 "strange.txt: 100 % of its tokens are unknown ([UNK])" run --model "$work/bert" --text "$work/strange.txt" --out "$work/e" $quick --force
expect 0 "strange.txt: 100 % of its tokens are unknown" run --model "$work/bert" --text "$work/strange.txt" --allow-unknown --out "$work/e" $quick --force
expect 0 "one document of 3 tokens" run --model "$work/bert" --ids "$work/line.txt" --out "$work/e" $quick --force
echo "[[$(echo $(seq 5 27) $(seq 5 26) | tr ' ' ',')]]" >"$work/long.txt"
expect 1 "long.txt: document 0 has 45 tokens, but the model has 40 positions" run --model "$work/bert" --ids "$work/long.txt" --out "$work/e2"
sed 's/\[\[/[/; s/\]\]/]/' "$work/long.txt" >"$work/cut.txt"
expect 0 "cut.txt: 4 documents of up to 10 tokens" run --model "$work/bert" --ids "$work/cut.txt" --length 10 --out "$work/e" $quick --force
# The job of a result whose documents nobody counted makes the same result again.
cp "$work/out" "$work/table"
"$headwave" inspect "$work/e/results.h5" --job >"$work/uncounted.toml"
expect 0 "4 documents" run --job "$work/uncounted.toml" --out "$work/uncounted"
cmp -s "$work/out" "$work/table" || { echo "FAILED: a stored job without a number of documents gives another result"; failed=1; }


# Messages speak of files and options, and come before the model is run.
families=$2/tests/golden/families
printf '[[5, 6, 7, 5, 6]]\n' >"$work/five.json"
printf '[[5], [6]]\n' >"$work/single.json"
printf '[{"source": [5, 6, 7], "target": [5, 6]}]\n' >"$work/pair.json"
printf '[[5, 6], [7, 99]]\n' >"$work/beyond.json"
for family in vit whisper; do
  mkdir "$work/$family" && cp "$golden/model.safetensors" "$work/$family/"
  printf '{"model_type": "%s"}' $family >"$work/$family/config.json"
  expect 1 "model type '$family' is not known" run --model "$work/$family" --ids "$work/ids.json" --out "$work/v"
done
expect 1 "beyond.json: document 1, token 1 has the id 99, but the model knows the ids 0 to 59" run --model "$families/gpt2" --ids "$work/beyond.json" --out "$work/m"
expect 1 "single.json: all documents have a single token" run --model "$families/gpt2" --ids "$work/single.json" --out "$work/m"
expect 1 "five.json: the model is an encoder-decoder (bart)" run --model "$families/bart" --ids "$work/five.json" --out "$work/m"
expect 1 "random tokens: the model is an encoder-decoder (bart)" run --model "$families/bart" --random-tokens 3 --out "$work/m"
expect 1 "pair.json: found pairs of source and target, but a gpt2 reads one sequence" run --model "$families/gpt2" --ids "$work/pair.json" --out "$work/m"
expect 1 "400 random tokens 3 times make documents of 1200 tokens, but the model has 24 positions; give --random-tokens 8 or fewer" run --model "$families/gpt2" --random-tokens 400 --out "$work/m"
expect 1 "intervention without-heads=L9H9: " run --model "$families/gpt2" --ids "$work/five.json" --out "$work/m" --intervene without-heads=L9H9
expect 1 "a llama has no position table (its positions are rotary), so without words its input would be zero; shuffled-words keeps positions" run --model "$families/llama" --ids "$work/five.json" --out "$work/m" --intervene positions-only
expect 1 "a bloom has no position table (its positions are linear bias), so without words its input would be zero" run --model "$families/bloom" --ids "$work/five.json" --out "$work/m" --intervene positions-only
expect 1 "100000 positions are requested, but the model has 24; give --length 2 to 24, or 0 for all" atlas --model "$families/gpt2" --length 100000 --out "$work/m"
expect 1 "25 rows of the position table are requested, but it has 24; give --rows 2 to 24, or 0 for those that look trained" atlas --model "$families/gpt2" --rows 25 --out "$work/m"

expect 1 "already given by a name or an axis; omit --layer" -q run --states "$2/tests/golden/stored/causal.h5" --layer 1 --out "$work/m"
printf 'PAR1PAR1' >"$work/states.parquet"
expect 1 "states.parquet: this is a file of another format; expected stored states" run --states "$work/states.parquet" --model "$families/gpt2" --out "$work/m"
mkdir "$work/pickled" && cp "$families/gpt2/config.json" "$work/pickled/" && printf 'x' >"$work/pickled/pytorch_model.bin"
expect 1 "pytorch_model.bin: this is a file of another format; expected the folder of a model" run --model "$work/pickled" --ids "$work/five.json" --out "$work/m"
expect 0 "pytorch_model.bin: this is a file of another format; expected the folder of a model" inspect "$work/pickled"
# A checkpoint that was cut short is listed as far as it goes, and does not pass for a whole one.
mkdir "$work/cut" && cp "$families/gpt2/config.json" "$work/cut/" && head -c 3000 "$families/gpt2/model.safetensors" >"$work/cut/model.safetensors"
expect 1 "model.safetensors" inspect "$work/cut"

# A model without a position table says so, in words.
expect 0 "by weights: undefined, the model has no position table" atlas --model "$families/llama" --out "$work/rotary" --formats svg
expect 0 "by weights: undefined, the model has no position table" run --model "$families/bloom" --ids "$work/five.json" --out "$work/bias" --everything --no-figures

# The demo replaces what an earlier demo wrote and nothing else, and its exit code says whether everything was found.
expect 0 "32 of 32 heads" demo --documents 3 --no-figures --out "$work/demo"
expect 3 "differ from what was planted" demo --documents 3 --reach 2 --only measured_offset --no-figures --out "$work/demo"
mkdir "$work/other"
: >"$work/other/notes.txt"
expect 1 "--force" demo --documents 3 --only measured_offset --no-figures --out "$work/other"
[ -e "$work/other/results.h5" ] && { echo "FAILED: the demo wrote among other files"; failed=1; }
expect 0 "32 of 32 heads" demo --documents 3 --only measured_offset --no-figures --force --out "$work/other"

expect 0 "" demo --write-model "$work/model" --documents 3
expect 1 "--force" demo --write-model "$work/model"
# Commands that are printed to be typed are as a shell takes them.
expect 0 "headwave run --model" demo --write-model "$work/it's planted" --documents 2
(eval "set -- $(grep -o 'headwave run .*' "$work/err")" && [ "$4" = "$work/it's planted" ]) || { echo "FAILED: a printed command cannot be typed"; failed=1; }
expect 2 "--out" run --model "$work/model" --ids "$work/model/ids.json" --documents 2
expect 1 "needs more than its limit of 1MB of resident memory; give --max-memory SIZE to allow more" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --max-memory 1MB --out "$work/dry"
# Weights read layer by layer change no digit; the first layers of a model are what they are among all.
expect_line 2 "--layers: '3-7': expected 0-N, that is layers 0 to N: a layer needs all layers before it" run --layers 3-7
expect_line 2 "--weights: expected auto, memory or layers, got 'disk'" run --weights disk
for where in memory layers; do
  expect 0 "of 32 heads look" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/$where" --no-figures --weights $where --parallel-documents 2
done
digests "$work/layers" >"$work/a.csv"; digests "$work/memory" | cmp -s - "$work/a.csv" || { echo "FAILED: weights read layer by layer give other digits"; failed=1; }
expect 0 "of 8 heads look" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/first" --no-figures --layers 0-0
grep -q L1H0 "$work/out" && { echo "FAILED: --layers 0-0 has a second layer"; failed=1; }
expect 1 "layers 0 to 4 are requested, but the model has only 4; give --layers 0-3 or fewer" run --model "$work/model" --ids "$work/model/ids.json" --out "$work/first" --force --layers 0-4
expect 1 "--weights memory if they fit there" run --model "$work/model" --ids "$work/model/ids.json" --out "$work/first" --force --weights layers --intervene without-heads=L0H2
expect 1 "L0H0 to L3H7" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/r" --heads L9H9
expect 0 "of 32 heads look" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/r" --no-figures
expect 1 "--force" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/r" --no-figures
expect 1 "other than an earlier demo" demo --documents 3 --out "$work/r"
expect 0 "measured_offset" inspect "$work/r/results.h5"
# What cannot be printed has not been said: the little that waits for the end, and the much that does not.
for command in "--version" "inspect $work/r/results.h5" "inspect $work/r/results.h5 --json" "inspect --map $2/tests/golden/families/bloom"; do
  # shellcheck disable=SC2086
  "$headwave" $command >/dev/full 2>"$work/err"
  got=$?
  [ $got = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "standard output.*No space left" "$work/err" ||
    { echo "FAILED: headwave $command >/dev/full: exit code $got"; cat "$work/err"; failed=1; }
done
expect 0 '"kind": "headwave result"' inspect "$work/r/results.h5" --json
expect 0 '"version": 2,' inspect "$work/r/results.h5" --json
expect 0 '"offset": null,' inspect "$work/r/results.h5" --json
expect 0 '"status": "offset",' inspect "$work/r/results.h5" --json
expect 0 "bert" inspect "$work/model"
expect 0 "" -q spectrum --model "$work/model" "$golden" --out "$work/s" --formats svg
[ -s "$work/s/spectra.svg" ] || { echo "FAILED: no spectra"; failed=1; }
expect 1 "--force" spectrum --model "$work/model" "$golden" --out "$work/s" --formats svg
expect 0 "bert" -q spectrum --model "$work/model" "$golden/model.safetensors" --out "$work/s" --formats svg --force
expect 2 "--length" spectrum --model "$golden" --length 1 --out "$work/s1"
expect 1 "41 positions are requested, but the position table has 40" spectrum --model "$golden" --length 41 --out "$work/s1"
expect 1 "no intervention 'position-only'; did you mean 'positions-only'?" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/i" --intervene position-only
expect 1 "expected words-only, positions-only" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/i" --intervene nothing
expect 0 "of 32 heads look" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/i" --only measured_offset --no-figures --intervene positions-only --intervene without-heads=L0H0
expect 0 "without-heads=L0H0" inspect "$work/i/results.h5" --json
expect 0 "0 of" compare "$work/i" "$work/i/results.h5"
expect 2 "result" compare "$work/i"
# Compared and found different; what cannot be compared is named, and nothing is left behind.
printf '%s\n' "$(awk 'BEGIN { srand(1); printf "["; for (d = 0; d < 8; ++d) { printf "%s[", d ? "," : ""; for (t = 0; t < 64; ++t) printf "%s%d", t ? "," : "", 5 + int(20 * rand()); printf "]" } print "]" }')" >"$work/eight.json"
few="--no-figures --only measured_offset"
expect 0 "" run --model "$work/model" --ids "$work/eight.json" --out "$work/A" $few
expect 0 "" run --model "$work/model" --ids "$work/eight.json" --out "$work/B" $few --intervene positions-only
expect 0 "" run --model "$work/model" --ids "$work/eight.json" --out "$work/short" $few --reach 4
expect 0 "" run --model "$golden" --random-tokens 8 --documents 8 --out "$work/bert-random" $few
expect 0 "" run --model "$families/bart" --ids "$work/pair.json" --documents 1 --out "$work/pairs" $few
expect 3 "changed beyond the intervals (the chance that any does by luck: 0.05)" compare "$work/A" "$work/B"
expect 3 "decided by" compare "$work/A" "$work/B" "$work/A"
expect 0 "0 of 32 heads" compare "$work/A" "$work/A" --block 1
expect 0 "are too few for a level below 0.25; give 14 documents or more, or smaller blocks" compare "$work/A" "$work/B" --block 2
expect 0 "10 draws are too few for a level of 0.05; give 79 or more" compare "$work/A" "$work/B" --draws 10
expect 1 "cannot be compared: the first has offsets" compare "$work/A" "$work/short" --out "$work/differ"
sed 's/\(\[[0-9]*\(,[0-9]*\)\{47\}\)[0-9,]*\]/\1]/g' "$work/eight.json" >"$work/eight48.json"
expect 0 "" run --model "$work/model" --ids "$work/eight48.json" --out "$work/shorter" $few
expect 1 "the documents of the first have 64 tokens, those of the second 48, and profiles depend on the length; give --length 48 to both runs" compare "$work/A" "$work/shorter"
expect 0 "comparable head by head: one model, the same 8 documents of 64 tokens" compare "$work/A" "$work/A"
expect 3 "other interventions: none -> positions-only" compare "$work/A" "$work/B" --wide
expect 3 "one model, changed by an intervention" compare "$work/A" "$work/B"
expect 1 "cannot be compared: the first has layers" compare "$work/A" "$work/bert-random" --out "$work/differ"
expect 1 "cannot be compared: the first has attention cross, the second causal" compare "$work/pairs/cross" "$work/pairs/causal"
expect 1 "name one of" compare "$work/pairs" "$work/A"
expect 1 "expected a result with measured offsets" compare "$work/A" "$work/s/0-model.h5"
expect_line 2 "--force requires --out" compare "$work/A" "$work/B" --force
expect 3 "changed beyond" compare "$work/A" "$work/B" --out "$work/differ"
for file in results.h5 report.html; do
  [ -s "$work/differ/$file" ] || { echo "FAILED: compare --out wrote no $file"; failed=1; }
done
expect 1 "choose another --out, or replace it with --force" compare "$work/A" "$work/B" --out "$work/differ"
expect 3 "" compare "$work/A" "$work/B" "$work/A" --out "$work/several" --no-figures
[ -s "$work/several/2/results.h5" ] || { echo "FAILED: compare --out has no folder for the second of two"; failed=1; }
expect 0 "of 32 heads look" run --model "$work/model" --random-tokens 40 --documents 3 --out "$work/random" --no-figures
expect 2 "--random-tokens" run --model "$work/model" --random-tokens 40 --length 64 --out "$work/random"
expect 0 "family: gpt2" inspect "$2/tests/golden/families/gpt2"
expect 0 'fusion = "qkv_by_head"' inspect --map "$2/tests/golden/families/bloom"
expect 0 "x chance  by weights" atlas --model "$2/tests/golden/families/gpt2" --out "$work/atlas" --formats svg
expect 0 "R2 beyond itself" atlas --model "$2/tests/golden/families/gpt2" --passes 0 --out "$work/weights" --no-figures
expect 0 "predicted" inspect "$work/atlas/results.h5"
expect 0 "causal attention" atlas --model "$2/tests/golden/families/bart" --out "$work/atlas2" --no-figures
expect 0 "" -q run --model "$golden" --ids "$work/even.json" --everything --no-figures --out "$work/everything"
expect 0 "everything = true" inspect "$work/everything" --job
for group in offset_agreement phase_delay; do
  expect 0 "/$group " inspect "$work/everything"
  "$headwave" inspect "$work/r" | grep -q "^/$group " && { echo "FAILED: a default run does $group"; failed=1; }
done
# The answer is a paragraph and the ten strongest heads, in 100 columns; more of both is there for the asking.
expect 0 "the 10 strongest of 32 heads; --all shows every head" inspect "$work/r"
"$headwave" inspect "$work/r" | sed -n '/^head  *looks/,/^$/p' | awk 'length > 100 { exit 1 }' || { echo "FAILED: the table of heads is wider than 100 columns"; failed=1; }
for count in "10 " "32 --all" "2 --heads L0H1,L2H3" "10 --wide" "32 --all --sort offset"; do
  # shellcheck disable=SC2086
  rows=$("$headwave" inspect "$work/r" ${count#* } | sed -n '/^head  /,/^$/p' | grep -c '^L[0-9]*H[0-9]* ')
  [ "$rows" = "${count%% *}" ] || { echo "FAILED: inspect ${count#* } shows $rows heads, expected ${count%% *}"; failed=1; }
done
expect 1 "there is no L9H9" inspect "$work/r" --heads L9H9
expect_line 2 "--sort: there is no 'ofset'; did you mean 'offset'?" inspect "$work/r" --sort ofset
expect 1 "heads cannot be sorted by 'no/thing'; expected one of head, layer" inspect "$work/r" --sort no/thing
expect 2 "--only: expected measured_offset, head_cluster" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --out "$work/only" --only delays
[ -e "$work/only/results.h5" ] && { echo "FAILED: an unknown analysis left a result"; failed=1; }
expect 1 "there is no L9H9; the result has L0H0 to L3H7" figures "$work/r/results.h5" --heads L9H9 --formats svg
expect 0 "" figures "$work/r/results.h5" --heads L1H2,L3H0 --formats svg
expect 1 "there is no figure 'offset_profil'" figures "$work/r/results.h5" --only offset_profil
expect 0 "wrote 4 files" figures "$work/r/results.h5" --only offset_profile,account_profile --formats svg --out "$work/one"
expect 0 "" figures "$work/r/results.h5" --figure-width column --formats svg --out "$work/paper"
grep -q 'width="3.400in"' "$work/paper/figures/offset_profile.svg" || { echo "FAILED: a figure is not a column wide"; failed=1; }
expect 0 "$work/r/figures" figures "$work/r/" --heads L1H2,L3H0 --formats svg --force
expect 1 "holds no results.h5" figures "$work"
expect 1 "name one of $work/atlas2/self, $work/atlas2/causal" figures "$work/atlas2"
expect 0 "" run --states "$stored" --map-tokens 9 --reach 5 --no-figures --out "$work/few"

# Maps of another document, in the figure and the result.
expect 1 "there is no document 4 among 4 documents, counted from 0; give --map-document 0 to 3" run --model "$golden" --random-tokens 10 --documents 4 --map-document 4 --out "$work/map"
expect 0 "" run --model "$golden" --random-tokens 10 --documents 4 --map-document 3 --only attention_map --formats svg --out "$work/map"
[ -s "$work/map/report.html" ] || { echo "FAILED: no page"; failed=1; }
expect 0 "attention_map/weight" inspect "$work/map/results.h5"
# Figures are drawn without temporary files.
TMPDIR="$work/no-such-folder" "$headwave" -q figures "$work/map" --formats svg --out "$work/drawn-again" || { echo "FAILED: figures without a TMPDIR"; failed=1; }

# The page again, from the result file alone.
mkdir "$work/sent" && cp "$work/map/results.h5" "$work/sent/"
expect 0 "wrote $work/sent/page.html" report "$work/sent/results.h5" --out "$work/sent/page.html"
cmp -s "$work/map/report.html" "$work/sent/page.html" || { echo "FAILED: the page of a result is not the same each time"; failed=1; }
expect 1 "page.html: is already there; choose another --out, or replace it with --force" report "$work/sent" --out "$work/sent/page.html"
expect 0 "wrote $work/sent/page.html" report "$work/sent" --out "$work/sent/page.html" --force
expect 0 "wrote $work/sent/report.html" report "$work/sent"
expect 1 "results.h5: would replace the input" report "$work/sent" --out "$work/sent/results.h5" --force
expect 1 "is a folder; --out takes a file" report "$work/sent" --out "$work/sent" --force
expect 1 "text.txt" report "$work/text.txt" --out "$work/sent/none.html"
expect 1 "holds no results.h5" report "$work" --out "$work/sent/none.html"

[ ! -e "$work/sent/none.html" ] || { echo "FAILED: a refused report is written"; failed=1; }

# The strongest pairs of a head.
expect 0 "" run --model "$golden" --random-tokens 6 --documents 1 --seed 2 --only attention_map,strongest_pairs --no-figures --out "$work/other-text"
[ -e "$work/sent/none.html" ] && { echo "FAILED: a page of no result"; failed=1; }

# What an earlier run wrote goes when a new one replaces it, and what is another's stays.
holds() {
  folder=$1
  shift
  found=$(cd "$folder" && find . -type f | sort | tr '\n' ' ')
  expected=$(for name in "$@"; do echo "./$name"; done | sort | tr '\n' ' ')
  [ "$found" = "$expected" ] || { echo "FAILED: $folder holds $found, expected $expected"; failed=1; }
}
small="--model $2/tests/golden/families/gpt2 --random-tokens 6 --documents 2 --only measured_offset --out $work/again"
profile="figures/offset_profile"
# shellcheck disable=SC2086
{
  expect 0 "L1H3" run $small --formats svg,png
  : >"$work/again/notes.txt"
  : >"$work/again/figures/mine.png"
  holds "$work/again" results.h5 report.html notes.txt figures/mine.png $profile.svg $profile.png $profile.txt
  expect 0 "L1H3" run $small --formats pdf --force
  holds "$work/again" results.h5 report.html notes.txt figures/mine.png $profile.pdf $profile.txt
  expect 1 "there is no L9H9" run $small --formats svg --force --heads L9H9
  holds "$work/again" results.h5 report.html notes.txt figures/mine.png $profile.pdf $profile.txt
  (trap '' XFSZ && ulimit -f 8 && exec "$headwave" -q run $small --formats svg --force) 2>"$work/err"
  grep -q "results.h5: .* cannot be written" "$work/err" || { echo "FAILED: a disk that is full is told as"; cat "$work/err"; failed=1; }
  holds "$work/again" results.h5 report.html notes.txt figures/mine.png $profile.pdf $profile.txt
  expect 0 "L1H3" run $small --no-figures --force
  holds "$work/again" results.h5 notes.txt figures/mine.png
  rm "$work/again/figures/mine.png"
  expect 0 "L1H3" run $small --formats svg --force
  expect 0 "L1H3" run $small --no-figures --force
  [ -e "$work/again/figures" ] && { echo "FAILED: an empty folder of figures stays"; failed=1; }
}
# From one kind of attention to several, and back. `atlas` of an encoder-decoder writes two.
kinds="$2/tests/golden/families/bart"
expect 1 "--force" atlas --model "$kinds" --out "$work/again" --no-figures
expect 0 "causal attention" atlas --model "$kinds" --out "$work/again" --formats svg --force
holds "$work/again" notes.txt self/results.h5 self/report.html self/figures/word_profile.svg self/figures/word_profile.txt causal/results.h5 causal/report.html causal/figures/word_profile.svg causal/figures/word_profile.txt
expect 1 "--force" atlas --model "$2/tests/golden/families/gpt2" --out "$work/again" --no-figures
expect 0 "x chance  by weights" atlas --model "$2/tests/golden/families/gpt2" --out "$work/again" --no-figures --force
holds "$work/again" notes.txt results.h5
[ -e "$work/again/self" ] && { echo "FAILED: an empty folder of a kind stays"; failed=1; }
# A file that is no result of ours is replaced where --force says so; what lies beside it is not ours.
mkdir "$work/foreign" "$work/foreign/figures"
for name in results.h5 report.html figures/offset_profile.png; do : >"$work/foreign/$name"; done
expect 1 "--force" atlas --model "$2/tests/golden/families/gpt2" --out "$work/foreign" --no-figures
expect 0 "x chance  by weights" atlas --model "$2/tests/golden/families/gpt2" --out "$work/foreign" --no-figures --force
holds "$work/foreign" results.h5 report.html figures/offset_profile.png
expect 0 "gpt2" -q spectrum --model "$golden" "$2/tests/golden/families/gpt2" --out "$work/s2" --formats svg
: >"$work/s2/mine.h5"
expect 0 "bert" -q spectrum --model "$golden" --out "$work/s2" --formats png --force
holds "$work/s2" mine.h5 0-bert.h5 1-gpt2.h5 spectra.svg spectra.png spectra.txt

# No file of the user's is replaced without --force, whatever a command writes beside its result.
few="run --model $2/tests/golden/families/gpt2 --random-tokens 6 --documents 2 --only measured_offset --formats svg --out"
expect 0 "L1H3" $few "$work/ours"
expect 0 "L1H3" $few "$work/ours2" --reach 2
refuse_over() {
  name=$1
  shift
  for last; do :; done
  mkdir -p "$(dirname "$last/$name")"
  echo mine >"$last/$name"
  before=$(find "$last" -type f | sort)
  expect 1 "$name: is already there; choose another --out, or replace it with --force" -q "$@"
  [ "$(cat "$last/$name")" = mine ] && [ "$(find "$last" -type f | sort)" = "$before" ] || { echo "FAILED: headwave $*: $name was replaced"; failed=1; }
  expect 0 "wrote" "$@" --force
}
for name in report.html figures/offset_profile.svg figures/offset_profile.txt self/report.html; do
  refuse_over "$name" $few "$work/mine-run-$(echo "$name" | tr / -)"
done
refuse_over report.html compare "$work/ours" "$work/ours" --out "$work/mine-compare"
for name in config.json vocab.txt tokenizer_config.json ids.json truth.json; do refuse_over "$name" demo --documents 2 --write-model "$work/mine-model-$name"; done
for name in report.html figures/word_profile.txt; do refuse_over "$name" atlas --model "$golden" --passes 1 --draws 3 --formats svg --out "$work/mine-atlas-$(basename "$name")"; done
for name in spectra.svg spectra.txt; do refuse_over "$name" spectrum --model "$golden" --formats svg --out "$work/mine-spectrum-$name"; done
refuse_over figures/offset_profile.svg figures "$work/ours" --out "$work/mine-figures"
holds "$work/mine-figures" $profile.svg $profile.txt
expect 1 "figures/offset_profile.txt: is already there" figures "$work/ours"
expect 0 "wrote 2 files" figures "$work/ours" --formats pdf --figure-width column --force
[ -s "$work/ours/$profile.pdf" ] || { echo "FAILED: no PDF"; failed=1; }
expect 0 "intact" validate "$work/ours"

# Files are finished whatever happens to standard output: a reader that has enough, a device that is full.
for where in pipe full json; do
  more=
  [ $where != json ] || more=--json
  # shellcheck disable=SC2086
  if [ $where = full ]; then "$headwave" $few "$work/unread-$where" >/dev/full 2>"$work/err"; echo $? >"$work/code"
  else { "$headwave" $few "$work/unread-$where" $more 2>"$work/err"; echo $? >"$work/code"; } | true; fi
  expected=0
  [ $where != full ] || expected=1
  [ "$(cat "$work/code")" = $expected ] || { echo "FAILED: a run with a standard output that is closed ($where) ends with $(cat "$work/code")"; cat "$work/err"; failed=1; }
  holds "$work/unread-$where" results.h5 report.html $profile.svg $profile.txt
done
grep -q "standard output cannot be written" "$work/err" && { echo "FAILED: a closed pipe is told as an error"; failed=1; }
{ "$headwave" -q compare "$work/A" "$work/B" --out "$work/unread-compare"; } | true
for name in results.h5 report.html; do [ -s "$work/unread-compare/$name" ] || { echo "FAILED: a comparison nobody read lacks $name"; failed=1; }; done

# --resume of a finished run draws page and figures again.
rm -r "$work/unread-pipe/report.html" "$work/unread-pipe/figures"
expect 0 "drawn again: $work/unread-pipe/results.h5" $few "$work/unread-pipe" --resume
holds "$work/unread-pipe" results.h5 report.html $profile.svg $profile.txt
expect 0 "the job is finished" $few "$work/unread-pipe" --resume --no-figures
expect 0 "intact" validate "$work/unread-pipe"

# The user's own gnuplot settings do not matter.
(GNUTERM=x11; export GNUTERM; expect 0 "wrote" figures "$work/ours" --out "$work/x11"; exit $failed) || failed=1

# Without gnuplot a run writes its result and its page, and says how to draw the figures afterwards. Figures that were asked for are
# refused before the work.
cat >"$work/plain" <<PLAIN
#!/bin/sh
PATH=/nonexistent exec "$headwave" "\$@"
PLAIN
chmod +x "$work/plain"
with_gnuplot=$headwave headwave=$work/plain
bare="run --model $2/tests/golden/families/gpt2 --random-tokens 6 --documents 2 --only measured_offset --out"
expect 0 "report.html; no figures, because gnuplot is not installed: install the Debian package gnuplot-nox, then \`headwave figures '$work/no gnuplot'\` draws them" $bare "$work/no gnuplot"
[ "$(wc -l <"$work/err")" = 1 ] || { echo "FAILED: a run without gnuplot says more than a line:"; cat "$work/err"; failed=1; }
holds "$work/no gnuplot" results.h5 report.html
expect 0 "" -q $bare "$work/no gnuplot" --force
expect 0 "the job is finished" $bare "$work/no gnuplot" --resume
rm "$work/no gnuplot/report.html"
expect 0 "report.html; no figures, because gnuplot is not installed" $bare "$work/no gnuplot" --resume
holds "$work/no gnuplot" results.h5 report.html
for asked in "--formats svg" "--figure-width column"; do
  # shellcheck disable=SC2086
  expect 1 "gnuplot is not installed, but figures need it" $bare "$work/asked" $asked
done
printf 'formats = ["svg"]\n' >"$work/drawn.toml"
expect 1 "gnuplot is not installed, but figures need it" $bare "$work/asked" --job "$work/drawn.toml"
expect 1 "gnuplot is not installed, but figures need it" figures "$work/no gnuplot"
expect 1 "gnuplot is not installed, but figures need it" spectrum --model "$golden" --out "$work/asked" --formats svg
[ -e "$work/asked" ] && { echo "FAILED: figures that cannot be drawn were refused after the work"; failed=1; }
expect 0 "no figure, because gnuplot is not installed" spectrum --model "$golden" --out "$work/plain-spectrum"
holds "$work/plain-spectrum" 0-bert.h5
expect 0 "then \`headwave figures $work/plain-kinds/causal\` draws them" atlas --model "$kinds" --out "$work/plain-kinds"
headwave=$with_gnuplot
expect 0 "wrote" figures "$work/no gnuplot" --formats svg
holds "$work/no gnuplot" results.h5 report.html $profile.svg $profile.txt

# The folder is tried before anything is computed.
expect 1 "cannot make the folder" run --model "$work/model" --random-tokens 6 --documents 1 --out "$work/text.txt/in"
mkdir -p "$work/taken/results.h5"
expect 1 "found a folder" run --model "$work/model" --random-tokens 6 --documents 1 --out "$work/taken" --force
expect 1 "nothing: not found" atlas --model "$work/nothing" --out "$work/new/deep"
expect 1 "nothing" spectrum --model "$work/nothing" --out "$work/new/deep"

# A job file is the options by name, what is typed counts more, and a result holds the job that makes it again.
cat >"$work/job.toml" <<JOB
model = "$work/model"    # a comment
ids = "$work/model/ids.json"
documents = 2
level = 0.001
clusters = 3
no-figures = true
heads = ["L0H1", "L2H3"]
only = ["head_cluster", "position_atlas"]
out = "$work/j1"
JOB
expect 0 "of 32 heads look" run --job "$work/job.toml"
expect 0 "of 32 heads look" run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --level 0.001 --clusters 3 --no-figures --heads L0H1,L2H3 --only head_cluster,position_atlas --out "$work/j2"
expect 1 "--force" run --job "$work/job.toml"
expect 0 "level = 0.001" inspect "$work/j1/results.h5" --job
cp "$work/out" "$work/stored.toml"
grep -qx 'fdr = 0.05' "$work/stored.toml" || { echo "FAILED: a stored job writes 0.05 otherwise"; failed=1; }
expect 0 "clusters = 3" inspect "$work/j2/results.h5" --job
cmp -s "$work/out" "$work/stored.toml" || { echo "FAILED: a job file is not what its flags are"; failed=1; }
expect 0 "of 32 heads look" run --job "$work/stored.toml" --out "$work/j3"
cp "$work/out" "$work/table"
expect 0 "clusters = 3" inspect "$work/j3/results.h5" --job
cmp -s "$work/out" "$work/stored.toml" || { echo "FAILED: a stored job does not store itself again"; failed=1; }
expect 0 "of 32 heads look" run --job "$work/stored.toml" --out "$work/j3" --force --threads 1
cmp -s "$work/out" "$work/table" || { echo "FAILED: a stored job gives another result"; failed=1; }
expect 0 "" -q run --job "$work/job.toml" --documents 3 --out "$work/three"
expect 0 "documents = 3" inspect "$work/three/results.h5" --job
expect 0 "" -q run --job "$work/job.toml" --random-tokens 40 --out "$work/forty"
expect 0 "random-tokens = 40" inspect "$work/forty/results.h5" --job
mkdir "$work/a # b, c"
cp "$work/model/ids.json" "$work/a # b, c/"
printf 'model = "%s"\nids = "%s"\ndocuments = 1\n' "$work/model" "$work/a # b, c/ids.json" >"$work/odd.toml"
expect 0 "" -q run --job "$work/odd.toml" --only measured_offset --no-figures --out "$work/odd"
refuse_job() {
  printf '%s\n' "$2" >"$work/bad.toml"
  expect 1 "$1" run --job "$work/bad.toml" --out "$work/j4"
}
refuse_job "line 1: there is no key 'lenght'; did you mean 'length'?" 'lenght = 5'
refuse_job "line 1: there is no key 'nonsense'; expected one of" 'nonsense = 5'
refuse_job "did you mean 'phase_delay'?" 'only = ["phase_delays"]'
refuse_job "line 1: there is no key 'force'" 'force = true'
refuse_job "line 2: 'documents' should be a whole number" '
documents = "5"'
refuse_job "'documents' should be a whole number" 'documents = 5.0'
refuse_job "'level' should be a number" 'level = true'
refuse_job "'heads' should be a list of strings" 'heads = "L0H1"'
refuse_job "'no-figures' should be true or false" 'no-figures = 1'
refuse_job "'text' should be a string in quotes" 'text = 5'
refuse_job "documents" 'documents = 0'
refuse_job "cannot be combined" 'text = "a"
ids = "b"'
refuse_job "line 1: " 'text = '
refuse_job "there is no key 'model-options'" '[model-options]
a = 1'
expect 1 "$work/none.toml" run --job "$work/none.toml" --out "$work/j4"
expect 1 "holds no job" inspect "$work/demo/results.h5" --job
expect 2 "below 2^63" run --job "$work/job.toml" --seed 9223372036854775808

# Every result says who made it, when and with what, whichever command it was.
for result in r/results.h5 s/0-model.h5 atlas/results.h5; do
  "$headwave" inspect "$work/$result" -a | sed -n '/^\/provenance/,$p' >"$work/provenance"
  for what in '@started *20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z' '@version *[0-9]' '@command *headwave' '@compiler *[gc]' \
    '@libraries *Eigen [0-9.]*, [^,]*FFT[^,]*, HDF5 [0-9.]*, zlib [0-9.]*, ICU [0-9.]*, Oniguruma [0-9.]*, fmt [0-9.]*' '@processor *[^ ]' \
    '@instruction_set *[^ ]' '@wall_time_s *[0-9]'; do
    grep -q "$what" "$work/provenance" || { echo "FAILED: $result does not say $what"; failed=1; }
  done
  grep -Eq '@commit *([0-9a-f]{40}(-dirty)?|unknown)( |$)' "$work/provenance" || { echo "FAILED: $result names no commit"; failed=1; }
done

# What is not ours to remove stays: other results without --force, and what lies behind links.
expect 0 "" -q spectrum --model "$work/model" "$golden" --out "$work/sp" --formats svg
rm "$work/sp"/spectra.*
expect 0 "" -q spectrum --model "$2/tests/golden/families/gpt2" --out "$work/sp2" --formats svg
cp "$work/sp"/1-*.h5 "$work/sp2/"
rm "$work/sp2"/spectra.* "$work/sp2"/0-*.h5
expect 0 "" -q spectrum --model "$2/tests/golden/families/gpt2" --out "$work/sp2" --formats svg
[ "$(ls "$work/sp2"/1-*.h5 | wc -l)" = 1 ] || { echo "FAILED: a spectrum removed another's result without --force"; failed=1; }
# Root may remove what is in any folder.
if [ "$(id -u)" != 0 ]; then
  expect 0 "" -q run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --only measured_offset --out "$work/kept" --formats svg
  chmod a-w "$work/kept/figures"
  expect 1 "belongs to an earlier result, but cannot be removed" -q run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --only measured_offset --out "$work/kept" --no-figures --force
  chmod u+w "$work/kept/figures"
fi

expect 0 "headwave result" inspect "$work/r"
expect 0 "clusters = 3" inspect "$work/j1" --job

# Messages are one line, and name the file, whatever it is called.
expect 1 "no\u000amodel: not found" run --model "$(printf 'no\nmodel')" --ids "$work/model/ids.json" --out "$work/r9"
expect 1 "expected a file, found a folder" run --job "$work" --out "$work/r9"
expect 2 "0, or 3 to 10000" run --model "$work/model" --ids "$work/model/ids.json" --draws 2 --out "$work/r9"
expect 2 "3 to 100000" atlas --model "$work/model" --draws 1 --out "$work/r9"
expect 3 "at the search's end" demo --documents 3 --reach 2 --only measured_offset --no-figures --out "$work/demo" --force
# A standard stream that is closed does not get a result's bytes.
"$headwave" -q run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --only measured_offset --no-figures --out "$work/closed" >"$work/out" 2>&- <&- || { echo "FAILED: a run with closed standard streams"; failed=1; }
"$headwave" inspect "$work/closed/results.h5" >"$work/out" 2>"$work/err" || { echo "FAILED: the result of a run with closed standard streams"; failed=1; }
"$headwave" -q run --model "$work/model" --ids "$work/model/ids.json" --documents 2 --only measured_offset --no-figures --out "$work/closed" --force >&- 2>"$work/err" && { echo "FAILED: a closed standard output passed for a success"; failed=1; }
# A terminal's progress line is gone before a table begins.
if command -v script >/dev/null; then
  script -qec "'$headwave' run --model '$work/model' --ids '$work/model/ids.json' --documents 60 --no-figures --out '$work/tty'" /dev/null >"$work/out" 2>&1 </dev/null
  grep -q "left.*heads look at" "$work/out" && ! grep -q "$(printf '\r\033\[K')[^ ]* (bert), " "$work/out" && { echo "FAILED: a table is glued to the progress line"; failed=1; }
fi

# docs/result-file.md names everything that a provenance holds.
for result in r/results.h5 i/results.h5 random/results.h5 few/results.h5 demo/results.h5 s/0-model.h5 weights/results.h5; do
  names=$("$headwave" inspect "$work/$result" -a | sed -n '/^\/provenance/,$p' | sed -n 's/.*@\([a-z][a-z0-9_]*\) .*/\1/p')
  [ -n "$names" ] || { echo "FAILED: $result has no provenance"; failed=1; }
  for name in $names; do
    grep -qF -- "\`$name\`" "$2/docs/result-file.md" || { echo "FAILED: docs/result-file.md does not name '$name'"; failed=1; }
  done
done

# Numbers as tables: of a result alone, whole or not at all, and none of another sort.
expect 0 "wrote 3 tables and all-columns.csv to $work/csv" export "$work/r" --csv "$work/csv" --only measured_offset,head_types --max-rows 100000
head -n 1 "$work/csv/measured_offset.pairs.layer.head.csv" | grep -qx 'pairs,layer,head,offset,status,weight,threshold,chance' ||
  { echo "FAILED: the table of measured offsets has other columns"; failed=1; }
expect 1 "all-columns.csv: is already there; choose another --csv, or replace it with --force" export "$work/r" --csv "$work/csv"
expect 0 "wrote" export "$work/r" --csv "$work/csv" --force
expect 0 "omitted tables of more than 100 rows: offset_trace.pairs.layer.head.offset" export "$work/r" --csv "$work/short" --max-rows 100
[ -e "$work/short/offset_trace.pairs.layer.head.offset.csv" ] && { echo "FAILED: a table longer than --max-rows was written"; failed=1; }
expect 1 "there is no group 'mesured_offset'; did you mean 'measured_offset'?" export "$work/r" --csv "$work/none" --only mesured_offset
expect 1 "not a headwave result" export "$2/tests/golden/stored/causal.h5" --csv "$work/none"
(trap '' XFSZ; ulimit -f 100; expect 1 ".csv" export "$work/r" --csv "$work/none"; exit $failed) || failed=1
expect 2 "--csv DIR or --heads FILE is required" export "$work/r"
# One row a head, alone or beside the tables, in the same columns.
expect 0 "heads to $work/rows.csv" export "$work/r" --heads "$work/rows.csv"
head -n 1 "$work/rows.csv" | grep -q '^model,revision,attention,documents,length,corpus,corpus_sha256,headwave,commit,head,layer,index,offset,' ||
  { echo "FAILED: rows of heads have other columns"; failed=1; }
expect 1 "rows.csv: is already there; choose another --heads, or replace it with --force" export "$work/r" --heads "$work/rows.csv"
expect 1 "--heads takes a file" export "$work/r" --heads "$work"
expect 0 "all-columns.csv" export "$work/r" --heads "$work/rows.csv" --csv "$work/rowstoo" --force
cmp "$work/rows.csv" "$work/rowstoo/heads.csv" || failed=1
expect 0 "head,layer,index,offset,status,weight" inspect "$work/r" --csv
[ "$(wc -l <"$work/out")" = $(($("$headwave" inspect "$work/r" --json | grep -c '"cluster_share": ') + 1)) ] || { echo "FAILED: inspect --csv lacks a line"; failed=1; }
expect 1 "expected a headwave result, which has a table of heads" inspect "$2/tests/golden/stored/causal.h5" --csv
expect 2 "excludes" inspect "$work/r" --csv --json
# What a run prints of its result is what inspect prints of it, and nothing but that.
expect 0 '"heads": [' run --model "$work/bert" --ids "$work/line.txt" --out "$work/j" $quick --json
"$headwave" inspect "$work/j" --json | cmp -s - "$work/out" || { echo "FAILED: run --json and inspect --json differ"; failed=1; }
grep -qF "wrote $work/j/results.h5" "$work/err" || { echo "FAILED: run --json does not say on standard error what it wrote"; failed=1; }
expect 0 '"heads": [' run --model "$work/bert" --ids "$work/line.txt" --out "$work/j" $quick --json --resume
"$headwave" inspect "$work/j" --json | cmp -s - "$work/out" || { echo "FAILED: run --json of a finished run prints something else"; failed=1; }
expect 0 "$work/json-kinds/cross/results.h5" run --model "$2/tests/golden/families/t5" --ids "$work/pair.json" --out "$work/json-kinds" $quick --json
[ "$(grep -c '^    "version": 2,' "$work/out")" = 3 ] || { echo "FAILED: run --json of an encoder-decoder lists other than three results"; failed=1; }
expect 0 "$work/json-kinds/cross/results.h5: intact" validate "$work/json-kinds"
expect 1 "name one of" inspect "$work/json-kinds"
kinds="run --model $2/tests/golden/families/t5 --ids $work/pair.json --out $work/json-kinds $quick"
expect 0 "the job is finished" $kinds --resume
expect 1 "belongs to another run (seed: 1 there, 2 here)" -q $kinds --seed 2 --resume

# What was written is what was meant, or is told.
expect 0 "intact: all bytes" validate "$work/r"
expect 3 "the digest at its end is missing" validate "$work/r" "$2/tests/golden/result_unfinished.h5"
expect 1 "cannot be opened" validate "$work/none.h5"
expect 3 "cannot be opened" validate "$work/none.h5" "$2/tests/golden/result_unfinished.h5"

# Nobody takes a changed result for what was written.
change() { LC_ALL=C sed 's/whether the head singles out/whether the head Singles out/' "$1" >"$work/change" && cp "$work/change" "$1"; }
sound="run --model $work/bert --ids $work/line.txt $quick --out"
expect 0 "wrote" $sound "$work/sound"
cp -r "$work/sound" "$work/unsound"
change "$work/unsound/results.h5"
problem="unsound/results.h5: was changed or damaged after it was written: the digest at its end does not match its content"
expect 3 "$problem" validate "$work/unsound"
expect 1 "$problem" inspect "$work/unsound"
expect 1 "$problem" inspect "$work/unsound" --json
for command in report figures "export --csv $work/unsound-tables" "compare $work/sound"; do
  expect 1 "$problem; replace it by an intact copy, or remove it" $command "$work/unsound"
done
expect 1 "$problem" -q $sound "$work/unsound" --resume

# A run goes on with its own unfinished one alone; a finished one is left as it is.
resumed="-q run --model $work/bert --ids $work/line.txt --out $work/u $quick"
expect 0 "" $resumed --resume
expect 0 "is finished" ${resumed#-q } --resume
expect 0 "no earlier run is saved here: beginning with the first document" run --model "$work/bert" --ids "$work/line.txt" --out "$work/u2" $quick --resume
changed="run --model $work/bert --ids $work/line.txt --out $work/changed $quick --intervene without-heads=L0H1"
expect 0 "wrote" $changed
expect 0 "is finished" $changed --resume
expect 1 "belongs to another run (seed: 1 there, 2 here)" $resumed --resume --seed 2
mkdir "$work/begun"
: >"$work/begun/results.unfinished"
expect 1 "begun: holds an unfinished run, but no result yet" validate "$work/begun"
for command in inspect figures; do expect 1 "begun: holds an unfinished run, but no result yet; continue it with \`headwave run --resume\`" $command "$work/begun"; done
printf 'something else' >"$work/u/results.unfinished"
rm "$work/u/results.h5"
expect 1 "continue it with --resume, or begin anew with --force" $resumed
expect 1 "expected the file of an unfinished run, found other content" $resumed --resume
expect 0 "" $resumed --force
[ ! -e "$work/u/results.unfinished" ] || { echo "FAILED: an unfinished run stays"; failed=1; }

# One command at a time writes to a folder.
(flock -x 9; expect 1 "another headwave process is writing here" $resumed --force; exit $failed) 9>"$work/u/.headwave.lock" || failed=1
expect 0 "" $resumed --force

# What lies beside a finished file goes when the run is resumed.
echo unfinished >"$work/u/results.unfinished"
expect 0 "is finished" ${resumed#-q } --resume
[ ! -e "$work/u/results.unfinished" ] || { echo "FAILED: an unfinished run stays beside its result"; failed=1; }

# Parts of a run come to what the whole does; what is not a part of it is refused by name.
echo "[[5,6,7],[5,6,8],[5,6,9],[5,6,10],[5,6,11],[5,6,12]]" >"$work/six.txt"
divided="run --model $work/bert --ids $work/six.txt --documents 6 $quick"
expect 0 "" -q $divided --out "$work/undivided"
expect 0 "documents 4 to 5 of 6, part 2 of 2" $divided --shard 2/2 --out "$work/d2"
mkdir "$work/films" && touch "$work/films/movie.mp4.part" "$work/films/block-1-of-2.part"
expect 1 "holds no part of a run" merge "$work/films" --out "$work/merged"
expect 0 "part 2 of 2" $divided --shard 2/2 --out "$work/films"
expect 0 "part 2 of 2" $divided --shard 2/2 --out "$work/films"
[ "$(ls "$work/films" | tr '\n' ' ')" = "block-02-of-02.part block-1-of-2.part movie.mp4.part " ] || { echo "FAILED: beside a part of a run are $(ls "$work/films")"; failed=1; }
expect 1 "documents 0 to 3 (block 1 of 2) are missing" merge "$work/d2" --out "$work/merged"
expect 0 "documents 0 to 3 of 6, part 1 of 2" $divided --shard 1/2 --out "$work/d1"
expect 0 "part 1 of 2" $divided --shard 1/2 --out "$work/d1"
for command in inspect figures; do expect 1 "d1: holds a part of a divided run, but no result yet; join its parts with \`headwave merge\`" $command "$work/d1"; done
# Parts lie beside each other in one folder; one that is run again goes on.
expect 0 "part 1 of 2" $divided --shard 1/2 --out "$work/together"
expect 0 "part 2 of 2" $divided --shard 2/2 --out "$work/together"
expect 0 "part 2 of 2" $divided --shard 2/2 --out "$work/together"
expect 1 "belongs to another run (seed: 1 there, 2 here)" $divided --shard 2/2 --seed 2 --out "$work/together"
expect 0 "" -q merge "$work/together" --out "$work/merged-together"
expect 1 "belongs to another run (seed: 1 there, 2 here)" $divided --shard 1/2 --seed 2 --out "$work/d1" --resume
expect 1 "give each part once" merge "$work/d1" "$work/d2" "$work/d1" --out "$work/merged"
expect 1 "belongs to another run (seed: 1 there, 2 here)" merge "$work/d1" "$work/d2" --seed 2 --out "$work/merged"
expect 1 "cannot be divided into 3 parts; expected at most 2 parts" $divided --shard 1/3 --out "$work/d3"
expect 2 "expected PART/PARTS with PART from 1 to PARTS, such as 3/16, got '3/2'" $divided --shard 3/2 --out "$work/d3"
mkdir "$work/named" && cp "$work/d1/block-01-of-02.part" "$work/named/results.h5"
expect 1 "results.h5: would replace the input $work/named/results.h5" merge "$work/named/results.h5" "$work/d2" --no-figures --out "$work/named" --force
expect 0 "" -q merge "$work/d2" "$work/d1" --no-figures --out "$work/merged"
expect 0 "" compare "$work/undivided" "$work/merged"
grep -q "other options" "$work/out" && { echo "FAILED: a merged run is compared by what merged it"; failed=1; }
digests "$work/undivided" >"$work/a.csv"; digests "$work/merged" | cmp -s - "$work/a.csv" || { echo "FAILED: merged and undivided runs differ"; failed=1; }

# Behind a link ".." is another folder than the one that holds the link.
mkdir -p "$work/linked/real/sub" && ln -s real/sub "$work/linked/link"
cp "$work/six.txt" "$work/linked/real/six.txt"
(cd "$work/linked/real" && "$headwave" -q run --model ../../bert/./ --ids ../link/../six.txt --only measured_offset --no-figures --out "$work/by-link" >/dev/null) || { echo "FAILED: a text behind a link"; failed=1; }
expect 0 "ids = '$work/linked/real/../link/../six.txt'" inspect "$work/by-link" --job
expect 0 "model = '$work/bert" inspect "$work/by-link" --job
[ ! -e "$work/w" ] || { echo "FAILED: a sweep that was refused ran a checkpoint"; failed=1; }

# Names are anybody's writing: what is printed of them is UTF-8 on its own line, and no terminal's command.
odd=$work/odd$(printf '\033[2Jx\nnew\377')
mkdir "$odd"
cp "$work/six.txt" "$odd/ids.json"
seen() {
  "$headwave" "$@" >"$work/seen" 2>&1 </dev/null || { echo "FAILED: headwave $*: $(cat "$work/seen")"; failed=1; }
  LC_ALL=C grep -q "$(printf '\033')" "$work/seen" && { echo "FAILED: headwave $1 prints a terminal's command"; failed=1; }
  iconv -f UTF-8 -t UTF-8 "$work/seen" >/dev/null 2>&1 || { echo "FAILED: headwave $1 prints what is no UTF-8"; failed=1; }
  grep -qF 'odd\u001b[2Jx\nnew\xff' "$work/seen" || { echo "FAILED: headwave $1 does not show the name: $(cat "$work/seen")"; failed=1; }
}
seen run --model "$work/bert" --ids "$odd/ids.json" --only measured_offset --no-figures --out "$odd/result"
seen run --model "$work/bert" --ids "$odd/ids.json" --only measured_offset --no-figures --out "$odd/result" --resume
seen run --model "$work/bert" --ids "$odd/ids.json" --only measured_offset --shard 1/1 --out "$odd/part"
seen report "$odd/result"
seen figures "$odd/result" --formats svg --only offset_profile
seen export "$odd/result" --csv "$odd/tables"
seen validate "$odd/result"
seen demo --write-model "$odd/planted" --documents 1

# A limit on the size of files, or on how many are open, is told as what it is, and leaves nothing behind.
(ulimit -f 64; "$headwave" demo --write-model "$work/limited" >"$work/out" 2>"$work/err"); got=$?
[ $got = 1 ] && grep -q "^headwave: error: .*model.safetensors: cannot be written: File too large$" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] || { echo "FAILED: a limited file: exit code $got, $(cat "$work/err")"; failed=1; }
(ulimit -f 8; "$headwave" run --model "$work/bert" --ids "$work/six.txt" --no-figures --out "$work/limited" >"$work/out" 2>"$work/err"); got=$?
[ $got = 1 ] && grep -q "results.h5: .*File too large" "$work/err" || { echo "FAILED: a limited result: exit code $got, $(cat "$work/err")"; failed=1; }
[ -z "$(ls -A "$work/limited")" ] || { echo "FAILED: left behind: $(find "$work/limited")"; failed=1; }
for most in 6 7 8 9 10; do
  (ulimit -n $most; exec "$headwave" -q run --model "$work/bert" --ids "$work/six.txt" --only measured_offset --no-figures --out "$work/few-open") >"$work/out" 2>"$work/err" && break
  grep -q "Too many open files" "$work/err" || { echo "FAILED: $most open files: $(cat "$work/err")"; failed=1; }
done

# A result is whole or absent: nothing but results.h5 and the figures lies in the folder.
leftovers=$(find "$work/r" -name '*.tmp*' -o -name '.*' -type f)
[ -z "$leftovers" ] || { echo "FAILED: left behind: $leftovers"; failed=1; }
[ $failed = 0 ] && echo "command line: as promised"
exit $failed
