#!/bin/sh
# The manual of the YAML keys, from the tables that read them.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
run keys dims
run keys budget --of csv
run keys npu --of json
"$WEFT" keys | grep '^[a-z]' | grep ': '
