#!/usr/bin/env bash
# Do two builds of weft draw the same figures, byte for byte? For a change of plots/ that must not change a figure.
#   tests/same_plots.sh OLD_WEFT NEW_WEFT [PATTERN]
# Compares SVG and the scripts of PDF and PNG: a program called gnuplot that prints what it reads stands first on the PATH.
# Every figure of the list below (those that match PATTERN) is drawn in all formats, sizes, with titles and filters,
# then from variants of its table: each column away, blank, of one value, mixed up, with a word or an odd number; rows
# dropped, repeated and in another order. Messages and exit codes count too. The tables are written by OLD once; they
# and what OLD drew are kept in SAME_CACHE (a folder; else they are made anew). JOBS (2) figures at a time.
# Exit 0: all the same; 1: something differs; 2: could not run.
set -u
self=$(realpath "$0")
here=$(dirname "$self")

# NAME: how OLD writes NAME.csv (and other files of that line), in a folder with configs and tests in it.
tables() {
    cat <<'END'
main: weft sweep configs/studies/main.yaml -q -o main.csv
v1: weft sweep configs/studies/v1/splits.yaml -q -o v1.csv
budget: weft sweep configs/studies/nic-budget.yaml -q --set 'vary={time_limit_s: [0.72, 0.8, 0.9, 1.2], objective: [cost, perf_per_cost]}' -o budget.csv
llm: weft sweep configs/studies/llm-gpt3-libra.yaml -q --set 'workload.search={cp: [1], order: given}' -o llm.csv
tp: weft sweep configs/studies/llm-gpt3-selene.yaml -q --set 'vary={workload.parallel.tp: [1, 2, 4, 8], workload.parallel.pp: [1, 2, 4, 8], workload.parallel.batch: [256, 1536]}' -o tp.csv
front: weft front main.csv --limit 'nic_GBps <= 9' --behind 300 --of csv -o front.csv
front3: weft front main.csv --by time_s,cost_usd,nic_GBps --behind 20 --of csv -o front3.csv
timeline: weft sim configs/studies/three-switches.yaml --timeline timeline.csv -o timeline.txt
steps: weft sim configs/studies/libra/gpt3-4d.yaml --split --model chunk --set 'simulation={active_chunks: 4}' --timeline steps.csv -o steps.txt
calibrate: printf 'bytes,time_us\n1024,12\n65536,15\n1048576,60\n16777216,800\n268435456,12500\n' >m.csv; weft calibrate m.csv --collective all-reduce --ranks 8 --of csv -o calibrate.csv
curves: sed -e '/^#/d' -e '1!s/all-reduce,8/all-gather,16/' calibrate.csv | sed 1d | cat calibrate.csv - >curves.csv
profile_e: weft place configs/clusters/gadget-profile-e.yaml --set jobs.count=40 --set seeds=3 -q -o profile_e.csv --places places.csv --links links.csv
profile_f: weft place configs/clusters/gadget-profile-f.yaml --set seeds=2 --set jobs.count=30 -q -o profile_f.csv
embedded: weft place configs/clusters/gadget-embedded-nodes.yaml --set seeds=2 -q -o embedded.csv
bound: weft place configs/clusters/gadget-bound.yaml --set seeds=2 -q -o bound.csv
makespan: weft place configs/clusters/sjf-bco-makespan.yaml --set pool.servers=20 --set seeds=2 -q -o makespan.csv --places stays.csv
kappa: weft place configs/clusters/sjf-bco-kappa.yaml --set seeds=1 -q -o kappa.csv
optimum: weft place configs/clusters/smd-optimum.yaml --set seeds=2 -q -o optimum.csv
units: weft place configs/clusters/smd-units.yaml --set seeds=2 -q -o units.csv
spine: weft place configs/clusters/spine-cost.yaml --set seeds=2 -q -o spine.csv --places many.csv --links loads.csv
hetero: weft hetero configs/studies/heterps.yaml --set seeds=2 --set evaluations=500 --set 'schedulers=[oracle, rl-lstm, greedy, genetic, anneal, random, heuristic, gpu-only, cpu-only]' -q -o hetero.csv --plans plans.csv --curves learning.csv
dlrm: weft hetero configs/studies/hetero-dlrm.yaml --set throughput.per_s=8e6 -q -o dlrm.csv --plans pools.csv
gossip: weft gossip configs/studies/gossip.yaml --set seeds=2 --set learner.epochs=3 -q -o gossip.csv --curves losses.csv
methods: weft gossip configs/studies/gossip-methods.yaml --set seeds=1 --set learner.epochs=1 -q -o methods.csv --curves manyloss.csv
need: weft gossip configs/studies/gossip-bandwidth.yaml --set learner.epochs=1 -q -o need.csv
needs: weft gossip configs/studies/gossip-bandwidth.yaml --set 'vary={clock.jitter: [0, 0.05, 0.2]}' --set learner.epochs=1 -q -o needs.csv
END
}

