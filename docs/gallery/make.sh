#!/bin/sh
# Makes the pictures of this folder anew, from real runs of what the README names. Needs gnuplot, and Chromium for the page.
#   docs/gallery/make.sh MINILM STORIES WIKITEXT SHAKESPEARE
#   MINILM, STORIES   folders of all-MiniLM-L6-v2 and of stories260K
#   WIKITEXT, SHAKESPEARE   WikiText-2's wiki.test.raw and tinyshakespeare's text
# HEADWAVE names the program; else it is ./headwave of this checkout.
set -eu
minilm=$1 stories=$2 wikitext=$3 shakespeare=$4
gallery=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
headwave=${HEADWAVE-$gallery/../../headwave}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# picture MODEL FIGURE [OPTIONS...]: a figure of that model's result as docs/gallery/MODEL-FIGURE.png
picture() {
  model=$1 figure=$2
  shift 2
  "$headwave" -q figures "$work/$model" --only "$figure" --formats png --out "$work/drawn" "$@"
  mv "$work/drawn/figures/$figure.png" "$gallery/$model-$(echo "$figure" | tr _ -).png"
}

"$headwave" -q run --model "$minilm" --text "$wikitext" --documents 100 --length 128 --everything --no-figures --out "$work/minilm" >/dev/null
picture minilm offset_profile
picture minilm attention_bits
picture minilm phase_spectrum --heads L0H2,L1H8
picture minilm account_profile --heads L0H2,L0H5,L1H1,L1H8,L4H7,L4H9

"$headwave" -q run --model "$stories" --text "$shakespeare" --documents 20 --length 256 --no-figures --out "$work/stories" >/dev/null
picture stories rotary_wave

"$headwave" -q report "$work/minilm" --out "$work/report.html"
chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1300 --virtual-time-budget=20000 \
  --screenshot="$gallery/minilm-report-page.png" "file://$work/report.html" >/dev/null 2>&1
