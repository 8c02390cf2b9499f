#!/bin/sh
# Pages of weft report: well-formed, closed, accessible (report_page.py) and within their budgets; with Debian's chromium also in a
# browser without network: the page clicks through itself, the console stays empty, it prints on at most 6 pages.
#     FOLDER=build/release tests/report.sh          pages, PDF and pictures stay in FOLDER/report, to be looked at
# Without chromium (CHROMIUM names another) or python3 that part is skipped with a line.
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
"$weft" report "$out/main.csv" -f -o "$out/main.html"
"$weft" report "$out/large.db" -f -o "$out/large.html"
"$weft" report configs/studies/llama3-owned.yaml -f -o "$out/design.html"
if ! "$weft" report "$out/main.csv" -f -o "$out/again.html" || ! sed 's/again/main/' "$out/again.html" | cmp - "$out/main.html"; then
    fail "not the same bytes"
fi

bytes() { wc -c <"$1"; }
[ "$(bytes "$out/main.html")" -le 250000 ] || fail "main study: $(bytes "$out/main.html") bytes, expected at most 250000"
[ "$(bytes "$out/large.html")" -le 2500000 ] || fail "20,000 rows: $(bytes "$out/large.html") bytes, expected at most 2500000"
elements=$(sed '/<script type/,$d' "$out/large.html" | grep -o '<[a-z]' | wc -l)
[ "$elements" -le 6000 ] || fail "20,000 rows: $elements elements, expected at most 6000"
echo "main $(bytes "$out/main.html") bytes; 20,000 rows $(bytes "$out/large.html") bytes, $elements elements"

if command -v xmllint >/dev/null; then
    xmllint --noout "$out/main.html" "$out/large.html" "$out/design.html" || fail "not well-formed"
fi
if command -v python3 >/dev/null; then
    tests/report_page.py "$out/main.html" "$out/large.html" "$out/design.html" || failed=1
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
for page in main large design; do
    file=file://$(realpath "$out/$page.html")
    browse --virtual-time-budget=5000 --enable-logging=stderr --dump-dom "$file#selftest" |
        grep -o 'data-selftest="[^"]*"' >"$profile/said" || :
    grep -qx 'data-selftest="ok"' "$profile/said" || fail "$page: self-test: $(cat "$profile/said")"
    grep ':CONSOLE' "$profile/errors" | grep -v 'source: chrome://' && fail "$page: the console is not empty"
    for width in 1280 400; do
        browse --screenshot="$(realpath "$out")/$page$width.png" --window-size=$width,5000 "$file" >/dev/null
    done
    browse --print-to-pdf="$(realpath "$out")/$page.pdf" --no-pdf-header-footer "$file" >/dev/null
    pages=$(grep -a -c '/Type /Page$' "$out/$page.pdf" || :)
    [ $page != main ] || { [ "$pages" -ge 1 ] && [ "$pages" -le 6 ]; } || fail "main study: $pages pages of paper, expected 1 to 6"
    echo "$page: self-test ok, prints on $pages pages"
done
exit $failed
