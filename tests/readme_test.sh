#!/bin/sh
# Runs a page, the README say: every command in it, in the order in which it stands, and every line of output that it shows must come.
#   readme_test.sh HEADWAVE SOURCE_DIR [PAGE]
# Commands about MiniLM need the environment's HEADWAVE_MINILM, a folder with that model, and ../shared/data's WikiText-2; without
# them they are left out, and the test says so. What downloads, installs or builds is for a bare system and not run here.
set -u
headwave=$1 source=$2 page=${3-README.md}
minilm=${HEADWAVE_MINILM-} text=$2/../shared/data/text/wikitext-2/wiki.test.raw
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf '#!/bin/sh\nexec "%s" "$@"\n' "$headwave" >headwave
chmod +x headwave
if [ -n "$minilm" ] && [ -f "$text" ]; then
  mkdir wikitext-2
  ln -s "$text" wikitext-2/wiki.test.raw
  ln -s "$minilm" minilm
fi

# block-N is what stands between two fences, and its first line the fence's language.
awk '/^```/ { if (inside) { inside = 0; close(file) } else { inside = 1; file = sprintf("block-%03d", ++n); print substr($0, 4) > file }; next }
     inside { print > file }' "$source/$page"
failed=0 ran=0 left_out=0
: >said
for block in block-*; do
  language=$(head -n 1 "$block")
  tail -n +2 "$block" >body
  case $language in
    sh)
      : >said
      while read -r line; do
        case $line in
          '' | '#'* | pip* | unzip* | mv* | sudo* | cmake* | './headwave test'*) continue ;;
          *minilm* | *wikitext* | *'result/'* | *' result '*) [ -e minilm ] || { left_out=$((left_out + 1)); continue; } ;;
        esac
        ran=$((ran + 1))
        sh -c "$line" >>said 2>err </dev/null
        code=$?
        case $code:$line in
          0:* | 3:*'headwave compare'*) ;; # 3: there are differences
          *) echo "FAILED: $line"; cat err; failed=1 ;;
        esac
      done <body
      ;;
    python)
      imports=$(grep '^import ' body)
      case $imports in *xarray*) imports="$imports; import h5netcdf" ;; esac
      if [ -e minilm ] && python3 -c "$imports" 2>/dev/null; then
        ran=$((ran + 1))
        python3 body >said 2>err || { echo "FAILED: the Python of $page"; cat err; failed=1; }
      else
        : >said
        left_out=$((left_out + 1))
      fi
      ;;
    '')
      [ -s said ] || continue
      sed -i 's/ *$//' said
      while IFS= read -r line; do
        case $line in '' | ...) continue ;; esac
        grep -qFx -- "$(printf '%s' "$line" | sed 's/ *$//')" said ||
          { echo "FAILED: $page shows a line that did not come: $line"; failed=1; }
      done <body
      ;;
  esac
done
[ $failed = 0 ] || exit 1
[ $((ran + left_out)) -gt 0 ] || { echo "FAILED: $page has no command"; exit 1; }
[ $left_out = 0 ] || echo "commands of $page about MiniLM were left out: HEADWAVE_MINILM names no folder with it ($left_out)"
echo "$page: $ran commands, as it says"
