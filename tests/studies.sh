#!/bin/sh
# Write the YAML documents of tests/cli to FOLDER, which is made anew: small, of every kind, right and wrong.
#     tests/studies.sh FOLDER
set -eu
rm -rf "$1"
mkdir -p "$1"
awk -v to="$1/" '
    FNR == 1 { if (out) close(out); out = "" }
    out && /^\.\.$/ { close(out); out = "" }
    out { print >out }
    /^cat >[a-z_0-9]*\.yaml <<.?\.\..?$/ {
        script = FILENAME
        sub(/.*\//, "", script)
        sub(/\.sh$/, "", script)
        name = $2
        sub(/^>/, "", name)
        out = to script "-" FNR "-" name
    }' "$(dirname "$0")"/cli/*.sh