# FIGURE TABLE COLUMN=VALUE: the filter that is tried.
figures() {
    cat <<'END'
speedup main workload=GPT-3
speedup v1 objective=time
cost main objective=time
perf_per_cost main workload=MSFT-1T
split main total_GBps=500
time main total_GBps=500
time llm status=solved
utilization main total_GBps=500
pareto main workload=GPT-3
pareto llm status=solved
nic main total_GBps=500
split budget objective=cost
nic budget objective=time
front front workload=GPT-3
front front3 workload=GPT-3
breakdown llm status=solved
breakdown tp workload.parallel.tp=8
mfu llm status=solved
mfu tp workload.parallel.pp=1
plans llm status=solved
plans tp workload.parallel.batch=256
timeline timeline order=fixed
timeline steps order=fixed
calibrate calibrate collective=all-reduce
calibrate curves ranks=16
place profile_e status=done
place profile_f scheduler=gadget
place makespan scheduler=sjf-bco
place units status=done
place bound status=done
embedded embedded scheduler=gadget
optimum optimum status=done
makespan makespan scheduler=sjf-bco
makespan kappa status=done
place_cost spine status=done
place_cost makespan status=done
gantt places server=1
gantt stays scheduler=sjf-bco
gantt many seed=1
links links unit=slot
links loads unit=s
hetero hetero scheduler=greedy
hetero dlrm status=done
learning learning scheduler=greedy
strip plans scheduler=greedy
strip pools scheduler=oracle
gossip gossip status=ok
gossip methods status=ok
gossip_loss losses seed=1
gossip_loss manyloss seed=1
gossip_need need status=ok
gossip_need needs status=ok
gossip_need gossip status=ok
END
}

# FIGURE TABLE VARIANT: tables so damaged that what is said of them may differ.
allowed() {
    cat <<'END'
links links 124 the note repeated its keys for each row until one has a unit
links loads 120 the same
gossip gossip 170 seeds were counted of rows that are left out
strip plans 121 of several faults another is named
strip plans 123 the same
strip plans 125 the same
strip pools 119 the same
strip pools 125 the same
strip pools 127 the same
END
}

