#!/bin/sh
# Build and run all tests in each of the given build folders (build/release build/asan ...):
# unit tests, program tests, layer check, ranks of MPI, sweeps that are killed. A line as each ends; the last line is
# "N passed, N failed"; exit 1 if any failed.
# From the environment: CC, JOBS; WRAP (a command to run unit tests under); UNIT_ONLY; LIMIT_S; SOAK (long counts).
set -eu
cd "$(dirname "$0")/.."

# A test that hangs is a failure: seconds for one suite or script.
LIMIT_S=${LIMIT_S:-900}
ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
LC_ALL=C
# Prices do not age while tests run.
SOURCE_DATE_EPOCH=0
# The job server of a calling make does not reach this far; its other options and variables do.
MAKEFLAGS=$(printf %s "${MAKEFLAGS-}" | sed -e 's/ *-j[0-9]*//' -e 's/ *--jobserver-[a-z]*=[^ ]*//')
export ASAN_OPTIONS UBSAN_OPTIONS LC_ALL MAKEFLAGS SOURCE_DATE_EPOCH

# What is to run beside the unit tests of a build: when, name, command. Long ones first.
list_scripts() {
    [ -z "${UNIT_ONLY-}" ] || return 0
    echo first sweep_safe tests/sweep_safe.sh
    echo first kill tests/kill.sh
    echo beside mpi tests/mpi.sh
    # A sample of what `make faults` does; a smaller one where starting and forking take tens of milliseconds.
    case $FOLDER in *asan*) sample="-n 100 -c sweep" ;; *) sample="-n 1000" ;; esac
    # Counters of lines are written as a program ends: a disk that is full, or a call that fails, is theirs then.
    case $FOLDER in *cov*) counted=yes ;; *) counted= ;; esac
    [ -n "$counted" ] ||
        echo beside faults "$FOLDER/tests/faults/faults $sample" -j 1 "$FOLDER/weft" "$FOLDER/tests/faults/shim.so" .
    # What looks at the sources and documents says the same for every build.
    [ "$FOLDER" != "$FIRST" ] || echo last check_layers tests/check_layers.sh
    [ "$FOLDER" != "$FIRST" ] || echo last check_columns tests/check_columns.sh
    [ "$FOLDER" != "$FIRST" ] || echo last schema tests/schema.sh
    [ "$FOLDER" != "$FIRST" ] || echo last dist tests/dist.sh
    [ ! -e "$FOLDER/libweft.so" ] || echo last library tests/library.sh
    [ ! -e "$FOLDER/libweft.so" ] || echo last installed tests/installed.sh
    [ ! -e "$FOLDER/libweft.so" ] || echo last python tests/python.sh
    for script in tests/cli/*.sh; do
        name=$(basename "$script" .sh)
        case $name in
        run) continue ;;
        names | output) [ -z "$counted" ] || continue ;;
        # Whole studies one after the other: what they run of the program others run under sanitizers, too. Of
        # gossip, ownership, rows, schedulers, share and torus the lines that tests/mutants.sh keeps for each test say so.
        best | digits | gossip | knobs | new | ownership | readme | rows | schedulers | share | site | torus) [ "$FOLDER" = "$FIRST" ] || continue ;;
        esac
        echo last "cli_$name" tests/cli/run.sh "$FOLDER/weft" "$script"
    done
}

# Seconds of processor time of all commands so far, from "0m1.25s 0m0.50s" of times.
cpu_s() {
    times >"$RESULTS/cpu"
    awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%.0f", sum }' \
        "$RESULTS/cpu" >"$RESULTS/cpu_s"
    read -r cpu <"$RESULTS/cpu_s" || :
}

# Scripts interrupt and kill processes, which a machine that stands still for seconds can upset. One that failed is run once
# more, alone; where it passes, both outcomes are said. A fault that is there each time fails twice.
try_again() {
    cp "$RESULTS/failed" "$RESULTS/first"
    [ -s "$RESULTS/failed" ] || return 0
    while read -r name; do
        command=$(sed -n "s/^[a-z]* $name //p" "$RESULTS/scripts")
        # A command with its options.
        # shellcheck disable=SC2086
        if [ -n "$command" ] && timeout "$LIMIT_S" $command >"$RESULTS/$name.again" 2>&1 </dev/null; then
            echo "UNSTABLE: $name failed, and passed when it ran again alone"
            sed -i "/^$name\$/d" "$RESULTS/failed"
            ok=$((ok + 1))
            bad=$((bad - 1))
        fi
    done <"$RESULTS/first"
}

build_and_run() {
    FOLDER=$1
    RESULTS=$FOLDER/results
    export FOLDER
    goal=test-programs
    [ -z "${UNIT_ONLY-}" ] || goal=unit-tests
    mkdir -p "$RESULTS"
    rm -f "$RESULTS"/*.out "$RESULTS/sum" "$RESULTS/failed" "$RESULTS/first"
    echo "== $FOLDER"
    cpu_s
    before=$cpu
    start=$(date +%s)
    if ! make --no-print-directory -k -j"$JOBS" BUILD="$(basename "$FOLDER" -clang)" CC="${CC:-gcc}" $goal; then
        echo "FAILED: $FOLDER does not compile"
        failed=$((failed + 1))
        return 0
    fi
    list_scripts >"$RESULTS/scripts"
    # WRAP is a command with its options.
    # shellcheck disable=SC2086
    ${WRAP-} "$FOLDER/unit_tests" -j "$JOBS" -l "$LIMIT_S" -o "$RESULTS" -s "$RESULTS/scripts" || :
    cpu_s
    sums="$sums$FOLDER: $((cpu - before)) s of processor time in $(($(date +%s) - start)) s, compiling included
"
    if read -r ok bad <"$RESULTS/sum"; then
        try_again
        passed=$((passed + ok))
        failed=$((failed + bad))
    else
        failed=$((failed + 1))
    fi
}

FIRST=$1
JOBS=${JOBS:-1}
passed=0
failed=0
sums=
for folder in "$@"; do
    build_and_run "$folder"
done
echo
for folder in "$@"; do
    [ -f "$folder/results/first" ] || continue
    while read -r name; do
        echo "---- $folder: $name ----"
        grep -v '^\[ RUN      \] \|^\[       OK \] ' "$folder/results/$name.out" | tail -n 20
    done <"$folder/results/first"
done
printf %s "$sums"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
