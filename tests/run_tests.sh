#!/bin/sh
# Build and run all tests in each of the given build folders (build/release build/asan ...):
# unit tests, program tests, layer check, ranks of MPI, sweeps that are killed. Ends with "N passed, N failed"; exit 1 if any failed.
# From the environment: CC, JOBS; WRAP (a command to run unit tests under); UNIT_ONLY.
set -eu
cd "$(dirname "$0")/.."

# A test that hangs is a failure: seconds for one executable or script.
LIMIT_S=${LIMIT_S:-900}
ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
LC_ALL=C
# The job server of a calling make does not reach this far; its other options and variables do.
MAKEFLAGS=$(printf %s "${MAKEFLAGS-}" | sed -e 's/ *-j[0-9]*//' -e 's/ *--jobserver-[a-z]*=[^ ]*//')
export ASAN_OPTIONS UBSAN_OPTIONS LC_ALL MAKEFLAGS

# ---- one test, called by xargs below ----

# Leaves RESULTS/NAME.{out,err,count}; count holds "PASSED FAILED".
run_unit() {
    name=$(basename "$1" .c)
    rc=0
    # WRAP is a command with its options.
    # shellcheck disable=SC2086
    timeout "$LIMIT_S" ${WRAP-} "$FOLDER/tests/unit/$name" >"$RESULTS/$name.out" 2>"$RESULTS/$name.err" || rc=$?
    awk -v rc=$rc -v why="$RESULTS/$name.why" '
        /\[==========\] Running /   { sub(/.*Running /, ""); announced += $1 }
        /\[ RUN      \]/            { sub(/.*\[ RUN      \] /, ""); running = $0 }
        /\[       OK \]/            { passed++; running = "" }
        /\[  SKIPPED \]/            { skipped++; running = "" }
        /\[  FAILED  \]/            { sub(/.*\[  FAILED  \] /, ""); failed++; running = ""; print "failed: " $0 >why }
        END {
            lost = announced - passed - failed - skipped
            if (running != "") print "did not return from: " running >why
            if (rc == 124) print "took too long" >why
            else if (rc && !failed) print "ended with code " rc >why
            if (lost > 0) failed += lost
            else if (rc && !failed) failed = 1
            else if (!announced) { failed = 1; print "ran no test" >why }
            if (skipped) print skipped " skipped" >why
            printf "%d %d\n", passed, failed
        }' "$RESULTS/$name.out" >"$RESULTS/$name.count"
}

run_script() {
    name=$1
    shift
    if timeout "$LIMIT_S" "$@" >"$RESULTS/$name.out" 2>"$RESULTS/$name.err"; then
        echo 1 0
    else
        echo 0 1
    fi >"$RESULTS/$name.count"
}

case ${1-} in
--one)
    case $2 in
    tests/unit/*) run_unit "$2" ;;
    tests/cli/*) run_script "cli_$(basename "$2" .sh)" tests/cli/run.sh "$FOLDER/weft" "$2" ;;
    *) run_script "$(basename "$2" .sh)" "$2" ;;
    esac
    exit 0
    ;;
esac

# ---- all tests of one build ----

list_tests() {
    find tests/unit -name 'test_*.c' | sort
    [ -z "${UNIT_ONLY-}" ] || return 0
    find tests/cli -name '*.sh' ! -name run.sh | sort
    echo tests/check_layers.sh
    echo tests/mpi.sh
    echo tests/sweep_kill.sh
    echo tests/sweep_safe.sh
}

build_and_run() {
    FOLDER=$1
    RESULTS=$FOLDER/results
    export FOLDER RESULTS
    build=$(basename "$FOLDER" -clang)
    rm -rf "$RESULTS"
    mkdir -p "$RESULTS"
    echo "== $FOLDER"
    # What does not compile is one failed test; the others still run.
    if ! make --no-print-directory -k -j"${JOBS:-1}" BUILD="$build" CC="${CC:-gcc}" test-programs; then
        echo "0 1" >"$RESULTS/compile.count"
    fi
    list_tests | xargs -P "${JOBS:-1}" -n 1 "$0" --one
    report "$RESULTS"
}

# One line per test; of a failed one all it printed.
report() {
    for count in "$1"/*.count; do
        name=${count%.count}
        read -r ok bad <"$count"
        printf '%-40s %d passed, %d failed\n' "$(basename "$name")" "$ok" "$bad"
        passed=$((passed + ok))
        failed=$((failed + bad))
        [ ! -f "$name.why" ] || sed 's/^/    /' "$name.why"
        if [ "$bad" != 0 ]; then
            failures="$failures $name"
            cat "$name.out" "$name.err" 2>/dev/null | sed 's/^/    | /' || :
        fi
    done
}

passed=0
failed=0
failures=
for folder in "$@"; do
    build_and_run "$folder"
done
echo
for name in $failures; do
    echo "FAILED: $name"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
