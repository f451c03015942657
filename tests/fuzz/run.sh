#!/bin/sh
# Runs the fuzz targets one after another, several at a time. What one finds stays in FOLDER/NAME.found, beside what it learnt.
#   run.sh BUILD_DIR SECONDS FOLDER [NAME...]
set -eu
build=$1 seconds=$2 folder=$3
shift 3
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
shared=$here/../../../shared/data
[ $# -gt 0 ] || set -- $(cd "$here" && ls -- *.cpp | sed 's/[.]cpp$//')
seeds_of() {
  case $1 in
    zip) find "$here/../golden/stored/formats" -name '*.npz' ;;
  esac
  [ -d "$shared" ] || return 0
  case $1 in
    safetensors) find "$shared/malformed" -name '*.safetensors' ;;
    npy) find "$shared/malformed" -name '*.npy' ;;
    json | model_config) find "$shared" -name 'config.json' ;;
    tokenizer_json) find "$shared/malformed" -name '*tokenizer*.json' ;;
    ids) find "$shared/stories260K" -name 'ids.json' ;;
  esac
}
one() {
  mkdir -p "$folder/$1" "$folder/$1.found"
  seeds_of "$1" | while read -r file; do
    [ "$(stat -c %s "$file")" -gt 16384 ] || cp -- "$file" "$folder/$1/$(basename "$file").$(echo "$file" | cksum | cut -d' ' -f1)"
  done
  HEADWAVE_FUZZ_SEEDS="$folder/$1" "$build/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$folder/$1.found/" -print_final_stats=1 "$folder/$1" >"$folder/$1.log" 2>&1 && echo "$1: nothing found, $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$1.log") inputs" || {
    tail -n 30 "$folder/$1.log"
    echo "FAILED: fuzz_$1; its input lies in $folder/$1.found"
    return 1
  }
}
failed=0
running=
for name in "$@"; do
  one "$name" &
  running="$running $!"
  if [ "$(echo "$running" | wc -w)" -ge "$(nproc)" ]; then
    first=${running# }
    first=${first%% *}
    wait "$first" || failed=1
    running=${running# "$first"}
  fi
done
for process in $running; do wait "$process" || failed=1; done
exit $failed
