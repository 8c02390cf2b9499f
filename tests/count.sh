#!/bin/sh
# The size and the seams of the house, one number a line:
#     tests/count.sh [-v] [ROOT]      -v: also the names, headers and cycles that are counted
# A line of code holds more than a comment. A function is defined where its name stands before "(", outside of braces.
# A stem is a file's path without .c or .h; stems that reach each other by their includes are one cycle.
set -eu
verbose=
[ "${1-}" != -v ] || { verbose=yes && shift; }
cd "${1:-$(dirname "$0")/..}"
LC_ALL=C
export LC_ALL

folders=
for folder in base topo workloads alloc sim study explore kinds plots cli include; do
    [ ! -d $folder ] || folders="$folders $folder"
done
# shellcheck disable=SC2086 # words
find $folders -name '*.[ch]' | sort >"${TMPDIR:-/tmp}/count.$$"
trap 'rm -f "${TMPDIR:-/tmp}/count.$$"' EXIT

# shellcheck disable=SC2016 # awk expands them
xargs awk -v verbose=$verbose '
function stem(file) { sub(/\.[ch]$/, "", file); return file }
# The line without comments and literals; in_comment lasts from line to line.
function bare(line,    at, out) {
    out = ""
    saw_comment = in_comment
    if (!in_comment) gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (!at) return out
            line = substr(line, at + 2)
            in_comment = 0
            gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
        } else {
            at = index(line, "/*")
            if (!at) return out line
            saw_comment = 1
            out = out substr(line, 1, at - 1) " "
            line = substr(line, at + 2)
            in_comment = 1
        }
    }
    return out
}
# What stands before "(" at the left margin.
function defined_name(head) {
    sub(/ *\(.*/, "", head)
    sub(/.*[ *]/, "", head)
    return head
}
function function_ends(n) {
    if (FILENAME ~ /\.c$/ && !((name, FILENAME) in defines)) {
        defines[name, FILENAME] = 1
        homes[name]++
        where[name] = where[name] " " FILENAME
    }
    functions++
    if (n > 60) over_60++
    if (n > 100) over_100++
}
FNR == 1 {
    in_comment = inside = 0
    if (FILENAME ~ /\.c$/) sources++
    else { headers++; is_header[FILENAME] = 1 }
}
{
    all++
    was_comment = in_comment
    text = bare($0)
    if ($0 ~ /^[ \t]*$/) blank++
    else if (text ~ /^[ \t]*$/) comments++
    else { code++; remarks += saw_comment }
}
/^[ \t]*#[ \t]*include[ \t]*"/ && !was_comment {
    split($0, part, "\"")
    if (!((FILENAME, part[2]) in includes)) {
        includes[FILENAME, part[2]] = 1
        from = stem(FILENAME)
        to = stem(part[2])
        if (from != to && !((from, to) in sees)) {
            sees[from, to] = 1
            seen_by[from] = seen_by[from] " " to
            users[part[2]]++
        }
    }
}
text ~ /(^|[^A-Za-z0-9_])struct( [A-Za-z0-9_]+)? *\{/ { structs++ }
# const + sum_d pull[d]/B_d: what each dimension pulls is a member of a struct. The verifier shares nothing.
FILENAME != "alloc/verify.c" && text ~ /^ +double (.*[ ,])?(pull(_B)?|a)\[(D|TOPO_MAX_DIMS|WHOLE_CUTS)\]/ && !inside { cuts++; if (verbose) print "bound of a step: " FILENAME }
text ~ /^[A-Za-z_].*\(/ && !inside && !was_comment && text !~ /^(typedef|else|if|for|while|switch)/ { start = FNR; name = defined_name(text) }
FILENAME ~ /\.c$/ && FILENAME != "alloc/objective.c" && text ~ /ALLOC_(TIME|UTILIZATION|PERF_PER_COST|COST|PERF_PER_WATT|TCO_PER_TOKEN)([^A-Z_]|$)/ {
    objective[FILENAME] = 1
}
# A signature, declared or defined, over as many lines as it takes. A network has bandwidths of its own.
text ~ /^[A-Za-z_][A-Za-z0-9_ *]*\(/ && !inside && !was_comment { signature = ""; unfinished = 1 }
unfinished {
    signature = signature text
    at = signature
    unfinished = gsub(/\(/, "", at) > gsub(/\)/, "", at)
    if (!unfinished && signature ~ /struct topo_network \*/ && signature ~ /[ *][a-z_]*bw_Bps[],)[]/) {
        pairs++
        if (verbose) print "network beside bandwidths: " FILENAME ":" FNR
    }
}
text ~ /^\{/ { inside = 1 }
text ~ /^\}/ && inside && start { function_ends(FNR - start + 1); start = 0 }
text ~ /^\}/ { inside = 0 }
# Tarjan: stems that reach each other. low[] is the earliest stem on the stack that one reaches.
function visit(v,    n, w, i, part, names) {
    low[v] = order[v] = ++visited
    stack[++depth] = v
    on_stack[v] = 1
    n = split(seen_by[v], part, " ")
    for (i = 1; i <= n; i++) {
        w = part[i]
        if (!(w in order)) {
            visit(w)
            if (low[w] < low[v]) low[v] = low[w]
        } else if (on_stack[w] && order[w] < low[v]) low[v] = order[w]
    }
    if (low[v] != order[v]) return
    for (n = 0; ; n++) {
        w = stack[depth--]
        on_stack[w] = 0
        names = names " " w
        if (w == v) break
    }
    if (n > 0) { cycles++; if (verbose) print "cycle:" names }
}
function row(what, number, format) { printf "%-58s " (format ? format : "%d") "\n", what, number }
END {
    for (name in homes) if (homes[name] >= 3) { spread++; if (verbose) print "name in " homes[name] " files: " name ":" where[name] }
    for (h in is_header) if (users[h] == 1) { lone++; if (verbose) print "serves one other file: " h }
    for (from in seen_by) if (!(from in order)) visit(from)
    row("product: lines of code", code)
    row("product: all lines", all)
    row("product: lines with a comment, % of all", 100 * (comments + remarks) / all, "%.1f")
    row("product: .c files", sources)
    row("product: headers", headers)
    row("product: structs per 1,000 lines", 1000 * structs / all, "%.1f")
    row("product: names of functions defined in 3 files or more", spread)
    row("product: headers that serve one other file", lone)
    row("product: cycles of includes between files (.c with .h)", cycles)
    for (from in objective) { by_objective++; if (verbose) print "names an objective: " from }
    row("product: .c files that name an objective, table apart", by_objective)
    row("product: structs that hold a bound of a step, verifier apart", cuts)
    row("product: signatures of a network beside bandwidths", pairs)
    row("product: functions", functions)
    row("product: functions of more than 60 lines", over_60)
    row("product: functions of more than 100 lines", over_100)
}' <"${TMPDIR:-/tmp}/count.$$" | if [ -n "$verbose" ]; then sort -s -k1,1; else cat; fi
find tests -name '*.[ch]' -exec cat '{}' + | awk 'END { printf "%-58s %d\n", "tests: all lines of C", NR }'
[ ! -x tests/check_columns.sh ] || tests/check_columns.sh -c
[ ! -x tests/check_names.sh ] || tests/check_names.sh -c
