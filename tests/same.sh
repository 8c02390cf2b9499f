#!/usr/bin/env bash
# Do two builds of weft say the same, byte for byte? For a change of structure that must not change behaviour.
#   tests/same.sh OLD_WEFT NEW_WEFT [PATTERN]
# Runs every line of tests/same_commands.txt (those that match PATTERN) with each program in an empty folder of its
# own, in which `configs`, `tests` and `docs` are the checkout's, and compares the exit code of every call, output,
# messages and every file written. Of stores (*.db) the exported rows are compared, and what the new program makes of
# the old one's store. Lines of tests/same_allowed.txt, "COMMAND-PATTERN<TAB>reason": a command that differs and
# matches is counted apart. From the environment: JOBS (2); SAME_CACHE=DIR keeps what the old program said there.
# Exit 0: nothing differs but what is allowed; 1: something differs; 2: could not run.
set -u
here=$(dirname "$(realpath "$0")")
allowed=$here/same_allowed.txt

# run_one FOLDER PROGRAM LINE: FOLDER/run holds all that the line left behind.
run_one() {
    mkdir -p "$1/bin" "$1/run" "$1/tmp" && ln -s "$here/../configs" "$here" "$here/../docs" "$1/run/" || return 2
    # Every call leaves its exit code, whatever the shell line does with it.
    # shellcheck disable=SC2016 # the script expands them, not this one
    printf '#!/bin/sh\n"%s" "$@"\nc=$?\nprintf "%%s weft %%s\\n" $c "$*" >>"%s/run/calls.txt"\nexit $c\n' "$2" "$1" \
        >"$1/bin/weft" && chmod +x "$1/bin/weft"
    (
        cd "$1/run" || exit
        rc=0
        PATH="$1/bin:$PATH" W=weft HOME=$1 TMPDIR=$1/tmp timeout 600 bash -c "$3" >stdout.txt 2>stderr.txt </dev/null || rc=$?
        echo "exit $rc" >exit.txt
        [ ! -f calls.txt ] || sort -o calls.txt calls.txt
        for db in *.db; do
            [ ! -f "$db" ] || { "$2" export "$db" --of csv >"$db.csv" 2>"$db.err"; echo "exit $?" >>"$db.err"; }
        done
        rm -f configs tests docs
        mkdir ../stores && find . -maxdepth 1 -name '*.db*' ! -name '*.csv' ! -name '*.err' -exec mv {} ../stores \;
        # A message may name the folder that it ran in; how long it took ("weft sim: 20 s: ..") is the machine's.
        find . -type f -exec sed -i -E -e "s|$1|HERE|g" -e '/^weft [a-z]+: (more than )?[0-9,]+ (s|min|h)(: |$)/d' {} +
    )
}

is_allowed() {
    local pattern
    while IFS=$'\t' read -r pattern _; do
        case $pattern in '' | '#'*) continue ;; esac
        [[ $1 =~ $pattern ]] && return 0
    done <"$allowed"
    return 1
}

# compare_line OLD NEW CACHE LINE: prints what differs; one word (same, differs, allowed) goes to the file WORD names.
compare_line() {
    local old=$1 new=$2 cache=$3 line=$4 work kept out word=same
    work=$(mktemp -d) || return 2
    kept=$cache/$(printf '%s\n' "$line" | cksum | tr ' ' _)
    if [ ! -d "$kept" ]; then
        run_one "$work/a" "$old" "$line"
        mkdir -p "$cache" && cp -r "$work/a" "$kept.$$"
        mv -T "$kept.$$" "$kept" 2>/dev/null || rm -rf "$kept.$$"
    fi
    run_one "$work/b" "$new" "$line"
    out=$(
        if grep -qE '^exit (124|126|127)$' "$kept/run/exit.txt" "$work/b/run/exit.txt" ||
            grep -qE '^(126|127) ' "$kept/run/calls.txt" "$work/b/run/calls.txt"; then echo "did not run"; fi
        for db in "$kept"/stores/*.db; do
            [ -f "$db" ] || continue
            # Opening a store may write to it: on a copy.
            rm -rf "$work/old" && cp -r "$kept/stores" "$work/old"
            "$new" export "$work/old/$(basename "$db")" --of csv >"$work/again.csv" 2>/dev/null
            cmp -s "$work/again.csv" "$kept/run/$(basename "$db").csv" ||
                echo "the new program reads the old store $(basename "$db") otherwise"
        done
        diff -r "$kept/run" "$work/b/run" 2>&1 | sed -e "s|$kept/||g" -e "s|$work/b/||g"
    )
    if [ -n "$out" ]; then
        if is_allowed "$line"; then
            word=allowed
        else
            word=differs
            # In one piece, as others write beside it.
            printf 'DIFFERS  %s\n%s\n' "$line" "$(cut -c1-200 <<<"$out" | head -n "${LINES_SHOWN:-8}")"
        fi
    fi
    echo "$word" >>"$WORDS"
    rm -rf "$work"
}

if [ "${1-}" = --line ]; then
    shift
    compare_line "$@"
    exit
fi
[ $# -ge 2 ] || { sed -n 3,10p "$0" >&2; exit 2; }
old=$(realpath -e "$1") && new=$(realpath -e "$2") || exit 2
if [ ! -x "$old" ] || [ ! -x "$new" ]; then echo "same: need two programs" >&2; exit 2; fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export WORDS=$scratch/words
touch "$WORDS"
cache=${SAME_CACHE:-$scratch/old}/$(cksum <"$old" | tr ' ' _)
while IFS= read -r line; do
    case $line in '' | '#'*) continue ;; esac
    [[ $line =~ ${3:-.} ]] || continue
    printf '%s\0' "$line"
done <"$here/same_commands.txt" | xargs -r -0 -P "${JOBS:-2}" -n 1 "$0" --line "$old" "$new" "$cache"
count() { grep -c "$1" "$WORDS"; }
[ -s "$WORDS" ] || { echo "same: no command matches '$3'" >&2; exit 2; }
printf '%d of %d commands differ, %d of them allowed\n' "$(grep -cv same "$WORDS")" "$(count .)" "$(count allowed)"
[ "$(count differs)" -eq 0 ]
