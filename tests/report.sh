#!/usr/bin/env bash
# Pages of weft report: well-formed, closed, accessible (report_page.py) and within their budgets; with Debian's chromium also in a
# browser without network: the page clicks through itself, the console stays empty, 20,000 rows are laid out about as fast as 240, it
# prints on at most 6 pages, each heading above what it is of (report_pdf.py).
#     FOLDER=build/release tests/report.sh          pages, PDF and pictures stay in FOLDER/report, to be looked at
# Without chromium (CHROMIUM names another), python3 or pdftotext that part is skipped with a line.
set -eu
cd "$(dirname "$0")/.."
weft=${FOLDER:-build/release}/weft out=${FOLDER:-build/release}/report
failed=0
fail() { echo "report.sh: $*"; failed=1; }
mkdir -p "$out"
study=configs/studies/main.yaml

"$weft" sweep "$study" -q -f -o "$out/main.csv"
"$weft" sweep "$study" --set 'vary.total_GBps={from: 100, to: 1000, step: 1.0817}' -q -f --store "$out/large.db.new" >/dev/null
mv "$out/large.db.new" "$out/large.db"
"$weft" report "$out/main.csv" -f -o "$out/table.html"
"$weft" report "$study" -q -f -o "$out/main.html"
spent_s=$({ TIMEFORMAT=%U; time "$weft" report "$out/large.db" -f -o "$out/large.html" >&2; } 2>&1 | tail -1)
"$weft" report configs/studies/llama3-owned.yaml -q -f -o "$out/design.html" --set 'uncertain={keys: {system.pue: {uniform: [1.1, 1.4]},
    system.npu_usd: {triangular: [25000, 30000, 40000]}, workload.traffic: {uniform: [0.9, 1.1]}}}'
echo 'point,network,status,time_s,cost_usd' >"$out/one.csv"
echo '0,a,infeasible,,' >>"$out/one.csv"
"$weft" report "$out/one.csv" -f -o "$out/one.html"
if ! "$weft" report "$study" -q -f -o "$out/again.html" || ! cmp "$out/again.html" "$out/main.html"; then
    fail "not the same bytes"
fi

bytes() { wc -c <"$1"; }
at_most() { # WHAT IS LIMIT
    echo "$1: $2, at most $3"
    awk -v is="$2" -v most="$3" 'BEGIN { exit !(is != "" && is + 0 <= most + 0) }' || fail "$1: $2, expected at most $3"
}
at_most "page of the main study [bytes]" "$(bytes "$out/main.html")" 250000
at_most "page of its table [bytes]" "$(bytes "$out/table.html")" 250000
at_most "page of 20,000 rows [bytes]" "$(bytes "$out/large.html")" 2500000
# Without reasons, inputs and columns, which are of its one row.
sed -e '/<script type="application/,/<\/script>/d' -e '/id="h-why"/,/<\/section>/d' -e '/id="h-inputs"/,/<\/section>/d' "$out/one.html" >"$out/shell.html"
at_most "the shell of a page [bytes]" "$(bytes "$out/shell.html")" 12000
at_most "weft report of 20,000 rows [s of processor time]" "$spent_s" 2

if command -v xmllint >/dev/null; then
    xmllint --noout "$out/main.html" "$out/table.html" "$out/large.html" "$out/design.html" "$out/one.html" || fail "not well-formed"
fi
if command -v python3 >/dev/null; then
    tests/report_page.py --whole "$out/main.html" "$out/table.html" "$out/large.html" "$out/design.html" "$out/one.html" || failed=1
else
    echo "report.sh: skipped what needs python3"
fi

browser=${CHROMIUM:-chromium}
if ! command -v "$browser" >/dev/null || ! unshare -rn true 2>/dev/null; then
    echo "report.sh: skipped what needs a browser: no $browser, or no unshare -rn"
    exit $failed
fi
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
browse() {
    timeout 120 unshare -rn "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$profile" "$@" 2>"$profile/errors"
}
# PAGE's copy that clicks through itself.
self_testing() { # PAGE
    awk 'FILENAME ~ /selftest/ { test = test $0 "\n"; next } /^}\(\)\);/ { printf "%s", test } { print }' \
        tests/report_selftest.js "$out/$1.html" >"$profile/$1.html"
    echo "file://$profile/$1.html"
}
for page in main large design; do
    file=file://$(realpath "$out/$page.html")
    browse --virtual-time-budget=5000 --enable-logging=stderr --dump-dom "$(self_testing $page)" |
        grep -o 'data-selftest="[^"]*"' >"$profile/said" || :
    grep -qx 'data-selftest="ok"' "$profile/said" || fail "$page: self-test: $(cat "$profile/said")"
    [ $page = large ] && at_most "20,000 rows [elements]" "$(browse --dump-dom "$file" | sed 's/<script.*//' | grep -o '<[a-z]' | wc -l)" 6000
    grep ':CONSOLE' "$profile/errors" | grep -v 'source: chrome://' && fail "$page: the console is not empty"
    for width in 1280 400; do
        browse --screenshot="$(realpath "$out")/$page$width.png" --window-size=$width,5000 "$file" >/dev/null
    done
    browse --print-to-pdf="$(realpath "$out")/$page.pdf" --no-pdf-header-footer "$file" >/dev/null
    pages=$(grep -a -c '/Type /Page$' "$out/$page.pdf" || :)
    [ $page != main ] || at_most "main study [pages of paper]" "$pages" 6
    [ "$pages" -ge 1 ] || fail "$page: not printed"
    if command -v pdftotext >/dev/null && command -v python3 >/dev/null; then
        tests/report_pdf.py "$out/$page.html" "$out/$page.pdf" || failed=1
    else
        echo "report.sh: skipped what needs pdftotext and python3"
    fi
    echo "$page: self-test ok, prints on $pages pages"
done

# Of several turns the least: other programs run too.
laid_out_ms() {
    browse --dump-dom "$(self_testing "$1")" | sed -n 's/.*data-laid-out="\([0-9]*\)".*/\1/p' | head -1
}
least_main='' least_large=''
for _ in 1 2 3; do
    ms=$(laid_out_ms main)
    [ -n "$least_main" ] && [ "$least_main" -le "$ms" ] || least_main=$ms
    ms=$(laid_out_ms large)
    [ -n "$least_large" ] && [ "$least_large" -le "$ms" ] || least_large=$ms
done
at_most "20,000 rows laid out [ms]; 240 rows take $least_main" "$least_large" $((3 * least_main))
exit $failed
