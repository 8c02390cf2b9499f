#!/bin/sh
# A name belongs to one folder, and what is public has a user: prefixes of public functions ("study_"; "gossip_point_" and
# "gossip_study_" are apart from "gossip_") that two folders share,
# struct tags that several files define, public functions that only tests call. Users are the program, the library, its examples,
# benchmarks and fuzzers. Prints what is wrong; exit 1 if anything is.
#     tests/check_names.sh [-c] [ROOT]     without ROOT: first that the check itself finds planted faults; -c: counts for tests/count.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL

# shellcheck disable=SC2016 # awk expands them
find_faults() {
    find base topo workloads alloc sim study kinds plots cli examples bench tests/fuzz -name '*.[ch]' 2>/dev/null | sort | xargs awk '
    # The line without comments and literals.
    function bare(line,    at, out) {
        if (!in_comment) gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
        for (out = ""; line != ""; in_comment = !in_comment) {
            at = index(line, in_comment ? "*/" : "/*")
            if (!in_comment) out = out (at ? substr(line, 1, at - 1) " " : line)
            if (!at) return out
            line = substr(line, at + 2)
        }
        return out
    }
    # Adds a folder or file to a list of those before.
    function add(list, key, what) { if (index(list[key] " ", " " what " ") == 0) list[key] = list[key] " " what }
    FNR == 1 {
        in_comment = 0
        split(FILENAME, part, "/")
        ours = part[1] !~ /^(examples|bench|tests)$/
    }
    { text = bare($0) }
    text ~ /^[ \t]*#/ { if (text !~ /define/) next }
    # A function is named at the left margin, before the first "(".
    text ~ /^[A-Za-z_][A-Za-z0-9_ *]*[ *][a-z][A-Za-z0-9_]*\(/ {
        name = text
        sub(/\(.*/, "", name)
        public = ours && FILENAME ~ /\.h$/ && name !~ /^typedef /
        sub(/.*[ *]/, "", name)
        text = substr(text, index(text, name "(") + length(name))
        if (public && !(name in declared)) declared[name] = FILENAME ":" FNR
        if (public && name ~ /_/) {
            match(name, /^[a-z0-9]+_((point|study)_)?/)
            add(folders, substr(name, 1, RLENGTH), part[1])
        }
    }
    ours && match(text, /struct [a-z][a-z0-9_]* *\{/) {
        name = substr(text, RSTART + 7, RLENGTH - 7)
        sub(/ *\{/, "", name)
        add(files, name, FILENAME)
    }
    {
        while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
            before = RSTART > 1 ? substr(text, RSTART - 1, 1) : " "
            name = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            if (before !~ /[.>]/ && text !~ /^\[/) used[name] = 1
        }
    }
    END {
        for (name in folders) if (split(folders[name], part, " ") > 1) print "prefix " name " stands in" folders[name]
        for (name in files) if (split(files[name], part, " ") > 1) print "struct " name " is defined in" files[name]
        for (name in declared) if (!(name in used)) print "function " name " is called by tests alone: " declared[name]
    }' | sort
}

self_test() {
    mkdir -p "$1/base" "$1/sim/gossip" "$1/bench"
    printf '%s\n' 'int vec_grow(int *v);' 'int alone(int a);' 'int timed(int a); /* alone() is for tests */' >"$1/base/vec.h"
    printf '%s\n' 'struct vec {' '    int n;' '};' 'int vec_grow(int *v)' '{' '    return v->alone;' '}' >"$1/base/vec.c"
    printf '%s\n' 'struct vec {' '    float *x;' '};' 'static int base_own(void)' '{' '    return timed(1);' '}' \
        'float vec_dot(const float *a)' '{' '    return *a + vec_grow(0);' '}' >"$1/sim/gossip/learner.c"
    echo 'float vec_dot(const float *a);' >"$1/sim/gossip/learner.h"
    printf '%s\n' 'int other_main(void)' '{' '    return timed(1) + vec_dot(0);' '}' 'struct vec {' '};' >"$1/bench/main.c"
    (cd "$1" && find_faults >found) || :
    printf '%s\n' 'function alone is called by tests alone: base/vec.h:2' 'prefix vec_ stands in base sim' \
        'struct vec is defined in base/vec.c sim/gossip/learner.c' >"$1/want"
    diff "$1/want" "$1/found" || { echo "tests/check_names.sh: does not find the faults planted for it" && exit 1; }
}

count=
[ "${1-}" != -c ] || { count=yes && shift; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "${1-}$count" ] || self_test "$work"
cd "${1:-$here/..}"
find_faults >"$work/faults"
if [ -n "$count" ]; then
    printf '%-58s %d\n' "product: public functions that only tests call" "$(grep -c ^function "$work/faults" || :)" \
        "product: prefixes of functions that two folders share" "$(grep -c ^prefix "$work/faults" || :)" \
        "product: struct tags that several files define" "$(grep -c ^struct "$work/faults" || :)"
    exit
fi
cat "$work/faults"
[ ! -s "$work/faults" ]
