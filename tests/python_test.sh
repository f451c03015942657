#!/bin/sh
# The tests of the Python package, with the wheel that `./headwave python` or packaging/wheels.sh made last, in a virtual environment of their own. What is
# tested with xarray, PyTorch and transformers is skipped where the environment has not got them; HEADWAVE_TEST_PACKAGES names what
# else pip is to install ("xarray h5netcdf torch transformers"); if pip cannot, the test fails, it does not skip.
#   python_test.sh HEADWAVE SOURCE_DIR [PYTEST ARGUMENTS...]
set -eu
program=$(realpath "$1") root=$2
shift 2
python=${HEADWAVE_PYTHON-python3}
skip() { echo "skipped: $*"; exit 0; }

command -v "$python" >/dev/null || skip "there is no $python here"
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
stable=$("$python" -c 'import sys; print("cp312-abi3" if sys.version_info >= (3, 12) else "none")')
# shellcheck disable=SC2012
wheel=$(ls -t "$root"/build/wheels/headwave-*-"$tag"-*_"$(uname -m)".whl "$root"/build/wheels/headwave-*-"$stable"-*_"$(uname -m)".whl 2>/dev/null | head -n 1)
[ -n "$wheel" ] || skip "there is no wheel for $tag in build/wheels; make it with ./headwave python"
newer=$(find "$root/core" "$root/analysis" "$root/data" "$root/reports" "$root/job" "$root/python" "$root/pyproject.toml" -type f -newer "$wheel" \
  ! -name '*.pyc' | head -n 1)
[ -z "$newer" ] || skip "the wheel is older than ${newer#"$root"/}; make it again with ./headwave python"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/environment" 2>"$work/venv.log" || skip "$python makes no virtual environments: $(tail -n 1 "$work/venv.log")"
# shellcheck disable=SC2086
"$work/environment/bin/pip" install -q --no-compile "$wheel" pytest ${HEADWAVE_TEST_PACKAGES-} >"$work/pip.log" 2>&1 || {
  tail -n 5 "$work/pip.log"
  [ -z "${HEADWAVE_TEST_PACKAGES-}" ] || { echo "pip cannot install what HEADWAVE_TEST_PACKAGES names"; exit 1; }
  skip "pip cannot install what the tests need"
}
# A wheel that brings the program (packaging/wheels.sh) has that program's numbers to the bit, not those of this build.
[ ! -x "$work/environment/bin/headwave" ] || program=$work/environment/bin/headwave
cd "$root/tests/python"
HEADWAVE_PROGRAM=$program "$work/environment/bin/python" -m pytest -q -p no:cacheprovider "$@" .
