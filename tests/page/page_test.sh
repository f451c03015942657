#!/bin/sh
# The page of a result in a browser: page_test.sh HEADWAVE SOURCE_DIR
command -v python3 >/dev/null || { echo "skipped: python3 is not there (Debian: python3)"; exit 0; }
exec python3 -B "$(dirname "$0")/page_test.py" "$@"