# variants TABLE.csv FOLDER: FOLDER/1.csv and so on; the same ones each time.
variants() {
    awk -v folder="$2" -v stride="$(($(wc -l <"$1") / 500 + 1))" '
        function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        function split_csv(line, out,    n, c, cell, quoted) {
            if (line !~ /"/) return split(line, out, ",")
            n = 0
            while (1) {
                if (substr(line, 1, 1) == "\"") {
                    match(substr(line, 2) ",", /"(,|$)/)
                    cell = substr(line, 1, RSTART + 1)
                } else {
                    c = index(line ",", ",")
                    cell = substr(line, 1, c - 1)
                }
                out[++n] = cell
                if (length(cell) >= length(line)) return n
                line = substr(line, length(cell) + 2)
            }
        }
        /^#/ { next }
        !columns { columns = split_csv($0, name); next }
        ++n_lines % stride == 0 { n_rows++; split_csv($0, one); for (k = 1; k <= columns; k++) cell[n_rows, k] = one[k] }
        function value(i, k,    j, x) {
            x = cell[i, k]
            if (k != at) return x
            if (what == "one") return cell[1, k]
            if (what == "blank") return draw() < 0.3 ? "" : x
            if (what == "word") return i == 1 + int(n_rows / 2) ? "w;\xc3\xa4 \x27odd\x27" : x
            if (what == "mixed") { j = 1 + int(draw() * n_rows); return cell[j, k] }
            if (what == "few") { j = 1 + int(draw() * 3); return cell[j < n_rows ? j : n_rows, k] }
            if (what == "odd") return i % 5 ? x : odd
            if (what == "spread") return x ~ /^[0-9.]+$/ ? x * 10 ^ int(draw() * 5 - 2) : x "-" int(draw() * 12)
            if (what == "near") return x ~ /^[0-9.]+$/ ? cell[1, k] * (1 + draw() * 1e-7) : cell[1, k]
            return x
        }
        function put(    file, i, k, line, r) {
            file = folder "/" ++n_files ".csv"
            line = ""
            for (k = 1; k <= columns; k++) if (!(what == "away" && k == at)) line = line (line == "" ? "" : ",") name[k]
            print line > file
            for (r = 1; r <= n_rows * (what == "twice" ? 2 : 1); r++) {
                i = (r - 1) % n_rows + 1
                if (what == "drop" && draw() < share) continue
                if (what == "head" && i > at_row) continue
                if (what == "shuffled") i = 1 + int(draw() * n_rows)
                if (what == "reverse") i = n_rows + 1 - i
                line = ""
                for (k = 1; k <= columns; k++)
                    if (!(what == "away" && k == at)) line = line (k == 1 || (at == 1 && k == 2 && what == "away") ? "" : ",") (what == "holes" && draw() < share ? "" : value(i, k))
                print line > file
            }
            close(file)
        }
        END {
            state = 20261122
            n_what = split("away one blank word mixed few odd spread near", list, " ")
            n_odd = split("0 -1 1e300 1e-300 inf nan 0.5 7 99999999999", odds, " ")
            for (at = 1; at <= columns; at++)
                for (w = 1; w <= n_what; w++) {
                    if (columns * n_what > 160 && (at * n_what + w) * 7 % (columns * n_what) >= 160) continue
                    what = list[w]; odd = odds[(at + w) % n_odd + 1]; put()
                }
            at = 0
            for (share = 0.02; share < 1; share += 0.12) { what = "drop"; put(); what = "holes"; put() }
            for (at_row = 0; at_row < 8; at_row++) { what = "head"; put() }
            what = "twice"; put(); what = "reverse"; put()
            for (w = 0; w < 4; w++) { what = "shuffled"; put() }
        }' "$1"
}

# draw PROGRAM FIGURE TABLE WHERE: all cases to stdout, each after a line "=== case". In the folder of the tables.
draw() {
    local program=$1 figure=$2 table=$3 where=$4 of v
    one() {
        echo "=== weft plot $*"
        "$program" plot "$@" 2>&1 </dev/null
        echo "exit $?"
    }
    for of in svg pdf png; do
        one "$figure" "$table.csv" --of $of
        one "$figure" "$table.csv" --of $of --width 400 --height 300
        one "$figure" "$table.csv" --of $of --where "$where"
        one "$figure" "$table.csv" --of $of --title "A title of one's own, which is longer than a line of the page can be at that size of letters" --width 1500
    done
    one "$figure" "$table.csv" --height 10000
    one "$figure" "$table.csv" --width 240 --height 2000
    one "$figure" "$table.csv" --where nope=1
    one "$figure" "$table.csv" --where "${where%%=*}=nope"
    while read -r v; do one "$figure" "$v" --of svg; done <"$5"
}

# telling PROGRAM FIGURE TABLE: those variants of which the figure is none that was drawn before.
telling() {
    local v
    {
        "$1" plot "$2" "$3.csv" --of svg 2>&1 </dev/null | cksum
        for v in "variants/$3"/*.csv; do
            printf '%s ' "$v"
            "$1" plot "$2" "$v" --of svg 2>&1 </dev/null | sed "s|^[^ ]*$v||" | cksum
        done
    } | awk 'NF < 3 { seen[$1, $2] = 1; next } !seen[$2, $3]++ { print $1 }'
}

# compare_figure CACHE NEW FIGURE TABLE WHERE
compare_figure() {
    local cache=$1 new=$2 figure=$3 table=$4 where=$5 out pattern drop
    cd "$cache/tables" || exit 2
    if [ ! -f "$table.csv" ]; then
        echo "NO TABLE  $figure $table"
        echo bad >>"$WORDS"
        return
    fi
    out=$(mktemp) || exit 2
    draw "$new" "$figure" "$table" "$where" "$cache/$figure.$table.list" >"$out"
    # Cases of the allowed variants count for neither.
    pattern=$(allowed | awk -v f="$figure" -v t="$table" '$1 == f && $2 == t { printf "%s/%s.csv ", t, $3 }')
    # shellcheck disable=SC2016 # awk expands them
    drop='BEGIN { n = split(names, list, " ") } /^===/ { skip = 0; for (i = 1; i <= n; i++) if (index($0, list[i])) skip = 1 } !skip'
    if cksum <"$out" | cmp -s - "$cache/$figure.$table.sum" || { [ -n "$pattern" ] &&
        cmp -s <(awk -v names="$pattern" "$drop" "$out") <(zcat "$cache/$figure.$table.gz" | awk -v names="$pattern" "$drop"); }; then
        echo same >>"$WORDS"
    else
        echo differs >>"$WORDS"
        zcat "$cache/$figure.$table.gz" >"$out.old"
        printf 'DIFFERS  %s %s: ' "$figure" "$table"
        # The case that a line belongs to goes before it.
        diff <(awk '/^===/ { c = substr($0, 5) } { print c "\t" $0 }' "$out.old") \
            <(awk '/^===/ { c = substr($0, 5) } { print c "\t" $0 }' "$out") >"$out.diff"
        awk -F '\t' '{ sub(/^[<>] /, "", $1) } /^[^0-9-]/ { seen[$1] = 1 } END { for (c in seen) n++; print n " cases" }' "$out.diff"
        grep '^[<>]' "$out.diff" | cut -c1-220 | head -n "${LINES_SHOWN:-8}"
        rm -f "$out.old" "$out.diff"
    fi
    rm -f "$out"
}

# keep_figure CACHE OLD FIGURE TABLE WHERE: what OLD draws, once.
keep_figure() {
    cd "$1/tables" || exit 2
    [ -f "$4.csv" ] && [ ! -f "$1/$3.$4.sum" ] || return 0
    telling "$2" "$3" "$4" >"$1/$3.$4.list"
    draw "$2" "$3" "$4" "$5" "$1/$3.$4.list" | tee >(gzip -1 >"$1/$3.$4.gz") | cksum >"$1/$3.$4.sum.part"
    mv "$1/$3.$4.sum.part" "$1/$3.$4.sum"
}

make_tables() {
    local cache=$1 old=$2 name line
    rm -rf "$cache/tables" && mkdir -p "$cache/tables/bin" && cd "$cache/tables" || exit 2
    ln -s "$here/../configs" "$here" . && ln -s "$old" bin/weft || exit 2
    while IFS= read -r line; do
        name=${line%%: *}
        PATH="$cache/tables/bin:$PATH" bash -c "${line#*: }" >"$name.log" 2>&1 </dev/null || echo "same_plots: table $name: $(tail -1 "$name.log")"
    done < <(tables)
    rm -f configs tests
    for name in *.csv; do
        # Comments name programs and folders; of long tables a part will do.
        sed '/^#/d' "$name" | awk -v stride="$(($(wc -l <"$name") / 8000 + 1))" 'NR % stride == 1 || stride == 1' >part && mv part "$name"
        mkdir -p "variants/${name%.csv}" && variants "$name" "variants/${name%.csv}"
    done
    touch "$cache/made"
}

if [ "${1-}" = --keep ] || [ "${1-}" = --figure ]; then
    what=$1
    shift
    if [ "$what" = --keep ]; then keep_figure "$@"; else compare_figure "$@"; fi
    exit
fi
[ $# -ge 2 ] || { sed -n 3,10p "$0" >&2; exit 2; }
old=$(realpath -e "$1") && new=$(realpath -e "$2") || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export WORDS=$scratch/words
touch "$WORDS"
cache=${SAME_CACHE:-$scratch}/plots_$({ cat "$old" && declare -f tables figures variants draw telling; } | cksum | tr ' ' _)
[ -f "$cache/made" ] || make_tables "$cache" "$old"
mkdir "$scratch/bin" && printf '#!/bin/sh\nexec cat\n' >"$scratch/bin/gnuplot" && chmod +x "$scratch/bin/gnuplot" || exit 2
export PATH=$scratch/bin:$PATH
chosen() { figures | grep -E -- "${1:-.}"; }
# Words of a line: FIGURE TABLE WHERE.
chosen "${3-}" | sed "s|^|--keep $cache $old |" | xargs -P "${JOBS:-2}" -L 1 "$self"
chosen "${3-}" | sed "s|^|--figure $cache $new |" | xargs -P "${JOBS:-2}" -L 1 "$self"
[ -s "$WORDS" ] || { echo "same_plots: no figure matches '$3'" >&2; exit 2; }
printf '%d of %d figures differ\n' "$(grep -cv same "$WORDS")" "$(grep -c . "$WORDS")"
[ "$(grep -cv same "$WORDS")" -eq 0 ]
