#!/bin/sh
# Line coverage per source file, per folder and of all, from the counters that a BUILD=cov test run left:
#     tests/coverage.sh build/cov base/num.c ...
# Every line that was not reached goes to build/cov/unreached.txt as FILE:LINE: text. Exit 1 below 92 % of all lines.
set -eu
folder=$1
shift
: >"$folder/unreached.txt"
for source in "$@"; do
    gcov -t "$folder/${source%.c}.gcda" 2>/dev/null | awk -v source="$source" '
        / 0:Source:/ { split($0, part, "Source:"); mine = part[2] == source }
        mine && /^ *#####:/ { sub(/^ *#####: */, ""); line = $0; sub(/:.*/, "", line); sub(/^[0-9]+:/, ""); print source ":" line ":" $0 }
    ' >>"$folder/unreached.txt"
    gcov -n "$folder/${source%.c}.gcda" 2>/dev/null | awk -v source="$source" '
        /^File /           { mine = index($0, "\x27" source "\x27") }
        /^Lines executed:/ { if (mine) { split($0, part, /[:% ]+/); share = part[3]; lines = part[5] } }
        END                { printf "%s %d %.0f\n", source, lines, share * lines / 100 }'
done | awk '
    function row(name, hit, all) { printf "%-40s %6d of %6d  %5.1f %%\n", name, hit, all, all ? 100 * hit / all : 0 }
    {
        row($1, $3, $2)
        home = $1
        sub(/\/[^\/]*$/, "/", home)
        if (!(home in lines)) homes[++n] = home
        lines[home] += $2
        covered[home] += $3
        all += $2
        hit += $3
    }
    END {
        for (i = 1; i <= n; i++) row(homes[i], covered[homes[i]], lines[homes[i]])
        row("total", hit, all)
        exit !(all > 0 && hit >= 0.92 * all)
    }'
