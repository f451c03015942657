#!/bin/sh
# Modules of the page that draw nothing, in node.
command -v node >/dev/null || { echo "skipped: node is not there (Debian: nodejs)"; exit 0; }
exec node --test "$(dirname "$0")"
