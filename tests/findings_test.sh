#!/bin/sh
# The commands of docs/findings.md print what stands below them. Blocks of a model that is not there are skipped by name.
#   findings_test.sh HEADWAVE SOURCE_DIR [OUT]   OUT: also write the page as it would be to this file
# MINILM, STORIES, ANTIBERTY and WHISPER name folders of models, ANTIBODIES the ids.json of AntiBERTy, WIKITEXT and SHAKESPEARE texts; PYTHON one that has
# pandas and, for Whisper, headwave, torch and transformers.
set -u
case $1 in /*) headwave=$1 ;; *) headwave=$PWD/$1 ;; esac
source=$(cd "$2" && pwd)
data=$source/../shared/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON-python3}
"$python" -c 'import pandas' 2>/dev/null || { echo "findings: skipped, $python has no pandas"; exit 77; }
mkdir "$work/bin" && ln -s "$headwave" "$work/bin/headwave"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$work/bin/python" && chmod +x "$work/bin/python"
# link MODEL NAME DOCUMENTS NAME: both, or neither
link() { [ -e "$1" ] && [ -e "$3" ] && ln -s "$1" "$work/$2" && ln -sf "$3" "$work/$4"; }
link "${MINILM-}" minilm "${WIKITEXT-$data/text/wikitext-2/wiki.test.raw}" wiki.test.raw
link "${STORIES-$data/stories260K}" stories260K "${SHAKESPEARE-$data/text/tinyshakespeare/input.txt}" input.txt
link "${ANTIBERTY-}" antiberty "${ANTIBODIES-}" ids.json
case $(espeak-ng --version 2>/dev/null) in *" 1.51 "*) link "${WHISPER-}" whisper "${SHAKESPEARE-$data/text/tinyshakespeare/input.txt}" input.txt ;; esac
ln -s "$source/examples" "$work/examples"
PATH=$work/bin:$PATH
export PATH
cd "$work" || exit 1
cat >check.py <<'END'
import os, re, subprocess, sys
page = open(sys.argv[1]).read()
block = re.compile(r"```sh\n(.*?)```\n\n```text\n(.*?)```", re.S)
skipped, failed, ran = set(), 0, 0
def checked(match):
    global failed, ran
    command, expected = match.groups()
    absent = [name for name in ("minilm", "stories260K", "antiberty", "whisper") if re.search(rf"\b{name}\b", command) and not os.path.exists(name)]
    if absent:
        skipped.update(absent)
        return match[0]
    done = subprocess.run(["sh", "-ec", command], capture_output=True, text=True)
    said = "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())
    ran += 1
    if done.returncode or said != expected:
        failed += 1
        print(f"FAILED: docs/findings.md:\n{command}gives\n{said}{done.stderr}in place of\n{expected}")
    return f"```sh\n{command}```\n\n```text\n{said}```"
made = block.sub(checked, page)
if len(sys.argv) > 2:
    open(sys.argv[2], "w").write(made)
for name in sorted(skipped):
    print(f"findings: skipped {name}, which is not there")
print(f"findings: {ran} blocks ran, {failed} failed")
sys.exit(1 if failed else 0 if ran else 77)
END
"$python" check.py "$source/docs/findings.md" ${3+"$3"}
