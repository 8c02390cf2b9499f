#!/bin/sh
# Names of columns stand in their list alone (kinds/design/answer/columns.c and what it takes in); elsewhere a field says the
# name (DESIGN_COLUMN), figures have theirs in plots/columns.h. Prints FILE:LINE: the literal; exit 1 if there is one.
#     tests/check_columns.sh [-c]     first that the check itself finds planted faults; -c: counts for tests/count.sh instead
# Names with a unit, "time_s", as plain words are words of much else. Members of pages (report_json_real(r, "time_s", ..)) are
# counted apart. No literals of columns are: keys of studies (K_REAL(..), lists of keys, kinds/design/ask, the budgets of
# check), columns of other tables in their own lists.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

names() {
    {
        sed -n '/design_columns\[\] = {/,/COLUMNS_END/p' kinds/design/answer/columns.c |
            grep -oE '\b(WORD|COUNT|REAL)\([a-zA-Z_]+,'
        grep -ohE '\b(SYSTEM_[A-Z]+|TRAINING_[A-Z]+)\(type, within, [a-zA-Z_]+,' kinds/design/ask/system.h \
            kinds/design/answer/training.h
    } | sed 's/,$//; s/.*[( ]//' | grep _ | grep -vx -e micro_batch -e n_dims | LC_ALL=C sort -u
}

# "FILE:LINE: literal" of product code, with "page " before those that are members of pages.
literals() {
    names >"$1"
    # shellcheck disable=SC2016 # awk expands them
    find study kinds plots cli -name '*.c' ! -path 'kinds/design/ask/*' ! -path 'kinds/gossip/*' ! -path 'kinds/hetero/*' \
        ! -path 'kinds/place/*' 2>/dev/null | LC_ALL=C sort | xargs awk -v names="$1" '
        BEGIN { while ((getline name < names) > 0) is[name] = 1 }
        FNR == 1 { list = comment = 0 }
        # Lists of columns and of keys, up to the end of their braces.
        /(struct column|keys) *[a-z_]*\[[A-Z_]*\] = \{/ || /_keys\[\] = \{/ { list = 1 }
        list { if (/\};/) list = 0; next }
        /^[ \t]*(\/\*|\*|\/\/)/ { next }
        /K_[A-Z_]+\(|VALUES\(|TABLE_(TEXT|REAL|COUNT) \}|add(_owned)?\(c, |->key, |\(key, / { next }
        {
            page = /report_[a-z_]+\(|\.key = / ? "page " : ""
            rest = $0
            while (match(rest, /"[A-Za-z0-9_]+"/)) {
                if (substr(rest, RSTART + 1, RLENGTH - 2) in is)
                    print page FILENAME ":" FNR ": " substr(rest, RSTART, RLENGTH) " stands outside the list of columns"
                rest = substr(rest, RSTART + RLENGTH)
            }
        }'
}

# A copy of the lists, with faults and with what is none.
self_test() {
    mkdir -p "$1/kinds/design/answer" "$1/kinds/design/ask" "$1/plots" "$1/cli"
    cp kinds/design/answer/columns.c kinds/design/answer/training.h "$1/kinds/design/answer"
    cp kinds/design/ask/system.h "$1/kinds/design/ask"
    echo 'int a = table_find(t, "time_s") + table_find(t, "usd_npu_h");' >"$1/cli/find.c"
    echo 'static const char *const names[] = { "workload", "cost_usd" };' >"$1/plots/list.c"
    echo 'report_json_real(r, "mtbi_h", x);' >"$1/cli/page.c"
    printf '%s\n' '/* "time_s" */' 'static const struct column columns[] = {' '    COLUMN_REAL(struct x, f, "time_s"),' '};' \
        '    K_REAL(T, f, "nic_GBps", "GB/s"),' 'static const char *const own_keys[] = { "total_GBps" };' \
        'int b = table_find(t, "status");' >"$1/cli/fine.c"
    (cd "$1" && literals "$1/names") >"$1/found" || :
    sed 's/ stands.*//' "$1/found" >"$1/short"
    printf '%s\n' 'cli/find.c:1: "time_s"' 'cli/find.c:1: "usd_npu_h"' 'page cli/page.c:1: "mtbi_h"' 'plots/list.c:1: "cost_usd"' >"$1/want"
    diff "$1/want" "$1/short" || { echo "tests/check_columns.sh: does not find the faults planted for it" && exit 1; }
}

cd "$here/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${1-}" = -c ]; then
    literals "$work/names" >"$work/found" || :
    # Every page that spells members by hand describes them once more.
    printf '%-58s %d\n' "product: lists that describe a value of a design" \
        $((1 + $(sed -n 's/^page \([^:]*\):.*/\1/p' "$work/found" | sort -u | wc -l))) \
        "product: literals of column names outside lists" "$(grep -vc '^page ' "$work/found" || :)" \
        "product: literals of column names in pages" "$(grep -c '^page ' "$work/found" || :)"
    exit
fi
self_test "$work"
literals "$work/names" | grep -v '^page ' && exit 1
exit 0
