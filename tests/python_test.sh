#!/bin/sh
# The tests of the Python package, in a virtual environment of their own: the package that the release build made beside the program, or
# a wheel of packaging/wheels.sh and the program within. What is tested with PyTorch and transformers is skipped where the
# environment has not got them; HEADWAVE_TEST_PACKAGES names what else pip is to install ("h5netcdf torch transformers"); if pip
# cannot, the test fails, it does not skip.
#   python_test.sh HEADWAVE|WHEEL SOURCE_DIR [PYTEST ARGUMENTS...]
set -eu
tested=$(realpath "$1") root=$2
shift 2
python=${HEADWAVE_PYTHON-python3}
skip() { echo "skipped: $*"; exit 0; }

command -v "$python" >/dev/null || skip "there is no $python here"
tag=$("$python" -c 'import sys; print("%d%d" % sys.version_info[:2])')
case $tested in
  *.whl) package= installed=$tested ;;
  *)
    package=$(dirname "$tested")/python installed="numpy>=1.24 xarray>=2024.10"
    ls "$package/headwave/_core.cpython-$tag"-*.so >/dev/null 2>&1 || skip "there is no package for Python of tag cp$tag in $package; build it with ./headwave test"
    ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/environment" 2>"$work/venv.log" || skip "$python makes no virtual environments: $(tail -n 1 "$work/venv.log")"
# shellcheck disable=SC2086
"$work/environment/bin/pip" install -q --no-compile $installed pytest ${HEADWAVE_TEST_PACKAGES-} >"$work/pip.log" 2>&1 || {
  tail -n 5 "$work/pip.log"
  [ -z "${HEADWAVE_TEST_PACKAGES-}" ] || { echo "pip cannot install what HEADWAVE_TEST_PACKAGES names"; exit 1; }
  skip "pip cannot install what the tests need"
}
if [ -n "$package" ]; then
  echo "$package" >"$("$work/environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/headwave.pth"
  program=$tested
else
  program=$work/environment/bin/headwave   # the numbers of a wheel are those of its own program
fi
cd "$root/tests/python"
HEADWAVE_PROGRAM=$program "$work/environment/bin/python" -m pytest -q -p no:cacheprovider "$@" .
